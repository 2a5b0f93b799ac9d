package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// The exchange process is killed by TestExchangeKilled: an exchange chain with the exchange API as
// the daemon wires it, with unreachable limits.

// exchangeCommand is the name of the exchange process in PATH (see TestMain).
const exchangeCommand = "exchangeprocess"

// Accounts in addition to the operator: traders with API keys, and traders who send their own
// blocks.
const (
	keyedTraders = 4
	plainTraders = 6
)

// The tokens and markets of the exchange. Prices have two decimals and quantities none, so that no
// number that is shown is cut.
var (
	exchangeTokens  = map[string]core.TokenID{"COIN-000": core.TokenID([]byte("coin......")), "GOLD-000": core.TokenID([]byte("gold......"))}
	exchangeMarkets = []string{"COIN-000_VITE", "GOLD-000_VITE"}
)

func exchangeKey(n int) core.PrivateKey {
	seed := make([]byte, core.SeedSize)
	seed[0], seed[1] = 77, byte(n)
	key, err := core.NewPrivateKey(seed)
	if err != nil {
		panic(err)
	}
	return key
}

func exchangeAgents() (daemon.Delegation, error) {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	return daemon.DelegationOf(keys, config.MainExchange), err
}

// exchangeChainConfig configures the chain.
func exchangeChainConfig(dir string) (node.Config, error) {
	operator := exchangeKey(0).Address()
	g := ledger.Genesis{ExchangeOwner: operator}
	for symbol, id := range exchangeTokens {
		name, _, _ := strings.Cut(symbol, "-")
		g.Tokens = append(g.Tokens, ledger.TokenInfo{ID: id, Name: name, Symbol: name, Decimals: 8, Owner: operator, TotalSupply: wholeTokens(11_000_000, 8)})
	}
	add := func(a core.Address, balances map[core.TokenID]uint256.Int) {
		g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: a, Balances: balances})
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: operator, Beneficiary: a, Amount: wholeTokens(2_500_000, 18)})
	}
	agents, err := exchangeAgents()
	if err != nil {
		return node.Config{}, err
	}
	for n := range 1 + keyedTraders + plainTraders {
		balances := map[core.TokenID]uint256.Int{core.VITE: wholeTokens(10_000_000, 18)}
		for _, id := range exchangeTokens {
			balances[id] = wholeTokens(1_000_000, 8)
		}
		add(exchangeKey(n).Address(), balances)
	}
	for n := range keyedTraders {
		agent, err := agents.Agent(context.Background(), exchangeKey(1+n).Address())
		if err != nil {
			return node.Config{}, err
		}
		add(agent, map[core.TokenID]uint256.Int{core.VITE: wholeTokens(1, 18)})
	}
	return node.Config{Dir: filepath.Join(dir, "chain"), Genesis: g, SnapshotInterval: 50 * time.Millisecond, StateEvery: 4 << 20}, nil
}

func wholeTokens(n uint64, decimals uint64) uint256.Int {
	var z uint256.Int
	z.Exp(uint256.NewInt(10), uint256.NewInt(decimals))
	return *z.Mul(&z, uint256.NewInt(n))
}

// exchangeIndexConfig shows prices and quantities with all their decimals.
func exchangeIndexConfig(url string, now func() time.Time) index.Config {
	c := index.Config{URL: url, Now: now, Poll: 50 * time.Millisecond, Precisions: map[string]index.Precision{}}
	for _, symbol := range exchangeMarkets {
		c.Precisions[symbol] = index.Precision{Price: 12, Quantity: 8}
	}
	return c
}

func exchangeConfig(dir, url, nodeURL string) config.Exchange {
	return config.Exchange{
		Config: exchangeapi.Config{Config: httpserver.Config{Listen: "127.0.0.1:0"}, CallLimit: 1 << 30}, Node: nodeURL, Index: exchangeIndexConfig(url, nil),
		Keys: "sqlite:" + filepath.Join(dir, "keys.db"), SecretFile: filepath.Join(dir, "keys.secret"),
	}
}

// exchangeURLs are the addresses of an exchange process, which writes them to urls.json once it
// answers.
type exchangeURLs struct{ Node, API string }

func readExchangeURLs(dir string) (info exchangeURLs, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "urls.json"))
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

func (i exchangeURLs) write(dir string) error {
	text, err := json.Marshal(i)
	if err != nil {
		return err
	}
	fresh := filepath.Join(dir, "urls.json.new")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(dir, "urls.json"))
}

// exchangeProcessMain is the program: exchangeprocess DIR INDEX-URL. It ends with its standard
// input, so that it outlives no test.
func exchangeProcessMain() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	err := serveExchange(context.Background(), os.Args[1], os.Args[2])
	fmt.Fprintln(os.Stderr, "the exchange process has ended:", err)
	os.Exit(1)
}

// serveExchange runs chain and API until one of them fails.
func serveExchange(ctx context.Context, dir, url string) error {
	cfg, err := exchangeChainConfig(dir)
	if err != nil {
		return err
	}
	chain, err := daemon.NewEmbedded(cfg)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return chain.Run(ctx) })
	g.Go(func() error { return serveExchangeAPI(ctx, g, dir, url, chain.WSURL()) })
	return g.Wait()
}

