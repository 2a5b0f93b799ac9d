// Package ledger is the exchange chain's state and its rules: accounts, tokens, stakes and quota,
// the built-in contracts, and the effect of one record of the block log.
//
//	user's block ─▶ CheckParts, CheckToken, CheckBlock, CheckPlace ─▶ Apply
//	tick ─▶ Step: contracts receive    time ─▶ Seal: a snapshot block    record ─▶ Replay
//
// The built-in contracts issue tokens (asset), lend quota (quota), and run the exchange: dexFund
// keeps balances, markets and permissions, dexTrade the books, by the rules of vite/dex.
//
//	user ─▶ dexFund: lock, stamp ─▶ dexTrade: match, log ─▶ dexFund: settle
//
// A State is a pure function of the genesis and the records: records contain times, and a replay
// rebuilds contract blocks. The package owns the bytes of records and of a complete state, and no
// files, locks or clock. Other packages read a State's fields and change it by its methods only.
package ledger

import (
	"bytes"
	"maps"
	"slices"

	"github.com/holiman/uint256"
	"github.com/tidwall/btree"

	"gatewayd/vite/core"
)

// MaxRollback bounds a rollback in snapshot blocks.
const MaxRollback = 1000

// Retention bounds what is kept in memory for taking back, and how often it is relieved of what
// cannot be taken back any more.
type Retention struct {
	Depth   uint64 // snapshot blocks
	Changes int    // of the state, unless one snapshot block has more
	// What may wait to be moved to the history: so many snapshot blocks, or account blocks.
	Snapshots uint64
	Blocks    int
}

var DefaultRetention = Retention{Depth: MaxRollback, Changes: 1 << 18, Snapshots: 64, Blocks: 4096}

// State is the ledger at one moment: all that a later block can depend on, and the newest blocks.
// Older ones are in the history, from which nothing here depends. It has no clock, no files and no
// locks; replaying the same records gives the same state.
type State struct {
	Rules     Rules
	journal   journal
	Chain     []*Snapshot // the newest, without gaps; never empty but while the genesis is made
	Snapshots map[core.Hash]*Snapshot
	Accounts  map[core.Address]*Account
	Blocks    map[core.Hash]*Entry        // the newest, and all sends that no one has received
	Tokens    map[core.TokenID]*TokenInfo // replaced, never changed in place
	Symbols   map[string]uint16           // tokens issued per symbol
	Stakes    map[core.Address][]Stake    // by staker; replaced, never changed in place
	Pending   []*Entry                    // sends to contracts that no one has received yet, oldest first
	Recent    []*Entry                    // blocks with an own height that are in no snapshot yet, oldest first
	touched   map[Holding]struct{}        // balances changed since the latest snapshot
	Fees      uint256.Int                 // VITE burnt as fees
	Rollbacks uint64                      // never taken back
	Exchange  Exchange
	Floor     uint64 // the lowest snapshot height that the journal reaches
	steps     stepRules

	recentWeight int // of Recent
}

// Rules are the permanent rules of the genesis.
type Rules struct {
	Producer  core.PrivateKey
	Digest    core.Hash
	stakeLock uint64
	// Difficulty is that of the work that pays for one transfer.
	Difficulty uint64
	// exchangeOwner administers the exchange until an owner is stored; zero: no one.
	exchangeOwner core.Address
	// Retention is the same for all chains but in tests. Whether the chain can be rolled back
	// depends on it.
	Retention Retention
	// OlderHashes is of a log that began under an older version: see sealing.
	OlderHashes bool
}

func (r Rules) Sealing() Sealing { return Sealing{r.Digest, r.OlderHashes} }

// Snapshot is a block of the snapshot chain. Its signature is made when someone asks.
type Snapshot struct {
	Point
	Previous   core.Hash
	Seed       uint64
	Content    map[core.Address]BlockID // nil when empty
	Changed    []Holding                // balances that are not those of the block before
	BlockCount int                      // that it confirms
	mark       uint64                   // of the journal, just after the block
}

// Account is the chain of blocks of one address.
type Account struct {
	address    core.Address
	Blocks     AccountChain
	Balances   map[core.TokenID]uint256.Int
	Past       map[core.TokenID][]PastBalance // newest last; what is older is in the history
	Unreceived *btree.BTreeG[*Entry]          // ordered by hash
	Staked     uint256.Int                    // VITE staked for this account
	Usage      []usage                        // stake quota spent before that of using, oldest first
	Using      usage                          // the latest stake quota spent
	PowAt      uint64                         // latest snapshot height when the account last worked
	Contract   *ContractInfo                  // nil for users; replaced, never changed in place
}

