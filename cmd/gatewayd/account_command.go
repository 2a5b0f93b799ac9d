package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/recovery"
)

// recoveryCommand is a command with an operator.Recovery and the operator's name in its context.
func recoveryCommand(config *string, c *cobra.Command, do func(context.Context, *operator.Recovery, []string) error) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := operator.OpenRecovery(cmd.Context(), *config)
		if err != nil {
			return err
		}
		defer r.Close()
		return operator.InAmounts(r.Config, do(operator.AsOperator(cmd.Context()), r, args))
	}
	return c
}

func accountCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "account", Short: "Show our accounts and resume stopped ones", Long: "Show our accounts and resume stopped ones. docs/operations/recovery.md has the steps."}
	config := configFlag(c)
	c.AddCommand(
		accountListCommand(w, config), accountShowCommand(w, config), accountSettleCommand(w, config),
		accountResumeCommand(w, config), accountStopCommand(w, config), accountAdoptGuardCommand(w, config), accountBindingsCommand(w, config),
		accountMoveCommand(w, config), accountMovesCommand(w, config),
	)
	return c
}

func accountListCommand(w streams, config *string) *cobra.Command {
	var f format
	c := recoveryCommand(config, &cobra.Command{
		Use: "list", Short: "List the paying accounts and all stopped accounts", Args: cobra.NoArgs,
		Example: "  gatewayd account list\n  gatewayd account list --json",
	}, func(ctx context.Context, r *operator.Recovery, _ []string) error {
		list, err := r.Accounts(ctx)
		if err != nil {
			return err
		}
		rows, values := make([][]string, len(list)), make([]operator.AccountRow, len(list))
		for i, a := range list {
			v := r.Row(ctx, a)
			ledger := strconv.FormatUint(v.Ledger, 10)
			if v.Fault != "" {
				ledger = "?"
			} else if !v.Settled {
				ledger += " moving"
			}
			values[i] = v
			state := v.State
			if v.Retired {
				state += ", retired"
			}
			rows[i] = []string{v.Chain, v.Kind, v.Address, state, strconv.FormatUint(v.Next, 10), ledger, v.Signed, r.Config.InWholeUnits(v.Why + v.Fault)}
		}
		return w.list(f, []column{{name: "chain"}, {name: "kind"}, {name: "address"}, {name: "state"}, {name: "next", cells: numbers}, {name: "ledger", cells: numbers}, {name: "signed"}, {name: "why"}}, rows, values)
	})
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func accountShowCommand(w streams, config *string) *cobra.Command {
	var f format
	c := recoveryCommand(config, &cobra.Command{
		Use: "show CHAIN ADDRESS", Short: "Show an account's signatures, and its transactions that the records lack", Args: cobra.ExactArgs(2),
		Example: "  gatewayd account show eth 0x52908400098527886E0F7030069857D2E4169EE7\n  gatewayd account show vite vite_… --json",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		args[1] = operator.SpelledAddress(args[1])
		id, err := r.OwnAccount(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		s, err := r.Detail(ctx, id, args[1])
		if err != nil {
			return err
		}
		if f.json {
			return printJSON(w.stdout, s)
		}
		printAccount(w.stdout, r.Config, s)
		return nil
	})
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func printAccount(w io.Writer, cfg config.Config, s operator.AccountDetail) {
	a := s.Account
	fmt.Fprintf(w, "%s account %s on %s is %s\n", a.Kind, a.Address, a.Chain, a.State)
	if a.Retired {
		fmt.Fprintln(w, "  retired: it is watched, receives, and sends its balance to the paying accounts")
	}
	if a.Why != "" {
		fmt.Fprintf(w, "  because  %s\n", cfg.InWholeUnits(a.Why))
	}
	fmt.Fprintf(w, "  records  next number %d\n  ledger   next number %d, settled %t\n", a.Next, a.Ledger, a.Settled)
	if a.Signed != "" {
		fmt.Fprintf(w, "  signed   %s\n", a.Signed)
	}
	for _, o := range s.Open {
		batch := ""
		if o.Others > 0 {
			batch = fmt.Sprintf(" and %d others", o.Others)
		}
		fmt.Fprintf(w, "Open number %d: payment %d, %s of %s to %s%s, mined %t\n", o.Number, o.Payment, o.Purpose, cfg.InWholeUnits(o.Amount+" "+o.Asset), o.Payee, batch, o.Mined)
		for _, h := range o.Hashes {
			fmt.Fprintf(w, "  %s\n", h)
			printExplorer(w, cfg.TxURL(chain.ID(a.Chain), h))
		}
	}
	for _, f := range s.UnknownTxs {
		printUnknownTxs(w, cfg, chain.ID(a.Chain), f)
	}
	switch {
	case s.Unread != "":
		fmt.Fprintf(w, "The list is incomplete: %s\n", s.Unread)
	case len(s.UnknownTxs) == 0:
		fmt.Fprintln(w, "All its final transactions are explained.")
	}
}

// printExplorer prints the explorer's page of a transaction, if it has one.
func printExplorer(w io.Writer, url string) {
	if url != "" {
		fmt.Fprintf(w, "  %s\n", url)
	}
}

func printUnknownTxs(w io.Writer, cfg config.Config, id chain.ID, f operator.UnknownTxRow) {
	fmt.Fprintf(w, "Unknown number %d in block %d: %s\n", f.Number, f.Height, f.Hash)
	printExplorer(w, cfg.TxURL(id, f.Hash))
	switch {
	case f.Source != "":
		fmt.Fprintf(w, "  received %s\n", f.Source)
	case f.Payments > 0:
		fmt.Fprintf(w, "  made %d payments\n", f.Payments)
	default:
		fmt.Fprintf(w, "  moved %s to %s %s\n", cfg.InWholeUnits(f.Amount+" "+f.Asset), f.To, f.Label)
	}
	if f.Signed != "" {
		fmt.Fprintf(w, "  was signed for %s\n", f.Signed)
	}
	switch {
	case f.Cold != "":
		fmt.Fprintln(w, "  went to the cold address: resume settles it as a transfer to cold storage")
	case len(f.Pays) > 0:
		fmt.Fprintf(w, "  matches record %d: gatewayd records settle %d %s\n", f.Pays[0], f.Pays[0], f.Hash)
	case len(f.Refunds) > 0:
		fmt.Fprintf(w, "  matches a refund of record %d: gatewayd records settle %d %s\n", f.Refunds[0], f.Refunds[0], f.Hash)
	case len(f.Others) > 0:
		fmt.Fprintf(w, "  matches a refund of record %s to this address: if it was ordered, gatewayd records settle %d %s; if not, find out who sent it\n",
			oneOfIDs(f.Others), f.Others[0], f.Hash)
	case f.Harmless != "":
		fmt.Fprintf(w, "  paid no user: %s; resume accepts it\n", f.Harmless)
	default:
		fmt.Fprintln(w, "  matches no record: find out who sent it, then resume with --accept")
	}
}

// oneOfIDs names records of which one is meant.
func oneOfIDs(ids []uint64) string {
	names := make([]string, min(len(ids), 10))
	for i := range names {
		names[i] = strconv.FormatUint(ids[i], 10)
	}
	return strings.Join(names, " or ")
}

func accountAdoptGuardCommand(w streams, config *string) *cobra.Command {
	var why string
	c := recoveryCommand(config, &cobra.Command{
		Use: "adopt-guard", Short: "Adopt a new sign-guard after the previous one was lost: stops every paying account", Args: cobra.NoArgs,
		Example: "  gatewayd account adopt-guard --why 'the disk of the signer is lost'\n  gatewayd account list",
		Long: "Accept the current sign-guard for these records. Use it only if the previous one is lost and no copy exists. The new one does not know\n" +
			"earlier signatures, so every paying account is stopped until you have checked them. docs/operations/recovery.md has the steps.\n" +
			"If several daemons share one database, configure the same wallet.signer for all of them instead.",
	}, func(ctx context.Context, r *operator.Recovery, _ []string) error {
		if why == "" {
			return operator.Usagef("--why is required; the history stores it")
		}
		halted, err := r.AdoptGuard(ctx, why)
		if err != nil {
			return err
		}
		for _, a := range halted {
			fmt.Fprintf(w.stdout, "stopped: %s on %s\n", a.Account, a.Chain)
		}
		fmt.Fprintln(w.stdout, "The sign-guard is adopted. Start the daemon, then `gatewayd account show` and `account resume` for each account.")
		return nil
	})
	c.Flags().StringVar(&why, "why", "", "reason, stored in the history")
	return c
}

func accountSettleCommand(w streams, config *string) *cobra.Command {
	return recoveryCommand(config, &cobra.Command{
		Use: "settle CHAIN ADDRESS", Short: "Settle unknown transactions of a stopped account that match an unpaid payment exactly", Args: cobra.ExactArgs(2),
		Example: "  gatewayd account settle eth 0x52908400098527886E0F7030069857D2E4169EE7\n  gatewayd account settle vite vite_…",
		Long: "Settle every unknown final transaction of a stopped account to the unpaid payment that it was signed for, by the sign-guard. If the sign-guard has no\n" +
			"entry, the oldest payment that matches exactly is used. Read `gatewayd account show` first: it names that payment.",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		args[1] = operator.SpelledAddress(args[1])
		id, err := r.OwnAccount(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		done, err := r.SettleAll(ctx, id, args[1], operator.RecoveryPatience)
		if err != nil {
			return err
		}
		for _, s := range done {
			how := "which was signed for it"
			if !s.Signed {
				how = "as the oldest match: the sign-guard has no entry"
			}
			fmt.Fprintf(w.stdout, "Payment %d is paid by %s, %s\n", s.Payment, s.Tx, how)
		}
		fmt.Fprintf(w.stdout, "%d settled.\n", len(done))
		return unreadBlocksError(ctx, r, id, args[1])
	})
}

// unreadBlocksError is an error that names an account's transactions in blocks that the records
// have not read.
func unreadBlocksError(ctx context.Context, r *operator.Recovery, id chain.ID, account string) error {
	s, err := r.Position(ctx, id, account)
	if err != nil {
		return err
	}
	why, err := r.Unread(ctx, s)
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s", transfers.ErrNothingToDo, why)
	}
	return err
}

func accountResumeCommand(w streams, config *string) *cobra.Command {
	var accept []string
	var why string
	c := recoveryCommand(config, &cobra.Command{
		Use: "resume CHAIN ADDRESS", Short: "Resume a stopped account once everything that it signed is decided and explained", Args: cobra.ExactArgs(2),
		Long: "Resume a stopped account once everything that it signed is decided and explained. ADDRESS `deposits` means every stopped deposit\n" +
			"address of the chain.",
		Example: "  gatewayd account resume eth 0x… --accept 0x… --why 'paid by hand on Tuesday'\n  gatewayd account resume eth deposits",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		account := operator.SpelledAddress(args[1])
		id, err := operator.ChainOf(r.Config, args[0])
		if err == nil && account != allDeposits {
			id, err = r.OwnAccount(ctx, args[0], account)
		}
		if err != nil {
			return err
		}
		if len(accept) > 0 && why == "" {
			return operator.Usagef("--accept requires --why; the history stores it")
		}
		for _, hash := range accept {
			if err := r.Accept(ctx, id, account, hash, why, operator.RecoveryPatience); err != nil {
				return err
			}
		}
		if account == allDeposits {
			return resumeDeposits(ctx, r, w.stdout, id, why)
		}
		return resumeAccount(ctx, r, w.stdout, id, account, why)
	})
	c.Flags().StringSliceVar(&accept, "accept", nil, "hash of an unknown transaction that pays no recorded debt; may be repeated")
	c.Flags().StringVar(&why, "why", "", "who resumes it and why, and who sent the accepted transactions; stored in the history")
	return c
}

// allDeposits means every stopped deposit address in `account resume`.
const allDeposits = "deposits"

func resumeAccount(ctx context.Context, r *operator.Recovery, w io.Writer, id chain.ID, account, why string) error {
	err := r.ResumeAccount(ctx, r.Recovery, id, account, why, operator.RecoveryPatience)
	if errors.Is(err, recovery.ErrNotAtRest) {
		return fmt.Errorf("%w; keep the daemon running, check `gatewayd account list`, and resume again when the ledger is settled", err)
	}
	if err == nil {
		fmt.Fprintf(w, "%s on %s is resumed. The daemon pays from it within a second.\n", account, id)
	}
	return err
}

// resumeDeposits resumes what it can and names the rest.
func resumeDeposits(ctx context.Context, r *operator.Recovery, w io.Writer, id chain.ID, why string) error {
	var stopped []records.Account
	err := r.Store.View(ctx, func(tx *records.Tx) (err error) {
		stopped, err = tx.Recovery().StoppedAccounts(id)
		return err
	})
	stopped = slices.DeleteFunc(stopped, func(a records.Account) bool { return a.Kind != records.KindDeposit })
	if err == nil && len(stopped) == 0 {
		_, err = fmt.Fprintf(w, "No deposit address of %s is stopped.\n", id)
	}
	for _, a := range stopped {
		err = errors.Join(err, resumeAccount(ctx, r, w, id, a.Account, why))
	}
	return err
}

func accountStopCommand(w streams, config *string) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "stop CHAIN ADDRESS", Short: "Stop an account: its key signs nothing until it is resumed", Args: cobra.ExactArgs(2),
		Example: "  gatewayd account stop eth 0x52908400098527886E0F7030069857D2E4169EE7 --why 'key may be known'\n  gatewayd account stop vite vite_… -c /etc/gatewayd/config.yaml",
	}
	c.Flags().StringVar(&why, "why", "an operator stopped it", "reason, stored in the history")
	c.RunE = onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
		args[1] = operator.SpelledAddress(args[1])
		id, err := d.OwnAccount(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		if err := d.StopAccount(operator.AsOperator(ctx), id, args[1], why); err != nil {
			return err
		}
		fmt.Fprintf(w.stdout, "%s on %s is halted. Transactions already signed may still be mined.\n", args[1], args[0])
		return nil
	})
	return c
}

