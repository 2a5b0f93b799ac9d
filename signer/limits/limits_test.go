package limits_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/signer/limits"
)

var begin = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// env is a gateway of one token with 6 decimals, which has 8 on the source chain, and a clock.
type env struct {
	*limits.Limits
	t   *testing.T
	now time.Time
	cfg limits.Config
}

var usdt = []policy.Asset{
	{Network: "eth", Token: "tti_1", Symbol: "USDT", Chain: "eth", Asset: "0xusdt", Decimals: 8, TokenDecimals: 6},
	{Network: "eth", Token: "tti_1", Symbol: "USDT", Chain: "vite", Asset: "tti_1", Decimals: 6, TokenDecimals: 6},
}

func units(n uint64) chain.Amount { return chain.NewAmount(n * 1_000_000) }

func setup(t *testing.T, cfg limits.Config) *env {
	t.Helper()
	require.NoError(t, cfg.Check())
	w := &env{t: t, now: begin, cfg: cfg}
	w.start()
	return w
}

func (w *env) start(past ...limits.Use) {
	var err error
	w.Limits, err = limits.New(w.cfg, usdt, func() time.Time { return w.now })
	require.NoError(w.t, err)
	w.Load(past)
}

// payout is so many whole tokens on the source chain.
func payout(user string, whole uint64) limits.Use {
	return limits.Use{Chain: "eth", Asset: "0xusdt", Users: []string{user}, Amount: chain.NewAmount(whole * 100_000_000)}
}

// pays counts what passes, and answers why the others are held.
func (w *env) pays(uses ...limits.Use) (held []string) {
	for i, why := range w.Check(uses) {
		if why == "" {
			w.Count(uses[i : i+1])
		} else {
			held = append(held, why)
		}
	}
	return held
}

func token(change func(*limits.Token)) limits.Config {
	t := limits.Token{Network: "eth", Token: "tti_1"}
	change(&t)
	return limits.Config{Tokens: []limits.Token{t}}
}

func TestTransfersAreLimited(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerTransfer = units(100) }))
	require.Empty(t, w.pays(payout("a", 100), payout("a", 100)))
	require.Equal(t, []string{"the limit of a transfer is 100 USDT: 101 USDT are over it"}, w.pays(payout("a", 101)))
	require.Equal(t, []string{"the limit of a transfer is 100 USDT: 101 USDT are over it"},
		w.pays(limits.Use{Chain: "vite", Asset: "tti_1", Users: []string{"vite_a"}, Amount: units(101)}), "each chain has its own units")
	require.Empty(t, w.pays(limits.Use{Chain: "vite", Asset: "tti_2", Users: []string{"vite_a"}, Amount: units(101)}), "a token without limits")
}

// TestWindowsRoll: an hour ends an hour after each payment, to the minute, never before.
func TestWindowsRoll(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerHour, t.PerDay = units(100), units(150) }))
	require.Empty(t, w.pays(payout("a", 60)))
	w.now = begin.Add(30 * time.Minute)
	require.Empty(t, w.pays(payout("b", 40)))
	require.Equal(t, []string{"the limit of an hour is 100 USDT, of which 100 USDT are used: 60 USDT more pass from 2026-11-23 13:01 UTC on"}, w.pays(payout("c", 60)))
	require.Equal(t, []string{"the limit of an hour is 100 USDT, of which 100 USDT are used: 61 USDT more pass from 2026-11-23 13:31 UTC on"}, w.pays(payout("c", 61)))
	w.now = begin.Add(time.Hour)
	require.Len(t, w.pays(payout("c", 1)), 1, "the minute of the first payment is not over")
	w.now = begin.Add(61 * time.Minute)
	require.Empty(t, w.pays(payout("c", 50)))
	require.Equal(t, []string{"the limit of a day is 150 USDT, of which 150 USDT are used: 1 USDT more pass from 2026-11-24 12:01 UTC on"}, w.pays(payout("c", 1)))
	w.now = begin.Add(24*time.Hour + time.Minute)
	require.Empty(t, w.pays(payout("c", 60)))
	require.Equal(t, []string{"the limit of an hour is 100 USDT, of which 60 USDT are used: 101 USDT more never pass it"}, w.pays(payout("c", 101)))
}

