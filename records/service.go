package records

import (
	"cmp"
	"math"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// rank is the place of a new payment in the round robin of its users: one behind the user's last
// queued payment of the class and asset, else the rank that is being served. So a user with many
// payments waits behind users with few.
func (tx Payments) rank(p Payment, owner string) (rank uint64, err error) {
	if p.TransferID == 0 {
		return 0, nil
	}
	key := []any{string(p.Chain), p.Account, int(ClassOf(p.Purpose)), string(p.Asset)}
	found, err := tx.get(&rank, `SELECT rank FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND owner = ? AND state = 'queued'
		ORDER BY rank DESC LIMIT 1`, append(key, owner)...)
	if err != nil || found {
		return rank + 1, err
	}
	_, err = tx.get(&rank, `SELECT rank FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND state = 'queued'
		ORDER BY rank, id LIMIT 1`, key...)
	return rank, err
}

// QueuedAssets returns which assets the queued payments of an account and class move.
func (tx Payments) QueuedAssets(id chain.ID, account string, class Class) ([]chain.Asset, error) {
	var assets []chain.Asset
	err := tx.list(&assets, `WITH RECURSIVE queued (asset) AS (
		SELECT * FROM (SELECT asset FROM payments WHERE chain = ? AND account = ? AND class = ? AND state = 'queued' ORDER BY asset LIMIT 1) q
		UNION ALL SELECT (SELECT p.asset FROM payments p WHERE p.chain = ? AND p.account = ? AND p.class = ? AND p.state = 'queued' AND p.asset > queued.asset
			ORDER BY p.asset LIMIT 1) FROM queued WHERE queued.asset IS NOT NULL)
		SELECT asset FROM queued WHERE asset IS NOT NULL`, string(id), account, int(class), string(id), account, int(class))
	return assets, sqlstore.Doing(err, "reading the queued assets of %s on %s", account, id)
}

// Queued returns the payments of a class and an asset that wait to be bound to a slot of an
// account, in the order of service: round robin by user, then by age. Credits and refunds of the
// tokens in except are skipped, which costs a read of each of them.
func (tx Payments) Queued(id chain.ID, account string, class Class, asset chain.Asset, limit int, except ...string) ([]Payment, error) {
	var rows []paymentRow
	passed, args := "", []any{string(id), account, int(class), string(asset)}
	for _, token := range except {
		passed, args = passed+` AND (token <> ? OR transfer_id IS NULL)`, append(args, token)
	}
	err := tx.list(&rows, `SELECT `+paymentColumns+` FROM payments WHERE chain = ? AND account = ? AND class = ? AND asset = ? AND state = 'queued'`+passed+`
		ORDER BY rank, id LIMIT ? + 0`, append(args, limit)...)
	return paymentsOf(rows), sqlstore.Doing(err, "reading the queued payments of %s on %s", account, id)
}

// HeldFor returns the payments that are held for a reason and have a higher number than after,
// lowest first, at most limit of them.
func (tx Payments) HeldFor(reason Reason, after uint64, limit int) ([]Payment, error) {
	var rows []paymentRow
	err := tx.list(&rows, `SELECT `+paymentColumns+` FROM payments WHERE state = 'held' AND reason = ? AND id > ? ORDER BY id LIMIT ?`, reason, after, limit)
	return paymentsOf(rows), sqlstore.Doing(err, "reading what is held for %q", reason)
}

// maxHeldOf bounds how many held payments are searched for those of one owner.
const maxHeldOf = 1_000

// HeldDeposit reports whether a credit of an owner's deposit of a token is among the first payments
// that are held for a reason.
func (tx Payments) HeldDeposit(reason Reason, network, token, owner string) (bool, error) {
	var one int
	found, err := tx.get(&one, `SELECT 1 FROM (SELECT transfer_id FROM payments WHERE state = 'held' AND reason = ? AND id > ? ORDER BY id LIMIT ? + 0) p
		JOIN transfers t ON t.id = p.transfer_id WHERE t.network = ? AND t.token = ? AND t.owner = ? AND t.direction = 'deposit' LIMIT 1`,
		reason, 0, maxHeldOf, network, token, owner)
	return found, sqlstore.Doing(err, "finding held deposits of %s", owner)
}

// Moves returns the payments of a purpose without a transfer, such as sweeps, newest first and
// older than before, which is 0 for the newest.
func (tx Payments) Moves(purpose chain.Purpose, before uint64, limit int) ([]Payment, error) {
	var rows []paymentRow
	err := tx.list(&rows, `SELECT `+paymentColumns+` FROM payments WHERE transfer_id IS NULL AND purpose = ? AND id < ? ORDER BY id DESC LIMIT ? + 0`,
		string(purpose), cmp.Or(before, math.MaxInt64), clampLimit(limit))
	return paymentsOf(rows), sqlstore.Doing(err, "reading payments of purpose %s", purpose)
}

// NoteHeld stores why a held payment is held now. ErrConflict: it is not held.
func (tx Payments) NoteHeld(id uint64, reason Reason) error {
	err := tx.change(`UPDATE payments SET reason = ?, changed_at = ? WHERE id = ? AND state = 'held'`, sqlstore.Note(string(reason)), tx.millis(), id)
	if err == nil {
		err = tx.logPayment(id, string(HeldPayment), string(reason))
	}
	return sqlstore.Doing(err, "noting why payment %d is held", id)
}

// NoteWaiting stores why a queued payment waits, for people: it changes nothing about the payment,
// and binding it clears the note. ErrConflict: it is not queued.
func (tx Payments) NoteWaiting(id uint64, reason Reason) error {
	err := tx.change(`UPDATE payments SET reason = ?, changed_at = ? WHERE id = ? AND state = 'queued'`, sqlstore.Note(string(reason)), tx.millis(), id)
	if err == nil {
		err = tx.logPayment(id, string(Queued), string(reason))
	}
	return sqlstore.Doing(err, "noting why payment %d waits", id)
}
