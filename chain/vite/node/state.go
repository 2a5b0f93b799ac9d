package node

import (
	"bytes"
	"maps"
	"slices"

	"github.com/holiman/uint256"
	"github.com/tidwall/btree"

	"gatewayd/chain/vite/core"
)

// undoDepth is how many snapshot blocks can be rolled back at most.
const undoDepth = 1000

// memory bounds what is kept in memory for taking back, and how often it is relieved of what cannot be taken back any more.
type memory struct {
	depth   uint64 // snapshot blocks
	changes int    // of the state, unless one snapshot block has more
	// What may wait to be moved to the history: so many snapshot blocks, or account blocks.
	snapshots uint64
	blocks    int
}

var usualMemory = memory{depth: undoDepth, changes: 1 << 18, snapshots: 64, blocks: 4096}

// state is the ledger at one moment: all that a later block can depend on, and the newest blocks. Older ones are in the
// history, from which nothing here depends. It has no clock, no files and no locks; replaying the same records gives the
// same state.
type state struct {
	rules     rules
	journal   journal
	chain     []*snapshot // the newest, without gaps; never empty but while the genesis is made
	snapshots map[core.Hash]*snapshot
	accounts  map[core.Address]*account
	blocks    map[core.Hash]*entry        // the newest, and all sends that no one has received
	tokens    map[core.TokenID]*TokenInfo // replaced, never changed in place
	symbols   map[string]uint16           // tokens issued per symbol
	stakes    map[core.Address][]Stake    // by staker; replaced, never changed in place
	pending   []*entry                    // sends to contracts that no one has received yet, oldest first
	recent    []*entry                    // blocks with an own height that are in no snapshot yet, oldest first
	touched   map[holding]struct{}        // balances changed since the latest snapshot
	fees      uint256.Int                 // VITE burnt as fees
	rollbacks uint64                      // never taken back
	exchange  exchange
	floor     uint64 // the lowest snapshot height that the journal reaches
}

// rules are what the genesis fixes for ever.
type rules struct {
	producer  core.PrivateKey
	digest    core.Hash
	stakeLock uint64
	// difficulty is that of the work that pays for one transfer.
	difficulty uint64
	// exchangeOwner administers the exchange until an owner is stored; zero: no one.
	exchangeOwner core.Address
	// memory is the same for all chains but in tests. Whether the chain can be rolled back depends on it.
	memory memory
	// olderHashes is of a log that began under an older version: see sealing.
	olderHashes bool
}

func (r rules) sealing() sealing { return sealing{r.digest, r.olderHashes} }

// snapshot is a block of the snapshot chain. Its signature is made when someone asks.
type snapshot struct {
	Point
	previous core.Hash
	seed     uint64
	content  map[core.Address]BlockID // nil when empty
	changed  []holding                // balances that are not those of the block before
	blocks   int                      // that it confirms
	mark     uint64                   // of the journal, just after the block
}

// account is the chain of blocks of one address.
type account struct {
	address    core.Address
	blocks     line
	balances   map[core.TokenID]uint256.Int
	past       map[core.TokenID][]pastBalance // newest last; what is older is in the history
	unreceived *btree.BTreeG[*entry]          // ordered by hash
	staked     uint256.Int                    // VITE staked for this account
	usage      []usage                        // stake quota spent before that of using, oldest first
	using      usage                          // the latest stake quota spent
	powAt      uint64                         // latest snapshot height when the account last worked
	contract   *ContractInfo                  // nil for users; replaced, never changed in place
}

// line is the blocks of an account: the newest of them, oldest first and without gaps, and the place of the last.
type line struct {
	tip    BlockID
	recent []*entry
}

// pastBalance is a balance from a snapshot height on.
type pastBalance struct {
	height uint64
	amount uint256.Int
}

// holding names one balance of one account.
type holding struct {
	address core.Address
	token   core.TokenID
}

// entry is an account block in its place.
type entry struct {
	block     *core.AccountBlock // never changed
	at        spot
	send      *entry    // of a receive: what it receives; nil at genesis
	receive   *entry    // of a send: what received it
	snapshot  *snapshot // the first that contains it
	byStake   uint64    // quota
	total     uint64    // quota, work included
	logs      []VMLog
	triggered []*entry
	old       bool // it is in the history, and here only because no one has received it or its receive is new
}

// spot is where a block stands in the chain of its account: its height, or that of the receive which triggered it and its
// number there, from 1.
type spot struct {
	height uint64
	number int
}

func newState(r rules) *state {
	return &state{
		rules:     r,
		snapshots: map[core.Hash]*snapshot{},
		accounts:  map[core.Address]*account{},
		blocks:    map[core.Hash]*entry{},
		tokens:    map[core.TokenID]*TokenInfo{},
		symbols:   map[string]uint16{},
		stakes:    map[core.Address][]Stake{},
		touched:   map[holding]struct{}{},
		exchange:  newExchange(),
	}
}

