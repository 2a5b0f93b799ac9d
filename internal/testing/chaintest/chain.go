package chaintest

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"gatewayd/chain"
)

// keepStates bounds a test's rollback: older blocks lose their state.
const keepStates = 512

// Config selects the kind of ledger. The zero value of every field but ID is usable.
type Config struct {
	ID       chain.ID
	Linked   bool             // linked accounts without fees and mempool, like the exchange chain
	Pool     string           // ledger of coins, like Bitcoin: key of the account that pays with all of them
	Finality uint64           // blocks on top that make a block final; 0: at once
	Owned    []string         // accounts of ours; Own adds more
	Now      func() time.Time // clock of new blocks; default: ten seconds per block
	Ceiling  chain.Amount     // of the fee cap per gas; zero: 1000

	Batch     int           // payments that one transaction may make; 0: one
	BatchWait time.Duration // for which a payment waits for others

	MaxUnmined int // transactions of one account that may be in no block yet; 0: 16, or 256 when linked
}

// Chain is a ledger in memory with the controls a test needs. It implements chain.Chain. All
// methods may be called from any goroutine.
type Chain struct {
	cfg Config

	mu        sync.Mutex
	line      []*block
	mined     map[string]uint64 // heights of the transactions in the line, by hash
	cur       *state            // after the line, and on the linked ledger after the unconfirmed blocks too
	waiting   []*tx             // nonce ledger: the mempool; linked ledger: unconfirmed blocks in order
	left      map[uint64]*block // by height, what a rollback removed last
	dropped   []*tx             // dropped, and alive in some node's memory: Gossip brings them back
	rejecting map[string]bool
	separate  map[string]bool // payees that share no transaction
	hiding    map[string]bool // rejecting payees that no estimate shows
	held      map[string]bool // accounts whose transactions no block takes
	owned     map[string]bool
	base      chain.Amount
	final     uint64
	forks     uint64 // makes blocks of a new branch differ
	serial    uint64
	noQuota   bool

	accounts   Accounts              // ledger of coins, as all of these; nil: blocks show all own transactions
	shown      map[string]chain.Coin // ours, of blocks that were shown
	chosen     map[string]choice     // coins of transactions that were prepared last
	keepsFirst bool                  // see KeepFirst

	stake uint64 // see SetStake
	lie   Lie
	calls map[Call]int

	past uint64 // see KeepBalances
	page int    // see SetBalancePage

	tracing chain.Tracing // see SetTracing
	bend    func(account string, height uint64) *chain.Amount
}

// block is one block of the line. after is nil once it is older than keepStates.
type block struct {
	chain.Point
	parent   string
	at       time.Time
	txs      []*tx
	receipts []receipt
	after    *state
}

// New is a ledger with only its genesis block.
func New(cfg Config) *Chain {
	if cfg.ID == "" {
		panic("a ledger needs an ID")
	}
	if cfg.Ceiling.IsZero() {
		cfg.Ceiling = chain.NewAmount(1000)
	}
	if cfg.MaxUnmined == 0 {
		cfg.MaxUnmined = 16
		if cfg.Linked {
			cfg.MaxUnmined = 256
		}
	}
	c := &Chain{
		cfg:       cfg,
		mined:     make(map[string]uint64),
		left:      make(map[uint64]*block),
		rejecting: make(map[string]bool),
		hiding:    make(map[string]bool),
		separate:  make(map[string]bool),
		held:      make(map[string]bool),
		owned:     make(map[string]bool),
		calls:     make(map[Call]int),
		lie:       Honest,
	}
	c.loseMemory()
	if !cfg.Linked {
		c.base = chain.NewAmount(10)
	}
	for _, a := range cfg.Owned {
		c.owned[a] = true
	}
	c.cur = newState(cfg.Linked, c.rejecting)
	c.line = []*block{{Point: chain.Point{Hash: digest(string(cfg.ID), "genesis")}, at: c.blockTime(0), after: c.cur.clone()}}
	return c
}

func (c *Chain) blockTime(height uint64) time.Time {
	if c.cfg.Now != nil {
		return c.cfg.Now()
	}
	return time.Unix(1_700_000_000+10*int64(height), 0).UTC()
}

// Own makes accounts ours: their transfers and own transactions show in blocks that are read from
// now on.
func (c *Chain) Own(accounts ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range accounts {
		c.owned[a] = true
	}
}

// Address is the account of a key path on this ledger.
func (c *Chain) Address(key string) string { return Address(c.cfg.ID, key) }

// Endow gives an account a holding out of nothing, without any transfer: the operators' money from
// before the line's start. It must come before the first Mine.
func (c *Chain) Endow(account string, asset chain.Asset, amount chain.Amount) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.line) > 1 {
		panic("Endow after the first block")
	}
	if c.coins() {
		c.serial++
		c.push(&tx{Chain: c.cfg.ID, Serial: c.serial, Outs: []Out{{To: account, Asset: asset, Amount: amount}}})
		c.fill(c.line[0])
		return
	}
	c.cur.credit(holding{account, asset}, amount)
	c.line[0].after = c.cur.clone()
}

