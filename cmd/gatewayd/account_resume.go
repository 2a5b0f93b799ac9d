package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/watcher/recovery"
)

func accountSettleCommand(w streams, config *string) *cobra.Command {
	return recoveryCommand(config, &cobra.Command{
		Use: "settle CHAIN ADDRESS", Short: "Settle every unknown transaction of a stopped account that is exactly what an unpaid payment asks for", Args: cobra.ExactArgs(2),
		Long: "Settle every unknown final transaction of a stopped account to the oldest unpaid payment that asks for exactly what it did.\n" +
			"Read `gatewayd account show` first: it says which that will be.",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		id, err := r.OwnAccount(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		done, err := r.SettleAll(ctx, id, args[1], operator.RecoveryPatience)
		if err != nil {
			return err
		}
		for _, s := range done {
			fmt.Fprintf(w.stdout, "Payment %d is paid by %s\n", s.Payment, s.Tx)
		}
		fmt.Fprintf(w.stdout, "%d settled.\n", len(done))
		return unread(ctx, r, id, args[1])
	})
}

// unread is an error that names what of an account stands in blocks that the records have not read.
func unread(ctx context.Context, r *operator.Recovery, id chain.ID, account string) error {
	s, err := r.Position(ctx, id, account)
	if err != nil {
		return err
	}
	why, err := r.Unread(ctx, s)
	if err == nil && why != "" {
		err = fmt.Errorf("%w: %s", recovery.ErrNothingToDo, why)
	}
	return err
}

func accountResumeCommand(w streams, config *string) *cobra.Command {
	var accept []string
	var why string
	c := recoveryCommand(config, &cobra.Command{
		Use: "resume CHAIN ADDRESS", Short: "Let a stopped account sign again, once everything it ever signed is decided and explained", Args: cobra.ExactArgs(2),
		Long: "Let a stopped account sign again, once everything it ever signed is decided and explained. ADDRESS `deposits` means every stopped deposit\n" +
			"address of the chain.",
		Example: "  gatewayd account resume eth 0x… --accept 0x… --why 'paid by hand on Tuesday'\n  gatewayd account resume eth deposits",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		account := args[1]
		id, err := operator.ChainOf(r.Config, args[0])
		if err == nil && account != allDeposits {
			id, err = r.OwnAccount(ctx, args[0], account)
		}
		if err != nil {
			return err
		}
		if len(accept) > 0 && why == "" {
			return operator.Usagef("--accept wants --why: it is kept in the history")
		}
		for _, hash := range accept {
			if err := r.Accept(ctx, id, account, hash, why, operator.RecoveryPatience); err != nil {
				return err
			}
		}
		if account == allDeposits {
			return resumeDeposits(ctx, r, w.stdout, id)
		}
		return resumeAccount(ctx, r, w.stdout, id, account)
	})
	c.Flags().StringSliceVar(&accept, "accept", nil, "hash of an unknown transaction that pays nothing our records owe; may be repeated")
	c.Flags().StringVar(&why, "why", "", "who made the accepted transactions and why, kept in the history")
	return c
}

// allDeposits stands for every stopped deposit address in `account resume`.
const allDeposits = "deposits"

func resumeAccount(ctx context.Context, r *operator.Recovery, w io.Writer, id chain.ID, account string) error {
	err := r.Resume(ctx, id, account, operator.RecoveryPatience)
	if errors.Is(err, recovery.ErrNotAtRest) {
		return fmt.Errorf("%w; let the daemon run, look at `gatewayd account list` and resume again when the ledger is settled", err)
	}
	if err == nil {
		fmt.Fprintf(w, "%s on %s goes on. The daemon pays from it within a second.\n", account, id)
	}
	return err
}

// resumeDeposits resumes what it can and names the rest.
func resumeDeposits(ctx context.Context, r *operator.Recovery, w io.Writer, id chain.ID) error {
	var stopped []records.Account
	err := r.Store.View(ctx, func(tx *records.Tx) (err error) {
		stopped, err = tx.StoppedAccounts(id)
		return err
	})
	for _, a := range stopped {
		if a.Kind == records.KindDeposit {
			err = errors.Join(err, resumeAccount(ctx, r, w, id, a.Account))
		}
	}
	return err
}

func accountStopCommand(w streams, config *string) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "stop CHAIN ADDRESS", Short: "Halt an account: nothing is signed with its key until it is resumed", Args: cobra.ExactArgs(2),
	}
	c.Flags().StringVar(&why, "why", "an operator stopped it", "reason, kept in the history")
	c.RunE = onSession(config, func(ctx context.Context, d *operator.Session, args []string) error {
		id, err := d.OwnAccount(ctx, args[0], args[1])
		if err != nil {
			return err
		}
		err = d.Change(ctx, func(tx *records.Tx) error {
			return tx.SetAccountState(id, args[1], records.AccountHalted, why)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w.stdout, "%s on %s is halted. What is signed already may still be mined.\n", args[1], args[0])
		return nil
	})
	return c
}

func recordsSettleCommand(w streams, config *string) *cobra.Command {
	return recoveryCommand(config, &cobra.Command{
		Use: "settle ID HASH", Short: "Say that a final transaction of ours, which the records do not know, paid a record", Args: cobra.ExactArgs(2),
		Long: "Say that a final transaction of a stopped account of ours, which the records do not know, paid a record: its credit, its refund or its\n" +
			"receive. The transaction is read from the nodes and must do exactly what the record asks for.",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		id, err := recordID(args[0])
		if err != nil {
			return err
		}
		if err := r.Settle(ctx, id, args[1]); err != nil {
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
	fmt.Fprintf(w, "Common block   %s\nOur final      %d %s\nThe nodes say  %d %s\n",
		common, f.Ours.Height, f.Ours.Hash, f.Ours.Height, cmp.Or(f.Theirs, "(their line ends below it)"))
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
	c := &cobra.Command{Use: "chain", Short: "Let a halted chain be followed again; run an embedded exchange chain"}
	config := configFlag(c)
	c.AddCommand(chainRunCommand(w), recoveryCommand(config, &cobra.Command{
		Use: "resume CHAIN", Short: "Follow a halted chain again, if its nodes agree with our final blocks", Args: cobra.ExactArgs(1),
		Long: "Follow a halted chain again, if its nodes agree with the final blocks in our records. If they do not, this shows where the pasts part\n" +
			"and changes nothing: docs/operations.md says what then.",
	}, func(ctx context.Context, r *operator.Recovery, args []string) error {
		id, err := operator.ChainOf(r.Config, args[0])
		if err != nil {
			return err
		}
		fork, err := r.ResumeChain(ctx, id)
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
