package index

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// flaky is a node that can be out of reach.
type flaky struct {
	*client.Client
	down atomic.Bool
}

var errDown = errors.New("out of reach")

func (f *flaky) LatestAccountBlock(ctx context.Context, a core.Address) (*client.AccountBlock, error) {
	if f.down.Load() {
		return nil, errDown
	}
	return f.Client.LatestAccountBlock(ctx, a)
}

func run(t *testing.T, x *Index) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- x.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
}

const waitTimeout = 50 * time.Second // a failing test waits so long for one thing; less than the longest time between polls

// await waits for an update that satisfies the condition.
func await(t *testing.T, s *Subscription, ok func(Update) bool) {
	for {
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		u, err := s.Next(ctx)
		cancel()
		require.NoError(t, err)
		if ok(u) {
			return
		}
	}
}

func TestRun(t *testing.T) {
	r := newRig(t)
	node := &flaky{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	updates := x.Subscribe(1000)
	require.ErrorIs(t, x.Ready(), errBehind)
	run(t, x)
	require.Eventually(t, func() bool { return x.Ready() == nil }, waitTimeout, time.Millisecond)
	id := r.order(r.alice, dex.Sell, "10", coins(20))
	await(t, updates, func(u Update) bool { return len(u.Orders) > 0 && u.Orders[0].Status == Open })
	require.Equal(t, Open, r.find(x, r.alice, id).Status)
	tokens := x.Tokens()
	require.Len(t, tokens, 3)
	require.Equal(t, Token{
		ID: coin.String(), Name: "COIN Token", Symbol: "COIN-000", OriginalSymbol: "COIN", TotalSupply: "3000000000000000",
		Owner: r.owner.addr.String(), Decimals: 8,
	}, tokens[0])
	require.Equal(t, dex.QuoteVITE, tokens[2].QuoteType)

	node.down.Store(true)
	require.Eventually(t, func() bool { return errors.Is(x.Ready(), errDown) }, waitTimeout, time.Millisecond)
	r.order(r.bob, dex.Buy, "10", coins(20))
	node.down.Store(false)
	await(t, updates, func(u Update) bool { return len(u.Trades) == 1 })
	require.Eventually(t, func() bool { return x.Ready() == nil }, waitTimeout, time.Millisecond)
}

// TestPollOnly: a node that cannot announce blocks is polled.
func TestPollOnly(t *testing.T) {
	r := newRig(t)
	x := r.openOn(sqliteURL(t), struct{ Node }{r.client})
	updates := x.Subscribe(1000)
	run(t, x)
	r.order(r.alice, dex.Sell, "10", coins(20))
	await(t, updates, func(u Update) bool { return len(u.Depths) == 1 })
}

// TestAnnounced: blocks of a node with announcements arrive without a poll.
func TestAnnounced(t *testing.T) {
	r := newRig(t)
	r.poll = time.Minute
	x := r.open(sqliteURL(t))
	updates := x.Subscribe(1000)
	run(t, x)
	require.Eventually(t, func() bool { return x.Ready() == nil }, waitTimeout, time.Millisecond)
	r.order(r.alice, dex.Sell, "10", coins(20))
	await(t, updates, func(u Update) bool { return len(u.Depths) == 1 })
}

// TestAgedTickers: a ticker is announced again when a trade has become a day old, once.
func TestAgedTickers(t *testing.T) {
	r := newRig(t)
	x := r.caught(sqliteURL(t))
	updates := x.Subscribe(1000)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(15))
	r.catchUp(x)
	var told []Ticker
	read := func() {
		for told = nil; len(updates.updates) > 0; {
			u, err := updates.Next(t.Context())
			require.NoError(t, err)
			told = append(told, u.Tickers...)
		}
	}
	read()
	require.NotEmpty(t, told)
	require.Equal(t, "15.00", told[len(told)-1].Quantity[:5])
	x.announceAged()
	read()
	require.Empty(t, told)
	r.clock.Add(day)
	x.announceAged()
	x.announceAged()
	read()
	require.Len(t, told, 1)
	require.Equal(t, x.Tickers()[0], told[0])
	require.Equal(t, "0.00", told[0].Quantity[:4])
}

