package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/watcher"
)

// maxOrdered bounds how many blocks one command orders to be booked again, and maxShown how many differences it remembers.
const (
	maxOrdered = 1_000
	maxShown   = 10_000
)

func rescanCommand(w world) *cobra.Command {
	var f format
	var book bool
	c := &cobra.Command{
		Use: "rescan CHAIN FROM [TO]", Short: "Read blocks again from the nodes, show how the records differ, and book what they miss",
		Long: "Read blocks FROM to TO (the newest that the daemon has followed, if left out) again from the nodes, agreed and proven as the daemon reads them, and show how\n" +
			"the records differ. Nothing is changed without --book: then the running daemon reads the blocks that show something missing once more, and books it as it\n" +
			"does with new blocks. Doing it twice books nothing twice.",
		Example: "  gatewayd rescan eth 21000000 21000500\n  gatewayd rescan eth 21000000 21000500 --book",
		Args:    cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDesk(cmd.Context(), *configOf(cmd))
			if err != nil {
				return err
			}
			defer d.store.Close()
			r, err := d.rescan(cmd.Context(), args, w.stderr)
			if err != nil {
				return err
			}
			if book {
				if err := r.book(cmd.Context()); err != nil {
					return err
				}
			}
			if f.json {
				return printJSON(w.stdout, r.rows())
			}
			return r.print(w.stdout, book)
		},
	}
	configFlag(c)
	c.Flags().BoolVar(&book, "book", false, "order the daemon to book what is missing")
	c.Flags().BoolVar(&f.json, "json", false, "answer JSON")
	return c
}

// configOf is the value of a command's own -c.
func configOf(c *cobra.Command) *string {
	path := c.Flag("config").Value.String()
	return &path
}

// rescan is what reading a range again has shown.
type rescan struct {
	*desk
	id        chain.ID
	from, to  uint64
	forgotten int // blocks whose hash is not in the records any more
	found     []watcher.BlockDifference
	booked    map[uint64]records.Rescan // what became of the ordered blocks, by height
}

// differenceRow is one difference for programs. Amounts are in smallest units.
type differenceRow struct {
	Height uint64 `json:"height"`
	Block  string `json:"block"`
	Kind   string `json:"kind"`
	Tx     string `json:"tx"`
	From   string `json:"from"`
	To     string `json:"to"`
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
	Record uint64 `json:"record,omitempty"`
	Mends  bool   `json:"mends"`            // --book mends it
	Booked string `json:"booked,omitempty"` // open, done or failed
	Detail string `json:"detail,omitempty"`
}

// rescan reads a range and compares it. Progress goes to a terminal that waits.
func (d *desk) rescan(ctx context.Context, args []string, progress io.Writer) (*rescan, error) {
	id, err := d.cfg.chain(args[0])
	if err != nil {
		return nil, err
	}
	r := &rescan{desk: d, id: id, booked: map[uint64]records.Rescan{}}
	if err := r.bounds(ctx, args[1:]); err != nil {
		return nil, err
	}
	rules, err := d.rules(ctx)
	if err != nil {
		return nil, err
	}
	told := time.Now()
	for at := r.from; at <= r.to; {
		blocks, err := rules.ReadBlocks(ctx, r.id, at, r.to)
		if err != nil {
			return nil, r.unreadable(at, err)
		}
		found, forgotten, err := rules.Compare(ctx, r.id, blocks)
		if err != nil {
			return nil, err
		}
		r.found, r.forgotten, at = append(r.found, found...), r.forgotten+forgotten, at+uint64(len(blocks))
		if len(r.found) > maxShown {
			return nil, fmt.Errorf("more than %s differences up to block %d: read fewer blocks at a time", grouped(maxShown), at-1)
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Fprintf(progress, "%s of %s blocks read\n", grouped(at-r.from), grouped(r.to-r.from+1))
		}
	}
	return r, nil
}

// unreadable says why a block cannot be read, and what helps.
func (r *rescan) unreadable(at uint64, err error) error {
	if errors.Is(err, chain.ErrNotFound) {
		return fmt.Errorf("the nodes of %s do not have block %d any more, so nothing at or below it can be read again: configure a node that keeps old blocks", r.id, at)
	}
	return fmt.Errorf("the nodes of %s give no agreed and proven answer for blocks from %d on, old ones may be pruned there: %s; `gatewayd doctor` looks at the nodes", r.id, at, unreachable(err))
}

// bounds reads FROM and TO and holds them against what the daemon has followed.
func (r *rescan) bounds(ctx context.Context, args []string) error {
	began, cur := uint64(0), records.Cursor{}
	err := r.store.View(ctx, func(tx *records.Tx) (err error) {
		if cur, err = tx.Cursor(r.id); err != nil || cur.Missing {
			return err
		}
		began, err = tx.Began(r.id)
		return err
	})
	if err != nil {
		return err
	}
	if cur.Missing {
		return fmt.Errorf("%s has not been followed yet: start the daemon", r.id)
	}
	r.to = cur.Height
	for i, into := range []*uint64{&r.from, &r.to}[:len(args)] {
		if *into, err = strconv.ParseUint(args[i], 10, 63); err != nil {
			return usagef("block %q: its number is wanted", args[i])
		}
	}
	switch {
	case r.to < r.from:
		return usagef("blocks %d to %d: the first is above the last", r.from, r.to)
	case r.to > cur.Height:
		return usagef("block %d: the daemon has followed %s to block %d, what is above it will read by itself", r.to, r.id, cur.Height)
	case r.from <= began:
		return usagef("block %d: %s is followed from block %d on. What came before belongs to no user of these records and is never booked", r.from, r.id, began+1)
	}
	return nil
}

