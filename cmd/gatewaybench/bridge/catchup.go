package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

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

func catchUp(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	err = withNode(ctx, r, func(url string) error {
		n := simNetwork()
		ours, err := vite.New(vite.Config{ID: n.Exchange, Nodes: []string{url}, Confirmations: 180}, nil, nobodys{})
		if err != nil {
			return err
		}
		defer ours.Close()
		source := newSimChain(n.Source, false, chain.Point{Height: 1, Hash: simHash(n.Source, "block", 1)})
		f, err = catchUpWith(ctx, r, n, ours, map[chain.ID]chain.Chain{n.Exchange: ours, n.Source: source})
		return err
	})
	return f, err
}

// catchUpWith starts a new store at the chains' first blocks and takes one step, which reads all there is.
func catchUpWith(ctx context.Context, r *bench.Run, n records.Network, ours chain.Chain, chains map[chain.ID]chain.Chain) (f bench.Figure, err error) {
	s := &simRig{dir: r.Dir, network: n}
	if err := s.openStores(ctx, simEngine{}, chains); err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for id, c := range chains {
		b, err := c.Block(ctx, 1)
		if err != nil {
			return bench.Figure{}, fmt.Errorf("reading the first block: %w", err)
		}
		if err := s.store.Store.Update(ctx, func(tx *records.Tx) error { return tx.StartCursor(id, b.Point) }); err != nil {
			return bench.Figure{}, err
		}
	}
	w, err := watcher.New(watcher.Config{}, s.parts)
	if err != nil {
		return bench.Figure{}, err
	}
	head, err := ours.Head(ctx)
	if err != nil {
		return bench.Figure{}, err
	}
	blocks := int(head.Latest.Height)
	if f, err = r.Measure(blocks, func() error { return w.Step(ctx) }); err != nil {
		return bench.Figure{}, err
	}
	f.Note("a day", float64(f.Wall)/float64(blocks)*snapshotsADay, "ns")
	f.Note("commits", float64(s.commits())/float64(blocks), "")
	return f, s.store.View(ctx, func(tx *records.Tx) error {
		at, err := tx.Cursor(ours.ID())
		if err == nil && at.Point != head.Latest {
			err = fmt.Errorf("at %d of %d blocks", at.Height, blocks)
		}
		return err
	})
}
