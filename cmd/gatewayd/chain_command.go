package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/operator"
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
		Use: "run", Short: "Run an embedded exchange chain in its own process", Args: cobra.NoArgs,
		Long: "Run an embedded exchange chain in its own process, for use like a separate node. Without --genesis it uses the genesis of\n" +
			"`gatewayd dev`, whose keys are public; without --dir its state is discarded on exit.",
		Example: "  gatewayd chain run\n  gatewayd chain run --public --listen 127.0.0.1:48132 --ws 127.0.0.1:41420",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilInterrupted(cmd.Context(), runChain(cmd.Context(), o, w))
		},
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "dir", "", "directory of the chain's data")
	f.StringVar(&o.Genesis, "genesis", "", "JSON file of the genesis (docs/genesis.md)")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:48132", "address of the JSON-RPC over HTTP")
	f.StringVar(&o.WS, "ws", "127.0.0.1:41420", "address of the JSON-RPC over WebSocket")
	f.BoolVar(&o.Public, "public", false, publicUsage)
	f.DurationVar(&o.interval, "snapshot-interval", time.Second, "time between snapshot blocks")
	return c
}

const publicUsage = "the exchange chain offers only the methods of a real node's public port"

// runChain serves the chain until ctx ends.
func runChain(ctx context.Context, o chainRunOptions, w streams) error {
	if o.interval <= 0 {
		return operator.Usagef("--snapshot-interval %s: must be a time above zero, such as 1s", o.interval)
	}
	genesis, err := o.genesis()
	if err != nil {
		return err
	}
	e, err := daemon.StartEmbedded(node.Config{Dir: o.Dir, Genesis: genesis, SnapshotInterval: o.interval}, o.Embedded)
	if errors.Is(err, node.ErrOtherGenesis) {
		return fmt.Errorf("--genesis does not match the chain in --dir %s: %w", o.Dir, err)
	}
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
		return node.ReadGenesis(o.Genesis)
	}
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	if err != nil {
		return ledger.Genesis{}, err
	}
	return dev.Genesis(keys)
}

func genesisCommand(w streams) *cobra.Command {
	return &cobra.Command{
		Use: "genesis FILE.yaml", Short: "Write the genesis of an embedded exchange chain", Args: cobra.ExactArgs(1),
		Long: "Write the genesis of an embedded exchange chain as JSON, from a short description of its accounts, stakes and tokens in YAML\n" +
			"(docs/genesis.md). FILE.yaml - is the standard input.",
		Example: "  gatewayd genesis chain.yaml > genesis.json\n  gatewayd chain run --genesis genesis.json",
		RunE:    func(_ *cobra.Command, args []string) error { return printGenesis(w, args[0]) },
	}
}

func printGenesis(w streams, path string) error {
	text, err := readInput(w, path)
	if err != nil {
		return fmt.Errorf("reading the description of the genesis: %w", err)
	}
	var plan node.GenesisPlan
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&plan); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:\n%s", path, yaml.FormatError(err, false, true))
	}
	file, err := plan.File()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := json.NewEncoder(w.stdout)
	out.SetIndent("", "  ")
	return out.Encode(file)
}

func readInput(w streams, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(w.stdin)
	}
	return os.ReadFile(path)
}
