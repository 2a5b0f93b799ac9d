package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/wallet"
)

// exchange is an exchange chain in memory.
type exchange struct{ *chaintest.Chain }

func (exchange) Close()                                {}
func (exchange) Check() error                          { return nil }
func (e exchange) Account(path string) (string, error) { return e.Address(path), nil }
func (e exchange) Open(config.Accounts, logrus.FieldLogger) (config.Adapter, error) {
	return e, nil
}

const (
	coinToken     = "tti_5649544520544f4b454e6e40"
	ourMnemonic   = "test test test test test test test test test test test junk"
	minerMnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
)

// coinGateway is a gateway of Litecoin with a node of its own.
func coinGateway(t *testing.T) (cfg config.Config, node *bitcoinnode.Node, far *chaintest.Chain) {
	t.Helper()
	starting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	node, err := bitcoinnode.Start(starting, bitcoinnode.Config{Kind: bitcoinnode.Litecoind})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close()) })
	far = chaintest.New(chaintest.Config{ID: "far", Finality: 3, Linked: true, Now: time.Now})
	far.Own(far.Address(wallet.GatewayPath(0)))
	far.Endow(far.Address(wallet.GatewayPath(0)), coinToken, chain.NewAmount(1_000_000_000))
	cfg = config.Config{
		Data:    t.TempDir(),
		Bitcoin: []bitcoin.Config{{ID: "ltc", Network: bitcoinnode.LitecoinNetwork, Nodes: []string{node.URL()}, OnDemand: true, Confirmations: 2}},
		Linked:  []config.Chain{{ID: "far", Kind: "memory", Settings: exchange{far}}},
		Networks: []config.Network{{
			Name: "ltc", Path: "/gateway/ltc", Source: "ltc", Exchange: "far",
			Tokens: []config.Token{{
				Token: coinToken, Symbol: "LTC-000", Decimals: 8, Asset: chain.Native, AssetDecimals: 8,
				MinDeposit: chain.NewAmount(40_000), MinWithdraw: chain.NewAmount(40_000),
				Deposits: records.Depth{Count: 6}, Withdrawals: records.Depth{Count: 3}, Fee: records.Fee{Kind: "network"},
			}},
		}},
	}
	cfg.Gateway.Listen, cfg.Watcher.Poll = "127.0.0.1:0", 20*time.Millisecond
	cfg.Fill()
	require.NoError(t, cfg.Check())
	_, err = node.Mine(10, addressAt(t, cfg, minerMnemonic, "m/84'/1'/0'/0/0"))
	require.NoError(t, err)
	return cfg, node, far
}

// TestCoinGateway: a daemon serves a ledger of coins as it does others. Users get addresses of the
// gateway's account, and doctor and commands without keys know the chain and its pool.
func TestCoinGateway(t *testing.T) {
	t.Parallel()
	cfg, _, far := coinGateway(t)
	before := findings(Run(t.Context(), cfg, func(string) string { return "" }, nil))
	require.True(t, before["chain ltc node 1 (HOST) network"].OK, before)

	keys, err := wallet.FromMnemonic(ourMnemonic)
	require.NoError(t, err)
	log := logrus.New()
	log.SetOutput(t.Output())
	d, err := daemon.New(t.Context(), cfg, daemon.Dependencies{Keys: keys, Log: log})
	require.NoError(t, err)
	defer d.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1) // the daemon's one answer
	go func() { ended <- d.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
		d.Close()
		cfg.Bitcoin[0].Addresses = "p2tr"
		_, err = daemon.New(t.Context(), cfg, daemon.Dependencies{Keys: keys, Log: log})
		require.ErrorContains(t, err, "network and addresses must not change: the coins in the records belong to the account of m/84'/1'/0'/1/0")
	}()
	require.NoError(t, d.Gateway.Ready(t.Context()))

	user := far.Address("user")
	ask := func(what string, into any) {
		response, err := http.Get(fmt.Sprintf("http://%s/gateway/ltc/%s?tokenId=%s&walletAddress=%s", d.Gateway.Addr(), what, coinToken, user))
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
	require.Eventually(t, func() bool { far.Mine(1); return far.Calls(chaintest.CallBlock) > 3 }, time.Minute, 30*time.Millisecond)
	var deposit struct {
		DepositAddress, MinimumDepositAmount string
		ConfirmationCount                    int
		LabelName                            *string
	}
	ask("deposit-info", &deposit)
	require.Equal(t, addressAt(t, cfg, ourMnemonic, "m/84'/1'/0'/0/0"), deposit.DepositAddress)
	require.Equal(t, "40000", deposit.MinimumDepositAmount)
	require.Equal(t, 6, deposit.ConfirmationCount)
	require.Nil(t, deposit.LabelName)
	meta := struct{ Type int }{-1}
	ask("meta-info", &meta)
	require.Zero(t, meta.Type)

	pool := addressAt(t, cfg, ourMnemonic, "m/84'/1'/0'/1/0")
	networks := d.Networks
	require.Equal(t, []string{pool}, networks[0].Hots)
	require.Empty(t, networks[0].Gas, "nothing is swept")
	require.EqualValues(t, 8, networks[0].CoinDecimals)

	session := &operator.Session{Config: cfg, Store: d.Store}
	open, err := session.Opener(t.Context())
	require.NoError(t, err)
	known, _ := cfg.Chain("ltc")
	adapter, err := open(known)
	require.NoError(t, err)
	adapter.Close()
	balances, err := operator.Balances(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, []string{"hot " + pool + " native"}, sourceBalances(balances))

	found := findings(Run(t.Context(), cfg, func(string) string { return "" }, nil))
	for what, want := range map[string]string{
		"chain ltc node 1 (HOST) network":          "litecoin-regtest, block 10, /LitecoinCore:",
		"chain ltc node 1 (HOST) synchronisation":  "false",
		"chain ltc node 1 (HOST) old blocks":       "keeps all blocks",
		"chain ltc fees":                           " LTC for a payout now",
		"network ltc token LTC-000 equal decimals": "8 and 8",
	} {
		require.True(t, found[what].OK, "%s: %v", what, found)
		require.Contains(t, found[what].Found, want, what)
	}
	require.True(t, found["chain ltc node 1 (HOST) replacement"].OK)
	require.Equal(t, "0 payments a minute by the number of coins, funds for 0 payments of the minimum", found["network ltc token LTC-000 withdrawals"].Found)
	funders := found["network ltc funders"]
	require.True(t, funders.Warning)
	require.Contains(t, funders.Advice, "transfers on far from all others count as users' transfers; ltc names no senders")
	for _, cure := range Run(t.Context(), cfg, func(string) string { return "" }, nil).Cures {
		require.False(t, cure.Chain == "ltc" && strings.Contains(cure.Do, "funders"), cure.Do)
	}
	hot := found["network ltc token LTC-000 hot account"]
	require.False(t, hot.OK)
	require.Equal(t, "0 LTC", hot.Found)
	require.Contains(t, hot.Advice, "send some to "+pool)
	for what := range found {
		require.NotContains(t, what, "gas account")
	}
}

