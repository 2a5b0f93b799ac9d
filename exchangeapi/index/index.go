// Package index follows the exchange on the exchange chain and stores the data of the exchange API:
// orders, trades, bars, books, tickers, tokens, markets, deposits and withdrawals.
//
//	node ─▶ blocks of dexFund, dexTrade ─▶ ONE SQL TRANSACTION: rows + cursors
//	     ─▶ books in memory ─▶ Update to subscribers
//
// It owns its database, on SQLite or PostgreSQL, which can always be rebuilt from the chain; a
// rebuild loses only notes of orders that no contract has received yet. It serves no HTTP, signs
// and sends nothing, and computes no amounts: they are taken from the chain's events
// (docs/exchange-rules.md 2.6).
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/internal/database"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// Config selects the index database and the format of numbers.
type Config struct {
	// URL is "sqlite:PATH" or "postgres://user@host/name?...". The tables' names begin with ex_, so a server's database may be
	// shared. The password of a server belongs in PGPASSFILE or PGPASSWORD.
	URL string `yaml:"url"`
	// ReadURL is a standby of the server of URL. Trades, bars, transfers and ended orders are read
	// from it while it has all that this process has shown. Empty: all is read from URL.
	ReadURL string `yaml:"read_url"`
	// Poll is the interval at which a node without subscriptions is asked; 300 ms if zero.
	Poll time.Duration `yaml:"poll"`
	// Precisions are the decimals of markets, by symbol. Without a line a market's prices have as
	// many as its quote token and its quantities as many as its trade token, at most 8.
	Precisions map[string]Precision `yaml:"precisions"`
	// Now gives the time of day for tickers; nil means time.Now.
	Now func() time.Time `yaml:"-"`
}

// defaultPoll is the default interval between two polls of the node.
const defaultPoll = 300 * time.Millisecond

// Check reports every fault of the configuration.
func (c Config) Check() error {
	if err := database.CheckURL(c.URL); err != nil {
		return err
	}
	if c.Poll < 0 || c.Poll > time.Minute {
		return errors.New("poll: must be a duration up to a minute")
	}
	if err := c.checkReadURL(); err != nil {
		return fmt.Errorf("read_url: %w", err)
	}
	for symbol, p := range c.Precisions {
		if err := p.check(); err != nil {
			return fmt.Errorf("precisions: %s: %w", symbol, err)
		}
	}
	return nil
}

func (c Config) checkReadURL() error {
	if c.ReadURL == "" {
		return nil
	}
	for _, url := range []string{c.URL, c.ReadURL} {
		if _, file := database.Path(url); file || database.CheckURL(url) != nil {
			return errors.New("it and url must be postgres:// addresses")
		}
	}
	if c.Poll > maxStandbyPoll {
		return fmt.Errorf("poll must be at most %s with it", maxStandbyPoll)
	}
	return nil
}

// queries are the index's requests to a node in addition to blocks and events.
type queries interface {
	LatestSnapshotBlock(context.Context) (*client.SnapshotBlock, error)
	TokenInfo(context.Context, core.TokenID) (*client.TokenInfo, error)
	Funds(context.Context, core.Address) (map[core.TokenID]client.Fund, error)
}

// Node is the exchange chain's node as the index needs it; *client.Client is one.
type Node interface {
	ledger
	queries
}

// Index follows the exchange. It is safe for use by many goroutines. One Run at a time and one
// process per database follow the chain; any number may read. Of several processes on one
// PostgreSQL database one follows. The others take its changes from the outbox, compare them with
// their own nodes (Ready, Lag), and take over when it ends or stands still.
type Index struct {
	config Config
	node   Node
	log    logrus.FieldLogger
	store  *store
	// standby is nil without one.
	standby *standby
	cache   *cache
	feed    feed
	// commits delays the next commit until the cache and the subscribers have the present one.
	commits sync.Mutex
	noted   noteBatch
	cursors map[contract]cursor // under commits
	seq     uint64              // of the last change in the outbox that the cache has; under commits
	shown   atomic.Uint64       // the same, as soon as a reader may see it
	caught  atomic.Bool
	reached atomic.Bool
	trouble atomic.Pointer[error]
	lag     lagging
	// follower reads the chain; its goroutine alone uses it.
	follower *follower

	retainedBlocks uint64 // the constant, but for tests
}

