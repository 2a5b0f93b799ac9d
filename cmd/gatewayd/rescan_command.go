package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/transfers"
)

func rescanCommand(w streams) *cobra.Command {
	var f format
	var book bool
	var why string
	c := &cobra.Command{
		Use: "rescan CHAIN FROM [TO]", Short: "Read blocks again from the nodes, and book entries that the records lack",
		Long: "Read blocks FROM to TO (default: the newest that the daemon has followed) again from the nodes, agreed and proven as by the daemon, and show how\n" +
			"the records differ. Without --book nothing is changed. With it the running daemon reads the blocks with missing entries again and books them as it\n" +
			"does with new blocks. A repetition books nothing twice.",
		Example: "  gatewayd rescan eth 21000000 21000500\n  gatewayd rescan eth 21000000 21000500 --book",
		Args:    cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := operator.Open(cmd.Context(), *configOf(cmd))
			if err != nil {
				return err
			}
			defer d.Store.Close()
			r, err := d.Rescan(cmd.Context(), args, w.stderr)
			if err != nil {
				return err
			}
			if book {
				if err := r.Book(operator.AsOperator(cmd.Context()), why, operator.BookPatience); err != nil {
					return err
				}
			}
			if f.json {
				return printJSON(w.stdout, r.Rows())
			}
			return printRescan(r, w.stdout, book)
		},
	}
	configFlag(c)
	c.Flags().BoolVar(&book, "book", false, "order the daemon to book missing entries")
	c.Flags().StringVar(&why, "why", "", "reason, stored in the history")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// configOf is the value of a command's own -c.
func configOf(c *cobra.Command) *string {
	path := c.Flag("config").Value.String()
	return &path
}

func printRescan(r *operator.Rescan, w io.Writer, book bool) error {
	fmt.Fprintf(w, "Read blocks %d to %d of %s again.\n", r.From, r.To, r.ID)
	if r.Forgotten > 0 {
		fmt.Fprintf(w, "The records no longer have the hashes of %s old ones: only their transfers and transactions were compared.\n", operator.Grouped(uint64(r.Forgotten)))
	}
	if len(r.Found) == 0 {
		fmt.Fprintln(w, "The records are complete.")
		return nil
	}
	mends := false
	for _, d := range r.Found {
		fmt.Fprintf(w, "  block %d: %s\n", d.Height, differenceText(r, d))
		mends = mends || d.Mends()
	}
	switch {
	case !mends:
		fmt.Fprintln(w, "Booking again does not correct these differences: see `gatewayd audit` and docs/operations/daily.md.")
	case !book:
		fmt.Fprintln(w, "Nothing was changed. The same command with --book books the missing entries.")
	default:
		return printBooked(r, w)
	}
	return nil
}

// printBooked prints the daemon's bookings; its refusal is an error.
func printBooked(r *operator.Rescan, w io.Writer) error {
	var failed []error
	done, open := 0, 0
	for _, height := range slices.Sorted(maps.Keys(r.Booked)) {
		switch o := r.Booked[height]; o.State {
		case records.RescanDone:
			done++
		case records.RescanFailed:
			failed = append(failed, fmt.Errorf("block %d was not booked: %s", height, o.Detail))
		default:
			open++
		}
	}
	if done > 0 {
		fmt.Fprintf(w, "The daemon has booked %d blocks again: `gatewayd records list` shows the new records.\n", done)
	}
	if open > 0 {
		fmt.Fprintf(w, "%d blocks are ordered and not booked yet: the daemon does it when it runs.\n", open)
	}
	return errors.Join(failed...)
}

// differenceText is a difference in words.
func differenceText(r *operator.Rescan, d transfers.BlockDifference) string {
	amount := r.Config.AssetAmount(r.ID, d.Asset, d.Amount)
	switch d.Kind {
	case transfers.MissingTransfer:
		return fmt.Sprintf("the records lack %s from %s to %s in %s", amount, d.From, d.To, d.Tx)
	case transfers.MissingOwn:
		return fmt.Sprintf("the records lack transaction %s of our account %s", d.Tx, d.From)
	case transfers.OtherBlock:
		return fmt.Sprintf("record %d (%s) is in this block, but in another by the records", d.Record, d.Tx)
	case transfers.OtherFacts:
		return fmt.Sprintf("record %d differs from the chain: %s from %s to %s in %s", d.Record, amount, d.From, d.To, d.Tx)
	case transfers.NotOnChain:
		return fmt.Sprintf("record %d (%s of %s) is not in this block", d.Record, d.Tx, amount)
	}
	return fmt.Sprintf("the nodes have %s here, the records %s: the daemon reverts it automatically, or has halted (`gatewayd chain resume %s`)", d.Hash, d.Tx, r.ID)
}
