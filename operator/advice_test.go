package operator

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/transfers"
)

// TestAdviceOnHeldPayments: whatever holds a credit or a refund, the advice has words, and each
// command is an order that the record's state permits.
func TestAdviceOnHeldPayments(t *testing.T) {
	for _, reason := range records.AllReasons() {
		if !reason.Payment || reason.Advice.English == "" {
			continue
		}
		for _, purpose := range []chain.Purpose{chain.Credit, chain.Refund} {
			t.Run(string(reason.Reason)+" "+string(purpose), func(t *testing.T) {
				r := recordstest.NewRig(t)
				in, id := r.Owe(records.Withdrawal, 500)
				r.Do(func(tx *records.Tx) error {
					if purpose == chain.Credit {
						return tx.Payments().Move(id, records.Queued, records.HeldPayment, reason.Reason)
					}
					return holdRefund(tx, in, id, reason.Reason)
				})
				r.See(func(tx *records.Tx) error {
					record, err := tx.Transfers().Record(in.ID)
					require.NoError(t, err)
					detail, err := detailOf(tx, record)
					require.NoError(t, err)
					next := detail.NextStep()
					require.NotEmpty(t, next)
					require.False(t, strings.HasPrefix(next, "nothing"), next)
					for _, command := range detail.Commands {
						order := transfers.OrderName(strings.Fields(command)[2])
						require.True(t, strings.HasPrefix(command, "gatewayd approve ") || slices.Contains(detail.Orders, order), command)
						require.Equal(t, purpose == chain.Refund && order == transfers.OrderRefund, strings.Contains(command, "--to"), command)
					}
					return nil
				})
			})
		}
	}
}

// holdRefund replaces a payout by a refund that is held.
func holdRefund(tx *records.Tx, in records.Transfer, payout uint64, reason records.Reason) error {
	if err := tx.Payments().Move(payout, records.Queued, records.VoidPayment, records.ReasonOperator); err != nil {
		return err
	}
	if err := tx.Transfers().Move(in.ID, records.Final, records.Refused, records.ReasonOperator); err != nil {
		return err
	}
	refund, err := tx.Payments().Queue(records.Payment{
		TransferID: in.ID, Purpose: chain.Refund, Network: in.Network, Token: in.Token,
		Chain: in.Chain, Account: recordstest.Gateway, Asset: in.Asset, Amount: in.Amount, Payee: in.From,
	})
	if err != nil {
		return err
	}
	return tx.Payments().Move(refund, records.Queued, records.HeldPayment, reason)
}