// New opens the index's database and reads what is needed to answer. ErrNewer: a later program
// wrote the database.
func New(ctx context.Context, c Config, n Node, log logrus.FieldLogger) (*Index, error) {
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Poll == 0 {
		c.Poll = defaultPoll
	}
	s, err := openStore(ctx, c.URL)
	if err != nil {
		return nil, err
	}
	x := &Index{
		config: c, node: n, log: log, store: s, cache: newCache(c.Precisions),
		feed: feed{subscribers: map[*Subscription]struct{}{}}, cursors: map[contract]cursor{},
		retainedBlocks: retainedBlocks,
	}
	x.follower = newFollower(x)
	x.lag.open(c.Now())
	if x.standby, err = openStandby(ctx, s, c.ReadURL, &x.shown, log); err == nil {
		err = x.reload(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the index: %w", err), x.Close())
	}
	return x, nil
}

// Close closes the database; end Run first.
func (x *Index) Close() error { return errors.Join(x.standby.close(), x.store.close()) }

// Pools returns the state of the pools of connections, for metrics.
func (x *Index) Pools() map[string]sql.DBStats { return x.store.db.Pools() }

// errBehind is Ready's answer while blocks that the node has are not yet in the index.
var errBehind = errors.New("the index has not caught up with the chain")

// Ready returns nil while the index is up to date with the node and the node's chain advances, as
// of the last poll, which was a moment ago. Otherwise it returns the reason.
func (x *Index) Ready() error {
	if err := x.trouble.Load(); err != nil {
		return *err
	}
	if !x.caught.Load() {
		return errBehind
	}
	if x.lag.unconfirmed(x.config.Now()) > x.pollPatience() {
		return errSilent
	}
	return nil
}

// errSilent is Ready's answer while a poll hangs, as after the loss of the network.
var errSilent = errors.New("the node or the index's database does not answer")

// pollPatience bounds the time between two polls.
func (x *Index) pollPatience() time.Duration { return 5*time.Second + 2*x.config.Poll }

// feedPatience is the time without news of the chain after which subscribers no longer count as
// fed.
const feedPatience = 10 * time.Second

// Fed returns nil while updates reach subscribers: a poll of the chain or a change of another
// process was seen a moment ago. It also returns nil while the chain stands still.
func (x *Index) Fed() error {
	if silent := x.lag.silent(x.config.Now()); silent > feedPatience+2*x.config.Poll {
		return fmt.Errorf("no news of the exchange for %s", silent.Round(time.Second))
	}
	return nil
}

// Reached reports whether the node, or the process that follows it for us, has answered since the
// start. Until then the age of the stored data is unknown.
func (x *Index) Reached() bool { return x.reached.Load() }

// reload reads cache and cursors from the database. It is called under commits.
func (x *Index) reload(ctx context.Context) error {
	var c contents
	var seq uint64
	cursors := map[contract]cursor{}
	err := x.store.view(ctx, func(t *tx) (err error) {
		if seq, err = t.lastEntry(); err != nil {
			return err
		}
		for _, which := range []contract{fund, trade} {
			if cursors[which], err = t.cursor(which); err != nil {
				return err
			}
		}
		c, err = t.load(x.config.Precisions, x.config.Now().Unix())
		return err
	})
	if err != nil {
		return err
	}
	x.cursors, x.seq = cursors, seq
	x.shown.Store(seq)
	x.cache.replace(&c)
	return nil
}

// at returns the stored height of a contract.
func (x *Index) at(c contract) cursor {
	x.commits.Lock()
	defer x.commits.Unlock()
	return x.cursors[c]
}

func (t *tx) cursor(c contract) (cursor, error) {
	tip, err := t.tip(c)
	if err != nil || tip.Height == 0 {
		return cursor{}, err
	}
	hash, err := core.ParseHash(tip.Hash)
	return cursor{tip.Height, hash}, err
}

// write runs f in one transaction, then updates the cache and the subscribers, in this order and
// before the next commit. tops are the newest known heights of the chains whose blocks f stores.
func (x *Index) write(ctx context.Context, tops map[contract]uint64, f func(*applier) error) error {
	x.commits.Lock()
	defer x.commits.Unlock()
	return x.commit(ctx, tops, f)
}

// commit is write for who has commits.
func (x *Index) commit(ctx context.Context, tops map[contract]uint64, f func(*applier) error) error {
	var e *changes
	var seq uint64 // of the changes in the outbox; 0: they are in none
	err := x.store.update(ctx, func(t *tx) error {
		tip, err := t.tip(fund)
		if err != nil {
			return fmt.Errorf("reading the exchange's clock: %w", err)
		}
		e = newChanges(x.cache.current())
		a := &applier{tx: t, changes: e, writeSet: newWriteSet(x.retainedBlocks, tops), clock: tip.Clock}
		if err := f(a); err != nil {
			return err
		}
		e.final = a.written
		err = a.flush()
		if err == nil && x.store.shared() && !e.isNothing() {
			seq, err = t.addToOutbox(e, x.store.wake)
		}
		return err
	})
	if errors.Is(err, errCommit) {
		return errors.Join(err, x.resync(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return err
	}
	return x.publishCommit(context.WithoutCancel(ctx), e, seq)
}

// publishCommit publishes the changes of our commit, after those that other processes stored
// before.
func (x *Index) publishCommit(ctx context.Context, e *changes, seq uint64) error {
	if seq > x.seq+1 {
		_, err := x.replay(ctx)
		return err
	}
	if err := x.publishChanges(ctx, e, seq); err != nil {
		return err
	}
	if seq > x.seq {
		x.seq = seq
	} else if seq > 0 && x.seq > seq { // reload has read later changes too
		x.feed.endAll()
	}
	return nil
}

// publishChanges brings the changes of a commit to the cache and the subscribers. seq is their
// number in the outbox, 0 if they are not in it.
func (x *Index) publishChanges(ctx context.Context, e *changes, seq uint64) error {
	if seq > x.seq {
		x.shown.Store(seq)
	}
	var moved map[uint32]bool
	if e.undone {
		if err := x.reload(ctx); err != nil {
			return fmt.Errorf("reading the index after blocks were taken back: %w", err)
		}
	} else {
		moved = x.cache.apply(e, x.config.Now().Unix())
		maps.Copy(x.cursors, e.cursors)
	}
	if e.isEmpty() || !x.feed.wanted() {
		return nil
	}
	x.feed.publish(x.update(e, moved))
	return nil
}
