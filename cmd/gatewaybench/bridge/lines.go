package bridge

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/cmd/gatewaybench/exchange"
	"gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

const (
	emptyBlocks    = 5000
	fullBlocks     = 500
	paymentsInFull = 50
	snapshotsADay  = 86_400
	sendEvery      = 20 // snapshot blocks
)

var (
	emptySource = catchUpLine{serve: serveSource, make: func(ctx context.Context, r *bench.Run) error { return makeSource(r, r.N(emptyBlocks), 0) }}
	fullSource  = catchUpLine{serve: serveSource, make: func(ctx context.Context, r *bench.Run) error { return makeSource(r, r.N(fullBlocks), paymentsInFull) }}
	exchangeDay = catchUpLine{exchange: true, serve: serveExchange, make: makeExchangeDay}
)

func sourceConfig(dir string) devnode.Config { return devnode.Config{Dir: dir, Public: true} }

// makeSource has the embedded chain make blocks with so many token payments each.
func makeSource(r *bench.Run, blocks, payments int) (err error) {
	dev, err := devnode.Start(sourceConfig(filepath.Join(r.Data, "line")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	for i := range blocks {
		for k := range payments {
			if _, err := dev.SendToken(dev.Contracts().USDT, common.BigToAddress(big.NewInt(int64(1<<40+k))), big.NewInt(1)); err != nil {
				return err
			}
		}
		if _, err := dev.Mine(1); err != nil {
			return err
		}
		if i%(blocks/5+1) == 0 {
			r.Progress("%d of %d blocks", i, blocks)
		}
	}
	return nil
}

// serveSource serves a copy of what makeSource made.
func serveSource(_ context.Context, r *bench.Run) (f bench.Figure, err error) {
	dir, err := copyLine(r)
	if err != nil {
		return bench.Figure{}, err
	}
	dev, err := devnode.Start(sourceConfig(dir))
	if err != nil {
		return bench.Figure{}, err
	}
	f, err = serveLine(r, dev.URL())
	return f, errors.Join(err, dev.Close())
}

func copyLine(r *bench.Run) (dir string, err error) {
	dir = filepath.Join(r.Dir, "line")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(r.Data, "line"))); err != nil {
		return "", fmt.Errorf("copying the chain: %w", err)
	}
	return dir, nil
}

// exchangeLine is an embedded exchange chain whose clock goes on by a second for each snapshot block.
type exchangeLine struct {
	node   *node.Node
	sender *exchange.Signer
	now    time.Time
}

func openExchangeLine(dir string) (l *exchangeLine, err error) {
	l = &exchangeLine{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	if l.sender, err = exchange.NewSigner(0); err != nil {
		return nil, err
	}
	g := exchange.Genesis(l.sender)
	g.Time = l.now
	if l.node, err = node.New(node.Config{Dir: dir, Genesis: g, SnapshotInterval: -1, Now: func() time.Time { return l.now }}); err != nil {
		return nil, err
	}
	return l, l.sender.Find(l.node)
}

// makeExchangeDay has the embedded exchange chain make a day of snapshot blocks.
func makeExchangeDay(ctx context.Context, r *bench.Run) (err error) {
	l, err := openExchangeLine(filepath.Join(r.Data, "line"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.node.Close()) }()
	blocks := r.N(snapshotsADay)
	for i := range blocks {
		l.now = l.now.Add(time.Second)
		if i > 100 && i%sendEvery == 0 {
			if err := l.node.Submit(ctx, l.sender.Transfer()); err != nil {
				return err
			}
		}
		if _, err := l.node.Snapshot(); err != nil {
			return err
		}
		if i%(blocks/5+1) == 0 {
			r.Progress("%d of %d snapshot blocks", i, blocks)
		}
	}
	return nil
}

// serveExchange serves a copy of what makeExchangeDay made.
func serveExchange(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	dir, err := copyLine(r)
	if err != nil {
		return bench.Figure{}, err
	}
	l, err := openExchangeLine(dir)
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, l.node.Close()) }()
	server, err := rpc.New(l.node, rpc.Config{WS: "127.0.0.1:0"})
	if err == nil {
		err = server.Listen()
	}
	if err != nil {
		return bench.Figure{}, err
	}
	ctx, stop := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return server.Run(ctx) })
	f, err = serveLine(r, "ws://"+server.WSAddr())
	stop()
	return f, errors.Join(err, g.Wait())
}

// readAhead reads blocks as a follower does: in one go where the chain can, else in parallel.
func readAhead(ctx context.Context, c chain.Chain, from, to uint64) ([]chain.Block, error) {
	if r, ok := c.(interface {
		Blocks(ctx context.Context, from, to uint64) ([]chain.Block, error)
	}); ok {
		return r.Blocks(ctx, from, to)
	}
	blocks := make([]chain.Block, to-from+1)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for i := range blocks {
		g.Go(func() (err error) {
			blocks[i], err = c.Block(ctx, from+uint64(i))
			return err
		})
	}
	return blocks, g.Wait()
}
