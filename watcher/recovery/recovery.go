// Package recovery contains the operators' actions on stopped accounts and chains: they explain
// transactions that are not in our records, and let accounts sign and chains be followed again
// (docs/operations/recovery.md).
//
// It works next to a running daemon, on the same database, and signs nothing: the daemon continues
// when the account's state permits it. Its one rule: an account signs again only when no earlier
// signature of its key can still contradict our records.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/transfers"
)

// ErrBehind means that the daemon has not read the chains far enough for a decision: run it and ask
// again.
var ErrBehind = errors.New("the daemon has not read that far yet")

// ErrNotAtRest means that a signed transaction may still be mined: wait and ask again.
var ErrNotAtRest = errors.New("a signed transaction may still be mined")

// store is the database: one writing transaction at a time, or one consistent read.
type store interface {
	Update(ctx context.Context, fn func(*records.Tx) error) error
	View(ctx context.Context, fn func(*records.Tx) error) error
}

// Guard is the sign-guard as recovery needs it.
type Guard interface {
	Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error)
	First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error)
	SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error)
	Release(ctx context.Context, id chain.ID, account string, next uint64) error
}

// blockReader is a Guard whose signer reads final blocks itself instead of believing the daemon.
type blockReader interface {
	ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error
}

// showToSigner has the signer read the blocks of transactions that are to be explained, so that it
// knows what became of its signatures.
func (r *Recovery) showToSigner(ctx context.Context, list ...records.OwnTx) error {
	s, ok := r.Guard.(blockReader)
	if !ok {
		return nil
	}
	seen := map[uint64]bool{}
	for _, e := range list {
		if seen[e.Height] {
			continue
		}
		seen[e.Height] = true
		if err := s.ReadOutcomes(ctx, e.Chain, e.Height); err != nil {
			return fmt.Errorf("showing block %d of %s to the signer: %w", e.Height, e.Chain, err)
		}
	}
	return nil
}

// Parts are the dependencies of recovery.
type Parts struct {
	Store  store
	Chains map[chain.ID]chain.Chain
	Rules  func() transfers.Rules // the terms in force
	Guard  Guard
}

// Recovery is the operators' side of a daemon.
type Recovery struct{ Parts }

// New starts nothing.
func New(p Parts) *Recovery { return &Recovery{p} }

// Position is the state of an account on its ledger, in our records and in the sign-guard.
type Position struct {
	Account records.Account
	Tip     chain.AccountHead
	Signed  bool   // the sign-guard knows signatures
	Branch  uint64 // the newest of them
	Number  uint64 // the number after the highest in it
	First   uint64 // the number of its first signature
	Coins   bool   // the ledger counts no numbers: Tip.Next is by our records
}

// resumption returns the point at which the account continues.
func (s Position) resumption() records.Resumption {
	return records.Resumption{Next: s.Tip.Next, Hash: s.Tip.Hash, Branch: s.Branch, Signed: s.Signed, First: s.First, Coins: s.Coins}
}

// UnknownTx is a final transaction of an account that our records do not know.
type UnknownTx struct {
	records.OwnTx
	Out      chain.Outgoing
	Signed   string // the sign-guard's payment for the signature; empty if it has none
	Harmless string // why it can have paid no user, if that is so
	Cold     string // the token that it sent to its cold address, if it did nothing else that our records ask for
	// unpaid ones with exactly this request, oldest first; only the signed payment, where the
	// sign-guard has it
	Pays    []records.Payment
	Known   bool        // the sign-guard knows that it was signed for them
	Refunds []uint64    // transfers that it would send back exactly
	Batch   []UnknownTx // of a batch: each payment in it, in order; Pays are those of all of them then
	// if there are none: transfers whose refund it would be to a party other than their senders, as
	// an operator may have ordered
	Others []uint64
}

// Position reads the state of an account.
func (r *Recovery) Position(ctx context.Context, id chain.ID, account string) (s Position, err error) {
	c, ok := r.Chains[id]
	if !ok {
		return s, fmt.Errorf("there is no chain %q", id)
	}
	if s.Tip, err = c.AccountHead(ctx, account); err != nil {
		return s, fmt.Errorf("reading the account's state: %w", err)
	}
	if s.Branch, s.Number, s.Signed, err = r.Guard.Next(ctx, id, account); err != nil {
		return s, err
	}
	if s.First, _, err = r.Guard.First(ctx, id, account); err != nil {
		return s, err
	}
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		s.Account, err = tx.Accounts().Get(id, account)
		if err == nil && chain.CapabilitiesOf(c).Coins != nil {
			s.Coins = true
			s.Tip, err = tx.Coins().Head(s.Account, s.Number)
		}
		return err
	})
	return s, err
}

