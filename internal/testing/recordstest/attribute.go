package recordstest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// unattributed is a held deposit of coin without an owner, at an address.
func (r *Rig) unattributed(to string, amount uint64) records.Transfer {
	r.T.Helper()
	in := r.Incoming(records.Deposit, amount, r.Mine(Source, ""))
	in.To, in.Token, in.Owner, in.Payee, in.Net, in.Policy = to, "", "", "", chain.Amount{}, records.Policy{}
	in.Reason = records.ReasonUnknownLabel
	r.Do(func(tx *records.Tx) (err error) {
		if in, _, err = tx.Transfers().See(in); err != nil {
			return err
		}
		return tx.Transfers().Move(in.ID, records.Seen, records.Held, in.Reason)
	})
	return r.Transfer(in.ID)
}

// testAttribution: a held deposit gets an owner once, with the policy of that moment, and its
// credit or its refund, never both.
func testAttribution(t *testing.T, url string) {
	r := newRig(t, url)
	address := r.bind(Alice)
	in := r.unattributed(address, 700)
	policy := records.Policy{Decimals: 2, MinDeposit: chain.NewAmount(3), Fee: records.Fee{Kind: "flat"}}
	attribute := func(id uint64, owner string) error {
		return r.Try(func(tx *records.Tx) error {
			return tx.Orders().Attribute(id, records.Attribution{Token: Token, Owner: owner, Policy: policy, Net: chain.NewAmount(7)})
		})
	}
	require.NoError(t, attribute(in.ID, Bob))
	out := r.Transfer(in.ID)
	want := in
	want.State, want.Reason, want.Token, want.Owner, want.Payee, want.Net, want.Policy = records.Final, records.ReasonOperator, Token, Bob, Bob, chain.NewAmount(7), policy
	want.ChangedAt = out.ChangedAt
	require.Equal(t, want, out)
	require.ErrorIs(t, attribute(in.ID, Alice), records.ErrConflict, "it has an owner")
	r.See(func(tx *records.Tx) error {
		list, err := tx.Treasury().Candidates(Source)
		require.Len(t, list, 1, "what lies on the address is swept")
		return err
	})
	r.Do(func(tx *records.Tx) error { _, err := tx.Payments().Queue(CreditOf(out)); return err })
	refund := records.Payment{
		TransferID: in.ID, Purpose: chain.Refund, Network: Network, Chain: Source, Account: Hot, Asset: in.Asset, Amount: in.Amount, Payee: in.From,
	}
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { _, err := tx.Payments().Queue(refund); return err }), records.ErrConflict)

	seen := r.Receive(records.Deposit, 50)
	require.ErrorIs(t, attribute(seen.ID, Bob), records.ErrConflict, "it is not held")
	left := r.unattributed(address, 800)
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	require.ErrorIs(t, attribute(left.ID, Bob), records.ErrConflict, "its block left the line")
}

// testRefundToAnother: a refund to a party other than the sender is a breach of the books unless an
// operator ordered it.
func testRefundToAnother(t *testing.T, url string) {
	r := newRig(t, url)
	in := r.unattributed(Shared, 700)
	r.Do(func(tx *records.Tx) error {
		if err := tx.Transfers().Move(in.ID, records.Held, records.Refused, records.ReasonOperator); err != nil {
			return err
		}
		_, err := tx.Payments().Queue(records.Payment{
			TransferID: in.ID, Purpose: chain.Refund, Network: Network, Chain: Source, Account: Hot, Asset: in.Asset, Amount: in.Amount, Payee: "0xAnother",
		})
		return err
	})
	told := func() (out []string) {
		r.See(func(tx *records.Tx) (err error) { out, _, err = books.Breaches(tx, 0); return err })
		return out
	}
	require.Len(t, told(), 1)
	r.Do(func(tx *records.Tx) error { return tx.Orders().AllowRefundTo(in.ID, "0xThird") })
	require.Len(t, told(), 1)
	for range 2 {
		r.Do(func(tx *records.Tx) error { return tx.Orders().AllowRefundTo(in.ID, "0xAnother") })
	}
	require.Empty(t, told())
}

// testReclassify: a stranger's transfer is decided again once, also as money of the operators' own;
// no other fact of it changes.
func testReclassify(t *testing.T, url string) {
	r := newRig(t, url)
	address := r.bind(Alice)
	again := func(in records.Transfer, change func(*records.Transfer)) error {
		change(&in)
		return r.Try(func(tx *records.Tx) error { return tx.Orders().Reclassify(in) })
	}
	funding := func(t *records.Transfer) { t.Direction, t.State = records.Funding, records.Final }
	credited := func(t *records.Transfer) {
		t.State, t.Reason, t.Token, t.Owner, t.Payee, t.Net = records.Final, records.ReasonOperator, Token, Alice, Alice, chain.NewAmount(7)
	}
	ours := r.unattributed(Shared, 700)
	require.NoError(t, again(ours, funding))
	out := r.Transfer(ours.ID)
	require.Equal(t, []any{records.Funding, records.Final, ours.Amount, ours.From}, []any{out.Direction, out.State, out.Amount, out.From})
	require.ErrorIs(t, again(out, credited), records.ErrConflict, "it is decided")

	theirs := r.unattributed(address, 700)
	require.NoError(t, again(theirs, credited))
	r.See(func(tx *records.Tx) error {
		list, err := tx.Treasury().Candidates(Source)
		require.Len(t, list, 1, "what lies on the address is swept")
		return err
	})
	refunded := r.unattributed(Shared, 700)
	r.Do(func(tx *records.Tx) error {
		_, err := tx.Payments().Queue(records.Payment{
			TransferID: refunded.ID, Purpose: chain.Refund, Network: Network, Chain: Source, Account: Hot, Asset: refunded.Asset, Amount: refunded.Amount, Payee: refunded.From,
		})
		return err
	})
	require.ErrorIs(t, again(refunded, funding), records.ErrConflict, "a payment for it lives")
	owned := r.Receive(records.Deposit, 50)
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(owned.ID, records.Seen, records.Held, records.ReasonOperator)
	})
	require.ErrorIs(t, again(r.Transfer(owned.ID), funding), records.ErrConflict, "it has an owner")
	held := r.unattributed(Shared, 800)
	require.Error(t, r.Try(func(tx *records.Tx) error {
		return tx.Orders().Reclassify(records.Transfer{ID: held.ID, Direction: records.Funding, State: records.Final, Owner: Bob})
	}),
		"the database itself: money of ours has no owner")
	r.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	require.ErrorIs(t, again(held, funding), records.ErrConflict, "its block left the line")
}
