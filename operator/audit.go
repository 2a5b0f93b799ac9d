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
	"gatewayd/status"
	"gatewayd/watcher/reconcile"
)

// audit compares the books with themselves and with the chains. It reads only.
type audit struct {
	*Session
	chains map[chain.ID]chain.Chain
	faults []string
	missed []string
	rows   []SheetRow
	checks int
}

// Report is `audit --json`.
type Report struct {
	Checks int                     `json:"checks"`
	Faults []string                `json:"faults"`
	Missed []string                `json:"missed"` // what could not be checked now
	Totals map[string]books.Totals `json:"totals"`
	Sheets []SheetRow              `json:"sheets"`
}

// Run compares everything once, blocks from a height on.
func Run(ctx context.Context, d *Session, from uint64) (Report, error) {
	report := Report{Totals: map[string]books.Totals{}, Faults: []string{}}
	chains, err := d.Chains()
	if err != nil {
		return report, err
	}
	a := &audit{Session: d, chains: chains}
	if err := a.books(ctx, report.Totals); err != nil {
		return report, err
	}
	if err := a.stopped(ctx); err != nil {
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
	report.Sheets = append([]SheetRow{}, a.rows...)
	for id, c := range a.chains {
		if err := a.line(ctx, id, c, from); err != nil {
			return report, err
		}
	}
	report.Checks, report.Faults, report.Missed = a.checks, append(report.Faults, a.faults...), append([]string{}, a.missed...)
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

// stopped checks that payments are not blocked: books without movement match only themselves.
func (a *audit) stopped(ctx context.Context) error {
	report, err := a.Conditions(ctx)
	if err != nil {
		return err
	}
	for _, c := range report.Conditions {
		a.check(!c.Stops && c.Kind != status.AccountIdle, "%s", c.Detail)
	}
	return nil
}

// holdings checks that the paying accounts have what they owe; what is on its way between them and
// deposits not swept yet count.
func (a *audit) holdings(ctx context.Context) error {
	for _, n := range a.Config.Networks {
		for _, p := range []struct {
			id   chain.ID
			kind records.AccountKind
		}{{n.Source, records.KindHot}, {n.Exchange, records.KindGateway}} {
			if err := a.checkCoverage(ctx, n.Name, p.id, p.kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *audit) checkCoverage(ctx context.Context, network string, id chain.ID, kind records.AccountKind) error {
	var pool []books.PoolAccount
	var unswept []records.SweepCandidate
	err := a.Store.View(ctx, func(tx *records.Tx) (err error) {
		if pool, err = books.Pool(tx, network, id, kind); err != nil {
			return err
		}
		unswept, err = tx.Treasury().Candidates(id)
		return err
	})
	if err != nil {
		return err
	}
	owed, err := books.PoolSum(pool, func(p books.PoolAccount) map[chain.Asset]chain.Amount { return p.Owed })
	if err != nil {
		return err
	}
	for asset, sum := range owed {
		have, err := reconcile.Held(ctx, a.chains[id], pool, asset)
		if err != nil {
			return err
		}
		for _, s := range unswept {
			if s.Asset == asset {
				if have, err = have.Add(s.Booked); err != nil {
					return err
				}
			}
		}
		a.check(!have.Less(sum), "%s on %s holds %s and owes %s", network, id, a.Config.AssetAmount(id, asset, have), a.Config.AssetAmount(id, asset, sum))
	}
	return nil
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
			return x.OK == e.OK && x.Account == e.Account && x.Number == e.Number
		}
	}
	return false
}
