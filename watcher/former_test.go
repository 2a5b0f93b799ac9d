package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// An address that was published once is followed for ever: wallets keep old pages open
// (docs/gateway-clients.md 4.2).
func TestFormerGatewayAddressStillWorks(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	current := r.vite.Address("next gateway")
	r.vite.Own(current)
	r.update(func(tx *records.Tx) error {
		return tx.Accounts().Ensure(records.Account{Chain: "vite", Account: current, Kind: records.KindGateway, Network: r.net.Name, KeyPath: "next gateway"})
	})
	r.parts.Networks[0].Gateway = current
	r.restart()

	// r.withdraw still sends to the address that was published before.
	payee := r.eth.Address("payee")
	paid := r.withdraw(owner, payee, 1000)
	refused := r.order(owner, usd, 1000, chain.Memo{Type: -1})
	r.rest()
	r.level()
	r.rest()
	r.requireState(paid, records.Final, "")
	require.Equal(t, records.Paid, r.payment(paid).State)
	r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
	r.requireState(refused, records.Refused, records.ReasonWrongComment)
	refund := r.payment(refused)
	require.Equal(t, []any{chain.Refund, records.Paid, current}, []any{refund.Purpose, refund.State, refund.Account}, "what came to the old account has moved on")
}
