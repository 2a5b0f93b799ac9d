package operator

import (
	"context"
	"fmt"

	"gatewayd/records"
)

// AdoptGuard ties the records to the present sign-guard, which lacks the earlier signatures. Every
// paying account is halted, and the recovery resumes each. It returns them. A sign-guard that
// already belongs to the records is refused.
func (r *Recovery) AdoptGuard(ctx context.Context, why string) (halted []records.Account, err error) {
	now, err := r.guard.Identity(ctx)
	if err != nil {
		return nil, err
	}
	err = r.Change(ctx, func(tx *records.Tx) error {
		was, found, err := records.GuardOf(tx)
		if err != nil {
			return err
		}
		if found && was.ID == now.ID {
			return fmt.Errorf("the records go with this sign-guard (%s) already: there is nothing to adopt", now.ID)
		}
		why := fmt.Sprintf("sign-guard %s was adopted, which does not know what was signed before: %s", now.ID, why)
		halted, err = records.AdoptGuard(tx, records.Guard(now), r.Config.ChainIDs(), why)
		return err
	})
	return halted, err
}
