package control

import (
	"encoding/json"
	"errors"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// ErrOtherGuard says that the records were signed for with another sign-guard than the one that is there now.
var ErrOtherGuard = errors.New("another sign-guard")

// Guard is the sign-guard as the records have last seen it.
type Guard struct {
	ID      string `json:"id"`
	Commits uint64 `json:"commits"` // they never fall: a guard with fewer is older than the records
}

const guardKey = "sign_guard"

// GuardOf is the sign-guard that these records go with; false for records of before there were ids, and for new ones.
func GuardOf(tx *records.Tx) (g Guard, found bool, err error) {
	var text string
	found, err = tx.SQL().Get(&text, `SELECT value FROM meta WHERE key = ?`, guardKey)
	if err == nil && found {
		err = json.Unmarshal([]byte(text), &g)
	}
	if err != nil {
		return Guard{}, false, fmt.Errorf("reading which sign-guard the records go with: %w", err)
	}
	return g, found, nil
}

// NoteGuard notes how far a sign-guard is; ErrOtherGuard for another one than the records go with. The first is taken.
func NoteGuard(tx *records.Tx, now Guard) error {
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

// AdoptGuard takes a sign-guard that may know less than the records go with: every account that pays is halted, and an operator resumes each once what
// it has signed is explained. It answers the accounts.
func AdoptGuard(tx *records.Tx, now Guard, chains []chain.ID, why string) (halted []records.Account, err error) {
	for _, id := range chains {
		accounts, err := tx.Accounts(id, records.KindHot, records.KindGas, records.KindGateway)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if a.State == records.AccountNew {
				continue // it has signed nothing for these records
			}
			if err := tx.SetAccountState(id, a.Account, records.AccountHalted, why); err != nil {
				return nil, err
			}
			halted = append(halted, a)
		}
	}
	return halted, setGuard(tx, now)
}

func setGuard(tx *records.Tx, g Guard) error {
	text, err := json.Marshal(g)
	if err == nil {
		_, err = tx.SQL().Exec(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, guardKey, string(text))
	}
	if err != nil {
		return fmt.Errorf("noting the sign-guard: %w", err)
	}
	return nil
}
