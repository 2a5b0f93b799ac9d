package operator

import (
	"context"
	"fmt"

	"gatewayd/records"
	"gatewayd/records/control"
)

// AdoptGuard lets the records go with the sign-guard that is there now, which does not know what was signed before: every account that pays is halted,
// and the recovery lets each go on. It answers them. A sign-guard that the records go with already is refused.
func (r *Recovery) AdoptGuard(ctx context.Context, why string) (halted []records.Account, err error) {
	now, err := r.guard.Identity(ctx)
	if err != nil {
		return nil, err
	}
	err = r.Change(ctx, func(tx *records.Tx) error {
		was, found, err := control.GuardOf(tx)
		if err != nil {
			return err
		}
		if found && was.ID == now.ID {
			return fmt.Errorf("the records go with this sign-guard (%s) already: there is nothing to adopt", now.ID)
		}
		why := fmt.Sprintf("sign-guard %s was adopted, which does not know what was signed before: %s", now.ID, why)
		halted, err = control.AdoptGuard(tx, control.Guard(now), r.Config.ChainIDs(), why)
		return err
	})
	return halted, err
}