// TestCoinNodes: doctor names a node that is down, one of another network, and one that is pruned.
func TestCoinNodes(t *testing.T) {
	t.Parallel()
	cfg, node, _ := coinGateway(t)
	cfg.Bitcoin[0].Network = "litecoin"
	wrong := findings(Nodes(t.Context(), cfg))["chain ltc node 1 (HOST)"]
	require.False(t, wrong.OK)
	require.Contains(t, wrong.Found, "serves another chain")
	require.Contains(t, wrong.Advice, "it must be of the network litecoin")

	cfg.Bitcoin[0].Network = bitcoinnode.LitecoinNetwork
	cfg.Bitcoin[0].Nodes = []string{strings.Replace(node.URL(), "secret", "wrong", 1)}
	refused := findings(Nodes(t.Context(), cfg))
	require.False(t, refused["chain ltc node 1 (HOST)"].OK)
	require.Contains(t, refused["chain ltc"].Found, "no node answers")

	d := &Doctor{Now: time.Now}
	require.True(t, d.coinNode(cfg.Bitcoin[0], bitcoin.Report{Node: "node 1", Pruned: true, Lowest: 77, Syncing: true}))
	pruned := findings(Report{Findings: d.Findings})
	require.True(t, pruned["chain ltc node 1 old blocks"].Warning)
	require.Contains(t, pruned["chain ltc node 1 old blocks"].Found, "lowest block is 77")
	require.False(t, pruned["chain ltc node 1 synchronisation"].OK)
	cfg.Bitcoin[0].OnDemand = false
	d = &Doctor{Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
	d.coinNode(cfg.Bitcoin[0], bitcoin.Report{Node: "node 1", HeadTime: time.Unix(1_800_000_000, 0).Add(-4 * time.Hour)})
	d.coinNode(cfg.Bitcoin[0], bitcoin.Report{Node: "node 2", HeadTime: time.Unix(1_800_000_000, 0).Add(-2 * time.Hour)})
	yes, no := true, false
	d.coinNode(cfg.Bitcoin[0], bitcoin.Report{Node: "node 3", Software: "/LitecoinCore:0.21.4/"})
	d.coinNode(cfg.Bitcoin[0], bitcoin.Report{Node: "node 4", Replaces: &yes})
	d.coinNode(cfg.Bitcoin[0], bitcoin.Report{Node: "node 5", Replaces: &no})
	stale := findings(Report{Findings: d.Findings})
	require.False(t, stale["chain ltc node 1 clock"].OK)
	require.True(t, stale["chain ltc node 2 clock"].OK, "two hours without a block are usual")
	require.Contains(t, stale["chain ltc node 3 replacement"].Found, "not known")
	require.False(t, stale["chain ltc node 4 replacement"].Warning)
	require.True(t, stale["chain ltc node 5 replacement"].Warning)
}

var nodeHost = regexp.MustCompile(`\(127\.0\.0\.1:\d+\)`)

// findings are a report's by their subjects, without the nodes' ports.
func findings(r Report) map[string]Finding {
	found := map[string]Finding{}
	for _, f := range r.Findings {
		found[nodeHost.ReplaceAllString(f.What, "(HOST)")] = f
	}
	return found
}

func sourceBalances(all []operator.Balance) (list []string) {
	for _, b := range all {
		if b.Chain == "ltc" {
			list = append(list, fmt.Sprint(b.Kind, " ", b.Account, " ", b.Asset))
		}
	}
	return list
}

// addressAt is an address of the wallet of a mnemonic on the chain of a configuration.
func addressAt(t *testing.T, cfg config.Config, mnemonic, path string) string {
	t.Helper()
	keys, err := wallet.FromMnemonic(mnemonic)
	require.NoError(t, err)
	source, _ := cfg.Chain("ltc")
	text, err := source.Account(keys, path)
	require.NoError(t, err)
	return text
}
