package pay

import (
	"context"
	"maps"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/internal/tracing"
	"gatewayd/records"
	"gatewayd/transfers"
)

// sendUnmined sends and re-sends: it hands the newest attempt of each unmined slot to the nodes,
// once per block of ours. The slots are as the database has them: nothing is sent that is not
// stored.
func (p *payer) sendUnmined(ctx context.Context, a records.Account, cur records.Cursor, slots []records.OpenSlot) {
	p.pruneSent(cur)
	var list []chain.Attempt
	var of []records.Slot
	for _, s := range slots {
		if len(s.Attempts) == 0 {
			if p.coins {
				continue
			}
			break // no block can include later ones before it
		}
		if newest := s.Attempts[len(s.Attempts)-1]; p.sent[newest.Hash] != cur.Height {
			list, of = append(list, newest.Attempt), append(of, s.Slot)
		}
	}
	if len(list) == 0 {
		return
	}
	begun := time.Now()
	sending, done := tracing.Start(ctx, "send to "+string(p.id))
	answers := p.chain.Broadcast(sending, list)
	done(nil)
	p.stuck.noteAnswers(a, slots, of, list, answers)
	for i, err := range answers {
		transfers.PaymentTrace(of[i], list[i].Hash).Done(sending, "send", begun, err)
		if err == nil {
			p.sent[list[i].Hash] = cur.Height
			continue
		}
		p.log.WithFields(logrus.Fields{"payment": of[i].PaymentID, "tx": list[i].Hash}).WithError(err).Debug("node's answer to a payment")
	}
}

// unsent reports whether something signed was not handed to the nodes since the newest block.
func (p *payer) unsent(slots []records.OpenSlot, cur records.Cursor) bool {
	for _, s := range slots {
		if n := len(s.Attempts); n > 0 && p.sent[s.Attempts[n-1].Hash] != cur.Height {
			return true
		}
	}
	return false
}

// pruneSent drops what was sent, or needed no replacement, at an earlier block: it only keeps an
// attempt from being sent, or asked about, twice within one block.
func (p *payer) pruneSent(cur records.Cursor) {
	earlier := func(_ string, height uint64) bool { return height != cur.Height }
	maps.DeleteFunc(p.sent, earlier)
	maps.DeleteFunc(p.same, earlier)
}
