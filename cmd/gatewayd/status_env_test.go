package main

import (
	"context"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/goccy/go-yaml"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/faults"
	"gatewayd/status"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// wholeBlock is a request for a block with its transactions.
var wholeBlock = regexp.MustCompile(`"eth_getBlockByNumber","params":\["0x[0-9a-f]+",true\]`)

// openFaultyNode opens a proxy before a node, which can be made to fail, until the test ends.
func openFaultyNode(t *testing.T, honest string) *faults.Node {
	t.Helper()
	n, err := faults.Open(honest)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

// faultyEnv is a daemon process on nodes that can be made to fail.
type faultyEnv struct {
	*rig
	source          *ethnode.Node
	rich            *daemon.Embedded // the exchange chain
	node, exchange  *faults.Node
	info            dev.Info
	cfg             config.Config
	daemon          *exec.Cmd
	keys            *wallet.Keys
	user            *testUser
	gateway, health string
	alerts          *receiver    // nil: no alerts are sent
	viewer          *http.Client // a session of the console; nil: none yet
	log             logText      // of the daemon
}

// newFaultyEnv starts one. A user has a thousand USDT of the gateway's on the exchange chain,
// without a deposit.
func newFaultyEnv(t *testing.T, adjust func(*faultyEnv, *config.Config)) *faultyEnv {
	t.Helper()
	w := prepareFaultyEnv(t, startRichExchange, adjust)
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	w.start(t)
	w.addUser(t)
	w.giveAddress(t)
	return w
}

// giveAddress has the user's deposit address given out: a separate signer gives out none while its
// nodes are away.
func (w *faultyEnv) giveAddress(t *testing.T) {
	t.Helper()
	query := "?tokenId=" + w.token(t, "USDT").Token + "&walletAddress=" + w.user.Vite.Address().String()
	waitFor(t, "a deposit address", func() bool { return getEnvelope(t, w.gateway+"/deposit-info"+query, nil) == 0 })
}

// prepareFaultyEnv makes everything but the hot account's money, the daemon and the user.
func prepareFaultyEnv(t *testing.T, exchange func(*testing.T, *wallet.Keys) *daemon.Embedded, adjust func(*faultyEnv, *config.Config)) *faultyEnv {
	t.Helper()
	return prepareFaultyEnvOn(t, ethnode.Config{}, exchange, adjust)
}

// prepareFaultyEnvOn is prepareFaultyEnv with a source node of a given configuration.
func prepareFaultyEnvOn(t *testing.T, source ethnode.Config, exchange func(*testing.T, *wallet.Keys) *daemon.Embedded, adjust func(*faultyEnv, *config.Config)) *faultyEnv {
	t.Helper()
	w := &faultyEnv{}
	var err error
	source.Period, source.FinalityDepth = 200*time.Millisecond, 3
	w.source, err = ethnode.Start(source)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.source.Close()) })
	w.keys, err = wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	w.rich = exchange(t, w.keys)
	w.node, w.exchange = openFaultyNode(t, w.source.URL()), openFaultyNode(t, w.rich.URL())
	o := quickOptions(t.TempDir())
	o.Listen, o.Operators = freeAddress(t), freeAddress(t)
	c := dev.Config(o, w.node.URL, w.source.ChainID(), w.exchange.URL)
	c.Log.Level, c.Status.Every, c.Watcher.Reconcile = "info", time.Second, 500*time.Millisecond
	c.Ethereum[0].Timeout, c.Vite[0].Timeout = 2*time.Second, 2*time.Second
	stores, store, password := recovered(t)
	c.Wallet = config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	if adjust != nil {
		adjust(w, &c)
	}
	text, err := yaml.Marshal(c)
	require.NoError(t, err)
	path := filepath.Join(c.Data, "config.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	w.cfg, w.info = c, dev.NewInfo(c, path, "")
	w.info.Operators = "http://" + o.Operators
	require.NoError(t, w.info.Write(filepath.Join(c.Data, "dev.json")))
	w.rig = &rig{Env: &dev.Env{Info: w.info}, t: t}
	w.gateway, w.health = w.info.Gateway, dev.RootOf(w.info.Gateway)+"/health"
	return w
}

// addUser makes the environment's user.
func (w *faultyEnv) addUser(t *testing.T) {
	t.Helper()
	var err error
	w.user, err = newTestUser(t.Context(), w.info, w.token(t, "USDT"), 0, t.Output())
	require.NoError(t, err)
	t.Cleanup(w.user.Close)
}

// startRichExchange is startExchangeChain with a thousand USDT for the first user.
func startRichExchange(t *testing.T, keys *wallet.Keys) *daemon.Embedded {
	t.Helper()
	return startExchangeOf(t, richGenesis(t, keys))
}

