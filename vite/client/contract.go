package client

import (
	"context"
	"encoding/json"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// TokenInfo describes a token. Its display symbol is Symbol, "-" and Index in three digits, except
// for VITE, VCP and VX.
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
	return callResult[*TokenInfo](ctx, c, "contract_getTokenInfoById", id)
}

// TokensByOwner lists the tokens that an account owns.
func (c *Client) TokensByOwner(ctx context.Context, owner core.Address) ([]TokenInfo, error) {
	return callList[TokenInfo](ctx, c, "contract_getTokenInfoListByOwner", owner)
}

// Quota is an account's quota: Current can be spent now, Max is reached after 75 idle snapshots.
type Quota struct {
	Current, Max uint64
	Stake        uint256.Int // VITE staked for the account
}

// Quota of an account.
func (c *Client) Quota(ctx context.Context, a core.Address) (Quota, error) {
	w, err := callResult[struct {
		Current count  `json:"currentQuota"`
		Max     count  `json:"maxQuota"`
		Stake   amount `json:"stakeAmount"`
	}](ctx, c, "contract_getQuotaByAccount", a)
	return Quota{uint64(w.Current), uint64(w.Max), uint256.Int(w.Stake)}, err
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
	return callResult[*ContractInfo](ctx, c, "contract_getContractInfo", a)
}
