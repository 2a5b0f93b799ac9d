package chaintest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gatewayd/chain"
)

// maxLabel is the longest label of the nonce ledger, in bytes.
const maxLabel = 64

var errLostAnswer = errors.New("the answer was lost")

// ID is the ledger's name.
func (c *Chain) ID() chain.ID { return c.cfg.ID }

// begin counts a call and answers its fault, or the error that ends it before anything is done.
func (c *Chain) begin(ctx context.Context, kind Call) (Fault, error) {
	if err := ctx.Err(); err != nil {
		return None, fmt.Errorf("asking %s: %w", c.cfg.ID, err)
	}
	f := c.fault(kind)
	if f == Refuse || (f == Cut && kind != CallBroadcast) {
		return f, fmt.Errorf("asking %s for its %s: %w", c.cfg.ID, kind, chain.ErrUnavailable)
	}
	return f, nil
}

// ask is begin of a call that reads the records before it reads the ledger.
func (c *Chain) ask(ctx context.Context, kind Call) (Fault, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begin(ctx, kind)
}

// Head is the newest block and the newest final one. Its final point never goes back, even when the
// node's answer is stale.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.begin(ctx, CallHead)
	if err != nil {
		return chain.Head{}, err
	}
	latest := len(c.line) - 1
	if f == Stale {
		latest = max(latest-staleBy, min(int(c.final), latest), 0)
	}
	if uint64(latest) < c.final {
		return chain.Head{}, fmt.Errorf("head of %s at %d is below the final %d: %w", c.cfg.ID, latest, c.final, chain.ErrUnavailable)
	}
	return chain.Head{Latest: c.line[latest].Point, Final: c.line[c.final].Point, Time: c.line[latest].at}, nil
}

