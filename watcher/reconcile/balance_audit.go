package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// Comparisons that untraced blocks make due are at least auditGap apart, and take an auditShare-th
// of the time at most.
const (
	auditGap   = 10 * time.Second
	auditShare = 20
)

// shortagePrefix marks the automatic stops that the balance audit may lift again.
const shortagePrefix = "balances: "

// Auditor compares the coin of our accounts with the books. Both must be equal as of a final block.
// A surplus that two final blocks show is coin that no block showed us: it becomes a transfer like
// any other. A shortage that two show closes the coin's channels.
//
//	every account ──BalancesAt──▶ NoteLooks ──▶ finding ──(a later final block confirms it)──▶
//	locateArrivals ──▶ CreditSurplus ──▶ decideFinal
//
// All accounts are compared at start, once in a period, and soon after a block that no node could
// trace. New ones are compared as soon as their first block is final: that comparison separates
// arrivals before an address was given from later ones.
type Auditor struct {
	Parts
	id     chain.ID
	chain  chain.BalanceReader
	log    logrus.FieldLogger
	period time.Duration // between two comparisons of all accounts
	folded uint64        // final block of the last round
	next   time.Time     // when all accounts are compared again
	early  time.Time     // when they may be compared before that, because of blocks that no node could trace
	// contradicted are the surpluses, by account, that past balances contradict, as last logged.
	contradicted map[string]chain.Amount
}

// NewAuditor returns the auditor of a chain, which compares all accounts once in a period, or nil
// when its coin is not compared.
func NewAuditor(p Parts, id chain.ID, period time.Duration) *Auditor {
	c := chain.CapabilitiesOf(p.Chains[id]).Balances
	if c == nil || !c.AuditsBalances() {
		return nil
	}
	return &Auditor{Parts: p, id: id, chain: c, log: p.Log.WithField("chain", id), period: period, contradicted: map[string]chain.Amount{}}
}

// FoldCoin brings the books of a chain's coin to the block that has just become final, in the same
// transaction. It does so also where the audit is switched off, so that the books are complete when
// it is switched on.
func FoldCoin(tx *records.Tx, c chain.Chain) error {
	if chain.CapabilitiesOf(c).Balances == nil {
		return nil
	}
	return tx.Balances().Fold(c.ID())
}

// Round compares again the accounts that differed, then those that are new, or all accounts when
// that is due.
func (a *Auditor) Round(ctx context.Context) error {
	state, tracing, ready, err := a.state(ctx)
	if err != nil || !ready {
		return err
	}
	due := a.due(state, tracing)
	if !due && state.Folded == a.folded {
		return nil
	}
	if err := a.recheckFindings(ctx, state); err != nil {
		return err
	}
	if due {
		err = a.compareAll(ctx)
	} else {
		err = a.compareNew(ctx, state)
	}
	if err != nil {
		return err
	}
	a.folded = state.Folded
	return a.applyShortages(ctx)
}

// due reports whether all accounts are to be compared now: once in a period, and when an untraced
// block has become final.
func (a *Auditor) due(state records.BalanceAudit, tracing records.Tracing) bool {
	now := a.Now()
	uncovered := tracing.First >= 0 && tracing.First <= int64(state.Folded)
	return !now.Before(a.next) || uncovered && !now.Before(a.early)
}

// state returns the position of the books; not ready while the chain is not followed.
func (a *Auditor) state(ctx context.Context) (state records.BalanceAudit, tracing records.Tracing, ready bool, err error) {
	err = a.Store.View(ctx, func(tx *records.Tx) error {
		cur, err := tx.Chains().Cursor(a.id)
		if err != nil || cur.Halted || cur.Missing {
			return err
		}
		if tracing, err = tx.Chains().Tracing(a.id); err != nil {
			return err
		}
		state, ready, err = tx.Balances().BalanceAudit(a.id)
		return err
	})
	return state, tracing, ready, err
}

