package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/operator"
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