func recordsSettleCommand(w streams, config *string) *cobra.Command {
	return recoveryCommand(config, &cobra.Command{
		Use: "settle ID HASH", Short: "Settle a record with a final transaction of ours that is unknown or differs", Args: cobra.ExactArgs(2),
		Example: "  gatewayd records settle 17 0x83d1b85cb2ab0e5a4e7d3e6e0ac6b0d7c5e9e2d4f1a0b9c8d7e6f5a4b3c2d1e0\n  gatewayd records settle 0 0x83d1b85cb2ab0e5a4e7d3e6e0ac6b0d7c5e9e2d4f1a0b9c8d7e6f5a4b3c2d1e0",
		Long: "Settle a record's credit, refund or receive with a final transaction of a stopped account that is unknown to the records.\n" +
			"The transaction is read from the nodes and must match the record exactly. Or confirm that the transaction of a held payment paid\n" +
			"it although its effect differs from the payment (payout_differs): your confirmation is sufficient. ID 0 is for sweeps, which have no record.",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		id, err := recordID(args[0])
		if err != nil {
			return err
		}
		if err := r.SettleRecord(ctx, r.Recovery, id, args[1], ""); err != nil {
			return err
		}
		fmt.Fprintf(w.stdout, "Record %d is settled by %s.\n", id, args[1])
		return nil
	})
}

