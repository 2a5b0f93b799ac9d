package chaintest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
)

// ledgerEnv is a ledger with one funded account of ours.
type ledgerEnv struct {
	*chaintest.Chain
	t   *testing.T
	key string
}

func newLedgerEnv(t *testing.T, linked bool) ledgerEnv {
	c := chaintest.New(chaintest.Config{ID: "mem", Linked: linked, Finality: 4})
	w := ledgerEnv{Chain: c, t: t, key: "m/0"}
	c.Own(w.account())
	c.Endow(w.account(), token, chain.NewAmount(1000))
	c.Endow(w.account(), chain.Native, chain.NewAmount(100_000))
	return w
}

func (w ledgerEnv) account() string { return w.Address(w.key) }

func (w ledgerEnv) sign(number uint64, prev string, amount uint64, earlier ...chain.Attempt) chain.Attempt {
	w.t.Helper()
	slot := chain.Slot{Account: w.account(), Key: w.key, Nonce: number, Prev: prev}
	pay := chain.Payment{ID: 1 + number, Purpose: chain.Credit, Asset: token, To: w.Address("payee"), Amount: chain.NewAmount(amount)}
	a, err := chaintest.Sign(w.t.Context(), w, chaintest.NoKeys{}, slot, pay, earlier)
	require.NoError(w.t, err)
	return a
}

func (w ledgerEnv) send(a chain.Attempt) error { return chaintest.Send(w.t.Context(), w, a) }

func (w ledgerEnv) requirePaid(want uint64) {
	w.t.Helper()
	require.Equal(w.t, chain.NewAmount(want), w.Holding(w.Address("payee"), token))
}

func (w ledgerEnv) tip() chain.AccountHead {
	w.t.Helper()
	tip, err := w.AccountHead(w.t.Context(), w.account())
	require.NoError(w.t, err)
	return tip
}

func TestBroadcastFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault chaintest.Fault
		err   error
		paid  uint64
	}{
		{"honest", chaintest.None, nil, 5},
		{"refused", chaintest.Refuse, chain.ErrUnavailable, 0},
		{"answer cut", chaintest.Cut, chain.ErrUnavailable, 5},
		{"fake answer", chaintest.Fake, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newLedgerEnv(t, false)
			a := w.sign(0, "", 5)
			w.Lie(chaintest.Times(1, c.fault, chaintest.CallBroadcast))
			require.ErrorIs(t, w.send(a), c.err)
			w.Mine(1)
			w.requirePaid(c.paid)
			require.NoError(t, w.send(a), "honest again")
			w.Mine(1)
			w.requirePaid(5)
			require.Equal(t, 2, w.Calls(chaintest.CallBroadcast))
		})
	}
}

func TestUnavailable(t *testing.T) {
	w := newLedgerEnv(t, true)
	w.Lie(chaintest.Always(chaintest.Refuse))
	_, err := w.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	_, err = w.AccountHead(t.Context(), w.account())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	_, err = w.Block(t.Context(), 0)
	require.ErrorIs(t, err, chain.ErrUnavailable)
	w.Lie(chaintest.Honest)
	_, err = w.Head(t.Context())
	require.NoError(t, err)
}

func TestStaleHeadKeepsFinal(t *testing.T) {
	w := newLedgerEnv(t, false)
	w.Mine(20)
	w.Lie(chaintest.Always(chaintest.Stale, chaintest.CallHead))
	h, err := w.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(17), h.Latest.Height)
	require.Equal(t, uint64(16), h.Final.Height)
}

func TestLaggingNodeShowsOtherBlocks(t *testing.T) {
	w := newLedgerEnv(t, false)
	w.Mine(3)
	old, err := w.Block(t.Context(), 3)
	require.NoError(t, err)
	w.Reorg(1, true)
	w.Lie(chaintest.Always(chaintest.Orphan, chaintest.CallBlock))
	again, err := w.Block(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, old, again)
	w.Lie(chaintest.Always(chaintest.Missing, chaintest.CallBlock))
	_, err = w.Block(t.Context(), 3)
	require.ErrorIs(t, err, chain.ErrNotFound)
}

func TestHeadBelowFinalIsUnavailable(t *testing.T) {
	w := newLedgerEnv(t, false)
	w.Mine(20)
	w.Rollback(10, false)
	_, err := w.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	w.Mine(10)
	h, err := w.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(16), h.Final.Height)
}

func TestNonceGapWaits(t *testing.T) {
	w := newLedgerEnv(t, false)
	require.NoError(t, w.send(w.sign(1, "", 7)))
	w.Mine(1)
	w.requirePaid(0)
	require.NoError(t, w.send(w.sign(0, "", 5)))
	w.Mine(1)
	w.requirePaid(12)
}

