package watcher

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/wallet"
)

// simChain is a ledger in memory that costs next to nothing: what a case measures is the gateway's
// own work. Its blocks hold what is put into them; what is broadcast stands in the next one. It
// signs nothing: an attempt's bytes are its fields.
type simChain struct {
	id     chain.ID
	linked bool
	tail   int // of what is broadcast, so much stands in a block of its own behind the next one
	batch  int // payments that a transaction may make; 0: one
	most   int // unmined transactions of an account; 0: 256

	mu      sync.Mutex
	heads   int // calls of Head
	sent    int // payments of attempts taken
	settled int // of them that stand in a final block

	base   uint64 // height of line[0]
	line   []chain.Block
	final  uint64
	next   map[string]uint64 // by account, behind what waits
	mined  map[string]chain.AccountHead
	pool   []chain.OwnTx
	serial uint64
}

// newSimChain begins at a block of which everything is final.
func newSimChain(id chain.ID, linked bool, at chain.Point) *simChain {
	return &simChain{
		id: id, linked: linked, base: at.Height, line: []chain.Block{{Point: at}}, final: at.Height, next: map[string]uint64{}, mined: map[string]chain.AccountHead{},
	}
}

// stand takes over where an account of ours stands.
func (c *simChain) stand(tx *records.Tx, account, hash string) error {
	a, err := tx.Accounts().Get(c.id, account)
	c.next[account], c.mined[account] = a.Next, chain.AccountHead{Next: a.Next, Hash: hash, Settled: true}
	return err
}

// mine makes a block of the transfers and of what was broadcast.
func (c *simChain) mine(transfers ...chain.Transfer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pool := c.pool
	c.pool = nil
	rest := len(pool) - min(c.tail, len(pool))
	c.add(transfers, pool[:rest])
	if c.tail > 0 {
		c.add(nil, pool[rest:])
	}
}

func (c *simChain) add(transfers []chain.Transfer, ownTxs []chain.OwnTx) {
	last := c.line[len(c.line)-1]
	b := chain.Block{Parent: last.Hash, Transfers: transfers, OwnTxs: ownTxs, Time: time.Unix(1_790_000_000+int64(last.Height), 0).UTC()}
	b.Point = chain.Point{Height: last.Height + 1, Hash: simHash(c.id, "block", last.Height+1)}
	for _, e := range ownTxs {
		c.mined[e.Account] = chain.AccountHead{Next: e.Number + 1, Hash: e.Tx, Settled: true}
	}
	c.line = append(c.line, b)
}

// finalize makes everything final that has depth blocks on top; steady: as long as no more of what
// was broadcast stands in it than was broadcast.
func (c *simChain) finalize(depth uint64, steady bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.base+uint64(len(c.line))-1 > depth+c.final {
		own := 0
		for _, tx := range c.line[c.final+1-c.base].OwnTxs {
			own += max(1, len(tx.Members))
		}
		if steady && c.settled+own > c.sent {
			return
		}
		c.final++
		c.settled += own
	}
}

// settleAsSent lets as many become final from now on as are sent from now on.
func (c *simChain) settleAsSent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = c.sent
}

// transfer is a movement to an account of ours, for the next block.
func (c *simChain) transfer(from, to string, asset chain.Asset, amount chain.Amount, memo chain.Memo) chain.Transfer {
	c.serial++
	hash := simHash(c.id, "in", c.serial)
	return chain.Transfer{Ref: hash, Tx: hash, From: from, To: to, Asset: asset, Amount: amount, Memo: memo}
}

func (c *simChain) sentSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

func (c *simChain) headsSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.heads
}

func simHash(id chain.ID, kind string, n uint64) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(string(id)+kind), n))
	return "0x" + hex.EncodeToString(sum[:])
}

// ID is the chain's name.
func (c *simChain) ID() chain.ID { return c.id }

// Head is where the chain stands.
func (c *simChain) Head(context.Context) (chain.Head, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heads++
	last := c.line[len(c.line)-1]
	return chain.Head{Latest: last.Point, Final: c.line[c.final-c.base].Point, Time: last.Time}, nil
}

// Block is the block at a height.
func (c *simChain) Block(_ context.Context, height uint64) (chain.Block, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if height < c.base || height-c.base >= uint64(len(c.line)) {
		return chain.Block{}, fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
	}
	return c.line[height-c.base], nil
}

// CheckAddress takes every address.
func (c *simChain) CheckAddress(addr, _ string) (string, error) { return addr, nil }

// Balance is more than anybody needs.
func (c *simChain) Balance(context.Context, string, chain.Asset) (chain.Amount, error) {
	return chain.NewAmount(1 << 62), nil
}

// AccountHead is where an account stands.
func (c *simChain) AccountHead(_ context.Context, account string) (chain.AccountHead, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mined[account], nil
}

