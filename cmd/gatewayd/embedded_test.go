package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
	"gatewayd/wallet"
)

// The embedded chain's RPC is for this machine unless it is public by name, in the configuration
// and on the command line.
func TestEmbeddedListensInPublicByNameOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []config.Embedded{
		{Listen: "0.0.0.0:48132"}, {Listen: ":48132"}, {Listen: "192.0.2.1:48132"}, {Listen: "127.0.0.1:48132", WS: "[::]:41420"}, {Listen: "chain.example:48132"},
	} {
		require.ErrorContains(t, c.Check(), "public: true", c)
		c.Public = true
		require.NoError(t, c.Check(), c)
	}
	for _, listen := range []string{"127.0.0.1:48132", "[::1]:48132", "localhost:48132", ""} {
		require.NoError(t, config.Embedded{Listen: listen}.Check(), listen)
	}
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1337, "http://127.0.0.1:1")
	cfg.Embedded = &config.Embedded{Dir: dir, Listen: "0.0.0.0:48132"}
	err := run(t.Context(), []string{"run", "-c", writeConfig(t, dir, cfg)}, testStreams(t))
	require.ErrorContains(t, err, "embedded: listen 0.0.0.0:48132: other machines could reach it")
	for _, flag := range []string{"--listen", "--ws"} {
		err = run(t.Context(), []string{"chain", "run", flag, "0.0.0.0:0"}, testStreams(t))
		require.ErrorContains(t, err, "other machines could reach it")
	}
}

// What a process asks its own embedded chain goes by no port.
func TestEmbeddedFromInside(t *testing.T) {
	t.Parallel()
	e := embeddedChain(t, "")
	elsewhere := "http://192.0.2.1:48132"
	local := strings.Replace(e.URL(), "127.0.0.1", "localhost", 1)
	cfg := config.Config{Vite: []vite.Config{{Nodes: []string{elsewhere, e.URL()}}, {Nodes: []string{elsewhere}}}, Exchange: &config.Exchange{Node: local}}
	inside := e.Inside(cfg)
	require.Equal(t, []string{elsewhere, e.WSURL()}, inside.Vite[0].Nodes)
	require.Nil(t, inside.Vite[1].Dial)
	require.Equal(t, e.WSURL(), inside.Exchange.Node)
	for _, dial := range []config.Dialer{inside.Vite[0].Dial, inside.Exchange.Dial} {
		c, err := dial(t.Context(), "tcp", e.RPC.WSAddr())
		require.NoError(t, err)
		require.Equal(t, "pipe", c.RemoteAddr().Network())
		require.NoError(t, c.Close())
	}
	require.Equal(t, []string{elsewhere, e.URL()}, cfg.Vite[0].Nodes, "the configuration that is told to others stays as it was")
}

// holdSlowConnections keeps connections of one client open that never finish their request, and
// reopens closed ones, until the test ends.
func holdSlowConnections(t *testing.T, address string, connections int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(func() {
		stop()
		all.Wait()
	})
	var opened atomic.Int64
	for range connections {
		all.Go(func() {
			for ctx.Err() == nil {
				holdOpen(ctx, address, &opened)
				select {
				case <-ctx.Done():
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	waitFor(t, "the connections", func() bool { return opened.Load() >= int64(connections) })
}

// holdOpen sends the beginning of a request and waits until the other side ends the connection.
func holdOpen(ctx context.Context, address string, opened *atomic.Int64) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	opened.Add(1)
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if _, err := fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: "); err == nil {
		_, _ = c.Read(make([]byte, 1))
	}
}

// 1,010 slow connections of one client neither fill the public port of the embedded chain for
// another client nor delay the daemon.
func TestSlowClientsOfTheEmbeddedChain(t *testing.T) {
	t.Parallel()
	source, err := ethnode.Start(ethnode.Config{Period: 100 * time.Millisecond})
	require.NoError(t, err)
	runUntilEnd(t, source.Run)
	dir, listen := t.TempDir(), freeAddress(t)
	_, port, err := net.SplitHostPort(listen)
	require.NoError(t, err)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	cfg := dev.Config(quickOptions(dir), source.URL(), source.ChainID(), "http://"+listen)
	cfg.Wallet, cfg.Gateway.Listen = recoverWallet(t, dir), freeAddress(t)
	cfg.Embedded = &config.Embedded{Dir: filepath.Join(dir, "exchange"), Listen: "0.0.0.0:" + port, Genesis: filepath.Join(dir, "genesis.json"), Public: true}
	writeGenesis(t, cfg.Embedded.Genesis, genesis)
	p := startProgram(t, "run", "-c", writeConfig(t, dir, cfg))
	followed := func() uint64 { return followedHeight(t, cfg) }
	waitFor(t, "the daemon follows the exchange chain", func() bool { return followed() > 0 })

	holdSlowConnections(t, listen, 1010)
	other := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.2")}}).DialContext}}
	other.Timeout = 20 * time.Second // he waits no longer than a patient client does; a full port kept him waiting for 30
	answer, err := other.Post("http://"+listen, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ledger_getSnapshotChainHeight","params":[]}`))
	require.NoError(t, err, "another client")
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	from := followed()
	waitFor(t, "five more blocks followed", func() bool { return followed() >= from+5 })
	other.CloseIdleConnections()
	p.stop(t)
}

// followedHeight returns the records' position on the exchange chain.
func followedHeight(t *testing.T, cfg config.Config) (height uint64) {
	t.Helper()
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	if err != nil {
		return 0
	}
	defer store.Close()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		c, err := tx.Chains().Cursor("vite")
		height = c.Height
		return err
	}))
	return height
}
