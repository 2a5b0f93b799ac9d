package chaintest

import (
	"context"
	"fmt"
	"slices"

	"gatewayd/chain"
)

const (
	// dust is the least amount of an output of the ledger of coins.
	dust = 300
	// Maturity is the number of blocks from a block's reward to the first that may spend it.
	Maturity = 8
)

// Accounts knows what is ours on a ledger of coins, as the records do.
type Accounts interface {
	Coins(ctx context.Context, id chain.ID, outpoints []string) (map[string]chain.Coin, error)
	HeldCoins(ctx context.Context, id chain.ID, account string) ([]chain.HeldCoin, error)
	CoinTxs(ctx context.Context, id chain.ID, hashes []string) (map[string][]byte, error)
}

// SetAccounts makes the ledger of coins ask for our coins there, with the memory of a new process.
func (c *Chain) SetAccounts(a Accounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accounts = a
	c.loseMemory()
}

// LoseMemory loses what an adapter keeps in memory only, as a process that ends.
func (c *Chain) LoseMemory() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loseMemory()
}

func (c *Chain) loseMemory() {
	c.shown, c.chosen = make(map[string]chain.Coin), make(map[string]choice)
}

// spend is a coin that a transaction spends, with the key of its address.
type spend struct{ Out, Key string }

// coin is an output that no transaction spends.
type coin struct {
	address string
	amount  uint64
	matures uint64
}

// output gives an amount to an address.
type output struct {
	to     string
	amount uint64
}

// outputs are those of a transaction of the ledger of coins: the payees in their order, then the
// change.
func (t *tx) outputs() (list []output) {
	for _, o := range t.Outs {
		list = append(list, output{o.To, number(o.Amount)})
	}
	for _, p := range t.payees() {
		list = append(list, output{p.To, number(p.Amount)})
	}
	for _, amount := range t.Change {
		list = append(list, output{t.account, amount})
	}
	return list
}

// payees are those whom a transaction of ours pays.
func (t *tx) payees() []member {
	if t.Key == "" || t.Purpose.PaysNobody() {
		return nil
	}
	if len(t.Members) > 0 {
		return t.Members
	}
	return []member{{t.Payment, t.To, t.Amount}}
}

// spentBy are the outpoints that a transaction spends.
func (t *tx) spentBy() []string {
	outs := make([]string, len(t.Spends))
	for i, s := range t.Spends {
		outs[i] = s.Out
	}
	return outs
}

// size decides the fee of a transaction of the ledger of coins.
func (t *tx) size() uint64 { return uint64(2 + 6*len(t.Spends) + 3*len(t.outputs())) }

// rate is the fee for each unit of size.
func (t *tx) rate() uint64 { return number(t.Cap) / t.size() }

func number(a chain.Amount) uint64 { return a.Uint256().Uint64() }

func outpoint(hash string, i int) string { return fmt.Sprintf("%s:%d", hash, i) }

// checkCoins returns why no block of a height can include a transaction, with those that make the
// pending coins.
func (s *state) checkCoins(t *tx, height uint64, pending map[string]coin) error {
	if t.Key == "" {
		return nil
	}
	in, out := uint64(0), number(t.Cap)
	seen := map[string]bool{}
	for _, in0 := range t.Spends {
		have, ok := s.coins[in0.Out]
		if !ok {
			have, ok = pending[in0.Out]
		}
		switch {
		case !ok || seen[in0.Out]:
			return fmt.Errorf("%w: %.12s", errMissing, in0.Out)
		case have.matures > height:
			return fmt.Errorf("%w: %.12s before block %d", errImmature, in0.Out, have.matures)
		case Address(t.Chain, in0.Key) != have.address:
			return fmt.Errorf("%w: %q is not the key of %s", errMissing, in0.Key, have.address)
		}
		seen[in0.Out], in = true, in+have.amount
	}
	for _, o := range t.outputs() {
		if o.amount < dust {
			return fmt.Errorf("%w: %d", errDust, o.amount)
		}
		out += o.amount
	}
	if in != out || in == 0 {
		return fmt.Errorf("%w: it spends %d and gives %d", errShort, in, out)
	}
	return nil
}

