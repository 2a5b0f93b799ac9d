package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/records"
)

// signerSight is the monitor's state of the signer between two checks.
type signerSight struct {
	failing time.Time // since when it gives no answer; zero: it does
}

// seeSigner asks the signer once, within the time of a check.
func (m *Monitor) seeSigner(ctx context.Context) (records.Guard, error) {
	if m.Guard == nil {
		return records.Guard{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.Config.Every)
	defer cancel()
	return m.Guard(ctx)
}

// noteSigner notes how far the sign-guard is, and what is wrong with the signer. A lost answer is
// none yet.
func (m *Monitor) noteSigner(tx *records.Tx, guard records.Guard, away error) error {
	if m.Guard == nil {
		return nil
	}
	var wrong []records.Condition
	add := func(detail string) {
		wrong = append(wrong, records.Condition{Kind: string(SignerAway), Stops: true, Detail: detail})
	}
	switch {
	case away == nil:
		m.signer.failing = time.Time{}
		err := records.NoteGuard(tx, guard)
		if errors.Is(err, records.ErrOtherGuard) {
			add("the signer has " + err.Error())
		} else if err != nil {
			return err
		}
	case m.signer.failing.IsZero():
		m.signer.failing = m.Now()
	}
	if since := m.Now().Sub(m.signer.failing); away != nil && since >= m.Config.Every*3/2 {
		add(fmt.Sprintf("the signer does not answer, for %s: %s", since.Truncate(time.Second), away))
	}
	return records.NoteConditions(tx, "signer_away", wrong)
}
