package recordstest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/view"
)

// testWork: what workers and auditors ask for.
func testWork(t *testing.T, url string) {
	r := newRig(t, url)
	busy := func(id chain.ID) (names []string) {
		r.See(func(tx *records.Tx) error {
			list, err := tx.Accounts().Busy(id)
			for _, a := range list {
				names = append(names, a.Account)
			}
			return err
		})
		return names
	}
	owed := func(account string) (out map[chain.Asset]chain.Amount) {
		r.See(func(tx *records.Tx) (err error) { out, err = books.Owed(tx, Exchange, account); return err })
		return out
	}
	require.Empty(t, busy(Exchange))
	require.Empty(t, owed(Gateway))
	in, p := r.Owe(records.Deposit, 500)
	_, q := r.Owe(records.Deposit, 70)
	require.Equal(t, []string{Gateway}, busy(Exchange))
	require.Empty(t, busy(Source))
	require.Equal(t, map[chain.Asset]chain.Amount{Token: chain.NewAmount(570)}, owed(Gateway))

	s := r.Bind(p)
	first, second := r.Sign(s, records.AttemptPay), r.Sign(s, records.AttemptReplace)
	r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: 1, Tx: second, OK: true})
	require.Equal(t, map[chain.Asset]chain.Amount{Token: chain.NewAmount(70)}, owed(Gateway), "what stands in a block is no longer in the account")
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Exchange); return err })
	require.Equal(t, map[chain.Asset]chain.Amount{Token: chain.NewAmount(570)}, owed(Gateway))
	r.Settle(s, second)
	r.Do(func(tx *records.Tx) error { return tx.Payments().Move(q, records.Queued, records.HeldPayment, "") })
	require.Empty(t, busy(Exchange), "held is nothing to do")

	r.See(func(tx *records.Tx) error {
		attempts, err := view.AttemptsOf(tx, p)
		require.NoError(t, err)
		require.Equal(t, []string{first, second}, []string{attempts[0].Hash, attempts[1].Hash})
		require.Equal(t, []any{uint64(1), 1, records.AttemptReplace, r.Now()}, []any{attempts[1].Number, attempts[1].Seq, attempts[1].Kind, attempts[1].CreatedAt})
		transfers, err := tx.Transfers().From(Source, in.Height+1, 0, 10)
		require.NoError(t, err)
		require.Len(t, transfers, 1)
		rest, err := tx.Transfers().From(Source, transfers[0].Height, transfers[0].ID, 10)
		require.NoError(t, err)
		require.Empty(t, rest)
		effects, err := tx.OwnTxs().From(Exchange, records.OwnTx{}, 10)
		require.NoError(t, err)
		require.Len(t, effects, 1)
		require.Equal(t, second, effects[0].Tx)
		none, err := tx.OwnTxs().From(Exchange, effects[0], 10)
		require.NoError(t, err)
		require.Empty(t, none)
		own, err := tx.OwnTxs().Of(Exchange, Gateway, 0, 10)
		require.NoError(t, err)
		require.Equal(t, effects, own)
		later, err := tx.OwnTxs().Of(Exchange, Gateway, effects[0].Number+1, 10)
		require.Empty(t, later)
		return err
	})
}