// Unread describes the transactions of an account at rest that no block in the records shows; empty
// when there are none.
func (r *Recovery) Unread(ctx context.Context, s Position) (why string, err error) {
	if s.moving() != "" {
		return "", nil
	}
	err = r.Store.View(ctx, func(tx *records.Tx) error { return tx.Recovery().CheckRead(s.Account, s.resumption()) })
	if errors.Is(err, records.ErrConflict) {
		return err.Error(), nil
	}
	return "", err
}

// moving describes the account's transactions that may still be mined or dropped. It is empty when
// everything is decided: then the ledger's latest, pending and final state agree and, where it
// counts nonces, no number is left that only the sign-guard has.
func (s Position) moving() string {
	switch {
	case s.Tip.Hash == "" && s.Signed && s.Number > max(s.Tip.Next, s.Account.Next):
		return fmt.Sprintf("%s on %s has signed up to number %d, the ledger is at %d: the daemon cancels the numbers in between",
			s.Account.Account, s.Account.Chain, s.Number-1, s.Tip.Next)
	case !s.Tip.Settled:
		return fmt.Sprintf("transactions of %s on %s wait for a final block", s.Account.Account, s.Account.Chain)
	}
	return ""
}

// UnknownTxs returns the unexplained final transactions of an account, with their effects. It is
// ErrBehind until the daemon has read every chain of the account's network up to its head at the
// call, because the paid transfer may be in an unread block. It waits for at most patience.
func (r *Recovery) UnknownTxs(ctx context.Context, id chain.ID, account string, patience time.Duration) ([]UnknownTx, error) {
	if err := r.awaitRead(ctx, id, account, patience); err != nil {
		return nil, err
	}
	var ownTxs []records.OwnTx
	err := r.Store.View(ctx, func(tx *records.Tx) (err error) {
		ownTxs, err = tx.Recovery().UnknownTxs(id, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	list := make([]UnknownTx, len(ownTxs))
	for i, e := range ownTxs {
		if list[i], err = r.match(ctx, e); err != nil {
			return nil, fmt.Errorf("reading %s: %w", e.Tx, err)
		}
	}
	return list, nil
}

// awaitRead returns once every chain of the account's network has been read to its present head.
func (r *Recovery) awaitRead(ctx context.Context, id chain.ID, account string, patience time.Duration) error {
	heads := map[chain.ID]chain.Head{}
	ids, err := r.neighbours(ctx, id, account)
	if err != nil {
		return err
	}
	for _, n := range ids {
		if heads[n], err = r.Chains[n].Head(ctx); err != nil {
			return fmt.Errorf("asking for the head of %s: %w", n, err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, max(patience, 0))
	defer cancel()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		err := r.Store.View(context.WithoutCancel(ctx), func(tx *records.Tx) error { return checkRead(tx, heads) })
		if !errors.Is(err, ErrBehind) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// neighbours are the chains of an account's network.
func (r *Recovery) neighbours(ctx context.Context, id chain.ID, account string) ([]chain.ID, error) {
	var a records.Account
	err := r.Store.View(ctx, func(tx *records.Tx) (err error) {
		a, err = tx.Accounts().Get(id, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := r.network(a)
	if n.Name == "" {
		return nil, fmt.Errorf("network %s of the account is not configured", a.Network)
	}
	return []chain.ID{n.Source, n.Exchange}, nil
}

// network is the configured network of an account; one that has left the configuration has no name.
func (r *Recovery) network(a records.Account) records.Network { return r.Rules().Network(a.Network) }

// checkRead is ErrBehind unless the daemon has read each chain to a head and decided what was final
// there.
func checkRead(tx *records.Tx, heads map[chain.ID]chain.Head) error {
	for id, head := range heads {
		cur, err := tx.Chains().Cursor(id)
		switch {
		case err != nil:
			return err
		case cur.Halted:
			return fmt.Errorf("chain %s is halted (%s): resume it first", id, cur.Why)
		case cur.Missing || cur.Height < head.Latest.Height || cur.Final.Height < head.Final.Height:
			return fmt.Errorf("%w: %s is at block %d (final %d), the records at %d (final %d)",
				ErrBehind, id, head.Latest.Height, head.Final.Height, cur.Height, cur.Final.Height)
		}
	}
	return nil
}

// match finds out what a transaction did, and which payments and transfers of our records it may
// have paid or refunded.
func (r *Recovery) match(ctx context.Context, e records.OwnTx) (f UnknownTx, err error) {
	f.OwnTx = e
	if f.Out, err = r.describe(ctx, e); err != nil {
		return f, err
	}
	if len(f.Out.Members) > 0 {
		return r.matchBatch(ctx, f)
	}
	return r.matchOne(ctx, f, 0)
}

// matchOne is match of the payment at a place of a transaction.
func (r *Recovery) matchOne(ctx context.Context, f UnknownTx, place int) (UnknownTx, error) {
	signed, err := r.trace(ctx, f.OwnTx, f.Out, place)
	if err != nil {
		return f, err
	}
	f.Signed = signed.String()
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		alike, err := r.paidBy(tx, f)
		if err != nil {
			return err
		}
		if f.Pays, f.Known, err = signed.pick(tx, alike); err != nil {
			return err
		}
		if f.Harmless, err = r.harmless(tx, f); err != nil {
			return err
		}
		if signed.allows() {
			f.Harmless = "it let batches move a token"
		}
		if f.Refunds, f.Others, err = r.refundedBy(tx, f, signed); err == nil && !signed.users() {
			f.Cold, err = r.coldToken(tx, f)
		}
		return err
	})
	if f.Cold != "" {
		f.Others = nil
	}
	return f, err
}

// coldToken is the token that a transaction of a hot account sent to the token's cold address. One
// that may be a payout or a refund there is for people.
func (r *Recovery) coldToken(tx *records.Tx, f UnknownTx) (string, error) {
	if !f.OK || f.Out.Source != "" || f.Out.Label != "" || f.Out.Amount.IsZero() || len(f.Refunds) > 0 ||
		slices.ContainsFunc(f.Pays, func(p records.Payment) bool { return p.Purpose != chain.Cold }) {
		return "", nil
	}
	a, err := tx.Accounts().Get(f.Chain, f.Account)
	if err != nil || a.Kind != records.KindHot {
		return "", err
	}
	for _, t := range r.network(a).Tokens {
		if t.Cold != "" && t.Cold == f.Out.To && t.Asset == f.Out.Asset {
			return t.TokenID, nil
		}
	}
	return "", nil
}

func (r *Recovery) describe(ctx context.Context, e records.OwnTx) (chain.Outgoing, error) {
	has := chain.CapabilitiesOf(r.Chains[e.Chain])
	c := has.Own
	if c == nil {
		return chain.Outgoing{}, fmt.Errorf("chain %s cannot report the effects of a transaction", e.Chain)
	}
	if has.Coins != nil { // its nodes find no transaction by its hash, but the adapter knows those of blocks that it has read
		if _, err := r.Chains[e.Chain].Block(ctx, e.Height); err != nil {
			return chain.Outgoing{}, err
		}
	}
	return c.Describe(ctx, e.Tx)
}

// paidBy returns the unpaid payments of the account that request exactly the transaction's effect,
// and that no slot of ours can pay any more.
func (r *Recovery) paidBy(tx *records.Tx, f UnknownTx) (list []records.Payment, err error) {
	if !f.OK {
		return nil, nil
	}
	unpaid, err := tx.Recovery().Unpaid(f.Chain, f.Account)
	if err != nil {
		return nil, err
	}
	for _, p := range unpaid {
		if !fits(p, f.Out) {
			continue
		}
		free, err := tx.Recovery().CanSettleUnknownTx(p)
		if err != nil {
			return nil, err
		}
		if free {
			list = append(list, p)
		}
	}
	return list, nil
}

// fits reports whether a transaction did what a payment asks for.
func fits(p records.Payment, out chain.Outgoing) bool {
	if p.Purpose == chain.Receive || out.Source != "" {
		return p.Purpose == chain.Receive && p.Source == out.Source
	}
	return p.Asset == out.Asset && p.Payee == out.To && p.Amount == out.Amount && p.PayeeLabel == out.Label
}

// refundedBy returns the transfers that the transaction would send back, while neither a credit nor
// a refund of them is paid: to their senders, or else to another party that an operator may have
// named.
func (r *Recovery) refundedBy(tx *records.Tx, f UnknownTx, signed trace) (back, others []uint64, err error) {
	if !f.OK || f.Out.Source != "" || f.Out.Amount.IsZero() {
		return nil, nil, nil
	}
	list, err := tx.Recovery().Refundable(f.Chain, f.Out.Asset, f.Out.Amount)
	for _, t := range list {
		if t.From == f.Out.To {
			back = append(back, t.ID)
		} else if t.Amount == f.Out.Amount {
			others = append(others, t.ID)
		}
	}
	if err == nil {
		back, err = signed.of(tx, back)
	}
	if err == nil {
		others, err = signed.of(tx, others)
	}
	if len(back) > 0 || len(f.Pays) > 0 || f.Harmless != "" {
		others = nil
	}
	return back, others, err
}

// harmless returns the reason why a transaction cannot have paid a user.
func (r *Recovery) harmless(tx *records.Tx, f UnknownTx) (string, error) {
	switch {
	case !f.OK:
		return "it failed on chain", nil
	case f.Out.Source != "":
		return "it received " + f.Out.Source, nil
	case f.Out.Amount.IsZero() && (f.Out.To == f.Account || f.Out.Coin != "" && f.Out.To == ""):
		return "it moved nothing", nil
	}
	_, err := tx.Accounts().Get(f.Chain, f.Out.To)
	if errors.Is(err, records.ErrNotFound) {
		return "", nil
	}
	return "it went to an account of ours", err
}