// Block is the block at a height.
func (c *Chain) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := c.block(ctx, height)
	if err != nil {
		return chain.Block{}, err
	}
	if c.coins() {
		return c.showCoins(ctx, b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.show(b), nil
}

func (c *Chain) block(ctx context.Context, height uint64) (*block, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.begin(ctx, CallBlock)
	if err != nil {
		return nil, err
	}
	b := c.at(height, f)
	if b == nil {
		return nil, fmt.Errorf("block %d of %s: %w", height, c.cfg.ID, chain.ErrNotFound)
	}
	return b, nil
}

// at is the block that the node has at a height under a fault, or nil.
func (c *Chain) at(height uint64, f Fault) *block {
	switch {
	case f == Orphan && c.left[height] != nil:
		return c.left[height]
	case f == Missing || height >= uint64(len(c.line)):
		return nil
	}
	return c.line[height]
}

// show is a block as the gateway sees it.
func (c *Chain) show(b *block) chain.Block {
	out := chain.Block{Point: b.Point, Parent: b.parent, Time: b.at, Tracing: c.tracing}
	for i, t := range b.txs {
		if t.Key == "" {
			out.Transfers = append(out.Transfers, c.transfers(t)...)
		} else if c.owned[t.account] {
			r := b.receipts[i]
			e := chain.OwnTx{Account: t.account, Number: t.Number, Tx: t.hash, OK: r.ok, Void: !r.ok, Fee: r.fee, Members: r.members}
			if r.ok && t.Asset == chain.Native && !t.Amount.IsZero() {
				e.To, e.Value = t.To, t.moved(r)
			}
			out.OwnTxs = append(out.OwnTxs, e)
		}
		if len(t.Members) > 0 {
			out.Transfers = append(out.Transfers, c.memberTransfers(t, b.receipts[i])...)
			continue
		}
		inside := c.owned[t.account] && (!c.cfg.Linked || t.account == t.To)
		if t.Key != "" && !inside && c.owned[t.To] && !t.Purpose.PaysNobody() {
			out.Transfers = append(out.Transfers, chain.Transfer{
				Ref: t.hash, Tx: t.hash, From: t.account, To: t.To, Asset: t.Asset, Amount: t.Amount, Failed: !b.receipts[i].ok,
				Memo: chain.Memo{Type: -1, Label: t.Label},
			})
		}
	}
	return out
}

// moved is what a transaction of ours has moved.
func (t *tx) moved(r receipt) chain.Amount {
	if len(t.Members) == 0 {
		return t.Amount
	}
	var sum chain.Amount
	for i, m := range t.Members {
		if r.members[i] == chain.MemberPaid {
			sum, _ = sum.Add(m.Amount)
		}
	}
	return sum
}

// memberTransfers are the payments of a batch to accounts of ours.
func (c *Chain) memberTransfers(t *tx, r receipt) (in []chain.Transfer) {
	for i, m := range t.Members {
		inside := c.owned[t.account] && (!c.cfg.Linked || t.account == m.To)
		if !inside && c.owned[m.To] && r.ok && r.members[i] == chain.MemberPaid {
			in = append(in, chain.Transfer{
				Ref: memberPlace(t, i), Tx: t.hash, From: t.account, To: m.To, Asset: t.Asset, Amount: m.Amount, Memo: chain.Memo{Type: -1},
			})
		}
	}
	return in
}

func (c *Chain) transfers(t *tx) []chain.Transfer {
	var in []chain.Transfer
	for i, o := range t.Outs {
		if c.owned[o.To] && !c.owned[o.From] && !o.Hidden && !o.Taken {
			in = append(in, chain.Transfer{
				Ref: place(t, i), Tx: t.hash, From: o.From, To: o.To, Asset: o.Asset, Amount: o.Amount, Memo: o.Memo, Failed: o.Failed,
			})
		}
	}
	return in
}

// CheckAddress takes "<id>_" and 40 hex digits of either case. The nonce ledger has room for a
// label, the linked one has none.
func (c *Chain) CheckAddress(addr, label string) (string, error) {
	low := strings.ToLower(addr)
	rest, ok := strings.CutPrefix(low, strings.ToLower(addressPrefix(c.cfg.ID)))
	if !ok || len(rest) != 40 || strings.Trim(rest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%w: %s and 40 hex digits wanted", chain.ErrAddress, addressPrefix(c.cfg.ID))
	}
	if strings.Trim(rest, "0") == "" {
		return "", fmt.Errorf("%w: the zero address", chain.ErrAddress)
	}
	if err := c.checkLabel(label); err != nil {
		return "", err
	}
	return addressPrefix(c.cfg.ID) + rest, nil
}

func (c *Chain) checkLabel(label string) error {
	switch {
	case label == "":
		return nil
	case c.cfg.Linked:
		return fmt.Errorf("%w: no room for one on %s", chain.ErrLabel, c.cfg.ID)
	case len(label) > maxLabel || !utf8.ValidString(label) || strings.ContainsFunc(label, unprintable):
		return fmt.Errorf("%w: up to %d printable bytes wanted", chain.ErrLabel, maxLabel)
	}
	return nil
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// Balance returns the spendable balance: on the linked ledger without pending receives.
func (c *Chain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	f, err := c.ask(ctx, CallBalance)
	if err != nil {
		return chain.Amount{}, err
	}
	if c.coins() {
		return c.balanceCoins(ctx, account, asset)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen(f).balances[holding{account, asset}], nil
}

// seen is the state that the node shows under a fault.
func (c *Chain) seen(f Fault) *state {
	if f != Stale {
		return c.cur
	}
	return c.line[max(len(c.line)-1-staleBy, 0)].after
}

// AccountHead returns the account's state. A stale node returns that of some blocks ago.
func (c *Chain) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.begin(ctx, CallAccountHead)
	if err != nil {
		return chain.AccountHead{}, err
	}
	if c.coins() {
		return chain.AccountHead{Settled: true}, nil
	}
	s := c.seen(f)
	tip := chain.AccountHead{Next: s.nextNumber(account), Settled: c.settled(account)}
	if c.cfg.Linked {
		tip.Hash = s.lastHash(account)
	}
	return tip, nil
}

// settled reports whether no transaction of the account is above the final block.
func (c *Chain) settled(account string) bool {
	for _, t := range c.waiting {
		if t.account == account {
			return false
		}
	}
	for _, b := range c.line[min(c.final+1, uint64(len(c.line))):] {
		for _, t := range b.txs {
			if t.account == account {
				return false
			}
		}
	}
	return true
}

// Prepare builds the transaction of a payment for a slot. The nonce ledger asks for its fee; the
// linked one needs the block before.
func (c *Chain) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if got := Address(c.cfg.ID, slot.Key); got != slot.Account {
		return chain.Attempt{}, fmt.Errorf("preparing for %s: key %q belongs to %s", slot.Account, slot.Key, got)
	}
	if c.coins() {
		return c.prepareCoins(ctx, slot, pay, prev)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallPrepare); err != nil {
		return chain.Attempt{}, err
	}
	t := ordered(slot, pay, c.Rules().(rules))
	if err := c.price(t, pay.MaxFee, prev); err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d: %w", pay.ID, err)
	}
	if err := c.shrink(t); err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d: %w", pay.ID, err)
	}
	raw, err := t.seal()
	if err != nil {
		return chain.Attempt{}, err
	}
	return chain.Attempt{Seq: len(prev), Hash: t.hash, Raw: raw, TipCap: t.Tip, FeeCap: t.Cap}, nil
}