func TestReplacementMustPayATenthMore(t *testing.T) {
	w := newLedgerEnv(t, false)
	a := w.sign(0, "", 5)
	require.NoError(t, w.send(a))
	w.SetBaseFee(11)
	rival := w.sign(0, "", 6) // its cap is 24 after 22: less than a tenth more
	require.ErrorContains(t, w.send(rival), "underpriced")
	require.NoError(t, w.send(w.sign(0, "", 5, a)))
	w.Mine(1)
	w.requirePaid(5)
	require.ErrorContains(t, w.send(rival), "nonce too low")
}

func TestStuckBelowBaseFee(t *testing.T) {
	w := newLedgerEnv(t, false)
	a := w.sign(0, "", 5)
	require.NoError(t, w.send(a))
	w.SetBaseFee(40)
	w.Mine(3)
	w.requirePaid(0)
	b := w.sign(0, "", 5, a)
	require.NoError(t, w.send(b))
	w.Mine(1)
	w.requirePaid(5)
	w.SetBaseFee(400)
	_, err := chaintest.Sign(t.Context(), w, chaintest.NoKeys{}, chain.Slot{Account: w.account(), Key: w.key, Nonce: 1},
		chain.Payment{ID: 9, Asset: token, To: w.Address("payee"), MaxFee: chain.NewAmount(100)}, nil)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
}

func TestRejectedPaymentBurnsItsNumber(t *testing.T) {
	w := newLedgerEnv(t, false)
	w.Reject(w.Address("payee"), true)
	require.NoError(t, w.send(w.sign(0, "", 5)))
	w.Mine(1)
	w.requirePaid(0)
	b, err := w.Block(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, b.OwnTxs, 1)
	require.False(t, b.OwnTxs[0].OK)
	require.Equal(t, w.Burnt(), b.OwnTxs[0].Fee)
	require.Equal(t, uint64(1), w.tip().Next)
	require.Empty(t, w.Paid())
}

func TestLinkedDropTakesSuccessors(t *testing.T) {
	w := newLedgerEnv(t, true)
	a := w.sign(1, w.tip().Hash, 5)
	require.NoError(t, w.send(a))
	b := w.sign(2, a.Hash, 7)
	require.NoError(t, w.send(b))
	require.Equal(t, []string{a.Hash, b.Hash}, w.Waiting())
	require.True(t, w.Drop(a.Hash))
	require.Empty(t, w.Waiting())
	w.requirePaid(0)
	require.ErrorContains(t, w.send(b), "previous block")
	require.False(t, w.Drop(b.Hash))

	w.Gossip() // some node remembers both
	w.Mine(1)
	w.requirePaid(12)
	require.Equal(t, map[uint64]int{2: 1, 3: 1}, w.Paid())
}

func TestForgottenStaysAway(t *testing.T) {
	w := newLedgerEnv(t, true)
	user := w.Deposit(w.Address("user"), w.account(), token, chain.NewAmount(3), chain.Memo{})
	a := w.sign(1, w.tip().Hash, 5)
	require.NoError(t, w.send(a))
	w.Drop(a.Hash)
	w.Drop(user)
	w.LoseDropped()
	w.Gossip()
	require.Equal(t, []string{user}, w.Waiting(), "others' transactions come back")
	require.NoError(t, w.send(a))
}

func TestLinkedRivalsExcludeEachOther(t *testing.T) {
	w := newLedgerEnv(t, true)
	prev := w.tip().Hash
	a, b := w.sign(1, prev, 5), w.sign(1, prev, 6)
	require.NoError(t, w.send(a))
	require.Error(t, w.send(b))
	w.Mine(1)
	w.Reorg(1, false)
	require.NoError(t, w.send(b))
	w.Gossip()
	w.Mine(1)
	w.requirePaid(6)
}

func TestLinkedReceiveNeedsItsSend(t *testing.T) {
	w := newLedgerEnv(t, true)
	source := w.Deposit(w.Address("user"), w.account(), token, chain.NewAmount(3), chain.Memo{})
	w.Mine(1)
	receive := func() chain.Attempt {
		a, err := chaintest.Sign(t.Context(), w, chaintest.NoKeys{}, chain.Slot{Account: w.account(), Key: w.key, Nonce: 1, Prev: w.tip().Hash},
			chain.Payment{ID: 1, Purpose: chain.Receive, Source: source}, nil)
		require.NoError(t, err)
		return a
	}
	w.Rollback(1, false)
	require.ErrorContains(t, w.send(receive()), "no such send")
	w.Gossip()
	require.NoError(t, w.send(receive()))
	balance, err := w.Balance(t.Context(), w.account(), token)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(1003), balance)
}