// AccountChain is the blocks of an account: the newest of them, oldest first and without gaps, and
// the place of the last.
type AccountChain struct {
	Head   BlockID
	Recent []*Entry
}

// PastBalance is a balance from a snapshot height on.
type PastBalance struct {
	Height uint64
	Amount uint256.Int
}

// Holding names one balance of one account.
type Holding struct {
	Address core.Address
	Token   core.TokenID
}

// Entry is an account block in its place.
type Entry struct {
	Block     *core.AccountBlock // never changed
	At        Position
	Send      *Entry    // of a receive: what it receives; nil at genesis
	Receive   *Entry    // of a send: what received it
	Snapshot  *Snapshot // the first that contains it
	ByStake   uint64    // quota
	Total     uint64    // quota, work included
	Logs      []VMLog
	Triggered []*Entry
	Pruned    bool // it is in the history, and here only because no one has received it or its receive is new
}

// Position is a block's place in the chain of its account: its height, or that of the receive which
// triggered it and its number there, from 1.
type Position struct {
	Height uint64
	Number int
}

func emptyState(r Rules) *State {
	return &State{
		Rules:     r,
		Snapshots: map[core.Hash]*Snapshot{},
		Accounts:  map[core.Address]*Account{},
		Blocks:    map[core.Hash]*Entry{},
		Tokens:    map[core.TokenID]*TokenInfo{},
		Symbols:   map[string]uint16{},
		Stakes:    map[core.Address][]Stake{},
		touched:   map[Holding]struct{}{},
		Exchange:  newExchange(),
		steps:     steps,
	}
}

func newAccount(a core.Address) *Account {
	return &Account{
		address:    a,
		Balances:   map[core.TokenID]uint256.Int{},
		Past:       map[core.TokenID][]PastBalance{},
		Unreceived: btree.NewBTreeGOptions(lessHash, btree.Options{NoLocks: true, Degree: 16}),
	}
}

func lessHash(a, b *Entry) bool { return bytes.Compare(a.Block.Hash[:], b.Block.Hash[:]) < 0 }

// account finds or makes the account.
func (s *State) account(a core.Address) *Account {
	if acc := s.Accounts[a]; acc != nil {
		return acc
	}
	acc := newAccount(a)
	put(&s.journal, s.Accounts, a, acc)
	return acc
}

// Head is the height and hash that the next block builds on: zero before the first. It is safe on a
// nil account.
func (a *Account) Head() BlockID {
	if a == nil {
		return BlockID{}
	}
	return a.Blocks.Head
}

// At is the block of a height, nil if it is not in memory.
func (l AccountChain) At(height uint64) *Entry {
	if oldest := l.Oldest(); height >= oldest && height <= l.Head.Height {
		return l.Recent[height-oldest]
	}
	return nil
}

// Oldest is the height of the oldest block in memory, above the tip if there is none.
func (l AccountChain) Oldest() uint64 { return l.Head.Height + 1 - uint64(len(l.Recent)) }

// Latest is the newest snapshot block. There is always one: the genesis.
func (s *State) Latest() *Snapshot { return s.Chain[len(s.Chain)-1] }

// Height is that of the latest snapshot block, 0 while the genesis is made.
func (s *State) Height() uint64 {
	if len(s.Chain) == 0 {
		return 0
	}
	return s.Latest().Height
}

// SnapshotAt is the snapshot block of a height, nil if it is not in memory.
func (s *State) SnapshotAt(height uint64) *Snapshot {
	if oldest := s.Height() + 1 - uint64(len(s.Chain)); height >= oldest && height <= s.Height() {
		return s.Chain[height-oldest]
	}
	return nil
}

// credit adds to a balance. The sum of a token cannot exceed its supply, which is below 2^256.
func (s *State) credit(a *Account, token core.TokenID, amount uint256.Int) {
	if amount.IsZero() {
		return
	}
	sum := a.Balances[token]
	if _, over := sum.AddOverflow(&sum, &amount); over {
		panic("node: a balance exceeds 2^256")
	}
	s.setBalance(a, token, sum)
}

