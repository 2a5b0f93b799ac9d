package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/transfers"
)

// senders is a chain of which only the senders matter.
type senders struct {
	chain.Chain
	contract bool
	sent     uint64
	err      error
}

func (s senders) ID() chain.ID { return "eth" }

func (s senders) Party(context.Context, string) (contract bool, sent uint64, err error) {
	return s.contract, s.sent, s.err
}

func TestUnpayableSenders(t *testing.T) {
	require.NoError(t, operator.Unpayable(t.Context(), senders{sent: operator.BusySender - 1}, "0x12"))
	for says, c := range map[string]senders{
		"is a contract, such as an exchange":                 {contract: true},
		"has sent 10,000 transactions and looks like an ex":  {sent: operator.BusySender},
		"no node of eth reports the type of its sender 0x12": {err: errors.New("dial tcp: refused")},
	} {
		err := operator.Unpayable(t.Context(), c, "0x12")
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "--to")
		require.NotContains(t, err.Error(), "dial")
	}
}

// TestSmallDepositOfAContract: the refund of a deposit below the minimum has the same check of its
// sender as any other.
func TestSmallDepositOfAContract(t *testing.T) {
	s := newScreenStore(t)
	small := s.receive(records.Deposit, 5, hashOf("3"))
	s.decide(small, records.Refused, records.ReasonBelowMinimum)
	d, err := operator.Open(t.Context(), s.config)
	require.NoError(t, err)
	defer d.Store.Close()
	b := &operator.Bridge{Chains: map[chain.ID]chain.Chain{small.Chain: senders{contract: true}}}
	require.ErrorContains(t, d.CheckRefund(t.Context(), b, transfers.Order{Record: small.ID}), "is a contract")
}
