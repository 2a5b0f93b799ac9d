package status

import (
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// lateAfter is the time for which a payment may wait for its block. Bursts take longer:
// docs/operations/fund.md has the figures.
const lateAfter = 30 * time.Minute

// lateMined is lateAfter on a ledger of coins, where half an hour without a block is usual.
const lateMined = 2 * time.Hour

// late returns the payments that have waited too long for a block, of each paying account the
// oldest. They close no channel: otherwise an outsider could close it with one unpayable payment.
func late(tx *records.Tx, networks []records.Network) (found []Condition, err error) {
	for _, n := range networks {
		for _, p := range []struct {
			id        chain.ID
			kind      records.AccountKind
			direction records.Direction
		}{{n.Source, records.KindHot, records.Withdrawal}, {n.Exchange, records.KindGateway, records.Deposit}} {
			accounts, err := tx.Accounts().List(p.id, p.kind)
			if err != nil {
				return nil, err
			}
			for _, a := range accounts {
				if a.Network != n.Name {
					continue
				}
				after := lateAfter
				if n.NoSenders && p.id == n.Source {
					after = lateMined
				}
				some, err := lateAt(tx, a, p.direction, after)
				if err != nil {
					return nil, err
				}
				found = append(found, some...)
			}
		}
	}
	return found, nil
}

// lateAt leaves out payments that an operator holds.
func lateAt(tx *records.Tx, a records.Account, d records.Direction, after time.Duration) (found []Condition, err error) {
	waiting, err := records.OldestWaiting(tx, a.Chain, a.Account)
	if err != nil {
		return nil, err
	}
	for _, w := range waiting {
		if w.For < after {
			continue
		}
		channel, err := records.ChannelOf(tx, w.Network, w.Token, d)
		if err != nil {
			return nil, err
		}
		if channel.Operator != records.ChannelOpen {
			continue
		}
		found = append(found, Condition{
			Kind: PaymentsLate, Chain: a.Chain, Network: w.Network, Token: w.Token, Direction: d, Subject: a.Account, Since: w.Since,
			Detail: fmt.Sprintf("payment %d (%s) of %s on %s has waited for %s", w.Payment, w.Purpose, a.Account, a.Chain, w.For.Truncate(time.Minute)),
		})
	}
	return found, nil
}