func newAccount(a core.Address) *account {
	return &account{
		address:    a,
		balances:   map[core.TokenID]uint256.Int{},
		past:       map[core.TokenID][]pastBalance{},
		unreceived: btree.NewBTreeGOptions(lessHash, btree.Options{NoLocks: true, Degree: 16}),
	}
}

func lessHash(a, b *entry) bool { return bytes.Compare(a.block.Hash[:], b.block.Hash[:]) < 0 }

// account finds or makes the account.
func (s *state) account(a core.Address) *account {
	if acc := s.accounts[a]; acc != nil {
		return acc
	}
	acc := newAccount(a)
	put(&s.journal, s.accounts, a, acc)
	return acc
}

// tip is the height and hash that the next block builds on: zero before the first. It is safe on a nil account.
func (a *account) tip() BlockID {
	if a == nil {
		return BlockID{}
	}
	return a.blocks.tip
}

// at is the block of a height, nil if it is not in memory.
func (l line) at(height uint64) *entry {
	if oldest := l.oldest(); height >= oldest && height <= l.tip.Height {
		return l.recent[height-oldest]
	}
	return nil
}

// oldest is the height of the oldest block in memory, above the tip if there is none.
func (l line) oldest() uint64 { return l.tip.Height + 1 - uint64(len(l.recent)) }

// latest is the newest snapshot block. There is always one: the genesis.
func (s *state) latest() *snapshot { return s.chain[len(s.chain)-1] }

// height is that of the latest snapshot block, 0 while the genesis is made.
func (s *state) height() uint64 {
	if len(s.chain) == 0 {
		return 0
	}
	return s.latest().Height
}

// at is the snapshot block of a height, nil if it is not in memory.
func (s *state) at(height uint64) *snapshot {
	if oldest := s.height() + 1 - uint64(len(s.chain)); height >= oldest && height <= s.height() {
		return s.chain[height-oldest]
	}
	return nil
}

// credit adds to a balance. The sum of a token cannot exceed its supply, which is below 2^256.
func (s *state) credit(a *account, token core.TokenID, amount uint256.Int) {
	if amount.IsZero() {
		return
	}
	sum := a.balances[token]
	if _, over := sum.AddOverflow(&sum, &amount); over {
		panic("node: a balance exceeds 2^256")
	}
	s.setBalance(a, token, sum)
}

// debit takes from a balance, or is ErrBalance.
func (s *state) debit(a *account, token core.TokenID, amount uint256.Int) error {
	if amount.IsZero() {
		return nil
	}
	rest := a.balances[token]
	if _, under := rest.SubOverflow(&rest, &amount); under {
		return ErrBalance
	}
	s.setBalance(a, token, rest)
	return nil
}

func (s *state) setBalance(a *account, token core.TokenID, amount uint256.Int) {
	put(&s.journal, a.balances, token, amount)
	h := holding{a.address, token}
	if _, seen := s.touched[h]; !seen {
		put(&s.journal, s.touched, h, struct{}{})
	}
}

// burnFee counts what no one will have again.
func (s *state) burnFee(fee uint256.Int) {
	sum := s.fees
	set(&s.journal, &s.fees, *sum.Add(&sum, &fee))
}

// unburnFee takes the fee of a failed call back into circulation.
func (s *state) unburnFee(fee uint256.Int) {
	rest := s.fees
	set(&s.journal, &s.fees, *rest.Sub(&rest, &fee))
}

// append puts a block with an own height at the end of its account's chain.
func (s *state) append(a *account, e *entry) {
	e.at = spot{height: e.block.Height}
	put(&s.journal, s.blocks, e.block.Hash, e)
	set(&s.journal, &a.blocks, line{BlockID{e.block.Height, e.block.Hash}, append(a.blocks.recent, e)})
	set(&s.journal, &s.recent, append(s.recent, e))
}

// open offers a send to its addressee.
func (s *state) open(e *entry) {
	to := s.account(e.block.ToAddress)
	to.unreceived.Set(e)
	s.journal.add(func() { to.unreceived.Delete(e) })
	if e.block.ToAddress.IsContract() {
		set(&s.journal, &s.pending, append(s.pending, e))
	}
}

// settle marks a send as received by the block of e. The amount is credited apart.
func (s *state) settle(a *account, e *entry) {
	send := e.send
	set(&s.journal, &send.receive, e)
	a.unreceived.Delete(send)
	s.journal.add(func() { a.unreceived.Set(send) })
}

// addresses lists the accounts in address order.
func (s *state) addresses() []core.Address {
	return slices.SortedFunc(maps.Keys(s.accounts), compareAddresses)
}

func compareAddresses(a, b core.Address) int { return bytes.Compare(a[:], b[:]) }

func compareTokens(a, b core.TokenID) int { return bytes.Compare(a[:], b[:]) }
