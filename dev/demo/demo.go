// Package demo contains the demonstrations: deposits and withdrawals as one user or as many at once
// (burst), trading as two users (exchangedemo), and the protection by a separate signer process
// against a thief who owns the daemon (custody). Each prints its steps.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
)

// RunOn starts a real node and a daemon that follows it, and runs the demo against them.
func RunOn(ctx context.Context, source string, stdout, stderr io.Writer, getenv func(string) string) (err error) {
	fmt.Fprintf(stdout, "Starting %s and a daemon on it.\n", source)
	dir, err := os.MkdirTemp("", "gatewayd-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := dev.Options{Dir: dir, Listen: "127.0.0.1:0", ExchangeListen: "127.0.0.1:0", Sweep: dev.EveryMinute}
	if program, coins := coinPrograms[source]; coins {
		o.Bitcoin = program
	} else {
		n, err := ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Kind(source), Period: time.Second})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, n.Close()) }()
		o.Source = n.URL()
	}
	d, err := dev.Open(ctx, o, stderr, getenv)
	if err != nil {
		return err
	}
	defer d.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.Run(ctx) })
	g.Go(func() error {
		defer stop()
		if err := d.Ready(ctx); err != nil {
			return err
		}
		if o.Bitcoin != "" {
			return walkAll(ctx, d.Info, []dev.Token{d.Info.Coin.Token}, stdout)
		}
		return Run(ctx, filepath.Join(dir, "dev.json"), stdout)
	})
	return g.Wait()
}

// coinPrograms are the programs of source chains with a coin only, by the names of SOURCE.
var coinPrograms = map[string]string{"btcd": "btcd", "litecoin": "litecoind"}

// Run walks through every token of a development environment.
func Run(ctx context.Context, infoPath string, out io.Writer) error {
	info, err := dev.AwaitDaemon(ctx, infoPath, dev.Info{})
	if err != nil {
		return err
	}
	tokens := info.Tokens
	if info.Coin != nil {
		tokens = append(tokens, info.Coin.Token)
	}
	return walkAll(ctx, info, tokens, out)
}

func walkAll(ctx context.Context, info dev.Info, tokens []dev.Token, out io.Writer) error {
	for i, t := range tokens {
		u, err := dev.NewBridgeUser(ctx, info, t, uint32(i), out)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Symbol, err)
		}
		err = Walk(ctx, u)
		u.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", t.Symbol, err)
		}
	}
	fmt.Fprintln(out, "All records are final.")
	return nil
}

// Walk deposits fifty times the minimum and withdraws twenty.
func Walk(ctx context.Context, u *dev.BridgeUser) error {
	fmt.Fprintf(u.Out, "\n%s (type %d), wallet %s\n", u.Token.Symbol, u.Token.Type, u.Vite.Address())
	hash, err := u.Deposit(ctx, u.Times(50))
	if err != nil {
		return err
	}
	if _, err := u.Await(ctx, "/deposit-records", hash, "TOT_CONFIRMED"); err != nil {
		return err
	}
	if err := u.Collect(ctx, u.Times(50)); err != nil {
		return err
	}
	to, err := u.NewPayee()
	if err != nil {
		return err
	}
	sent, err := u.Withdraw(ctx, to, u.Times(20))
	if err != nil {
		return err
	}
	if _, err := u.Await(ctx, "/withdraw-records", sent.String(), "OPPOSITE_CONFIRMED"); err != nil {
		return err
	}
	return u.Paid(ctx, to, u.Times(20))
}
