package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/view"
	"gatewayd/wallet"
)

// TestPool bridges both ways with three paying accounts on each chain.
func TestPool(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Accounts = 3 })
	n := r.Daemon.Networks[0]
	require.Len(t, n.Hots, 3)
	require.Len(t, n.Gateways, 3)
	r.waitUntilLevelled(t)
	for _, account := range n.Gateways {
		for _, k := range n.Tokens {
			waitFor(t, k.Symbol+" of "+account, func() bool { // what was sent to it is received a block later
				r.waitUntilLevelled(t)
				have, err := r.Daemon.Chains[n.Exchange].Balance(t.Context(), account, chain.Asset(k.TokenID))
				require.NoError(t, err)
				return !have.IsZero()
			})
		}
	}
	users := []*testUser{r.newCustomer(t, "ETH"), r.newCustomer(t, "USDT"), r.newCustomer(t, "ETH"), r.newCustomer(t, "USDT"), r.newCustomer(t, "ETH"), r.newCustomer(t, "USDT")}
	for _, u := range users {
		payee, hash := u.withdrawToPayee(t, u.Times(10))
		u.mustAwait(t, "/withdraw-records", hash, "OPPOSITE_CONFIRMED")
		u.requirePaid(t, payee, u.Times(10))
	}
	r.waitUntilSettled(t)
	paid := r.payersOf(t)
	require.Greater(t, len(paid[n.Source]), 1, "%v", paid)
	require.Greater(t, len(paid[n.Exchange]), 1, "%v", paid)
	var rows []operator.AccountRow
	require.NoError(t, json.Unmarshal([]byte(r.mustCommand(t, "account", "list", "--json")), &rows))
	kinds := map[string]int{}
	for _, a := range rows {
		kinds[a.Kind]++
	}
	require.Equal(t, 3, kinds["hot"])
	require.Equal(t, 3, kinds["gateway"])
	for _, d := range []string{"deposit", "withdrawal"} {
		require.Len(t, r.listRecords(t, "--direction", d), len(users), "what our accounts send each other is no %s", d)
	}
}

// waitUntilLevelled waits until the accounts of the pools share what they hold and nothing moves
// between them any more.
func (r *rig) waitUntilLevelled(t *testing.T) {
	t.Helper()
	waitFor(t, "levelled accounts", func() bool {
		require.NoError(t, r.Daemon.Watcher.Level(t.Context()))
		busy, all := 0, 0
		require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) error {
			totals, err := books.TotalsOf(tx, r.Daemon.Networks[0].Name, "")
			for _, p := range totals.Payments {
				if p.Purpose != chain.Sweep {
					continue
				}
				switch p.State {
				case records.Queued, records.Bound:
					busy += int(p.Count)
				case records.Paid:
					all += int(p.Count)
				}
			}
			return err
		}))
		return busy == 0 && all > 0
	})
}

// payersOf counts the paid payouts of each chain by their account.
func (r *rig) payersOf(t *testing.T) map[chain.ID]map[string]int {
	t.Helper()
	found := map[chain.ID]map[string]int{}
	require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) error {
		list, err := view.Records(tx, view.Filter{})
		for _, rec := range list {
			if rec.Credit == nil || rec.Credit.State != records.Paid {
				continue
			}
			if found[rec.Credit.Chain] == nil {
				found[rec.Credit.Chain] = map[string]int{}
			}
			found[rec.Credit.Chain][rec.Credit.Account]++
		}
		return err
	}))
	return found
}

// TestPoolPaths keeps the accounts of a pool apart from all others, and the first where it always
// was.
func TestPoolPaths(t *testing.T) {
	t.Parallel()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	seen := map[string]string{}
	add := func(path string) {
		address, err := keys.Address(path)
		require.NoError(t, err)
		require.Empty(t, seen[address], path)
		seen[address] = path
	}
	add(wallet.SourcePaths(ethereum.CoinType).Gas())
	for i := range config.MaxAccounts {
		add(wallet.SourcePaths(ethereum.CoinType).Hot(i))
		add(wallet.SourcePaths(ethereum.CoinType).Deposit(uint32(i)))
		add(wallet.GatewayPathOf(0, i))
		add(wallet.GatewayPathOf(1, i))
	}
	require.Equal(t, wallet.SourcePaths(ethereum.CoinType).Hot(0), wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.Equal(t, wallet.GatewayPath(7), wallet.GatewayPathOf(7, 0))
	require.Error(t, config.CheckAccounts(config.MaxAccounts+1))
	require.Error(t, config.CheckAccounts(-1))
}
