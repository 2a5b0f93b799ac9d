package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/dev"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/wallet"
)

// TestSweep moves deposits of coin and tokens from their addresses to the hot account. No user is
// credited for it.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	hot, err := keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.NoError(t, err)
	eth, usdt := r.newCustomer(t, "ETH"), r.newCustomer(t, "USDT")
	from := map[*testUser]string{eth: depositAddress(t, eth), usdt: depositAddress(t, usdt)}
	before := map[*testUser]*big.Int{}
	for u := range from {
		before[u] = r.balanceOn(t, u, hot)
		require.Equal(t, u.Times(50).String(), r.balanceOn(t, u, from[u]).String())
	}
	waitFor(t, "empty deposit addresses", func() bool { // tokens want gas first
		require.NoError(t, r.Daemon.Watcher.Treasury().Sweep(t.Context()))
		left := r.balanceOn(t, eth, from[eth])
		return left.Cmp(eth.Times(1).Uint256().ToBig()) < 0 && r.balanceOn(t, usdt, from[usdt]).Sign() == 0
	})
	r.waitUntilSettled(t)
	gained := new(big.Int).Sub(r.balanceOn(t, usdt, hot), before[usdt])
	require.Equal(t, usdt.Times(50).String(), gained.String())
	require.Positive(t, r.balanceOn(t, eth, hot).Cmp(before[eth]))
	for u := range from {
		require.Equal(t, u.Times(50).String(), u.spendable(t).String())
	}
	require.Len(t, r.listRecords(t, "--direction", "deposit"), 2, "a top-up is no deposit")
}

// TestSweepWhenFeesRise triples the base fee once a sweep of coin waits, and makes the node forget
// it: what replaces it pays its fee out of what it moves, and the books have what arrived.
func TestSweepWhenFeesRise(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	hot, err := keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.NoError(t, err)
	eth := r.newCustomer(t, "ETH")
	from := depositAddress(t, eth)
	r.waitUntilSettled(t)
	before := r.balanceOn(t, eth, hot)
	r.Source.StopMining()
	require.NoError(t, r.Daemon.Watcher.Treasury().Sweep(t.Context()))
	r.waitingPayout(t)
	asked, paid := r.sweptAmount(t, records.Bound), r.sweptAmount(t, records.Paid)
	require.Zero(t, paid.Sign())
	require.NoError(t, r.Source.SetBaseFee(new(big.Int).Mul(r.Source.BaseFee(), big.NewInt(1000)))) // empty blocks make it fall: it must rise over the cap
	r.Source.DropAll()
	r.Source.StartMining()
	waitFor(t, "the sweep", func() bool { return r.sweptAmount(t, records.Paid).Sign() > 0 })
	brought := r.sweptAmount(t, records.Paid)
	require.Negative(t, brought.Cmp(asked), "%s of %s", brought, asked)
	require.Equal(t, brought.String(), new(big.Int).Sub(r.balanceOn(t, eth, hot), before).String())
	require.Negative(t, r.balanceOn(t, eth, from).Cmp(eth.Times(1).Uint256().ToBig()))
	r.waitUntilSettled(t)
}

// sweptAmount is the sum of the sweeps of coin in a state: what they asked for or, when they are
// paid, what arrived.
func (r *rig) sweptAmount(t *testing.T, state records.PaymentState) *big.Int {
	t.Helper()
	sum := new(big.Int)
	require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) error {
		for _, n := range r.Daemon.Config.Networks {
			totals, err := books.TotalsOf(tx, n.Name, "")
			if err != nil {
				return err
			}
			for _, p := range totals.Payments {
				if p.Purpose == chain.Sweep && p.State == state && p.Asset == chain.Native {
					sum.Add(sum, p.Amount.Uint256().ToBig())
				}
			}
		}
		return nil
	}))
	return sum
}

// balanceOn returns an account's balance of a user's asset on the source chain.
func (r *rig) balanceOn(t *testing.T, u *testUser, account string) *big.Int {
	t.Helper()
	have, err := u.Eth.Balance(t.Context(), u.Token.Asset, common.HexToAddress(account))
	require.NoError(t, err)
	return have
}
