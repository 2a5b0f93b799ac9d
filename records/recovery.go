package records

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Recovery resolves transactions of our accounts that no slot explains, and resumes the accounts.
type Recovery struct{ *Tx }

// Recovery returns the statements on recovery.
func (tx *Tx) Recovery() Recovery { return Recovery{tx} }

// operatorLine is the branch of slots that an operator has settled: they are on the ledger's chain
// and on no branch that we signed.
const operatorLine = 1 << 62

// accepted is an operator's word that explains an own transaction e which we did not sign.
const accepted = `EXISTS (SELECT 1 FROM history h WHERE h.subject = 'account' AND h.subject_id = e.account AND h.event = 'accepted'
	AND substr(h.detail, 1, length(e.tx) + 1) = e.tx || ' ')`

// UnknownTxs returns the final transactions of an account that, by our records, we did not sign and
// that no operator has settled or accepted; by number. Transactions before the account's adoption
// are history.
func (tx Recovery) UnknownTxs(id chain.ID, account string) ([]OwnTx, error) {
	out, err := tx.unknownTxs(id, account, `AND NOT `+accepted)
	return out, sqlstore.Doing(err, "reading the foreign transactions of %s on %s", account, id)
}

func (tx Recovery) unknownTxs(id chain.ID, account, but string) ([]OwnTx, error) {
	var rows []ownTxRow
	err := tx.list(&rows, `SELECT e.chain, e.tx, e.block_hash, e.height, e.account, e.number, e.ok, e.void, e.fee, e.payee, e.members, COALESCE(e.value, '0') AS value FROM effects e
		JOIN accounts a ON a.chain = e.chain AND a.account = e.account AND a.state <> 'new' AND e.number >= a.base
		WHERE e.chain = ? AND e.account = ? AND e.known = 0 AND e.settled = 1 `+but+` ORDER BY e.number`, string(id), account)
	return sqlstore.Each(rows, ownTxRow.ownTx), err
}

// Unexplained returns the accounts of a chain that have UnknownTxs.
func (tx Recovery) Unexplained(id chain.ID) ([]string, error) {
	var accounts []string
	err := tx.list(&accounts, `SELECT DISTINCT e.account FROM effects e
		JOIN accounts a ON a.chain = e.chain AND a.account = e.account AND a.state <> 'new' AND e.number >= a.base
		WHERE e.chain = ? AND e.known = 0 AND e.settled = 1 AND NOT `+accepted+` ORDER BY e.account`, string(id))
	return accounts, sqlstore.Doing(err, "finding foreign transactions on %s", id)
}

// unknownTx is the unexplained transaction of a stopped account with a hash.
func (tx Recovery) unknownTx(a Account, hash string) (OwnTx, error) {
	if a.State != AccountHalted && a.State != AccountRecovering {
		return OwnTx{}, fmt.Errorf("%w: the account is %s", ErrConflict, a.State)
	}
	list, err := tx.UnknownTxs(a.Chain, a.Account)
	if err != nil {
		return OwnTx{}, err
	}
	for _, e := range list {
		if e.Tx == hash {
			return e, nil
		}
	}
	return OwnTx{}, fmt.Errorf("%w: %s is not an unexplained final transaction of %s", ErrConflict, hash, a.Account)
}

// AcceptUnknownTx records in the history that an operator knows of an unknown transaction, and why
// it pays none of our liabilities. ErrConflict: the account is not stopped, or the transaction is
// none of its UnknownTxs.
func (tx Recovery) AcceptUnknownTx(id chain.ID, account, hash, why string) error {
	a, err := tx.Accounts().Get(id, account)
	if err == nil {
		_, err = tx.unknownTx(a, hash)
	}
	if err == nil {
		err = tx.log("account", account, "accepted", hash+" "+why)
	}
	return sqlstore.Doing(err, "accepting %s", hash)
}

// SettleUnknownTx records that an unknown transaction of the payments' account paid them: the one
// that it made or, of a batch, each by its place; zero for none of ours. The payments get slots
// with the transaction as their attempt, and are paid permanently. The caller must verify payees
// and amounts. Slots that the final transaction excludes become void first. ErrConflict: the
// account is not stopped, or the transaction is none of its UnknownTxs or failed. Also: a payment
// is not queued or held, or a slot of it is not decided.
func (tx Recovery) SettleUnknownTx(hash string, payments ...uint64) error {
	return sqlstore.Doing(tx.settleUnknownTx(hash, payments), "settling payments %v by %s", payments, hash)
}