// Mine makes n blocks. The first includes every transaction that is valid in it.
func (c *Chain) Mine(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		c.mine(true)
	}
}

// MineEmpty makes n blocks that take nothing in, as when the ledger is crowded.
func (c *Chain) MineEmpty(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range n {
		c.mine(false)
	}
}

func (c *Chain) mine(full bool) {
	last := c.line[len(c.line)-1]
	b := &block{Point: chain.Point{Height: last.Height + 1}, parent: last.Hash, at: c.blockTime(last.Height + 1), after: last.after}
	if full {
		c.fill(b)
	}
	parts := []string{string(c.cfg.ID), b.parent, fmt.Sprint(b.Height, c.forks)}
	for _, t := range b.txs {
		parts = append(parts, t.hash)
	}
	b.Hash = digest(parts...)
	c.line = append(c.line, b)
	if old := len(c.line) - keepStates; old > 0 {
		c.line[old-1].after = nil
	}
	if b.Height > c.final+c.cfg.Finality {
		c.final = b.Height - c.cfg.Finality
	}
}

// fill moves what waits into the block.
func (c *Chain) fill(b *block) {
	if len(c.waiting) == 0 {
		return
	}
	switch {
	case c.coins():
		c.fillCoins(b)
	case c.cfg.Linked:
		b.txs, c.waiting = c.waiting, nil
		b.receipts = make([]receipt, len(b.txs))
		for i, t := range b.txs {
			b.receipts[i] = receipt{ok: true, members: paidAll(t)}
		}
	default:
		c.fillNonce(b)
	}
	for _, t := range b.txs {
		c.mined[t.hash] = b.Height
	}
	b.after = c.cur.clone()
}

// coins reports whether accounts have coins instead of numbers.
func (c *Chain) coins() bool { return c.cfg.Pool != "" }

// fillNonce takes outsiders first, then ours by account and number, each as far as it goes.
func (c *Chain) fillNonce(b *block) {
	slices.SortStableFunc(c.waiting, byAccountAndNumber)
	var left []*tx
	for _, t := range c.waiting {
		if c.held[t.account] {
			left = append(left, t)
			continue
		}
		r, err := c.cur.apply(t, c.base)
		if err != nil {
			left = append(left, t)
			continue
		}
		b.txs = append(b.txs, t)
		b.receipts = append(b.receipts, r)
	}
	c.waiting = slices.DeleteFunc(left, func(t *tx) bool { return c.cur.nextNumber(t.account) > t.Number })
}

func byAccountAndNumber(a, b *tx) int {
	switch {
	case a.account < b.account:
		return -1
	case a.account > b.account:
		return 1
	case a.Number < b.Number:
		return -1
	case a.Number > b.Number:
		return 1
	}
	return 0
}

// Rollback removes the newest blocks. What stood in them waits again when keep is set, and is
// dropped otherwise.
func (c *Chain) Rollback(depth int, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollback(depth, keep)
}

// Reorg replaces the newest blocks by one more than there were. With keep, their transactions are
// mined again in the first new block. Otherwise they are dropped, and only a new Broadcast or
// Gossip restores them.
func (c *Chain) Reorg(depth int, keep bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rollback(depth, keep)
	for range depth + 1 {
		c.mine(keep)
	}
}

func (c *Chain) rollback(depth int, keep bool) {
	if depth >= len(c.line) {
		panic(fmt.Sprintf("rolling back %d of %d blocks", depth, len(c.line)-1))
	}
	cut := len(c.line) - depth
	var undone []*tx
	for _, b := range c.line[cut:] {
		undone = append(undone, b.txs...)
		c.left[b.Height] = b
	}
	for _, t := range undone {
		delete(c.mined, t.hash)
	}
	undone = slices.DeleteFunc(undone, func(t *tx) bool { return t.Matures > 0 })
	waiting := c.waiting
	c.line, c.waiting = c.line[:cut], nil
	if c.line[cut-1].after == nil {
		panic("rolling back further than states are kept")
	}
	c.cur = c.line[cut-1].after.clone()
	c.forks++
	if keep {
		waiting = append(undone, waiting...)
	} else {
		c.dropped = append(c.dropped, undone...)
	}
	c.readmit(waiting)
}

// readmit takes transactions back after the ledger changed below them. What no longer fits goes to
// the graveyard.
func (c *Chain) readmit(txs []*tx) {
	for _, t := range txs {
		if err := c.admit(t); err != nil {
			c.dropped = append(c.dropped, t)
		}
	}
}

