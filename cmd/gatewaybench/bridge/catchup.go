package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/vite"
	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/cmd/gatewaybench/exchange"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/records"
	"gatewayd/vite/node"
	"gatewayd/watcher"
)

// catchUpCase is about a daemon that was away: the real watcher and the real adapter read what an embedded exchange chain has made meanwhile, from a process
// beside this one, and store it in a database on disk. The blocks have nothing for us in them, as nearly all blocks of a chain.
func catchUpCase() bench.Case {
	const budget = 5 * float64(time.Minute)
	return bench.Case{
		Name: "catch-up", Unit: "block", Prepare: makeDay, Ours: catchUp, Helpers: map[string]bench.Helper{nodeHelper: serveDay},
		About: "a day of the exchange chain, 86,400 snapshot blocks, every twentieth with a send, is read, proven and stored after an absence",
		Goals: []bench.Goal{
			{Of: "a day", Budget: budget, Limit: budget * 2 / 5, Absolute: true}, {Of: "commits", Budget: 0.1, Limit: 0.02, Absolute: true},
		},
	}
}

const (
	snapshotsADay = 86_400
	sendEvery     = 20 // snapshot blocks
	nodeHelper    = "node"
)

// exchangeDay is an embedded exchange chain whose clock goes on by a second for each snapshot block.
type exchangeDay struct {
	*daemon.Embedded
	sender *exchange.Signer
	now    time.Time
}

func openDay(dir string) (l *exchangeDay, err error) {
	l = &exchangeDay{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if l.sender, err = exchange.NewSigner(0); err != nil {
		return nil, err
	}
	c := node.Config{Dir: dir, SnapshotInterval: -1, Now: func() time.Time { return l.now }}
	c.Genesis.Time = l.now
	l.sender.Endow(&c.Genesis)
	if l.Embedded, err = daemon.StartEmbedded(c, config.Embedded{Listen: daemon.AnyPort}); err != nil {
		return nil, err
	}
	return l, l.sender.Find(l.Node)
}

// makeDay has the chain make a day of snapshot blocks.
func makeDay(ctx context.Context, r *bench.Run) error {
	l, err := openDay(filepath.Join(r.Data, "chain"))
	if err != nil {
		return err
	}
	defer l.Close()
	for i := range r.N(snapshotsADay) {
		l.now = l.now.Add(time.Second)
		if i > 100 && i%sendEvery == 0 { // there is quota by then
			if err := l.Node.Submit(ctx, l.sender.Transfer()); err != nil {
				return err
			}
		}
		if _, err := l.Node.Snapshot(); err != nil {
			return err
		}
	}
	return nil
}

// serveDay serves a copy of what makeDay made, and says where.
func serveDay(ctx context.Context, r *bench.Run, say func(string)) error {
	dir := filepath.Join(r.Dir, "chain")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(r.Data, "chain"))); err != nil {
		return fmt.Errorf("copying the chain: %w", err)
	}
	l, err := openDay(dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return l.Run(ctx) })
	say(l.WSURL())
	err = bench.AwaitEnd()
	stop()
	return errors.Join(err, g.Wait())
}

// withNode runs f while a process beside this one is the node at an URL.
func withNode(ctx context.Context, r *bench.Run, f func(url string) error) error {
	node, err := r.Start(ctx, nodeHelper, "")
	if err != nil {
		return err
	}
	url, err := node.Line()
	if err == nil {
		err = f(url)
	}
	return errors.Join(err, node.End())
}

// nobodys knows no address of ours.
type nobodys struct{}

func (nobodys) Owned(context.Context, chain.ID, []string) (map[string]bool, error) { return nil, nil }

// Accounts makes nobodys the owner of nothing on the exchange chain, too.
func (nobodys) Accounts(context.Context, chain.ID) ([]string, error) { return nil, nil }

// countingStore counts what is committed durably.
type countingStore struct {
	*records.Store
	commits atomic.Int64
}

// Update counts.
func (s *countingStore) Update(ctx context.Context, f func(*records.Tx) error) error {
	s.commits.Add(1)
	return s.Store.Update(ctx, f)
}

// catchUp starts a new store at the chain's first block and takes one step, which reads all there is. Without networks nothing is signed.
func catchUp(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + storeFile(r.Dir)})
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = withNode(ctx, r, func(url string) error {
		c, err := vite.New(vite.Config{ID: "vite", Nodes: []string{url}, Confirmations: 180}, nobodys{})
		if err != nil {
			return err
		}
		defer c.Close()
		f, err = followAll(ctx, r, c, &countingStore{Store: store})
		return err
	})
	return f, err
}

func followAll(ctx context.Context, r *bench.Run, c *vite.Chain, store *countingStore) (f bench.Figure, err error) {
	first, err := c.Block(ctx, 1)
	if err != nil {
		return bench.Figure{}, fmt.Errorf("reading the first block: %w", err)
	}
	if err := store.Store.Update(ctx, func(tx *records.Tx) error { return tx.StartCursor(c.ID(), first.Point) }); err != nil {
		return bench.Figure{}, err
	}
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	w, err := watcher.New(watcher.Config{}, watcher.Parts{Store: store, Chains: map[chain.ID]chain.Chain{c.ID(): c}, Log: quiet})
	if err != nil {
		return bench.Figure{}, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return bench.Figure{}, err
	}
	blocks := int(head.Latest.Height)
	if f, err = r.Measure(blocks, func() error { return w.Step(ctx) }); err != nil {
		return bench.Figure{}, err
	}
	f.Note("a day", float64(f.Wall)/float64(blocks)*snapshotsADay, "ns")
	f.Note("commits", float64(store.commits.Load())/float64(blocks), "")
	return f, store.View(ctx, func(tx *records.Tx) error {
		at, err := tx.Cursor(c.ID())
		if err == nil && at.Point != head.Latest {
			err = fmt.Errorf("at %d of %d blocks", at.Height, blocks)
		}
		return err
	})
}