func (tx Recovery) settleUnknownTx(hash string, payments []uint64) error {
	first := slices.IndexFunc(payments, func(id uint64) bool { return id != 0 })
	if first < 0 {
		return fmt.Errorf("%w: no payments", ErrConflict)
	}
	p, err := tx.Payments().Get(payments[first])
	if err != nil {
		return err
	}
	a, err := tx.Accounts().Get(p.Chain, p.Account)
	if err != nil {
		return err
	}
	e, err := tx.unknownTx(a, hash)
	if err == nil && !e.OK {
		err = fmt.Errorf("%w: the transaction failed on chain", ErrConflict)
	}
	if err == nil {
		err = tx.voidBlockedSlots(a)
	}
	if err != nil {
		return err
	}
	var slots []Slot
	for place, id := range payments {
		if id == 0 {
			continue
		}
		s, err := tx.operatorSlot(id, e, place)
		if err != nil {
			return err
		}
		slots = append(slots, s)
	}
	if err := tx.Slots().AddAttempt(slots[0], Attempt{Attempt: chain.Attempt{Hash: hash}, Kind: AttemptPay}); err != nil {
		return err
	}
	for _, s := range slots {
		if err := tx.Slots().SettlePaid(s, hash, e.BlockHash); err != nil {
			return err
		}
	}
	return nil
}

// operatorSlot binds a waiting payment to the number that a unknown transaction used.
func (tx Recovery) operatorSlot(paymentID uint64, e OwnTx, place int) (Slot, error) {
	undecided, err := tx.exists(`SELECT 1 FROM slots WHERE payment_id = ? AND state IN ('open','forked')`, paymentID)
	if err != nil {
		return Slot{}, err
	}
	if undecided {
		return Slot{}, fmt.Errorf("%w: a slot of it is not decided", ErrConflict)
	}
	p, err := tx.Payments().Get(paymentID)
	if err == nil && p.State == HeldPayment {
		err = tx.Payments().Move(paymentID, HeldPayment, Queued, ReasonOperator)
	}
	if err != nil {
		return Slot{}, err
	}
	s := Slot{
		Chain: e.Chain, Account: e.Account, Branch: operatorLine, Nonce: e.Number, Place: place, PaymentID: p.ID, Gen: p.Gen, State: SlotOpen,
		CreatedAt: tx.now, ChangedAt: tx.now,
	}
	if err := tx.Slots().openSlots([]Slot{s}); err != nil {
		return Slot{}, err
	}
	return s, tx.logPayment(p.ID, string(ReasonOperator), fmt.Sprintf("%s at number %d paid it, by an operator's order", e.Tx, e.Number))
}

// VoidBlocked voids every slot of a stopped account that a final unknown transaction has shut
// out, so that the payments wait for a slot again. ErrConflict: the account is not stopped.
func (tx Recovery) VoidBlocked(id chain.ID, account string) error {
	a, err := tx.Accounts().Get(id, account)
	if err == nil && a.State != AccountHalted && a.State != AccountRecovering {
		err = fmt.Errorf("%w: the account is %s", ErrConflict, a.State)
	}
	if err == nil {
		err = tx.voidBlockedSlots(a)
	}
	return sqlstore.Doing(err, "voiding what was shut out of %s on %s", account, id)
}

// voidBlockedSlots voids every undecided slot of an account that can never be used any more: a
// final unknown transaction has its number or, where the ledger links blocks, a lower one: every
// line of ours has another block there. The payments are queued again.
func (tx Recovery) voidBlockedSlots(a Account) error {
	unknown, err := tx.unknownTxs(a.Chain, a.Account, "")
	if err != nil {
		return err
	}
	for _, e := range unknown {
		if err := tx.voidDisplaced(e); err != nil {
			return err
		}
		rows, err := tx.Slots().slotRows(`WHERE chain = ? AND account = ? AND state IN ('open','forked') AND (number = ? OR number > ? AND lineage > 0)
			ORDER BY number, lineage`, string(a.Chain), a.Account, e.Number, e.Number)
		if err != nil {
			return err
		}
		if err := tx.Slots().checkFinal(a.Chain, e.BlockHash); err != nil && len(rows) > 0 {
			return err
		}
		for _, r := range rows {
			if err := tx.Slots().voidSlot(r.slot(), e.Tx, e.BlockHash, "it has a foreign transaction", Queued); err != nil {
				return err
			}
		}
	}
	return nil
}

