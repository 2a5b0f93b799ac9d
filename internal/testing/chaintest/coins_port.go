package chaintest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
)

const (
	// keepChoices is for how many blocks coins that were chosen for a slot are kept for it before
	// it is stored.
	keepChoices = 6
	// fewCoins is the number of free coins below which the change is divided into up to maxChange.
	fewCoins, maxChange = 12, 4
)

// choice is the slot that a coin was chosen for, and when.
type choice struct{ number, height uint64 }

func cutOutpoint(out string) (hash, index string, ok bool) { return strings.Cut(out, ":") }

func largestFirst(a, b chain.HeldCoin) int {
	return cmp.Or(b.Amount.Cmp(a.Amount), cmp.Compare(a.Out, b.Out))
}

// showCoins returns a block as the adapter does. Coins of ours are those in the records, and those
// of blocks that were read and may not be stored yet.
func (c *Chain) showCoins(ctx context.Context, b *block) (chain.Block, error) {
	var spent []string
	for _, t := range b.txs {
		spent = append(spent, t.spentBy()...)
	}
	c.mu.Lock()
	accounts := c.accounts
	c.mu.Unlock()
	known := map[string]chain.Coin{}
	if accounts != nil && len(spent) > 0 {
		var err error
		if known, err = accounts.Coins(ctx, c.cfg.ID, spent); err != nil {
			return chain.Block{}, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := chain.Block{Point: b.Point, Parent: b.parent, Time: b.at}
	for i, t := range b.txs {
		if own, ours := c.ownTx(t, b.receipts[i], known, accounts == nil); ours {
			out.OwnTxs = append(out.OwnTxs, own)
		}
		made, err := t.bare()
		if err != nil {
			return chain.Block{}, err
		}
		for v, o := range t.outputs() {
			if !c.owned[o.to] {
				continue
			}
			n := chain.Coin{Out: outpoint(t.hash, v), Address: o.to, Amount: chain.NewAmount(o.amount), Own: t.Key != "", Matures: t.Matures, Made: made}
			out.Coins, c.shown[n.Out] = append(out.Coins, n), n
			if !n.Own {
				out.Transfers = append(out.Transfers, chain.Transfer{
					Ref: n.Out, Tx: t.hash, To: o.to, Asset: chain.Native, Amount: n.Amount, Memo: chain.Memo{Type: -1}, Matures: t.Matures,
				})
			}
		}
	}
	return out, nil
}

// ownTx is a transaction that spends coins of ours.
func (c *Chain) ownTx(t *tx, r receipt, known map[string]chain.Coin, all bool) (own chain.OwnTx, ours bool) {
	own = chain.OwnTx{Account: c.Address(c.cfg.Pool), Tx: t.hash, OK: true}
	for _, out := range t.spentBy() {
		_, stored := known[out]
		if _, shown := c.shown[out]; stored || shown || all {
			own.Spent = append(own.Spent, out)
		}
	}
	if len(own.Spent) == len(t.Spends) {
		own.Fee = r.fee
	}
	var paid []member
	for _, p := range t.payees() {
		if p.To != own.Account {
			paid = append(paid, p)
		}
	}
	if len(paid) == 1 {
		own.To, own.Value = paid[0].To, paid[0].Amount
	} else {
		own.Members = slices.Repeat([]chain.Outcome{chain.MemberPaid}, len(paid))
	}
	return own, len(own.Spent) > 0
}

// heldCoins returns the coins of an account, the largest first.
func (c *Chain) heldCoins(ctx context.Context, account string) ([]chain.HeldCoin, error) {
	c.mu.Lock()
	accounts := c.accounts
	c.mu.Unlock()
	if accounts == nil {
		return nil, fmt.Errorf("coins of %s: %w", account, chain.ErrUnavailable)
	}
	held, err := accounts.HeldCoins(ctx, c.cfg.ID, account)
	slices.SortFunc(held, largestFirst)
	return held, err
}

// balanceCoins adds up what an account can spend: coins that no signed transaction spends.
func (c *Chain) balanceCoins(ctx context.Context, account string, asset chain.Asset) (sum chain.Amount, err error) {
	held, err := c.heldCoins(ctx, account)
	if err != nil || asset != chain.Native {
		return sum, err
	}
	for _, h := range held {
		if !h.Signed && err == nil {
			sum, err = sum.Add(h.Amount)
		}
	}
	return sum, err
}

// prepareCoins builds a transaction that spends the slot's coin first, and others that no other
// slot uses.
func (c *Chain) prepareCoins(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	held, err := c.heldCoins(ctx, slot.Account)
	if err != nil {
		return chain.Attempt{}, err
	}
	var pending *family
	if pay.Source != "" {
		if pending, err = c.pendingCoin(ctx, slot, pay.Source, held); err != nil {
			return chain.Attempt{}, err
		}
	}
	t, err := c.choose(ctx, slot, pay, prev, held, pending)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d: %w", pay.ID, err)
	}
	if err := c.prove(ctx, t); err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d: %w", pay.ID, err)
	}
	raw, err := t.seal()
	return chain.Attempt{Seq: len(prev), Hash: t.hash, Raw: raw, TipCap: chain.NewAmount(t.rate()), FeeCap: t.Cap, Coins: t.spentBy()}, err
}

