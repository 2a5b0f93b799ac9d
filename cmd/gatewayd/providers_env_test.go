package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/internal/testing/faults"
	"gatewayd/wallet"
)

// providerTransfers is the number of deposits, and of withdrawals, under each habit.
func providerTransfers(t *testing.T) int {
	t.Helper()
	text := os.Getenv("GATEWAYD_HABIT_TRANSFERS")
	if text == "" {
		return 2
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// providerEnv is a daemon with a separate signer whose source nodes, one node behind proxies, have
// habits of providers.
type providerEnv struct {
	*faultyEnv
	behind *ethtest.Node
	nodes  []*faults.Node
}

// newProviderEnv starts one with a number of source nodes before anvil, reached over HTTP or
// WebSocket.
func newProviderEnv(t *testing.T, count int, sockets bool) *providerEnv {
	t.Helper()
	return newProviderEnvOn(t, startAnvil(t, time.Second), count, sockets)
}

func newProviderEnvOn(t *testing.T, behind *ethtest.Node, count int, sockets bool, adjust ...func(*config.Config)) *providerEnv {
	t.Helper()
	w := &providerEnv{faultyEnv: new(faultyEnv), behind: behind}
	var err error
	w.keys, err = wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	w.rich = startRichExchange(t, w.keys)
	var urls []string
	for range count {
		n := openFaultyNode(t, w.behind.URL())
		w.nodes = append(w.nodes, n)
		urls = append(urls, n.URL)
		if sockets {
			urls[len(urls)-1] = n.SocketURL()
		}
	}
	o := quickOptions(t.TempDir())
	o.Listen, o.Operators, o.Poll = freeAddress(t), freeAddress(t), time.Second/2
	c := dev.Config(o, urls[0], w.behind.ChainID(), w.rich.URL())
	c.Log.Level, c.Status.Every, c.Watcher.Reconcile = "info", 2*time.Second, time.Second
	c.Ethereum[0].Nodes, c.Ethereum[0].Timeout, c.Ethereum[0].Finality = urls, 4*time.Second, "finalized"
	for _, f := range adjust {
		f(&c)
	}
	stores, store, password := recovered(t)
	c.Wallet = config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
	signer := splitSigner(t, &c)
	path := filepath.Join(c.Data, "config.yaml")
	text, err := yaml.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	w.cfg, w.info = c, dev.NewInfo(c, path, "")
	w.info.Source, w.info.Exchange, w.info.Operators = w.behind.URL(), w.rich.URL(), "http://"+o.Operators
	w.rig = &rig{Env: &dev.Env{Info: w.info}, t: t}
	w.gateway, w.health = w.info.Gateway, dev.RootOf(w.info.Gateway)+"/health"
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil))
	signer.start(t)
	w.start(t)
	w.addUser(t)
	_, err = w.user.Faucet.Pay(t.Context(), w.user.Token.Asset, w.user.Eth.Address(), units(w.user.Token, 1_000_000*uint64(providerTransfers(t))).Uint256().ToBig(), nil)
	require.NoError(t, err)
	return w
}

// have gives every source node a habit of its own kind.
func (w *providerEnv) have(habit func() faults.Habit) {
	for _, n := range w.nodes {
		h := habit()
		n.Fail(faults.Fault{Habit: &h})
	}
}

// switchHeads has the endpoints show two blocks of another branch, until the daemon has read them.
// The branch that users see stands still meanwhile, so that no block on either becomes final.
func (w *providerEnv) switchHeads(t *testing.T) {
	t.Helper()
	require.NoError(t, w.behind.SetPeriod(0))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	other, err := ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Anvil, Fork: w.behind.URL()})
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	require.NoError(t, other.SetMining(false)) // a payment that it gets stays unmined, and is lost with it
	require.NoError(t, other.Mine(2))
	head, err := other.Client().HeaderByNumber(ctx, nil)
	require.NoError(t, err)
	for _, n := range w.nodes {
		require.NoError(t, n.GoTo(other.URL()))
	}
	waitFor(t, "the other branch to be read", func() bool { return w.cursor(t, "eth").Hash == head.Hash().Hex() })
	for _, n := range w.nodes {
		require.NoError(t, n.GoTo(w.behind.URL()))
	}
	require.NoError(t, w.behind.SetPeriod(time.Second))
}

// transfersUnderWay are deposits and withdrawals that were sent.
type transfersUnderWay struct {
	deposits, withdrawals []string // hashes
	payees                []string
	amount                chain.Amount
}

// send has the user deposit and withdraw so many times, one after the other.
func (w *providerEnv) send(t *testing.T, count int) (list transfersUnderWay) {
	t.Helper()
	list.amount = w.user.Times(2)
	token, call := w.depositCall(t, list.amount)
	for range count {
		hash, err := w.user.Eth.Submit(t.Context(), token, nil, call)
		require.NoError(t, err)
		list.deposits = append(list.deposits, hash.Hex())
		payee, sent := w.user.withdrawToPayee(t, list.amount)
		list.payees, list.withdrawals = append(list.payees, payee), append(list.withdrawals, sent)
	}
	return list
}

// depositCall is a token's transfer to the user's deposit address: a contract's transaction, so
// that its block needs a trace.
func (w *providerEnv) depositCall(t *testing.T, amount chain.Amount) (token common.Address, call []byte) {
	t.Helper()
	place, err := w.user.Gateway.DepositInfo(t.Context(), w.user.Token.Token, w.user.Vite.Address().String())
	require.NoError(t, err)
	call = contracts.NewTestToken().PackTransfer(common.HexToAddress(place.DepositAddress), amount.Uint256().ToBig())
	return common.HexToAddress(w.user.Token.Asset), append(call, place.Label...)
}

// await waits until all of them have arrived, exactly once.
func (w *providerEnv) await(t *testing.T, list transfersUnderWay) {
	t.Helper()
	for _, hash := range list.deposits {
		w.user.mustAwait(t, "/deposit-records", hash, "TOT_CONFIRMED")
	}
	for i, hash := range list.withdrawals {
		w.user.mustAwait(t, "/withdraw-records", hash, "OPPOSITE_CONFIRMED")
		w.user.requirePaid(t, list.payees[i], list.amount)
	}
}

// warnings collects the kinds of conditions that /health has while a test runs.
type warnings struct {
	mu    sync.Mutex
	kinds []string
	stop  chan struct{} // closed to end
	ended chan struct{} // closed at the end
}

func (w *providerEnv) watchWarnings(t *testing.T) *warnings {
	t.Helper()
	k := &warnings{stop: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(k.ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-k.stop:
				return
			case <-tick.C:
				k.add(askHealth(t, w.health))
			}
		}
	}()
	return k
}

func (k *warnings) add(h health) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range append(h.Reasons, h.Warnings...) {
		if !slices.Contains(k.kinds, r.Kind) {
			k.kinds = append(k.kinds, r.Kind)
		}
	}
}

// end stops watching and returns what was seen.
func (k *warnings) end() []string {
	close(k.stop)
	<-k.ended
	return k.kinds
}