// shrink takes the fee of a native sweep out of what it moves, as far as half of that.
func (c *Chain) shrink(t *tx) error {
	if c.cfg.Linked || t.Purpose != chain.Sweep || t.Asset != chain.Native {
		return nil
	}
	fee, err := t.Cap.Mul(gas)
	if err != nil {
		return err
	}
	left, err := c.cur.balances[holding{Address(t.Chain, t.Key), chain.Native}].Sub(fee)
	if err != nil || !atLeast(left, t.Amount, 1, 2) {
		return fmt.Errorf("%w: less than half of %s would be left", chain.ErrFeeCeiling, t.Amount)
	}
	if left.Less(t.Amount) {
		t.Amount = left
	}
	return nil
}

// Swept returns the amount that an attempt moves.
func (c *Chain) Swept(a chain.Attempt) (chain.Amount, error) {
	t, err := decode(a.Raw)
	if err != nil {
		return chain.Amount{}, err
	}
	return t.Amount, nil
}

// price sets the fees of a transaction, or on the linked ledger checks that it can be made at all.
func (c *Chain) price(t *tx, ceiling chain.Amount, prev []chain.Attempt) error {
	if c.cfg.Linked {
		switch {
		case len(prev) > 0:
			return chain.ErrNoReplacement
		case t.Prev == "" || c.noQuota || c.spent(Address(c.cfg.ID, t.Key), t.Number):
			return chain.ErrNotNow
		}
		return nil
	}
	tip := chain.NewAmount(2)
	most, err := c.base.Mul(2)
	if err != nil {
		return err
	}
	if most, err = most.Add(tip); err != nil {
		return err
	}
	if len(prev) > 0 {
		last := prev[len(prev)-1]
		tip, most = higher(tip, bump(last.TipCap)), higher(most, bump(last.FeeCap))
	}
	t.Tip, t.Cap = tip, most
	return c.checkCeiling(t, ceiling)
}

// checkCeiling checks the cap per gas against the configured ceiling and the total fee against the
// payment's own.
func (c *Chain) checkCeiling(t *tx, ceiling chain.Amount) error {
	fee, err := t.Cap.Mul(gas)
	if err != nil {
		return err
	}
	if c.cfg.Ceiling.Less(t.Cap) || (!ceiling.IsZero() && ceiling.Less(fee)) {
		return fmt.Errorf("%w: %s per gas", chain.ErrFeeCeiling, t.Cap)
	}
	return nil
}

// bump is an eighth more, rounded up.
func bump(a chain.Amount) chain.Amount {
	eighth, cut, err := a.MulDiv(1, 8)
	if err != nil {
		panic(err) // an eighth of an amount is an amount
	}
	if cut {
		eighth, _ = eighth.Add(chain.NewAmount(1))
	}
	sum, err := a.Add(eighth)
	if err != nil {
		return a
	}
	return sum
}

func higher(a, b chain.Amount) chain.Amount {
	if a.Less(b) {
		return b
	}
	return a
}

// Estimate is the fee that Sign would offer. It knows who rejects payments, unless he hides it.
func (c *Chain) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	if c.coins() {
		return c.estimateCoins(ctx, account, pay)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallEstimate); err != nil || c.cfg.Linked {
		return chain.Amount{}, err
	}
	if pay.Purpose != chain.Batch && c.rejecting[pay.To] && !c.hiding[pay.To] {
		return chain.Amount{}, fmt.Errorf("payment %d: %w", pay.ID, chain.ErrRefused)
	}
	t := &tx{Asset: pay.Asset}
	if err := c.price(t, pay.MaxFee, nil); err != nil {
		return chain.Amount{}, fmt.Errorf("payment %d: %w", pay.ID, err)
	}
	if pay.Purpose == chain.Sweep && pay.Asset == chain.Native {
		return chain.Amount{}, nil
	}
	return t.Cap.Mul(gas)
}

