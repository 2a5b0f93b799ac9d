package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher"
)

// recoveryPatience is how long a command waits for the daemon to read up to the chains' present heads.
const recoveryPatience = time.Minute

// recoveryDesk is a desk that also has the sign-guard and the nodes.
type recoveryDesk struct {
	*desk
	guard *records.Guard
	*watcher.Recovery
}

func openRecovery(ctx context.Context, path string) (*recoveryDesk, error) {
	d, err := openDesk(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := d.recovery(ctx)
	if err != nil {
		return nil, errors.Join(err, d.store.Close())
	}
	return r, nil
}

// recovery opens the daemon's own sign-guard and never makes one: an empty one would say that nothing was ever signed.
func (d *desk) recovery(ctx context.Context) (*recoveryDesk, error) {
	path := filepath.Join(d.cfg.Data, "guard.db")
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the sign-guard is wanted, run this where the daemon keeps its data: %w", err)
	}
	rules, err := d.rules(ctx)
	if err != nil {
		return nil, err
	}
	guard, err := records.OpenGuard(path)
	if err != nil {
		return nil, err
	}
	return &recoveryDesk{d, guard, rules.Recovery(guard)}, nil
}

func (r *recoveryDesk) Close() { _, _ = r.guard.Close(), r.store.Close() }

// asOperator names the operator in the history.
func asOperator(ctx context.Context) context.Context {
	name := "operator"
	if u, err := user.Current(); err == nil {
		name += ":" + u.Username
	}
	return records.WithActor(ctx, name)
}

// recoveryCommand is a command with a recoveryDesk and the operator's name in its context.
func recoveryCommand(config *string, c *cobra.Command, do func(context.Context, *recoveryDesk, []string) error) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := openRecovery(cmd.Context(), *config)
		if err != nil {
			return err
		}
		defer r.Close()
		return r.cfg.inAmounts(do(asOperator(cmd.Context()), r, args))
	}
	return c
}

func accountCommand(w world) *cobra.Command {
	c := &cobra.Command{Use: "account", Short: "Show our accounts, and let stopped ones go on", Long: "Show our accounts, and let stopped ones go on. docs/operations.md has the steps."}
	config := configFlag(c)
	c.AddCommand(
		accountListCommand(w, config), accountShowCommand(w, config), accountSettleCommand(w, config),
		accountResumeCommand(w, config), accountStopCommand(w, config),
	)
	return c
}

// accountRow is one line of `account list --json`.
type accountRow struct {
	Chain   string `json:"chain"`
	Kind    string `json:"kind"`
	Address string `json:"address"`
	State   string `json:"state"`
	Why     string `json:"why"`
	Next    uint64 `json:"next"`             // number that our records give next
	Ledger  uint64 `json:"ledger"`           // next free number on the ledger
	Settled bool   `json:"settled"`          // nothing of it waits on the ledger
	Signed  string `json:"signed,omitempty"` // lineage/number after the highest that the sign-guard knows
	Fault   string `json:"fault,omitempty"`  // why the ledger was not asked
}

