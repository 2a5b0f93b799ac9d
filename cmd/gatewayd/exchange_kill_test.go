package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
	api "gatewayd/exchangeapi/client"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// exchangeProcess is the process that is killed and started again.
type exchangeProcess struct {
	dir, index string
	cmd        *exec.Cmd // nil while it is not open
}

func newHTTPClient() *http.Client {
	return &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
}

// urls are the addresses of the process that runs now.
func (h *exchangeProcess) urls() (exchangeURLs, error) { return readExchangeURLs(h.dir) }

// start runs the process and waits until it answers.
func (h *exchangeProcess) start(t *testing.T) exchangeURLs {
	t.Helper()
	h.cmd = exec.Command(exchangeCommand, h.dir, h.index)
	h.cmd.Stderr = t.Output()
	_, err := h.cmd.StdinPipe() // it ends with this process: see exchangeProcessMain
	require.NoError(t, err)
	require.NoError(t, h.cmd.Start())
	var info exchangeURLs
	waitFor(t, "the exchange process", func() (there bool) {
		var err error
		info, err = h.urls()
		return err == nil
	})
	return info
}

// kill ends the process as a power cut would, and removes its URLs.
func (h *exchangeProcess) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, h.cmd.Process.Kill())
	var exit *exec.ExitError
	require.ErrorAs(t, h.cmd.Wait(), &exit)
	require.False(t, exit.Exited(), "it ended by itself")
	h.cmd = nil
	require.NoError(t, os.Remove(filepath.Join(h.dir, "urls.json")))
}

// close ends a process that a failed test has left.
func (h *exchangeProcess) close() {
	if h.cmd != nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	}
}

// killPlan is the end condition of TestExchangeKilled: numbers of accepted orders and of kills.
type killPlan struct {
	orders, kills int
	life          time.Duration // of the process, at most
}

// TestExchangeKilled kills the exchange with its chain, index, REST and WebSocket every few seconds
// while ten traders place and cancel, and one client records every push. Afterwards every
// acknowledged block is on the chain, the index equals a rebuilt one, every trade counts once, and
// no token appeared or vanished. GATEWAYD_EXCHANGE_ORDERS=100000 makes it long.
func TestExchangeKilled(t *testing.T) {
	t.Parallel()
	plan := killPlan{orders: 5000, kills: 8, life: 3 * time.Second}
	if testing.Short() {
		plan = killPlan{orders: 500, kills: 3, life: 2 * time.Second}
	}
	if text := os.Getenv("GATEWAYD_EXCHANGE_ORDERS"); text != "" {
		var err error
		plan.orders, err = strconv.Atoi(text)
		require.NoError(t, err)
		plan.life = 6 * time.Second
	}
	dir := t.TempDir()
	killExchange(t, plan, dir, "sqlite:"+filepath.Join(dir, "index.db"))
}

// TestExchangeKilledOnPostgres is the same with the index in PostgreSQL, which lives on.
func TestExchangeKilledOnPostgres(t *testing.T) {
	t.Parallel()
	killExchange(t, killPlan{orders: 800, kills: 3, life: time.Second}, t.TempDir(), recordstest.Postgres(t).Database(t))
}

func killExchange(t *testing.T, plan killPlan, dir, index string) {
	t.Helper()
	seed := seedOf(t)
	keys := buildExchange(t, dir, index)
	chain, err := exchangeChainConfig(dir)
	require.NoError(t, err)
	before := readExchangeBooks(t, chain)
	h := &exchangeProcess{dir: dir, index: index}
	t.Cleanup(h.close)
	p := &acceptedBlocks{refused: map[string]int{}}
	w := &listener{exchange: h, trades: map[string]bool{}, ended: map[string]api.Status{}}
	deadline, cancel := context.WithTimeout(t.Context(), 12*time.Minute+time.Duration(plan.orders)*30*time.Millisecond)
	defer cancel()
	ctx, stop := context.WithCancel(deadline)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	h.start(t)
	for _, one := range newTraders(h, p, keys, seed) {
		g.Go(func() error { return one.trade(ctx) })
	}
	g.Go(func() error { return w.listen(ctx) })
	kills := h.killRandomly(ctx, t, plan, p, rand.New(rand.NewPCG(seed, 0)))
	stop()
	require.NoError(t, g.Wait())
	behind := time.Now()
	h.waitForOrders(deadline, t, p)
	t.Logf("the index was %s behind", time.Since(behind).Round(100*time.Millisecond))
	h.kill(t) // in the end, too
	p.log(t, kills, w)
	checkExchange(t, chain, index, p, w, before)
}

func newTraders(h *exchangeProcess, p *acceptedBlocks, keys [][2]string, seed uint64) (traders []*trader) {
	for i := range keyedTraders + plainTraders {
		one := &trader{key: exchangeKey(1 + i), rng: rand.New(rand.NewPCG(seed, uint64(1+i))), exchange: h, accepted: p}
		if i < len(keys) {
			one.keyed = keys[i]
		}
		traders = append(traders, one)
	}
	return traders
}

