// Package watcher runs the automatic work: it follows the chains, decides what a transfer to us
// becomes, pays liabilities exactly once and watches the payments become final.
//
//	chain A ──Block──▶ follower[A] ──one SQL tx──▶ records ◀── payer[B] ──Broadcast──▶ chain B
//	                                                       └──Block: our transaction──▶ follower[B]
//
// It owns the order of the steps; R1 to R7 and E0 to E9 in comments are the rules and the evidence
// of docs/payment-rules.md. It does not own rows (records), ledgers (chain) or the wallets' view
// (gateway).
package watcher

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/follow"
	"gatewayd/watcher/frozen"
	"gatewayd/watcher/pay"
	"gatewayd/watcher/reconcile"
	"gatewayd/watcher/treasury"
)

// DefaultPoll is Config.Poll where that is not set.
const DefaultPoll = time.Second

func setDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Signer authorizes and signs payments, and reads their outcomes.
type Signer interface {
	pay.Signer
	follow.Signer
}

// Parts are a Watcher's dependencies. Store must be fenced by the lease of what it owns.
type Parts struct {
	Store    records.Transactor
	Chains   map[chain.ID]chain.Chain
	Networks []records.Network // at the start; Reconfigure takes others
	Signer   Signer
	// Owns reports whether the work on a chain is this Watcher's, and for an empty name the work
	// that is of no one chain. Nil: all is.
	Owns func(chain.ID) bool
	Log  logrus.FieldLogger
	Now  func() time.Time // default time.Now
}

// Watcher runs one follower and one payer per chain, and the calendar work.
type Watcher struct {
	Parts
	cfg              Config
	served           atomic.Pointer[[]records.Network] // replaced as one value, never modified
	followers        map[chain.ID]*follow.Follower
	pools            map[chain.ID]*follow.Pool // of the chains that show them
	payers           *pay.Payers
	tokens           *frozen.Tokens
	wakes            map[chain.ID]chan struct{} // capacity 1, no data: the database has new work
	askHeld          chan struct{}              // capacity 1, no data: the signer may answer otherwise now
	fundsChecked     chan struct{}              // closed by markFundsChecked
	markFundsChecked func()
}

// New checks that every network names known chains. It starts nothing.
func New(cfg Config, p Parts) (*Watcher, error) {
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Owns == nil {
		p.Owns = func(chain.ID) bool { return true }
	}
	w := &Watcher{
		Parts: p, cfg: cfg.withDefaults(),
		followers: map[chain.ID]*follow.Follower{}, pools: map[chain.ID]*follow.Pool{}, wakes: map[chain.ID]chan struct{}{}, askHeld: make(chan struct{}, 1), fundsChecked: make(chan struct{}),
	}
	w.markFundsChecked = sync.OnceFunc(func() { close(w.fundsChecked) })
	w.Reconfigure(p.Networks)
	w.tokens = &frozen.Tokens{Store: p.Store, Chains: p.Chains, Owns: p.Owns, Networks: w.Networks, Rules: w.rules, Log: p.Log}
	w.payers = pay.New(pay.Parts{
		Store: p.Store, Chains: p.Chains, Owns: p.Owns, Networks: w.Networks, Rules: w.rules, Tokens: w.tokens, Signer: p.Signer,
		Wake: w.wake, ReplaceAfter: w.cfg.ReplaceAfter, Log: p.Log, Now: p.Now,
	})
	reading := follow.Parts{Store: p.Store, Rules: w.rules, Tokens: w.tokens, Signer: p.Signer, Wake: w.wake, FetchAhead: w.cfg.FetchAhead, Log: p.Log}
	for id, c := range p.Chains {
		w.wakes[id] = make(chan struct{}, 1)
		w.followers[id] = follow.New(reading, id, c)
		if pool := follow.NewPool(reading, id, c, p.Now); pool != nil {
			w.pools[id] = pool
		}
	}
	for _, n := range p.Networks {
		if p.Chains[n.Source] == nil || p.Chains[n.Exchange] == nil {
			return nil, fmt.Errorf("network %s: chain %s or %s is not configured", n.Name, n.Source, n.Exchange)
		}
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	return w, nil
}

// Reconfigure takes other tokens, limits, fees and funders of the same networks. What is decided
// from then on is decided by them; what a transfer froze at first sight stays.
func (w *Watcher) Reconfigure(networks []records.Network) {
	w.served.Store(&networks)
	w.AskSoon()
}

// AskSoon makes Run ask the signer about what it holds without waiting for its time.
func (w *Watcher) AskSoon() {
	select {
	case w.askHeld <- struct{}{}:
	default:
	}
}

// Networks returns the networks in force. A second call may return others.
func (w *Watcher) Networks() []records.Network { return *w.served.Load() }

func (w *Watcher) reportUnknownTokens(ctx context.Context) error {
	return follow.ReportUnknownTokens(ctx, w.Store, w.Log)
}

// rules are the terms in force for transfers.
func (w *Watcher) rules() transfers.Rules {
	return transfers.Rules{Networks: w.Networks(), Payable: transfers.Payable(w.Chains), Now: w.Now}
}

func (w *Watcher) classify(tx *records.Tx, id chain.ID, t chain.Transfer) (row records.Transfer, ok bool, err error) {
	return w.rules().Classify(tx, id, t)
}

// Run works until ctx ends or a failure occurs that only a person can repair. It waits for faulty
// nodes.
func (w *Watcher) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	owned := false
	for id := range w.Chains {
		if !w.Owns(id) {
			continue
		}
		owned = true
		g.Go(func() error { return w.loop(ctx, "follower", id, w.cfg.Poll, nil, w.followers[id].Round) })
		g.Go(func() error {
			return w.loop(ctx, "payer", id, w.cfg.Poll, w.wakes[id], func(ctx context.Context) error { return w.payers.Round(ctx, id) })
		})
		if pool := w.pools[id]; pool != nil {
			g.Go(func() error { return w.loop(ctx, "pool", id, follow.PoolEvery, nil, pool.Round) })
		}
		if a := w.balanceAuditor(id); a != nil {
			g.Go(func() error { return w.loop(ctx, "balances", id, w.cfg.Poll, nil, a.Round) })
		}
	}
	if owned {
		w.runChains(ctx, g)
	}
	if w.Owns("") {
		g.Go(func() error { return w.loop(ctx, "reconcile", "", w.cfg.Reconcile, nil, w.books().Round) })
		g.Go(func() error { return w.loop(ctx, "solvency", "", w.cfg.Reconcile, nil, w.solvency().Round) })
		g.Go(func() error {
			return w.loop(ctx, "unknown tokens", "", follow.UnknownTokensCheck, nil, w.reportUnknownTokens)
		})
	}
	return g.Wait()
}

