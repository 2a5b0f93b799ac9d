package main

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/exchangeapi/rates"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// sourceFeed is a price feed on an embedded source chain.
type sourceFeed struct {
	dev     *ethnode.Node
	address common.Address
}

func newSourceFeed(t *testing.T, decimals uint8) *sourceFeed {
	t.Helper()
	dev, err := ethnode.Start(ethnode.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	code := append(common.FromHex(contracts.TestFeedMetaData.Bin), contracts.NewTestFeed().PackConstructor(decimals)...)
	address, err := dev.Deploy(code)
	require.NoError(t, err)
	return &sourceFeed{dev, address}
}

func (f *sourceFeed) post(t *testing.T, answer int64, at time.Time) {
	t.Helper()
	data := contracts.NewTestFeed().PackPost(big.NewInt(answer), big.NewInt(at.Unix()))
	_, err := f.dev.SendCall(f.address, new(big.Int), data)
	require.NoError(t, err)
	_, err = f.dev.Mine(1)
	require.NoError(t, err)
}

func (f *sourceFeed) source() ethereum.Config {
	return ethereum.Config{ID: "eth", ChainID: f.dev.ChainID(), Nodes: []string{f.dev.URL()}}
}

func TestFeeds(t *testing.T) {
	t.Parallel()
	f := newSourceFeed(t, 8)
	now := time.Now()
	f.post(t, 12_345_678, now)
	list := []rates.FeedConfig{{Coin: "vite", Chain: "eth", Address: f.address.Hex()}, {Coin: "bitcoin", Chain: "eth", Address: f.address.Hex()}}
	open, err := daemon.OpenFeeds(config.Config{Ethereum: []ethereum.Config{f.source()}}.Chains(), list)
	require.NoError(t, err)
	defer open.Close()
	require.Len(t, open, 1, "one chain once")
	value, at, err := open.Feed(t.Context(), "eth", f.address.Hex())
	require.NoError(t, err)
	require.Equal(t, []any{"0.12345678", now.Unix()}, []any{value.String(), at.Unix()})
	_, _, err = open.Feed(t.Context(), "bsc", f.address.Hex())
	require.ErrorContains(t, err, `no source chain "bsc"`)
	coins := config.Config{Bitcoin: []bitcoin.Config{{ID: "btc", Network: "bitcoin", Nodes: []string{"http://127.0.0.1:1"}}}}.Chains()
	_, err = daemon.OpenFeeds(coins, []rates.FeedConfig{{Coin: "bitcoin", Chain: "btc", Address: f.address.Hex()}})
	require.ErrorContains(t, err, `chain "btc" has no price feeds`)
	_, err = daemon.OpenFeeds(nil, list)
	require.ErrorContains(t, err, "not in the list ethereum")
}

// The exchange API returns the price of a contract on the source chain.
func TestRatesFromTheSourceChain(t *testing.T) {
	t.Parallel()
	f := newSourceFeed(t, 8)
	f.post(t, 15_500_000, time.Now())
	url := serveTestExchange(t, func(c *config.Exchange) {
		c.Rates.Feeds = []rates.FeedConfig{{Coin: "cny", Chain: "eth", Address: f.address.Hex()}}
		require.ErrorContains(t, c.Check(), "not in the list ethereum")
		c.Chains = config.Config{Ethereum: []ethereum.Config{f.source()}}.Chains()
		require.NoError(t, c.Check())
	})
	var rate struct{ Data json.Number }
	require.Eventually(t, func() bool {
		answer, err := http.Get(url + "/api/v2/usd-cny")
		require.NoError(t, err)
		defer answer.Body.Close()
		return json.NewDecoder(answer.Body).Decode(&rate) == nil && rate.Data == "6.451612"
	}, time.Minute, 10*time.Millisecond)
}

// serveTestExchange serves an exchange API on an embedded exchange chain until the test ends, and
// answers its URL.
func serveTestExchange(t *testing.T, changes ...func(*config.Exchange)) string {
	t.Helper()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	dir := t.TempDir()
	chain, err := daemon.NewEmbedded(node.Config{Dir: filepath.Join(dir, "chain"), Genesis: genesis, SnapshotInterval: 100 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(chain.Close)
	ctx, stop := context.WithCancel(context.Background())
	var g errgroup.Group
	t.Cleanup(func() {
		stop()
		require.NoError(t, g.Wait())
	})
	g.Go(func() error { return chain.Run(ctx) })
	cfg := config.Exchange{}.WithDefaults(dir, []string{chain.WSURL()})
	cfg.Listen = "127.0.0.1:0"
	for _, change := range changes {
		change(&cfg)
	}
	w := testStreams(t)
	log, err := daemon.NewLog(config.Log{}, w.stderr)
	require.NoError(t, err)
	api, err := daemon.OpenExchange(ctx, cfg, daemon.Dependencies{Keys: keys, Getenv: w.getenv, Log: log})
	require.NoError(t, err)
	g.Go(func() error {
		defer api.Close()
		return api.Run(ctx)
	})
	require.NoError(t, api.Ready(t.Context()))
	return "http://" + api.Server.Addr()
}
