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
	"gatewayd/devnet"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// A hall is an exchange chain with the exchange API as it is wired in the daemon, on limits that nobody reaches: what TestExchangeKilled kills.

// hallCommand is the hall's name in PATH (see TestMain).
const hallCommand = "exchangehall"

// Accounts of a hall: the operator, traders with API keys, traders who send their own blocks.
const (
	keyedTraders = 4
	plainTraders = 6
)

// The hall's tokens and markets. Prices have two decimals and quantities none, so that no number that is shown is cut.
var (
	hallTokens  = map[string]core.TokenID{"COIN-000": core.TokenID([]byte("coin......")), "GOLD-000": core.TokenID([]byte("gold......"))}
	hallMarkets = []string{"COIN-000_VITE", "GOLD-000_VITE"}
)

func hallKey(n int) core.PrivateKey {
	seed := make([]byte, core.SeedSize)
	seed[0], seed[1] = 77, byte(n)
	key, err := core.NewPrivateKey(seed)
	if err != nil {
		panic(err)
	}
	return key
}

func hallAgents() (daemon.Delegation, error) {
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	return daemon.DelegationOf(keys, config.MainExchange), err
}

// hallChain is the configuration of the hall's chain.
func hallChain(dir string) (node.Config, error) {
	operator := hallKey(0).Address()
	g := ledger.Genesis{ExchangeOwner: operator}
	for symbol, id := range hallTokens {
		name, _, _ := strings.Cut(symbol, "-")
		g.Tokens = append(g.Tokens, ledger.TokenInfo{ID: id, Name: name, Symbol: name, Decimals: 8, Owner: operator, TotalSupply: hallUnits(11_000_000, 8)})
	}
	add := func(a core.Address, balances map[core.TokenID]uint256.Int) {
		g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: a, Balances: balances})
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: operator, Beneficiary: a, Amount: hallUnits(2_500_000, 18)})
	}
	agents, err := hallAgents()
	if err != nil {
		return node.Config{}, err
	}
	for n := range 1 + keyedTraders + plainTraders {
		balances := map[core.TokenID]uint256.Int{core.VITE: hallUnits(10_000_000, 18)}
		for _, id := range hallTokens {
			balances[id] = hallUnits(1_000_000, 8)
		}
		add(hallKey(n).Address(), balances)
	}
	for n := range keyedTraders {
		agent, err := agents.Agent(context.Background(), hallKey(1+n).Address())
		if err != nil {
			return node.Config{}, err
		}
		add(agent, map[core.TokenID]uint256.Int{core.VITE: hallUnits(1, 18)})
	}
	return node.Config{Dir: filepath.Join(dir, "chain"), Genesis: g, SnapshotInterval: 50 * time.Millisecond, StateEvery: 4 << 20}, nil
}

func hallUnits(n uint64, decimals uint64) uint256.Int {
	var z uint256.Int
	z.Exp(uint256.NewInt(10), uint256.NewInt(decimals))
	return *z.Mul(&z, uint256.NewInt(n))
}

// hallIndex shows every decimal there is.
func hallIndex(url string, now func() time.Time) index.Config {
	c := index.Config{URL: url, Now: now, Poll: 50 * time.Millisecond, Precisions: map[string]index.Precision{}}
	for _, symbol := range hallMarkets {
		c.Precisions[symbol] = index.Precision{Price: 12, Quantity: 8}
	}
	return c
}

func hallConfig(dir, url, nodeURL string) config.Exchange {
	return config.Exchange{
		Config: exchangeapi.Config{Config: httpserver.Config{Listen: "127.0.0.1:0"}, CallLimit: 1 << 30}, Node: nodeURL, Index: hallIndex(url, nil),
		Keys: "sqlite:" + filepath.Join(dir, "keys.db"), SecretFile: filepath.Join(dir, "keys.secret"),
	}
}

// hallInfo is where a hall answers; it stands in hall.json once the hall does.
type hallInfo struct{ Node, API string }

func readHallInfo(dir string) (info hallInfo, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "hall.json"))
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

func (i hallInfo) write(dir string) error {
	text, err := json.Marshal(i)
	if err != nil {
		return err
	}
	fresh := filepath.Join(dir, "hall.json.new")
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	return os.Rename(fresh, filepath.Join(dir, "hall.json"))
}

