package chaintest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func testPayment(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	payee, slot := b.Outsider(t), b.slot(t)
	before, err := b.Chain.Balance(b.ctx, b.Payer.Address, b.Asset)
	require.NoError(t, err)
	a := b.sign(t, slot, b.credit(1, payee, 500))
	require.NoError(t, Send(b.ctx, b.Chain, a))
	b.mine(t, 1)

	b.requireHolding(t, payee, 500)
	ownTxs := b.ownTxs(t, from, b.Payer.Address)
	require.Len(t, ownTxs, 1)
	b.requireNumber(t, slot, a, ownTxs[0])
	require.Equal(t, b.Linked, ownTxs[0].Fee.IsZero(), "fee")
	require.Empty(t, b.transfers(t, from, a.Hash), "what we send is no transfer to us")
	if b.Coins != nil {
		b.requireChange(t, before, ownTxs[0], payee)
		return
	}
	require.Equal(t, slot.Nonce+1, b.slot(t).Nonce)
	after, err := b.Chain.Balance(b.ctx, b.Payer.Address, b.Asset)
	require.NoError(t, err)
	spent, err := before.Sub(after)
	require.NoError(t, err)
	require.Equal(t, units(500), spent)
}

// requireChange checks on a ledger of coins that a payment of 500 has cost that and its fee. The
// rest can be spent when its block is final, not before.
func (b *bench) requireChange(t *testing.T, before chain.Amount, own chain.OwnTx, payee string) {
	t.Helper()
	require.Equal(t, []any{payee, units(500)}, []any{own.To, own.Value})
	require.Empty(t, own.Members)
	left, err := before.Sub(units(500))
	require.NoError(t, err)
	left, err = left.Sub(own.Fee)
	require.NoError(t, err)
	now, err := b.Chain.Balance(b.ctx, b.Payer.Address, b.Asset)
	require.NoError(t, err)
	require.True(t, now.Less(left))
	b.mine(t, b.Depth)
	b.requireBalance(t, left)
}

func testSignPure(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	payee, slot := b.Outsider(t), b.slot(t)
	pay := b.credit(1, payee, 500)
	first := b.sign(t, slot, pay)
	again := b.sign(t, slot, pay)
	b.mine(t, 1)
	require.Empty(t, b.ownTxs(t, from, b.Payer.Address))
	b.requireHolding(t, payee, 0)
	if b.Coins == nil {
		require.Equal(t, slot, b.slot(t))
	}

	require.NoError(t, Send(b.ctx, b.Chain, first))
	_ = Send(b.ctx, b.Chain, again) // the same bytes or a rival for the same slot: either way one payment
	b.mine(t, 2)
	require.Len(t, b.ownTxs(t, from, b.Payer.Address), 1)
	b.requireHolding(t, payee, 500)
}

func testRepeatedBroadcast(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	payee := b.Outsider(t)
	a := b.sign(t, b.slot(t), b.credit(1, payee, 500))
	for range 3 {
		require.NoError(t, Send(b.ctx, b.Chain, a))
	}
	b.mine(t, 1)
	_ = Send(b.ctx, b.Chain, a) // mined already: any answer, no effect
	b.mine(t, b.Depth+1)
	_ = Send(b.ctx, b.Chain, a)
	b.mine(t, 1)
	require.Len(t, b.ownTxs(t, from, b.Payer.Address), 1)
	b.requireHolding(t, payee, 500)
}

func testDense(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	slot := b.slot(t)
	var slots []chain.Slot
	var sent []chain.Attempt
	for i := range uint64(4) {
		a := b.sign(t, slot, b.credit(i+1, b.Outsider(t), 500+i))
		slots, sent = append(slots, slot), append(sent, a)
		slot.Nonce++
		if b.Linked {
			slot.Prev = a.Hash
		}
		if b.Coins != nil && i < 3 {
			slot = b.slot(t)
		}
	}
	for _, a := range sent {
		require.NoError(t, Send(b.ctx, b.Chain, a))
	}
	b.mine(t, 2)
	ownTxs := b.ownTxs(t, from, b.Payer.Address)
	require.Len(t, ownTxs, len(sent))
	if b.Coins != nil { // a block has them in any order
		at := func(e chain.OwnTx) int {
			return slices.IndexFunc(sent, func(a chain.Attempt) bool { return a.Hash == e.Tx })
		}
		slices.SortFunc(ownTxs, func(a, b chain.OwnTx) int { return at(a) - at(b) })
	}
	for i, e := range ownTxs {
		b.requireNumber(t, slots[i], sent[i], e)
	}
}

