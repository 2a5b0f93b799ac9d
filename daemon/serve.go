package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/tracing"
	"gatewayd/signer"
	"gatewayd/signer/remote"
)

// Dependencies are the parts that the caller supplies: keys or a signer, signals, the log and the
// operators' listener.
type Dependencies struct {
	Keys    Keys           // of a signer in this process
	Signer  signer.Service // the one in another process; nil: there is none
	Getenv  func(string) string
	Hangups chan os.Signal // SIGHUP; may be nil
	Log     *logrus.Logger
	Roles   Roles // none stands for all
	// OnlyChains are the chains that the process may work on; none stands for all.
	OnlyChains []chain.ID
	// Operators shows the daemon's state; nil: there is no such listener.
	Operators *Operators
	// Demo serves the paths below /demo on the listeners of gateway and exchange API: pages of a
	// development environment act for its demo user, whose keys are public. May be nil.
	Demo http.Handler
}

func (w Dependencies) withDefaults() Dependencies {
	w.Roles = cmp.Or(w.Roles, AllRoles)
	if w.Operators == nil {
		w.Operators = unservedOperators()
	}
	return w
}

// Serve starts the embedded exchange chain if there is one, and serves what the configuration has
// until ctx ends: the bridge of its networks, the exchange API, the wallet's RPC. After ctx the
// work under the lease ends first. The listeners close when the load balancers have noticed.
func Serve(ctx context.Context, cfg config.Config, w Dependencies) error {
	w.Roles = cmp.Or(w.Roles, AllRoles)
	cfg, err := w.Roles.Of(cfg)
	if err == nil {
		err = CheckChains(cfg, w.Roles, w.OnlyChains)
	}
	if err != nil {
		return err
	}
	untrace, err := tracing.Export(ctx, cfg.Operators.Traces, Read().Version, w.Log)
	if err != nil {
		return err
	}
	defer untrace()
	if cfg.Wallet.Remote() {
		client, err := remote.Dial(cfg.Wallet.Target())
		if err != nil {
			return err
		}
		defer func() { _ = client.Close() }() // nothing is under way any more
		w.Signer = client
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	g, gctx := errgroup.WithContext(serving)
	if w.Operators, err = NewOperators(cfg, w.Demo != nil, w.Log); err != nil {
		return err
	}
	w.Operators.roles = w.Roles
	defer context.AfterFunc(ctx, func() {
		w.Operators.ready.Stop(gctx)
		stop()
	})()
	g.Go(func() error { return w.Operators.Run(gctx) })
	if cfg.Embedded != nil {
		w.Log.WithField("dir", cfg.Embedded.Dir).Info("opening the embedded exchange chain: replaying blocks after its last stored state")
		w.Operators.setStage("the embedded exchange chain is being opened")
		e, err := openEmbedded(*cfg.Embedded, w.Log)
		if err != nil {
			stop()
			return errors.Join(fmt.Errorf("embedded exchange chain: %w", err), g.Wait())
		}
		defer e.Close()
		w.Log.WithFields(logrus.Fields{"http": e.URL(), "ws": e.WSURL()}).Info("embedded exchange chain listening")
		cfg = e.Inside(cfg)
		g.Go(func() error { return e.Run(gctx) })
	}
	limits := &exchangeLimits{}
	if len(cfg.Networks) > 0 {
		d, err := Open(ctx, cfg, w)
		if err != nil {
			stop()
			return errors.Join(err, g.Wait())
		}
		d.limits = limits
		g.Go(func() error { return runTenures(ctx, gctx, d) })
		g.Go(func() error {
			select {
			case <-d.decided:
				return serveExchange(gctx, cfg.Exchange, limits, w, d.standby)
			case <-gctx.Done():
				return nil
			}
		})
	} else {
		g.Go(func() error { return ignoreHangups(gctx, w.Hangups, w.Log) })
		g.Go(func() error { return serveExchange(gctx, cfg.Exchange, limits, w, false) })
	}
	g.Go(func() error {
		return serveWhenFree(gctx, w.Log, "wallet.rpc", len(cfg.Networks) > 0, func(ctx context.Context) error {
			return ServeWalletRPC(ctx, cfg.Wallet.RPC, cfg.Wallet.Store, NewWalletLedger(cfg.ExchangeNodes()), w)
		})
	})
	w.Log.Info("gatewayd runs")
	return g.Wait()
}

// ignoreHangups logs for each SIGHUP that the exchange API alone takes nothing over without a
// restart.
func ignoreHangups(ctx context.Context, hangups <-chan os.Signal, log *logrus.Logger) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hangups:
			log.Warn("SIGHUP: without networks all changes of the configuration need a restart")
		}
	}
}

// NewLog is the program's logger as configured.
func NewLog(cfg config.Log, stderr io.Writer) (*logrus.Logger, error) {
	log := logrus.New()
	log.SetOutput(stderr)
	level, err := logrus.ParseLevel(cfg.LevelOrInfo())
	if err != nil {
		return nil, err
	}
	log.SetLevel(level)
	if cfg.Format == "json" {
		log.SetFormatter(&logrus.JSONFormatter{})
	} else {
		log.SetFormatter(&logrus.TextFormatter{FullTimestamp: true, TimestampFormat: "15:04:05.000"})
	}
	return log, nil
}
