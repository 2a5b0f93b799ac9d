package operator

import (
	"context"

	"gatewayd/records"
	"gatewayd/status"
)

// Conditions returns what keeps money from moving on the configured networks, or may soon.
func (d *Session) Conditions(ctx context.Context) (report status.Report, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		networks, err := Networks(tx, d.Config)
		if err != nil {
			return err
		}
		report, err = status.Read(tx, networks)
		return err
	})
	return report, err
}

// StoppedAccounts are the accounts that sign nothing, on every chain.
func (d *Session) StoppedAccounts(ctx context.Context) (list []records.Account, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		for _, id := range d.Config.ChainIDs() {
			some, err := tx.Recovery().StoppedAccounts(id)
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}