// testFullBlocks reads blocks that hold more than a page in pages.
func testFullBlocks(t *testing.T, url string) {
	r := newRig(t, url)
	var wantIn, gotIn []uint64
	var wantOut, gotOut []string
	for range 3 {
		b := r.Mine(Source, "")
		effects := make([]chain.OwnTx, 5)
		for i := range effects {
			in := r.Incoming(records.Deposit, 100, b)
			r.Do(func(tx *records.Tx) error {
				seen, _, err := tx.Transfers().See(in)
				wantIn = append(wantIn, seen.ID)
				return err
			})
			account := []string{"a", "b"}[i/3]
			effects[i] = chain.OwnTx{Account: account, Number: uint64(i % 3), Tx: fmt.Sprintf("%s-%s-%d", b.Hash, account, i%3), OK: true}
			wantOut = append(wantOut, effects[i].Tx)
		}
		mined := r.Mine(Exchange, "", effects...)
		r.Do(func(tx *records.Tx) error {
			for _, e := range effects {
				if err := tx.OwnTxs().MarkSettled(records.OwnTx{Chain: Exchange, BlockHash: mined.Hash, OwnTx: e}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	const page = 2
	r.See(func(tx *records.Tx) error {
		for last := (records.Transfer{}); ; {
			list, err := tx.Transfers().From(Source, last.Height, last.ID, page)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, x := range list {
				gotIn = append(gotIn, x.ID)
			}
			last = list[len(list)-1]
		}
	})
	r.See(func(tx *records.Tx) error {
		for last := (records.OwnTx{}); ; {
			list, err := tx.OwnTxs().From(Exchange, last, page)
			if err != nil || len(list) == 0 {
				return err
			}
			for _, x := range list {
				gotOut = append(gotOut, x.Tx)
			}
			last = list[len(list)-1]
		}
	})
	require.Equal(t, wantIn, gotIn)
	require.Equal(t, wantOut, gotOut)
}

func testUnknownTx(t *testing.T, url string) {
	r := newRig(t, url)
	unknown := func() (hash string, found bool) {
		r.See(func(tx *records.Tx) (err error) {
			hash, found, err = tx.Recovery().UnknownTx(Exchange, Gateway)
			return err
		})
		return hash, found
	}
	_, p := r.Owe(records.Deposit, 500)
	hash := r.Sign(r.Bind(p), records.AttemptPay)
	r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: 1, Tx: hash, OK: true}, chain.OwnTx{Account: Gateway, Number: 0, Tx: "before-us"})
	_, found := unknown()
	require.False(t, found, "ours, and what was there before we came")
	r.Mine(Exchange, "", chain.OwnTx{Account: Gateway, Number: 2, Tx: "thief", OK: true})
	got, found := unknown()
	require.Equal(t, []any{"thief", true}, []any{got, found}, "before it is final")
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Exchange); return err })
	_, found = unknown()
	require.False(t, found)
}

// testPaidBefore: an asset moved by earlier transactions of the account counts if it is in the same
// block and the transaction did what its fields request.
func testPaidBefore(t *testing.T, url string) {
	r := newRig(t, url)
	var ownTxs []chain.OwnTx
	for i, ok := range []bool{true, false, true, true} {
		_, p := r.Owe(records.Deposit, 500+uint64(i))
		ownTxs = append(ownTxs, chain.OwnTx{Account: Gateway, Number: uint64(i + 1), Tx: r.Sign(r.Bind(p), records.AttemptPay), OK: ok, Void: !ok})
	}
	r.Mine(Exchange, "", ownTxs[0])
	b := r.Mine(Exchange, "", ownTxs[1:]...)
	paid := func(i int, asset chain.Asset) (sum chain.Amount) {
		r.See(func(tx *records.Tx) (err error) {
			sum, err = tx.OwnTxs().PaidBefore(records.OwnTx{Chain: Exchange, BlockHash: b.Hash, Height: b.Height, OwnTx: ownTxs[i]}, asset)
			return err
		})
		return sum
	}
	asset := chain.Asset(Token)
	require.Zero(t, paid(1, asset), "the first is in another block")
	require.Zero(t, paid(2, asset), "the second failed")
	require.Equal(t, chain.NewAmount(502), paid(3, asset))
	require.Zero(t, paid(3, "other"))
}