// simAttempt is what an attempt's bytes hold; the filling is as long as a real one's.
type simAttempt struct {
	Account string
	Number  uint64
	Payment uint64
	Members int
	Filling []byte
}

// Prepare makes an attempt out of the slot.
func (c *simChain) Prepare(_ context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	switch {
	case len(prev) > 0:
		return chain.Attempt{}, chain.ErrNoReplacement
	case c.linked && slot.Prev == "":
		return chain.Attempt{}, chain.ErrNotNow
	}
	raw, err := json.Marshal(simAttempt{slot.Account, slot.Nonce, pay.ID, len(pay.Members), make([]byte, 100+40*len(pay.Members))})
	if err != nil {
		return chain.Attempt{}, err
	}
	return chain.Attempt{Hash: simHash(c.id, slot.Account, slot.Nonce), Raw: raw}, nil
}

// simRules let everything pass: a ledger's own rules are not measured.
type simRules struct{ id chain.ID }

// Digests are the hash of the transaction.
func (simRules) Digests(o chain.Order) ([]chain.Digest, error) {
	digest := sha256.Sum256(o.Unsigned)
	return []chain.Digest{{Key: o.Slot.Key, Hash: digest[:]}}, nil
}

// Fee is nothing.
func (simRules) Fee(chain.Order) (chain.Amount, error) { return chain.Amount{}, nil }

// Seal adds nothing.
func (r simRules) Seal(o chain.Order, _ ...chain.Signature) (chain.SignedTx, error) {
	return chain.SignedTx{Hash: simHash(r.id, o.Slot.Account, o.Slot.Nonce), Raw: o.Unsigned}, nil
}

// simMnemonic is where the keys of a simulated gateway come from.
const simMnemonic = "test test test test test test test test test test test junk"

// simKeys are real keys: the paths of simulated accounts are the names of their kinds.
type simKeys struct{ *wallet.Keys }

// Sign signs with the gateway's key on the exchange chain, else with that of the hot account.
func (k simKeys) Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error) {
	real := wallet.SourcePaths(60).Hot(0)
	if path == string(records.KindGateway) {
		real = wallet.GatewayPath(0)
	}
	return k.Keys.Sign(ctx, real, digest)
}

// Estimate, Cost and Underpriced make payments free: it is the gateway that is measured.
func (c *simChain) Estimate(context.Context, string, chain.Payment) (chain.Amount, error) {
	return chain.Amount{}, nil
}

func (c *simChain) Cost(chain.Attempt) (chain.Amount, error) { return chain.Amount{}, nil }

func (c *simChain) Underpriced(context.Context, chain.Slot, chain.Attempt) (bool, error) {
	return false, nil
}

// MaxUnmined is the exchange chain's default, on both, unless a benchmark wants another.
func (c *simChain) MaxUnmined() int { return cmp.Or(c.most, 256) }

// Broadcast takes attempts in order.
func (c *simChain) Broadcast(_ context.Context, attempts []chain.Attempt) []error {
	errs := make([]error, len(attempts))
	for i, a := range attempts {
		errs[i] = c.broadcast(a)
	}
	return errs
}

// broadcast takes an attempt that comes next; one that is known already is fine.
func (c *simChain) broadcast(a chain.Attempt) error {
	var in simAttempt
	if err := json.Unmarshal(a.Raw, &in); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch next := c.next[in.Account]; {
	case in.Number < next:
		return nil
	case in.Number > next:
		return fmt.Errorf("%s has number %d next, not %d: %w", in.Account, next, in.Number, chain.ErrUnavailable)
	}
	c.next[in.Account]++
	c.sent += max(1, in.Members)
	fee := chain.NewAmount(21000)
	if c.linked {
		fee = chain.Amount{}
	}
	c.pool = append(c.pool, chain.OwnTx{Account: in.Account, Number: in.Number, Tx: a.Hash, OK: true, Fee: fee, Members: slices.Repeat([]chain.Outcome{chain.MemberPaid}, in.Members)})
	return nil
}

// MaxBatch, BatchWait, BatchTo, Separate and Allowed let payments share transactions.
func (c *simChain) MaxBatch(chain.Asset) int   { return c.batch }
func (c *simChain) BatchWait() time.Duration   { return 0 }
func (c *simChain) BatchTo(chain.Asset) string { return "0xbatches" }

func (c *simChain) Separate(_ context.Context, pays []chain.Payment) ([]bool, error) {
	return make([]bool, len(pays)), nil
}

func (c *simChain) Allowed(context.Context, string, chain.Asset, chain.Amount) (bool, error) {
	return true, nil
}

// SweepCost and TokenSweepCost make the chain one that is swept.
func (c *simChain) SweepCost(context.Context) (chain.Amount, error) {
	return chain.NewAmount(21000), nil
}

// TokenSweepCost is below what every address has.
func (c *simChain) TokenSweepCost(context.Context) (chain.Amount, error) {
	return chain.NewAmount(60000), nil
}

func (c *simChain) settledSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled
}
