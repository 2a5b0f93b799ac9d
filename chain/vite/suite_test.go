package vite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/core"
)

// TestSuite holds the adapter on the embedded node against the promises of the port.
func TestSuite(t *testing.T) {
	chaintest.Run(t, func(t *testing.T) chaintest.Harness {
		l := newLedger(t)
		return chaintest.Harness{
			Chain: l.open(t), Keys: l.keys, Linked: true, Asset: chain.Asset(core.VITE.String()), Depth: depth,
			Payer: chaintest.Account{Address: l.payer.String(), Key: payerPath},
			Inbox: chaintest.Account{Address: l.inbox.String(), Key: inboxPath},
			Addresses: []chaintest.AddressCase{
				{Address: someUser, Want: someUser},
				{Address: "vite_75E6D2A1006018C1C4ADC3418E899CA47487720F96E1D4572E", Want: someUser},
				{Address: someUser, Label: "1", Err: chain.ErrLabel},
				{Address: zeroText, Err: chain.ErrAddress},
				{Address: assetText, Err: chain.ErrAddress},
				{Address: "nonsense", Err: chain.ErrAddress},
			},
			Outsider: func(t *testing.T) string { return l.newUser(t).String() },
			Deposit: func(t *testing.T, to string, asset chain.Asset, amount chain.Amount) string {
				payee, err := core.ParseAddress(to)
				require.NoError(t, err)
				require.Equal(t, core.VITE.String(), string(asset))
				return l.deposit(t, payee, amount.Uint256().Uint64(), "").String()
			},
			Holding: func(t *testing.T, account string, asset chain.Asset) chain.Amount {
				a, err := core.ParseAddress(account)
				require.NoError(t, err)
				held := l.holding(a, core.VITE)
				return chain.AmountOf(&held)
			},
			Mine:  func(t *testing.T, blocks int) { l.mine(t, blocks) },
			Reorg: func(t *testing.T, deep int, keep bool) { l.reorg(t, deep, keep) },
		}
	})
}