func TestForeignDisplacesOurs(t *testing.T) {
	for _, linked := range []bool{false, true} {
		w := newLedgerEnv(t, linked)
		prev, next := w.tip().Hash, w.tip().Next
		a := w.sign(next, prev, 5)
		if !linked {
			require.NoError(t, w.send(a))
		}
		hash := w.SendUnknownTx(w.key, w.Address("thief"), token, chain.NewAmount(9))
		w.Mine(1)
		require.Error(t, w.send(a))
		b, err := w.Block(t.Context(), 1)
		require.NoError(t, err)
		require.Len(t, b.OwnTxs, 1)
		require.Equal(t, hash, b.OwnTxs[0].Tx)
		require.Equal(t, next, b.OwnTxs[0].Number)
		w.requirePaid(0)
	}
}

func TestBatchHasOneRefPerMovement(t *testing.T) {
	w := newLedgerEnv(t, false)
	out := chaintest.Out{From: w.Address("exchange"), To: w.account(), Asset: token, Amount: chain.NewAmount(4)}
	failed := out
	failed.Failed = true
	hash := w.Send(out, out, failed)
	w.Mine(1)
	b, err := w.Block(t.Context(), 1)
	require.NoError(t, err)
	refs := map[string]bool{}
	for _, tr := range b.Transfers {
		require.Equal(t, hash, tr.Tx)
		refs[tr.Ref] = true
	}
	require.Len(t, refs, 3)
	require.Equal(t, chain.NewAmount(1008), w.Holding(w.account(), token))
}

// A stake for two blocks pays for no third one until a snapshot block has been made.
func TestStake(t *testing.T) {
	w := newLedgerEnv(t, true)
	w.SetStake(2)
	pay := chain.Payment{ID: 1, Purpose: chain.Credit, Asset: token, To: w.Address("payee"), Amount: chain.NewAmount(1)}
	slot := chain.Slot{Account: w.account(), Key: w.key, Nonce: w.tip().Next, Prev: w.tip().Hash}
	sign := func() error {
		a, err := chaintest.Sign(t.Context(), w, chaintest.NoKeys{}, slot, pay, nil)
		if err == nil {
			slot.Nonce, slot.Prev, pay.ID = slot.Nonce+1, a.Hash, pay.ID+1
			err = w.Broadcast(t.Context(), []chain.Attempt{a})[0]
		}
		return err
	}
	require.NoError(t, sign())
	require.NoError(t, sign())
	require.ErrorIs(t, sign(), chain.ErrNotNow)
	w.Mine(1)
	require.NoError(t, sign())
	require.NoError(t, sign())
	require.ErrorIs(t, sign(), chain.ErrNotNow)
}

func TestNoQuota(t *testing.T) {
	w := newLedgerEnv(t, true)
	slot := chain.Slot{Account: w.account(), Key: w.key, Nonce: 1, Prev: w.tip().Hash}
	pay := chain.Payment{ID: 1, Purpose: chain.Credit, Asset: token, To: w.Address("payee"), Amount: chain.NewAmount(1)}
	w.SetQuota(false)
	_, err := chaintest.Sign(t.Context(), w, chaintest.NoKeys{}, slot, pay, nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	w.SetQuota(true)
	_, err = chaintest.Sign(t.Context(), w, chaintest.NoKeys{}, slot, pay, nil)
	require.NoError(t, err)
}

func TestClockIsInjected(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := chaintest.New(chaintest.Config{ID: "mem", Now: func() time.Time { return now }})
	now = now.Add(time.Hour)
	c.Mine(1)
	h, err := c.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, now, h.Time)
	require.Equal(t, h.Latest, h.Final, "finality 0")
}

// FuzzBroadcast throws bytes at the ledger: no value may come out of nothing.
func FuzzBroadcast(f *testing.F) {
	f.Add([]byte(`{"Chain":"mem","Key":"m/0","Number":0,"Asset":"token","To":"x","Amount":"1","Tip":"1","Cap":"20"}`))
	f.Add([]byte(`{"Chain":"mem","Serial":1,"Outs":[{"To":"thief","Asset":"token","Amount":"5"}]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		w := newLedgerEnv(t, false)
		_ = w.send(chain.Attempt{Raw: raw})
		w.Mine(1)
		sum := chain.Amount{}
		for _, assets := range w.Balances() {
			var err error
			sum, err = sum.Add(assets[token])
			require.NoError(t, err)
		}
		require.Equal(t, chain.NewAmount(1000), sum)
	})
}
