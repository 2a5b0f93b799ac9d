package dev

import (
	"context"
	"fmt"
	"strings"

	"gatewayd/operator/console"
	"gatewayd/records"
)

// demoOperator is who signs in to the console by a link.
const demoOperator = "demo"

// OpenConsole signs a demo operator in to the console of a ready environment, with a new password
// and a new second factor each time, and puts the link with them into Info. A browser does not send
// the part after the hash.
func (d *Env) OpenConsole(ctx context.Context) error {
	user, password, err := console.NewUser(demoOperator, records.Operator)
	if err != nil {
		return err
	}
	if err := d.Daemon.Store.Update(ctx, func(tx *records.Tx) error { return records.PutUser(tx, user) }); err != nil {
		return err
	}
	page := strings.Replace(d.Info.Operators, "//127.0.0.1", "//localhost", 1) // by name: browsers have no passkeys for addresses
	d.Info.Console = fmt.Sprintf("%s/console#demo=%s:%s:%s", page, user.Name, password, user.TOTP)
	return nil
}
