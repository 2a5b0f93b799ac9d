package watcher

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/watcher/reconcile"
)

// counted is a ledger that tells what accounts hold. Of lost, it tells less than there is: the
// token has taken it.
type counted struct {
	*chaintest.Chain
	lost map[string]chain.Amount
}

func (c counted) HoldingsAt(_ context.Context, _ uint64, asset chain.Asset, accounts []string) ([]chain.Amount, error) {
	out := make([]chain.Amount, len(accounts))
	for i, a := range accounts {
		out[i] = c.Holding(a, asset).Excess(c.lost[a])
	}
	return out, nil
}

// countHoldings has the rig's source chain tell what is held.
func (r *rig) countHoldings() counted {
	c := counted{r.eth, map[string]chain.Amount{}}
	r.parts.Chains["eth"] = c
	r.restart()
	return c
}

// A sheet asks for every account of ours, users' addresses too.
func TestSheetAsksEveryAccount(t *testing.T) {
	r := setup(t)
	c := r.countHoldings()
	owner, address := r.user()
	r.deposit(address, 50_000)
	r.eth.Deposit(r.eth.Address("depositor"), r.net.Shared, usdEth, units(70), chain.Memo{Type: -1})
	r.withdraw(owner, r.eth.Address("payee"), 330)
	r.rest()
	b, ok, err := reconcile.Sheet(t.Context(), r.store, c, r.vite, r.net, r.net.Tokens[0])
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []chain.Amount{units(stock*100 - 30_000), units(0), units(70), units(50_000)}, []chain.Amount{b.Hot, b.Gas, b.Shared, b.Deposits})
	require.Equal(t, units(stock*100+20_070), b.Held)
	require.Equal(t, units(stock*100), b.Opening)
	require.Equal(t, units(17_000), b.Owed)
}

// A pool's coins count at their addresses, and what is gone from them closes the channels as it
// does elsewhere.
func TestSheetOfAPool(t *testing.T) {
	r := setupCoins(t, 60_000, 40_000)
	c := counted{r.eth, map[string]chain.Amount{}}
	r.parts.Chains["btc"] = struct {
		counted
		chain.CoinLedger
	}{c, chaintest.CoinLedger{Chain: r.eth}}
	r.restart()
	_, address := r.user()
	r.deposit(address, 50_000)
	r.rest()
	b, ok, err := reconcile.Sheet(t.Context(), r.store, r.parts.Chains["btc"], r.vite, r.net, r.net.Tokens[0])
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []chain.Amount{units(100_000), units(50_000), units(150_000)}, []chain.Amount{b.Hot, b.Deposits, b.Held})
	require.Equal(t, units(50_000), b.Owed)
	require.True(t, b.Uncovered().IsZero())
	c.lost[r.net.Hot], c.lost[address] = units(100_000), units(1)
	check := r.w.solvency()
	require.NoError(t, check.Round(t.Context()))
	r.view(func(tx *records.Tx) error {
		list, err := status.ReadCoverage(tx, []records.Network{r.net}, nil, r.now, time.Minute)
		require.Len(t, list, 1)
		require.Equal(t, []chain.Amount{units(49_999), units(50_000)}, []chain.Amount{list[0].Held, list[0].Owed})
		require.Equal(t, &status.HoldingParts{Deposits: units(49_999)}, list[0].Parts)
		return err
	})
	r.run(1)
	require.NoError(t, check.Round(t.Context()))
	require.Equal(t, records.ChannelMaintain, r.channel(records.Withdrawal).Automatic)
	require.Contains(t, r.channel(records.Withdrawal).Why, "is missing")
}

// A process that takes over has not compared yet, and its nodes may not answer. Stored comparisons
// stay until there is a newer one of the token.
func TestTakeoverKeepsComparisons(t *testing.T) {
	r := setup(t)
	c := r.countHoldings()
	coverage := func() (list []status.TokenCoverage) {
		r.view(func(tx *records.Tx) (err error) {
			list, err = status.ReadCoverage(tx, []records.Network{r.net}, nil, r.now, time.Minute)
			return err
		})
		return list
	}
	r.rest()
	require.NoError(t, r.w.solvency().Round(t.Context()))
	before := coverage()
	require.Equal(t, "covered", before[0].State)

	r.now = r.now.Add(time.Minute)
	odd := r.net.Tokens[0]
	odd.TokenID, odd.Symbol, odd.Asset = "tti_odd", "ODD", "odd"
	r.net.Tokens = append(r.net.Tokens, odd)
	r.parts.Networks = []records.Network{r.net}
	r.parts.Chains["eth"] = mute{c}
	r.restart()
	require.ErrorIs(t, r.w.solvency().Round(t.Context()), chain.ErrUnavailable)
	kept := coverage()
	require.Equal(t, []any{before[0].At, before[0].Held, "covered"}, []any{kept[0].At, kept[0].Held, kept[0].State})
	require.Equal(t, "uncompared", kept[len(kept)-1].State)

	r.parts.Chains["eth"] = c
	r.restart()
	require.NoError(t, r.w.solvency().Round(t.Context()))
	require.Equal(t, r.now, coverage()[0].At)
}

