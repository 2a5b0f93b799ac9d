package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func queue(r *Rig, p records.Payment) (id uint64, err error) {
	err = r.Try(func(tx *records.Tx) (err error) { id, err = tx.Payments().Queue(p); return err })
	return id, err
}

func testPayments(t *testing.T, url string) {
	r := newRig(t, url)
	in, id := r.Owe(records.Deposit, 500)
	want := CreditOf(in)
	want.ID, want.State, want.CreatedAt, want.ChangedAt = id, records.Queued, r.Now(), r.Now()
	require.Equal(t, want, r.Payment(id), "every field comes back")
	r.See(func(tx *records.Tx) error {
		queued, err := tx.Payments().Queued(Exchange, Gateway, records.ClassUser, Token, 10)
		require.Equal(t, []records.Payment{want}, queued)
		require.NoError(t, err)
		_, err = tx.Payments().Get(99)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
	move := func(from, to records.PaymentState) error {
		return r.Try(func(tx *records.Tx) error { return tx.Payments().Move(id, from, to, "") })
	}
	require.NoError(t, move(records.Queued, records.HeldPayment))
	require.ErrorIs(t, move(records.Queued, records.HeldPayment), records.ErrConflict)
	for _, to := range []records.PaymentState{records.Bound, records.Paid, records.HeldPayment} {
		require.ErrorIs(t, move(records.HeldPayment, to), records.ErrConflict, to)
	}
	require.NoError(t, move(records.HeldPayment, records.Queued))

	// A refund excludes the credit until that is void, and the other way round.
	refund := CreditOf(in)
	refund.Purpose, refund.Chain, refund.Account, refund.Asset, refund.Payee = chain.Refund, Source, Hot, chain.Native, "0xuser"
	_, err := queue(r, refund)
	require.ErrorIs(t, err, records.ErrConflict)
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.Transfers().Move(in.ID, records.Final, records.Orphaned, "") }), records.ErrConflict, "a payment lives")
	require.NoError(t, move(records.Queued, records.VoidPayment))
	require.ErrorIs(t, move(records.VoidPayment, records.Queued), records.ErrConflict)
	_, err = queue(r, refund)
	require.NoError(t, err)
	_, err = queue(r, CreditOf(in))
	require.ErrorIs(t, err, records.ErrConflict)
	r.See(func(tx *records.Tx) error {
		all, err := tx.Payments().Of(in.ID)
		require.Len(t, all, 2)
		return err
	})

	// A mark identifies a payment without a transfer. No other payment ever has the same mark, in
	// any copy of the records.
	marks := map[string]bool{}
	for _, p := range []records.Payment{
		{Purpose: chain.Sweep, Chain: Source, Account: Hot, Asset: chain.Native, Amount: chain.NewAmount(5), Payee: Hot},
		{Purpose: chain.Sweep, Chain: Source, Account: Hot, Asset: chain.Native, Amount: chain.NewAmount(5), Payee: "0xd1", Mark: "chosen"},
		{Purpose: chain.Gas, Chain: Source, Account: Hot, Asset: chain.Native, Amount: chain.NewAmount(5), Payee: "0xd1"},
	} {
		id, err := queue(r, p)
		require.NoError(t, err)
		marks[r.Payment(id).Mark] = true
	}
	require.Len(t, marks, 3)
	require.NotContains(t, marks, "")
	require.NotContains(t, marks, "chosen")
}

func testPaymentCauses(t *testing.T, url string) {
	r := newRig(t, url)
	seen := r.Receive(records.Deposit, 500)
	_, err := queue(r, CreditOf(seen))
	require.ErrorIs(t, err, records.ErrConflict, "the transfer is only seen")
	r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(seen.ID, records.Seen, records.Final, "") })
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	_, err = queue(r, CreditOf(seen))
	require.ErrorIs(t, err, records.ErrConflict, "its block left the line")
	require.Equal(t, records.Final, r.Transfer(seen.ID).State)

	held := r.Receive(records.Deposit, 500)
	r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(held.ID, records.Seen, records.Held, "") })
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	err = r.Try(func(tx *records.Tx) error { return tx.Transfers().Move(held.ID, records.Held, records.Final, "") })
	require.ErrorIs(t, err, records.ErrConflict, "nobody lets go what left the line")

	w := r.Receive(records.Withdrawal, 500)
	r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(w.ID, records.Seen, records.Final, "") })
	receive := records.Payment{TransferID: w.ID, Purpose: chain.Receive, Network: Network, Token: Token, Chain: Exchange, Account: Gateway, Asset: Token, Source: w.Tx}
	_, err = queue(r, receive)
	require.NoError(t, err)
	_, err = queue(r, receive)
	require.ErrorIs(t, err, records.ErrConflict, "received once")
	_, err = queue(r, CreditOf(w))
	require.NoError(t, err, "a receive does not exclude the credit")

	sweep := records.Payment{Purpose: chain.Sweep, Network: Network, Chain: Source, Account: GasTank, Asset: chain.Native, Amount: chain.NewAmount(5), Payee: Hot}
	gas := sweep
	gas.Purpose, gas.Payee = chain.Gas, "0xdeposit0"
	cold := sweep
	cold.Purpose, cold.Account, cold.Payee = chain.Cold, Hot, "0xcold"
	for _, p := range []records.Payment{sweep, gas, cold} {
		_, err = queue(r, p)
		require.NoError(t, err)
		_, err = queue(r, p)
		require.ErrorIs(t, err, records.ErrConflict, "one %s at a time", p.Purpose)
	}

	r.See(func(tx *records.Tx) error {
		open, found, err := tx.Treasury().ColdMove(Source, chain.Native)
		require.True(t, found)
		require.Equal(t, "0xcold", open.Payee)
		return err
	})
	cold.Payee, cold.Account = "0xother", GasTank
	_, err = queue(r, cold)
	require.ErrorIs(t, err, records.ErrConflict, "one of an asset at a time, wherever it goes")

	bad := map[string]func(p *records.Payment){
		"zero amount":     func(p *records.Payment) { p.Amount = chain.Amount{} },
		"no payee":        func(p *records.Payment) { p.Payee = "" },
		"unknown purpose": func(p *records.Payment) { p.Purpose = chain.Cancel },
		"bound at birth":  func(p *records.Payment) { p.State = records.Bound },
		"unknown account": func(p *records.Payment) { p.Account = "0xnobody" },
		"with a cause":    func(p *records.Payment) { p.TransferID = w.ID },
		"receive nothing": func(p *records.Payment) { p.Purpose = chain.Receive },
	}
	for name, change := range bad {
		p := sweep
		p.Asset = "0xother"
		change(&p)
		_, err := queue(r, p)
		require.Error(t, err, name)
	}
}
