package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/metrics"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/checks"
	"gatewayd/signer/remote"
	"gatewayd/vite/core"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// Keys derive addresses and sign.
type Keys interface {
	Address(path string) (string, error)
	DepositKey(p wallet.SourcePaths) (wallet.DepositKey, error)
	AccountKey(path string) (keystore.ExtendedPublicKey, error)
	signer.Keys
}

// signingKeys are keys as the signer uses them: by the chains of a configuration.
type signingKeys struct {
	Keys
	chains func(chain.ID) (config.Chain, bool)
}

// SigningKeys are the keys of a signer for the chains of a configuration.
func SigningKeys(keys Keys, cfg config.Config) interface {
	signer.Keys
	signer.Wallet
} {
	return signingKeys{keys, cfg.Chain}
}

var errNoChain = errors.New("there is no such chain")

// Account is the address of the key at a path on a ledger.
func (k signingKeys) Account(id chain.ID, path string) (string, error) {
	on, ok := k.chains(id)
	if !ok {
		return "", errNoChain
	}
	return on.Account(k.Keys, path)
}

// Deposit is the path of a deposit address on a source chain, of the newest seed.
func (k signingKeys) Deposit(id chain.ID, index uint32) (string, error) {
	key, err := k.DepositKey(id)
	if err != nil {
		return "", err
	}
	on, _ := k.chains(id)
	return wallet.SeedPath(key.Seed, on.DepositPath(index)), nil
}

// DepositKey is the extended public key of a source chain's deposit addresses; on a ledger of coins
// of all addresses.
func (k signingKeys) DepositKey(id chain.ID) (out signer.DepositKey, err error) {
	on, ok := k.chains(id)
	if !ok || !on.Source {
		return out, errNoChain
	}
	if on.Coins != "" {
		account, err := k.AccountKey(string(on.Coins))
		if err == nil {
			out.Public, out.Chain = account.Bytes()
		}
		return out, err
	}
	key, err := k.Keys.DepositKey(wallet.SourcePaths(on.CoinType))
	if err == nil {
		out.Seed = key.Seed
		out.Public, out.Chain = key.Bytes()
	}
	return out, err
}

// Agent is the address of a path on the exchange chain.
func (k signingKeys) Agent(path string) (core.Address, error) { return ExchangeAddress(k.Keys, path) }

// GuardPath returns the file of a signer's sign-guard, unless it is on a server.
func GuardPath(cfg config.Config) string { return filepath.Join(cfg.Data, "guard.db") }

// openGuard opens the sign-guard of a signer in this process; nil where another process has it.
func (d *Daemon) openGuard() (*signguard.Guard, error) {
	if d.deps.Signer != nil {
		return nil, nil
	}
	guard, err := signguard.Open(GuardPath(d.Config))
	if err != nil {
		return nil, fmt.Errorf("opening the sign-guard: %w", err)
	}
	d.closers = append(d.closers, d.closing("the sign-guard", guard.Close))
	d.deps.Operators.Metrics.Pools("guard", guard)
	return guard, nil
}

// openSigner uses the signer of another process, or makes one from this process's keys and
// sign-guard.
func (d *Daemon) openSigner(ctx context.Context, guard *signguard.Guard, rules map[chain.ID]chain.Rules) error {
	if d.deps.Signer != nil {
		d.signer = newObservedSigner(d.deps.Signer, d.deps.Operators.Metrics, metrics.Separate, d.deps.Log)
		return nil
	}
	local, set, err := newSigner(ctx, d.Config, d.deps.Keys, guard, rules, nil)
	if err != nil {
		return err
	}
	d.signer, d.checks = newObservedSigner(local, d.deps.Operators.Metrics, metrics.InProcess, d.deps.Log), set
	return nil
}

// newSigner makes a signer with all its checks. Without proofs the signer has no nodes: it does not
// verify the cause that the daemon gives for a payment.
func newSigner(ctx context.Context, cfg config.Config, keys Keys, guard *signguard.Guard, rules map[chain.ID]chain.Rules, proofs *Proofs) (*signer.Signer, *checks.Set, error) {
	set, err := checks.New(ctx, cfg.Signer.Config, cfg.CheckedAssets(), guard, time.Now)
	if err != nil {
		return nil, nil, fmt.Errorf("signer: %w", err)
	}
	p := signer.Parts{
		Keys: SigningKeys(keys, cfg), Guard: guard, Rules: rules, Fees: set, Authorized: set.Authorized, Now: set.Now, Report: set.Report,
		Checks: []signer.Check{checks.Func(set.Listed), checks.Func(set.Limited), checks.Func(set.Approved)},
		Again:  []signer.Check{checks.Func(set.Listed)}, Listed: checks.Func(set.Listed),
	}
	if proofs != nil {
		p.Checks = append([]signer.Check{set.Unless(proofs.Checker.Check)}, p.Checks...)
		p.Again = append([]signer.Check{checks.Func(proofs.Checker.Recheck)}, p.Again...)
		p.Ledgers, p.Known, p.Source = proofs.Ledgers, proofs.Known, proofs.Source
		p.Report = func() checks.Report {
			r := set.Report()
			r.Unprovable, r.Policy = proofs.Unprovable(), *proofs.policy.Load()
			return r
		}
	}
	return signer.New(p), set, nil
}

