package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/wallet"
	"gatewayd/wallet/rpc"
)

// WalletRPCConfig serves the stores beside the daemon's own to node tools. Nothing is served unless an address is given.
type WalletRPCConfig struct {
	rpc.Config `yaml:",inline"`
	AutoLock   time.Duration `yaml:"auto_lock"` // see wallet.Config
}

// serveWalletRPC serves the stores in the directory of the daemon's store until ctx ends. Without an address in cfg it does
// nothing. Transactions go to the first of the exchange chain's nodes that answers; without nodes sending is refused.
func serveWalletRPC(ctx context.Context, cfg WalletRPCConfig, store string, ledger walletLedger, log *logrus.Logger) error {
	if !cfg.Enabled() {
		return nil
	}
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("wallet.rpc: %w", err)
	}
	return serveWallet(ctx, cfg, wallet.Config{Dir: filepath.Dir(store), AutoLock: cfg.AutoLock}, ledger, log)
}

func serveWallet(ctx context.Context, cfg WalletRPCConfig, stores wallet.Config, ledger walletLedger, log *logrus.Logger) error {
	m, err := wallet.NewManager(stores)
	if err != nil {
		return err
	}
	parts := rpc.Parts{Wallet: m, Log: log}
	if len(ledger.nodes) > 0 {
		defer ledger.close()
		parts.Ledger = ledger
	}
	s, err := rpc.New(cfg.Config, parts)
	if err != nil {
		return err
	}
	if err := s.Listen(); err != nil {
		return err
	}
	log.WithFields(logrus.Fields{"ipc": cfg.IPC, "http": s.HTTPAddr(), "ws": s.WSAddr(), "dir": m.Dir()}).Info("wallet RPC answers")
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return m.Run(ctx) })
	g.Go(func() error { return s.Run(ctx) })
	return g.Wait()
}

func (d *walletDesk) serveCommand() *cobra.Command {
	var cfg WalletRPCConfig
	var node string
	c := &cobra.Command{
		Use: "serve", Short: "Answer the wallet's JSON-RPC for the stores of the directory", Args: cobra.NoArgs,
		Example: "  gatewayd wallet serve --ipc data/wallet.ipc --node http://127.0.0.1:48132",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cfg.Enabled() {
				cfg.IPC = filepath.Join(filepath.Dir(filepath.Clean(d.dir)), "wallet.ipc")
			}
			log, err := newLog(LogConfig{}, d.w)
			if err != nil {
				return err
			}
			var nodes []string
			if node != "" {
				nodes = []string{node}
			}
			return serveWallet(cmd.Context(), cfg, wallet.Config{Dir: d.dir, AutoLock: cfg.AutoLock}, newWalletLedger(nodes, nil), log)
		},
	}
	f := c.Flags()
	f.StringVar(&cfg.IPC, "ipc", "", "path of the Unix socket; without any address it is wallet.ipc beside the directory")
	f.StringVar(&cfg.HTTP, "http", "", "loopback address of HTTP, such as 127.0.0.1:8645")
	f.StringVar(&cfg.WS, "ws", "", "loopback address of WebSocket")
	f.StringVar(&cfg.JWTSecretFile, "jwt-secret", "", "file with the secret of the tokens that HTTP and WebSocket want; made if missing")
	f.StringVar(&node, "node", "", "URL of the exchange chain's node that transactions go to")
	f.DurationVar(&cfg.AutoLock, "auto-lock", 0, "lock a store after not being used for this long; 0: ten minutes, negative: never")
	return c
}
