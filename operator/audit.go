package operator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// audit compares the books with themselves and with the chains. It reads only.
type audit struct {
	*Session
	chains    map[chain.ID]chain.Chain
	faults    []string
	shortages []Shortage
	blocked   []string
	missed    []string
	rows      []SheetRow
	checks    int
}

// Report is `audit --json`.
type Report struct {
	Checks    int                     `json:"checks"`
	Faults    []string                `json:"faults"`    // differences: books and chains disagree
	Shortages []Shortage              `json:"shortages"` // books are exact, and accounts hold less than they have to pay
	Blocked   []string                `json:"blocked"`   // what else blocks payments, so that books and chains may not advance
	Missed    []string                `json:"missed"`    // what could not be checked now
	Totals    map[string]books.Totals `json:"totals"`
	Sheets    []SheetRow              `json:"sheets"`
}

// Run compares everything once, blocks from a height on.
func Run(ctx context.Context, d *Session, from uint64) (Report, error) {
	chains, err := d.Chains(ctx)
	if err != nil {
		return Report{}, err
	}
	a := &audit{Session: d, chains: chains}
	return a.run(ctx, from)
}

func (a *audit) run(ctx context.Context, from uint64) (Report, error) {
	report := Report{Totals: map[string]books.Totals{}}
	if err := a.books(ctx, report.Totals); err != nil {
		return report, err
	}
	if err := a.holdings(ctx); err != nil {
		return report, err
	}
	for _, id := range slices.Sorted(maps.Keys(a.chains)) {
		a.balances(ctx, a.chains[id])
	}
	if err := a.sheets(ctx); err != nil {
		return report, err
	}
	if err := a.stopped(ctx); err != nil {
		return report, err
	}
	report.Sheets = append([]SheetRow{}, a.rows...)
	for id, c := range a.chains {
		if err := a.line(ctx, id, c, from); err != nil {
			return report, err
		}
	}
	report.Checks, report.Faults, report.Shortages = a.checks, append([]string{}, a.faults...), append([]Shortage{}, a.shortages...)
	report.Blocked, report.Missed = append([]string{}, a.blocked...), append([]string{}, a.missed...)
	return report, nil
}

func (a *audit) check(ok bool, format string, args ...any) {
	a.checks++
	if !ok {
		a.faults = append(a.faults, fmt.Sprintf(format, args...))
	}
}

// books checks the database's own consistency.
func (a *audit) books(ctx context.Context, totals map[string]books.Totals) error {
	return a.Store.View(ctx, func(tx *records.Tx) error {
		breaches, _, err := books.Breaches(tx, 0)
		if err != nil {
			return err
		}
		a.checks++
		a.faults = append(a.faults, breaches...)
		if err := tx.VerifyHistory(); err != nil {
			a.faults = append(a.faults, err.Error())
		}
		a.checks++
		for _, n := range a.Config.Networks {
			for _, t := range n.Tokens {
				sum, err := books.TotalsOf(tx, n.Name, t.Token)
				if err != nil {
					return err
				}
				totals[n.Name+" "+t.Symbol] = sum
			}
		}
		return nil
	})
}

// auditPage is the number of rows compared at a time.
const auditPage = 500

// line reads again every block with a transfer or a payment of the books.
func (a *audit) line(ctx context.Context, id chain.ID, c chain.Chain, from uint64) error {
	reader := &blockReader{ctx: ctx, chain: c}
	for last := (records.Transfer{Height: from}); ; {
		var list []records.Transfer
		if err := a.Store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.Transfers().From(id, last.Height, last.ID, auditPage)
			return err
		}); err != nil {
			return err
		}
		for _, t := range list {
			if t.FoundByAudit() { // only balances show it
				continue
			}
			b, err := reader.at(t.Height)
			if err != nil {
				return err
			}
			a.check(b.Hash == t.BlockHash && standsIn(b, t), "transfer %d is not in block %d of %s as recorded in the books", t.ID, t.Height, id)
		}
		if len(list) < auditPage {
			break
		}
		last = list[len(list)-1]
	}
	return a.ownTxs(ctx, id, reader, from)
}

func (a *audit) ownTxs(ctx context.Context, id chain.ID, reader *blockReader, from uint64) error {
	for last := (records.OwnTx{Height: from}); ; {
		var list []records.OwnTx
		if err := a.Store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.OwnTxs().From(id, last, auditPage)
			return err
		}); err != nil {
			return err
		}
		for _, e := range list {
			b, err := reader.at(e.Height)
			if err != nil {
				return err
			}
			a.check(b.Hash == e.BlockHash && happenedIn(b, e), "our transaction %s is not in block %d of %s as recorded in the books", e.Tx, e.Height, id)
		}
		if len(list) < auditPage {
			return nil
		}
		last = list[len(list)-1]
	}
}

// blockReader remembers the block it read last: rows come in order of height.
type blockReader struct {
	ctx   context.Context
	chain chain.Chain
	last  chain.Block
	read  bool
}

// at returns the block at a height; one that the chain does not have is empty and differs from
// every record.
func (r *blockReader) at(height uint64) (chain.Block, error) {
	if r.read && r.last.Height == height {
		return r.last, nil
	}
	b, err := r.chain.Block(r.ctx, height)
	if errors.Is(err, chain.ErrNotFound) {
		b, err = chain.Block{Point: chain.Point{Height: height}}, nil
	}
	if err != nil {
		return b, fmt.Errorf("reading block %d again: %w", height, err)
	}
	r.last, r.read = b, true
	return b, nil
}

func standsIn(b chain.Block, t records.Transfer) bool {
	for _, x := range b.Transfers {
		if x.Ref == t.Ref {
			return x.Amount == t.Amount && x.Asset == t.Asset && x.To == t.To && x.From == t.From && x.Failed == t.Failed
		}
	}
	return false
}

func happenedIn(b chain.Block, e records.OwnTx) bool {
	for _, x := range b.OwnTxs {
		if x.Tx == e.Tx {
			return x.OK == e.OK && x.Account == e.Account // the hash covers the number, which a ledger of coins does not show
		}
	}
	return false
}