// runChains starts the loops of which each works for all chains of this Watcher, one after the
// other.
func (w *Watcher) runChains(ctx context.Context, g *errgroup.Group) {
	g.Go(func() error { return w.loop(ctx, "prune", "", w.cfg.Reconcile, nil, w.prune) })
	g.Go(func() error { return w.loop(ctx, "tokens", "", w.cfg.Reconcile, nil, w.tokens.Try) })
	g.Go(func() error { return w.loop(ctx, "level", "", w.cfg.Level, nil, w.Treasury().Level) })
	g.Go(func() error { return w.loop(ctx, "cold", "", w.cfg.Level, nil, w.Treasury().Cold) })
	g.Go(func() error { return w.loop(ctx, "held", "", pay.AskHeldEvery, w.askHeld, w.payers.AskHeld) })
	g.Go(func() error { return w.loop(ctx, "quotes", "", w.cfg.QuoteEvery, nil, w.payers.Quote) })
	g.Go(func() error { return w.calendar(ctx) })
}

// keepBlocks is the number of stored blocks of a chain below the cursor: eleven days of blocks that
// come each second.
const keepBlocks = 1_000_000

// prune deletes old blocks, so that they do not grow for ever.
func (w *Watcher) prune(ctx context.Context) error {
	for id := range w.Chains {
		if !w.Owns(id) {
			continue
		}
		err := w.Store.Update(ctx, func(tx *records.Tx) error {
			_, err := tx.Chains().Prune(id, keepBlocks)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Treasury moves money between our own accounts. Run calls it automatically.
func (w *Watcher) Treasury() *treasury.Treasury {
	return &treasury.Treasury{
		Store: w.Store, Chains: w.Chains, Owns: w.Owns, Networks: w.Networks, AskAgain: w.payers.AskAgain, Wake: w.wake, Log: w.Log, Now: w.Now,
	}
}

// reconciling returns the dependencies of the comparisons of books and balances.
func (w *Watcher) reconciling() reconcile.Parts {
	return reconcile.Parts{Store: w.Store, Chains: w.Chains, Networks: w.Networks, Classify: w.classify, Log: w.Log, Now: w.Now}
}

func (w *Watcher) books() *reconcile.Books {
	return reconcile.NewBooks(w.reconciling(), w.markFundsChecked)
}

func (w *Watcher) solvency() *reconcile.Solvency {
	return reconcile.NewSolvency(w.reconciling(), w.cfg.Solvency)
}

func (w *Watcher) balanceAuditor(id chain.ID) *reconcile.Auditor {
	return reconcile.NewAuditor(w.reconciling(), id, w.cfg.BalanceAudit)
}

// AuditBalances compares the coin of all accounts with the books now, where a chain offers it. Run
// calls it automatically.
func (w *Watcher) AuditBalances(ctx context.Context) error {
	for id := range w.Chains {
		if a := w.balanceAuditor(id); a != nil {
			if err := a.Round(ctx); err != nil {
				return fmt.Errorf("auditing the balances of %s: %w", id, err)
			}
		}
	}
	return nil
}

// FundsChecked is closed when Run has looked for the first time whether each direction can be paid
// at all, or has tried to.
func (w *Watcher) FundsChecked() <-chan struct{} { return w.fundsChecked }

// Step makes one pass of every follower and every payer, in the order of the chains' names. Run
// does the same with loops of their own.
func (w *Watcher) Step(ctx context.Context) error {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(w.Chains)), func(id chain.ID) bool { return !w.Owns(id) })
	for _, id := range ids {
		if err := w.followers[id].Round(ctx); err != nil {
			return fmt.Errorf("following %s: %w", id, err)
		}
	}
	for _, id := range ids {
		if err := w.payers.Round(ctx, id); err != nil {
			return fmt.Errorf("paying on %s: %w", id, err)
		}
	}
	return nil
}

// briefFault is the time for which a loop fails before the log shows it: shorter faults need no
// reader.
const briefFault = 3 * time.Second

// sameFault is the time for which a failing loop logs nothing more when the text of its fault
// changes: several nodes fail in any order.
const sameFault = time.Minute

// loop repeats a round at every tick and wake. A fault of a node or a lost commit is waited out,
// and logged once if it lasts; losing the lease or the database's trust ends the process.
func (w *Watcher) loop(ctx context.Context, name string, id chain.ID, every time.Duration, wake <-chan struct{}, round func(context.Context) error) error {
	log := w.Log.WithFields(logrus.Fields{"loop": name, "chain": id})
	tick := time.NewTicker(every)
	defer tick.Stop()
	faults := loopFaults{log: log}
	for {
		err := round(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return fmt.Errorf("%s %s: %w", name, id, err)
		case err != nil:
			faults.add(err)
		default:
			faults.end()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		case <-wake:
		}
	}
}

// loopFaults decides which faults of a loop the log shows.
type loopFaults struct {
	log   logrus.FieldLogger
	since time.Time // of the first fault in a row; zero: the last round was good
	last  string    // the fault that was logged last; empty: none since the loop worked
	at    time.Time // when
}

func (f *loopFaults) add(err error) {
	now := time.Now()
	if f.since.IsZero() {
		f.since = now
	}
	news := f.last == "" || err.Error() != f.last && now.Sub(f.at) > sameFault
	if news && now.Sub(f.since) >= briefFault {
		f.log.WithError(err).Warn("retrying")
		f.last, f.at = err.Error(), now
	}
}

func (f *loopFaults) end() {
	if f.last != "" {
		f.log.Info("recovered")
	}
	f.last, f.since = "", time.Time{}
}

// wake wakes the payers: some transaction may have queued work for any of them.
func (w *Watcher) wake() {
	for _, c := range w.wakes {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// calendar sweeps on its cron schedule, in UTC.
func (w *Watcher) calendar(ctx context.Context) error {
	schedule, err := parseSchedule(w.cfg.Sweep)
	if err != nil {
		return err
	}
	c := cron.New(cron.WithLocation(time.UTC), cron.WithChain(cron.Recover(cron.DiscardLogger), cron.SkipIfStillRunning(cron.DiscardLogger)))
	c.Schedule(schedule, cron.FuncJob(func() {
		if err := w.Treasury().Sweep(ctx); err != nil && ctx.Err() == nil {
			w.Log.WithError(err).Warn("sweeping deposit addresses")
		}
	}))
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
	return nil
}

// parseSchedule refuses what robfig/cron panics on (a zone prefix without a schedule).
func parseSchedule(text string) (s cron.Schedule, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("schedule %q: not a cron expression", text)
		}
	}()
	s, err = cron.ParseStandard(text)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", text, err)
	}
	return s, nil
}
