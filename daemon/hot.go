package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// hotEvery is the interval at which the hot accounts are compared with their bounds.
const hotEvery = time.Minute

// hotWatch compares the hot accounts with their bounds.
type hotWatch struct {
	*Daemon
	over map[string]bool // tokens of which the last check found too much and no open move to the cold address
}

// followHot records the conditions of hot accounts that have less or more of a token than they
// should, until ctx ends.
func (d *Daemon) followHot(ctx context.Context) error {
	h := hotWatch{d, map[string]bool{}}
	tick := time.NewTicker(min(hotEvery, 10*d.monitor.Config.Every))
	defer tick.Stop()
	for {
		err := h.record(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, records.ErrFenced):
			return err
		case err != nil: // nodes that do not answer are a condition of their own
			d.log.WithError(err).Debug("reading the balances of the hot accounts")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// record stores the conditions of all tokens. What cannot be read of one token leaves its own
// conditions as they were, and no other's.
func (d hotWatch) record(ctx context.Context) error {
	var found []records.Condition
	var faults []error
	unread := map[string]bool{}
	for _, n := range d.monitor.Networks() {
		for _, t := range n.Tokens {
			some, err := d.checkBounds(ctx, n, t)
			if err != nil {
				faults = append(faults, fmt.Errorf("token %s of %s: %w", t.TokenID, n.Name, err))
				unread[tokenKey(n.Name, t.TokenID)] = true
				continue
			}
			found = append(found, some...)
		}
	}
	err := d.Store.Update(ctx, func(tx *records.Tx) error {
		before, err := records.Conditions(tx)
		if err != nil {
			return err
		}
		before = slices.DeleteFunc(before, func(c records.Condition) bool {
			return c.Kind != string(status.HotBelow) && c.Kind != string(status.HotAbove) || !unread[tokenKey(c.Network, c.Token)]
		})
		return records.NoteConditions(tx, "hot", append(before, found...))
	})
	return errors.Join(append(faults, err)...)
}

func tokenKey(network, token string) string { return network + " " + token }

// checkBounds returns a condition while the hot accounts have less or more of a token than hot_min
// and hot_max allow.
func (d hotWatch) checkBounds(ctx context.Context, n records.Network, t records.Token) (found []records.Condition, err error) {
	if t.HotMin.IsZero() && t.HotMax.IsZero() {
		return nil, nil
	}
	have, err := d.hotBalance(ctx, n, t.Asset)
	if err != nil {
		return nil, err
	}
	text := func(a chain.Amount) string { return n.AmountText(n.Source, t.Asset, a) }
	c := records.Condition{Chain: n.Source, Network: n.Name, Token: t.TokenID, Subject: t.TokenID}
	if missing, err := t.HotMin.Sub(have); err == nil && !missing.IsZero() {
		c.Kind = string(status.HotBelow)
		c.Detail = fmt.Sprintf("the hot accounts of %s hold %s, below hot_min %s: send at least %s to %s", n.Source, text(have), text(t.HotMin), text(missing), n.Hot)
		found = append(found, c)
	}
	key := tokenKey(n.Name, t.TokenID)
	over, err := have.Sub(t.HotMax)
	if err != nil || over.IsZero() || t.HotMax.IsZero() {
		delete(d.over, key)
		return found, nil
	}
	why, err := d.whyNotMoved(ctx, n, t, key)
	if err == nil && why != "" {
		c.Kind = string(status.HotAbove)
		c.Detail = fmt.Sprintf("the hot accounts of %s hold %s, above hot_max %s: the excess is %s%s", n.Source, text(have), text(t.HotMax), text(over), why)
		found = append(found, c)
	}
	return found, err
}

// whyNotMoved is the end of a sentence: why the excess is not moved to the cold address. It is
// empty when a move is open, or may be before the next check.
func (d hotWatch) whyNotMoved(ctx context.Context, n records.Network, t records.Token, key string) (why string, err error) {
	if t.Cold == "" {
		return ", and the token has no cold address", nil
	}
	var move records.Payment
	open := false
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		move, open, err = tx.Treasury().ColdMove(n.Source, t.Asset)
		return err
	})
	before := d.over[key]
	d.over[key] = !open
	switch {
	case open && move.State == records.HeldPayment:
		why = fmt.Sprintf("; payment %d to the cold address is held: %s", move.ID, move.Reason)
	case !open && before:
		why = "; it goes to the cold address once no payment needs it and no hot account is stopped"
	}
	return why, err
}

func (d hotWatch) hotBalance(ctx context.Context, n records.Network, asset chain.Asset) (sum chain.Amount, err error) {
	for _, hot := range n.Hots {
		have, err := d.Chains[n.Source].Balance(ctx, hot, asset)
		if err != nil {
			return sum, err
		}
		if sum, err = sum.Add(have); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
