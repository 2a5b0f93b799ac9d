package client

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// MaxPage is the largest page that a node gives.
const MaxPage = 1000

// LatestAccountBlock is the newest block of an account, in a snapshot or not; nil for an account
// without a block.
func (c *Client) LatestAccountBlock(ctx context.Context, a core.Address) (*AccountBlock, error) {
	return callResult[*AccountBlock](ctx, c, "ledger_getLatestAccountBlock", a)
}

// AccountBlockByHash is nil for a hash that the node does not know.
func (c *Client) AccountBlockByHash(ctx context.Context, h core.Hash) (*AccountBlock, error) {
	return callResult[*AccountBlock](ctx, c, "ledger_getAccountBlockByHash", h)
}

// AccountBlocksByHash asks for many blocks at once. The answers have the order of the hashes, nil
// for unknown ones.
func (c *Client) AccountBlocksByHash(ctx context.Context, hashes []core.Hash) ([]*AccountBlock, error) {
	blocks := make([]*AccountBlock, len(hashes))
	err := c.batch(ctx, "ledger_getAccountBlockByHash", len(hashes),
		func(i int) []any { return []any{hashes[i]} },
		func(i int) any { return &blocks[i] })
	return blocks, err
}

// AccountBlockByHeight is nil beyond the account's newest block.
func (c *Client) AccountBlockByHeight(ctx context.Context, a core.Address, height uint64) (*AccountBlock, error) {
	return callResult[*AccountBlock](ctx, c, "ledger_getAccountBlockByHeight", a, decimal(height))
}

// AccountBlocks lists an account's blocks from origin (included; nil = the newest) towards older
// ones, n at most (MaxPage). A token filter needs a node with open plug-ins.
func (c *Client) AccountBlocks(ctx context.Context, a core.Address, origin *core.Hash, token *core.TokenID, n int) ([]AccountBlock, error) {
	return callList[AccountBlock](ctx, c, "ledger_getAccountBlocks", a, origin, token, n)
}

// UnreceivedBlocks lists the sends that wait for an account, sends outside any snapshot included.
// They are ordered by send hash, not by time, and pages shift when one is received: take page 0, or
// read all of them.
func (c *Client) UnreceivedBlocks(ctx context.Context, a core.Address, page, size int) ([]AccountBlock, error) {
	return callList[AccountBlock](ctx, c, "ledger_getUnreceivedBlocksByAddress", a, page, size)
}

// AccountInfo is an account's balances: received ones, or in a summary the unreceived ones.
type AccountInfo struct {
	Address    core.Address
	BlockCount uint64 // of a summary: the number of unreceived sends
	Balances   map[core.TokenID]Balance
}

// Balance is one token's holding.
type Balance struct {
	TokenInfo    *TokenInfo
	Amount       uint256.Int
	Transactions uint64 // of a summary: the number of unreceived sends of this token
}