// choose chooses the coins of a slot, and keeps them for it.
func (c *Chain) choose(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt, held []chain.HeldCoin, pending *family) (*tx, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallPrepare); err != nil {
		return nil, err
	}
	now := uint64(len(c.line))
	held = slices.DeleteFunc(held, func(h chain.HeldCoin) bool {
		by, chosen := c.chosen[h.Out]
		return h.Bound && h.Number != slot.Nonce || chosen && by.number != slot.Nonce && by.height+keepChoices > now && now+keepChoices > by.height
	})
	at := slices.IndexFunc(held, func(h chain.HeldCoin) bool { return h.Out == slot.Coin })
	if at < 0 {
		return nil, fmt.Errorf("%w: the slot's coin %.12s cannot be spent", chain.ErrNotNow, slot.Coin)
	}
	order := append([]chain.HeldCoin{held[at]}, slices.Delete(slices.Clone(held), at, at+1)...)
	t := ordered(slot, pay, c.Rules().(rules))
	var err error
	if pay.Purpose == chain.Merge {
		t, err = c.draftMerge(t, order, prev, pending)
	} else {
		t, err = c.draft(t, order, pay.MaxFee, prev)
	}
	if err != nil {
		return nil, err
	}
	for out, by := range c.chosen {
		if by.number == slot.Nonce {
			delete(c.chosen, out)
		}
	}
	for _, out := range t.spentBy() {
		c.chosen[out] = choice{slot.Nonce, now}
	}
	return t, nil
}

// draft adds coins to a transaction, in their order, until they suffice. With earlier attempts it
// spends those of the newest one that are left, and offers more than each.
func (c *Chain) draft(t *tx, held []chain.HeldCoin, ceiling chain.Amount, prev []chain.Attempt) (*tx, error) {
	switch t.Purpose {
	case chain.Credit, chain.Refund, chain.Cold, chain.Batch, chain.Cancel:
	default:
		return nil, fmt.Errorf("purpose: %q does not exist on this ledger", t.Purpose)
	}
	for _, p := range t.payees() {
		if number(p.Amount) < dust || c.rejecting[p.To] {
			return nil, fmt.Errorf("%w: %s to %s", chain.ErrRefused, p.Amount, p.To)
		}
	}
	var last tx // the newest of the earlier ones, which offers the most
	for _, a := range prev {
		old, err := decode(a.Raw)
		if err != nil {
			return nil, err
		}
		last = *old
	}
	must := func(h chain.HeldCoin) int { return min(slices.Index(last.spentBy(), h.Out), 0) }
	slices.SortStableFunc(held[min(1, len(held)):], func(a, b chain.HeldCoin) int { return cmp.Compare(must(b), must(a)) })
	t.account = Address(t.Chain, t.Key)
	in := uint64(0)
	for i, h := range held {
		t.Spends, in = append(t.Spends, spend{h.Out, h.Key}), in+number(h.Amount)
		if i+1 < len(held) && must(held[i+1]) == 0 {
			continue
		}
		if c.close(t, in, len(held)-len(t.Spends), last) {
			return t, c.checkFee(t, ceiling)
		}
	}
	return nil, fmt.Errorf("%w: the coins bring %d", chain.ErrNotNow, in)
}

