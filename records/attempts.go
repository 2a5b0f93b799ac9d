package records

import (
	"encoding/base64"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// Kinds of an attempt.
const (
	AttemptPay     = "pay"
	AttemptReplace = "replace"
	AttemptCancel  = "cancel"
)

type attemptRow struct {
	Chain     string       `db:"chain"`
	Account   string       `db:"account"`
	Branch    uint64       `db:"lineage"`
	Number    uint64       `db:"number"`
	Seq       int          `db:"seq"`
	Kind      string       `db:"kind"`
	Hash      string       `db:"hash"`
	Raw       string       `db:"raw"`
	Tip       chain.Amount `db:"tip"`
	Cap       chain.Amount `db:"cap"`
	Head      uint64       `db:"head"`
	CreatedAt int64        `db:"created_at"`
}

const attemptColumns = `chain, account, lineage, number, seq, kind, hash, raw, tip, cap, head, created_at`

func (r attemptRow) attempt() (Attempt, error) {
	raw, err := base64.StdEncoding.DecodeString(r.Raw)
	if err != nil {
		return Attempt{}, fmt.Errorf("the bytes of attempt %s: %w", r.Hash, err)
	}
	return Attempt{
		Attempt: chain.Attempt{Seq: r.Seq, Hash: r.Hash, Raw: raw, TipCap: r.Tip, FeeCap: r.Cap},
		Kind:    r.Kind, Head: r.Head, CreatedAt: sqlstore.FromMillis(r.CreatedAt),
	}, nil
}

// Signed is an attempt with the slot that it was signed for.
type Signed struct {
	Slot    Slot
	Attempt Attempt
}

// AddAttempt is AddAttempts of one: why it is refused is the error.
func (tx Slots) AddAttempt(s Slot, a Attempt) error {
	_, refused, err := tx.AddAttempts(Signed{s, a})
	if err == nil {
		err = refused
	}
	return err
}

// AddAttempts stores signed transactions of open slots on one chain, before they are sent. Seq
// counts from 0 without gaps. Attempts are never changed and never deleted. Head is set from the
// chain's cursor. stored is the number of stored attempts, from the list's beginning. refused is
// the reason for the next one, with ErrConflict: the slot is not open, the seq is not the next, or
// the hash is known. After any other error the transaction must not be committed.
func (tx Slots) AddAttempts(list ...Signed) (stored int, refused, err error) {
	if len(list) == 0 {
		return 0, nil, nil
	}
	stored, refused, err = tx.addAttempts(list[0].Slot.Chain, list)
	if err != nil {
		return 0, nil, fmt.Errorf("storing %d attempts: %w", len(list), err)
	}
	if refused != nil {
		s := list[stored]
		refused = fmt.Errorf("storing attempt %d of slot %s: %w", s.Attempt.Seq, s.Slot.name(), refused)
	}
	return stored, refused, nil
}

func (tx Slots) addAttempts(id chain.ID, list []Signed) (stored int, refused, err error) {
	open, err := tx.nextAttempts(list)
	if err != nil {
		return 0, nil, err
	}
	known, err := tx.knownHashes(id, list)
	if err != nil {
		return 0, nil, err
	}
	for _, s := range list {
		if refused = mayAdd(id, s, open, known); refused != nil {
			break
		}
		if ok, err := tx.Coins().spend(s.Slot, s.Attempt.Coins); err != nil || !ok {
			if err != nil {
				return 0, nil, err
			}
			refused = fmt.Errorf("%w: another slot uses one of its coins", ErrConflict)
			break
		}
		stored++
	}
	return stored, refused, tx.putAttempts(id, list[:stored])
}

// mayAdd returns the reason why an attempt may not be stored. An accepted one counts as stored for
// those after it.
func mayAdd(id chain.ID, s Signed, open map[slotKey]int, known map[string]bool) error {
	key := s.Slot.key()
	next, ok := open[key]
	switch {
	case s.Slot.Chain != id || !ok:
		return fmt.Errorf("%w: the slot is not open", ErrConflict)
	case s.Attempt.Seq != next:
		return fmt.Errorf("%w: attempt %d is next", ErrConflict, next)
	case known[s.Attempt.Hash]:
		return fmt.Errorf("%w: the hash %s is stored already", ErrConflict, s.Attempt.Hash)
	}
	open[key], known[s.Attempt.Hash] = next+1, true
	return nil
}

// slotKey identifies a slot.
type slotKey struct {
	chain, account            string
	branch, number, paymentID uint64
}

func (s Slot) key() slotKey {
	return slotKey{string(s.Chain), s.Account, s.Branch, s.Nonce, s.PaymentID}
}

// nextAttempts returns which seq the next attempt has, of those slots that are open.
func (tx Slots) nextAttempts(list []Signed) (map[slotKey]int, error) {
	payments := make([]uint64, len(list))
	for i, s := range list {
		payments[i] = s.Slot.PaymentID
	}
	out := make(map[slotKey]int, len(list))
	err := sqlstore.InGroups(payments, func(set string, in []any, _ int) error {
		var rows []struct {
			slotRow
			Next int `db:"next"`
		}
		err := tx.list(&rows, `SELECT `+qualified("s", slotColumns)+`, (SELECT COALESCE(MAX(a.seq) + 1, 0) FROM attempts a
			WHERE a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number) AS next
			FROM slots s WHERE s.payment_id IN `+set+` AND s.state = 'open'`, in...)
		for _, r := range rows {
			out[r.slot().key()] = r.Next
		}
		return err
	})
	return out, err
}

// knownHashes returns which of the attempts' hashes a chain's attempts have already.
func (tx Slots) knownHashes(id chain.ID, list []Signed) (map[string]bool, error) {
	out := map[string]bool{}
	err := sqlstore.InGroups(hashesOf(list), func(set string, in []any, _ int) error {
		var known []string
		err := tx.list(&known, `SELECT hash FROM attempts WHERE chain = ? AND hash IN `+set, append([]any{string(id)}, in...)...)
		for _, hash := range known {
			out[hash] = true
		}
		return err
	})
	return out, err
}

func hashesOf(list []Signed) []string {
	hashes := make([]string, len(list))
	for i, s := range list {
		hashes[i] = s.Attempt.Hash
	}
	return hashes
}

// putAttempts stores attempts that may be stored.
func (tx Slots) putAttempts(id chain.ID, list []Signed) error {
	c, err := tx.Chains().Cursor(id)
	if err != nil {
		return err
	}
	rows := make([][]any, len(list))
	for i, s := range list {
		a := s.Attempt
		rows[i] = []any{
			string(id), s.Slot.Account, s.Slot.Branch, s.Slot.Nonce, a.Seq, a.Kind, a.Hash, base64.StdEncoding.EncodeToString(a.Raw), a.TipCap, a.FeeCap, c.Height, tx.millis(),
		}
	}
	if err := tx.insert(`attempts (`+attemptColumns+`)`, rows, ""); err != nil {
		return err
	}
	if err := tx.linkSeen(id, list); err != nil {
		return err
	}
	for _, s := range list {
		if err := tx.logPayment(s.Slot.PaymentID, "attempt_"+s.Attempt.Kind, fmt.Sprintf("%s in slot %s", s.Attempt.Hash, s.Slot.name())); err != nil {
			return err
		}
	}
	return nil
}

// linkSeen links attempts with the blocks that have shown them already: a restored database signs
// the same bytes again.
func (tx Slots) linkSeen(id chain.ID, list []Signed) error {
	seen, err := int64(0), error(nil)
	for account, numbers := range numbersOf(list) {
		if err == nil {
			err = sqlstore.InGroups(numbers, func(set string, in []any, _ int) error {
				n, err := tx.exec(`UPDATE effects SET known = 1 WHERE chain = ? AND account = ?
					AND EXISTS (SELECT 1 FROM attempts a WHERE a.chain = effects.chain AND a.hash = effects.tx) AND number IN `+set, append([]any{string(id), account}, in...)...)
				seen += n
				return err
			})
		}
	}
	for _, s := range list {
		if err == nil && seen > 0 && s.Slot.Branch != operatorLine {
			err = tx.linkSeenOne(id, s)
		}
	}
	return err
}

// numbersOf are the numbers of what each account has signed.
func numbersOf(list []Signed) map[string][]uint64 {
	out := map[string][]uint64{}
	for _, s := range list {
		out[s.Slot.Account] = append(out[s.Slot.Account], s.Slot.Nonce)
	}
	return out
}

// linkSeenOne links an attempt with the block that contains it, if one was read already. A final
// block that was skipped then is processed again.
func (tx Slots) linkSeenOne(id chain.ID, s Signed) error {
	hash := s.Attempt.Hash
	where := []any{string(id), s.Slot.Account, s.Slot.Nonce, hash}
	if _, err := tx.exec(`UPDATE effects SET settled = 0 WHERE chain = ? AND account = ? AND number = ? AND tx = ? AND settled = 1`, where...); err != nil {
		return err
	}
	var block string
	found, err := tx.get(&block, `SELECT e.block_hash FROM effects e WHERE e.chain = ? AND e.account = ? AND e.number = ? AND e.tx = ?
		AND EXISTS (SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1)`, where...)
	if err != nil || !found {
		return err
	}
	return tx.OwnTxs().markMined(id, []OwnTx{{BlockHash: block, OwnTx: chain.OwnTx{Tx: hash}}}, map[string]attemptSlot{hash: {s.Slot.Account, s.Slot.Branch, s.Slot.Nonce}})
}

// Attempts returns the attempts of a slot in order.
func (tx Slots) Attempts(s Slot) ([]Attempt, error) {
	var rows []attemptRow
	err := tx.list(&rows, `SELECT `+attemptColumns+` FROM attempts WHERE chain = ? AND account = ? AND lineage = ? AND number = ? ORDER BY seq`,
		string(s.Chain), s.Account, s.Branch, s.Nonce)
	if err != nil {
		return nil, fmt.Errorf("reading the attempts of slot %s: %w", s.name(), err)
	}
	out := make([]Attempt, len(rows))
	for i, r := range rows {
		if out[i], err = r.attempt(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// AttemptByHash returns the attempt with a hash and the slots of its payments in order, none when
// the hash is none of ours.
func (tx Slots) AttemptByHash(id chain.ID, hash string) ([]Slot, Attempt, error) {
	var r attemptRow
	found, err := tx.get(&r, `SELECT `+attemptColumns+` FROM attempts WHERE chain = ? AND hash = ?`, string(id), hash)
	if err != nil || !found {
		return nil, Attempt{}, err
	}
	rows, err := tx.slotRows(`WHERE chain = ? AND account = ? AND lineage = ? AND number = ? ORDER BY place`, r.Chain, r.Account, r.Branch, r.Number)
	if err != nil {
		return nil, Attempt{}, fmt.Errorf("reading the slots of attempt %s: %w", hash, err)
	}
	a, err := r.attempt()
	return sqlstore.Each(rows, slotRow.slot), a, err
}