func (s *state) applyCoins(t *tx, height uint64) (receipt, error) {
	if err := s.checkCoins(t, height, nil); err != nil {
		return receipt{}, err
	}
	for _, in := range t.Spends {
		was := s.coins[in.Out]
		delete(s.coins, in.Out)
		if err := s.debit(holding{was.address, chain.Native}, chain.NewAmount(was.amount)); err != nil {
			return receipt{}, err
		}
	}
	for i, o := range t.outputs() {
		s.coins[outpoint(t.hash, i)] = coin{o.to, o.amount, t.Matures}
		s.credit(holding{o.to, chain.Native}, chain.NewAmount(o.amount))
	}
	s.burnt, _ = s.burnt.Add(t.Cap)
	return receipt{ok: true, fee: t.Cap, members: paidAll(t)}, nil
}

// admitCoins lets a transaction wait whose coins no block has spent. Of several that spend the same
// coin the first waits, until one comes that offers more.
func (c *Chain) admitCoins(t *tx) error {
	if err := c.cur.checkCoins(t, uint64(len(c.line)), c.pendingCoins()); err != nil {
		return err
	}
	rivals, fees := c.rivals(t), uint64(0)
	for _, r := range rivals {
		fees += number(r.Cap)
		switch {
		case c.keepsFirst:
			return errConflict
		case t.rate() <= r.rate() || number(t.Cap) < fees+t.size():
			return errUnderpriced
		}
	}
	c.displace(rivals)
	c.waiting = append(c.waiting, t)
	return nil
}

// pendingCoins are those that transactions make which wait.
func (c *Chain) pendingCoins() map[string]coin {
	coins := map[string]coin{}
	for _, w := range c.waiting {
		for i, o := range w.outputs() {
			coins[outpoint(w.hash, i)] = coin{address: o.to, amount: o.amount}
		}
	}
	return coins
}

// packageRate is that of a transaction, or with a child that waits and pays more.
func (c *Chain) packageRate(t *tx) uint64 {
	rate := t.rate()
	for _, w := range c.waiting {
		spends := slices.ContainsFunc(w.Spends, func(s spend) bool { hash, _, _ := cutOutpoint(s.Out); return hash == t.hash })
		if spends {
			rate = max(rate, (number(t.Cap)+number(w.Cap))/(t.size()+w.size()))
		}
	}
	return rate
}

// rivals are those that wait and spend a coin that a transaction spends too.
func (c *Chain) rivals(t *tx) (list []*tx) {
	outs := t.spentBy()
	for _, w := range c.waiting {
		if slices.ContainsFunc(w.Spends, func(s spend) bool { return slices.Contains(outs, s.Out) }) {
			list = append(list, w)
		}
	}
	return list
}

// displace takes transactions out of the pool. Some node still has them.
func (c *Chain) displace(list []*tx) {
	c.waiting = slices.DeleteFunc(c.waiting, func(w *tx) bool { return slices.Contains(list, w) })
	c.dropped = append(c.dropped, list...)
}

// fillCoins takes what pays the fee of now. What spends a coin that the block spends leaves the
// pool.
func (c *Chain) fillCoins(b *block) {
	for _, t := range slices.Clone(c.waiting) {
		if t.Key != "" && (c.held[t.account] || c.packageRate(t) < number(c.base)) {
			continue
		}
		if r, err := c.cur.applyCoins(t, b.Height); err == nil {
			b.txs, b.receipts = append(b.txs, t), append(b.receipts, r)
		}
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w *tx) bool { return slices.Contains(b.txs, w) })
	for {
		var gone []*tx
		pending := c.pendingCoins()
		for _, t := range c.waiting {
			if c.cur.checkCoins(t, b.Height+1, pending) != nil {
				gone = append(gone, t)
			}
		}
		if c.displace(gone); len(gone) == 0 {
			return
		}
	}
}

// MineTo makes a block whose reward goes to an account, on the ledger of coins. The reward is gone
// when a re-org takes its block. It returns the hash of the transaction.
func (c *Chain) MineTo(to string, amount chain.Amount) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	reward := &tx{Chain: c.cfg.ID, Serial: c.serial, Outs: []Out{{To: to, Asset: chain.Native, Amount: amount}}, Matures: uint64(len(c.line)) + Maturity}
	c.push(reward)
	c.mine(true)
	return reward.hash
}

// KeepFirst makes nodes of the ledger of coins replace nothing that waits, whatever another offers.
func (c *Chain) KeepFirst(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepsFirst = yes
}

// Steal is a transaction by another holder of our keys that spends coins of the key's address and
// gives all to an account. It displaces what waits and spends them. It returns the hash.
func (c *Chain) Steal(key, to string, outs ...string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steal(key, to, outs...)
}