// TestUsersAreLimited: each has a limit of his own.
func TestUsersAreLimited(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerUserDay = units(100) }))
	require.Empty(t, w.pays(payout("a", 60), payout("b", 60)))
	require.Len(t, w.pays(payout("a", 41), payout("b", 40), payout("b", 1)), 2)
	require.Empty(t, w.pays(payout("a", 40)))
	require.Len(t, w.pays(limits.Use{Chain: "eth", Asset: "0xusdt", Users: []string{"new", "b"}, Amount: chain.NewAmount(1)}), 1, "a user under a new address")
	w.now = begin.Add(25 * time.Hour)
	require.Empty(t, w.pays(payout("a", 100)))
	report := w.Report()
	require.Len(t, report.Lines, 2, "one for each chain")
	require.Equal(t, "a", report.Lines[0].User)
	require.InDelta(t, 1, report.Lines[0].Ratio, 1e-9)
	require.Equal(t, report.Lines[:1], report.Near())
	require.Equal(t, "100 USDT of the limit of a user and day on eth, 100 USDT, are used", report.Lines[0].String())
}

// TestGroupsCountThemselves: what passes first counts for what comes after it, and what is held for
// nothing. What is not authorized then is not counted.
func TestGroupsCountThemselves(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerDay = units(100) }))
	for range 3 {
		why := w.Check([]limits.Use{payout("a", 60), payout("b", 60), payout("c", 40)})
		require.Empty(t, why[0])
		require.NotEmpty(t, why[1])
		require.Empty(t, why[2])
	}
	require.Equal(t, "0 USDT", w.Report().Lines[0].Used)
}

// TestTheClockFreesNothing: a clock that is set back, before or after a restart, leaves every
// window as it is.
func TestTheClockFreesNothing(t *testing.T) {
	w := setup(t, token(func(t *limits.Token) { t.PerDay = units(100) }))
	require.Empty(t, w.pays(payout("a", 100)))
	used := payout("a", 100)
	used.At = w.Now()
	for _, back := range []time.Duration{-time.Minute, -48 * time.Hour, -365 * 24 * time.Hour} {
		w.now = begin.Add(back)
		require.Len(t, w.pays(payout("a", 1)), 1)
		require.Equal(t, begin, w.Now())
		w.start(used)
		require.Equal(t, begin, w.Now(), "the time of the last authorization is kept")
		require.Len(t, w.pays(payout("a", 1)), 1)
	}
	w.now = begin.Add(25 * time.Hour)
	require.Empty(t, w.pays(payout("a", 1)))
}

// TestTheWholeGatewayIsLimited: at prices that are fresh. A token without any is told of.
func TestTheWholeGatewayIsLimited(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices")
	priced := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	priced("# token price time\ntti_1 2.50 2026-11-23T11:00:00Z # of an exchange\n")
	w := setup(t, limits.Config{GatewayDay: "1000", Prices: path, PriceAge: 12 * time.Hour})
	require.Empty(t, w.pays(payout("a", 300), limits.Use{Chain: "vite", Asset: "tti_1", Users: []string{"v"}, Amount: units(80)}))
	require.Equal(t, []string{"the daily limit of the gateway is 1000.00 USD, of which 950.00 are used: 21 USDT more exceed it"}, w.pays(payout("b", 21)))
	require.Empty(t, w.Report().Unpriced)
	require.Equal(t, []limits.Price{{Token: "tti_1", Worth: "2.5 USD", At: time.Date(2026, 11, 23, 11, 0, 0, 0, time.UTC), Fresh: true}}, w.Report().Prices)
	w.now = begin.Add(12 * time.Hour)
	require.Empty(t, w.pays(payout("b", 21)), "no fresh price")
	require.Equal(t, []string{"USDT"}, w.Report().Unpriced)
	require.False(t, w.Report().Prices[0].Fresh)

	priced("tti_1 2.40 2026-11-23T23:59:00Z\n")
	require.Empty(t, w.Report().Unpriced)
	require.Len(t, w.pays(payout("b", 21)), 1)
	priced("tti_1 two 2026-11-23T23:59:00Z and more\n")
	require.Contains(t, w.Report().Fault, "line 1: token id, price and time are required")
	require.Len(t, w.pays(payout("b", 21)), 1, "the prices before stay")
	require.NoError(t, os.Remove(path))
	require.Contains(t, w.Report().Fault, "reading the prices")
	require.Len(t, w.pays(payout("b", 21)), 1)
}