func printFork(w io.Writer, f recovery.Fork) {
	common := "none that the records know"
	if f.Common.Hash != "" {
		common = fmt.Sprintf("%d %s", f.Common.Height, f.Common.Hash)
	}
	fmt.Fprintf(w, "Common block   %s\nOur final      %d %s\nNodes' final   %d %s\n",
		common, f.Ours.Height, f.Ours.Hash, f.Ours.Height, cmp.Or(f.Theirs, "(the nodes' chain ends below it)"))
	fmt.Fprintf(w, "Lost records   %d", len(f.Lost))
	for i, id := range f.Lost {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(w, "%s%d", separator, id)
	}
	fmt.Fprintln(w)
	if len(f.Lost) > 0 {
		fmt.Fprintln(w, "               decided in blocks that are gone: `gatewayd records list --needs-operator` shows them")
	}
}

func chainCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "chain", Short: "Resume a halted chain; deploy the batch contract; run an embedded exchange chain"}
	config := configFlag(c)
	c.AddCommand(chainRunCommand(w), deployBatchCommand(config, w), recoveryCommand(config, &cobra.Command{
		Use: "resume CHAIN", Short: "Resume a halted chain if its nodes agree with our final blocks", Args: cobra.ExactArgs(1),
		Example: "  gatewayd chain resume eth\n  gatewayd chain resume vite -c /etc/gatewayd/config.yaml",
		Long: "Resume a halted chain if its nodes agree with the final blocks in our records. If they do not, this shows the last common block\n" +
			"and changes nothing; docs/operations/recovery.md has the next steps.",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		id, err := operator.ChainOf(r.Config, args[0])
		if err != nil {
			return err
		}
		fork, err := r.ResumeHaltedChain(ctx, r.Recovery, id, "")
		if errors.Is(err, recovery.ErrForked) {
			printFork(w.stdout, fork)
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(w.stdout, "The nodes agree with block %d %s: the daemon follows %s again.\n", fork.Ours.Height, fork.Ours.Hash, args[0])
		return nil
	}))
	return c
}
