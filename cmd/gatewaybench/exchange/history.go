package exchange

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// historyCases are about what a long past costs.
func historyCases() []bench.Case {
	return []bench.Case{{
		Name: "start", Group: bench.Exchange, Unit: "start",
		About: "from opening node and index with 100,000 historic orders (1,000,000 with --scale 10), a tenth resting, to the first answer",
		Ours:  startOnHistory, Prepare: makeHistory,
		Goals: []bench.Goal{
			{Of: bench.Wall, Budget: 10e9, Limit: 5e9, Absolute: true},
			{Of: "resident", Budget: 1 << 30, Limit: 512 << 20, Absolute: true},
		},
		Scales: []float64{1},
	}}
}

const (
	// historicOrders is what takes some minutes to make; ten times as many take half an hour, so only who asks gets them.
	historicOrders = 100_000
	maxTraders     = 100
	restingShare   = 10 // one in so many rests for ever
)

// makeHistory has a chain take the orders in the usual way, and an index follow it meanwhile. The index is opened again to catch up, since what it has
// caught up with is what there was when it was opened.
func makeHistory(ctx context.Context, r *bench.Run) error {
	traders := historicTraders(r)
	for _, step := range []func(context.Context, *bench.Run, *apiEnv) error{makeChain, catchUp} {
		s, err := openAPIEnv(ctx, r.Data, traders)
		if err == nil {
			err = errors.Join(step(ctx, r, s), s.Close())
		}
		if err != nil {
			return fmt.Errorf("making a history: %w", err)
		}
	}
	return nil
}

// historicTraders are fewer at small scales.
func historicTraders(r *bench.Run) int { return min(maxTraders, r.N(historicOrders)/10+1) }

// makeChain signs orders beside the chain that takes them.
func makeChain(ctx context.Context, r *bench.Run, s *apiEnv) error {
	n := r.N(historicOrders)
	g, ctx := errgroup.WithContext(ctx)
	signed := make(chan *core.AccountBlock, 4096) // so that neither side waits for the other's bursts
	g.Go(func() error {
		defer close(signed)
		return s.signHistory(ctx, n, signed)
	})
	g.Go(func() error { return take(ctx, r, s.nodeEnv, n, signed) })
	return g.Wait()
}

func (v *nodeEnv) signHistory(ctx context.Context, n int, to chan<- *core.AccountBlock) error {
	for i := range n {
		sell, price, quantity := historicOrder(i)
		q := viteUnits(quantity)
		b, err := exchangeCall(dex.FundPlaceOrder, v.gold, core.VITE, sell, uint8(dex.Limit), price, q)
		if err != nil {
			return err
		}
		select {
		case to <- v.traders[i%len(v.traders)].next(b):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// historicOrder is the n-th order of a history: one in restingShare stays far from the middle, the others fill each other in
// pairs.
func historicOrder(n int) (sell bool, price string, quantity uint64) {
	sell = n/restingShare%2 == 1
	if n%restingShare == 0 {
		price = fmt.Sprintf("0.%04d", 9000-n/restingShare%5000)
		if sell {
			price = fmt.Sprintf("2.%04d", 1000+n/restingShare%5000)
		}
		return sell, price, 300
	}
	return (n%restingShare)%2 == 0, "1.5", 200
}

// historicTick is how many orders are taken between two looks at the contracts.
const historicTick = 200

func take(ctx context.Context, r *bench.Run, v *nodeEnv, n int, signed <-chan *core.AccountBlock) error {
	perSnapshot := len(v.traders) * 30 // what the quota of one snapshot block pays for, and a little less
	taken := 0
	for b := range signed {
		if err := v.node.Submit(ctx, b); err != nil {
			return fmt.Errorf("order %d: %w", taken, err)
		}
		taken++
		var err error
		switch {
		case taken%perSnapshot == 0:
			err = v.settle()
		case taken%historicTick == 0:
			err = v.node.Tick()
		}
		if err != nil {
			return err
		}
		if taken%(n/10+1) == 0 {
			r.Progress("%d of %d orders", taken, n)
		}
	}
	return v.settle()
}

// catchUp waits until the index of an environment that was just opened knows the last orders.
func catchUp(ctx context.Context, r *bench.Run, s *apiEnv) error {
	look, tell := time.NewTicker(50*time.Millisecond), time.NewTicker(10*time.Second)
	defer look.Stop()
	defer tell.Stop()
	for s.index.Ready() != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
		case <-tell.C:
			if file, err := os.Stat(filepath.Join(r.Data, "index.db")); err == nil {
				r.Progress("indexing: %d MB", file.Size()>>20)
			}
		}
	}
	return nil
}

// startOnHistory opens what was prepared and asks for the depth of the market. What it tells of memory is this process's.
func startOnHistory(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	traders := historicTraders(r)
	start, cpu := time.Now(), bench.CPUTime()
	s, err := openAPIEnv(ctx, r.Data, traders)
	if err != nil {
		return bench.Figure{}, err
	}
	depth, err := s.depth(ctx)
	f := bench.Figure{Units: 1, CPU: bench.CPUTime() - cpu, Wall: time.Since(start)}
	if err == nil {
		err = noteMemory(&f)
	}
	f.Note("levels", float64(depth), "")
	return f, errors.Join(err, s.Close())
}

func noteMemory(f *bench.Figure) error {
	resident, err := residentMemory()
	if err != nil {
		return err
	}
	f.Note("resident", float64(resident), "B")
	f.Note("live heap", float64(bench.LiveHeap()), "B")
	return nil
}

// depth asks the exchange API for the book.
func (s *apiEnv) depth(ctx context.Context) (levels int, err error) {
	var book struct {
		Data struct {
			Asks [][]string `json:"asks"`
			Bids [][]string `json:"bids"`
		} `json:"data"`
	}
	err = s.get(ctx, "/api/v2/depth?symbol="+envSymbol, &book)
	if err == nil && len(book.Data.Asks)+len(book.Data.Bids) == 0 {
		err = errors.New("the book is empty")
	}
	return len(book.Data.Asks) + len(book.Data.Bids), err
}

// residentMemory is what the process has in memory; elsewhere than on Linux what Go has from the system.
func residentMemory() (uint64, error) {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased, nil //nolint:nilerr // another system
	}
	fields := strings.Fields(string(raw))
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc/self/statm says %q", raw)
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return pages * uint64(os.Getpagesize()), nil
}
