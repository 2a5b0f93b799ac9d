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

	"gatewayd/devnet"
	api "gatewayd/exchangeapi/client"
	"gatewayd/records/recordstest"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// hall is the process that is killed.
type hall struct {
	dir, index string
	cmd        *exec.Cmd // nil while it is not open
}

func newHTTPClient() *http.Client {
	return &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2}}
}

// where is the hall that lives now.
func (h *hall) where() (hallInfo, error) { return readHallInfo(h.dir) }

// open starts the process and waits until it answers.
func (h *hall) open(t *testing.T) hallInfo {
	t.Helper()
	h.cmd = exec.Command(hallCommand, h.dir, h.index)
	h.cmd.Stderr = t.Output()
	_, err := h.cmd.StdinPipe() // it ends with this process: see hallMain
	require.NoError(t, err)
	require.NoError(t, h.cmd.Start())
	var info hallInfo
	waitFor(t, "the hall", func() (there bool) {
		var err error
		info, err = h.where()
		return err == nil
	})
	return info
}

// kill ends the process as a power cut would, and nobody is to think that it is there.
func (h *hall) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, h.cmd.Process.Kill())
	var exit *exec.ExitError
	require.ErrorAs(t, h.cmd.Wait(), &exit)
	require.False(t, exit.Exited(), "it ended by itself")
	h.cmd = nil
	require.NoError(t, os.Remove(filepath.Join(h.dir, "hall.json")))
}

// close ends what a failed test has left.
func (h *hall) close() {
	if h.cmd != nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	}
}

// killPlan is how long TestExchangeKilled goes on: until so many orders were promised and so many kills done.
type killPlan struct {
	orders, kills int
	life          time.Duration // of the hall, at most
}

// TestExchangeKilled kills the exchange with its chain, index, REST and WebSocket every few seconds while ten traders place and cancel, and one client
// hears every push. Afterwards every block that was ever acknowledged is on the chain, the index is what one made anew is, every trade counts once, and
// no token has come or gone. GATEWAYD_EXCHANGE_ORDERS=100000 makes it long.
func TestExchangeKilled(t *testing.T) {
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
	killExchange(t, killPlan{orders: 800, kills: 3, life: time.Second}, t.TempDir(), recordstest.Postgres(t).Database(t))
}

func killExchange(t *testing.T, plan killPlan, dir, index string) {
	t.Helper()
	seed := seedOf(t)
	keys := openHall(t, dir, index)
	before := countHall(t, dir)
	h := &hall{dir: dir, index: index}
	t.Cleanup(h.close)
	p := &promises{refused: map[string]int{}}
	w := &listener{hall: h, trades: map[string]bool{}, ended: map[string]api.Status{}}
	patience, cancel := context.WithTimeout(t.Context(), 12*time.Minute+time.Duration(plan.orders)*30*time.Millisecond)
	defer cancel()
	ctx, stop := context.WithCancel(patience)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	h.open(t)
	for _, one := range hallTraders(h, p, keys, seed) {
		g.Go(func() error { return one.trade(ctx) })
	}
	g.Go(func() error { return w.listen(ctx) })
	kills := h.massacre(ctx, t, plan, p, rand.New(rand.NewPCG(seed, 0)))
	stop()
	require.NoError(t, g.Wait())
	behind := time.Now()
	h.settle(patience, t, p)
	t.Logf("the index was %s behind", time.Since(behind).Round(100*time.Millisecond))
	h.kill(t) // in the end, too
	p.log(t, kills, w)
	h.reckon(t, p, w, before)
}

func hallTraders(h *hall, p *promises, keys [][2]string, seed uint64) (crowd []*trader) {
	for i := range keyedTraders + plainTraders {
		one := &trader{key: hallKey(1 + i), rng: rand.New(rand.NewPCG(seed, uint64(1+i))), hall: h, promises: p}
		if i < len(keys) {
			one.keyed = keys[i]
		}
		crowd = append(crowd, one)
	}
	return crowd
}