func testSweeps(t *testing.T, url string) {
	r := newRig(t, url)
	r.Do(func(tx *records.Tx) error { _, err := BindAddress(tx, Network, Source, Alice, derive); return err })
	deposit := func(amount uint64, failed bool) {
		in := r.Incoming(records.Deposit, amount, r.Mine(Source, ""))
		in.To, in.Failed = "0xdeposit0", failed
		r.Do(func(tx *records.Tx) error {
			out, _, err := tx.Transfers().See(in)
			if err != nil {
				return err
			}
			return tx.Transfers().Move(out.ID, records.Seen, records.Refused, records.ReasonBelowMinimum)
		})
	}
	candidates := func() (out []records.SweepCandidate) {
		r.See(func(tx *records.Tx) (err error) { out, err = tx.Treasury().Candidates(Source); return err })
		return out
	}
	require.Empty(t, candidates())
	deposit(40, false)
	deposit(60, false)
	deposit(1000, true)
	got := candidates()
	require.Len(t, got, 1)
	require.Equal(t, []any{"0xdeposit0", chain.Native, chain.NewAmount(100)}, []any{got[0].Account.Account, got[0].Asset, got[0].Booked})

	sweep := records.Payment{Purpose: chain.Sweep, Network: Network, Token: Token, Chain: Source, Account: "0xdeposit0", Asset: chain.Native, Amount: chain.NewAmount(100), Payee: Hot}
	gas := records.Payment{Purpose: chain.Gas, Network: Network, Token: Token, Chain: Source, Account: GasTank, Asset: chain.Native, Amount: chain.NewAmount(3), Payee: "0xdeposit0"}
	underWay := func(p records.Payment) (yes bool) {
		r.See(func(tx *records.Tx) (err error) { _, yes, err = tx.Treasury().SweepUnderWay(p); return err })
		return yes
	}
	require.False(t, underWay(sweep))
	id, err := queue(r, sweep)
	require.NoError(t, err)
	require.True(t, underWay(sweep))
	require.False(t, underWay(gas))
	_, err = queue(r, gas)
	require.NoError(t, err)
	require.True(t, underWay(gas))
	tokens := func() (yes bool) {
		r.See(func(tx *records.Tx) (err error) {
			yes, err = tx.Treasury().TokenSweepUnderWay(Source, "0xdeposit0")
			return err
		})
		return yes
	}
	require.True(t, tokens(), "its gas")
	r.Do(func(tx *records.Tx) error {
		under, _, err := tx.Treasury().SweepUnderWay(gas)
		if err != nil {
			return err
		}
		return tx.Payments().Move(under.ID, records.Queued, records.VoidPayment, "")
	})
	require.False(t, tokens(), "a sweep of coin is none of a token")
	r.See(func(tx *records.Tx) error {
		moves, err := tx.Payments().Moves(chain.Sweep, 0, 10)
		require.Len(t, moves, 1)
		require.Equal(t, id, moves[0].ID)
		none, noneErr := tx.Payments().Moves(chain.Sweep, id, 10)
		require.Empty(t, none, "before it")
		return errors.Join(err, noneErr)
	})
	r.Do(func(tx *records.Tx) error { return tx.Accounts().Adopt(Source, "0xdeposit0", 0, "") })
	r.Pay(id)
	require.Empty(t, candidates())
	require.False(t, underWay(sweep))
	deposit(5, false)
	require.Equal(t, chain.NewAmount(5), candidates()[0].Booked)
	testSwept(t, r, sweep, candidates)
}

// testSwept: a sweep whose fee was taken out of it counts with what it brought.
func testSwept(t *testing.T, r *Rig, sweep records.Payment, candidates func() []records.SweepCandidate) {
	sweep.Amount = chain.NewAmount(5)
	id, err := queue(r, sweep)
	require.NoError(t, err)
	swept := func(brought uint64) error {
		return r.Try(func(tx *records.Tx) error { return tx.Treasury().Swept(id, chain.NewAmount(brought)) })
	}
	require.ErrorIs(t, swept(4), records.ErrConflict, "not paid")
	r.Pay(id)
	require.NoError(t, swept(5))
	require.Empty(t, candidates())
	require.ErrorIs(t, swept(6), records.ErrConflict, "more than asked for")
	require.NoError(t, swept(3))
	require.Error(t, swept(2), "once")
	require.Equal(t, chain.NewAmount(5), r.Payment(id).Amount, "what was asked for")
	var totals books.Totals
	r.See(func(tx *records.Tx) (err error) { totals, err = books.TotalsOf(tx, Network, Token); return err })
	sum, err := Pays(totals, chain.Sweep, Source, records.Paid)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(100+3), sum)
	require.Equal(t, chain.NewAmount(2), candidates()[0].Booked)
	r.See(func(tx *records.Tx) error { return tx.VerifyHistory() })
	_, credit := r.Owe(records.Deposit, 500)
	r.Pay(credit)
	err = r.Try(func(tx *records.Tx) error { return tx.Treasury().Swept(credit, chain.NewAmount(1)) })
	require.ErrorIs(t, err, records.ErrConflict, "only sweeps")
}