// UnmarshalJSON reads either generation of member names.
func (i *AccountInfo) UnmarshalJSON(raw []byte) error {
	type balance struct {
		TokenInfo    *TokenInfo `json:"tokenInfo"`
		Balance      *amount    `json:"balance"`
		TotalAmount  *amount    `json:"totalAmount"`
		Transactions count      `json:"transactionCount"`
	}
	var w struct {
		Address    *core.Address            `json:"address"`
		Account    *core.Address            `json:"accountAddress"`
		BlockCount *count                   `json:"blockCount"`
		Total      *count                   `json:"totalNumber"`
		Balances   map[core.TokenID]balance `json:"balanceInfoMap"`
		Older      map[core.TokenID]balance `json:"tokenBalanceInfoMap"`
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	if w.Balances == nil {
		w.Balances = w.Older
	}
	*i = AccountInfo{either(w.Address, w.Account), uint64(either(w.BlockCount, w.Total)), make(map[core.TokenID]Balance, len(w.Balances))}
	for id, b := range w.Balances {
		i.Balances[id] = Balance{b.TokenInfo, uint256.Int(either(b.Balance, b.TotalAmount)), uint64(b.Transactions)}
	}
	return nil
}

// AccountInfo gives received balances only; an unused account has none and BlockCount 0.
func (c *Client) AccountInfo(ctx context.Context, a core.Address) (AccountInfo, error) {
	return callResult[AccountInfo](ctx, c, "ledger_getAccountInfoByAddress", a)
}

// UnreceivedSummaries is UnreceivedSummary for several accounts, in their order.
func (c *Client) UnreceivedSummaries(ctx context.Context, accounts []core.Address) ([]AccountInfo, error) {
	return callList[AccountInfo](ctx, c, "ledger_getUnreceivedTransactionSummaryInBatch", accounts)
}

// Intent describes a block that is about to be made, for RequiredQuota and PoWDifficulty.
type Intent struct {
	Address      core.Address
	PreviousHash core.Hash // PoWDifficulty only: must be the account's newest block
	BlockType    core.BlockType
	ToAddress    *core.Address // required for type 2
	Data         []byte
}

// intentWire is an Intent as the node takes it: absent members are left out.
type intentWire struct {
	Address      core.Address   `json:"address"`
	PreviousHash *core.Hash     `json:"previousHash,omitempty"`
	BlockType    core.BlockType `json:"blockType"`
	ToAddress    *core.Address  `json:"toAddress,omitempty"`
	Data         []byte         `json:"data,omitempty"`
}

// PoW describes the quota of a block, by stake or by proof of work.
type PoW struct {
	RequiredQuota uint64
	Difficulty    *big.Int // nil: the account's quota suffices, no PoW needed
	Congested     bool
}

// PoWDifficulty asks what PoW a block needs. ErrChainForked when PreviousHash is not the newest
// block, ErrPoWTwice while a PoW block waits for its snapshot, ErrQuotaLimit over the limit of one
// block.
func (c *Client) PoWDifficulty(ctx context.Context, i Intent) (PoW, error) {
	w, err := callResult[struct {
		RequiredQuota count      `json:"requiredQuota"`
		Difficulty    difficulty `json:"difficulty"`
		Congested     bool       `json:"isCongestion"`
	}](ctx, c, "ledger_getPoWDifficulty", intentWire{i.Address, &i.PreviousHash, i.BlockType, i.ToAddress, i.Data})
	return PoW{uint64(w.RequiredQuota), w.Difficulty.Int, w.Congested}, err
}

// SnapshotHeight is the height of the newest snapshot block.
func (c *Client) SnapshotHeight(ctx context.Context) (uint64, error) {
	n, err := callResult[count](ctx, c, "ledger_getSnapshotChainHeight")
	return uint64(n), err
}

// LatestSnapshotBlock is the newest snapshot block.
func (c *Client) LatestSnapshotBlock(ctx context.Context) (*SnapshotBlock, error) {
	return callResult[*SnapshotBlock](ctx, c, "ledger_getLatestSnapshotBlock")
}

// SnapshotBlockByHeight is nil beyond the newest.
func (c *Client) SnapshotBlockByHeight(ctx context.Context, height uint64) (*SnapshotBlock, error) {
	return callResult[*SnapshotBlock](ctx, c, "ledger_getSnapshotBlockByHeight", decimal(height))
}

// Upgrades lists the rule changes of the chain, oldest first.
func (c *Client) Upgrades(ctx context.Context) ([]Upgrade, error) {
	return callList[Upgrade](ctx, c, "ledger_getUpgradeInfo")
}

// VMLog is one event of a contract.
type VMLog struct {
	Topics []core.Hash `json:"topics"`
	Data   []byte      `json:"data"`
}

// HeightRange is a range of an account's heights, both ends included; To 0 means the newest.
type HeightRange struct{ From, To uint64 }

// MarshalJSON gives the heights as text.
func (r HeightRange) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"fromHeight": decimal(r.From), "toHeight": decimal(r.To)})
}

// LogFilter chooses events. Topics are matched by place: an empty list at a place matches
// everything there.
type LogFilter struct {
	Ranges map[core.Address]HeightRange `json:"addressHeightRange"`
	Topics [][]core.Hash                `json:"topics,omitempty"`
	Page   int                          `json:"pageIndex"`
	Size   int                          `json:"pageSize"` // 0 means MaxPage
}

// callResult runs a method and gives its result; the zero value for null.
func callResult[T any](ctx context.Context, c *Client, method string, params ...any) (T, error) {
	var result T
	err := c.Call(ctx, &result, method, params...)
	return result, err
}

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