// massacre kills the hall at random moments of its life and asks the next one for everything that was promised since.
func (h *hall) massacre(ctx context.Context, t *testing.T, plan killPlan, p *promises, rng *rand.Rand) (kills int) {
	t.Helper()
	asked := 0
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
		orders, promised := p.count()
		if kills%20 == 19 {
			t.Logf("%d kills, %d orders", kills+1, orders)
		}
		info := h.open(t)
		h.keeps(t, info, p.since(asked)[:promised-asked])
		asked = promised
	}
	return kills
}

// keeps says that the hall has the blocks that the one before had promised.
func (h *hall) keeps(t *testing.T, info hallInfo, blocks []core.Hash) {
	t.Helper()
	n, err := client.Dial(t.Context(), info.Node, client.Options{})
	require.NoError(t, err)
	defer n.Close()
	found, err := n.AccountBlocksByHash(t.Context(), blocks)
	require.NoError(t, err)
	for i, b := range found {
		require.NotNil(t, b, "block %s was promised and is lost", blocks[i])
	}
}

// settle waits until REST shows the newest orders as more than asked for.
func (h *hall) settle(ctx context.Context, t *testing.T, p *promises) {
	t.Helper()
	orders, _ := p.count()
	require.Positive(t, orders)
	info, err := h.where()
	require.NoError(t, err)
	rest := &api.Client{Base: info.API, HTTP: newHTTPClient()}
	defer rest.HTTP.CloseIdleConnections()
	asked := api.PendingRequest
	for n := range keyedTraders {
		f := api.OrderFilter{Address: hallKey(1 + n).Address().String(), Status: &asked}
		require.NoError(t, devnet.Poll(ctx, func() (bool, error) {
			list, err := rest.Orders(ctx, f, api.Page{Limit: 1})
			return err == nil && len(list.Order) == 0, err
		}), "no order only asked for")
	}
}

func (p *promises) log(t *testing.T, kills int, w *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.Logf("%d kills, %d orders of %d blocks promised, %d without an answer, %d trades heard, refusals %v",
		kills, p.orders, len(p.blocks), p.unclear, len(w.trades), p.refused)
}

// listener hears the pushes of all trades and orders, as far as the hall lives.
type listener struct {
	hall *hall

	mu     sync.Mutex // only one connection at a time has it, but the next may begin before the last has ended
	trades map[string]bool
	ended  map[string]api.Status // orders whose end was pushed
}

// listen goes on until ctx ends. Its error is a push that must not be.
func (l *listener) listen(ctx context.Context) error {
	for ctx.Err() == nil {
		info, err := l.hall.where()
		if err != nil {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		if err := l.hear(ctx, info); err != nil {
			return err
		}
	}
	return nil
}

// hear listens to one life of the hall.
func (l *listener) hear(ctx context.Context, info hallInfo) error {
	ctx, hangUp := context.WithCancel(ctx)
	defer hangUp()
	s := &api.Stream{
		URL: "ws" + strings.TrimPrefix(info.API, "http") + "/v2/ws", Topics: hallTopics(), Handle: l.take, Retry: 10 * time.Millisecond, Silent: 10 * time.Second,
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer hangUp()
		return s.Run(ctx)
	})
	g.Go(func() error {
		defer hangUp()
		for ctx.Err() == nil {
			if now, err := l.hall.where(); err != nil || now != info {
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
		return nil // the hall is not that far yet
	}
	return err
}

func hallTopics() (topics []string) {
	for _, symbol := range hallMarkets {
		topics = append(topics, "market."+symbol+".trade")
	}
	for n := range keyedTraders + plainTraders {
		topics = append(topics, "order."+hallKey(1+n).Address().String())
	}
	return topics
}

// take says what must never be pushed: a trade twice, in whatever life, and anything of an order that has ended.
func (l *listener) take(p api.Push) error {
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
