package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/wallet"
	"gatewayd/watcher"
)

// linked is a chain of a kind that the program does not know: all that a new one needs is this and
// its config.Chain.
type linked struct{ *chaintest.Chain }

func (linked) Close()       {}
func (linked) Check() error { return nil }

func (l linked) Account(path string) (string, error) { return l.Address(path), nil }

// named are keys of which ledgers in memory want nothing but the name.
type named struct{ *wallet.Keys }

func (named) Sign(context.Context, string, []byte) (public, signature []byte, err error) {
	return nil, nil, nil
}

// PayoutCost is 300 of the coin's units, whose decimals are its config.Chain's.
func (linked) PayoutCost(context.Context, chain.Asset) (chain.Amount, error) {
	return chain.NewAmount(300), nil
}

func (l linked) Open(config.Accounts, logrus.FieldLogger) (config.Adapter, error) {
	return l, nil
}

// TestThirdAdapter runs a deposit and a withdrawal through the complete daemon and its HTTP API on
// chains of a kind that is only linked in: the daemon uses nothing of a source chain but its
// adapter.
func TestThirdAdapter(t *testing.T) {
	const token, coinType = "tti_5649544520544f4b454e6e40", 7
	source := chaintest.New(chaintest.Config{ID: "mem", Finality: 3, Now: time.Now})
	exchange := chaintest.New(chaintest.Config{ID: "far", Finality: 3, Linked: true, Now: time.Now})
	paths := wallet.SourcePaths(coinType)
	hot, gas, gateway := source.Address(paths.Hot(0)), source.Address(paths.Gas()), exchange.Address(wallet.GatewayPath(0))
	source.Own(hot, gas)
	exchange.Own(gateway)
	source.Endow(hot, chain.Native, chain.NewAmount(10_000_000_000))
	source.Endow(gas, chain.Native, chain.NewAmount(10_000_000_000))
	exchange.Endow(gateway, token, chain.NewAmount(1_000_000_000))

	depth := records.Depth{Count: 3}
	cfg := config.Config{
		Data: t.TempDir(), Watcher: watcher.Config{Poll: 20 * time.Millisecond},
		Linked: []config.Chain{
			{ID: "mem", Kind: "memory", Source: true, Decimals: 6, CoinType: coinType, Settings: linked{source}},
			{ID: "far", Kind: "memory", Settings: linked{exchange}},
		},
		Networks: []config.Network{{
			Name: "mem", Path: "/gateway/mem", Source: "mem", Exchange: "far",
			Tokens: []config.Token{{
				Token: token, Symbol: "MEM-000", Decimals: 6, Asset: chain.Native, AssetDecimals: 6,
				MinDeposit: chain.NewAmount(100), MinWithdraw: chain.NewAmount(100), Deposits: depth, Withdrawals: depth,
				Fee: records.Fee{Kind: "network"},
			}},
		}},
	}
	cfg.Gateway.Listen = "127.0.0.1:0"
	cfg.Fill()
	require.NoError(t, cfg.Check())
	keys, err := wallet.FromMnemonic("test test test test test test test test test test test junk")
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(t.Output())
	d, err := New(t.Context(), cfg, Dependencies{Keys: named{keys}, Log: log})
	require.NoError(t, err)
	defer d.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1) // the daemon's one answer
	go func() { ended <- d.Run(ctx) }()
	defer func() { stop(); require.NoError(t, <-ended) }()
	require.NoError(t, d.Gateway.Ready(t.Context()))

	user, payee := exchange.Address("user"), source.Address("payee")
	ask := func(what string, query url.Values, into any) {
		query.Set("tokenId", token)
		query.Set("walletAddress", user)
		response, err := http.Get(fmt.Sprintf("http://%s/gateway/mem/%s?%s", d.Gateway.Addr(), what, query.Encode()))
		require.NoError(t, err)
		defer response.Body.Close()
		answer := struct {
			Code int
			Msg  string
			Data any
		}{Data: into}
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		require.Zero(t, answer.Code, answer.Msg)
	}
	mineUntil := func(done func() bool) {
		require.Eventually(t, func() bool {
			source.Mine(1)
			exchange.Mine(1)
			return done()
		}, time.Minute, 30*time.Millisecond)
	}

	var deposit struct{ DepositAddress string }
	mineUntil(func() bool { return source.Calls(chaintest.CallBlock) > 3 && exchange.Calls(chaintest.CallBlock) > 3 }) // both are followed
	ask("deposit-info", url.Values{}, &deposit)
	require.Equal(t, source.Address(paths.Deposit(0)), deposit.DepositAddress)
	source.Own(deposit.DepositAddress)
	source.Deposit(source.Address("anyone"), deposit.DepositAddress, chain.Native, chain.NewAmount(5000), chain.Memo{Type: -1})
	mineUntil(func() bool { return exchange.Holding(user, token) == chain.NewAmount(5000) })

	var quoted struct{ Fee string }
	ask("withdraw-fee", url.Values{"walletAddress": {user}, "amount": {"1000"}}, &quoted)
	require.Equal(t, "300", quoted.Fee, "what a payout costs in the coin's own units")
	exchange.Deposit(user, gateway, token, chain.NewAmount(1300), chain.Memo{Raw: []byte{0x0b, 0xc3}, Address: payee})
	mineUntil(func() bool { return source.Holding(payee, chain.Native) == chain.NewAmount(1000) })
	var withdrawals struct{ WithdrawRecords []struct{ State string } }
	mineUntil(func() bool {
		ask("withdraw-records", url.Values{"pageNum": {"1"}, "pageSize": {"10"}}, &withdrawals)
		return len(withdrawals.WithdrawRecords) == 1 && withdrawals.WithdrawRecords[0].State == "OPPOSITE_CONFIRMED"
	})

	// A standby serves only what its leader watches.
	require.NoError(t, d.requireStored(t.Context(), d.Config))
	newer := d.Config
	newer.Networks = slices.Clone(newer.Networks)
	other := newer.Networks[0].Tokens[0]
	other.Token, other.Asset = "other", "other"
	newer.Networks[0].Tokens = append(slices.Clone(newer.Networks[0].Tokens), other)
	require.ErrorContains(t, d.requireStored(t.Context(), newer), "lacks a token of network mem")
	newer = d.Config
	newer.Linked = slices.Clone(newer.Linked)
	newer.Linked[0].Accounts = 2
	require.ErrorContains(t, d.requireStored(t.Context(), newer), "lacks account")
}
