package watcher

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/status"
)

// limitedPayer is poor, and tells what a payout costs.
type limitedPayer struct{ limitedBalance }

func (limitedPayer) PayoutCost(context.Context, chain.Asset) (chain.Amount, error) {
	return units(payoutFee), nil
}

// lacking returns which directions lack what.
func (r *rig) lacking() (list []string) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		all, err := records.Conditions(tx)
		for _, c := range all {
			require.True(r.t, c.Stops)
			list = append(list, c.Kind+" "+string(c.Direction)+" "+c.Token)
		}
		return err
	})
	return list
}

// TestDepositsToBeSweptAreFunds: what lies on deposit addresses will be the hot account's.
func TestDepositsToBeSweptAreFunds(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	r.parts.Chains["eth"] = limitedBalance{r.eth, r.net.Hot, usdEth, 0}
	r.restart()
	books := r.w.books()
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, []string{"no_funds withdrawal " + usd}, r.lacking())
	r.deposit(address, 20_000)
	r.rest()
	require.NoError(t, books.Round(t.Context()))
	require.Empty(t, r.lacking())
}

// TestNoCoinIsToldOnce: what a payout waits for, and what the whole side lacks, is one fact.
func TestNoCoinIsToldOnce(t *testing.T) {
	r := setup(t)
	r.net.Tokens = r.net.Tokens[:1]
	r.parts.Networks = []records.Network{r.net}
	r.parts.Chains["eth"] = limitedPayer{limitedBalance{r.eth, r.net.Hot, chain.Native, 0}}
	r.restart()
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.rest()
	require.Equal(t, records.WaitsNoCoin, r.payment(hash).Reason)
	told := func() (list []status.Condition) {
		r.view(func(tx *records.Tx) error {
			report, err := status.Read(tx, []records.Network{r.net})
			for _, c := range report.Conditions {
				if c.Kind == status.NoCoin {
					list = append(list, c)
				}
			}
			return err
		})
		return list
	}
	r.update(recordstest.Alive)
	require.Equal(t, []string{usd}, []string{told()[0].Token})
	require.NoError(t, r.w.books().Round(t.Context()))
	require.Len(t, told(), 1)
	require.Empty(t, told()[0].Token, "all tokens")
}
