package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/watcher"
)

// catchUpCases are about a daemon that was away: the real watcher and the real adapter read what an embedded chain has made meanwhile, from a
// process beside this one, and store it in a database on disk. The blocks have nothing for us in them, as nearly all blocks of a chain.
func catchUpCases() []bench.Case {
	return []bench.Case{
		catchUpCase("catch-up-empty", "5,000 empty blocks of a source chain", 1437, emptySource),
		catchUpCase("catch-up-full", "500 blocks of a source chain with 50 token payments each", 160, fullSource),
		catchUpCase("catch-up-exchange", "a day of the exchange chain: 86,400 snapshot blocks, every twentieth with a send", 798, exchangeDay),
	}
}

// catchUpCase has a goal of three times as many blocks a second as there were when each had a durable commit of its own.
func catchUpCase(name, about string, before float64, l catchUpLine) bench.Case {
	aDay := float64(5 * time.Minute)
	goals := []bench.Goal{
		{Of: bench.CPU, Budget: 1, Limit: 0.75},
		{Of: "cpu/goal", Budget: 1, Limit: 0.5, Absolute: true},
		{Of: "wall/goal", Budget: 1, Limit: 0.5, Absolute: true},
		{Of: "commits", Budget: 0.1, Limit: 0.02, Absolute: true},
	}
	if l.exchange {
		goals = append(goals, bench.Goal{Of: "a day", Budget: aDay, Limit: aDay / 3, Absolute: true})
	}
	side := func(singly bool) bench.Part {
		return func(ctx context.Context, r *bench.Run) (bench.Figure, error) {
			return catchUpWith(ctx, r, l, singly, 1e9/(3*before))
		}
	}
	return bench.Case{
		Name: name, Group: bench.Bridge, Unit: "block", Scales: []float64{1}, Prepare: l.make, Ours: side(false),
		Helpers:    map[string]bench.Part{nodeHelper: l.serve},
		About:      about + " are read and stored after an absence; yardstick: the same, each block stored by itself",
		Yardsticks: []bench.Yardstick{{Name: "a commit a block", Part: side(true)}},
		Goals:      goals,
		Same:       []string{"height"},
	}
}

// catchUpLine is what a case catches up with.
type catchUpLine struct {
	exchange bool
	make     func(context.Context, *bench.Run) error                 // into r.Data
	serve    func(context.Context, *bench.Run) (bench.Figure, error) // from r.Data, see serveLine
}

// catchUpRig is a watcher between the chain of a node and one in memory that rests.
type catchUpRig struct {
	store   *countingStore
	guard   *countingGuard
	watcher *watcher.Watcher
	ours    chain.Chain
	close   []func() error
}

func catchUpWith(ctx context.Context, r *bench.Run, l catchUpLine, singly bool, goal float64) (f bench.Figure, err error) {
	url, stop, err := startLine(ctx, r)
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	rig, err := openCatchUp(ctx, r, l, url, singly)
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, rig.end()) }()
	head, err := rig.ours.Head(ctx)
	if err != nil {
		return bench.Figure{}, err
	}
	blocks := int(head.Latest.Height)
	f, err = r.Measure(blocks, func() error { return rig.watcher.Step(ctx) })
	if err != nil {
		return bench.Figure{}, err
	}
	var cur records.Cursor
	err = rig.store.View(ctx, func(tx *records.Tx) error {
		cur, err = tx.Cursor(rig.ours.ID())
		return err
	})
	if err == nil && cur.Point != head.Latest {
		err = fmt.Errorf("at %d of %d blocks", cur.Height, blocks)
	}
	perBlock := float64(f.Wall) / float64(blocks)
	f.Note("cpu/goal", float64(f.CPU)/float64(blocks)/goal, "")
	f.Note("wall/goal", perBlock/goal, "")
	f.Note("commits", float64(rig.store.commits.Load())/float64(blocks), "")
	f.Note("height", float64(cur.Height), "")
	f.Note("blocks/s", 1e9/perBlock, "")
	f.Note("a day", perBlock*86_400, "ns")
	return f, err
}

// openCatchUp opens a new store whose cursor stands at the chain's first block.
func openCatchUp(ctx context.Context, r *bench.Run, l catchUpLine, url string, singly bool) (rig *catchUpRig, err error) {
	rig = &catchUpRig{}
	defer func() {
		if err != nil {
			err = errors.Join(err, rig.end())
		}
	}()
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + storeFile(r.Dir)})
	if err != nil {
		return rig, err
	}
	rig.close = append(rig.close, store.Close)
	guard, err := signguard.Open(filepath.Join(r.Dir, "guard.db"))
	if err != nil {
		return rig, err
	}
	rig.close = append(rig.close, guard.Close)
	rig.store, rig.guard = &countingStore{Store: store}, &countingGuard{Guard: guard}
	chains, err := rig.chains(l, url, singly)
	if err != nil {
		return rig, err
	}
	if err := rig.begin(ctx, chains); err != nil {
		return rig, err
	}
	quiet := logrus.New()
	quiet.SetOutput(r.Stderr)
	quiet.SetLevel(logrus.ErrorLevel)
	rig.watcher, err = watcher.New(watcher.Config{}, watcher.Parts{
		Store: rig.store, Chains: chains, Networks: []records.Network{simNetwork()}, Guard: rig.guard, Log: quiet,
	})
	return rig, err
}