// killRandomly kills the process at random moments and asks the next one for every block accepted
// since.
func (h *exchangeProcess) killRandomly(ctx context.Context, t *testing.T, plan killPlan, p *acceptedBlocks, rng *rand.Rand) (kills int) {
	t.Helper()
	checked := 0
	for kills = 0; ctx.Err() == nil; kills++ {
		if orders, _ := p.count(); orders >= plan.orders && kills >= plan.kills {
			return kills
		}
		life := 200*time.Millisecond + time.Duration(rng.Int64N(int64(plan.life)))
		select {
		case <-time.After(life):
		case <-ctx.Done():
		}
		h.kill(t)
		orders, accepted := p.count()
		if kills%20 == 19 {
			t.Logf("%d kills, %d orders", kills+1, orders)
		}
		info := h.start(t)
		h.requireBlocks(t, info, p.since(checked)[:accepted-checked])
		checked = accepted
	}
	return kills
}

// requireBlocks requires that the process has the blocks that the one before had accepted.
func (h *exchangeProcess) requireBlocks(t *testing.T, info exchangeURLs, blocks []core.Hash) {
	t.Helper()
	n, err := client.Dial(t.Context(), info.Node, client.Options{})
	require.NoError(t, err)
	defer n.Close()
	found, err := n.AccountBlocksByHash(t.Context(), blocks)
	require.NoError(t, err)
	for i, b := range found {
		require.NotNil(t, b, "block %s was accepted and is lost", blocks[i])
	}
}

// waitForOrders waits until REST shows no order as merely requested.
func (h *exchangeProcess) waitForOrders(ctx context.Context, t *testing.T, p *acceptedBlocks) {
	t.Helper()
	orders, _ := p.count()
	require.Positive(t, orders)
	info, err := h.urls()
	require.NoError(t, err)
	rest := &api.Client{Base: info.API, HTTP: newHTTPClient()}
	defer rest.HTTP.CloseIdleConnections()
	asked := api.PendingRequest
	for n := range keyedTraders {
		f := api.OrderFilter{Address: exchangeKey(1 + n).Address().String(), Status: &asked}
		require.NoError(t, dev.Poll(ctx, func() (bool, error) {
			list, err := rest.Orders(ctx, f, api.Page{Limit: 1})
			return err == nil && len(list.Order) == 0, err
		}), "no order that is only requested")
	}
}

func (p *acceptedBlocks) log(t *testing.T, kills int, w *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Logf("%d kills, %d orders of %d blocks accepted, %d without an answer, %d trades pushed, refusals %v",
		kills, p.orders, len(p.blocks), p.unclear, len(w.trades), p.refused)
}

// listener records the pushes of all trades and orders while the process runs.
type listener struct {
	exchange *exchangeProcess

	mu     sync.Mutex // only one connection at a time has it, but the next may begin before the last has ended
	trades map[string]bool
	ended  map[string]api.Status // orders whose end was pushed
}

// listen runs until ctx ends. Its error is an invalid push.
func (l *listener) listen(ctx context.Context) error {
	for ctx.Err() == nil {
		info, err := l.exchange.urls()
		if err != nil {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		if err := l.listenOnce(ctx, info); err != nil {
			return err
		}
	}
	return nil
}

// listenOnce listens to one run of the process.
func (l *listener) listenOnce(ctx context.Context, info exchangeURLs) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	s := &api.Stream{
		URL: "ws" + strings.TrimPrefix(info.API, "http") + "/v2/ws", Topics: exchangeTopics(), Handle: l.checkPush, Retry: 10 * time.Millisecond, Silent: 10 * time.Second,
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer hangUp()
		return s.Run(ctx)
	})
	g.Go(func() error {
		defer hangUp()
		for ctx.Err() == nil {
			if now, err := l.exchange.urls(); err != nil || now != info {
				return nil
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
		}
		return nil
	})
	err := g.Wait()
	if errors.Is(err, api.ErrRefused) {
		return nil // the process is not ready yet
	}
	return err
}

func exchangeTopics() (topics []string) {
	for _, symbol := range exchangeMarkets {
		topics = append(topics, "market."+symbol+".trade")
	}
	for n := range keyedTraders + plainTraders {
		topics = append(topics, "order."+exchangeKey(1+n).Address().String())
	}
	return topics
}

// checkPush is an error for what must never be pushed: a trade twice, in whatever run, and anything
// about an order that has ended.
func (l *listener) checkPush(p api.Push) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.HasPrefix(p.Topic, "market.") {
		trades, err := p.Trades()
		if err != nil {
			return err
		}
		for _, one := range trades {
			if l.trades[one.TradeID] {
				return fmt.Errorf("trade %s was pushed twice", one.TradeID)
			}
			l.trades[one.TradeID] = true
		}
		return nil
	}
	o, err := p.Order()
	if err != nil {
		return err
	}
	if end, ended := l.ended[o.OrderID]; ended {
		return fmt.Errorf("order %s was pushed as %d after %d", o.OrderID, o.Status, end)
	}
	if o.Status.Final() {
		l.ended[o.OrderID] = o.Status
	}
	return nil
}
