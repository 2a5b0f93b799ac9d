package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/metrics"
	"gatewayd/records/signguard"
	"gatewayd/signer/checks"
	"gatewayd/signer/remote"
)

// ServeSigner signs for daemons in other processes until ctx ends, and serves the wallet's RPC:
// everything with keys, and nothing else. It has the sign-guard and nodes of its own, and no
// database. Of several that share a sign-guard one serves, and the others are standbys. A signer
// that loses the sign-guard closes all its parts and becomes a standby: no earlier state is used
// again. It waits for a server of the sign-guard that does not answer, at its start and later.
func ServeSigner(ctx context.Context, cfg config.Config, w Dependencies) error {
	if cfg.Signer.Place.Listen == "" {
		return errors.New("signer.listen is not set: unix:/path of a socket or https://host:port")
	}
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return fmt.Errorf("creating the data directory: %w", err)
	}
	l, err := newSignerListener(cfg, w.Log)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	if l.server != nil {
		g.Go(func() error {
			if err := serveWhenFree(ctx, w.Log, "signer.metrics", true, l.server.Run); err != nil {
				w.Log.WithError(err).Error("signer.metrics: nothing is served there; the signer signs without it")
			}
			return nil
		})
	}
	g.Go(func() error { return signUntil(ctx, cfg, l, w) })
	return g.Wait()
}

// signUntil signs, or stands by, until ctx ends.
func signUntil(ctx context.Context, cfg config.Config, l *signerListener, w Dependencies) error {
	logged := ""
	for {
		err := holdAndServe(ctx, &cfg, l, w)
		switch {
		case ctx.Err() != nil:
			return err
		case errors.Is(err, signguard.ErrLost):
			w.Log.WithError(err).Error("signing has stopped: waiting for the sign-guard")
		case !errors.Is(err, errGuardAway):
			return err
		case err.Error() != logged:
			w.Log.WithError(err).Warn("waiting for the sign-guard")
		}
		logged = err.Error()
		l.set(roleStandby, "the sign-guard does not answer")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(guardRetry):
		}
	}
}

// errGuardAway means that the server of the sign-guard does not answer, or is a standby.
var errGuardAway = errors.New("the server of `signer.guard` does not work now")

// guardRetry is the interval of tries to open a sign-guard whose server does not answer.
const guardRetry = 500 * time.Millisecond

// holdAndServe waits for the sign-guard and serves as long as it is ours.
func holdAndServe(ctx context.Context, cfg *config.Config, l *signerListener, w Dependencies) (err error) {
	guard, err := OpenGuard(ctx, *cfg)
	if err != nil {
		return guardFault(err)
	}
	defer func() { err = errors.Join(err, guard.Close()) }()
	l.metrics.Pools("guard", guard)
	held, err := guard.Hold(ctx, func(why string) {
		w.Log.Warn("standing by: the sign-guard is not free: " + why)
		l.set(roleStandby, "")
	})
	if err != nil {
		return guardFault(err)
	}
	defer held.Release()
	g, serving := errgroup.WithContext(ctx)
	g.Go(func() error { return held.Keep(serving) })
	g.Go(func() error { return serveSigner(serving, cfg, held.Guard, l, w) })
	if err = g.Wait(); err == nil || errors.Is(err, signguard.ErrLost) {
		return err
	}
	return errors.Join(held.Check(ctx), err) // a part may have failed before Keep noticed it
}

// guardFault marks an error of a sign-guard that may be over later.
func guardFault(err error) error {
	if database.Away(err) {
		return fmt.Errorf("%w: %w", errGuardAway, err)
	}
	return err
}

// OpenGuard opens the sign-guard of a signer: a file with its data, or on a server.
func OpenGuard(ctx context.Context, cfg config.Config) (guard *signguard.Guard, err error) {
	if url := cfg.Signer.Guard; url != "" {
		guard, err = signguard.OpenServer(ctx, url)
	} else {
		guard, err = signguard.Open(GuardPath(cfg))
	}
	return guard, err
}

