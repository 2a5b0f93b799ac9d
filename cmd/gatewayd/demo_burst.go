package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

// burstOptions are the flags of `gatewayd demo burst`; URLs that are empty come from the description of the development world.
type burstOptions struct {
	info, gateway, source, node string
	count                       int
	json                        bool
	patience                    time.Duration
}

// maxBurst is how many transactions of one account the embedded source chain's pool holds beside those of others.
const maxBurst = 4000

func demoBurstCommand(w world) *cobra.Command {
	var o burstOptions
	c := &cobra.Command{
		Use: "burst", Short: "Many users deposit and withdraw at once, against a running `gatewayd dev`", Args: cobra.NoArgs,
		Long: "Many users deposit and withdraw at once. It prints, in blocks of each chain, when the last of it was final, sent and paid, and ends with\n" +
			"status 0 only if every balance is exact and everything left within the promise, counted from the block in which the last was final:\n\n" + burstPromise,
		Example: "  gatewayd dev --confirmations 180 --finality 64     in another terminal\n" +
			"  gatewayd demo burst --count 500",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.count < 1 || o.count > maxBurst {
				return fmt.Errorf("--count %d: from 1 to %d users are wanted", o.count, maxBurst)
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.patience)
			defer cancel()
			return demoBurst(ctx, o, w.stdout)
		},
	}
	f := c.Flags()
	f.IntVar(&o.count, "count", 500, "how many users deposit, and how many withdraw")
	f.StringVar(&o.info, "info", devInfoPath(), "description of the development world")
	f.StringVar(&o.gateway, "gateway", "", "URL of the gateway's network; empty: as described")
	f.StringVar(&o.source, "source", "", "URL of the source chain's JSON-RPC; empty: as described")
	f.StringVar(&o.node, "node", "", "URL of the exchange chain's JSON-RPC; empty: as described")
	f.BoolVar(&o.json, "json", false, "print one JSON object per event; the last one is the result")
	f.DurationVar(&o.patience, "timeout", 30*time.Minute, "give up after this long")
	return c
}

// demoBurst plays the whole story: users get ready, all of them send, both chains are watched until everything is final, and then counted.
func demoBurst(ctx context.Context, o burstOptions, out io.Writer) error {
	info, err := awaitDaemon(ctx, o.info)
	if err != nil {
		return err
	}
	b, err := newBurst(ctx, o.over(info), o.count, newDemoLog(out, o.json))
	if err != nil {
		return err
	}
	defer b.close()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	w, err := b.send(ctx)
	if err != nil {
		return err
	}
	b.log.step("Waiting until everything is final")
	if err := w.run(ctx, w.tell); err != nil {
		return err
	}
	b.log.step("Counting")
	if err := b.count(ctx); err != nil {
		return err
	}
	if err := b.published(ctx); err != nil {
		return err
	}
	result := w.result()
	b.log.result(result, result.text())
	return result.kept()
}

// over is the description with the flags put over it.
func (o burstOptions) over(i devInfo) devInfo {
	for _, f := range []struct {
		flag string
		to   *string
	}{{o.gateway, &i.Gateway}, {o.source, &i.Source}, {o.node, &i.Exchange}} {
		if f.flag != "" {
			*f.to = f.flag
		}
	}
	return i
}

// send has every user deposit and every user withdraw, in as few blocks as they fit into, and begins to watch both chains before.
func (b *burst) send(ctx context.Context) (*burstWatch, error) {
	b.log.step(fmt.Sprintf("%d deposits and %d withdrawals at once", len(b.users), len(b.users)))
	w, err := b.watch(ctx)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return b.depositAll(gctx) })
	g.Go(func() error { return b.withdrawAll(gctx) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	b.log.note("sent within %s", time.Since(begin).Round(time.Millisecond))
	return w, nil
}

// count compares what everybody has with what they must have, on both chains.
func (b *burst) count(ctx context.Context) error {
	err := each(ctx, len(b.users), func(ctx context.Context, i int) error { return b.users[i].count(ctx, b) })
	if err != nil {
		return err
	}
	b.log.note("%d users and %d payees have exactly what is theirs", len(b.users), len(b.users))
	return nil
}

// published waits until the gateway tells every user that all is done.
func (b *burst) published(ctx context.Context) error {
	return each(ctx, len(b.users), func(ctx context.Context, i int) error {
		u := b.users[i]
		for _, r := range []struct{ path, hash, state string }{
			{"/deposit-records", u.deposited.Hex(), "TOT_CONFIRMED"}, {"/withdraw-records", u.withdrawn.String(), "OPPOSITE_CONFIRMED"},
		} {
			var shown publicRecord
			err := within(ctx, soon, "the record of "+r.hash, func() (done bool, err error) {
				shown, _, err = b.gateway.record(ctx, r.path, u.token.Token, u.address().String(), r.hash)
				return shown.State == r.state, err
			})
			if err != nil {
				return fmt.Errorf("%w (it is %q)", err, shown.State)
			}
		}
		return nil
	})
}

// burstWorkers is how many users act at the same time.
const burstWorkers = 16

// each does something for every one of n, several at a time.
func each(ctx context.Context, n int, act func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(burstWorkers)
	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return act(ctx, i)
		})
	}
	return g.Wait()
}

// errAmount says that somebody has another amount than what is theirs.
var errAmount = errors.New("a balance is wrong")
