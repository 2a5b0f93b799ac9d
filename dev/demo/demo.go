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
func RunOn(ctx context.Context, kind ethtest.Kind, stdout, stderr io.Writer, getenv func(string) string) (err error) {
	fmt.Fprintf(stdout, "Starting %s and a daemon on it.\n", kind)
	n, err := ethtest.Start(ctx, ethtest.Config{Kind: kind, Period: time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	dir, err := os.MkdirTemp("", "gatewayd-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := dev.Options{Dir: dir, Listen: "127.0.0.1:0", ExchangeListen: "127.0.0.1:0", Source: n.URL(), Sweep: dev.EveryMinute}
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
		return Run(ctx, filepath.Join(dir, "dev.json"), stdout)
	})
	return g.Wait()
}

// Run walks through every token of a development environment.
func Run(ctx context.Context, infoPath string, out io.Writer) error {
	info, err := dev.AwaitDaemon(ctx, infoPath, dev.Info{})
	if err != nil {
		return err
	}
	for i, t := range info.Tokens {
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
	if _, err := u.Await(ctx, "/deposit-records", hash.Hex(), "TOT_CONFIRMED"); err != nil {
		return err
	}
	if err := u.Collect(ctx, u.Times(50)); err != nil {
		return err
	}
	to, err := dev.NewPayee()
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
