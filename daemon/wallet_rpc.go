package daemon

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/wallet"
	"gatewayd/wallet/rpc"
)

// ServeWalletRPC serves the stores in the directory of the daemon's store until ctx ends. Without
// an address in cfg it does nothing. Transactions go to the first of the exchange chain's nodes
// that answers; without nodes sending is refused.
func ServeWalletRPC(ctx context.Context, cfg config.WalletRPC, store string, ledger WalletLedger, w Dependencies) error {
	if !cfg.Enabled() {
		return nil
	}
	if err := cfg.Check(); err != nil {
		return fmt.Errorf("wallet.rpc: %w", err)
	}
	return ServeWallet(ctx, cfg, wallet.Config{Dir: filepath.Dir(store), AutoLock: cfg.AutoLock}, ledger, w)
}

func ServeWallet(ctx context.Context, cfg config.WalletRPC, stores wallet.Config, ledger WalletLedger, w Dependencies) error {
	m, err := wallet.NewManager(stores)
	if err != nil {
		return err
	}
	figures := w.withDefaults().Operators.Metrics
	parts := rpc.Parts{Wallet: m, Log: w.Log, Tell: figures.Requests("wallet"), Called: figures.WalletCall}
	if len(ledger.nodes) > 0 {
		defer ledger.Close()
		parts.Ledger = ledger
	}
	s, err := rpc.New(cfg.Config, parts)
	if err != nil {
		return err
	}
	if err := s.Listen(); err != nil {
		return err
	}
	w.Log.WithFields(logrus.Fields{"ipc": cfg.IPC, "http": s.HTTPAddr(), "ws": s.WSAddr(), "dir": m.Dir()}).Info("wallet RPC answers")
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return m.Run(ctx) })
	g.Go(func() error { return s.Run(ctx) })
	return g.Wait()
}