// book orders the blocks that show something missing, and waits until the daemon has done it.
func (r *rescan) book(ctx context.Context) error {
	var wanted []chain.Point
	for _, d := range r.found {
		if d.Mends() && (len(wanted) == 0 || wanted[len(wanted)-1] != d.Point) {
			wanted = append(wanted, d.Point)
		}
	}
	if len(wanted) > maxOrdered {
		return fmt.Errorf("%s blocks miss something: book at most %s at a time, in smaller ranges", grouped(uint64(len(wanted))), grouped(maxOrdered))
	}
	err := r.change(ctx, func(tx *records.Tx) error {
		for _, p := range wanted {
			if err := tx.OrderRescan(r.id, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.await(ctx, wanted)
}

// bookPatience is how long the command waits for the daemon to book what it was ordered to.
const bookPatience = 30 * time.Second

func (r *rescan) await(ctx context.Context, wanted []chain.Point) error {
	ctx, cancel := context.WithTimeout(ctx, bookPatience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		open := false
		err := r.store.View(context.WithoutCancel(ctx), func(tx *records.Tx) error {
			for _, p := range wanted {
				o, err := tx.RescanAt(r.id, p.Height)
				if err != nil {
					return err
				}
				r.booked[p.Height] = o
				open = open || o.State == records.RescanOpen
			}
			return nil
		})
		if err != nil || !open {
			return err
		}
		if led, err := r.store.Led(ctx, leaseRole); err != nil || !led {
			return err // no daemon runs: the order stands, and print says so
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r *rescan) rows() []differenceRow {
	rows := make([]differenceRow, len(r.found))
	for i, d := range r.found {
		o := r.booked[d.Height]
		rows[i] = differenceRow{
			Height: d.Height, Block: d.Hash, Kind: string(d.Kind), Tx: d.Tx, From: d.From, To: d.To, Asset: string(d.Asset), Amount: d.Amount.String(),
			Record: d.Record, Mends: d.Mends(), Booked: string(o.State), Detail: o.Detail,
		}
	}
	return rows
}

func (r *rescan) print(w io.Writer, book bool) error {
	fmt.Fprintf(w, "Read blocks %d to %d of %s again.\n", r.from, r.to, r.id)
	if r.forgotten > 0 {
		fmt.Fprintf(w, "The records have forgotten the hashes of %s of them, which are old: there only transfers and transactions were compared.\n", grouped(uint64(r.forgotten)))
	}
	if len(r.found) == 0 {
		fmt.Fprintln(w, "The records miss nothing.")
		return nil
	}
	mends := false
	for _, d := range r.found {
		fmt.Fprintf(w, "  block %d: %s\n", d.Height, r.say(d))
		mends = mends || d.Mends()
	}
	switch {
	case !mends:
		fmt.Fprintln(w, "None of this is mended by booking it again: `gatewayd audit` and docs/operations.md say what to do.")
	case !book:
		fmt.Fprintln(w, "Nothing was changed. The same command with --book books what is missing.")
	default:
		return r.printBooked(w)
	}
	return nil
}

// printBooked tells what the daemon has done; what it refused is an error.
func (r *rescan) printBooked(w io.Writer) error {
	var failed []error
	done, open := 0, 0
	for _, height := range slices.Sorted(maps.Keys(r.booked)) {
		switch o := r.booked[height]; o.State {
		case records.RescanDone:
			done++
		case records.RescanFailed:
			failed = append(failed, fmt.Errorf("block %d was not booked: %s", height, o.Detail))
		default:
			open++
		}
	}
	if done > 0 {
		fmt.Fprintf(w, "The daemon has booked %d blocks again: `gatewayd records list` has what was missing.\n", done)
	}
	if open > 0 {
		fmt.Fprintf(w, "%d blocks are ordered and not booked yet: the daemon does it when it runs.\n", open)
	}
	return errors.Join(failed...)
}

// say is a difference in words.
func (r *rescan) say(d watcher.BlockDifference) string {
	amount := r.cfg.assetAmount(r.id, d.Asset, d.Amount)
	switch d.Kind {
	case watcher.MissingTransfer:
		return fmt.Sprintf("the records miss %s from %s to %s in %s", amount, d.From, d.To, d.Tx)
	case watcher.MissingOwn:
		return fmt.Sprintf("the records miss transaction %s of our account %s", d.Tx, d.From)
	case watcher.OtherBlock:
		return fmt.Sprintf("record %d (%s) stands in this block, the records have another", d.Record, d.Tx)
	case watcher.OtherFacts:
		return fmt.Sprintf("record %d says something else than the chain: %s from %s to %s in %s", d.Record, amount, d.From, d.To, d.Tx)
	case watcher.NotOnChain:
		return fmt.Sprintf("record %d (%s of %s) is not in this block", d.Record, d.Tx, amount)
	}
	return fmt.Sprintf("the nodes have %s here, the records %s: the daemon steps back by itself, or has halted (`gatewayd chain resume %s`)", d.Hash, d.Tx, r.id)
}
