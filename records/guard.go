package records

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/records/sqlstore"
)

// ErrOtherGuard means that the records belong to another sign-guard than the present one.
var ErrOtherGuard = errors.New("another sign-guard")

// Guard is the sign-guard as the records have last seen it.
type Guard struct {
	ID      string `json:"id"`
	Commits uint64 `json:"commits"` // they never fall: a guard with fewer is older than the records
}

const guardKey = "sign_guard"

// GuardOf is the sign-guard that these records go with; false for records of before there were ids,
// and for new ones.
func GuardOf(tx *Tx) (g Guard, found bool, err error) {
	var text string
	found, err = tx.SQL().Get(&text, `SELECT value FROM meta WHERE key = ?`, guardKey)
	if err == nil && found {
		err = json.Unmarshal([]byte(text), &g)
	}
	return g, found, sqlstore.Doing(err, "reading which sign-guard the records go with")
}

// NoteGuard stores how many commits the sign-guard has made. It is ErrOtherGuard for another one
// than the records go with; records without one adopt it.
func NoteGuard(tx *Tx, now Guard) error {
	was, found, err := GuardOf(tx)
	switch {
	case err != nil:
		return err
	case found && was.ID != now.ID:
		return fmt.Errorf("%w: the records go with %s, and %s is there", ErrOtherGuard, was.ID, now.ID)
	case found && was.Commits >= now.Commits:
		return nil
	}
	return setGuard(tx, now)
}

// AdoptGuard takes a sign-guard that may know less than the records go with: every account that
// pays is halted, and an operator resumes each once what it has signed is explained. It answers the
// accounts.
func AdoptGuard(tx *Tx, now Guard, chains []chain.ID, why string) (halted []Account, err error) {
	for _, id := range chains {
		accounts, err := tx.Accounts().List(id, KindHot, KindGas, KindGateway)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if a.State == AccountNew {
				continue // it has signed nothing for these records
			}
			if err := tx.Accounts().SetState(id, a.Account, AccountHalted, why); err != nil {
				return nil, err
			}
			halted = append(halted, a)
		}
	}
	if err := noteLacking(tx, halted); err != nil {
		return nil, err
	}
	return halted, setGuard(tx, now)
}

// End is the last signature of an account in its sign-guard.
type GuardEnd struct {
	Account Account
	Branch  uint64
	Number  uint64 // after the highest in the branch
	Known   bool   // it has signed at all
}

// lackingKey is the meta key of what the sign-guard is known to lack: by branch of an account, the
// number below which missing signatures halt the account no more, because it was halted for them
// before.
const lackingKey = "sign_guard_lacks"

// HaltLacking halts the accounts whose signatures in the records the sign-guard lacks, and returns
// them. It is older than these records, even if its count of commits is only slightly lower. A gap
// is reported once; when an operator has let the account continue, only a larger gap halts it
// again.
func HaltLacking(tx *Tx, ends []GuardEnd) (halted []Account, err error) {
	told, err := knownLacking(tx)
	if err != nil {
		return nil, err
	}
	still := maps.Clone(told) // entries of other chains stay
	maps.DeleteFunc(still, func(branch string, _ uint64) bool {
		return slices.ContainsFunc(ends, func(e GuardEnd) bool { return strings.HasPrefix(branch, string(e.Account.Chain)+" ") })
	})
	for _, e := range ends {
		a, err := tx.Accounts().Get(e.Account.Chain, e.Account.Account)
		if err != nil {
			return nil, err
		}
		signed, err := signedTo(tx, a)
		if err != nil {
			return nil, err
		}
		if signed == 0 || e.Known && (e.Branch > a.Branch || e.Branch == a.Branch && e.Number >= signed) {
			continue
		}
		still[branchOf(a)] = signed
		if told[branchOf(a)] >= signed {
			continue
		}
		knows := "none of it"
		if e.Known {
			knows = fmt.Sprintf("those up to %d/%d", e.Branch, e.Number)
		}
		a.State, a.Why = AccountHalted, fmt.Sprintf("the sign-guard is older than these records: of the signatures up to %d/%d it knows %s", a.Branch, signed, knows)
		if err := tx.Accounts().SetState(a.Chain, a.Account, a.State, a.Why); err != nil {
			return nil, err
		}
		halted = append(halted, a)
	}
	if maps.Equal(told, still) {
		return halted, nil
	}
	return halted, setMeta(tx, lackingKey, still)
}

func branchOf(a Account) string { return fmt.Sprintf("%s %s %d", a.Chain, a.Account, a.Branch) }

// signedTo is the number after the highest that the records have a signature of in an account's
// branch, since it was adopted; 0 for none.
func signedTo(tx *Tx, a Account) (next uint64, err error) {
	var number uint64
	found, err := tx.SQL().Get(&number, `SELECT number FROM attempts WHERE chain = ? AND account = ? AND lineage = ? AND number >= ? ORDER BY number DESC LIMIT 1`,
		string(a.Chain), a.Account, a.Branch, a.Base)
	if err != nil {
		return 0, fmt.Errorf("reading where the signatures of %s on %s end: %w", a.Account, a.Chain, err)
	}
	if !found {
		return 0, nil
	}
	return number + 1, nil
}

// noteLacking takes all that accounts have signed as lacking: they are halted for it.
func noteLacking(tx *Tx, accounts []Account) error {
	all := map[string]uint64{}
	for _, a := range accounts {
		signed, err := signedTo(tx, a)
		if err != nil {
			return err
		}
		if signed > 0 {
			all[branchOf(a)] = signed
		}
	}
	return setMeta(tx, lackingKey, all)
}

func knownLacking(tx *Tx) (told map[string]uint64, err error) {
	var text string
	told = map[string]uint64{}
	found, err := tx.SQL().Get(&text, `SELECT value FROM meta WHERE key = ?`, lackingKey)
	if err == nil && found {
		err = json.Unmarshal([]byte(text), &told)
	}
	return told, sqlstore.Doing(err, "reading what the sign-guard lacks")
}

func setGuard(tx *Tx, g Guard) error { return setMeta(tx, guardKey, g) }

func setMeta(tx *Tx, key string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = tx.SQL().Exec(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, string(text))
	}
	return sqlstore.Doing(err, "noting the sign-guard")
}
