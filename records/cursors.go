package records

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Chains are the followed chains: cursors, blocks and what was traced.
type Chains struct{ *Tx }

// Chains returns the statements on chains.
func (tx *Tx) Chains() Chains { return Chains{tx} }

type cursorRow struct {
	Chain       string `db:"chain"`
	Height      uint64 `db:"height"`
	Hash        string `db:"hash"`
	HeadHeight  uint64 `db:"head_height"`
	HeadAt      int64  `db:"head_at"`
	FinalHeight uint64 `db:"final_height"`
	FinalHash   string `db:"final_hash"`
	State       string `db:"state"`
	Why         string `db:"why"`
}

const cursorColumns = `chain, height, hash, head_height, head_at, final_height, final_hash, state, why`

func (r cursorRow) cursor() Cursor {
	return Cursor{
		Chain: chain.ID(r.Chain), Point: chain.Point{Height: r.Height, Hash: r.Hash},
		Head: r.HeadHeight, HeadAt: sqlstore.TimeOrZero(r.HeadAt), Final: chain.Point{Height: r.FinalHeight, Hash: r.FinalHash},
		Halted: r.State == "halted", Why: r.Why,
	}
}

// Cursor returns how far a chain has been followed; Missing when it was never started.
func (tx Chains) Cursor(id chain.ID) (Cursor, error) {
	r, found, err := tx.cursorRow(id)
	if err != nil {
		return Cursor{}, fmt.Errorf("reading the cursor of %s: %w", id, err)
	}
	if !found {
		return Cursor{Chain: id, Missing: true}, nil
	}
	return r.cursor(), nil
}

func (tx Chains) cursorRow(id chain.ID) (r cursorRow, found bool, err error) {
	found, err = tx.get(&r, `SELECT `+cursorColumns+` FROM cursors WHERE chain = ?`, string(id))
	return r, found, err
}

// runningCursor is the cursor for a change: it must exist and not be halted.
func (tx Chains) runningCursor(id chain.ID) (cursorRow, error) {
	r, found, err := tx.cursorRow(id)
	switch {
	case err != nil:
		return r, err
	case !found:
		return r, ErrNotFound
	case r.State == "halted":
		return r, fmt.Errorf("%w: %s", ErrHalted, r.Why)
	}
	return r, nil
}

// Cursors returns all cursors, by chain.
func (tx Chains) Cursors() ([]Cursor, error) {
	var rows []cursorRow
	err := tx.list(&rows, `SELECT `+cursorColumns+` FROM cursors ORDER BY chain`)
	return sqlstore.Each(rows, cursorRow.cursor), sqlstore.Doing(err, "reading the cursors")
}

// startedAfter is the history's note of the block after which a chain is followed.
const startedAfter = "after block %d"

// Start begins to follow a chain after a block. Blocks up to it are never read. ErrConflict
// when the chain has a cursor.
func (tx Chains) Start(id chain.ID, at chain.Point) error {
	n, err := tx.exec(`INSERT INTO cursors (chain, height, hash, head_height, head_at, final_height, final_hash, state)
		VALUES (?, ?, ?, ?, 0, 0, '', 'ok') ON CONFLICT (chain) DO NOTHING`, string(id), at.Height, at.Hash, at.Height)
	if err == nil && n == 0 {
		err = ErrConflict
	}
	if err == nil {
		err = tx.putBlock(id, chain.Block{Point: at, Time: tx.now})
	}
	if err == nil {
		err = tx.Balances().startHoldings(id, at.Height)
	}
	if err == nil {
		err = tx.log("chain", string(id), "started", fmt.Sprintf(startedAfter+" %s", at.Height, at.Hash))
	}
	return sqlstore.Doing(err, "starting the cursor of %s", id)
}

// putBlock makes a block canonical; a block that was left before comes back the same way.
func (tx Chains) putBlock(id chain.ID, b chain.Block) error {
	_, err := tx.exec(`INSERT INTO blocks (chain, hash, height, parent, at, canonical) VALUES (?, ?, ?, ?, ?, 1)
		ON CONFLICT (chain, hash) DO UPDATE SET canonical = 1`, string(id), b.Hash, b.Height, b.Parent, b.Time.UnixMilli())
	return err
}

