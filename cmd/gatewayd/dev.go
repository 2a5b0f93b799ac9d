package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/chain/vite"
	"gatewayd/gateway"
	"gatewayd/records"
	"gatewayd/wallet"
	"gatewayd/watcher"
)

// devMnemonic is everybody's: development chains only.
const devMnemonic = "test test test test test test test test test test test junk"

// devOptions are the flags of `gatewayd dev`.
type devOptions struct {
	dir, listen, exchangeListen, source string
	period                              time.Duration
	verbose                             bool
	ready                               func() // called once everything answers; nil for none
}

func devCommand(w world) *cobra.Command {
	var o devOptions
	c := &cobra.Command{
		Use: "dev", Short: "Run everything on embedded chains: nothing to install or configure", Args: cobra.NoArgs,
		Long: "Run everything on embedded chains: nothing to install or configure. All keys are known to everybody.\n" +
			"The state starts afresh each time unless --dir keeps it.",
		RunE: func(cmd *cobra.Command, _ []string) error { return runDev(cmd.Context(), o, w) },
	}
	f := c.Flags()
	f.StringVar(&o.dir, "dir", "", "keep chains and records in this directory")
	f.StringVar(&o.listen, "listen", "127.0.0.1:8080", "address of the gateway")
	f.StringVar(&o.exchangeListen, "exchange-listen", "127.0.0.1:48132", "address of the embedded exchange chain's JSON-RPC")
	f.StringVar(&o.source, "source", "", "URL of a running development node (anvil, geth --dev) instead of the embedded source chain")
	f.DurationVar(&o.period, "period", time.Second, "time between blocks of the embedded source chain")
	f.BoolVar(&o.verbose, "verbose", false, "log every step")
	return c
}

