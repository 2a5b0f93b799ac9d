package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/operator/status"
	"gatewayd/records"
	"gatewayd/watcher"
)

// audit compares the books with themselves and with the chains. It reads only.
type audit struct {
	*desk
	chains map[chain.ID]chain.Chain
	faults []string
	missed []string
	rows   []sheetRow
	checks int
}

// auditReport is `audit --json`.
type auditReport struct {
	Checks int                       `json:"checks"`
	Faults []string                  `json:"faults"`
	Missed []string                  `json:"missed"` // what could not be checked now
	Totals map[string]records.Totals `json:"totals"`
	Sheets []sheetRow                `json:"sheets"`
}

func auditCommand(w world) *cobra.Command {
	var f format
	var from uint64
	var accept, why string
	c := &cobra.Command{
		Use: "audit", Short: "Compare the books with themselves and with the chains; changes nothing", Args: cobra.NoArgs,
		Long: "Compare the books with themselves and with the chains; changes nothing. Every block that a record names is read again from\n" +
			"the nodes: each transfer must stand there with its amount, each payment with its outcome. The coin of each of our accounts must be\n" +
			"what the books say of the last final block: a surplus is coin that no block showed, which the running daemon credits after looking\n" +
			"twice; a shortage that the daemon has seen twice closes the coin's channels. Exit code 1 when something differs.\n\n" +
			"With --accept the books take over a shortage that the daemon has confirmed, once you know where the coin is.",
		Example: "  gatewayd audit\n  gatewayd audit --accept 0x52908400098527886E0F7030069857D2E4169EE7 --why 'moved to cold storage by hand'",
	}
	path := configFlag(c)
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	c.Flags().Uint64Var(&from, "from", 0, "first block height to read again, on every chain")
	c.Flags().StringVar(&accept, "accept", "", "account whose confirmed shortage of coin the books take over, or token of which something is missing")
	c.Flags().StringVar(&why, "why", "", "reason for --accept, kept in the history")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		d, err := openDesk(cmd.Context(), *path)
		if err != nil {
			return err
		}
		defer d.store.Close()
		if accept != "" {
			return acceptShortage(cmd.Context(), d, accept, why, w)
		}
		return runAudit(cmd.Context(), d, from, f, w)
	}
	return c
}

func runAudit(ctx context.Context, d *desk, from uint64, f format, w world) error {
	a := &audit{desk: d, chains: map[chain.ID]chain.Chain{}}
	if err := a.open(); err != nil {
		return err
	}
	report := auditReport{Totals: map[string]records.Totals{}, Faults: []string{}}
	if err := a.books(ctx, report.Totals); err != nil {
		return err
	}
	if err := a.stopped(ctx); err != nil {
		return err
	}
	if err := a.holdings(ctx); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(a.chains)) {
		a.balances(ctx, a.chains[id])
	}
	if err := a.sheets(ctx); err != nil {
		return err
	}
	report.Sheets = append([]sheetRow{}, a.rows...)
	for id, c := range a.chains {
		if err := a.line(ctx, id, c, from); err != nil {
			return err
		}
	}
	report.Checks, report.Faults, report.Missed = a.checks, append(report.Faults, a.faults...), append([]string{}, a.missed...)
	return a.report(w, f, report)
}

func (a *audit) open() error {
	watch := records.NewWatch(a.store)
	for _, c := range a.cfg.Ethereum {
		adapter, err := ethereum.New(a.cfg.withTokens(c), nil, watch)
		if err != nil {
			return err
		}
		a.chains[c.ID] = adapter
	}
	for _, c := range a.cfg.Vite {
		adapter, err := vite.New(c, nil, watch)
		if err != nil {
			return err
		}
		a.chains[c.ID] = adapter
	}
	return nil
}

func (a *audit) check(ok bool, format string, args ...any) {
	a.checks++
	if !ok {
		a.faults = append(a.faults, fmt.Sprintf(format, args...))
	}
}

// books checks what the database says about itself.
func (a *audit) books(ctx context.Context, totals map[string]records.Totals) error {
	return a.store.View(ctx, func(tx *records.Tx) error {
		breaches, _, err := tx.Breaches(0)
		if err != nil {
			return err
		}
		a.checks++
		a.faults = append(a.faults, breaches...)
		if err := tx.VerifyHistory(); err != nil {
			a.faults = append(a.faults, err.Error())
		}
		a.checks++
		for _, n := range a.cfg.Networks {
			for _, t := range n.Tokens {
				sum, err := tx.Totals(n.Name, t.Token)
				if err != nil {
					return err
				}
				totals[n.Name+" "+t.Symbol] = sum
			}
		}
		return nil
	})
}

// stopped checks that nothing keeps money from moving: books that stand still fit only themselves.
func (a *audit) stopped(ctx context.Context) error {
	report, err := a.conditions(ctx)
	if err != nil {
		return err
	}
	for _, c := range report.Conditions {
		a.check(!c.Stops && c.Kind != status.AccountIdle, "%s", c.Detail)
	}
	return nil
}

