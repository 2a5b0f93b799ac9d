package gateway

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

func fee(token, amount, contains string) string {
	params := []string{"tokenId", token, "walletAddress", alice, "amount", amount}
	if contains != "" {
		params = append(params, "containsFee", contains)
	}
	return at(eth, "/withdraw-fee", params...)
}

func TestWithdrawFee(t *testing.T) {
	r := setup(t)
	nines := strings.Repeat("9", 39)
	tests := []struct {
		name, url, want string // want is the fee, or the text of the refusal
		fault           fault
	}{
		{"flat", fee(token, "1000", "false"), "7", 0},
		{"absent means false", fee(token, "1000", ""), "7", 0},
		{"digit means false", fee(token, "1000", "0"), "7", 0},
		{"nothing", fee(token, "0", "false"), "7", 0},
		{"flat, contained", fee(token, "1000", "true"), "7", 0},
		{"digit means true", fee(token, "1000", "1"), "7", 0},
		{"capitals", fee(token, "1000", "True"), "7", 0},
		{"just the fee", fee(token, "7", "true"), "7", 0},
		{"less than the fee", fee(token, "6", "false"), "7", 0},
		{"less than the fee, contained", fee(token, "6", "true"), "6", 0},
		{"less than the fee, contained by digit", fee(token, "1", "1"), "1", 0},
		{"nothing, contained", fee(token, "0", "true"), "0", 0},
		{"percent, less than its minimum, contained", fee(labelled, "2", "true"), "2", 0},
		{"percent, rounded up", fee(labelled, "100001", "false"), "101", 0},
		{"percent, minimum", fee(labelled, "100", "false"), "3", 0},
		{"percent, contained", fee(labelled, "100100", "true"), "100", 0},
		{"percent, dust goes to the fee", fee(labelled, "100101", "true"), "101", 0},
		{"39 digits", fee(token, nines, "false"), "7", 0},
		{"39 digits, contained", fee(labelled, nines, "true"), "999000999000999000999000999000999001", 0},
		{"the greatest with room for the fee", fee(token, "115792089237316195423570985008687907853269984665640564039457584007913129639928", "false"), "7", 0},
		{"no room for the fee", fee(token, "115792089237316195423570985008687907853269984665640564039457584007913129639929", "false"), "amount: the number is too large.", amountTooLarge},
		{"2^256", fee(token, "115792089237316195423570985008687907853269984665640564039457584007913129639936", "false"), "amount: the number is too large.", amountTooLarge},
		{"79 digits", fee(token, strings.Repeat("1", 79), "false"), "amount: the number is too large.", amountTooLarge},
		{"empty field", fee(token, "", "false"), "The parameter amount is missing.", parameterMissing},
		{"decimals", fee(token, "12345678.9", "false"), "amount: must be an integer in the token's smallest unit.", amountFormat},
		{"negative", fee(token, "-100000000", "false"), "amount: must be an integer in the token's smallest unit.", amountFormat},
		{"exponent", fee(token, "1e18", "false"), "amount: must be an integer in the token's smallest unit.", amountFormat},
		{"other digits", fee(token, "١٢", "false"), "amount: must be an integer in the token's smallest unit.", amountFormat},
		{"empty flag", fee(token, "1000", "") + "&containsFee=", "containsFee: must be true or false.", flagFormat},
		{"no flag", fee(token, "1000", "yes"), "containsFee: must be true or false.", flagFormat},
		{"no wallet", at(eth, "/withdraw-fee", "tokenId", token, "amount", "1"), "The parameter walletAddress is missing.", parameterMissing},
		{"no cost known", fee(costly, "1000", "false"), "The network fee is unknown now. Please try again later.", feeUnknown},
	}
	for _, tt := range tests {
		got := r.get(tt.url)
		require.Equal(t, 200, got.status, tt.name)
		require.Equal(t, int(tt.fault), got.SubCode, tt.name)
		if tt.fault != 0 {
			require.Equal(t, tt.want, *got.Msg, tt.name)
			continue
		}
		require.Equal(t, map[string]any{"fee": tt.want}, got.data(t), tt.name)
	}
}

// The "All" button: the full balance is quoted with containsFee, then what is left is quoted
// without (docs/gateway-clients.md 5).
func TestAllButton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := records.Fee{
			Kind: rapid.SampledFrom([]string{"flat", "percent", "network"}).Draw(t, "kind"), PPM: rapid.Uint64Range(0, 1_000_000).Draw(t, "ppm"),
			Amount: amount(rapid.Uint64().Draw(t, "amount")), Min: amount(rapid.Uint64Range(0, 1000).Draw(t, "min")),
		}
		cost, gross := amount(rapid.Uint64().Draw(t, "cost")), amount(rapid.Uint64().Draw(t, "gross"))
		all, err := quote(f, gross, cost, true)
		require.NoError(t, err)
		net, err := gross.Sub(all)
		require.NoError(t, err)
		again, err := quote(f, net, cost, false)
		require.NoError(t, err)
		sent, err := net.Add(again)
		require.NoError(t, err)
		if gross.Less(sent) {
			require.True(t, net.IsZero(), "only a balance below the fee does not cover it")
			require.True(t, gross.Less(again))
		}
	})
}