func (c *Chain) steal(key, to string, outs ...string) string {
	c.serial++
	t := &tx{Chain: c.cfg.ID, Key: c.cfg.Pool, Asset: chain.Native, To: to, Serial: c.serial}
	sum := uint64(0)
	for _, out := range outs {
		t.Spends, sum = append(t.Spends, spend{out, key}), sum+c.cur.coins[out].amount
	}
	fee := t.size() * (number(c.base) + 2)
	t.Cap, t.Amount = chain.NewAmount(fee), chain.NewAmount(sum-fee)
	c.displace(c.rivals(t))
	return c.push(t)
}

// CoinsOf returns the coins of keys by the ledger's own data, without the slots that use them.
func (c *Chain) CoinsOf(keys ...string) Accounts { return keyCoins{c, keys} }

type keyCoins struct {
	ledger *Chain
	keys   []string
}

// HeldCoins are all that the keys have.
func (p keyCoins) HeldCoins(context.Context, chain.ID, string) ([]chain.HeldCoin, error) {
	return p.ledger.Unspent(p.keys...), nil
}

// Coins are those of the line's transactions that the keys have.
func (p keyCoins) Coins(_ context.Context, id chain.ID, outs []string) (map[string]chain.Coin, error) {
	c := p.ledger
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]chain.Coin{}
	for _, out := range outs {
		hash, _, _ := cutOutpoint(out)
		t := c.minedTx(hash)
		if t == nil {
			continue
		}
		for i, o := range t.outputs() {
			ours := slices.ContainsFunc(p.keys, func(key string) bool { return Address(id, key) == o.to })
			if ours && outpoint(hash, i) == out {
				found[out] = chain.Coin{Out: out, Address: o.to, Amount: chain.NewAmount(o.amount)}
			}
		}
	}
	return found, nil
}

// CoinTxs are transactions of the line, and those that wait.
func (p keyCoins) CoinTxs(_ context.Context, _ chain.ID, hashes []string) (map[string][]byte, error) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	found := map[string][]byte{}
	for _, hash := range hashes {
		if t := p.ledger.anyTx(hash); t != nil {
			raw, err := t.bare()
			if err != nil {
				return nil, err
			}
			found[hash] = raw
		}
	}
	return found, nil
}

// anyTx is a transaction of the line, or one that waits; nil for none.
func (c *Chain) anyTx(hash string) *tx {
	if i := slices.IndexFunc(c.waiting, func(t *tx) bool { return t.hash == hash }); i >= 0 {
		return c.waiting[i]
	}
	return c.minedTx(hash)
}

// minedTx is a transaction of the line; nil for none.
func (c *Chain) minedTx(hash string) *tx {
	height, ok := c.mined[hash]
	if !ok {
		return nil
	}
	txs := c.line[height].txs
	return txs[slices.IndexFunc(txs, func(t *tx) bool { return t.hash == hash })]
}

// Unspent are the coins of keys in the newest state that the final block has too and that the next
// block may spend, the largest first.
func (c *Chain) Unspent(keys ...string) (list []chain.HeldCoin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := map[string]string{}
	for _, key := range keys {
		of[Address(c.cfg.ID, key)] = key
	}
	final := c.line[c.final].after
	for out, have := range c.cur.coins {
		key, ours := of[have.address]
		if _, old := final.coins[out]; ours && old && have.matures <= uint64(len(c.line)) {
			made, _, _ := cutOutpoint(out)
			list = append(list, chain.HeldCoin{
				Coin: chain.Coin{Out: out, Address: have.address, Amount: chain.NewAmount(have.amount), Matures: have.matures}, Key: key, Height: c.mined[made],
			})
		}
	}
	slices.SortFunc(list, largestFirst)
	return list
}

// largest is the largest coin of an address.
func (c *Chain) largest(address string) (best string) {
	for out, have := range c.cur.coins {
		if was := c.cur.coins[best]; have.address == address && (have.amount > was.amount || have.amount == was.amount && out < best) {
			best = out
		}
	}
	return best
}

// CoinLedger is a ledger of coins as its adapter offers it.
type CoinLedger struct{ *Chain }

// SpendsCoins distinguishes it from ledgers whose accounts have numbers.
func (CoinLedger) SpendsCoins() {}

var _ chain.CoinLedger = CoinLedger{}