// voidDisplaced is voidBlockedSlots on a ledger of coins: a transaction may spend the coins of
// several slots.
func (tx Recovery) voidDisplaced(e OwnTx) error {
	slots, err := tx.Coins().Displaced(e.Chain, e.Tx, e.BlockHash)
	for _, s := range slots {
		if err == nil {
			err = tx.Slots().voidSlot(s, e.Tx, e.BlockHash, CoinSpent, Queued)
		}
	}
	return err
}

// CanSettleUnknownTx reports whether a payment that is not paid may be settled by a unknown
// transaction: no slot of it can pay it any more, or it has none.
func (tx Recovery) CanSettleUnknownTx(p Payment) (bool, error) {
	_, differs, err := tx.Orders().DifferingTx(p.ID)
	if err != nil || differs {
		return false, err
	}
	slots, err := tx.Slots().Of(p.ID)
	if err != nil {
		return false, err
	}
	unknown, err := tx.unknownTxs(p.Chain, p.Account, "")
	if err != nil {
		return false, fmt.Errorf("reading the foreign transactions of %s on %s: %w", p.Account, p.Chain, err)
	}
	for _, s := range slots {
		undecided := s.State == SlotOpen || s.State == SlotForked
		if undecided && !slices.ContainsFunc(unknown, func(e OwnTx) bool { return blocks(e, s) }) {
			return false, nil
		}
	}
	return true, nil
}

// blocks is the rule of voidBlockedSlots.
func blocks(e OwnTx, s Slot) bool {
	return e.Number == s.Nonce || s.Branch > 0 && e.Number < s.Nonce
}

// Resumption is the point at which a stopped account continues.
type Resumption struct {
	Next   uint64 // the ledger's next free number; nothing of the account waits there below the final point
	Hash   string // hash of the account's last block, where the ledger links them
	Branch uint64 // the newest that the sign-guard knows
	Signed bool   // the sign-guard knows signatures
	First  uint64 // the number of the first of them
	Coins  bool   // the ledger counts no numbers: Next is by our records
}

// Resume lets a stopped account sign again, from the present state of its ledger. Slots that
// final unknown transactions exclude become void and their payments are queued again. Where the
// ledger counts nonces, open slots at Next and above do not change. Where it links blocks, only the
// signed ones that follow the account's last block stay, and a new branch excludes the others.
// ErrConflict: the account is not stopped, a final transaction of it is not explained, a block with
// one of its numbers was not read yet, or a slot below Next is not decided.
func (tx Recovery) Resume(id chain.ID, account string, at Resumption) error {
	a, err := tx.Accounts().Get(id, account)
	if err == nil {
		err = tx.resumeAccount(a, at)
	}
	return sqlstore.Doing(err, "resuming the account %s on %s at %d", account, id, at.Next)
}

func (tx Recovery) resumeAccount(a Account, at Resumption) error {
	if err := tx.checkResume(a, at); err != nil {
		return err
	}
	before := a.State
	a.Base, a.Next = at.Next, max(a.Next, at.Next)
	if at.Hash != "" {
		if err := tx.resumeLine(&a, at); err != nil {
			return err
		}
	}
	err := tx.change(`UPDATE accounts SET state = 'ok', why = '', lineage = ?, base = ?, next = ? WHERE chain = ? AND account = ? AND state = ?`,
		a.Branch, a.Base, a.Next, string(a.Chain), a.Account, string(before))
	if err != nil {
		return err
	}
	return tx.log("account", a.Account, "resumed", fmt.Sprintf("on %s, lineage %d, base %d, next %d %s", a.Chain, a.Branch, a.Base, a.Next, at.Hash))
}

// resumeLine begins a branch behind the signed slots that continue from the account's last block:
// their bytes are known and stay valid. All other open slots are excluded, and so is every
// signature missing in the records.
func (tx Recovery) resumeLine(a *Account, at Resumption) error {
	open, err := tx.Slots().Open(a.Chain, a.Account)
	if err != nil {
		return err
	}
	next, hash := at.Next, at.Hash
	for _, o := range open {
		if o.Nonce != next || o.Prev != hash || len(o.Attempts) == 0 {
			break
		}
		next, hash = next+1, o.Attempts[len(o.Attempts)-1].Hash
	}
	const why = "an operator resumed the account"
	if err := tx.Slots().forkSlots(a, next, hash, why); err != nil {
		return err
	}
	a.Branch, a.Next = max(a.Branch, at.Branch)+1, next
	return tx.Accounts().addBranch(*a, next, hash, why)
}