// Cost is the value of a native payment and its dearest fee; nothing on the ledger of coins, whose
// balance is without the coins of signed transactions.
func (c *Chain) Cost(a chain.Attempt) (chain.Amount, error) {
	if c.cfg.Linked || c.coins() {
		return chain.Amount{}, nil
	}
	t, err := decode(a.Raw)
	if err != nil {
		return chain.Amount{}, err
	}
	return t.cost()
}

// Underpriced reports whether an attempt waits in the pool and its account is held back or its cap
// is below the base fee.
func (c *Chain) Underpriced(ctx context.Context, slot chain.Slot, a chain.Attempt) (bool, error) {
	if c.coins() {
		return c.underpricedCoins(ctx, slot, a)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.begin(ctx, CallPool); err != nil {
		return false, err
	}
	waits := slices.ContainsFunc(c.waiting, func(t *tx) bool { return t.hash == a.Hash })
	return waits && (c.held[slot.Account] || a.FeeCap.Less(c.base)), nil
}

// Broadcast offers stored bytes to the ledger. A transaction that it has already is no error.
func (c *Chain) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	errs := make([]error, len(attempts))
	for i, a := range attempts {
		if i > 0 && c.cfg.Linked && errs[i-1] != nil {
			errs[i] = chain.ErrNotSent
			continue
		}
		errs[i] = c.broadcast(ctx, a)
	}
	return errs
}

func (c *Chain) broadcast(ctx context.Context, a chain.Attempt) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.begin(ctx, CallBroadcast)
	if err != nil || f == Fake {
		return err
	}
	t, err := decode(a.Raw)
	if err != nil {
		return err
	}
	if !t.Signed {
		return fmt.Errorf("broadcasting %.8s: it is not signed", t.hash)
	}
	if !c.known(t.hash) {
		err = c.admit(t)
	}
	if f == Cut {
		return fmt.Errorf("broadcasting %.8s: %w: %w", t.hash, chain.ErrUnavailable, errLostAnswer)
	}
	if err != nil {
		return fmt.Errorf("broadcasting %.8s: %w", t.hash, err)
	}
	return nil
}

// Send is Broadcast of one attempt.
func Send(ctx context.Context, c chain.Chain, a chain.Attempt) error {
	return c.Broadcast(ctx, []chain.Attempt{a})[0]
}

// MaxUnmined is the configured bound.
func (c *Chain) MaxUnmined() int { return c.cfg.MaxUnmined }

// MaxBatch is the configured bound, for every asset.
func (c *Chain) MaxBatch(chain.Asset) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cfg.Batch
}

// BatchWait is the configured one.
func (c *Chain) BatchWait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cfg.BatchWait
}

// SetBatch lets one transaction make so many payments from now on, which wait so long for others.
func (c *Chain) SetBatch(most int, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cfg.Batch, c.cfg.BatchWait = most, wait
}

// BatchTo is the place that would be the contract's; the ledger of coins needs none.
func (c *Chain) BatchTo(chain.Asset) string {
	if c.coins() {
		return ""
	}
	return Address(c.cfg.ID, "batches")
}

// Separate reports the payees of KeepSeparate.
func (c *Chain) Separate(_ context.Context, pays []chain.Payment) ([]bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	separate := make([]bool, len(pays))
	for i, p := range pays {
		separate[i] = c.separate[p.To]
	}
	return separate, nil
}

// KeepSeparate makes payments to an account share no transaction.
func (c *Chain) KeepSeparate(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.separate[account] = true
}

// Allowed reports whether a token was allowed; the linked ledger needs no leave.
func (c *Chain) Allowed(ctx context.Context, account string, asset chain.Asset, _ chain.Amount) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, err := c.begin(ctx, CallBalance)
	return err == nil && (c.cfg.Linked || c.coins() || asset == chain.Native || c.seen(f).allowed[holding{account, asset}]), err
}

var _ interface {
	chain.Chain
	chain.Batcher
} = (*Chain)(nil)