// chains are the one of the node and, on the other side, one that has a block only.
func (rig *catchUpRig) chains(l catchUpLine, url string, singly bool) (map[chain.ID]chain.Chain, error) {
	n := simNetwork()
	other := n.Exchange
	if l.exchange {
		c, err := vite.New(vite.Config{ID: n.Exchange, Nodes: []string{url}, Confirmations: 180}, nil, nobodys{})
		if err != nil {
			return nil, err
		}
		rig.ours, other = c, n.Source
		rig.close = append(rig.close, func() error { c.Close(); return nil })
	} else {
		c, err := ethereum.New(ethereum.Config{ID: n.Source, ChainID: 1337, Nodes: []string{url}, Traces: "off"}, nil, nobodys{})
		if err != nil {
			return nil, err
		}
		rig.ours = c
		rig.close = append(rig.close, func() error { c.Close(); return nil })
	}
	list := map[chain.ID]chain.Chain{
		rig.ours.ID(): rig.ours, other: newSimChain(other, !l.exchange, chain.Point{Height: 1, Hash: simHash(other, "block", 1)}),
	}
	if singly {
		list[rig.ours.ID()] = &oneByOne{Chain: rig.ours}
	}
	return list, nil
}

func (rig *catchUpRig) begin(ctx context.Context, chains map[chain.ID]chain.Chain) error {
	for id, c := range chains {
		first := uint64(0)
		if id != rig.ours.ID() || id == simNetwork().Exchange {
			first = 1
		}
		b, err := c.Block(ctx, first)
		if err != nil {
			return fmt.Errorf("reading the first block: %w", err)
		}
		if err := rig.store.Store.Update(ctx, func(tx *records.Tx) error { return tx.StartCursor(id, b.Point) }); err != nil {
			return err
		}
	}
	return nil
}

func (rig *catchUpRig) end() (err error) {
	for i := len(rig.close) - 1; i >= 0; i-- {
		err = errors.Join(err, rig.close[i]())
	}
	return err
}

// Accounts makes nobodys the owner of nothing on the exchange chain, too.
func (nobodys) Accounts(context.Context, chain.ID) ([]string, error) { return nil, nil }

// oneByOne reads as many blocks at a time as the chain behind it is asked for, and gives them out one by one.
type oneByOne struct {
	chain.Chain
	ahead []chain.Block
}

// Blocks answers one block.
func (c *oneByOne) Blocks(ctx context.Context, from, to uint64) ([]chain.Block, error) {
	if len(c.ahead) == 0 || c.ahead[0].Height != from {
		blocks, err := readAhead(ctx, c.Chain, from, to)
		if err != nil {
			return nil, err
		}
		c.ahead = blocks
	}
	first := c.ahead[:1]
	c.ahead = c.ahead[1:]
	return first, nil
}

// lineFile is where a helper says how it is reached.
func lineFile(dir string) string { return filepath.Join(dir, "url") }

// startLine starts the node beside this process and answers where it is reached.
func startLine(ctx context.Context, r *bench.Run) (url string, stop func() error, err error) {
	helper, err := r.Command(ctx, nodeHelper, "")
	if err != nil {
		return "", nil, err
	}
	in, err := helper.StdinPipe()
	if err == nil {
		err = helper.Start()
	}
	if err != nil {
		return "", nil, fmt.Errorf("starting the node: %w", err)
	}
	stop = func() error { return errors.Join(in.Close(), helper.Wait()) }
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for give := time.Now().Add(10 * time.Minute); time.Now().Before(give); {
		if text, err := os.ReadFile(lineFile(r.Dir)); err == nil {
			return string(text), stop, nil
		}
		select {
		case <-ctx.Done():
			return "", nil, errors.Join(ctx.Err(), stop())
		case <-look.C:
		}
	}
	return "", nil, errors.Join(errors.New("the node does not come up"), stop())
}

// serveLine tells the address and waits until whoever started the node has done with it.
func serveLine(r *bench.Run, url string) (bench.Figure, error) {
	half := lineFile(r.Dir) + ".part"
	if err := os.WriteFile(half, []byte(url), 0o600); err != nil {
		return bench.Figure{}, fmt.Errorf("telling the address: %w", err)
	}
	if err := os.Rename(half, lineFile(r.Dir)); err != nil {
		return bench.Figure{}, fmt.Errorf("telling the address: %w", err)
	}
	return bench.Figure{Units: 1}, bench.AwaitEnd()
}
