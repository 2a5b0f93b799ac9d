package transfers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// TestPermitted: the orders that a record's state permits are offered, and no others.
func TestPermitted(t *testing.T) {
	transfer := func(direction records.Direction, state records.TransferState, reason records.Reason) records.Transfer {
		return records.Transfer{ID: 1, Direction: direction, State: state, Reason: reason, Token: "tti_1", Owner: "vite_1", Net: chain.NewAmount(5)}
	}
	stranger := transfer(records.Deposit, records.Held, records.ReasonUnknownLabel)
	stranger.Token, stranger.Owner, stranger.Net = "", "", chain.Amount{}
	incident := transfer(records.Deposit, records.Final, "")
	incident.Incident = "its block has left the chain"
	worthless := transfer(records.Deposit, records.Held, records.ReasonWrongType)
	worthless.Net = chain.Amount{}
	pay := func(purpose chain.Purpose, state records.PaymentState, reason records.Reason) records.Payment {
		return records.Payment{Purpose: purpose, State: state, Reason: reason}
	}
	final := transfer(records.Deposit, records.Final, "")
	for name, c := range map[string]struct {
		of       records.Transfer
		payments []records.Payment
		want     []OrderName
	}{
		"seen":                        {transfer(records.Deposit, records.Seen, ""), nil, nil},
		"queued":                      {final, []records.Payment{pay(chain.Credit, records.Queued, "")}, []OrderName{OrderRefund, OrderReject, OrderHold, OrderSettle}},
		"held by the signer":          {final, []records.Payment{pay(chain.Credit, records.HeldPayment, records.HeldLimit)}, []OrderName{OrderRetry, OrderRefund, OrderReject, OrderHold, OrderSettle}},
		"held by an operator":         {final, []records.Payment{pay(chain.Credit, records.HeldPayment, records.ReasonOperator)}, []OrderName{OrderRetry, OrderRefund, OrderReject, OrderSettle}},
		"signed":                      {final, []records.Payment{pay(chain.Receive, records.Paid, ""), pay(chain.Credit, records.Bound, "")}, nil},
		"paid":                        {final, []records.Payment{pay(chain.Credit, records.Paid, "")}, nil},
		"refund on the way":           {transfer(records.Deposit, records.Refused, records.ReasonOperator), []records.Payment{pay(chain.Credit, records.VoidPayment, ""), pay(chain.Refund, records.Bound, "")}, nil},
		"refund held":                 {transfer(records.Deposit, records.Refused, records.ReasonOperator), []records.Payment{pay(chain.Refund, records.HeldPayment, records.HeldRefused)}, []OrderName{OrderRetry, OrderRefund, OrderHold, OrderSettle}},
		"below the minimum":           {transfer(records.Deposit, records.Refused, records.ReasonBelowMinimum), nil, []OrderName{OrderRetry, OrderRefund}},
		"below the minimum, refunded": {transfer(records.Deposit, records.Refused, records.ReasonOperator), []records.Payment{pay(chain.Refund, records.Paid, "")}, nil},
		"withdrawal below minimum":    {transfer(records.Withdrawal, records.Refused, records.ReasonBelowMinimum), []records.Payment{pay(chain.Refund, records.Paid, "")}, nil},
		"dust":                        {transfer(records.Withdrawal, records.Refused, records.ReasonDust), nil, []OrderName{OrderRefund}},
		"a stranger's":                {stranger, nil, []OrderName{OrderCredit, OrderRefund, OrderReclassify, OrderSettle}},
		"undated":                     {transfer(records.Deposit, records.Held, records.ReasonUnproven), nil, []OrderName{OrderRetry, OrderCredit, OrderRefund, OrderSettle}},
		"credited before":             {transfer(records.Deposit, records.Held, records.ReasonFoundByAudit), nil, []OrderName{OrderSettle}},
		"worth nothing":               {worthless, nil, []OrderName{OrderRefund, OrderSettle}},
		"token left":                  {transfer(records.Withdrawal, records.Held, records.ReasonUnknownToken), nil, []OrderName{OrderRefund, OrderReclassify, OrderSettle}},
		"own funds":                   {transfer(records.Funding, records.Held, records.ReasonUnknownToken), nil, []OrderName{OrderReclassify, OrderSettle}},
		"left its chain":              {incident, []records.Payment{pay(chain.Credit, records.Paid, "")}, []OrderName{OrderWriteOff}},
	} {
		t.Run(name, func(t *testing.T) {
			require.ElementsMatch(t, c.want, Permitted(records.Record{Transfer: c.of}, c.payments))
		})
	}
}

// TestWrittenOffOnce: what is written off is not offered again.
func TestWrittenOffOnce(t *testing.T) {
	r := records.Record{Transfer: records.Transfer{State: records.Final, Incident: "its block has left the chain"}}
	require.Equal(t, []OrderName{OrderRefund, OrderWriteOff}, Permitted(r, nil))
	r.Loss = &records.Loss{}
	require.Equal(t, []OrderName{OrderRefund}, Permitted(r, nil))
}

// TestOrdersAreNamedInTheRefusal: the refusal of an unknown name names all orders.
func TestOrdersAreNamedInTheRefusal(t *testing.T) {
	for _, k := range orders {
		require.ErrorContains(t, ErrNoOrder, string(k.name))
	}
	require.ErrorIs(t, Rules{}.Order(nil, "pay twice", Order{}), ErrNoOrder)
}