func accountListCommand(w world, config *string) *cobra.Command {
	var f format
	c := recoveryCommand(config, &cobra.Command{
		Use: "list", Short: "List the paying accounts, and any other that has stopped", Args: cobra.NoArgs,
	}, func(ctx context.Context, r *recoveryDesk, _ []string) error {
		list, err := r.accounts(ctx)
		if err != nil {
			return err
		}
		rows, values := make([][]string, len(list)), make([]accountRow, len(list))
		for i, a := range list {
			v := r.row(ctx, a)
			ledger := strconv.FormatUint(v.Ledger, 10)
			if v.Fault != "" {
				ledger = "?"
			} else if !v.Settled {
				ledger += " moving"
			}
			values[i] = v
			rows[i] = []string{v.Chain, v.Kind, v.Address, v.State, strconv.FormatUint(v.Next, 10), ledger, v.Signed, r.cfg.inWholeUnits(v.Why + v.Fault)}
		}
		return f.table(w.stdout, []string{"chain", "kind", "address", "state", "next", "ledger", "signed", "why"}, rows, values)
	})
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

func (r *recoveryDesk) accounts(ctx context.Context) (list []records.Account, err error) {
	err = r.store.View(ctx, func(tx *records.Tx) error {
		for _, id := range r.cfg.chainIDs() {
			paying, err := tx.Accounts(id, records.KindHot, records.KindGas, records.KindGateway)
			if err != nil {
				return err
			}
			stopped, err := tx.StoppedAccounts(id)
			if err != nil {
				return err
			}
			list = append(list, paying...)
			for _, s := range stopped {
				if s.Kind == records.KindDeposit || s.Kind == records.KindShared {
					list = append(list, s)
				}
			}
		}
		return nil
	})
	return list, err
}

// chainIDs are the configured chains in the file's order.
func (c Config) chainIDs() (ids []chain.ID) {
	for _, e := range c.Ethereum {
		ids = append(ids, e.ID)
	}
	for _, v := range c.Vite {
		ids = append(ids, v.ID)
	}
	return ids
}

func (r *recoveryDesk) row(ctx context.Context, a records.Account) accountRow {
	v := accountRow{Chain: string(a.Chain), Kind: string(a.Kind), Address: a.Account, State: string(a.State), Why: a.Why, Next: a.Next}
	s, err := r.Standing(ctx, a.Chain, a.Account)
	if err != nil {
		v.Fault = err.Error()
		return v
	}
	v.Ledger, v.Settled = s.Tip.Next, s.Tip.Settled
	if s.Signed {
		v.Signed = fmt.Sprintf("%d/%d", s.Lineage, s.Number)
	}
	return v
}

// accountStory is `account show --json`.
type accountStory struct {
	Account accountRow   `json:"account"`
	Open    []openRow    `json:"open"`
	Foreign []foreignRow `json:"foreign"`
}

// openRow is a slot that waits for a final block.
type openRow struct {
	Number  uint64   `json:"number"`
	Payment uint64   `json:"payment"`
	Purpose string   `json:"purpose"`
	Amount  string   `json:"amount"`
	Asset   string   `json:"asset"`
	Payee   string   `json:"payee"`
	Mined   bool     `json:"mined"`
	Hashes  []string `json:"hashes"`
}

// foreignRow is a final transaction that our records do not know.
type foreignRow struct {
	Number   uint64   `json:"number"`
	Hash     string   `json:"hash"`
	Height   uint64   `json:"height"`
	OK       bool     `json:"ok"`
	To       string   `json:"to"`
	Asset    string   `json:"asset"`
	Amount   string   `json:"amount"`
	Label    string   `json:"label,omitempty"`
	Source   string   `json:"source,omitempty"`
	Harmless string   `json:"harmless,omitempty"`
	Pays     []uint64 `json:"pays"`    // records whose payment asks for exactly this
	Refunds  []uint64 `json:"refunds"` // records that it would refund exactly
}

func accountShowCommand(w world, config *string) *cobra.Command {
	var f format
	c := recoveryCommand(config, &cobra.Command{
		Use: "show CHAIN ADDRESS", Short: "Show what an account has signed and what the ledger shows that our records do not know", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, r *recoveryDesk, args []string) error {
		id, err := r.account(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		s, err := r.story(ctx, id, args[1])
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, s)
		}
		s.print(w.stdout, r.cfg)
		return nil
	})
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

func (r *recoveryDesk) story(ctx context.Context, id chain.ID, account string) (s accountStory, err error) {
	standing, err := r.Standing(ctx, id, account)
	if err != nil {
		return s, err
	}
	foreign, err := r.Foreign(ctx, id, account, recoveryPatience)
	if err != nil {
		return s, err
	}
	s = accountStory{Account: r.row(ctx, standing.Account), Open: []openRow{}, Foreign: []foreignRow{}}
	for _, f := range foreign {
		s.Foreign = append(s.Foreign, rowOfForeign(f))
	}
	var open []records.OpenSlot
	err = r.store.View(ctx, func(tx *records.Tx) error {
		open, err = tx.OpenSlots(id, account)
		return err
	})
	for _, o := range open {
		s.Open = append(s.Open, rowOfOpen(o))
	}
	return s, err
}

func rowOfOpen(o records.OpenSlot) openRow {
	p := o.Payment
	row := openRow{
		Number: o.Number, Payment: p.ID, Purpose: string(p.Purpose), Amount: p.Amount.String(), Asset: string(p.Asset), Payee: p.Payee,
		Mined: o.Mined, Hashes: []string{},
	}
	for _, a := range o.Attempts {
		row.Hashes = append(row.Hashes, a.Hash)
	}
	return row
}

func rowOfForeign(f watcher.Foreign) foreignRow {
	row := foreignRow{
		Number: f.Number, Hash: f.Tx, Height: f.Height, OK: f.OK, To: f.Out.To, Asset: string(f.Out.Asset), Amount: f.Out.Amount.String(),
		Label: f.Out.Label, Source: f.Out.Source, Harmless: f.Harmless, Pays: []uint64{}, Refunds: append([]uint64{}, f.Refunds...),
	}
	for _, p := range f.Pays {
		if p.TransferID != 0 {
			row.Pays = append(row.Pays, p.TransferID)
		}
	}
	return row
}

func (s accountStory) print(w io.Writer, cfg Config) {
	a := s.Account
	fmt.Fprintf(w, "%s account %s on %s is %s\n", a.Kind, a.Address, a.Chain, a.State)
	if a.Why != "" {
		fmt.Fprintf(w, "  because  %s\n", cfg.inWholeUnits(a.Why))
	}
	fmt.Fprintf(w, "  records  next number %d\n  ledger   next number %d, settled %t\n  signed   %s\n", a.Next, a.Ledger, a.Settled, a.Signed)
	for _, o := range s.Open {
		fmt.Fprintf(w, "Open number %d: payment %d, %s of %s to %s, mined %t\n", o.Number, o.Payment, o.Purpose, cfg.inWholeUnits(o.Amount+" "+o.Asset), o.Payee, o.Mined)
		for _, h := range o.Hashes {
			fmt.Fprintf(w, "  %s\n", h)
		}
	}
	for _, f := range s.Foreign {
		f.print(w, cfg)
	}
	if len(s.Foreign) == 0 {
		fmt.Fprintln(w, "Every final transaction of it is explained.")
	}
}

func (f foreignRow) print(w io.Writer, cfg Config) {
	fmt.Fprintf(w, "Unknown number %d in block %d: %s\n", f.Number, f.Height, f.Hash)
	switch {
	case f.Source != "":
		fmt.Fprintf(w, "  took in %s\n", f.Source)
	default:
		fmt.Fprintf(w, "  moved %s to %s %s\n", cfg.inWholeUnits(f.Amount+" "+f.Asset), f.To, f.Label)
	}
	switch {
	case len(f.Pays) > 0:
		fmt.Fprintf(w, "  is what record %d asks for: gatewayd records settle %d %s\n", f.Pays[0], f.Pays[0], f.Hash)
	case len(f.Refunds) > 0:
		fmt.Fprintf(w, "  is what a refund of record %d would send: gatewayd records settle %d %s\n", f.Refunds[0], f.Refunds[0], f.Hash)
	case f.Harmless != "":
		fmt.Fprintf(w, "  paid no user: %s; resume accepts it\n", f.Harmless)
	default:
		fmt.Fprintln(w, "  fits no record: find out who made it, then resume with --accept")
	}
}