// TestFreshChain: a restarted chain, as development chains do, replaces the one before.
func TestFreshChain(t *testing.T) {
	r := newRig(t)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(15))
	url := sqliteURL(t)
	require.NoError(t, r.caught(url).Close())
	r = newRig(t)
	r.setClock(startTime + day)
	r.order(r.bob, dex.Buy, "11", coins(15))
	x := r.caught(url)
	require.Empty(t, mustTrades(t, x))
	r.same(x)
}

// TestOtherChain: a chain that has nothing in common with the index is refused, and nothing is
// lost.
func TestOtherChain(t *testing.T) {
	r := newRig(t)
	url := sqliteURL(t)
	x := r.caught(url)
	require.NoError(t, x.store.update(t.Context(), func(t *tx) error {
		return errors.Join(t.exec("DELETE FROM ex_blocks WHERE height < 5"), t.exec("UPDATE ex_blocks SET hash = send"))
	}))
	before := dump(t, x)
	require.NoError(t, x.Close())
	x = r.open(url)
	require.ErrorIs(t, x.follower.catchUp(t.Context()), ErrForked)
	require.Equal(t, before, dump(t, x))
}

// TestTwoFollowers: a second process that follows into the same database is detected, and continues
// from the stored state.
func TestTwoFollowers(t *testing.T) {
	r := newRig(t)
	url := sqliteURL(t)
	x, y := r.caught(url), r.caught(url)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.catchUp(x)
	x.follower.poll(t.Context(), 1)
	require.NoError(t, x.Ready())
	y.follower.poll(t.Context(), 1)
	require.ErrorIs(t, y.Ready(), errMovedByOther)
	y.follower.poll(t.Context(), 2)
	require.NoError(t, y.Ready())
	r.same(y)
}

func TestPrune(t *testing.T) {
	r := newRig(t)
	x := r.caught(sqliteURL(t))
	before := dump(t, x)
	require.NoError(t, x.follower.upkeep(t.Context(), 0))
	require.Equal(t, before, dump(t, x), "all is recent")
}

