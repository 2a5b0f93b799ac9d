package follow

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"gatewayd/records"
)

// MaxSettled bounds how many transfers, and how many transactions of ours, one database transaction
// decides.
const MaxSettled = 500

// decideFinal moves transfers that are deep enough out of seen, and queues the resulting payments
// in the same transaction. more reports that others may be left.
func (f *Follower) decideFinal(tx *records.Tx, cur records.Cursor) (more bool, err error) {
	due, err := tx.Transfers().Due(f.id, MaxSettled)
	if err != nil {
		return false, err
	}
	decided := 0
	for _, t := range due {
		if !t.Depth().Reached(t.CountsFrom(), cur.Height, cur.Final.Height) {
			continue
		}
		if err := f.decide(tx, t); err != nil {
			return false, fmt.Errorf("deciding transfer %d: %w", t.ID, err)
		}
		decided++
	}
	f.news = f.news || decided > 0
	return len(due) == MaxSettled && decided > 0, nil
}

// decide decides a transfer and logs what it became.
func (f *Follower) decide(tx *records.Tx, t records.Transfer) error {
	d, err := f.deps.Rules().Decide(tx, t)
	if err != nil {
		return err
	}
	log := f.deps.Log.WithFields(logrus.Fields{"transfer": t.ID, "state": d.State, "reason": d.Reason})
	if d.Fault != nil {
		log.WithError(d.Fault).Error("transfer held")
		return nil
	}
	log.Log(levelOf(tx, t), "transfer decided")
	return nil
}
