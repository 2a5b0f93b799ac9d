package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/status"
)

// Books compares books and balances. What it closes it opens again only itself, and only when the
// cause is gone.
type Books struct {
	Parts
	onFundsChecked func()
	unfunded       *unfunded
	short          map[string]int       // network, chain and asset -> rounds in a row with less than is owed
	unswept        map[string]time.Time // the same -> since when sweeps are waited for
	low            []records.Condition  // accounts that wait for sweeps in this round
	reported       int                  // number in the last round; -1: those of an earlier process may still be stored
	begun          bool
	checked        uint64 // line of the history up to which the books are sound
	// of the transfers and payments with ids below it, the next rows are checked again; 0: from the
	// newest
	below uint64
}

const (
	// checkAgain is the number of rows that are checked again in each round, whether they changed
	// or not, newest first and cyclically: a change without a line in the history shows then at the
	// latest.
	checkAgain = 1000
)

// patience is how many rounds a shortfall must last: a payout mined between two reads looks like
// one for a moment.
const patience = 3

// sweepTime is the time for which payments may wait for deposits to be swept before that counts as
// a shortage.
const sweepTime = 15 * time.Minute

// prefix marks the automatic stops that this loop may lift again.
const prefix = "books: "

// NewBooks calls onFundsChecked in each round once it has checked whether anything can be paid at
// all, or has tried to.
func NewBooks(p Parts, onFundsChecked func()) *Books {
	return &Books{Parts: p, onFundsChecked: onFundsChecked, unfunded: newUnfunded(p), short: map[string]int{}, unswept: map[string]time.Time{}, reported: -1}
}

// Round checks whether a payment is possible at all, then compares books and balances.
func (r *Books) Round(ctx context.Context) error {
	lacking := r.unfunded.round(ctx)
	r.onFundsChecked()
	if err := r.books(ctx); err != nil {
		return err
	}
	return lacking
}

// books reads the books, then the paying accounts, and closes the channels that cannot be served.
func (r *Books) books(ctx context.Context) error {
	breaches, err := r.breaches(ctx)
	if err != nil {
		return fmt.Errorf("reading the books: %w", err)
	}
	r.low = nil
	var faults []error
	for _, n := range r.Networks() {
		hot, hotErr := r.shortfalls(ctx, n, n.Source, records.KindHot)
		gateway, gatewayErr := r.shortfalls(ctx, n, n.Exchange, records.KindGateway)
		faults = append(faults, hotErr, gatewayErr)
		for _, t := range n.Tokens {
			faults = append(faults,
				r.setKnown(ctx, n, t, records.Withdrawal, breaches, hot, t.Asset),
				r.setKnown(ctx, n, t, records.Deposit, breaches, gateway, chain.Asset(t.TokenID)))
		}
	}
	return errors.Join(append(faults, r.reportLow(ctx))...)
}

// setKnown is setChannel, unless the accounts' holdings are unknown: then only inconsistent books
// move the channel.
func (r *Books) setKnown(ctx context.Context, n records.Network, t records.Token, d records.Direction, breaches []string, s shortfalls, asset chain.Asset) error {
	if unknown := s.found == nil || s.unknown[asset]; unknown && len(breaches) == 0 {
		return nil
	}
	return r.setChannel(ctx, n, t, d, breaches, s.found[asset])
}

// reportLow stores which accounts wait for sweeps, when that may differ from what is stored.
func (r *Books) reportLow(ctx context.Context) error {
	if len(r.low) == 0 && r.reported == 0 {
		return nil
	}
	err := r.Store.Update(ctx, func(tx *records.Tx) error { return records.NoteConditions(tx, "funds", r.low) })
	if err == nil {
		r.reported = len(r.low)
	}
	return err
}

// breaches checks what changed since the last round, and some rows again. While something is wrong,
// the same is checked in each round.
func (r *Books) breaches(ctx context.Context) (found []string, err error) {
	var upTo, below uint64
	err = r.Store.View(ctx, func(tx *records.Tx) (err error) {
		if !r.begun {
			if r.checked, err = books.HistoryEnd(tx); err != nil {
				return err
			}
		}
		if upTo = r.checked; upTo > 0 {
			if found, upTo, err = books.Breaches(tx, r.checked); err != nil {
				return err
			}
		}
		var old []string
		old, below, err = books.BreachesBelow(tx, r.below, checkAgain)
		found = append(found, old...)
		return err
	})
	if err != nil {
		return nil, err
	}
	r.begun = true
	if len(found) == 0 {
		r.checked, r.below = upTo, below
	}
	return unique(found), nil
}

// unique removes duplicate findings.
func unique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// shortfalls lists the assets of which the paying accounts of a chain owe more than their holdings,
// with descriptions, and those without an answer.
type shortfalls struct {
	found   map[chain.Asset]string // nil: of nothing is it known
	unknown map[chain.Asset]bool
}