func TestConfig(t *testing.T) {
	for url, want := range map[string]string{
		"sqlite:index.db": "", "postgres://user@host/name": "", "sqlite:": "plain path", "sqlite::memory:": "plain path",
		"sqlite:file:x?mode=ro": "plain path", "mysql://x": "must be sqlite:PATH or a postgres:// address",
	} {
		err := Config{URL: url}.Check()
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	require.ErrorContains(t, Config{URL: "sqlite:x", Poll: time.Hour}.Check(), "poll")
	require.ErrorContains(t, Config{URL: "sqlite:x", Precisions: map[string]Precision{"A_B": {19, 0}}}.Check(), "A_B")
}

func TestNewerSchema(t *testing.T) {
	url := sqliteURL(t)
	x, err := New(t.Context(), Config{URL: url}, nil, quiet())
	require.NoError(t, err)
	require.NoError(t, x.store.update(t.Context(), func(t *tx) error {
		return t.exec("INSERT INTO " + versions + " (version_id, is_applied) VALUES (99, 1)")
	}))
	require.NoError(t, x.Close())
	_, err = New(t.Context(), Config{URL: url}, nil, quiet())
	require.ErrorIs(t, err, ErrNewer)
}

// busy is a node on which a change happens right after it has returned the newest block of dexFund.
type busy struct {
	*client.Client
	happens func()
}

func (b *busy) LatestAccountBlock(ctx context.Context, a core.Address) (*client.AccountBlock, error) {
	top, err := b.Client.LatestAccountBlock(ctx, a)
	if happens := b.happens; a == core.DexFundContract && happens != nil {
		b.happens = nil
		happens()
	}
	return top, err
}

// TestReceivedBeforeOpen: an order is received (2) before it is open (3), also when dexTrade has it
// while dexFund is being read.
func TestReceivedBeforeOpen(t *testing.T) {
	r := newRig(t)
	node := &busy{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	r.catchUp(x)
	updates := x.Subscribe(10)
	var statuses []Status
	wakeOnBlocks := func() {
		for _, u := range queuedUpdates(updates) {
			for _, o := range u.Orders {
				statuses = append(statuses, o.Status)
			}
		}
	}
	node.happens = func() { r.order(r.alice, dex.Sell, "10", coins(20)) }
	r.catchUp(x)
	wakeOnBlocks()
	require.Empty(t, statuses, "what came while the index looked is for the next look")
	r.catchUp(x)
	wakeOnBlocks()
	require.Equal(t, []Status{Received, Open}, statuses)
}

// lagsBehind is a node that answers now and then as it did before.
type lagsBehind struct {
	*client.Client
	old atomic.Pointer[map[core.Address]*client.AccountBlock] // nil: it does not lag
}

func (l *lagsBehind) LatestAccountBlock(ctx context.Context, a core.Address) (*client.AccountBlock, error) {
	if old := l.old.Load(); old != nil {
		return (*old)[a], nil
	}
	return l.Client.LatestAccountBlock(ctx, a)
}

// newest are the newest blocks of both contracts.
func (r *rig) newest() *map[core.Address]*client.AccountBlock {
	blocks := map[core.Address]*client.AccountBlock{}
	for _, c := range []contract{fund, trade} {
		b, err := r.client.LatestAccountBlock(r.t.Context(), c.address())
		require.NoError(r.t, err)
		blocks[c.address()] = b
	}
	return &blocks
}

// TestLaggingAnswer: an answer of a node that lags takes nothing back, and nothing is pushed twice;
// a shorter chain that lasts, and one with another block, do.
func TestLaggingAnswer(t *testing.T) {
	r := newRig(t)
	r.order(r.alice, dex.Sell, "10", coins(40))
	before := r.newest()
	r.order(r.bob, dex.Buy, "10", coins(20))
	node := &lagsBehind{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	poll := func() {
		x.follower.poll(t.Context(), 1)
		require.NoError(t, x.Ready())
	}
	poll()
	updates := x.Subscribe(100)
	for range 3 {
		node.old.Store(before)
		poll()
		r.clock.Add(20)
		node.old.Store(&map[core.Address]*client.AccountBlock{}) // of a node that has just begun
		poll()
		node.old.Store(nil)
		poll()
	}
	require.Empty(t, queuedUpdates(updates))
	require.Len(t, mustTrades(t, x), 1)
	r.same(x)

	r.snapshot()
	height := r.head()
	r.order(r.bob, dex.Buy, "10", coins(20))
	r.snapshot()
	poll()
	require.Len(t, mustTrades(t, x), 2)
	require.NoError(t, r.chain.Rollback(height))
	poll()
	require.Len(t, mustTrades(t, x), 2)
	r.clock.Add(30)
	poll()
	require.Len(t, mustTrades(t, x), 1, "it lasts")

	for range 3 {
		r.order(r.bob, dex.Buy, "9", coins(20))
	}
	r.snapshot()
	poll()
	require.NoError(t, r.chain.Rollback(height))
	r.order(r.alice, dex.Sell, "11", coins(20))
	poll()
	require.Len(t, mustTrades(t, x), 1)
	r.same(x)
}

// TestRemovedBlocks: a node that announces removed blocks itself is believed at once.
func TestRemovedBlocks(t *testing.T) {
	r := newRig(t)
	x := r.open(sqliteURL(t))
	updates := x.Subscribe(1000)
	run(t, x)
	r.order(r.alice, dex.Sell, "10", coins(20))
	r.snapshot()
	height := r.head()
	await(t, updates, func(u Update) bool { return len(u.Depths) == 1 })
	r.order(r.bob, dex.Buy, "10", coins(20))
	r.snapshot()
	await(t, updates, func(u Update) bool { return len(u.Trades) == 1 })
	require.NoError(t, r.chain.Rollback(height))
	await(t, updates, func(u Update) bool { return u.Undone })
}
