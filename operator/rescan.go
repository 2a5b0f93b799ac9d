package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/transfers"
)

// maxOrdered bounds how many blocks one command orders to be booked again, and maxShown how many
// differences it remembers.
const (
	maxOrdered = 1_000
	maxShown   = 10_000
)

// maxRead bounds how many blocks are read together, and parallelReads how many of them in parallel
// from a chain that answers no ranges.
const (
	maxRead       = 256
	parallelReads = 8
)

// Rescan is the result so far of reading a range again.
type Rescan struct {
	*Session
	ID        chain.ID
	From, To  uint64
	Next      uint64 // the first block that is not read yet; To+1 when all are
	Forgotten int    // blocks whose hash is not in the records any more
	Found     []transfers.BlockDifference
	Booked    map[uint64]records.Rescan // what became of the ordered blocks, by height

	final uint64 // last final block in the records
}

// DifferenceRow is one difference for programs. Amounts are in smallest units.
type DifferenceRow struct {
	Height uint64 `json:"height"`
	Block  string `json:"block"`
	Kind   string `json:"kind"`
	Tx     string `json:"tx"`
	From   string `json:"from"`
	To     string `json:"to"`
	Asset  string `json:"asset"`
	Amount string `json:"amount"`
	Record uint64 `json:"record,omitempty"`
	User   string `json:"user,omitempty"`   // of a missing transfer
	Reason string `json:"reason,omitempty"` // why a missing transfer will be held or refused
	Pays   bool   `json:"pays"`             // a payment follows when it is booked and final
	Final  bool   `json:"final"`            // its block is final in the records
	Mends  bool   `json:"mends"`            // --book repairs it
	Booked string `json:"booked,omitempty"` // open, done or failed
	Detail string `json:"detail,omitempty"`
}

// NewRescan is to read a chain's blocks from one to another, or to the newest that the daemon has
// followed. It has read none yet.
func (d *Session) NewRescan(ctx context.Context, name string, bounds ...string) (*Rescan, error) {
	id, err := ChainOf(d.Config, name)
	if err != nil {
		return nil, err
	}
	r := &Rescan{Session: d, ID: id, Booked: map[uint64]records.Rescan{}}
	if err := r.bounds(ctx, bounds); err != nil {
		return nil, err
	}
	r.Next = r.From
	return r, nil
}

// Read reads the range on and compares it, until all of it is read or `more` has enough.
func (r *Rescan) Read(ctx context.Context, b *Bridge, more func() bool) error {
	for r.Next <= r.To {
		blocks, err := readBlocks(ctx, b.Chains[r.ID], r.Next, r.To)
		if err != nil {
			return r.unreadable(err)
		}
		var found []transfers.BlockDifference
		var forgotten int
		err = r.Store.View(ctx, func(tx *records.Tx) (err error) {
			found, forgotten, err = b.transfers().Compare(tx, r.ID, blocks)
			return err
		})
		if err != nil {
			return err
		}
		r.Found, r.Forgotten, r.Next = append(r.Found, found...), r.Forgotten+forgotten, r.Next+uint64(len(blocks))
		if len(r.Found) > maxShown {
			return plainly(ErrTooMany, "more than %s differences up to block %d: read fewer blocks at a time", Grouped(maxShown), r.Next-1)
		}
		if !more() {
			return nil
		}
	}
	return nil
}

// readBlocks reads blocks as the daemon does, agreed and proven: consecutive ones from a height on,
// at least one.
func readBlocks(ctx context.Context, c chain.Chain, from, to uint64) ([]chain.Block, error) {
	blocks, err := chain.ReadBlocks(ctx, c, from, min(to, from+maxRead-1), parallelReads)
	n := 0
	for n < len(blocks) && blocks[n].Height == from+uint64(n) {
		n++
	}
	if n > 0 {
		return blocks[:n], nil
	}
	return nil, err
}

// Rescan reads a range and compares it. Progress goes to a terminal that waits.
func (d *Session) Rescan(ctx context.Context, args []string, progress io.Writer) (*Rescan, error) {
	r, err := d.NewRescan(ctx, args[0], args[1:]...)
	if err != nil {
		return nil, err
	}
	b, err := d.Bridge(ctx)
	if err != nil {
		return nil, err
	}
	told := time.Now()
	return r, r.Read(ctx, b, func() bool {
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Fprintf(progress, "%s of %s blocks read\n", Grouped(r.Next-r.From), Grouped(r.To-r.From+1))
		}
		return true
	})
}