// signerRetry is the interval at which an unreachable signer is asked again.
const signerRetry = time.Second

// awaitSigner waits for a signer in another process: nothing can be checked without it.
func (d *Daemon) awaitSigner(ctx context.Context) error {
	told := false
	for {
		_, err := d.deps.Signer.Identity(ctx)
		if !errors.Is(err, remote.ErrAway) {
			d.deps.Operators.setStage("")
			return err
		}
		if !told {
			d.log.WithError(err).Warn("waiting for the signer")
			d.deps.Operators.setStage("waiting for the signer, which does not answer")
			told = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(signerRetry):
		}
	}
}

// checkGuardEarly checks the sign-guard before the daemon waits for the lease: one that can never
// lead fails at once.
func (d *Daemon) checkGuardEarly(ctx context.Context, store *records.Store, guard *signguard.Guard) error {
	if d.deps.Signer == nil {
		now, err := guard.Identity(ctx)
		if err != nil {
			return err
		}
		return d.checkGuard(ctx, store, now)
	}
	if err := d.awaitSigner(ctx); err != nil {
		return err
	}
	now, err := d.deps.Signer.Identity(ctx)
	if err != nil {
		return err
	}
	return d.checkGuard(ctx, store, now)
}

// checkGuard refuses another sign-guard than the one that signed for these records: it may not know
// what was signed.
func (d *Daemon) checkGuard(ctx context.Context, store *records.Store, now signguard.Identity) error {
	return store.View(ctx, func(tx *records.Tx) error {
		was, found, err := records.GuardOf(tx)
		if err != nil || !found || was.ID == now.ID {
			return err
		}
		return d.otherGuard(was.ID, now.ID)
	})
}

func (d *Daemon) otherGuard(was, now string) error {
	where := GuardPath(d.Config)
	if d.deps.Signer != nil {
		where = d.Config.Wallet.Signer
	}
	return fmt.Errorf("%w: these records belong to sign-guard %s, but %s has %s, which does not know their signatures. Several daemons on one database need the same "+
		"wallet.signer. Restore the sign-guard. If it is lost, run `gatewayd account adopt-guard`, which stops every paying account (docs/operations/recovery.md)",
		records.ErrOtherGuard, was, where, now)
}

// recordGuard checks the sign-guard at the beginning of a part's work. A sign-guard that lacks
// signatures in the records stops the accounts of these: those of the part's chains, since other
// processes may sign on other chains now. The process that leads records it. A sign-guard with less
// than its earlier recorded state stops every paying account.
func (d *Daemon) recordGuard(ctx context.Context, p *part) error {
	now, err := d.signer.Identity(ctx)
	if err != nil {
		return err
	}
	if err := d.checkGuard(ctx, p.store, now); err != nil {
		return err
	}
	ends, err := d.signedEnds(ctx, p)
	if err != nil {
		return err
	}
	return p.store.Update(ctx, func(tx *records.Tx) error {
		was, found, err := records.GuardOf(tx)
		if err != nil {
			return err
		}
		if !p.leads() || !found || now.Commits >= was.Commits {
			halted, err := records.HaltLacking(tx, ends)
			for _, a := range halted {
				d.log.WithFields(logrus.Fields{"chain": a.Chain, "account": a.Account}).Error("account halted, needs an operator: " + a.Why)
			}
			if err == nil && p.leads() {
				err = records.NoteGuard(tx, records.Guard(now))
			}
			return err
		}
		why := fmt.Sprintf("the sign-guard is older than these records: it knows %d commits of %d", now.Commits, was.Commits)
		halted, err := records.AdoptGuard(tx, records.Guard(now), d.Config.ChainIDs(), why)
		d.log.WithField("accounts", len(halted)).Error(why + ": every paying account is stopped")
		return err
	})
}

// signedEnds asks the signer where the signatures of each account end that pays on a part's chains.
func (d *Daemon) signedEnds(ctx context.Context, p *part) (ends []records.GuardEnd, err error) {
	var accounts []records.Account
	err = p.store.View(ctx, func(tx *records.Tx) error {
		for _, id := range d.chainsOf(p) {
			some, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
			if err != nil {
				return err
			}
			accounts = append(accounts, some...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		e := records.GuardEnd{Account: a}
		if e.Branch, e.Number, e.Known, err = d.signer.Next(ctx, a.Chain, a.Account); err != nil {
			return nil, fmt.Errorf("reading the signer's last signature of %s on %s: %w", a.Account, a.Chain, err)
		}
		ends = append(ends, e)
	}
	return ends, nil
}

// guardState reads the sign-guard's identity for the monitor, which sees by it whether the signer
// answers.
func (d *Daemon) guardState(ctx context.Context) (records.Guard, error) {
	now, err := d.signer.Identity(ctx)
	return records.Guard(now), err
}
