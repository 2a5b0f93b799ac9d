package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// CustodyOptions of Run.
type CustodyOptions struct {
	Program string // the program whose commands are run
	Source  string // embedded, or a kind of node
	// Period is the time between blocks of both chains.
	Period time.Duration
	Inside bool // the signer is inside the daemon, for who compares
	// Depths of final blocks of the source chain and of the exchange chain; 0: those of a
	// development environment.
	Finality, Confirmations int64

	side *ethnode.Node // a second source chain of the signer; nil for none
}

// stage is the demo's environment.
type stage struct {
	*CustodyProcesses
	*Log
	user *dev.BridgeUser

	approver, record string         // Ann's public key, and what she is asked for
	waiting          string         // the block of that withdrawal
	payee            common.Address // of it
	hot              string         // the account that pays first
}

// RunCustody starts everything in a directory of its own, shows each step, and takes everything
// down again. An unexpected result ends it.
func RunCustody(ctx context.Context, o CustodyOptions, out io.Writer) (err error) {
	if o.side, err = ethnode.Start(ethnode.Config{Period: o.Period, ChainID: 1338}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.side.Close()) }()
	return WithCustody(ctx, o, func(ctx context.Context, p *CustodyProcesses) error { return play(ctx, p, out) })
}

// WithCustody makes both chains and the configurations of daemon and signer for f, which starts
// them, and takes everything down again.
func WithCustody(ctx context.Context, o CustodyOptions, f func(context.Context, *CustodyProcesses) error) (err error) {
	dir, err := os.MkdirTemp("", "custody") // the name of a socket is short
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	if err != nil {
		return err
	}
	url, chainID, stop, err := startSource(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	genesis, err := dev.Genesis(keys)
	if err != nil {
		return err
	}
	exchange, err := daemon.NewEmbedded(node.Config{Dir: filepath.Join(dir, "exchange"), Genesis: genesis, SnapshotInterval: o.Period})
	if err != nil {
		return err
	}
	defer exchange.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return exchange.Run(ctx) })
	g.Go(func() error {
		defer end()
		w := &CustodyProcesses{program: o.Program, dir: dir}
		if err := w.configure(ctx, o, url, chainID, exchange.URL()); err != nil {
			return err
		}
		defer w.close()
		if err := dev.FundSource(ctx, w.Info, keys, nil); err != nil {
			return err
		}
		return f(ctx, w)
	})
	return g.Wait()
}

// startSource starts the source chain.
func startSource(ctx context.Context, o CustodyOptions) (url string, chainID uint64, stop func() error, err error) {
	if o.Source == "embedded" {
		n, err := ethnode.Start(ethnode.Config{Period: o.Period, FinalityDepth: uint64(cmp.Or(o.Finality, int64(dev.Finality)))})
		if err != nil {
			return "", 0, nil, err
		}
		return n.URL(), n.ChainID(), n.Close, nil
	}
	n, err := ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Kind(o.Source), Period: o.Period})
	if err != nil {
		return "", 0, nil, err
	}
	return n.URL(), n.ChainID(), n.Close, nil
}

// play goes through the steps.
func play(ctx context.Context, w *CustodyProcesses, out io.Writer) error {
	s := &stage{CustodyProcesses: w, Log: NewLog(out, false)}
	for _, part := range []struct {
		title string
		show  func(context.Context) error
	}{
		{"The signer is a separate process of another user, on another host. The daemon has no key.", s.begin},
		{"A valid deposit and withdrawal: the signer reads both chains itself and signs.", s.honest},
		{"Approvals: a payment above 10 USDT waits until a person signs it.", s.approvals},
		{"A thief owns the daemon, its database and its socket to the signer.", s.thief},
		{"Ann approves.", s.approve},
		{"Limits: payments over the daily limit wait.", s.limits},
		{"Block list: a listed payee is not paid, and the withdrawal is refunded.", s.blockList},
		{"Cold storage: the hot account's excess goes to an address whose key is not here.", s.cold},
		{"Rotation: a new hot account pays, the old one is watched permanently and emptied.", s.rotate},
	} {
		s.Step(part.title)
		if err := part.show(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.title, err)
		}
	}
	s.Done("No funds left the gateway without a user's transfer.", nil)
	return nil
}

func (s *stage) begin(ctx context.Context) error {
	if err := s.Start(ctx); err != nil {
		return err
	}
	s.Note("gatewayd signer -c signer.yaml   has the keys and the sign-guard: process %d", s.signer.Process.Pid)
	s.Note("gatewayd run -c config.yaml      has neither: process %d", s.daemon.Process.Pid)
	token, err := s.Info.Token("USDT")
	if err == nil {
		s.user, err = dev.NewBridgeUser(ctx, s.Info, token, 0, io.Discard)
	}
	if err == nil {
		s.onClose(s.user.Close)
	}
	return err
}

func (s *stage) honest(ctx context.Context) error {
	hash, err := s.user.Deposit(ctx, s.user.Times(90))
	if err != nil {
		return err
	}
	if _, err := s.user.Await(ctx, "/deposit-records", hash, "TOT_CONFIRMED"); err != nil {
		return err
	}
	s.Note("deposited %s: credited", s.amount(s.user.Times(90)))
	if err := s.user.Collect(ctx, s.user.Times(90)); err != nil {
		return err
	}
	sent, to, err := s.withdraw(ctx, 5)
	if err != nil {
		return err
	}
	if err := s.waitForPaid(ctx, sent, to, 5); err != nil {
		return err
	}
	s.Note("withdrew %s to %s: paid", s.amount(s.user.Times(5)), to)
	return nil
}

// amount is an amount of the user's token for people.
func (s *stage) amount(a chain.Amount) string {
	return s.user.Token.Text(a)
}