// unreadable returns the reason why a block cannot be read, and the remedy.
func (r *Rescan) unreadable(err error) error {
	if errors.Is(err, chain.ErrNotFound) {
		return plainly(ErrUnreadable, "the nodes of %s no longer have block %d, so it and older blocks cannot be read again: configure a node that keeps old blocks", r.ID, r.Next)
	}
	return plainly(ErrUnreadable, "the nodes of %s give no agreed and proven answer for blocks from %d, which may be pruned: %s; `gatewayd doctor` checks the nodes", r.ID, r.Next, chain.PlainError(err))
}

// Why a range is not read, or not booked: the nodes do not give a block, or too much of it differs.
var (
	ErrUnreadable = errors.New("the nodes do not return this block")
	ErrTooMany    = errors.New("too many differences")
)

// bounds reads FROM and TO and holds them against what the daemon has followed.
func (r *Rescan) bounds(ctx context.Context, args []string) error {
	began, cur := uint64(0), records.Cursor{}
	err := r.Store.View(ctx, func(tx *records.Tx) (err error) {
		if cur, err = tx.Chains().Cursor(r.ID); err != nil || cur.Missing {
			return err
		}
		began, err = tx.Chains().Began(r.ID)
		return err
	})
	if err != nil {
		return err
	}
	if cur.Missing {
		return fmt.Errorf("%s has not been followed yet: start the daemon", r.ID)
	}
	r.To, r.final = cur.Height, cur.Final.Height
	for i, into := range []*uint64{&r.From, &r.To}[:len(args)] {
		if *into, err = strconv.ParseUint(args[i], 10, 63); err != nil {
			return Usagef("block %q: must be a block number", args[i])
		}
	}
	switch {
	case r.To < r.From:
		return Usagef("blocks %d to %d: the first is above the last", r.From, r.To)
	case r.To > cur.Height:
		return Usagef("block %d: the daemon has followed %s to block %d and reads later blocks automatically", r.To, r.ID, cur.Height)
	case r.From <= began:
		return Usagef("block %d: %s is followed from block %d. Earlier transfers belong to no user of these records and are never booked", r.From, r.ID, began+1)
	}
	return nil
}

// Book orders the blocks that show something missing, under the actor of ctx, and waits until the
// daemon has done it.
func (r *Rescan) Book(ctx context.Context, why string, patience time.Duration) error {
	var wanted []chain.Point
	for _, d := range r.Found {
		if d.Mends() && (len(wanted) == 0 || wanted[len(wanted)-1] != d.Point) {
			wanted = append(wanted, d.Point)
		}
	}
	if len(wanted) > maxOrdered {
		return plainly(ErrTooMany, "%s blocks have missing entries: book at most %s at a time, in smaller ranges", Grouped(uint64(len(wanted))), Grouped(maxOrdered))
	}
	if len(wanted) == 0 {
		return nil
	}
	err := r.Store.Update(ctx, func(tx *records.Tx) error {
		for _, p := range wanted {
			if err := records.OrderRescan(tx, r.ID, p); err != nil {
				return err
			}
		}
		return tx.Log(records.Event{Subject: "chain", SubjectID: string(r.ID), Event: "ordered", Detail: because(fmt.Sprintf("rescan of blocks %d to %d", r.From, r.Next-1), why)})
	})
	if err != nil {
		return err
	}
	return r.await(ctx, wanted, patience)
}

// BookPatience is the time for which the command waits for the daemon to execute an order to book.
const BookPatience = 30 * time.Second

func (r *Rescan) await(ctx context.Context, wanted []chain.Point, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		open := false
		err := r.Store.View(context.WithoutCancel(ctx), func(tx *records.Tx) error {
			for _, p := range wanted {
				o, err := records.RescanAt(tx, r.ID, p.Height)
				if err != nil {
					return err
				}
				r.Booked[p.Height] = o
				open = open || o.State == records.RescanOpen
			}
			return nil
		})
		if err != nil || !open {
			return err
		}
		if led, err := r.Store.Led(ctx, status.Role); err != nil || !led {
			return err // no daemon runs: the order is stored, and print reports it
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (r *Rescan) Rows() []DifferenceRow {
	rows := make([]DifferenceRow, len(r.Found))
	for i, d := range r.Found {
		o := r.Booked[d.Height]
		rows[i] = DifferenceRow{
			Height: d.Height, Block: d.Hash, Kind: string(d.Kind), Tx: d.Tx, From: d.From, To: d.To, Asset: string(d.Asset), Amount: d.Amount.String(),
			Record: d.Record, User: d.Owner, Reason: string(d.Reason), Pays: d.Pays, Final: d.Height <= r.final, Mends: d.Mends(), Booked: string(o.State), Detail: o.Detail,
		}
	}
	return rows
}