// hallMain is the program: exchangehall DIR INDEX-URL. It ends with its standard input, so that it outlives no test.
func hallMain() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	err := serveHall(context.Background(), os.Args[1], os.Args[2])
	fmt.Fprintln(os.Stderr, "the hall has ended:", err)
	os.Exit(1)
}

// serveHall never ends by itself.
func serveHall(ctx context.Context, dir, url string) error {
	cfg, err := hallChain(dir)
	if err != nil {
		return err
	}
	chain, err := daemon.NewEmbedded(cfg)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return chain.Run(ctx) })
	g.Go(func() error { return serveHallAPI(ctx, g, dir, url, chain.WSURL()) })
	return g.Wait()
}

// serveHallAPI serves the exchange of a chain that runs, and tells where.
func serveHallAPI(ctx context.Context, g *errgroup.Group, dir, url, chain string) error {
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	if err != nil {
		return err
	}
	w := streams{stdout: io.Discard, stderr: os.Stderr, getenv: os.Getenv}
	log, err := daemon.NewLog(config.Log{Level: "error"}, w.stderr)
	if err != nil {
		return err
	}
	api, err := daemon.OpenExchange(ctx, hallConfig(dir, url, chain), daemon.Outside{Keys: keys, Getenv: w.getenv, Log: log})
	if err != nil {
		return err
	}
	g.Go(func() error { return api.Run(ctx) })
	g.Go(func() error { return tellHallTime(ctx, chain) })
	if err := api.Ready(ctx); err != nil {
		return err
	}
	return hallInfo{chain, "http://" + api.Server.Addr()}.write(dir)
}

// tellHallTime keeps the exchange's clock.
func tellHallTime(ctx context.Context, url string) error {
	user, err := devnet.NewViteUser(ctx, url, hallKey(0))
	if err != nil {
		return err
	}
	operator := &devnet.Operator{ViteUser: user}
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

// hallBuilder works on the hall's chain before anybody runs it.
type hallBuilder struct {
	t *testing.T
	*node.Node
}

// openHall makes the chain with its markets and its traders' money on the exchange, and the API keys. It answers key and secret of each.
func openHall(t *testing.T, dir, url string) (keys [][2]string) {
	t.Helper()
	cfg, err := hallChain(dir)
	require.NoError(t, err)
	cfg.SnapshotInterval = -1
	n, err := node.New(cfg)
	require.NoError(t, err)
	b := hallBuilder{t, n}
	b.openMarkets()
	agents, err := hallAgents()
	require.NoError(t, err)
	store, err := daemon.OpenKeys(t.Context(), hallConfig(dir, url, ""), outside(t).getenv)
	require.NoError(t, err)
	for i := range keyedTraders + plainTraders {
		b.moveIn(hallKey(1 + i))
	}
	for i := range keyedTraders {
		owner := hallKey(1 + i)
		agent, err := agents.Agent(t.Context(), owner.Address())
		require.NoError(t, err)
		for _, id := range hallTokens {
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

func (b hallBuilder) openMarkets() {
	key := hallKey(0)
	me := key.Address()
	b.snapshot()
	b.call(key, dex.FundDexAdmin, uint8(devnet.AllRoles), me, me, me, false, me, me)
	b.call(key, dex.FundNotifyTime, time.Now().Unix())
	b.call(key, dex.FundTradeAdmin, uint8(devnet.SetQuoteToken), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
	b.send(key, core.VITE, hallUnits(100_000, 18), dex.FundDeposit)
	for _, symbol := range hallMarkets {
		name, _, _ := strings.Cut(symbol, "_")
		b.call(key, dex.FundOpenMarket, hallTokens[name], core.VITE)
	}
}

func (b hallBuilder) moveIn(key core.PrivateKey) {
	b.snapshot()
	b.send(key, core.VITE, hallUnits(5_000_000, 18), dex.FundDeposit)
	for _, id := range hallTokens {
		b.send(key, id, hallUnits(500_000, 8), dex.FundDeposit)
	}
}

func (b hallBuilder) call(key core.PrivateKey, m core.Method, args ...any) {
	b.t.Helper()
	b.send(key, core.VITE, uint256.Int{}, m, args...)
}

// send calls dexFund with an amount and lets the contracts work.
func (b hallBuilder) send(key core.PrivateKey, token core.TokenID, amount uint256.Int, m core.Method, args ...any) {
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

func (b hallBuilder) snapshot() {
	b.t.Helper()
	_, err := b.Snapshot()
	require.NoError(b.t, err)
}
