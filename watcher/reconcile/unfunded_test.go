package reconcile

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

// payoutFee is what a payout costs at most.
const payoutFee = 220

var errSilentNode = errors.New("no node answers")

// lean is a ledger whose accounts hold what the test says, with the fees of the source chain and
// the quota of the exchange chain.
type lean struct {
	*chaintest.Chain
	coin, token uint64            // of each account
	cost        uint64            // of a payout
	stakes      map[string]uint64 // account -> quota
	takes       uint64            // of a credit
	silent      bool
}

func (l *lean) Balance(_ context.Context, _ string, asset chain.Asset) (chain.Amount, error) {
	switch {
	case l.silent:
		return chain.Amount{}, errSilentNode
	case asset == chain.Native:
		return units(l.coin), nil
	}
	return units(l.token), nil
}

func (l *lean) PayoutCost(context.Context, chain.Asset) (chain.Amount, error) {
	return units(l.cost), nil
}

func (l *lean) CreditQuota(_ context.Context, account string) (has, takes uint64, err error) {
	return l.stakes[account], l.takes, nil
}

// leanRig is a gateway of one token whose accounts hold just what the smallest payments take.
func leanRig(t *testing.T) (*rig, *lean, *lean) {
	t.Helper()
	r := setup(t)
	eth := &lean{Chain: r.eth, coin: payoutFee, token: minimum * 100, cost: payoutFee}
	vite := &lean{Chain: r.vite, token: minimum, stakes: map[string]uint64{r.net.Gateway: 21448}, takes: 21448}
	r.parts.Chains = map[chain.ID]chain.Chain{"eth": eth, "vite": vite}
	return r, eth, vite
}

// lacking returns which directions lack what.
func (r *rig) lacking() (list []string) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		all, err := records.Conditions(tx)
		for _, c := range all {
			require.True(r.t, c.Stops)
			require.Equal(r.t, r.net.Name, c.Network)
			list = append(list, c.Kind+" "+string(c.Direction)+" "+c.Token)
		}
		return err
	})
	return list
}

// TestUnfunded: a side that never had what one smallest payment takes is told of at once, and no
// more once it has it, to the unit.
func TestUnfunded(t *testing.T) {
	for name, c := range map[string]struct {
		poor func(eth, vite *lean, gateway string)
		want []string
	}{
		"just enough":        {func(*lean, *lean, string) {}, nil},
		"a unit too little":  {func(eth, _ *lean, _ string) { eth.token-- }, []string{"no_funds withdrawal " + usd}},
		"no token to give":   {func(_, vite *lean, _ string) { vite.token-- }, []string{"no_funds deposit " + usd}},
		"coin":               {func(eth, _ *lean, _ string) { eth.coin-- }, []string{"no_coin withdrawal "}},
		"stake":              {func(_, vite *lean, gateway string) { vite.stakes[gateway]-- }, []string{"no_quota deposit "}},
		"no stake, but work": {func(_, vite *lean, _ string) { vite.stakes, vite.takes = nil, 0 }, nil},
		"nothing at all": {func(eth, vite *lean, _ string) { eth.coin, eth.token, vite.token, vite.stakes = 0, 0, 0, nil }, []string{
			"no_coin withdrawal ", "no_funds withdrawal " + usd, "no_quota deposit ", "no_funds deposit " + usd,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, eth, vite := leanRig(t)
			enough := [2]lean{*eth, *vite}
			enough[1].stakes = map[string]uint64{r.net.Gateway: 21448}
			c.poor(eth, vite, r.net.Gateway)
			books := r.books()
			for range patience + 1 {
				require.NoError(t, books.Round(t.Context()))
				require.ElementsMatch(t, c.want, r.lacking())
			}
			*eth, *vite = enough[0], enough[1]
			require.NoError(t, books.Round(t.Context()))
			require.Empty(t, r.lacking())
		})
	}
}

