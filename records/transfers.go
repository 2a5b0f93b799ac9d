package records

import (
	"encoding/json"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Transfers are the incoming transfers of users and what became of them.
type Transfers struct{ *Tx }

// Transfers returns the statements on transfers.
func (tx *Tx) Transfers() Transfers { return Transfers{tx} }

type transferRow struct {
	ID         uint64       `db:"id"`
	Network    string       `db:"network"`
	Direction  string       `db:"direction"`
	Chain      string       `db:"chain"`
	Ref        string       `db:"ref"`
	Tx         string       `db:"tx"`
	Sender     string       `db:"sender"`
	Account    string       `db:"account"`
	Asset      string       `db:"asset"`
	Amount     chain.Amount `db:"amount"`
	Memo       string       `db:"memo"`
	Failed     sqlstore.Bit `db:"failed"`
	Token      string       `db:"token"`
	Owner      string       `db:"owner"`
	Payee      string       `db:"payee"`
	PayeeLabel string       `db:"payee_label"`
	Net        chain.Amount `db:"net"`
	Fee        chain.Amount `db:"fee"`
	Policy     string       `db:"policy"`
	State      string       `db:"state"`
	Reason     Reason       `db:"reason"`
	Height     uint64       `db:"height"`
	BlockHash  string       `db:"block_hash"`
	BlockAt    int64        `db:"block_at"`
	SeenAt     int64        `db:"seen_at"`
	ChangedAt  int64        `db:"changed_at"`
	Due        uint64       `db:"due"`
	Matures    uint64       `db:"matures"`
	Incident   string       `db:"incident"`
}

const transferColumns = `id, network, direction, chain, ref, tx, sender, account, asset, amount, memo, failed, token, owner, payee, payee_label,
	net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at, due, matures, incident`

func (r transferRow) transfer() (Transfer, error) {
	t := r.withoutJSON()
	if err := json.Unmarshal([]byte(r.Memo), &t.Memo); err != nil {
		return t, fmt.Errorf("the memo of transfer %d: %w", r.ID, err)
	}
	err := json.Unmarshal([]byte(r.Policy), &t.Policy)
	return t, sqlstore.Doing(err, "the policy of transfer %d", r.ID)
}

// withoutJSON is the transfer without what its columns hold as JSON.
func (r transferRow) withoutJSON() Transfer {
	return Transfer{
		ID: r.ID, Network: r.Network, Direction: Direction(r.Direction), Chain: chain.ID(r.Chain),
		Transfer: chain.Transfer{Ref: r.Ref, Tx: r.Tx, From: r.Sender, To: r.Account, Asset: chain.Asset(r.Asset), Amount: r.Amount, Failed: bool(r.Failed), Matures: r.Matures},
		Token:    r.Token, Owner: r.Owner, Payee: r.Payee, PayeeLabel: r.PayeeLabel, Net: r.Net, Fee: r.Fee,
		State: TransferState(r.State), Reason: r.Reason, Height: r.Height, BlockHash: r.BlockHash,
		BlockAt: sqlstore.TimeOrZero(r.BlockAt), SeenAt: sqlstore.FromMillis(r.SeenAt), ChangedAt: sqlstore.FromMillis(r.ChangedAt), Incident: r.Incident,
	}
}

// rowOf is the row of a transfer seen first in this transaction. A payee that no column can hold is
// stored as not known: it can then never be paid, while a changed one could. The memo keeps the
// sender's bytes.
func (tx Transfers) rowOf(t Transfer) (transferRow, error) {
	memo, err := json.Marshal(t.Memo)
	if err != nil {
		return transferRow{}, err
	}
	policy, err := json.Marshal(t.Policy)
	if err != nil {
		return transferRow{}, err
	}
	if !sqlstore.Storable(t.Payee) || !sqlstore.Storable(t.PayeeLabel) {
		t.Payee, t.PayeeLabel = "", ""
	}
	if t.State == "" {
		t.State = Seen
	}
	return transferRow{
		ID: t.ID, Network: t.Network, Direction: string(t.Direction), Chain: string(t.Chain),
		Ref: t.Ref, Tx: t.Tx, Sender: t.From, Account: t.To, Asset: string(t.Asset), Amount: t.Amount, Memo: string(memo), Failed: sqlstore.Bit(t.Failed),
		Token: t.Token, Owner: t.Owner, Payee: t.Payee, PayeeLabel: t.PayeeLabel, Net: t.Net, Fee: t.Fee, Policy: string(policy),
		State: string(t.State), Reason: t.Reason, Height: t.Height, BlockHash: t.BlockHash,
		BlockAt: sqlstore.ToMillis(t.BlockAt), SeenAt: tx.millis(), ChangedAt: tx.millis(), Due: t.due(), Matures: t.Matures,
	}, nil
}

// sameFacts reports whether two sightings of a ref have the same chain data.
func (r transferRow) sameFacts(o transferRow) bool {
	return r.Tx == o.Tx && r.Sender == o.Sender && r.Account == o.Account && r.Asset == o.Asset &&
		r.Amount == o.Amount && r.Memo == o.Memo && r.Failed == o.Failed
}

// Where reads transfers by the end of a statement, for the packages that may write
// statements.
func (tx Transfers) Where(where string, args ...any) ([]Transfer, error) {
	var rows []transferRow
	if err := tx.list(&rows, `SELECT `+transferColumns+` FROM transfers `+where, args...); err != nil {
		return nil, err
	}
	out := make([]Transfer, len(rows))
	for i, r := range rows {
		// Neighbours mostly share their policy and have no memo: what was read once is not read again.
		if i > 0 && r.Policy == rows[i-1].Policy && r.Memo == rows[i-1].Memo && out[i-1].Memo.Raw == nil {
			out[i] = r.withoutJSON()
			out[i].Policy, out[i].Memo = out[i-1].Policy, out[i-1].Memo
			continue
		}
		var err error
		if out[i], err = r.transfer(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// See stores what a block shows and answers the row and whether something changed. A ref
// that is known keeps its row: an orphaned one is seen again in the new block, any other one that
// moved gets the new block's fields. What was frozen at first sight stays, except that a re-mined
// transaction may do something else: then an orphaned row takes the new facts with the policy given
// now, and a row decided already only notes the incident in the history. A seen row with other
// facts in a block of the same line is ErrConflict.
func (tx Transfers) See(t Transfer) (Transfer, bool, error) {
	out, changed, err := tx.seeTransfer(t)
	return out, changed, sqlstore.Doing(err, "storing the transfer %s on %s", t.Ref, t.Chain)
}

func (tx Transfers) seeTransfer(t Transfer) (Transfer, bool, error) {
	fresh, err := tx.rowOf(t)
	if err != nil {
		return t, false, err
	}
	var known transferRow
	found, err := tx.get(&known, `SELECT `+transferColumns+` FROM transfers WHERE chain = ? AND ref = ?`, string(t.Chain), t.Ref)
	if err != nil {
		return t, false, err
	}
	if !found || known.State == string(Orphaned) {
		by, err := tx.Balances().bookLateCoin(fresh)
		switch {
		case err != nil:
			return t, false, err
		case by != 0 && found: // it stays orphaned
			out, err := known.transfer()
			return out, false, err
		case by != 0:
			return tx.Balances().addMatched(fresh, by)
		}
	}
	if !found {
		out, err := tx.addTransfer(fresh)
		return out, err == nil, err
	}
	return tx.seeAgain(known, fresh)
}

func (tx Transfers) addTransfer(r transferRow) (Transfer, error) {
	id, err := tx.nextID("transfers")
	if err != nil {
		return Transfer{}, err
	}
	r.ID = id
	_, err = tx.execNamed(`INSERT INTO transfers (`+transferColumns+`) `+sqlstore.NamedValues(transferColumns), r)
	if err != nil {
		return Transfer{}, err
	}
	if err := tx.logTransfer(r.ID, r.State, fmt.Sprintf("%s of %s %s in block %d %s", r.Direction, r.Amount, r.Asset, r.Height, r.BlockHash)); err != nil {
		return Transfer{}, err
	}
	return r.transfer()
}

func (tx *Tx) logTransfer(id uint64, event, detail string) error {
	return tx.log("transfer", fmt.Sprint(id), event, detail)
}

// seeAgain merges a new sighting into the row of its ref.
func (tx Transfers) seeAgain(known, fresh transferRow) (Transfer, bool, error) {
	same := known.sameFacts(fresh)
	switch {
	case known.State == string(Orphaned) && !same:
		return tx.replaceTransfer(known, fresh)
	case known.State == string(Seen) && !same:
		return Transfer{}, false, fmt.Errorf("%w: the ref has another meaning in block %d", ErrConflict, known.Height)
	case known.BlockHash == fresh.BlockHash && known.State != string(Orphaned):
		if same && known.Incident != "" { // the very block that had left the line is back
			if err := tx.Orders().clearIncident(known.ID); err != nil {
				return Transfer{}, false, err
			}
			known.Incident = ""
		}
		t, err := known.transfer()
		return t, false, err
	}
	event := "moved"
	if known.State == string(Orphaned) {
		known.State, event = string(Seen), string(Seen)
	}
	if !same {
		event = "changed_after_decision"
	}
	known.Height, known.BlockHash, known.BlockAt, known.ChangedAt, known.Matures = fresh.Height, fresh.BlockHash, fresh.BlockAt, fresh.ChangedAt, fresh.Matures
	t, err := known.transfer()
	if err == nil {
		known.Due = t.due()
		err = tx.changeNamed(`UPDATE transfers SET state = :state, height = :height, block_hash = :block_hash, block_at = :block_at, changed_at = :changed_at,
			due = :due, matures = :matures WHERE id = :id`, known)
	}
	if err == nil && same && known.Incident != "" {
		err = tx.Orders().clearIncident(known.ID)
	}
	if err == nil {
		err = tx.logTransfer(known.ID, event, fmt.Sprintf("%s %s in block %d %s", fresh.Amount, fresh.Asset, fresh.Height, fresh.BlockHash))
	}
	return t, err == nil, err
}

// replaceTransfer gives an orphaned row the facts of its re-mined transaction. Id, ref and time of
// first sight stay.
func (tx Transfers) replaceTransfer(known, r transferRow) (Transfer, bool, error) {
	r.ID, r.SeenAt = known.ID, known.SeenAt
	err := tx.changeNamed(`UPDATE transfers SET network = :network, direction = :direction, tx = :tx, sender = :sender, account = :account,
		asset = :asset, amount = :amount, memo = :memo, failed = :failed, token = :token, owner = :owner, payee = :payee, payee_label = :payee_label,
		net = :net, fee = :fee, policy = :policy, state = :state, reason = :reason, height = :height, block_hash = :block_hash, block_at = :block_at,
		changed_at = :changed_at, due = :due, matures = :matures WHERE id = :id AND state = 'orphaned'`, r)
	if err == nil {
		err = tx.logTransfer(r.ID, "replaced", fmt.Sprintf("%s %s, failed %t, in block %d %s; before: %s %s, failed %t",
			r.Amount, r.Asset, r.Failed, r.Height, r.BlockHash, known.Amount, known.Asset, known.Failed))
	}
	if err != nil {
		return Transfer{}, false, err
	}
	t, err := r.transfer()
	return t, true, err
}

// Get returns one transfer, or ErrNotFound.
func (tx Transfers) Get(id uint64) (Transfer, error) {
	found, err := tx.Where(`WHERE id = ?`, id)
	if err == nil && len(found) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Transfer{}, fmt.Errorf("reading transfer %d: %w", id, err)
	}
	return found[0], nil
}

// ByID answers transfers by their ids, or ErrNotFound.
func (tx Transfers) ByID(ids []uint64) (map[uint64]Transfer, error) {
	out := make(map[uint64]Transfer, len(ids))
	err := sqlstore.InGroups(ids, func(set string, in []any, _ int) error {
		found, err := tx.Where(`WHERE id IN `+set, in...)
		for _, t := range found {
			out[t.ID] = t
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %d transfers: %w", len(ids), err)
	}
	for _, id := range ids {
		if _, ok := out[id]; !ok {
			return nil, fmt.Errorf("reading transfer %d: %w", id, ErrNotFound)
		}
	}
	return out, nil
}

// Due returns the seen transfers of a chain that the cursor's height or its final point
// decides now: at most limit.
func (tx Transfers) Due(id chain.ID, limit int) ([]Transfer, error) {
	c, err := tx.Chains().Cursor(id)
	if err != nil {
		return nil, err
	}
	found, err := tx.Where(`WHERE chain = ? AND state = 'seen' AND due > 0 AND due <= ? ORDER BY due, height LIMIT ? + 0`, string(id), c.Height, limit)
	if err == nil && len(found) < limit {
		var tagged []Transfer
		tagged, err = tx.Where(`WHERE chain = ? AND state = 'seen' AND due = 0 AND height <= ? ORDER BY height LIMIT ? + 0`,
			string(id), c.Final.Height, limit-len(found))
		found = append(found, tagged...)
	}
	return found, sqlstore.Doing(err, "reading the due transfers of %s", id)
}

// Move moves a transfer from one state to another; docs/records.md has the transitions.
// ErrConflict: it is in another state, the transition does not exist, or its block is not in the
// chain. Also: it is to be orphaned while a payment for it lives or, once decided, without an
// incident.
func (tx Transfers) Move(id uint64, from, to TransferState, reason Reason) error {
	err := tx.moveTransfer(id, from, to, reason)
	return sqlstore.Doing(err, "moving transfer %d from %s to %s", id, from, to)
}

func (tx Transfers) moveTransfer(id uint64, from, to TransferState, reason Reason) error {
	if to == Seen || from == Orphaned && to != Held {
		return fmt.Errorf("%w: this state change is not allowed", ErrConflict)
	}
	if to == Final {
		if err := tx.onLine(id); err != nil {
			return err
		}
	}
	if to == Orphaned {
		if err := tx.mayOrphan(id, from); err != nil {
			return err
		}
	}
	err := tx.change(`UPDATE transfers SET state = ?, reason = ?, changed_at = ? WHERE id = ? AND state = ?`, string(to), sqlstore.Note(string(reason)), tx.millis(), id, string(from))
	if err == nil && hasCome(from) != hasCome(to) {
		err = tx.Treasury().bookDeposit(id, hasCome(to))
	}
	if err != nil {
		return err
	}
	return tx.logTransfer(id, string(to), string(reason))
}

// mayOrphan is ErrConflict while a payment for a transfer lives, and for a decided one that has not
// left the chain.
func (tx Transfers) mayOrphan(id uint64, from TransferState) error {
	live, err := tx.exists(`SELECT 1 FROM payments WHERE transfer_id = ? AND state <> 'void'`, id)
	if err == nil && live {
		err = fmt.Errorf("%w: a payment for it lives", ErrConflict)
	}
	if err != nil || from == Seen {
		return err
	}
	lost, err := tx.exists(`SELECT 1 FROM transfers WHERE id = ? AND incident <> ''`, id)
	if err == nil && !lost {
		err = fmt.Errorf("%w: it is decided, and its block is on the chain", ErrConflict)
	}
	return err
}

// offLine is the condition that the block of a transfer t has left the chain; an incident records
// it when the block was pruned.
const offLine = `t.incident <> '' OR EXISTS (SELECT 1 FROM blocks b WHERE b.chain = t.chain AND b.hash = t.block_hash AND b.canonical = 0)
	OR EXISTS (SELECT 1 FROM blocks b WHERE b.chain = t.chain AND b.height = t.height AND b.canonical = 1 AND b.hash <> t.block_hash)`

// onLine is ErrConflict when the transfer's block is known to have left the line. Blocks that were
// pruned or never followed prove nothing.
func (tx Transfers) onLine(id uint64) error {
	off, err := tx.exists(`SELECT 1 FROM transfers t WHERE t.id = ? AND (`+offLine+`)`, id)
	if err == nil && off {
		return fmt.Errorf("%w: the block of transfer %d is not of the line", ErrConflict, id)
	}
	return err
}