func richGenesis(t *testing.T, keys *wallet.Keys) ledger.Genesis {
	t.Helper()
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	user, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(dev.UserBase))
	require.NoError(t, err)
	usdt, gift := dev.Tokens()[1].ID, uint256.NewInt(20_000_000_000)
	for i := range genesis.Tokens { // the user can issue more of it
		if k := &genesis.Tokens[i]; k.ID == usdt {
			k.Owner, k.ReIssuable, k.MaxSupply = user, true, *new(uint256.Int).SetAllOne()
		}
	}
	for i, a := range genesis.Accounts {
		if a.Address == user {
			a.Balances[usdt] = *gift
		}
		if have, ok := a.Balances[usdt]; ok && i == 0 {
			a.Balances[usdt] = *new(uint256.Int).Sub(&have, gift)
		}
	}
	return genesis
}

// startExchangeOf runs an exchange chain until the test ends.
func startExchangeOf(t *testing.T, genesis ledger.Genesis) *daemon.Embedded {
	t.Helper()
	e, err := daemon.NewEmbedded(node.Config{Dir: t.TempDir(), Genesis: genesis, SnapshotInterval: 200 * time.Millisecond})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1) // room for the one answer
	go func() { ended <- e.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	return e
}

// start starts the daemon and waits until it is well.
func (w *faultyEnv) start(t *testing.T) {
	t.Helper()
	w.startDaemon(t)
	w.waitUntilWell(t)
}

func (w *faultyEnv) startDaemon(t *testing.T) {
	t.Helper()
	w.daemon = exec.Command("gatewayd", "run", "-c", w.info.Config)
	w.daemon.Stderr = io.MultiWriter(t.Output(), &w.log)
	require.NoError(t, w.daemon.Start())
	daemon := w.daemon
	t.Cleanup(func() {
		if daemon.ProcessState == nil {
			_ = daemon.Process.Kill()
			_ = daemon.Wait()
		}
	})
}

func (w *faultyEnv) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, w.daemon.Process.Kill())
	_ = w.daemon.Wait() // it was killed
}

// health is the answer of /health.
type health struct {
	code     int
	Status   string
	Reasons  []reason
	Warnings []reason
}

func (w *faultyEnv) readHealth(t *testing.T) health {
	t.Helper()
	return askHealth(t, w.health)
}

// askHealth is empty without an answer.
func askHealth(t *testing.T, url string) (a health) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return health{}
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		return health{}
	}
	a.code = res.StatusCode
	return a
}

func (w *faultyEnv) waitUntilWell(t *testing.T) {
	t.Helper()
	waitFor(t, "a daemon that is well, but for nodes that were wrong before", func() bool {
		a := w.readHealth(t)
		return a.Status == "ok" && !slices.ContainsFunc(a.Warnings, func(r reason) bool { return r.Kind != string(status.NodeMended) })
	})
}

// reason is a condition as /health has it.
type reason struct{ Kind, Chain string }

// waitForCondition waits until /health has a kind of condition.
func (w *faultyEnv) waitForCondition(t *testing.T, kind status.Kind) {
	t.Helper()
	waitFor(t, string(kind)+" in /health", func() bool {
		a := w.readHealth(t)
		return slices.ContainsFunc(a.Reasons, func(r reason) bool { return r.Kind == string(kind) })
	})
}

// steal sends coin away with the hot account's key, as a thief of the key does.
func (w *faultyEnv) steal(t *testing.T, wei *big.Int) {
	t.Helper()
	w.sendWith(t, wallet.SourcePaths(ethereum.CoinType).Hot(0), wei)
}

// sendWith sends coin away with one of the gateway's keys.
func (w *faultyEnv) sendWith(t *testing.T, path string, wei *big.Int) (hash string) {
	t.Helper()
	tx, err := dev.SendByHand(t.Context(), w.user.Eth.Client, w.keys, path, common.HexToAddress(goodPayee), wei)
	require.NoError(t, err)
	require.NoError(t, w.user.Eth.Mined(t.Context(), tx))
	return tx.Hex()
}

// runCommand runs a command and returns its output and whether it succeeds.
func (w *faultyEnv) runCommand(t *testing.T, args ...string) (string, bool) {
	t.Helper()
	out, err := w.command(t, args...)
	if err != nil {
		out += err.Error()
	}
	return out, err == nil
}

// findLine returns the first line that has all the words.
func findLine(out string, words ...string) string {
	for l := range strings.Lines(out) {
		has := 0
		for _, word := range words {
			if strings.Contains(l, word) {
				has++
			}
		}
		if has == len(words) {
			return l
		}
	}
	return ""
}