// mute is a ledger that reads no balances.
type mute struct{ counted }

func (mute) HoldingsAt(context.Context, uint64, chain.Asset, []string) ([]chain.Amount, error) {
	return nil, chain.ErrUnavailable
}

// A token that leaves our accounts without a transaction of ours closes its channels at the second
// final block that shows it, and opens them when it is back. The stops of others stay.
func TestMissingTokensCloseTheirChannels(t *testing.T) {
	r := setup(t)
	c := r.countHoldings()
	_, address := r.user()
	r.deposit(address, 50_000)
	r.rest()
	check := r.w.solvency()
	round := func(blocks int) {
		r.run(blocks)
		require.NoError(t, check.Round(t.Context()))
	}
	requireChannels := func(state string) {
		t.Helper()
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			require.Equal(t, state, r.channel(d).Automatic)
		}
	}
	round(0)
	requireChannels(records.ChannelOpen)

	c.lost[address] = units(1)
	round(1)
	requireChannels(records.ChannelOpen) // not yet time for the next one
	r.now = r.now.Add(25 * time.Hour)
	round(0)
	round(0)
	requireChannels(records.ChannelOpen) // it is the same final block still
	round(1)
	requireChannels(records.ChannelMaintain)
	require.Contains(t, r.channel(records.Withdrawal).Why, "hold 0.0001 USD less than the books show")

	delete(c.lost, address)
	round(1)
	requireChannels(records.ChannelOpen)

	c.lost[address] = units(1)
	r.now = r.now.Add(25 * time.Hour)
	round(0)
	round(1)
	requireChannels(records.ChannelMaintain)
	const others = "a decided transfer left the chain: 1"
	r.update(func(tx *records.Tx) error { return records.StopChannel(tx, "main", usd, records.Deposit, others) })
	delete(c.lost, address)
	r.now = r.now.Add(25 * time.Hour)
	round(1)
	require.Equal(t, records.ChannelOpen, r.channel(records.Withdrawal).Automatic)
	require.Equal(t, records.ChannelMaintain, r.channel(records.Deposit).Automatic, "what is mended is not the incident")
	require.Equal(t, others, r.channel(records.Deposit).Why)
}

// deaf is a ledger with a token that tells no balances any more.
type deaf struct{ counted }

func (d deaf) HoldingsAt(ctx context.Context, height uint64, asset chain.Asset, accounts []string) ([]chain.Amount, error) {
	if asset == "odd" {
		return nil, chain.ErrUnavailable
	}
	return d.counted.HoldingsAt(ctx, height, asset, accounts)
}

// A token that cannot be compared keeps no other from being compared, costs no more than the
// others, and is told of.
func TestTokenThatTellsNoBalancesHidesNoOther(t *testing.T) {
	r := setup(t)
	c := r.countHoldings()
	odd := r.net.Tokens[0]
	odd.TokenID, odd.Symbol, odd.Asset = "tti_odd", "ODD", "odd"
	r.net.Tokens = append([]records.Token{odd}, r.net.Tokens...)
	r.parts.Networks = []records.Network{r.net}
	r.parts.Chains["eth"] = deaf{c}
	r.restart()
	_, address := r.user()
	r.deposit(address, 50_000)
	r.rest()
	check := r.w.solvency()
	conditions := func() (list []records.Condition) {
		r.view(func(tx *records.Tx) (err error) { list, err = records.Conditions(tx); return err })
		return list
	}
	round := func() {
		r.run(1)
		r.now = r.now.Add(25 * time.Hour)
		require.ErrorIs(t, check.Round(t.Context()), chain.ErrUnavailable)
	}
	round()
	require.Empty(t, conditions(), "not for long yet")
	require.NoError(t, check.Round(t.Context()), "it is not asked about before its time")
	c.lost[address] = units(50_000)
	round()
	round()
	require.Equal(t, records.ChannelMaintain, r.channel(records.Withdrawal).Automatic)
	found := conditions()
	require.Len(t, found, 1)
	require.Contains(t, found[0].Detail, "holdings and debts of ODD were not compared since 2026-03-0")

	r.parts.Chains["eth"] = c
	delete(c.lost, address)
	check.Chains["eth"] = c
	r.run(1)
	r.now = r.now.Add(25 * time.Hour)
	require.NoError(t, check.Round(t.Context()))
	require.Empty(t, conditions())
}
