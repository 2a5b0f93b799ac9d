package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
)

// BurstOptions are the flags of `gatewaydemo burst`.
type BurstOptions struct {
	Info     string
	URLs     dev.Info // in place of those that the description has
	Count    int
	JSON     bool
	Patience time.Duration
}

// MaxBurst is the number of transactions of one account that the embedded source chain's pool holds
// in addition to those of others.
const MaxBurst = 4000

// RunBurst takes all steps: users get ready, all of them send, both chains are watched until
// everything is final, and then counted.
func RunBurst(ctx context.Context, o BurstOptions, out io.Writer) error {
	info, err := dev.AwaitDaemon(ctx, o.Info, o.URLs)
	if err != nil {
		return err
	}
	b, err := NewBurst(ctx, info, o.Count, NewLog(out, o.JSON))
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Prepare(ctx); err != nil {
		return err
	}
	w, err := b.Send(ctx)
	if err != nil {
		return err
	}
	b.log.Step("Waiting until everything is final")
	if err := w.Run(ctx, w.Tell); err != nil {
		return err
	}
	b.log.Step("Counting")
	if err := b.Count(ctx); err != nil {
		return err
	}
	if err := b.Published(ctx); err != nil {
		return err
	}
	result := w.Result()
	b.log.Result(result, result.Text())
	return result.Met()
}

// Send has every user deposit and every user withdraw, in as few blocks as they fit into, and
// begins to watch both chains before.
func (b *Burst) Send(ctx context.Context) (*Watch, error) {
	b.log.Step(fmt.Sprintf("%d deposits and %d withdrawals at once", len(b.Users), len(b.Users)))
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
	b.log.Note("sent within %s", time.Since(begin).Round(time.Millisecond))
	return w, nil
}

// Count compares all users' balances with the expected ones, on both chains.
func (b *Burst) Count(ctx context.Context) error {
	err := dev.Each(ctx, len(b.Users), func(ctx context.Context, i int) error { return b.Users[i].count(ctx, b) })
	if err != nil {
		return err
	}
	b.log.Note("%d users and %d payees have their exact balances", len(b.Users), len(b.Users))
	return nil
}

// Published waits until the gateway reports every user's transfers as done.
func (b *Burst) Published(ctx context.Context) error {
	return dev.Each(ctx, len(b.Users), func(ctx context.Context, i int) error {
		u := b.Users[i]
		for _, r := range []struct{ path, hash, state string }{
			{"/deposit-records", u.deposited.Hex(), "TOT_CONFIRMED"}, {"/withdraw-records", u.withdrawn.String(), "OPPOSITE_CONFIRMED"},
		} {
			var shown dev.PublicRecord
			err := dev.Within(ctx, dev.Soon, "the record of "+r.hash, func() (done bool, err error) {
				shown, _, err = b.gateway.Record(ctx, r.path, u.Token.Token, u.Address().String(), r.hash)
				return shown.State == r.state, err
			})
			if err != nil {
				return fmt.Errorf("%w (it is %q)", err, shown.State)
			}
		}
		return nil
	})
}

// ErrAmount means that a user's balance is wrong.
var ErrAmount = errors.New("a balance is wrong")