// Drop makes the ledger lose a transaction that is in no block. On the linked ledger its successors
// are lost with it. It reports whether there was one.
func (c *Chain) Drop(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.waiting, func(t *tx) bool { return t.hash == hash })
	if i < 0 {
		return false
	}
	waiting := slices.Concat(c.waiting[:i], c.waiting[i+1:])
	c.dropped = append(c.dropped, c.waiting[i])
	c.waiting = nil
	c.cur = c.line[len(c.line)-1].after.clone()
	c.readmit(waiting)
	return true
}

// Waiting returns the hashes of transactions that are in no block yet.
func (c *Chain) Waiting() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	hashes := make([]string, len(c.waiting))
	for i, t := range c.waiting {
		hashes[i] = t.hash
	}
	return hashes
}

// Gossip brings back what was dropped, as far as it fits: any node that remembers a transaction may
// offer it again at any time.
func (c *Chain) Gossip() {
	c.mu.Lock()
	defer c.mu.Unlock()
	dead := c.dropped
	c.dropped = nil
	c.readmit(dead)
}

// LoseDropped makes the nodes lose their memory of our own dropped transactions: only a new
// Broadcast brings them back.
func (c *Chain) LoseDropped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dropped = slices.DeleteFunc(c.dropped, func(t *tx) bool { return c.owned[t.account] })
}

// Reject makes the nonce ledger fail every payment to an account: it is included in a block, burns
// its fee and moves nothing.
func (c *Chain) Reject(account string, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejecting[account] = yes
}

// RejectUnseen is Reject by a payee that takes the payment whenever it is only tried.
func (c *Chain) RejectUnseen(account string, yes bool) {
	c.Reject(account, yes)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hiding[account] = yes
}

// Hold keeps an account's transactions out of the blocks, as when they offer too little; only on
// the ledger with fees.
func (c *Chain) Hold(account string, yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held[account] = yes
}

// SetBaseFee sets the fee per gas below which nothing is mined on the nonce ledger.
func (c *Chain) SetBaseFee(n uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base = chain.NewAmount(n)
}

// SetQuota takes the linked ledger's quota away (Sign answers ErrNotNow) or gives it back.
func (c *Chain) SetQuota(enough bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noQuota = !enough
}

// SetStake bounds the blocks of each account in one snapshot block of the linked ledger: Sign
// answers ErrNotNow to more. 0 is no bound.
func (c *Chain) SetStake(blocks uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stake = blocks
}

// spent reports whether an account's stake does not pay for a block of that number before the next
// snapshot block.
func (c *Chain) spent(account string, number uint64) bool {
	if c.stake == 0 {
		return false
	}
	unconfirmed := uint64(0)
	for _, t := range c.waiting {
		if t.account == account {
			unconfirmed++
		}
	}
	return unconfirmed+number >= c.cur.nextNumber(account)+c.stake
}

// Deposit is an outside user's transfer. The next block includes it; it returns the transaction's
// hash.
func (c *Chain) Deposit(from, to string, asset chain.Asset, amount chain.Amount, memo chain.Memo) string {
	return c.Send(Out{From: from, To: to, Asset: asset, Amount: amount, Memo: memo})
}

// Send is one transaction of an outside user with several movements; the linked ledger has room for
// one. It answers the hash.
func (c *Chain) Send(outs ...Out) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cfg.Linked && len(outs) != 1 {
		panic("a block of the linked ledger moves one thing")
	}
	c.serial++
	return c.push(&tx{Chain: c.cfg.ID, Serial: c.serial, Outs: outs})
}

// SendUnknownTx is a payment that another holder of our key makes at the account's next number. On
// the nonce ledger it displaces our transaction in the mempool there. It returns the hash.
func (c *Chain) SendUnknownTx(key, to string, asset chain.Asset, amount chain.Amount) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	account := c.Address(key)
	if c.coins() {
		return c.steal(key, to, c.largest(account))
	}
	number := c.cur.nextNumber(account)
	c.waiting = slices.DeleteFunc(c.waiting, func(t *tx) bool {
		return !c.cfg.Linked && t.account == account && t.Number == number
	})
	t := &tx{Chain: c.cfg.ID, Key: key, Number: number, Asset: asset, To: to, Amount: amount, Serial: c.serial, Tip: c.base, Cap: c.cfg.Ceiling}
	if c.cfg.Linked {
		t.Prev, t.Tip, t.Cap = c.cur.lastHash(account), chain.Amount{}, chain.Amount{}
	}
	return c.push(t)
}

// push admits a transaction that the test itself made and that must fit.
func (c *Chain) push(t *tx) string {
	if _, err := t.seal(); err != nil {
		panic(err)
	}
	if err := c.admit(t); err != nil {
		panic(fmt.Sprintf("the test's own transaction: %v", err))
	}
	return t.hash
}
