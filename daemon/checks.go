package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/checks"
	"gatewayd/status"
)

// followChecks records how much of the signer's limits is used and which payments wait for people,
// until ctx ends.
func (d *Daemon) followChecks(ctx context.Context) error {
	tick := time.NewTicker(cmp.Or(d.Config.Status.Every, 10*time.Second))
	defer tick.Stop()
	for {
		switch err := d.recordChecks(ctx); {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return err
		case err != nil:
			d.log.WithError(err).Debug("noting the signer's limits")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (d *Daemon) recordChecks(ctx context.Context) error {
	report, err := d.signer.Report(ctx)
	if err != nil {
		return err
	}
	if err := d.comparePolicy(report.Policy); err != nil {
		return err
	}
	report.Policy = nil // it is not stored
	return d.Store.Update(ctx, func(tx *records.Tx) error {
		found, err := heldConditions(tx)
		if err != nil {
			return err
		}
		if err := records.NoteConditions(tx, "signer", append(found, checkConditions(report)...)); err != nil {
			return err
		}
		return records.NoteReport(tx, operator.LimitsReport, report)
	})
}

// comparePolicy logs where the configuration of a separate signer differs from the daemon's, once
// for each difference.
func (d *Daemon) comparePolicy(signers config.Policy) error {
	if signers == nil { // it signs here, or is of an older version
		return nil
	}
	own, err := d.deps.Operators.config().Policy()
	if err != nil {
		return err
	}
	names := strings.Join(own.Differences(signers), ", ")
	switch names {
	case d.differs:
	case "":
		d.log.Info("the signer's policy is the daemon's again")
	default:
		d.log.WithFields(logrus.Fields{"policy": own.Hash(), "signer": signers.Hash()}).Warn("the signer's configuration differs from the daemon's in " + names)
	}
	d.differs = names
	return nil
}

// checkConditions are the conditions that follow from the signer's report.
func checkConditions(r checks.Report) (list []records.Condition) {
	for _, l := range r.Near() {
		list = append(list, records.Condition{
			Kind: string(status.LimitReached), Chain: l.Chain, Network: l.Network, Token: l.Token, Subject: strings.TrimSpace(l.Window + " " + string(l.Chain) + " " + l.Token), Detail: l.String(),
		})
	}
	for subject, fault := range map[string]string{"prices": r.Fault, "lists": r.Lists, "clock": r.Clock} {
		if fault != "" {
			list = append(list, records.Condition{Kind: string(status.ChecksFail), Subject: subject, Detail: fault})
		}
	}
	for id, why := range r.Unprovable {
		list = append(list, records.Condition{
			Kind: string(status.ChecksFail), Chain: id, Subject: "proofs " + string(id),
			Detail: "the signer cannot prove coin that contracts send: " + why,
		})
	}
	if len(r.Unpriced) > 0 {
		list = append(list, records.Condition{
			Kind: string(status.ChecksFail), Subject: "gateway_day", Detail: "the gateway limit does not count " + strings.Join(r.Unpriced, ", ") + ": the price is missing or old",
		})
	}
	return list
}

// maxHeldRead bounds how many held payments of a reason are counted.
const maxHeldRead = 100

// heldConditions returns the payments that people must look at, by reason.
func heldConditions(tx *records.Tx) (list []records.Condition, err error) {
	for _, reason := range records.AllReasons() {
		if reason.Condition == "" {
			continue
		}
		held, err := tx.Payments().HeldFor(reason.Reason, 0, maxHeldRead)
		if err != nil {
			return nil, err
		}
		if len(held) == 0 {
			continue
		}
		count := fmt.Sprint(len(held))
		if len(held) == maxHeldRead {
			count = "at least " + count
		}
		detail := fmt.Sprintf("%s payments %s; the first is %s", count, reason.Condition, nameOf(held[0]))
		advice, err := operator.PaymentAdvice(tx, held[0])
		if err != nil {
			return nil, err
		}
		if advice != "" {
			detail += ": " + advice
		}
		list = append(list, records.Condition{Kind: string(kindOf(reason.Reason)), Subject: string(reason.Reason), Detail: detail})
	}
	return list, nil
}

func kindOf(reason records.Reason) status.Kind {
	switch reason {
	case records.HeldApproval:
		return status.ApprovalsWanted
	case records.HeldLimit:
		return status.LimitReached
	case records.HeldListed:
		return status.PaymentsListed
	}
	return status.PaymentsHeld
}

// nameOf returns an operator's name for a payment: its record or, without one, its number and the
// account that it empties or fills.
func nameOf(p records.Payment) string {
	account := p.Payee
	switch {
	case p.TransferID != 0:
		return fmt.Sprintf("record %d", p.TransferID)
	case p.Purpose == chain.Sweep:
		account = p.Account
	}
	return fmt.Sprintf("payment %d, the %s of %s for %s on %s", p.ID, p.Purpose, p.Asset, account, p.Chain)
}
