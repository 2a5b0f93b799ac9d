package rpc

import (
	"strconv"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// contractAPI is the module contract (docs/exchange-chain-rpc.md 5.5).
type contractAPI struct{ node *node.Node }

type quotaInfo struct {
	CurrentQuota string `json:"currentQuota"`
	MaxQuota     string `json:"maxQuota"`
	StakeAmount  string `json:"stakeAmount"`
}

// GetQuotaByAccount gives the quota by stake.
func (c *contractAPI) GetQuotaByAccount(a addressArg) quotaInfo {
	q := read(c.node, func(v *node.View) node.QuotaInfo { return v.Quota(a.Address) })
	return quotaInfo{decimal(q.Current), decimal(q.Max), q.Stake.Dec()}
}

// GetRequiredStakeAmount is the stake that yields a quota per snapshot block.
func (c *contractAPI) GetRequiredStakeAmount(quotaPerSnapshot string) (string, error) {
	quota, err := strconv.ParseUint(quotaPerSnapshot, 10, 64)
	if err != nil {
		return "", jsonrpc.Other(jsonrpc.Shortened(err.Error()))
	}
	stake, err := core.RequiredStake(quota)
	if err != nil {
		return "", onWire(ledger.ErrMethodParam)
	}
	return stake.Dec(), nil
}

type stakeList struct {
	TotalStakeAmount string      `json:"totalStakeAmount"`
	TotalStakeCount  int         `json:"totalStakeCount"`
	StakeList        []stakeInfo `json:"stakeList"`
}

// stakeInfo is one stake. Delegated staking does not exist on this chain: those members have their
// empty values.
type stakeInfo struct {
	StakeAmount      string       `json:"stakeAmount"`
	Beneficiary      core.Address `json:"beneficiary"`
	ExpirationHeight string       `json:"expirationHeight"`
	ExpirationTime   int64        `json:"expirationTime"`
	IsDelegated      bool         `json:"isDelegated"`
	DelegateAddress  core.Address `json:"delegateAddress"`
	StakeAddress     core.Address `json:"stakeAddress"`
	Bid              uint8        `json:"bid"`
	ID               *core.Hash   `json:"id"`
}

// GetStakeList is one page of what an account has staked.
func (c *contractAPI) GetStakeList(a addressArg, index, size int) (*stakeList, error) {
	if size > maxCount {
		return nil, errCount
	}
	list := read(c.node, func(v *node.View) node.StakeList { return v.Stakes(a.Address, max(index, 0), max(size, 0)) })
	shown := &stakeList{TotalStakeAmount: list.Total.Dec(), TotalStakeCount: list.Count, StakeList: []stakeInfo{}}
	for i := range list.Stakes {
		shown.StakeList = append(shown.StakeList, showStake(&list.Stakes[i]))
	}
	return shown, nil
}

func showStake(s *ledger.Stake) stakeInfo {
	shown := stakeInfo{
		StakeAmount: s.Amount.Dec(), Beneficiary: s.Beneficiary, ExpirationHeight: decimal(s.ExpirationHeight),
		ExpirationTime: s.ExpirationTime.Unix(), StakeAddress: s.Staker,
	}
	if !s.ID.IsZero() {
		shown.ID = &s.ID
	}
	return shown
}

// GetTokenInfoById is null for an unknown token.
func (c *contractAPI) GetTokenInfoById(id tokenArg) *tokenInfo {
	return showToken(read(c.node, func(v *node.View) *ledger.TokenInfo { return v.Token(id.TokenID) }))
}

type tokenList struct {
	TotalCount    int          `json:"totalCount"`
	TokenInfoList []*tokenInfo `json:"tokenInfoList"`
}

// GetTokenInfoList is one page of all tokens by name.
func (c *contractAPI) GetTokenInfoList(index, size int) (*tokenList, error) {
	if size > maxCount {
		return nil, errCount
	}
	shown := &tokenList{TokenInfoList: []*tokenInfo{}}
	readInMemory(c.node, func(v *node.View) {
		total, tokens := v.Tokens(max(index, 0), max(size, 0))
		shown.TotalCount = total
		shown.TokenInfoList = append(shown.TokenInfoList, showTokens(tokens)...)
	})
	return shown, nil
}

// GetTokenInfoListByOwner lists the tokens of an owner.
func (c *contractAPI) GetTokenInfoListByOwner(a addressArg) []*tokenInfo {
	return showTokens(read(c.node, func(v *node.View) []*ledger.TokenInfo { return v.TokensOf(a.Address) }))
}

// CreateContractAddress is the address that a type 1 block creates.
func (c *contractAPI) CreateContractAddress(a addressArg, at heightArg, previous hashArg) (string, error) {
	height, err := at.height()
	if err != nil {
		return "", err
	}
	return core.ContractAddress(a.Address, height, previous.Hash).String(), nil
}

// contractInfo describes a contract, two members under two names.
type contractInfo struct {
	Code            []byte   `json:"code"`
	GID             core.GID `json:"gid"`
	ConfirmTime     uint8    `json:"confirmTime"`
	ResponseLatency uint8    `json:"responseLatency"`
	SeedCount       uint8    `json:"seedCount"`
	RandomDegree    uint8    `json:"randomDegree"`
	QuotaRatio      uint8    `json:"quotaRatio"`
	QuotaMultiplier uint8    `json:"quotaMultiplier"`
}

// GetContractInfo is null for an address that is no contract.
func (c *contractAPI) GetContractInfo(a addressArg) *contractInfo {
	i := read(c.node, func(v *node.View) *ledger.ContractInfo { return v.Contract(a.Address) })
	if i == nil {
		return nil
	}
	return &contractInfo{
		Code: i.Code, GID: i.GID, ConfirmTime: i.ResponseLatency, ResponseLatency: i.ResponseLatency,
		SeedCount: i.RandomDegree, RandomDegree: i.RandomDegree, QuotaRatio: i.QuotaMultiplier, QuotaMultiplier: i.QuotaMultiplier,
	}
}

// offChainCall asks a contract without a block.
type offChainCall struct {
	Address addressArg `json:"address"`
	Code    []byte     `json:"code"`
	Data    []byte     `json:"data"`
}

// CallOffChainMethod answers null without code. Code does not run here: this chain has built-in
// contracts only.
func (c *contractAPI) CallOffChainMethod(q offChainCall) ([]byte, error) {
	if len(q.Code) == 0 {
		return nil, nil
	}
	return nil, jsonrpc.Other("not supported")
}

// Query would run a contract's own code read-only, which this chain has not.
func (c *contractAPI) Query(offChainCall) ([]byte, error) { return nil, jsonrpc.Other("not supported") }