func testUsedSlot(t *testing.T, b *bench) {
	slot := b.slot(t)
	require.NoError(t, Send(b.ctx, b.Chain, b.sign(t, slot, b.credit(1, b.Outsider(t), 500))))
	b.mine(t, 1)
	other := b.Outsider(t)
	a, err := Sign(b.ctx, b.Chain, b.Keys, slot, b.credit(2, other, 500), nil)
	if err == nil {
		_ = Send(b.ctx, b.Chain, a) // refused, or taken and never mined
	}
	b.mine(t, 2)
	b.requireHolding(t, other, 0)
}

func testReplacement(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	payee, slot := b.Outsider(t), b.slot(t)
	pay := b.credit(1, payee, 500)
	first := b.sign(t, slot, pay)
	require.NoError(t, Send(b.ctx, b.Chain, first))
	if b.Linked {
		_, err := Sign(b.ctx, b.Chain, b.Keys, slot, pay, []chain.Attempt{first})
		require.ErrorIs(t, err, chain.ErrNoReplacement)
		return
	}
	second := b.sign(t, slot, pay, first)
	b.requireMore(t, second, first)
	require.NoError(t, Send(b.ctx, b.Chain, second))
	third := b.sign(t, slot, pay, first, second)
	b.requireMore(t, third, second)
	b.mine(t, 2)
	ownTxs := b.ownTxs(t, from, b.Payer.Address)
	require.Len(t, ownTxs, 1)
	require.Equal(t, second.Hash, ownTxs[0].Tx, "the ledger prefers the replacement")
	b.requireHolding(t, payee, 500)
}

// requireMore checks that an attempt offers enough to replace an earlier one.
func (b *bench) requireMore(t *testing.T, a, before chain.Attempt) {
	t.Helper()
	if b.Coins != nil {
		require.True(t, before.FeeCap.Less(a.FeeCap), "fee %s after %s", a.FeeCap, before.FeeCap)
		require.Equal(t, before.Coins[0], a.Coins[0])
		return
	}
	require.True(t, atLeast(a.TipCap, before.TipCap, 9, 8), "tip %s after %s", a.TipCap, before.TipCap)
	require.True(t, atLeast(a.FeeCap, before.FeeCap, 9, 8), "cap %s after %s", a.FeeCap, before.FeeCap)
}

func testDroppedPayment(t *testing.T, b *bench) {
	b.needReorg(t)
	b.mine(t, 2)
	from := b.head(t).Latest.Height
	payee := b.Outsider(t)
	a := b.pay(t, payee)
	require.Len(t, b.ownTxs(t, from, b.Payer.Address), 1)
	b.Reorg(t, 1, false)
	b.mine(t, 1)
	require.Empty(t, b.ownTxs(t, from, b.Payer.Address))
	b.requireHolding(t, payee, 0)

	require.NoError(t, Send(b.ctx, b.Chain, a))
	b.mine(t, 1)
	require.Len(t, b.ownTxs(t, from, b.Payer.Address), 1)
	b.requireHolding(t, payee, 500)
}

func testOwn(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	a := b.pay(t, b.Inbox.Address)
	ownTxs := b.ownTxs(t, from, b.Payer.Address)
	require.Len(t, ownTxs, 1)
	require.Equal(t, a.Hash, ownTxs[0].Tx)
	if b.Linked { // it has to be received like any other
		in := b.transfers(t, from, a.Hash)
		require.Len(t, in, 1)
		require.Equal(t, b.Payer.Address, in[0].From)
		require.Equal(t, b.Inbox.Address, in[0].To)
	} else {
		require.Empty(t, b.transfers(t, from, a.Hash))
	}
	b.requireHolding(t, b.Inbox.Address, 500)
}

