package watcher

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/chaintest"
	"gatewayd/records"
)

// counted is a ledger that tells what accounts hold. Of lost, it tells less than there is: the token has taken it.
type counted struct {
	*chaintest.Chain
	lost map[string]chain.Amount
}

func (c counted) HoldingsAt(_ context.Context, _ uint64, asset chain.Asset, accounts []string) ([]chain.Amount, error) {
	out := make([]chain.Amount, len(accounts))
	for i, a := range accounts {
		out[i] = less(c.Holding(a, asset), c.lost[a])
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

// What is missing is what the books say and the chain does not show; what is not covered is what is owed and not held.
func TestBalanceSheetCompares(t *testing.T) {
	token := records.Token{Asset: usdEth, Decimals: 2, AssetDecimals: 4}
	coins := records.Token{Asset: chain.Native, Decimals: 2, AssetDecimals: 4}
	books := records.Sheet{Opened: true, Opening: units(1000), Came: units(500), Paid: units(300), Lost: units(100), Deposited: units(9), Withdrawn: units(2), Unpaid: units(50)}
	with := func(change func(*records.Sheet)) records.Sheet {
		s := books
		change(&s)
		return s
	}
	for _, c := range []struct {
		name               string
		token              records.Token
		held               uint64
		books              records.Sheet
		missing, uncovered uint64
	}{
		{"to the unit", token, 1100, books, 0, 0},
		{"one less", token, 1099, books, 1, 0},
		{"a gift", token, 1200, books, 0, 0},
		{"less than is owed", token, 700, books, 400, 50},
		{"covered to the unit", coins, 750, books, 0, 0},
		{"one not covered", coins, 749, books, 0, 1},
		{"what is credited above the final block is held", coins, 700, with(func(s *records.Sheet) { s.Above = units(50) }), 0, 0},
		{"and not missing at it", token, 1100, with(func(s *records.Sheet) { s.Above = units(50) }), 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := BalanceSheet{Token: c.token, Held: units(c.held), Unpaid: c.books.Unpaid}
			require.NoError(t, b.compare(c.books))
			require.Equal(t, []chain.Amount{units(c.missing), units(c.uncovered)}, []chain.Amount{b.Missing, b.Uncovered()})
			require.Equal(t, c.missing+c.uncovered > 0, b.fault() != "")
		})
	}
	b := BalanceSheet{Token: token, Held: units(1100)}
	require.NoError(t, b.compare(with(func(s *records.Sheet) { s.Opened = false })))
	require.Equal(t, units(1000), b.Opening, "what was there before the books")
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
	b, ok, err := Sheet(t.Context(), r.store, c, r.vite, r.net, r.net.Tokens[0])
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, []chain.Amount{units(stock*100 - 30_000), units(0), units(70), units(50_000)}, []chain.Amount{b.Hot, b.Gas, b.Shared, b.Deposits})
	require.Equal(t, units(stock*100+20_070), b.Held)
	require.Equal(t, units(stock*100), b.Opening)
	require.Equal(t, units(17_000), b.Owed)
}

// A token that leaves our accounts without a transaction of ours closes its channels at the second final block that shows it, and opens them when
// it is back. The stops of others stay.
func TestMissingTokensCloseTheirChannels(t *testing.T) {
	r := setup(t)
	c := r.countHoldings()
	_, address := r.user()
	r.deposit(address, 50_000)
	r.rest()
	check := r.w.solvency()
	round := func(blocks int) {
		r.run(blocks)
		require.NoError(t, check.round(t.Context()))
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
	require.Contains(t, r.channel(records.Withdrawal).Why, "hold 0.0001 USD less than the books say")

	delete(c.lost, address)
	round(1)
	requireChannels(records.ChannelOpen)

	c.lost[address] = units(1)
	r.now = r.now.Add(25 * time.Hour)
	round(0)
	round(1)
	requireChannels(records.ChannelMaintain)
	const others = "a decided transfer left the chain: 1"
	r.update(func(tx *records.Tx) error { return tx.StopChannel("main", usd, records.Deposit, others) })
	delete(c.lost, address)
	r.now = r.now.Add(25 * time.Hour)
	round(1)
	require.Equal(t, records.ChannelOpen, r.channel(records.Withdrawal).Automatic)
	require.Equal(t, records.ChannelMaintain, r.channel(records.Deposit).Automatic, "what is mended is not the incident")
	require.Equal(t, others, r.channel(records.Deposit).Why)
}