// debit takes from a balance, or is ErrBalance.
func (s *State) debit(a *Account, token core.TokenID, amount uint256.Int) error {
	if amount.IsZero() {
		return nil
	}
	rest := a.Balances[token]
	if _, under := rest.SubOverflow(&rest, &amount); under {
		return ErrBalance
	}
	s.setBalance(a, token, rest)
	return nil
}

func (s *State) setBalance(a *Account, token core.TokenID, amount uint256.Int) {
	put(&s.journal, a.Balances, token, amount)
	h := Holding{a.address, token}
	if _, seen := s.touched[h]; !seen {
		put(&s.journal, s.touched, h, struct{}{})
	}
}

// burnFee counts what no one will have again.
func (s *State) burnFee(fee uint256.Int) {
	sum := s.Fees
	set(&s.journal, &s.Fees, *sum.Add(&sum, &fee))
}

// unburnFee takes the fee of a failed call back into circulation.
func (s *State) unburnFee(fee uint256.Int) {
	rest := s.Fees
	set(&s.journal, &s.Fees, *rest.Sub(&rest, &fee))
}

// append puts a block with an own height at the end of its account's chain.
func (s *State) append(a *Account, e *Entry) {
	e.At = Position{Height: e.Block.Height}
	put(&s.journal, s.Blocks, e.Block.Hash, e)
	set(&s.journal, &a.Blocks, AccountChain{BlockID{e.Block.Height, e.Block.Hash}, append(a.Blocks.Recent, e)})
	set(&s.journal, &s.Recent, append(s.Recent, e))
	set(&s.journal, &s.recentWeight, s.recentWeight+e.weight())
}

// open offers a send to its addressee.
func (s *State) open(e *Entry) {
	to := s.account(e.Block.ToAddress)
	to.Unreceived.Set(e)
	s.journal.add(func() { to.Unreceived.Delete(e) })
	if e.Block.ToAddress.IsContract() {
		set(&s.journal, &s.Pending, append(s.Pending, e))
	}
}

// settle marks a send as received by the block of e. The amount is credited apart.
func (s *State) settle(a *Account, e *Entry) {
	send := e.Send
	set(&s.journal, &send.Receive, e)
	a.Unreceived.Delete(send)
	s.journal.add(func() { a.Unreceived.Set(send) })
}

// Addresses lists the accounts in address order.
func (s *State) Addresses() []core.Address {
	return slices.SortedFunc(maps.Keys(s.Accounts), CompareAddresses)
}

func CompareAddresses(a, b core.Address) int { return bytes.Compare(a[:], b[:]) }

func compareTokens(a, b core.TokenID) int { return bytes.Compare(a[:], b[:]) }

// Transfer is the value that the block carries, a receive's being its send's.
func (e *Entry) Transfer() Transfer {
	b := e.Block
	switch {
	case b.IsSend():
		return Transfer{From: b.Address, To: b.ToAddress, Token: b.TokenID, Amount: b.Amount, Fee: b.Fee}
	case e.Send != nil:
		return e.Send.Transfer()
	}
	return Transfer{}
}

func (e *Entry) Id() BlockID { return BlockID{e.Block.Height, e.Block.Hash} }

// BlockWeight is the weight of a block in addition to its data.
const BlockWeight = 1 << 10

// weight is about the size of the block with its triggered sends.
func (e *Entry) weight() int {
	n := BlockWeight + len(e.Block.Data)
	for _, t := range e.Triggered {
		n += t.weight()
	}
	return n
}

// ConfirmedBy are the account's blocks that n was the first to contain, oldest first. A block that
// memory has forgotten and a rollback has brought back has another copy of n.
func (a *Account) ConfirmedBy(n *Snapshot) []*Entry {
	end := n.Content[a.address].Height
	list := a.Blocks.Recent[:end+1-a.Blocks.Oldest()]
	start := len(list)
	for start > 0 && list[start-1].Snapshot.Height == n.Height {
		start--
	}
	return list[start:]
}

// EmptyKeyAddress is the address that a real node shows as the producer of a block without a key.
var EmptyKeyAddress = mustAddress("vite_3345524abf6bbe1809449224b5972c41790b6cf2e22fcb5caf")

func mustAddress(s string) core.Address {
	a, err := core.ParseAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}

// ProducerOf is the address of the block's key, or of the empty key, as a real node shows it.
func ProducerOf(b *core.AccountBlock) core.Address {
	if len(b.PublicKey) == core.PublicKeySize {
		return core.UserAddress(core.PublicKey(b.PublicKey))
	}
	return EmptyKeyAddress
}