// holdings checks that the paying accounts have what they owe; what is on its way between them and deposits not swept yet count.
func (a *audit) holdings(ctx context.Context) error {
	for _, n := range a.cfg.Networks {
		for _, p := range []struct {
			id   chain.ID
			kind records.AccountKind
		}{{n.Source, records.KindHot}, {n.Exchange, records.KindGateway}} {
			if err := a.covers(ctx, n.Name, p.id, p.kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *audit) covers(ctx context.Context, network string, id chain.ID, kind records.AccountKind) error {
	var pool []records.PoolAccount
	var unswept []records.SweepCandidate
	err := a.store.View(ctx, func(tx *records.Tx) (err error) {
		if pool, err = tx.Pool(network, id, kind); err != nil {
			return err
		}
		unswept, err = tx.SweepCandidates(id)
		return err
	})
	if err != nil {
		return err
	}
	owed, err := records.PoolSum(pool, func(p records.PoolAccount) map[chain.Asset]chain.Amount { return p.Owed })
	if err != nil {
		return err
	}
	for asset, sum := range owed {
		have, err := watcher.Held(ctx, a.chains[id], pool, asset)
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
		a.check(!have.Less(sum), "%s on %s holds %s of %s and owes %s", network, id, have, asset, sum)
	}
	return nil
}

// auditPage is how many rows are compared at a time.
const auditPage = 500

// line reads again every block that a transfer or a payment of the books stands in.
func (a *audit) line(ctx context.Context, id chain.ID, c chain.Chain, from uint64) error {
	reader := &blockReader{ctx: ctx, chain: c}
	for last := (records.Transfer{Height: from}); ; {
		var list []records.Transfer
		if err := a.store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.TransfersFrom(id, last.Height, last.ID, auditPage)
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
			a.check(b.Hash == t.BlockHash && standsIn(b, t), "transfer %d is not in block %d of %s as the books have it", t.ID, t.Height, id)
		}
		if len(list) < auditPage {
			break
		}
		last = list[len(list)-1]
	}
	return a.effects(ctx, id, reader, from)
}

func (a *audit) effects(ctx context.Context, id chain.ID, reader *blockReader, from uint64) error {
	for last := (records.Effect{Height: from}); ; {
		var list []records.Effect
		if err := a.store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.EffectsFrom(id, last, auditPage)
			return err
		}); err != nil {
			return err
		}
		for _, e := range list {
			b, err := reader.at(e.Height)
			if err != nil {
				return err
			}
			a.check(b.Hash == e.BlockHash && happenedIn(b, e), "our transaction %s is not in block %d of %s as the books have it", e.Tx, e.Height, id)
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

// at answers the block at a height; one that the chain does not have is empty and differs from every record.
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

func happenedIn(b chain.Block, e records.Effect) bool {
	for _, x := range b.Effects {
		if x.Tx == e.Tx {
			return x.OK == e.OK && x.Account == e.Account && x.Number == e.Number
		}
	}
	return false
}

func (a *audit) report(w world, f format, r auditReport) error {
	if f.json {
		if err := printJSON(w.stdout, r); err != nil {
			return err
		}
	} else {
		for _, name := range slices.Sorted(maps.Keys(r.Totals)) {
			a.cfg.printTotals(w.stdout, name, r.Totals[name])
		}
		for _, s := range r.Sheets {
			s.print(w.stdout)
		}
		for _, fault := range r.Faults {
			fmt.Fprintln(w.stdout, "DIFFERS", fault)
		}
		for _, m := range r.Missed {
			fmt.Fprintln(w.stdout, "NOT CHECKED", m)
		}
		fmt.Fprintf(w.stdout, "%d checks, %d differences\n", r.Checks, len(r.Faults))
	}
	if len(r.Faults) > 0 {
		return fmt.Errorf("books and chains differ in %d places", len(r.Faults))
	}
	return nil
}

// printTotals shows one token's books.
func (c Config) printTotals(w io.Writer, name string, t records.Totals) {
	n, token := c.tokenNamed(name)
	fmt.Fprintln(w, name)
	for _, s := range t.Transfers {
		amount := c.tokenAmount(token.Token, s.Amount)
		if s.Direction == records.Deposit {
			amount = c.assetAmount(n.Source, token.Asset, s.Amount)
		}
		fmt.Fprintf(w, "  %-10s %-8s %6d  amount %s  net %s  fee %s\n", s.Direction, s.State, s.Count, amount, c.tokenAmount(token.Token, s.Net), c.tokenAmount(token.Token, s.Fee))
	}
	for _, p := range t.Payments {
		fmt.Fprintf(w, "  %-10s %-8s %6d  amount %s on %s\n", p.Purpose, p.State, p.Count, c.assetAmount(p.Chain, p.Asset, p.Amount), p.Chain)
	}
	for _, id := range slices.Sorted(maps.Keys(t.NetworkFees)) {
		fmt.Fprintf(w, "  fees burnt on %s: %s\n", id, c.assetAmount(id, chain.Native, t.NetworkFees[id]))
	}
}

// tokenNamed is the token that the audit calls by its network and its symbol.
func (c Config) tokenNamed(name string) (NetworkConfig, TokenConfig) {
	for _, n := range c.Networks {
		for _, t := range n.Tokens {
			if n.Name+" "+t.Symbol == name {
				return n, t
			}
		}
	}
	return NetworkConfig{}, TokenConfig{}
}