// close sets the fee and the change of a transaction of so many coins, or reports that they do not
// suffice. It offers more than an earlier one.
func (c *Chain) close(t *tx, in uint64, free int, last tx) bool {
	least := func() uint64 {
		rate := number(c.base) + 2
		fee := max(t.size()*rate, (t.size()+t.parentSize)*rate-min((t.size()+t.parentSize)*rate, t.parentFee))
		if !last.Cap.IsZero() {
			fee = max(fee, number(last.Cap)+t.size(), (last.rate()+1)*t.size())
		}
		return fee
	}
	out := uint64(0)
	for _, p := range t.payees() {
		out += number(p.Amount)
	}
	parts := 1
	if free < fewCoins {
		parts = maxChange
	}
	for ; parts > 0; parts-- {
		t.Change = make([]uint64, parts)
		fee, enough := least(), uint64(dust)
		if parts > 1 {
			enough = 20 * dust
		}
		if in < out+fee+uint64(parts)*enough {
			continue
		}
		t.Cap = chain.NewAmount(fee)
		for i := range t.Change {
			t.Change[i] = (in - out - fee) / uint64(parts)
		}
		t.Change[0] += (in - out - fee) % uint64(parts)
		return true
	}
	t.Change = nil
	if out == 0 || in < out+least() {
		return false
	}
	t.Cap = chain.NewAmount(in - out)
	return true
}

func (c *Chain) checkFee(t *tx, ceiling chain.Amount) error {
	if number(c.cfg.Ceiling) < t.rate() || !ceiling.IsZero() && ceiling.Less(t.Cap) {
		return fmt.Errorf("%w: %s", chain.ErrFeeCeiling, t.Cap)
	}
	return nil
}

// prove checks that the records still have the transactions that made the coins, as a signer wants
// them.
func (c *Chain) prove(ctx context.Context, t *tx) error {
	hashes := make([]string, len(t.Spends))
	for i, s := range t.Spends {
		hashes[i], _, _ = cutOutpoint(s.Out)
	}
	made, err := c.accounts.CoinTxs(ctx, c.cfg.ID, hashes)
	if err != nil {
		return err
	}
	for _, hash := range hashes {
		attempt, _ := decode(made[hash]) // of ours, with its signature
		if digest(string(made[hash])) != hash && (attempt == nil || attempt.hash != hash) {
			return fmt.Errorf("the records do not have transaction %.12s", hash)
		}
	}
	return nil
}

// estimateCoins is the fee of a payment with coins that no signed transaction spends.
func (c *Chain) estimateCoins(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	held, err := c.heldCoins(ctx, account)
	if err != nil {
		return chain.Amount{}, err
	}
	held = slices.DeleteFunc(held, func(h chain.HeldCoin) bool { return h.Signed })
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallEstimate); err != nil {
		return chain.Amount{}, err
	}
	if pay.Purpose == chain.Merge {
		return chain.Amount{}, c.mayMerge(pay.Source)
	}
	t, err := c.draft(ordered(chain.Slot{Account: account, Key: c.cfg.Pool}, pay, c.Rules().(rules)), held, pay.MaxFee, nil)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("payment %d: %w", pay.ID, err)
	}
	return t.Cap, nil
}

// describeCoins reads the request of a transaction, by what it gives to others.
func (c *Chain) describeCoins(t *tx) chain.Outgoing {
	out := chain.Outgoing{Asset: chain.Native, Coin: t.Spends[0].Out}
	for _, p := range t.payees() {
		if p.To != t.account {
			out.Members = append(out.Members, chain.Outgoing{Asset: chain.Native, To: p.To, Amount: p.Amount})
		}
	}
	if len(out.Members) == 1 {
		out.To, out.Amount, out.Members = out.Members[0].To, out.Members[0].Amount, nil
	}
	return out
}

// underpricedCoins reports whether an attempt waits in the pool of nodes that replace, and its rate
// is below what blocks ask for. One that spends a coin which cannot be spent any more is replaced
// in any case: the slot's own coin keeps the two apart.
func (c *Chain) underpricedCoins(ctx context.Context, slot chain.Slot, a chain.Attempt) (bool, error) {
	held, err := c.heldCoins(ctx, slot.Account)
	if err != nil {
		return false, err
	}
	for _, out := range Spends(a) {
		f, err := c.pendingCoin(ctx, slot, out, held)
		if err != nil {
			return false, err
		}
		if f != nil {
			held = append(held, f.coin)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallPool); err != nil {
		return false, err
	}
	if slices.ContainsFunc(c.waiting, func(t *tx) bool { return t.hash == a.Hash }) {
		return !c.keepsFirst && (c.held[slot.Account] || a.TipCap.Less(c.base)), nil
	}
	lost := func(out string) bool {
		return !slices.ContainsFunc(held, func(h chain.HeldCoin) bool { return h.Out == out })
	}
	spends := Spends(a)
	return len(spends) > 0 && !lost(spends[0]) && slices.ContainsFunc(spends[1:], lost), nil
}