// testBreaches: consistent rows give no report. Each inconsistent row is reported, whether all rows
// are checked or those that changed.
func testBreaches(t *testing.T, url string) {
	r := newRig(t, url)
	var seq uint64
	told := func(from uint64) (out []string) {
		r.See(func(tx *records.Tx) (err error) { out, seq, err = books.Breaches(tx, from); return err })
		return out
	}
	decide := func(in records.Transfer, to records.TransferState, payments ...records.Payment) {
		r.Do(func(tx *records.Tx) error {
			if err := tx.Transfers().Move(in.ID, records.Seen, to, ""); err != nil {
				return err
			}
			for _, p := range payments {
				if _, err := tx.Payments().Queue(p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	refund := func(in records.Transfer) records.Payment {
		return records.Payment{
			TransferID: in.ID, Purpose: chain.Refund, Network: Network, Token: Token, Chain: Exchange, Account: Gateway, Asset: Token,
			Amount: in.Amount, Payee: in.From,
		}
	}
	_, p := r.Owe(records.Deposit, 500)
	r.Pay(p)
	_, p = r.Owe(records.Withdrawal, 500)
	r.Bind(p)
	w := r.Receive(records.Withdrawal, 7)
	decide(w, records.Refused, refund(w))
	coarse := r.Incoming(records.Withdrawal, 12346, r.Mine(Exchange, "")) // 12345 of 5 decimals are 12 of 2
	coarse.Policy.Decimals, coarse.Policy.AssetDecimals = 5, 2
	r.Do(func(tx *records.Tx) (err error) { coarse, _, err = tx.Transfers().See(coarse); return err })
	keep := func(in records.Transfer) {
		r.Do(func(tx *records.Tx) error {
			return tx.Transfers().Move(in.ID, records.Seen, records.Refused, records.ReasonDust)
		})
	}
	keep(r.Receive(records.Withdrawal, 1))
	fits := CreditOf(coarse)
	fits.Amount = chain.NewAmount(12)
	decide(coarse, records.Final, fits)
	require.Empty(t, told(0))
	sound := seq
	require.Empty(t, told(1))
	require.Equal(t, sound, seq)

	lacks := r.Receive(records.Deposit, 500)
	decide(lacks, records.Final)
	unpaid := r.Receive(records.Withdrawal, 500)
	decide(unpaid, records.Refused)
	short := r.Receive(records.Deposit, 500)
	wrong := CreditOf(short)
	wrong.Amount, wrong.Payee = chain.NewAmount(499), Bob
	decide(short, records.Final, wrong)
	dear := r.Receive(records.Withdrawal, 500)
	wrong = CreditOf(dear)
	wrong.Amount = chain.NewAmount(500)
	decide(dear, records.Final, wrong)
	kept := r.Receive(records.Withdrawal, 500)
	wrong = refund(kept)
	wrong.Amount = chain.NewAmount(1)
	decide(kept, records.Refused, wrong)
	both := r.Receive(records.Deposit, 500)
	decide(both, records.Refused, CreditOf(both))
	dust := r.Receive(records.Withdrawal, 500)
	keep(dust)
	r.Do(func(tx *records.Tx) error { _, err := tx.Payments().Queue(refund(dust)); return err })
	want := []string{
		fmt.Sprintf("transfer %d is final and has not exactly one live credit", lacks.ID),
		fmt.Sprintf("withdrawal %d is refused and has not exactly one live refund", unpaid.ID),
		fmt.Sprintf("transfer %d is refused and credited", both.ID),
		fmt.Sprintf("withdrawal %d is dust and has a payment", dust.ID),
		"payment 5 credits a wrong user",
		"payment 5 credits a wrong amount",
		"payment 6 credits a wrong amount",
		"payment 7 refunds a wrong amount or a wrong sender",
	}
	require.ElementsMatch(t, want, told(0))
	require.ElementsMatch(t, want, told(sound))
	require.Empty(t, told(seq), "nothing has changed since")
	r.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(4, records.Queued, records.VoidPayment, "by mistake")
	})
	require.Equal(t, []string{fmt.Sprintf("transfer %d is final and has not exactly one live credit", coarse.ID)}, told(seq))
}

// testTwoProcesses: two stores on one database bind the same payments at once, without any lease.
// Each payment gets one slot, numbers stay dense.
func testTwoProcesses(t *testing.T, url string) {
	r := newRig(t, url)
	const n = 12
	for range n {
		r.Owe(records.Deposit, 500)
	}
	stores := []*records.Store{r.Store, open(t, url, nil)}
	errs := make([]error, 2*n)
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() {
			for p := range uint64(n) {
				errs[i*n+int(p)] = s.Update(t.Context(), func(tx *records.Tx) error {
					_, err := tx.Slots().Bind(p+1, MaxUnmined)
					return err
				})
			}
		})
	}
	wg.Wait()
	bound := 0
	for _, err := range errs {
		if err == nil {
			bound++
			continue
		}
		require.True(t, errors.Is(err, records.ErrConflict), err)
	}
	require.Equal(t, n, bound)
	slots := openSlots(r, Exchange, Gateway)
	require.Len(t, slots, n)
	for i, s := range slots {
		require.Equal(t, uint64(i+1), s.Nonce)
	}
	r.See(func(tx *records.Tx) error { return tx.VerifyHistory() })
}