// Advance moves the cursor to the block that follows it, which becomes canonical, and stores the
// coins that it makes. Its transfers and own transactions are the caller's to store in the same
// transaction. ErrParent: the block does not follow, step back.
func (tx Chains) Advance(id chain.ID, b chain.Block) error {
	r, err := tx.runningCursor(id)
	if err == nil && (b.Height != r.Height+1 || b.Parent != r.Hash) {
		err = fmt.Errorf("%w: cursor %d %s, parent %s", ErrParent, r.Height, r.Hash, b.Parent)
	}
	if err == nil {
		err = tx.putBlock(id, b)
	}
	if err == nil {
		err = tx.Coins().Store(id, b)
	}
	if err == nil {
		err = tx.change(`UPDATE cursors SET height = ?, hash = ? WHERE chain = ? AND height = ? AND hash = ?`,
			b.Height, b.Hash, string(id), r.Height, r.Hash)
	}
	return sqlstore.Doing(err, "advancing %s to block %d %s", id, b.Height, b.Hash)
}

// StepBack leaves the cursor's block, which is no longer of the line, for the one before. The
// block's transfers that were only seen become orphaned; those decided already keep their state and
// are marked as incidents. Both kinds come back, as they are now. ErrFinality: the block is final,
// or nothing before it is known.
func (tx Chains) StepBack(id chain.ID) ([]Transfer, error) {
	r, err := tx.runningCursor(id)
	if err != nil {
		return nil, fmt.Errorf("stepping back on %s: %w", id, err)
	}
	left, err := tx.leaveBlock(id, r)
	return left, sqlstore.Doing(err, "stepping back on %s from block %d %s", id, r.Height, r.Hash)
}

func (tx Chains) leaveBlock(id chain.ID, r cursorRow) ([]Transfer, error) {
	if r.Height <= r.FinalHeight {
		return nil, ErrFinality
	}
	var before string
	found, err := tx.get(&before, `SELECT p.hash FROM blocks b JOIN blocks p ON p.chain = b.chain AND p.hash = b.parent
		WHERE b.chain = ? AND b.hash = ? AND p.canonical = 1 AND p.height = b.height - 1`, string(id), r.Hash)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("%w: the block before is not known", ErrFinality)
	}
	if err := tx.change(`UPDATE blocks SET canonical = 0 WHERE chain = ? AND hash = ?`, string(id), r.Hash); err != nil {
		return nil, err
	}
	if err := tx.change(`UPDATE cursors SET height = ?, hash = ? WHERE chain = ? AND hash = ?`, r.Height-1, before, string(id), r.Hash); err != nil {
		return nil, err
	}
	if err := tx.Slots().unmarkMined(id, r.Hash); err != nil {
		return nil, err
	}
	if err := tx.Coins().leave(id, r.Height, r.Hash); err != nil {
		return nil, err
	}
	if err := tx.log("chain", string(id), "stepped_back", fmt.Sprintf("from block %d %s", r.Height, r.Hash)); err != nil {
		return nil, err
	}
	return tx.orphan(id, r.Height, r.Hash)
}

// orphan moves the seen transfers of a left block and answers all transfers of the block. A reason
// found at first sight stays: it decides what becomes of the transfer when it is mined again.
func (tx Chains) orphan(id chain.ID, height uint64, hash string) ([]Transfer, error) {
	left, err := tx.Transfers().Where(`WHERE chain = ? AND state IN ('seen','final','held','refused') AND height = ? AND block_hash = ? ORDER BY id`, string(id), height, hash)
	if err != nil {
		return nil, err
	}
	for i := range left {
		if left[i].State != Seen {
			if err := tx.Orders().markIncident(&left[i]); err != nil {
				return nil, err
			}
			continue
		}
		if err := tx.Transfers().Move(left[i].ID, Seen, Orphaned, left[i].Reason); err != nil {
			return nil, err
		}
		left[i].State, left[i].ChangedAt = Orphaned, tx.now
	}
	return left, nil
}

// SetHead stores the agreed head of the chain. The final point never decreases, and moves only to a
// block of our own chain. A final point above the cursor changes nothing, because the cursor may
// itself be on an abandoned branch until the chain has come that far. ErrParent: our chain has
// another block at a new final height, step back. ErrFinality: another block has replaced a final
// one.
func (tx Chains) SetHead(id chain.ID, h chain.Head) error {
	r, found, err := tx.cursorRow(id)
	if err == nil && !found {
		err = ErrNotFound
	}
	if err == nil {
		err = tx.setHead(r, h)
	}
	return sqlstore.Doing(err, "storing the head %d of %s", h.Latest.Height, id)
}