// serveExchangeAPI serves the exchange API of a running chain and writes the URLs.
func serveExchangeAPI(ctx context.Context, g *errgroup.Group, dir, url, chain string) error {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	if err != nil {
		return err
	}
	w := streams{stdout: io.Discard, stderr: os.Stderr, getenv: os.Getenv}
	log, err := daemon.NewLog(config.Log{Level: "error"}, w.stderr)
	if err != nil {
		return err
	}
	api, err := daemon.OpenExchange(ctx, exchangeConfig(dir, url, chain), daemon.Dependencies{Keys: keys, Getenv: w.getenv, Log: log})
	if err != nil {
		return err
	}
	g.Go(func() error { return api.Run(ctx) })
	g.Go(func() error { return sendExchangeTime(ctx, chain) })
	if err := api.Ready(ctx); err != nil {
		return err
	}
	return exchangeURLs{chain, "http://" + api.Server.Addr()}.write(dir)
}

// sendExchangeTime sets the exchange's clock every second.
func sendExchangeTime(ctx context.Context, url string) error {
	user, err := dev.NewViteUser(ctx, url, exchangeKey(0))
	if err != nil {
		return err
	}
	operator := &dev.Operator{ViteUser: user}
	for ctx.Err() == nil {
		if err := operator.TellTime(ctx); err != nil {
			return err
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return nil
}

// exchangeBuilder fills the chain before a process runs it.
type exchangeBuilder struct {
	t *testing.T
	*node.Node
}

// buildExchange makes the chain with its markets, the traders' money on the exchange and the API
// keys. It returns key and secret of each.
func buildExchange(t *testing.T, dir, url string) (keys [][2]string) {
	t.Helper()
	cfg, err := exchangeChainConfig(dir)
	require.NoError(t, err)
	return fillExchange(t, cfg, exchangeConfig(dir, url, ""))
}

// fillExchange does the same with any chain that has the accounts, and any database of API keys.
func fillExchange(t *testing.T, cfg node.Config, served config.Exchange) (keys [][2]string) {
	t.Helper()
	cfg.SnapshotInterval = -1
	n, err := node.New(cfg)
	require.NoError(t, err)
	b := exchangeBuilder{t, n}
	b.openMarkets()
	agents, err := exchangeAgents()
	require.NoError(t, err)
	store, err := daemon.OpenKeys(t.Context(), served, testStreams(t).getenv)
	require.NoError(t, err)
	for i := range keyedTraders + plainTraders {
		b.depositFunds(exchangeKey(1 + i))
	}
	for i := range keyedTraders {
		owner := exchangeKey(1 + i)
		agent, err := agents.Agent(t.Context(), owner.Address())
		require.NoError(t, err)
		for _, id := range exchangeTokens {
			b.call(owner, dex.FundConfigAgents, uint8(1), agent, []core.TokenID{id}, []core.TokenID{core.VITE})
		}
		key, secret, err := store.Issue(t.Context(), config.MainExchange, owner.Address(), agent)
		require.NoError(t, err)
		keys = append(keys, [2]string{key.Key, secret})
	}
	b.snapshot()
	require.NoError(t, errors.Join(store.Close(), n.Close()))
	return keys
}

func (b exchangeBuilder) openMarkets() {
	key := exchangeKey(0)
	me := key.Address()
	b.snapshot()
	b.call(key, dex.FundDexAdmin, uint8(dev.AllRoles), me, me, me, false, me, me)
	b.call(key, dex.FundNotifyTime, time.Now().Unix())
	b.call(key, dex.FundTradeAdmin, uint8(dev.SetQuoteToken), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
	b.send(key, core.VITE, wholeTokens(100_000, 18), dex.FundDeposit)
	for _, symbol := range exchangeMarkets {
		name, _, _ := strings.Cut(symbol, "_")
		b.call(key, dex.FundOpenMarket, exchangeTokens[name], core.VITE)
	}
}

func (b exchangeBuilder) depositFunds(key core.PrivateKey) {
	b.snapshot()
	b.send(key, core.VITE, wholeTokens(5_000_000, 18), dex.FundDeposit)
	for _, id := range exchangeTokens {
		b.send(key, id, wholeTokens(500_000, 8), dex.FundDeposit)
	}
}

func (b exchangeBuilder) call(key core.PrivateKey, m core.Method, args ...any) {
	b.t.Helper()
	b.send(key, core.VITE, uint256.Int{}, m, args...)
}

// send calls dexFund with an amount and lets the contracts work.
func (b exchangeBuilder) send(key core.PrivateKey, token core.TokenID, amount uint256.Int, m core.Method, args ...any) {
	b.t.Helper()
	data, err := m.Pack(args...)
	require.NoError(b.t, err)
	block := &core.AccountBlock{
		BlockType: core.SendCall, Address: key.Address(), ToAddress: core.DexFundContract, TokenID: token, Amount: amount, Data: data,
	}
	b.Read(func(v *node.View) {
		head := v.AccountHead(block.Address)
		block.Height, block.PreviousHash = head.Height+1, head.Hash
	})
	block.SignWith(key)
	require.NoError(b.t, b.Submit(b.t.Context(), block))
	require.NoError(b.t, b.Tick())
}

func (b exchangeBuilder) snapshot() {
	b.t.Helper()
	_, err := b.Snapshot()
	require.NoError(b.t, err)
}