func serveSigner(ctx context.Context, cfg *config.Config, guard *signguard.Guard, l *signerListener, w Dependencies) error {
	rules, err := signingRules(*cfg, w.Keys)
	if err != nil {
		return err
	}
	proofs, err := NewProofs(*cfg, w.Keys, guard, w.Log)
	if err != nil {
		return err
	}
	defer proofs.Close()
	signs, set, err := newSigner(ctx, *cfg, w.Keys, guard, rules, proofs)
	if err != nil {
		return err
	}
	server, err := remote.NewServer(cfg.Signer.Place, newObservedSigner(signs, l.metrics, metrics.Separate, w.Log), w.Log)
	if err != nil {
		return err
	}
	if err := server.Listen(); err != nil {
		return err
	}
	w.Log.WithFields(logrus.Fields{"listen": cfg.Signer.Place.Listen, "address": server.HTTPAddr()}).Info("the signer answers")
	l.set(roleSigner, "")
	rpc, store, ledger := cfg.Wallet.RPC, cfg.Wallet.Store, NewWalletLedger(cfg.ExchangeNodes())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return server.Run(ctx) })
	g.Go(func() error { return proofs.Run(ctx, signs.SettleBindings) })
	g.Go(func() error { return followRules(ctx, cfg, rules, set, proofs, w) })
	g.Go(func() error { return ServeWalletRPC(ctx, rpc, store, ledger, w) })
	return g.Wait()
}

// signingRules are those of every chain.
func signingRules(cfg config.Config, keys config.PublicKeys) (map[chain.ID]chain.Rules, error) {
	rules := map[chain.ID]chain.Rules{}
	for _, c := range cfg.Chains() {
		c, err := c.WithKeys(keys)
		if err != nil {
			return nil, err
		}
		r, err := c.Rules()
		if err != nil {
			return nil, err
		}
		rules[c.ID] = r
	}
	return rules, nil
}

// adjust gives a chain's rules its tokens and its ceiling of fees.
func adjust(c config.Chain, rules chain.Rules, log *logrus.Logger) {
	can := chain.CapabilitiesOf(rules)
	if can.Tokens != nil {
		can.Tokens.AddTokens(c.Tokens...)
	}
	if can.MaxFee == nil {
		return
	}
	if err := can.MaxFee.SetMaxFee(c.MaxFee); err != nil {
		log.WithField("chain", c.ID).WithError(err).Error("the signer keeps its ceiling of fees")
	}
}

// followRules reads the configuration again at each SIGHUP, and takes over nodes, new tokens,
// accounts, fees, depths, ceilings and the checks of payments. What is wrong changes nothing.
func followRules(ctx context.Context, cfg *config.Config, rules map[chain.ID]chain.Rules, set *checks.Set, proofs *Proofs, w Dependencies) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.Hangups:
		}
		next, err := config.Load(cfg.Path)
		if err != nil {
			w.Log.WithError(err).Error("the configuration was reloaded and refused; the previous one stays")
			continue
		}
		if err := takeSuccessors(w.Keys, next.Wallet); err != nil {
			w.Log.WithError(err).Error("the configuration was reloaded and refused; the previous one stays")
			continue
		}
		*cfg = cfg.Taking(next)
		if err := proofs.Take(*cfg); err != nil {
			w.Log.WithError(err).Error("the signer keeps its accounts, tokens, fees and depths")
		}
		for _, c := range cfg.Chains() {
			adjust(c, rules[c.ID], w.Log)
		}
		if err := set.Reconfigure(ctx, cfg.Signer.Config, cfg.CheckedAssets()); err != nil {
			w.Log.WithError(err).Error("the signer keeps its checks")
		}
		w.Log.WithField("file", cfg.Path).Info("nodes, tokens, accounts, successors, fee ceilings, limits, approvers and lists reloaded")
	}
}
