package operator

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/watcher/reconcile"
)

// balances checks that every account of a chain holds the coin of the books. Nodes drop the state
// of old blocks, so it is impossible after a long stop of the daemon.
func (a *audit) balances(ctx context.Context, c chain.Chain) {
	compared, found, err := reconcile.CompareBalances(ctx, a.Store, c)
	if err != nil {
		a.missed = append(a.missed, fmt.Sprintf("balances on %s: %s", c.ID(), chain.PlainError(err)))
		return
	}
	a.checks += compared - len(found)
	for _, d := range found {
		if d.Shortage.IsZero() {
			a.check(false, "%s on %s holds %s more than the books show at block %d", d.Account, c.ID(), a.Config.AssetAmount(c.ID(), chain.Native, d.Surplus), d.Height)
			continue
		}
		a.check(false, "%s on %s holds %s less than the books show at block %d", d.Account, c.ID(), a.Config.AssetAmount(c.ID(), chain.Native, d.Shortage), d.Height)
	}
}

// AcceptShortage lets the books take over a shortage that the daemon has confirmed, on whichever
// chain the account has one.
func AcceptShortage(ctx context.Context, d *Session, account, why string, w io.Writer) error {
	if why == "" {
		return Usagef("--why is required; the history stores who accepted a loss, and the reason")
	}
	for _, c := range d.Config.Chains() {
		var lost chain.Amount
		err := d.Change(ctx, func(tx *records.Tx) (err error) {
			lost, err = books.AcceptShortage(tx, c.ID, account, why)
			return err
		})
		if errors.Is(err, records.ErrNotFound) {
			continue
		}
		if err == nil {
			fmt.Fprintf(w, "The books of %s on %s are %s lower now. The daemon opens the channels with the next final block.\n", account, c.ID, d.Config.AssetAmount(c.ID, chain.Native, lost))
		}
		return err
	}
	chains, err := d.Chains(ctx)
	if err == nil {
		a := &audit{Session: d, chains: chains}
		err = a.writeOff(AsOperator(ctx), account, why, w)
	}
	if errors.Is(err, records.ErrNotFound) {
		return fmt.Errorf("the daemon has confirmed no shortage of %s: `gatewayd audit` names those that it has", account)
	}
	return err
}