// TestFeesAreLimited: as far as the budget reaches. What was not signed is given back.
func TestFeesAreLimited(t *testing.T) {
	now := begin
	f := limits.NewFees([]limits.FeeBudget{{Chain: "eth", PerDay: chain.NewAmount(100)}}, func() time.Time { return now })
	take := func(id chain.ID, fees ...uint64) (int, string) {
		list := make([]chain.Amount, len(fees))
		for i, n := range fees {
			list[i] = chain.NewAmount(n)
		}
		passed, _, why := f.Take(id, list)
		return passed, why
	}
	n, why := take("eth", 40, 0, 60, 1)
	require.Equal(t, 3, n)
	require.Equal(t, "the daily limit of fees on eth is 100 units of its coin, of which 100 are used: 1 more pass from 2026-11-24 12:01 UTC on", why)
	n, why = take("vite", 1_000)
	require.Equal(t, 1, n)
	require.Empty(t, why, "no budget")
	f.GiveBack("eth", []chain.Amount{chain.NewAmount(60)})
	n, _ = take("eth", 60)
	require.Equal(t, 1, n)
	now = begin.Add(-time.Hour)
	n, _ = take("eth", 1)
	require.Zero(t, n, "a clock set back")
	now = begin.Add(24*time.Hour + time.Minute)
	n, _ = take("eth", 100)
	require.Equal(t, 1, n)

	f = limits.NewFees([]limits.FeeBudget{{Chain: "eth", PerDay: chain.NewAmount(100)}}, func() time.Time { return begin.Add(-time.Hour) })
	f.Load("eth", begin, chain.NewAmount(90))
	n, _ = take("eth", 11)
	require.Zero(t, n, "a start counts what was signed before")
}

func TestConfigurationsOfLimits(t *testing.T) {
	one := limits.Token{Network: "eth", Token: "tti_1", PerDay: units(10)}
	with := func(change func(*limits.Token)) limits.Config {
		return token(func(t *limits.Token) { *t = one; change(t) })
	}
	for want, c := range map[string]limits.Config{
		"is listed twice":                    {Tokens: []limits.Token{one, one}},
		"network and token are required":     with(func(t *limits.Token) { t.Network = "" }),
		"one of per_transfer":                with(func(t *limits.Token) { t.PerDay = chain.Amount{} }),
		"per_transfer is above":              with(func(t *limits.Token) { t.PerTransfer = units(11) }),
		"per_hour is above":                  with(func(t *limits.Token) { t.PerHour = units(11) }),
		"gateway_day requires prices":        {GatewayDay: "5"},
		"gateway_day: \"1e3\" is no":         {GatewayDay: "1e3", Prices: "p"},
		"price_age":                          {PriceAge: -1},
		"fees: \"eth\": must be listed once": {Fees: []limits.FeeBudget{{Chain: "eth"}}},
		"gateway_day: \"1.2.3\" is not an":   {GatewayDay: "1.2.3", Prices: "p"},
	} {
		require.ErrorContains(t, c.Check(), want)
	}
	require.NoError(t, limits.Config{Tokens: []limits.Token{one}, GatewayDay: "1.5", Prices: "p"}.Check())
	_, err := limits.New(with(func(t *limits.Token) { t.PerDay = chain.NewAmount(1) }), []policy.Asset{{Network: "eth", Token: "tti_1", Decimals: 2, TokenDecimals: 6}}, time.Now)
	require.ErrorContains(t, err, "less than the smallest unit")
}

// BenchmarkCheck is what a group costs with ten thousand payees of the day.
func BenchmarkCheck(b *testing.B) {
	l, err := limits.New(limits.Config{Tokens: []limits.Token{{Network: "eth", Token: "tti_1", PerUserDay: units(1e6), PerHour: units(1e9), PerDay: units(1e9)}}}, usdt, time.Now)
	require.NoError(b, err)
	group := make([]limits.Use, 256)
	for i := range 40 {
		for j := range group {
			group[j] = payout(fmt.Sprint("user", i*256+j), 1)
		}
		l.Count(group)
	}
	for b.Loop() {
		l.Check(group)
	}
}
