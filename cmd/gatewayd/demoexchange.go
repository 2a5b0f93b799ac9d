package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/chain/vite/client"
)

// exchangeDemoOptions are the flags of `gatewayd demo exchange`; URLs that are empty come from the description of the development world.
type exchangeDemoOptions struct {
	info, gateway, api, node string
	json                     bool
	keep                     bool // stop before the permissions and keys are revoked
	patience                 time.Duration
}

func demoExchangeCommand(w world) *cobra.Command {
	var o exchangeDemoOptions
	c := &cobra.Command{
		Use: "exchange", Short: "Trade on the exchange as two users, against a running `gatewayd dev`", Args: cobra.NoArgs,
		Long: "Trade on the exchange as two users: tokens over the gateway, a market of their own, API keys, signed orders and their pushes in\n" +
			"all shapes, balances to the last digit, and the way back over the gateway. Whatever is not as it should be ends it with status 1.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), o.patience)
			defer cancel()
			return demoExchange(ctx, o, w.stdout)
		},
	}
	f := c.Flags()
	f.StringVar(&o.info, "info", devInfoPath(), "description of the development world")
	f.StringVar(&o.gateway, "gateway", "", "URL of the gateway's network; empty: as described")
	f.StringVar(&o.api, "api", "", "URL of the exchange API; empty: as described")
	f.StringVar(&o.node, "node", "", "URL of the exchange chain's JSON-RPC; empty: as described")
	f.BoolVar(&o.keep, "keep", false, "leave the market, the keys and their permissions in place and print them, to trade by hand")
	f.BoolVar(&o.json, "json", false, "print one JSON object per event")
	f.DurationVar(&o.patience, "timeout", 5*time.Minute, "give up after this long")
	return c
}

// demoExchange finds the world and plays the whole story in it.
func demoExchange(ctx context.Context, o exchangeDemoOptions, out io.Writer) error {
	info, err := findWorld(ctx, o)
	if err != nil {
		return fmt.Errorf("%w: start `make run` in another terminal first", err)
	}
	d, err := newExchangeDemo(ctx, info, newDemoLog(out, o.json))
	if err != nil {
		return err
	}
	defer d.close()
	d.keep = o.keep
	return d.run(ctx)
}

// findTime is how long the parts of a world may take to answer: it was started by hand, maybe just now.
const findTime = 5 * time.Second

// findWorld reads the description, puts the flags over it, and asks every part of the world whether it is there.
func findWorld(ctx context.Context, o exchangeDemoOptions) (devInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	var info devInfo
	var last error
	err := poll(ctx, func() (bool, error) {
		if info, last = readDevInfo(o.info); last == nil {
			info = o.over(info)
			last = answers(ctx, info)
		}
		return last == nil, nil
	})
	if err != nil && last != nil {
		return info, last
	}
	return info, err
}

// over is the description with the flags put over it.
func (o exchangeDemoOptions) over(i devInfo) devInfo {
	for _, f := range []struct {
		flag string
		to   *string
	}{{o.gateway, &i.Gateway}, {o.api, &i.API}, {o.node, &i.Exchange}} {
		if f.flag != "" {
			*f.to = f.flag
		}
	}
	return i
}

// answers asks gateway, exchange API and exchange chain for a sign of life.
func answers(ctx context.Context, i devInfo) error {
	if err := askHealth(ctx, rootOf(i.Gateway)+"/health"); err != nil {
		return fmt.Errorf("the gateway at %s does not answer (%w)", i.Gateway, err)
	}
	if i.API == "" {
		return errors.New("the development world has no exchange API")
	}
	if err := newTrading(i.API).Ping(ctx); err != nil {
		return fmt.Errorf("the exchange API at %s does not answer (%w)", i.API, err)
	}
	node, err := client.Dial(ctx, i.Exchange, client.Options{})
	if err == nil {
		defer node.Close()
		_, err = node.SnapshotHeight(ctx)
	}
	if err != nil {
		return fmt.Errorf("the exchange chain at %s does not answer (%w)", i.Exchange, err)
	}
	return nil
}

// soon is how long one thing on the exchange chain may take; it takes a second or two, and more on a machine that has other work.
const soon = time.Minute

// errLate says that something took too long.
var errLate = errors.New("it took too long")

// within asks until the answer is yes, but not for longer than a while; what tells for what it waited.
func within(ctx context.Context, limit time.Duration, what string, done func() (bool, error)) error {
	asking, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := poll(asking, done)
	if asking.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("waiting for %s: %w (%s)", what, errLate, limit)
	}
	if err != nil {
		return fmt.Errorf("waiting for %s: %w", what, err)
	}
	return nil
}