func (tx Chains) setHead(r cursorRow, h chain.Head) error {
	switch {
	case h.Final.Height > r.Height: // not reached
	case h.Final.Height == r.FinalHeight && r.FinalHash != "" && r.FinalHash != h.Final.Hash:
		return fmt.Errorf("%w: %d was final as %s and is %s", ErrFinality, r.FinalHeight, r.FinalHash, h.Final.Hash)
	case h.Final.Height > r.FinalHeight:
		if err := tx.checkLine(r.Chain, h.Final); err != nil {
			return err
		}
		r.FinalHeight, r.FinalHash = h.Final.Height, h.Final.Hash
	}
	return tx.change(`UPDATE cursors SET head_height = ?, head_at = ?, final_height = ?, final_hash = ? WHERE chain = ?`,
		h.Latest.Height, sqlstore.ToMillis(h.Time), r.FinalHeight, r.FinalHash, r.Chain)
}

// checkLine is ErrParent when the canonical block at the point's height has another hash. Blocks
// before the start are not known.
func (tx Chains) checkLine(id string, p chain.Point) error {
	var ours string
	found, err := tx.get(&ours, `SELECT hash FROM blocks WHERE chain = ? AND height = ? AND canonical = 1`, id, p.Height)
	if err == nil && found && ours != p.Hash {
		return fmt.Errorf("%w: block %d is %s here and %s there", ErrParent, p.Height, ours, p.Hash)
	}
	return err
}

// Halt stops a chain: its cursor does not move and no payment that it causes or carries is
// bound until ResumeChain.
func (tx Chains) Halt(id chain.ID, why string) error { return tx.HaltAt(id, why, HaltBlocks{}) }

// HaltAt is Halt with the blocks that contradict each other.
func (tx Chains) HaltAt(id chain.ID, why string, blocks HaltBlocks) error {
	if err := tx.setCursorState(id, "halted", sqlstore.Note(why)); err != nil {
		return err
	}
	return NoteReport(tx.Tx, haltReport(id), blocks)
}

// LastHalt returns the blocks and the time of a chain's last halt; the zero time where none was
// stored, as before there were blocks of halts.
func (tx Chains) LastHalt(id chain.ID) (blocks HaltBlocks, at time.Time, err error) {
	at, ever, err := ReadReport(tx.Tx, haltReport(id), &blocks)
	if !ever {
		at = time.Time{}
	}
	return blocks, at, err
}

func haltReport(id chain.ID) string { return "halt " + string(id) }

// Resume takes a halt back, and what was marked as lost because of it.
func (tx Chains) Resume(id chain.ID) error {
	if err := tx.setCursorState(id, "ok", ""); err != nil {
		return err
	}
	return sqlstore.Doing(tx.Orders().clearIncidents(id), "resuming the chain %s", id)
}

func (tx Chains) setCursorState(id chain.ID, state, why string) error {
	err := tx.change(`UPDATE cursors SET state = ?, why = ? WHERE chain = ?`, state, why, string(id))
	if err == nil {
		err = tx.log("chain", string(id), state, why)
	}
	return sqlstore.Doing(err, "setting the chain %s to %s", id, state)
}

// pruneBatch bounds how many blocks one call of PruneBlocks forgets.
const pruneBatch = 10_000

// Prune deletes blocks that are both final and more than keep below the cursor, unless they
// contain an undecided own transaction: the oldest pruneBatch of them. It reports whether there are
// more.
func (tx Chains) Prune(id chain.ID, keep uint64) (more bool, err error) {
	r, found, err := tx.cursorRow(id)
	if err != nil || !found || r.Height <= keep {
		return false, err
	}
	below := min(r.FinalHeight, r.Height-keep)
	_, err = tx.exec(`DELETE FROM effects WHERE chain = ? AND settled = 0 AND height < ?
		AND block_hash IN (SELECT hash FROM blocks WHERE chain = ? AND canonical = 0 AND height < ?)`, string(id), below, string(id), below)
	for _, which := range []string{`canonical = 0`, `canonical = 1`} {
		var n int64
		if err == nil {
			n, err = tx.prune(id, which, below)
		}
		more = more || n == pruneBatch
	}
	return more, sqlstore.Doing(err, "pruning the blocks of %s below %d", id, below)
}

func (tx Chains) prune(id chain.ID, which string, below uint64) (int64, error) {
	return tx.exec(`DELETE FROM blocks WHERE chain = ? AND hash IN (SELECT b.hash FROM blocks b WHERE b.chain = ? AND b.`+which+` AND b.height < ?
		AND b.hash NOT IN (SELECT e.block_hash FROM effects e WHERE e.chain = ? AND e.settled = 0 AND e.height < ?) ORDER BY b.height LIMIT ? + 0)`,
		string(id), string(id), below, string(id), below, pruneBatch)
}