// allButton does what a wallet's button "All" does: it quotes the balance with the fee contained,
// shows the rest, quotes that, and compares it with the minimum and the balance. It returns the
// amount shown, the fee shown and the wallet's reason for not sending.
func (r *rig) allButton(t *testing.T, token, flag, balance, minimum string) (net, fee, reason string) {
	quoted := func(amount, contains string) chain.Amount {
		got := r.get(at(eth, "/withdraw-fee", "tokenId", token, "walletAddress", alice, "amount", amount, "containsFee", contains))
		require.Zero(t, got.Code, "the web wallet does not handle an error here")
		fee, err := chain.ParseAmount(got.data(t)["fee"].(string))
		require.NoError(t, err)
		return fee
	}
	parse := func(text string) chain.Amount {
		n, err := chain.ParseAmount(text)
		require.NoError(t, err)
		return n
	}
	rest, err := parse(balance).Sub(quoted(balance, flag))
	require.NoError(t, err, "the amount shown is not negative")
	final := quoted(rest.String(), map[string]string{"true": "false", "1": "0"}[flag])
	sum, err := rest.Add(final)
	require.NoError(t, err)
	switch {
	case rest.Less(parse(minimum)):
		reason = "below the minimum"
	case parse(balance).Less(sum):
		reason = "above the balance"
	}
	return rest.String(), final.String(), reason
}

// TestAllButtonBelowTheFee: a user with less than the fee sees the fee and a reason, in each
// wallet.
func TestAllButtonBelowTheFee(t *testing.T) {
	r := setup(t)
	for _, tt := range []struct{ token, balance, minimum, net, fee, reason string }{
		{token, "0", "10", "0", "7", "below the minimum"},
		{token, "1", "10", "0", "7", "below the minimum"},
		{token, "6", "10", "0", "7", "below the minimum"},
		{token, "6", "0", "0", "7", "above the balance"},
		{token, "7", "10", "0", "7", "below the minimum"},
		{token, "8", "10", "1", "7", "below the minimum"},
		{token, "17", "10", "10", "7", ""},
		{labelled, "2", "10", "0", "3", "below the minimum"},
		{labelled, "2", "0", "0", "3", "above the balance"},
		{labelled, "100100", "10", "100000", "100", ""},
	} {
		for _, flag := range []string{"true", "1"} {
			net, fee, reason := r.allButton(t, tt.token, flag, tt.balance, tt.minimum)
			require.Equal(t, []string{tt.net, tt.fee, tt.reason}, []string{net, fee, reason}, "balance %s, minimum %s", tt.balance, tt.minimum)
		}
	}
}

func TestNetworkFeeHolds(t *testing.T) {
	r := setup(t)
	cost := func(n uint64) {
		r.Do(func(tx *records.Tx) error { return records.AddQuote(tx, recordstest.Network, costly, amount(n)) })
	}
	quoted := func(wallet string) string {
		got := r.get(at(eth, "/withdraw-fee", "tokenId", costly, "walletAddress", wallet, "amount", "1000"))
		return got.data(t)["fee"].(string)
	}
	cost(100)
	require.Equal(t, "100", quoted(alice))
	r.Pass(30 * time.Second)
	cost(300)
	require.Equal(t, []string{"100", "100"}, []string{quoted(alice), quoted(bob)}, "nothing rises within a minute")
	r.Pass(31 * time.Second)
	require.Equal(t, "300", quoted("vite_carol"), "the next minute has the next cost")
	require.Equal(t, "100", quoted(alice), "who asked a moment ago keeps the quote")
	cost(50)
	require.Equal(t, []string{"50", "50"}, []string{quoted(alice), quoted(bob)}, "a lower cost is told at once")
	r.Pass(2 * time.Minute)
	cost(400)
	r.Pass(time.Minute)
	require.Equal(t, []string{"400", "400"}, []string{quoted(alice), quoted(bob)})
}

func TestHoldsEnd(t *testing.T) {
	h, start := newHolds(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, amount(5), h.keep("a", amount(5), start))
	for at := 30 * time.Second; at < maxHoldTime; at += 30 * time.Second {
		require.Equal(t, amount(5), h.keep("a", amount(9), start.Add(at)), "asked again after %s", at)
	}
	require.Equal(t, amount(9), h.keep("a", amount(9), start.Add(maxHoldTime)), "no quote outlives what the watcher charges")
	require.Equal(t, amount(11), h.keep("a", amount(11), start.Add(maxHoldTime+holdTime)))
	require.Equal(t, amount(7), h.keep("b", amount(7), start), "holds are each wallet's own")
}

// Every quote was a cost in force within the ten minutes of the watcher's window, so no user is
// charged more.
func TestQuotesAreNeverBelowTheCharge(t *testing.T) {
	const charged = 10 * time.Minute
	rapid.Check(t, func(t *rapid.T) {
		type point struct {
			at   time.Time
			cost chain.Amount
		}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var costs []point
		lowest := func(since time.Time) (low chain.Amount) {
			for i, p := range costs {
				inForce := !p.at.Before(since) || i+1 == len(costs) || costs[i+1].at.After(since)
				if inForce && (low.IsZero() || p.cost.Less(low)) {
					low = p.cost
				}
			}
			return low
		}
		h := newHolds()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 90_000).Draw(t, "ms")) * time.Millisecond)
			if len(costs) == 0 || rapid.Bool().Draw(t, "newCost") {
				costs = append(costs, point{now, amount(rapid.Uint64Range(1, 1000).Draw(t, "cost"))})
				continue
			}
			got := h.keep("w", lowest(now.Truncate(quoteStep)), now)
			require.False(t, got.Less(lowest(now.Add(time.Minute-charged))), "sent within a minute, it is charged no more than quoted")
		}
	})
}