func (tx Recovery) checkResume(a Account, at Resumption) error {
	switch {
	case a.State != AccountHalted && a.State != AccountRecovering:
		return fmt.Errorf("%w: the account is %s", ErrConflict, a.State)
	case at.Hash == "" && (a.Branch != 0 || at.Branch != 0):
		return errors.New("resumption hash: empty where the ledger links blocks")
	case at.Next < a.Base:
		return fmt.Errorf("%w: it was adopted at %d, the ledger is at %d", ErrConflict, a.Base, at.Next)
	}
	unknown, err := tx.UnknownTxs(a.Chain, a.Account)
	if err != nil {
		return err
	}
	if len(unknown) > 0 {
		return fmt.Errorf("%w: %s is not explained, and so %d in all", ErrConflict, unknown[0].Tx, len(unknown))
	}
	if err := tx.CheckRead(a, at); err != nil {
		return err
	}
	if err := tx.voidBlockedSlots(a); err != nil {
		return err
	}
	undecided, err := tx.exists(`SELECT 1 FROM slots WHERE chain = ? AND account = ? AND number < ? AND state IN ('open','forked')`,
		string(a.Chain), a.Account, at.Next)
	if err == nil && undecided {
		err = fmt.Errorf("%w: a slot below %d is not decided", ErrConflict, at.Next)
	}
	return err
}

// CheckRead requires that every number that the ledger has used since the account's adoption is in
// a final block that we have read: another transaction there may have paid our liability. For an
// account that was never adopted, the sign-guard's first signature is the beginning. ErrConflict
// otherwise.
func (tx Recovery) CheckRead(a Account, at Resumption) error {
	if at.Coins { // at.Next is by what we have read
		return nil
	}
	from, adopted := a.Base, a.Base != 0 || a.Next != 0
	if !adopted {
		from = at.First
	}
	if !adopted && !at.Signed || at.Next <= from {
		return nil
	}
	var seen uint64
	err := tx.one(&seen, `SELECT COUNT(DISTINCT number) FROM effects WHERE chain = ? AND account = ? AND settled = 1 AND number >= ? AND number < ?`,
		string(a.Chain), a.Account, from, at.Next)
	if err != nil || seen == at.Next-from {
		return err
	}
	err = fmt.Errorf("%w: the ledger used %d numbers since %d, final blocks that we have read show %d", ErrConflict, at.Next-from, from, seen)
	if !adopted {
		err = fmt.Errorf("%w; these records begin after the account's first signature, and what they owe may be paid: put a backup of them back", err)
	}
	return err
}

// ByHash returns what a transaction of ours did in a final block; false when no final block
// that we have read has it.
func (tx OwnTxs) ByHash(hash string) (OwnTx, bool, error) {
	var r ownTxRow
	const columns = `SELECT e.chain, e.tx, e.block_hash, e.height, e.account, e.number, e.ok, e.void, e.fee, e.members `
	found, err := tx.get(&r, columns+`FROM effects e WHERE e.chain IN (SELECT c.chain FROM cursors c) AND e.tx = ? AND e.known = 0 AND e.settled = 1
		UNION ALL `+columns+`FROM attempts a CROSS JOIN effects e
		WHERE a.chain IN (SELECT c.chain FROM cursors c) AND a.hash = ? AND e.chain = a.chain AND e.account = a.account AND e.number = a.number AND e.tx = a.hash AND e.settled = 1
		UNION ALL `+columns+`FROM cancels a CROSS JOIN effects e
		WHERE a.chain IN (SELECT c.chain FROM cursors c) AND a.hash = ? AND e.chain = a.chain AND e.account = a.account AND e.number = a.number AND e.tx = a.hash AND e.settled = 1
		LIMIT 1`, hash, hash, hash)
	return r.ownTx(), found, sqlstore.Doing(err, "finding transaction %s", hash)
}

// Unpaid returns the payments of an account that are queued, held or bound, oldest first.
func (tx Recovery) Unpaid(id chain.ID, account string) ([]Payment, error) {
	var rows []paymentRow
	err := tx.list(&rows, `SELECT `+paymentColumns+` FROM payments WHERE chain = ? AND account = ? AND state IN ('queued','held','bound') ORDER BY id`,
		string(id), account)
	return paymentsOf(rows), sqlstore.Doing(err, "reading the unpaid payments of %s on %s", account, id)
}