// recheckFindings compares accounts that differed at an earlier block.
func (a *Auditor) recheckFindings(ctx context.Context, state records.BalanceAudit) error {
	var all, open []books.Finding
	err := a.Store.View(ctx, func(tx *records.Tx) (err error) {
		all, err = books.Findings(tx, a.id)
		for _, f := range all {
			if f.Height < state.Folded {
				open = append(open, f)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	a.endContradicted(all)
	for page := range slices.Chunk(open, a.chain.BalancePage()) {
		if err := a.confirm(ctx, page); err != nil {
			return err
		}
	}
	return nil
}

// compareAll compares every account, page by page, each at the block that is final then.
func (a *Auditor) compareAll(ctx context.Context) error {
	lowest, count, begin := uint64(0), 0, time.Now()
	err := forEachPage(ctx, a.Store, a.id, a.chain, func(looks []books.Look, height uint64) error {
		if lowest == 0 {
			lowest = height // final blocks never go back, so the first page's is the lowest
		}
		count += len(looks)
		return a.storeLooks(ctx, height, looks)
	})
	if err != nil {
		return err
	}
	err = a.Store.Update(ctx, func(tx *records.Tx) error { return books.NoteAudited(tx, a.id, lowest) })
	if err != nil {
		return err
	}
	regular := !a.Now().Before(a.next)
	a.next = a.Now().Add(a.period)
	a.early = a.Now().Add(max(auditGap, auditShare*time.Since(begin)))
	if regular { // those of untraced blocks may come every few seconds
		a.log.WithFields(logrus.Fields{"accounts": count, "height": lowest}).Info("balances compared with the books")
	}
	return nil
}

// forEachPage reads every account and its balance, page by page.
func forEachPage(ctx context.Context, s viewer, id chain.ID, c chain.BalanceReader, do func(looks []books.Look, height uint64) error) error {
	for last := ""; ; {
		looks, height, err := readLooksOf(ctx, s, id, c, func(tx *records.Tx) ([]records.Holding, error) {
			return tx.Balances().HoldingsAfter(id, last, c.BalancePage())
		})
		if err == nil {
			err = do(looks, height)
		}
		if err != nil || len(looks) < c.BalancePage() {
			return err
		}
		last = looks[len(looks)-1].Account
	}
}

// Difference is an account whose coin differs from the books of a final block.
type Difference struct {
	Account  string
	Height   uint64
	Surplus  chain.Amount // excess over the books
	Shortage chain.Amount // less
}

// CompareBalances compares the coin of all accounts of a chain with the books and stores nothing.
// It answers how many were compared: none where the chain does not offer it.
func CompareBalances(ctx context.Context, s viewer, c chain.Chain) (compared int, found []Difference, err error) {
	b := chain.CapabilitiesOf(c).Balances
	if b == nil || !b.AuditsBalances() {
		return 0, nil, nil
	}
	err = forEachPage(ctx, s, c.ID(), b, func(looks []books.Look, height uint64) error {
		for _, l := range looks {
			if !l.Opened { // what it held before its books began is not known yet
				continue
			}
			compared++
			surplus, shortage, err := l.Compare(l.Have)
			if err != nil {
				return err
			}
			if !surplus.IsZero() || !shortage.IsZero() {
				found = append(found, Difference{l.Account, height, surplus, shortage})
			}
		}
		return nil
	})
	return compared, found, err
}

// compareNew compares the accounts that have not been compared yet.
func (a *Auditor) compareNew(ctx context.Context, state records.BalanceAudit) error {
	after, count := records.Holding{Since: -1}, 0
	for {
		looks, height, err := a.readLooks(ctx, func(tx *records.Tx) ([]records.Holding, error) {
			return tx.Balances().NewHoldings(a.id, state.Looked, after, a.chain.BalancePage())
		})
		if err == nil {
			err = a.storeLooks(ctx, height, looks)
		}
		if err != nil {
			return err
		}
		count += len(looks)
		if len(looks) < a.chain.BalancePage() {
			break
		}
		after = looks[len(looks)-1].Holding
	}
	if count == 0 {
		return nil
	}
	return a.Store.Update(ctx, func(tx *records.Tx) error { return books.NoteLooked(tx, a.id, state.Folded) })
}

// readLooks reads what some accounts must hold at the final block by the books, and what they hold.
func (a *Auditor) readLooks(ctx context.Context, which func(*records.Tx) ([]records.Holding, error)) ([]books.Look, uint64, error) {
	return readLooksOf(ctx, a.Store, a.id, a.chain, which)
}

// viewer is one consistent read of the database.
type viewer interface {
	View(ctx context.Context, fn func(*records.Tx) error) error
}

func readLooksOf(ctx context.Context, s viewer, id chain.ID, c chain.BalanceReader, which func(*records.Tx) ([]records.Holding, error)) ([]books.Look, uint64, error) {
	var held []records.Holding
	var state records.BalanceAudit
	err := s.View(ctx, func(tx *records.Tx) (err error) {
		if state, _, err = tx.Balances().BalanceAudit(id); err == nil {
			held, err = which(tx)
		}
		return err
	})
	if err != nil || len(held) == 0 {
		return nil, state.Folded, err
	}
	accounts := make([]string, len(held))
	for i, h := range held {
		accounts[i] = h.Account
	}
	have, err := c.BalancesAt(ctx, state.Folded, accounts)
	if err != nil {
		return nil, state.Folded, err
	}
	looks := make([]books.Look, len(held))
	for i, h := range held {
		looks[i] = books.Look{Holding: h, Have: have[i]}
	}
	return looks, state.Folded, nil
}

// storeLooks stores findings for the accounts whose coin differed from the books.
func (a *Auditor) storeLooks(ctx context.Context, height uint64, looks []books.Look) error {
	if len(looks) == 0 {
		return nil
	}
	return a.Store.Update(ctx, func(tx *records.Tx) error { return books.NoteLooks(tx, a.id, height, looks) })
}

// applyShortages closes the coin's channels of networks with a confirmed shortage, and opens those
// that it closed when the shortage is gone.
func (a *Auditor) applyShortages(ctx context.Context) error {
	short := map[string]string{} // by network
	err := a.Store.View(ctx, func(tx *records.Tx) error {
		found, err := books.Findings(tx, a.id)
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.Kind != books.Shortage || !f.Confirmed {
				continue
			}
			account, err := tx.Accounts().Get(a.id, f.Account)
			if err != nil {
				return err
			}
			if short[account.Network] == "" {
				short[account.Network] = fmt.Sprintf("%s%s on %s holds %s less than the books show at block %d",
					shortagePrefix, f.Account, a.id, a.network(account.Network).AmountText(a.id, chain.Native, f.Amount), f.Height)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range a.Networks() {
		if n.Source != a.id {
			continue
		}
		if err := a.setChannels(ctx, n, short[n.Name]); err != nil {
			return err
		}
	}
	return nil
}

func (a *Auditor) setChannels(ctx context.Context, n records.Network, why string) error {
	want := records.ChannelOpen
	if why != "" {
		want = records.ChannelMaintain
	}
	for _, t := range n.Tokens {
		if t.Asset != chain.Native {
			continue
		}
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			if err := a.setChannel(ctx, n, t, d, want, why); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *Auditor) setChannel(ctx context.Context, n records.Network, t records.Token, d records.Direction, want, why string) error {
	return a.Store.Update(ctx, func(tx *records.Tx) error {
		changed, err := records.SetByCheck(tx, n.Name, t.TokenID, d, shortagePrefix, want, why)
		if changed {
			a.log.WithFields(logrus.Fields{"network": n.Name, "token": t.TokenID}).Errorf("channel of %ss: automatic %s %s", d, want, why)
		}
		return err
	})
}
