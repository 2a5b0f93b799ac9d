package node

import (
	"math/big"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// Block is an account block with everything that the chain knows about it, taken at one moment.
// Section 5.4 of docs/exchange-chain-rpc.md names the JSON members. The caller owns it, but must
// not write through its pointers and slices.
type Block struct {
	// AccountBlock is the block as it was hashed. A receive block's amount, token and so on are not
	// in it: see Transfer. Blocks of the producer (contract receives, genesis) carry the producer's
	// key and signature; contract-made sends (height 0) and genesis blocks carry none.
	*core.AccountBlock

	// Producer is the address of the key that signed the block; without a key it is the address of
	// the empty key.
	Producer core.Address
	// Transfer contains the moved amount: the own fields of a send, those of its send block for a
	// receive, all zero for a genesis receive.
	Transfer ledger.Transfer
	// TokenInfo describes Transfer.Token; nil for the zero token.
	TokenInfo *ledger.TokenInfo

	// QuotaByStake is the quota taken from stake, TotalQuota that plus the quota from proof of work.
	QuotaByStake, TotalQuota uint64

	// Snapshot is the first snapshot block that contains the block; nil until there is one.
	Snapshot *ledger.Point
	// Confirmations is latest snapshot height - first snapshot height + 1, and 0 before the first.
	Confirmations uint64
	// Received names the block that received this send; nil while unreceived and for receive blocks.
	Received *ledger.BlockID
	// Triggered are the sends that a contract receive made, in order.
	Triggered []*Block
}

// SnapshotBlock is one block of the snapshot chain. Height 1 is the genesis.
type SnapshotBlock struct {
	ledger.Point
	Previous  core.Hash // zero at height 1
	Producer  core.Address
	PublicKey []byte // 32 bytes; nil at height 1
	Signature []byte // 64 bytes over Hash; nil at height 1
	// Seed changes when the chain is rolled back, so that a block made again never has its old hash.
	Seed uint64
	// SeedHash is part of the hash: the digest of the genesis at height 1, else nil.
	SeedHash *core.Hash
	Version  uint32
	// Content names, per account, the newest block that this snapshot confirms. It is empty in most
	// blocks, never nil.
	Content map[core.Address]ledger.BlockID
}

// AccountInfo is the state of an account, or of its unreceived list.
type AccountInfo struct {
	Address core.Address
	// BlockCount is the height of the newest block; in a summary of unreceived sends their number.
	BlockCount uint64
	// Balances lists each token that the account has or had, ordered by token id; empty for an
	// unused account.
	Balances []Balance
}

// Balance is an amount of one token. Transactions counts unreceived sends and is 0 in an account's
// own state.
type Balance struct {
	Token        *ledger.TokenInfo
	Amount       uint256.Int
	Transactions uint64
}

// QuotaInfo is the result of contract_getQuotaByAccount.
type QuotaInfo struct {
	Current uint64      // usable now, from stake
	Max     uint64      // 75 times the quota per snapshot block
	Stake   uint256.Int // VITE staked for the account
}

// Call describes a block that is still to be made.
type Call struct {
	Address   core.Address
	BlockType uint8 // 1 create contract, 2 send, 4 receive
	To        core.Address
	Data      []byte
}

// PoWNeed is the result of ledger_getPoWDifficulty. This chain is never congested.
type PoWNeed struct {
	RequiredQuota uint64
	Difficulty    *big.Int // nil: the stake suffices
}

// StakeList is a page of an account's stakes with the totals over all pages.
type StakeList struct {
	Total  uint256.Int
	Count  int
	Stakes []ledger.Stake
}

// Upgrade is one point where the rules of the chain changed; here all are active from height 1.
type Upgrade struct {
	Name    string
	Height  uint64
	Version uint32
}

// EventKind is the subject of an Event.
type EventKind uint8

// The kinds of events.
const (
	// EventBlock: an account block (also a contract receive and the sends inside it) entered the
	// chain. Block and Address are its own.
	EventBlock EventKind = iota + 1
	// EventUnreceived: the unreceived list of Address changed. Block is the send. Received false:
	// the send is new; true: it was just received.
	EventUnreceived
	// EventSnapshot: a snapshot block. Block is its height and hash.
	EventSnapshot
	// EventLog: a contract emitted Log in the receive block Block of Address.
	EventLog
)

// Event is a change of the chain. It is published once it is durable. Removed means that a rollback
// or a drop has taken back what an earlier event announced; of one change all removals come first,
// newest first.
type Event struct {
	Kind     EventKind
	Block    ledger.BlockID
	Address  core.Address
	Received bool
	Removed  bool
	Log      *ledger.VMLog
}