// TestUnfundedWithoutMinimum: where any amount is paid, one unit is enough.
func TestUnfundedWithoutMinimum(t *testing.T) {
	r, eth, vite := leanRig(t)
	r.net.Tokens[0].Policy.MinDeposit, r.net.Tokens[0].Policy.MinWithdraw = chain.Amount{}, chain.Amount{}
	eth.token, vite.token = 0, 0
	books := r.books()
	require.NoError(t, books.Round(t.Context()))
	require.Len(t, r.lacking(), 2)
	eth.token, vite.token = 1, 1
	require.NoError(t, books.Round(t.Context()))
	require.Empty(t, r.lacking())
}

// TestFundedLooksEmptyForAMoment: who had enough is told of only after patience rounds in a row.
func TestFundedLooksEmptyForAMoment(t *testing.T) {
	r, eth, vite := leanRig(t)
	books := r.books()
	round := func(tokens, cost, quota uint64, want int) {
		t.Helper()
		eth.token, eth.cost, vite.stakes[r.net.Gateway] = tokens, cost, quota
		require.NoError(t, books.Round(t.Context()))
		require.Len(t, r.lacking(), want)
	}
	const enough, quota = minimum * 100, 21448
	for range 3 {
		round(enough, payoutFee, quota, 0)
		for range patience - 1 {
			round(0, payoutFee+1, quota-1, 0)
		}
	}
	round(0, payoutFee+1, quota-1, 3)
	round(0, payoutFee+1, quota-1, 3)
	round(enough, payoutFee, quota-1, 1)
	round(enough, payoutFee, quota, 0)
}

// TestUnreadableFiguresChangeNothing: while a node does not answer, what was told stays and nothing
// new is told; the other side goes on.
func TestUnreadableFiguresChangeNothing(t *testing.T) {
	r, eth, vite := leanRig(t)
	books := r.books()
	eth.silent = true
	require.ErrorIs(t, books.Round(t.Context()), errSilentNode)
	require.Empty(t, r.lacking())
	eth.silent, eth.token = false, 0
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, []string{"no_funds withdrawal " + usd}, r.lacking())

	eth.silent, eth.token, vite.stakes = true, minimum*100, map[string]uint64{}
	for range patience {
		require.ErrorIs(t, books.Round(t.Context()), errSilentNode)
	}
	require.ElementsMatch(t, []string{"no_funds withdrawal " + usd, "no_quota deposit "}, r.lacking())
	eth.silent = false
	require.NoError(t, books.Round(t.Context()))
	require.Equal(t, []string{"no_quota deposit "}, r.lacking())
}

// TestUnfundedIsForgottenByTheNextProcess: what a process told before it died is gone after the
// first round of the next one, if it is no more so.
func TestUnfundedIsForgottenByTheNextProcess(t *testing.T) {
	r, eth, _ := leanRig(t)
	eth.token = 0
	require.NoError(t, r.books().Round(t.Context()))
	require.Len(t, r.lacking(), 1)
	eth.token = minimum * 100
	looked := 0
	next := NewBooks(r.parts, func() { looked++ })
	require.Zero(t, looked)
	require.NoError(t, next.Round(t.Context()))
	require.Equal(t, 1, looked)
	require.Empty(t, r.lacking())
}

// TestPoolIsFundedTogether: accounts share tokens and coin, so their sum counts; one account with
// quota is enough for the pool to pay.
func TestPoolIsFundedTogether(t *testing.T) {
	r, eth, vite := leanRig(t)
	r.second()
	eth.token, eth.coin, vite.token = minimum*100/2, payoutFee/2, minimum/2
	vite.stakes = map[string]uint64{r.net.Gateways[1]: 21448}
	books := r.books()
	require.NoError(t, books.Round(t.Context()))
	require.Empty(t, r.lacking())
	eth.token, eth.coin, vite.token = eth.token-1, eth.coin-1, vite.token-1
	for range patience {
		require.NoError(t, books.Round(t.Context()))
	}
	require.ElementsMatch(t, []string{"no_funds withdrawal " + usd, "no_coin withdrawal ", "no_funds deposit " + usd}, r.lacking())
}
