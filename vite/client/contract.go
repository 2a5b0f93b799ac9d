package client

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// TokenInfo describes a token. Its display symbol is Symbol, "-" and Index in three digits, except for VITE itself.
type TokenInfo struct {
	ID              core.TokenID
	Name            string
	Symbol          string
	Decimals        uint8
	Index           uint16
	Owner           core.Address
	TotalSupply     uint256.Int
	MaxSupply       uint256.Int // zero for a fixed supply
	IsOwnerBurnOnly bool
	IsReIssuable    bool
}

// UnmarshalJSON reads either generation of member names.
func (t *TokenInfo) UnmarshalJSON(raw []byte) error {
	var w struct {
		ID        core.TokenID `json:"tokenId"`
		Name      string       `json:"tokenName"`
		Symbol    string       `json:"tokenSymbol"`
		Decimals  uint8        `json:"decimals"`
		Index     uint16       `json:"index"`
		Owner     core.Address `json:"owner"`
		Total     amount       `json:"totalSupply"`
		Max       amount       `json:"maxSupply"`
		BurnOnly  *bool        `json:"isOwnerBurnOnly"`
		OlderBurn *bool        `json:"ownerBurnOnly"`
		ReIssue   bool         `json:"isReIssuable"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	*t = TokenInfo{w.ID, w.Name, w.Symbol, w.Decimals, w.Index, w.Owner, uint256.Int(w.Total), uint256.Int(w.Max),
		either(w.BurnOnly, w.OlderBurn), w.ReIssue}
	return nil
}

// TokenInfo is nil for an unknown token.
func (c *Client) TokenInfo(ctx context.Context, id core.TokenID) (*TokenInfo, error) {
	return ask[*TokenInfo](ctx, c, "contract_getTokenInfoById", id)
}

// TokenInfoList is one page of all tokens, by name, and their total number. The size is at most MaxPage.
func (c *Client) TokenInfoList(ctx context.Context, page, size int) ([]TokenInfo, int, error) {
	w, err := ask[struct {
		Total int         `json:"totalCount"`
		List  []TokenInfo `json:"tokenInfoList"`
	}](ctx, c, "contract_getTokenInfoList", page, size)
	return w.List, w.Total, err
}

// TokensByOwner lists the tokens that an account owns.
func (c *Client) TokensByOwner(ctx context.Context, owner core.Address) ([]TokenInfo, error) {
	return ask[[]TokenInfo](ctx, c, "contract_getTokenInfoListByOwner", owner)
}

// Quota is an account's quota: Current can be spent now, Max is reached after 75 idle snapshots.
type Quota struct {
	Current, Max uint64
	Stake        uint256.Int // VITE staked for the account
}

// Quota of an account.
func (c *Client) Quota(ctx context.Context, a core.Address) (Quota, error) {
	w, err := ask[struct {
		Current count  `json:"currentQuota"`
		Max     count  `json:"maxQuota"`
		Stake   amount `json:"stakeAmount"`
	}](ctx, c, "contract_getQuotaByAccount", a)
	return Quota{uint64(w.Current), uint64(w.Max), uint256.Int(w.Stake)}, err
}

// RequiredStakeAmount is the stake (VITE, smallest unit) that yields quota per snapshot block. ErrMethodParam above 999880.
func (c *Client) RequiredStakeAmount(ctx context.Context, quotaPerSnapshot uint64) (uint256.Int, error) {
	n, err := ask[amount](ctx, c, "contract_getRequiredStakeAmount", decimal(quotaPerSnapshot))
	return uint256.Int(n), err
}

// Stake is VITE locked for a beneficiary's quota.
type Stake struct {
	Amount           uint256.Int
	Beneficiary      core.Address
	ExpirationHeight uint64
	Expiration       time.Time
	Staker           core.Address
	ID               *core.Hash // the staking send block; nil for the older kind, which is cancelled by beneficiary
}

// UnmarshalJSON reads an entry of contract_getStakeList.
func (s *Stake) UnmarshalJSON(raw []byte) error {
	var w struct {
		Amount      amount       `json:"stakeAmount"`
		Beneficiary core.Address `json:"beneficiary"`
		Height      count        `json:"expirationHeight"`
		Time        int64        `json:"expirationTime"`
		Staker      core.Address `json:"stakeAddress"`
		ID          *core.Hash   `json:"id"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	*s = Stake{uint256.Int(w.Amount), w.Beneficiary, uint64(w.Height), time.Unix(w.Time, 0).UTC(), w.Staker, w.ID}
	return nil
}

// StakeList is one page of what an account has staked, with the totals over all pages.
type StakeList struct {
	Total uint256.Int
	Count int
	List  []Stake
}

// StakeList of a staking account, by page from 0.
func (c *Client) StakeList(ctx context.Context, a core.Address, page, size int) (StakeList, error) {
	w, err := ask[struct {
		Total amount  `json:"totalStakeAmount"`
		Count int     `json:"totalStakeCount"`
		List  []Stake `json:"stakeList"`
	}](ctx, c, "contract_getStakeList", a, page, size)
	return StakeList{uint256.Int(w.Total), w.Count, w.List}, err
}

// CreateContractAddress is the address that a type 1 block of an account at this height with this previous hash creates.
func (c *Client) CreateContractAddress(ctx context.Context, a core.Address, height uint64, previous core.Hash) (core.Address, error) {
	return ask[core.Address](ctx, c, "contract_createContractAddress", a, decimal(height), previous)
}

// ContractInfo describes a contract.
type ContractInfo struct {
	Code            []byte `json:"code"`
	GID             string `json:"gid"` // consensus group, 20 hex digits
	ResponseLatency uint8  `json:"responseLatency"`
	RandomDegree    uint8  `json:"randomDegree"`
	QuotaMultiplier uint8  `json:"quotaMultiplier"` // tenths: 10 means once the price
}

// ContractInfo is nil for an address that is no contract.
func (c *Client) ContractInfo(ctx context.Context, a core.Address) (*ContractInfo, error) {
	return ask[*ContractInfo](ctx, c, "contract_getContractInfo", a)
}

// CallOffChain runs off-chain code of a contract over its state; data is the encoded call, the result nil without an
// answer. ErrNotSupported on the embedded chain, which runs no contract code.
func (c *Client) CallOffChain(ctx context.Context, contract core.Address, code, data []byte) ([]byte, error) {
	return ask[[]byte](ctx, c, "contract_callOffChainMethod", map[string]any{"address": contract, "code": code, "data": data})
}

// Query runs on-chain code of a contract read-only, with the same result and error as CallOffChain.
func (c *Client) Query(ctx context.Context, contract core.Address, data []byte) ([]byte, error) {
	return ask[[]byte](ctx, c, "contract_query", map[string]any{"address": contract, "data": data})
}

// SyncInfo tells how far a node is behind; State 2 is synchronised.
type SyncInfo struct {
	From, To, Current uint64
	State             int
	Status            string
}

// SyncInfo of the node.
func (c *Client) SyncInfo(ctx context.Context) (SyncInfo, error) {
	w, err := ask[struct {
		From    count  `json:"from"`
		To      count  `json:"to"`
		Current count  `json:"current"`
		State   int    `json:"state"`
		Status  string `json:"status"`
	}](ctx, c, "net_syncInfo")
	return SyncInfo{uint64(w.From), uint64(w.To), uint64(w.Current), w.State, w.Status}, err
}

// NodeInfo names a node and its peers.
type NodeInfo struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	NetID     int    `json:"netId"`
	PeerCount int    `json:"peerCount"`
	Height    uint64 `json:"height"`
}

// NodeInfo of the node.
func (c *Client) NodeInfo(ctx context.Context) (NodeInfo, error) {
	return ask[NodeInfo](ctx, c, "net_nodeInfo")
}

// PoWNonce has the node find a nonce for a difficulty; h is the hash of the account's address and its previous block.
// ErrNotSupported on a node without a work server. It may take minutes: Options.Timeout counts.
func (c *Client) PoWNonce(ctx context.Context, difficulty *big.Int, h core.Hash) ([]byte, error) {
	return ask[[]byte](ctx, c, "util_getPoWNonce", difficulty.String(), h)
}