// runDev makes the world that `gatewayd run` finds outside, writes the configuration for it and runs the very same daemon.
func runDev(ctx context.Context, o devOptions, w world) error {
	os.Remove(devInfoPath()) // of a world that has gone
	defer os.Remove(devInfoPath())
	fresh := o.dir == ""
	if fresh {
		dir, err := os.MkdirTemp("", "gatewayd-dev-")
		if err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	keys, err := wallet.FromMnemonic(devMnemonic)
	if err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	sourceURL, chainID, closeSource, err := openSource(gctx, o, g)
	if err != nil {
		return err
	}
	defer closeSource()
	genesis, err := devGenesis(keys)
	if err != nil {
		return err
	}
	exchange, err := newEmbedded(filepath.Join(o.dir, "exchange"), o.exchangeListen, genesis)
	if err != nil {
		return fmt.Errorf("embedded exchange chain: %w (is another `gatewayd dev` running? choose --exchange-listen)", err)
	}
	defer exchange.Close()
	g.Go(func() error { return exchange.Run(gctx) })

	cfg := devConfig(o, sourceURL, chainID, exchange)
	info, err := prepareDev(gctx, o, cfg, keys, exchange)
	if err != nil {
		return err
	}
	log, err := newLog(cfg.Log, w)
	if err != nil {
		return err
	}
	d, err := newDaemon(gctx, cfg, keys, log)
	if err != nil {
		return err
	}
	defer d.Close()
	g.Go(func() error { return d.Run(gctx) })
	g.Go(func() error {
		if err := d.gateway.Ready(gctx); err != nil {
			return err
		}
		info.Gateway = "http://" + d.gateway.Addr() + cfg.Networks[0].Path
		if err := info.write(); err != nil {
			return err
		}
		info.print(w, fresh)
		if o.ready != nil {
			o.ready()
		}
		return nil
	})
	return g.Wait()
}

// openSource starts the embedded source chain, or takes the node that the caller has.
func openSource(ctx context.Context, o devOptions, g *errgroup.Group) (url string, chainID uint64, closeNode func(), err error) {
	if o.source != "" {
		u, err := newEthUser(ctx, o.source, devnode.FaucetKey())
		if err != nil {
			return "", 0, nil, err
		}
		defer u.client.Close()
		return o.source, u.chain.Uint64(), func() {}, nil
	}
	n, err := devnode.Start(devnode.Config{Dir: filepath.Join(o.dir, "source"), Period: o.period})
	if err != nil {
		return "", 0, nil, fmt.Errorf("embedded source chain: %w", err)
	}
	g.Go(func() error { return n.Run(ctx) })
	return n.URL(), n.ChainID(), func() { n.Close() }, nil
}

// devConfig is the configuration of the development world.
func devConfig(o devOptions, sourceURL string, chainID uint64, exchange *embedded) Config {
	c := Config{
		Data: o.dir, Log: LogConfig{Level: "warn"},
		Ethereum: []ethereum.Config{{ID: "eth", ChainID: chainID, Nodes: []string{sourceURL}, Finality: "3"}},
		Vite:     []vite.Config{{ID: "vite", Nodes: []string{exchange.URL()}, Confirmations: 2}},
		Gateway:  gateway.Config{Listen: o.listen},
		Watcher:  watcher.Config{Poll: 200 * time.Millisecond, Sweep: "* * * * *"},
		Networks: []NetworkConfig{{
			Name: "eth", Path: "/gateway/eth", Source: "eth", Exchange: "vite", Account: 0,
			SourceExplorer: "https://etherscan.io/tx/{$tx}", ExchangeExplorer: "https://vitescan.io/tx/{$tx}",
		}},
	}
	if o.verbose {
		c.Log.Level = "debug"
	}
	depth := records.Depth{Count: 3}
	shallow := records.Depth{Count: 2}
	for _, t := range devTokens() {
		c.Networks[0].Tokens = append(c.Networks[0].Tokens, TokenConfig{
			Token: t.ID.String(), Symbol: t.Symbol + "-000", Decimals: t.Decimals, Asset: t.asset, AssetDecimals: t.Decimals, Type: t.binding,
			LabelName: t.labelName, MinDeposit: t.units(t.minimum), MinWithdraw: t.units(t.minimum), MaxWithdraw: t.units(t.maximum),
			Deposits: depth, Withdrawals: shallow, Fee: records.Fee{Kind: "flat", Amount: t.units(t.minimum)},
		})
	}
	c.Networks[0].Funders = []string{devnodeFaucet()}
	c.fill()
	return c
}

// prepareDev funds the gateway's accounts once and writes what other programs need to find this world.
func prepareDev(ctx context.Context, o devOptions, cfg Config, keys *wallet.Keys, exchange *embedded) (devInfo, error) {
	text, err := yaml.Marshal(cfg)
	if err != nil {
		return devInfo{}, fmt.Errorf("writing the configuration: %w", err)
	}
	path := filepath.Join(o.dir, "config.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return devInfo{}, err
	}
	info := newDevInfo(cfg, path, exchange)
	if err := fundSource(ctx, info, keys); err != nil {
		return devInfo{}, fmt.Errorf("funding the gateway on the source chain: %w", err)
	}
	return info, nil
}

// devInfo is what the demo, tests and people need to use a development world. It lies beside the temporary files.
type devInfo struct {
	Gateway    string     `json:"gateway"` // base URL of the network "eth"
	Source     string     `json:"source"`
	Exchange   string     `json:"exchange"`
	ExchangeWS string     `json:"exchangeWs"`
	Config     string     `json:"config"`
	Mnemonic   string     `json:"mnemonic"`
	FaucetKey  string     `json:"faucetKey"`
	Tokens     []devToken `json:"tokens"`
}

type devToken struct {
	Symbol   string `json:"symbol"`
	Token    string `json:"token"`
	Asset    string `json:"asset"`
	Decimals uint8  `json:"decimals"`
	Type     int    `json:"type"`
	Minimum  string `json:"minimum"`
	Maximum  string `json:"maximum"`
}

func newDevInfo(cfg Config, path string, exchange *embedded) devInfo {
	info := devInfo{
		Gateway: "http://" + cfg.Gateway.Listen + cfg.Networks[0].Path, Source: cfg.Ethereum[0].Nodes[0], Exchange: exchange.URL(), ExchangeWS: exchange.WSURL(),
		Config: path, Mnemonic: devMnemonic, FaucetKey: keyHex(devnode.FaucetKey()),
	}
	for _, t := range cfg.Networks[0].Tokens {
		info.Tokens = append(info.Tokens, devToken{
			Symbol: t.Symbol, Token: t.Token, Asset: string(t.Asset), Decimals: t.Decimals, Type: t.Type,
			Minimum: t.MinWithdraw.String(), Maximum: t.MaxWithdraw.String(),
		})
	}
	return info
}

// devInfoPath is where the newest development world of this machine describes itself.
func devInfoPath() string { return filepath.Join(os.TempDir(), "gatewayd-dev.json") }

func (i devInfo) write() error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	for _, path := range []string{devInfoPath(), filepath.Join(filepath.Dir(i.Config), "dev.json")} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return fmt.Errorf("describing the development world: %w", err)
		}
	}
	return nil
}

// readDevInfo finds the running development world.
func readDevInfo(path string) (info devInfo, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("no development world is described in %s", path)
	}
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

func (i devInfo) print(w world, fresh bool) {
	keep := "State is kept in " + filepath.Dir(i.Config) + "."
	if fresh {
		keep = "State starts afresh each time; --dir DIR keeps it."
	}
	fmt.Fprintf(w.stdout, `gatewayd is ready. %s Keys are everybody's: never send real money here.

  gateway         %s
  health          %s
  API description %s
  source chain    %s
  exchange chain  %s  (WebSocket %s)

Tokens
`, keep, i.Gateway, rootOf(i.Gateway)+"/health", rootOf(i.Gateway)+"/openapi.json", i.Source, i.Exchange, i.ExchangeWS)
	for _, t := range i.Tokens {
		fmt.Fprintf(w.stdout, "  %-9s %s  type %d  %s\n", t.Symbol, t.Token, t.Type, t.Asset)
	}
	fmt.Fprintf(w.stdout, `
Try
  make demo
  curl '%s/meta-info?tokenId=%s'
  gatewayd records list -c %s
`, i.Gateway, i.Tokens[0].Token, i.Config)
}
