package node

import (
	"context"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// Config says where the chain lives and how it runs.
type Config struct {
	// Dir keeps the block log and the state files; empty keeps the chain in memory only.
	Dir     string
	Genesis Genesis
	// SnapshotInterval is the time between snapshot blocks while Run runs; 0 is one second, below 0 none but by Snapshot.
	SnapshotInterval time.Duration
	// StateEvery is the growth of the block log in bytes after which a state file is written; 0 is 64 MiB.
	StateEvery int64
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Node is an exchange chain with one producer.
type Node struct{}

// New opens the chain: it makes the genesis, or loads the newest state file and replays the block log. It starts nothing.
func New(cfg Config) (*Node, error) { return &Node{}, nil }

// Run lets contracts receive and makes snapshot blocks until ctx ends (nil) or the disk fails.
func (n *Node) Run(ctx context.Context) error { <-ctx.Done(); return nil }

// Close writes a state file and closes the block log. Run must have ended.
func (n *Node) Close() error { return nil }

// Submit adds a user's signed block to the chain; it is on disk when Submit returns nil. A refusal is an *Error; the same
// block again is ErrPrevious, as on a real node. The block belongs to the node from then on.
func (n *Node) Submit(ctx context.Context, b *core.AccountBlock) error { return nil }

// Read calls f with a view of one moment of the chain. The view and nothing else must be used inside f, and not after it;
// what it returned may be kept, and is complete (producer's signatures) once Read has returned.
func (n *Node) Read(f func(v *View)) {}

// Subscribe begins a stream of the events from now on. buffer is the number of changes (not events) that may wait.
func (n *Node) Subscribe(buffer int) *Subscription { return &Subscription{} }

// Tick lets contracts receive what waits for them; Run does it by itself.
func (n *Node) Tick() error { return nil }

// Snapshot makes a snapshot block, after a Tick.
func (n *Node) Snapshot() (Point, error) { return Point{}, nil }

// DropUnconfirmed loses an account block that is in no snapshot yet, with everything that depends on it, as real nodes do.
// Unknown: ErrNoBlock, in a snapshot: ErrConfirmed.
func (n *Node) DropUnconfirmed(hash core.Hash) error { return nil }

// DropAccount drops all unconfirmed blocks of an account. None is no error.
func (n *Node) DropAccount(a core.Address) error { return nil }

// Rollback takes back all snapshot blocks above height and all account blocks that are not in one at or below it. They do
// not come back by themselves; Submit takes them again where they fit. ErrTooDeep unless 1 <= height < latest.
func (n *Node) Rollback(height uint64) error { return nil }

// Subscription is a bounded stream of events.
type Subscription struct{}

// Changes delivers what each change of the chain published, in order. It is closed when the subscription ends.
func (s *Subscription) Changes() <-chan []Event { return nil }

// Err tells, after Changes was closed, why: ErrSlow, ErrClosed, or nil after Close.
func (s *Subscription) Err() error { return nil }

// Close ends the subscription. It may be called twice.
func (s *Subscription) Close() {}

// View reads one moment of the chain.
type View struct{}

// Head is the latest snapshot block.
func (v *View) Head() Point { return Point{} }

// AccountHead is the newest block of the account, in a snapshot or not; nil if it has none.
func (v *View) AccountHead(a core.Address) *Block { return nil }

// BlockByHash is any account block, sends inside contract receives included; nil if unknown.
func (v *View) BlockByHash(h core.Hash) *Block { return nil }

// BlockByHeight is nil beyond the end.
func (v *View) BlockByHeight(a core.Address, height uint64) *Block { return nil }

// Blocks lists up to count blocks newest first, from the origin (included; nil: the newest) on, only those that move
// token unless that is nil. Empty if there are none; an origin that is not a block of the account is ErrNoBlock.
func (v *View) Blocks(a core.Address, origin *core.Hash, token *core.TokenID, count int) ([]*Block, error) {
	return nil, nil
}

// BlockPage lists one page (from 0) of the blocks newest first; empty beyond the end.
func (v *View) BlockPage(a core.Address, page, size int) []*Block { return nil }

// Unreceived lists one page (from 0) of the sends to the account that it has not received, ordered by hash.
func (v *View) Unreceived(a core.Address, page, size int) []*Block { return nil }

// UnreceivedSummary counts and sums them per token.
func (v *View) UnreceivedSummary(a core.Address) AccountInfo { return AccountInfo{} }

// AccountInfo is the account's height and balances.
func (v *View) AccountInfo(a core.Address) AccountInfo { return AccountInfo{} }

// Token is nil for an unknown token.
func (v *View) Token(id core.TokenID) *TokenInfo { return nil }

// Tokens lists one page (from 0) of all tokens ordered by name, and tells how many there are.
func (v *View) Tokens(page, size int) (total int, tokens []*TokenInfo) { return 0, nil }

// TokensOf lists the tokens that a owns, ordered by name.
func (v *View) TokensOf(a core.Address) []*TokenInfo { return nil }

// Quota is the account's quota by stake.
func (v *View) Quota(a core.Address) QuotaInfo { return QuotaInfo{} }

// RequiredQuota prices a block. ErrNoMethod and ErrNoContract as Submit has them.
func (v *View) RequiredQuota(c Call) (uint64, error) { return 0, nil }

// PoWDifficulty tells which proof of work the block needs after previous. ErrForked if previous is not the newest block,
// ErrPoWTwice, ErrBlockLimit.
func (v *View) PoWDifficulty(c Call, previous core.Hash) (PoWNeed, error) { return PoWNeed{}, nil }

// Stakes lists one page (from 0) of what the account has staked, oldest first.
func (v *View) Stakes(staker core.Address, page, size int) StakeList { return StakeList{} }

// Contract is nil for a user's address and an unknown contract.
func (v *View) Contract(a core.Address) *ContractInfo { return nil }

// Logs are the logs of a block; empty for most, ErrNoBlock for an unknown hash.
func (v *View) Logs(h core.Hash) ([]VMLog, error) { return nil, nil }

// FindLogs selects logs; an unknown contract has none. A page size over 1000 is ErrBadPageSize.
func (v *View) FindLogs(f LogFilter) ([]LogEntry, error) { return nil, nil }

// SnapshotByHash is nil for an unknown hash.
func (v *View) SnapshotByHash(h core.Hash) *SnapshotBlock { return nil }

// SnapshotByHeight is nil beyond the end and for 0.
func (v *View) SnapshotByHeight(height uint64) *SnapshotBlock { return nil }

// Snapshots lists up to count blocks from height downwards.
func (v *View) Snapshots(height uint64, count int) []*SnapshotBlock { return nil }

// ConfirmedBalances are the balances of an account as of a snapshot block, tokens it never had left out.
// ErrNoSnapshot for an unknown hash.
func (v *View) ConfirmedBalances(snapshot core.Hash, a core.Address, tokens []core.TokenID) (map[core.TokenID]uint256.Int, error) {
	return nil, nil
}

// Upgrades lists the rule changes, all active from height 1.
func (v *View) Upgrades() []Upgrade { return nil }