func testSettled(t *testing.T, b *bench) {
	if b.Coins != nil {
		t.Skip("accounts have no numbers here")
	}
	b.mine(t, b.Depth+1)
	tip, err := b.Chain.AccountHead(b.ctx, b.Payer.Address)
	require.NoError(t, err)
	require.True(t, tip.Settled)

	a := b.sign(t, b.slot(t), b.credit(1, b.Outsider(t), 5))
	require.NoError(t, Send(b.ctx, b.Chain, a))
	// A pool may count an accepted transaction a moment later.
	require.Eventually(t, func() bool {
		waiting, err := b.Chain.AccountHead(b.ctx, b.Payer.Address)
		return err == nil && !waiting.Settled
	}, 10*time.Second, 5*time.Millisecond)

	b.mine(t, b.Depth+1)
	after, err := b.Chain.AccountHead(b.ctx, b.Payer.Address)
	require.NoError(t, err)
	require.True(t, after.Settled)
	require.Equal(t, tip.Next+1, after.Next)
	if b.Linked {
		require.Equal(t, a.Hash, after.Hash)
	}
}

func testOverdraft(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	payee := b.Outsider(t)
	much, err := b.Holding(t, b.Payer.Address, b.Asset).Add(units(1))
	require.NoError(t, err)
	pay := b.credit(1, payee, 0)
	pay.Amount = much
	a, err := Sign(b.ctx, b.Chain, b.Keys, b.slot(t), pay, nil)
	if err == nil {
		_ = Send(b.ctx, b.Chain, a) // refused, or mined as failed
	}
	b.mine(t, 2)
	b.requireHolding(t, payee, 0)
	for _, e := range b.ownTxs(t, from, b.Payer.Address) {
		require.False(t, e.OK)
	}
}

// testReceive is for linked ledgers: value is ours to spend once our own block took it in, and its
// transfer is still seen once.
func testReceive(t *testing.T, b *bench) {
	if !b.Linked {
		b.requireNothingToReceive(t)
		return
	}
	from := b.head(t).Latest.Height
	before, err := b.Chain.Balance(b.ctx, b.Payer.Address, b.Asset)
	require.NoError(t, err)
	hash := b.Deposit(t, b.Payer.Address, b.Asset, units(77))
	b.mine(t, b.Depth+1)
	seen := b.transfers(t, from, hash)
	require.Len(t, seen, 1)
	b.requireBalance(t, before)

	a := b.sign(t, b.slot(t), chain.Payment{ID: 1, Purpose: chain.Receive, Source: hash})
	require.NoError(t, Send(b.ctx, b.Chain, a))
	b.mine(t, 1)
	ownTxs := b.ownTxs(t, from, b.Payer.Address)
	require.Len(t, ownTxs, 1)
	require.Equal(t, a.Hash, ownTxs[0].Tx)
	require.True(t, ownTxs[0].OK)
	require.Equal(t, seen, b.transfers(t, from, hash), "received transfers stay where they were")
	sum, err := before.Add(units(77))
	require.NoError(t, err)
	b.requireBalance(t, sum)
}

// requireNothingToReceive shows that on a nonce ledger a deposit can be spent as soon as it is
// mined, and on a ledger of coins as soon as its block is final.
func (b *bench) requireNothingToReceive(t *testing.T) {
	t.Helper()
	before, err := b.Chain.Balance(b.ctx, b.Payer.Address, b.Asset)
	require.NoError(t, err)
	b.Deposit(t, b.Payer.Address, b.Asset, units(77))
	b.mine(t, 1)
	if b.Coins != nil {
		b.requireBalance(t, before)
		b.mine(t, b.Depth)
	}
	sum, err := before.Add(units(77))
	require.NoError(t, err)
	b.requireBalance(t, sum)
}

func (b *bench) requireBalance(t *testing.T, want chain.Amount) {
	t.Helper()
	got, err := b.Chain.Balance(b.ctx, b.Payer.Address, b.Asset)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