// Refundable returns the transfers on a chain that brought an amount, or have it left after the fee
// of a withdrawal, and are neither credited nor refunded yet, oldest first.
func (tx Recovery) Refundable(id chain.ID, asset chain.Asset, amount chain.Amount) ([]Transfer, error) {
	out, err := tx.Transfers().Where(`WHERE chain = ? AND asset = ? AND (amount = ? OR (net = ? AND direction = 'withdrawal')) AND direction <> 'funding'
		AND (state IN ('final','held') OR state = 'refused' AND (reason = 'dust' OR reason = 'below_minimum' AND direction = 'deposit'))
		AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.transfer_id = transfers.id AND p.purpose IN ('credit','refund') AND p.state = 'paid')
		ORDER BY id`, string(id), string(asset), amount, amount)
	return out, sqlstore.Doing(err, "finding refunds of %s %s on %s", amount, asset, id)
}

// StoppedAccounts returns the accounts of a chain that are halted or recovering, by account.
func (tx Recovery) StoppedAccounts(id chain.ID) ([]Account, error) {
	var rows []accountRow
	err := tx.list(&rows, `SELECT `+accountColumns+` FROM accounts WHERE chain = ? AND state IN ('halted','recovering') ORDER BY account`, string(id))
	return sqlstore.Each(rows, accountRow.account), sqlstore.Doing(err, "reading the stopped accounts of %s", id)
}

// BlockAt returns the hash of our line's block at a height; false when it is not known.
func (tx Chains) BlockAt(id chain.ID, height uint64) (hash string, found bool, err error) {
	found, err = tx.get(&hash, `SELECT hash FROM blocks WHERE chain = ? AND height = ? AND canonical = 1`, string(id), height)
	return hash, found, sqlstore.Doing(err, "reading block %d of %s", height, id)
}

// AddCancel stores a signed cancellation of a number that no slot of ours has, before it is sent.
// Seq counts from 0 without gaps. Only an account that is recovering has some; ErrConflict
// otherwise.
func (tx Recovery) AddCancel(id chain.ID, account string, number uint64, a chain.Attempt) error {
	return sqlstore.Doing(tx.addCancel(id, account, number, a), "storing cancellation %d of number %d of %s on %s", a.Seq, number, account, id)
}

func (tx Recovery) addCancel(id chain.ID, account string, number uint64, a chain.Attempt) error {
	of, err := tx.Accounts().Get(id, account)
	if err != nil {
		return err
	}
	if of.State != AccountRecovering || of.Branch != 0 || number < of.Next {
		return fmt.Errorf("%w: the account is %s and its next number %d", ErrConflict, of.State, of.Next)
	}
	known, err := tx.Cancels(id, account, number)
	if err != nil {
		return err
	}
	if a.Seq != len(known) {
		return fmt.Errorf("%w: cancellation %d is next", ErrConflict, len(known))
	}
	c, err := tx.Chains().Cursor(id)
	if err != nil {
		return err
	}
	_, err = tx.execNamed(`INSERT INTO cancels (chain, account, number, seq, hash, raw, tip, cap, head, created_at)
		VALUES (:chain, :account, :number, :seq, :hash, :raw, :tip, :cap, :head, :created_at)`, attemptRow{
		Chain: string(id), Account: account, Number: number, Seq: a.Seq, Hash: a.Hash, Raw: base64.StdEncoding.EncodeToString(a.Raw),
		Tip: a.TipCap, Cap: a.FeeCap, Head: c.Height, CreatedAt: tx.millis(),
	})
	if err == nil {
		err = tx.OwnTxs().markKnown(id, account, number, a.Hash)
	}
	if err != nil {
		return err
	}
	return tx.log("account", account, "cancels", fmt.Sprintf("number %d on %s by %s", number, id, a.Hash))
}

// Cancels returns the cancellations signed at a number, in order.
func (tx Recovery) Cancels(id chain.ID, account string, number uint64) ([]Attempt, error) {
	var rows []attemptRow
	err := tx.list(&rows, `SELECT chain, account, 0 AS lineage, number, seq, 'cancel' AS kind, hash, raw, tip, cap, head, created_at
		FROM cancels WHERE chain = ? AND account = ? AND number = ? ORDER BY seq`, string(id), account, number)
	if err != nil {
		return nil, fmt.Errorf("reading the cancellations of number %d of %s on %s: %w", number, account, id, err)
	}
	out := make([]Attempt, len(rows))
	for i, r := range rows {
		if out[i], err = r.attempt(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// IsCancel reports whether a transaction is a stored cancellation.
func (tx Recovery) IsCancel(id chain.ID, hash string) (bool, error) {
	return tx.exists(`SELECT 1 FROM cancels WHERE chain = ? AND hash = ?`, string(id), hash)
}
