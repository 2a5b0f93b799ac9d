package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/devnet"
	"gatewayd/vite/genesis"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// chainRunOptions are the flags of `gatewayd chain run`.
type chainRunOptions struct {
	config.Embedded
	interval time.Duration
}

func chainRunCommand(w streams) *cobra.Command {
	var o chainRunOptions
	c := &cobra.Command{
		Use: "run", Short: "Run an embedded exchange chain alone, as a process of its own", Args: cobra.NoArgs,
		Long: "Run an embedded exchange chain alone, as a process of its own, for others to use like a node elsewhere. Without --genesis it begins as that of\n" +
			"`gatewayd dev`, whose keys are known to everybody; without --dir nothing of it is kept.",
		Example: "  gatewayd chain run --public --listen 127.0.0.1:48132 --ws 127.0.0.1:41420",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runChain(cmd.Context(), o, w) },
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "dir", "", "keep the chain in this directory")
	f.StringVar(&o.Genesis, "genesis", "", "JSON file of the chain's beginning (docs/genesis.md)")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:48132", "address of the JSON-RPC over HTTP")
	f.StringVar(&o.WS, "ws", "127.0.0.1:41420", "address of the JSON-RPC over WebSocket")
	f.BoolVar(&o.Public, "public", false, publicUsage)
	f.DurationVar(&o.interval, "snapshot-interval", time.Second, "time between snapshot blocks")
	return c
}

const publicUsage = "the exchange chain answers only what the public port of a real node answers"

// runChain serves the chain until ctx ends.
func runChain(ctx context.Context, o chainRunOptions, w streams) error {
	genesis, err := o.genesis()
	if err != nil {
		return err
	}
	e, err := daemon.StartEmbedded(node.Config{Dir: o.Dir, Genesis: genesis, SnapshotInterval: o.interval}, o.Embedded)
	if err != nil {
		return fmt.Errorf("embedded exchange chain: %w", err)
	}
	defer e.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.Run(ctx) })
	_, err = fmt.Fprintf(w.stdout, "exchange chain %s (WebSocket %s)\n", e.URL(), e.WSURL())
	g.Go(func() error { return err })
	return g.Wait()
}

// genesis is the file's, or that of a development environment.
func (o chainRunOptions) genesis() (ledger.Genesis, error) {
	if o.Genesis != "" {
		return genesis.Read(o.Genesis)
	}
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	if err != nil {
		return ledger.Genesis{}, err
	}
	return devnet.Genesis(keys)
}