// shortfalls returns the assets of which the paying accounts of a chain have owed more than the
// gateway holds for patience rounds. Moves in progress between them, and deposits still at their
// own addresses, count as held. An asset whose balances cannot be read does not affect the others.
func (r *Books) shortfalls(ctx context.Context, n records.Network, id chain.ID, kind records.AccountKind) (s shortfalls, err error) {
	var pool []books.PoolAccount
	err = r.Store.View(ctx, func(tx *records.Tx) (err error) {
		pool, err = books.Pool(tx, n.Name, id, kind)
		return err
	})
	if err != nil {
		return s, err
	}
	owed, err := books.PoolSum(pool, func(a books.PoolAccount) map[chain.Asset]chain.Amount { return a.Owed })
	if err != nil {
		return s, fmt.Errorf("adding up the debts on %s: %w", id, err)
	}
	s = shortfalls{map[chain.Asset]string{}, map[chain.Asset]bool{}}
	var faults []error
	for asset, sum := range owed {
		short, err := r.shortfall(ctx, n, id, pool, asset, sum)
		if err != nil {
			faults, s.unknown[asset] = append(faults, err), true
		}
		if short != "" {
			s.found[asset] = short
		}
	}
	return s, errors.Join(faults...)
}

// shortfall judges one asset; empty while enough is held.
func (r *Books) shortfall(ctx context.Context, n records.Network, id chain.ID, accounts []books.PoolAccount, asset chain.Asset, owed chain.Amount) (string, error) {
	have, err := Held(ctx, r.Chains[id], accounts, asset)
	if err != nil {
		return "", err
	}
	all := have
	if have.Less(owed) {
		if all, err = r.withUnswept(ctx, id, asset, have); err != nil {
			return "", err
		}
	}
	pool, short := n.Name+"/"+string(id), all.Less(owed)
	if waits := have.Less(owed) && !short; r.waitsForSweeps(pool, asset, waits) {
		short = true
	} else if waits {
		r.low = append(r.low, records.Condition{
			Kind: string(status.FundsUnswept), Chain: id, Network: n.Name, Subject: n.Paying(id)[0] + "/" + string(asset),
			Detail: fmt.Sprintf("%s holds %s and owes %s: the rest is on deposit addresses until they are swept", n.Paying(id)[0], n.AmountText(id, asset, have), n.AmountText(id, asset, owed)),
		})
	}
	if r.lasts(pool, asset, short) {
		return fmt.Sprintf("%s holds %s and owes %s: top it up", n.Paying(id)[0], n.AmountText(id, asset, have), n.AmountText(id, asset, owed)), nil
	}
	return "", nil
}

// Held returns the holdings of a pool's accounts in an asset on their ledger, with moves in
// progress between them.
func Held(ctx context.Context, c chain.Chain, pool []books.PoolAccount, asset chain.Asset) (sum chain.Amount, err error) {
	for _, a := range pool {
		have, err := heldBy(ctx, c, a, asset)
		if err != nil {
			return sum, fmt.Errorf("asking for the balance of %s: %w", a.Account.Account, err)
		}
		for _, part := range []chain.Amount{have, a.Transit[asset]} {
			if sum, err = sum.Add(part); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}

// heldBy returns the holdings of an account. A ledger of coins would answer only what it may spend
// now.
func heldBy(ctx context.Context, c chain.Chain, a books.PoolAccount, asset chain.Asset) (chain.Amount, error) {
	if a.Coins != nil && asset == chain.Native {
		return *a.Coins, nil
	}
	return c.Balance(ctx, a.Account.Account, asset)
}

// withUnswept adds what lies on deposit addresses.
func (p Parts) withUnswept(ctx context.Context, id chain.ID, asset chain.Asset, have chain.Amount) (chain.Amount, error) {
	err := p.Store.View(ctx, func(tx *records.Tx) error {
		unswept, err := tx.Treasury().Candidates(id)
		for _, c := range unswept {
			if c.Asset == asset && err == nil {
				have, err = have.Add(c.Booked)
			}
		}
		return err
	})
	return have, err
}

// waitsForSweeps reports whether what lies on deposit addresses has been waited for too long.
func (r *Books) waitsForSweeps(pool string, asset chain.Asset, waits bool) bool {
	key := pool + "/" + string(asset)
	if !waits {
		delete(r.unswept, key)
		return false
	}
	if r.unswept[key].IsZero() {
		r.unswept[key] = r.Now()
	}
	return r.Now().Sub(r.unswept[key]) > sweepTime
}

// lasts counts rounds in a row.
func (r *Books) lasts(pool string, asset chain.Asset, short bool) bool {
	key := pool + "/" + string(asset)
	if !short {
		delete(r.short, key)
		return false
	}
	r.short[key]++
	return r.short[key] >= patience
}

// setChannel closes one channel while the books or its paying account do not fit, and opens it when
// they do again.
func (r *Books) setChannel(ctx context.Context, n records.Network, t records.Token, d records.Direction, breaches []string, shortfall string) error {
	found := append([]string(nil), breaches...)
	if shortfall != "" {
		found = append(found, shortfall)
	}
	want, why := records.ChannelOpen, ""
	if len(found) > 0 {
		want, why = records.ChannelMaintain, prefix+strings.Join(found, "; ")
	}
	return r.Store.Update(ctx, func(tx *records.Tx) error {
		changed, err := records.SetByCheck(tx, n.Name, t.TokenID, d, prefix, want, why)
		if changed {
			r.Log.WithField("network", n.Name).WithField("token", t.TokenID).Warnf("channel of %ss: automatic %s %s", d, want, why)
		}
		return err
	})
}
