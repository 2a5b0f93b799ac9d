package pay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
)

// payer is the one place money leaves from: it owns the sequence of every account of ours on one
// chain.
//
// The steps never merge: bind (a payment gets its slot), sign, store, read back, send. Each step
// takes a group of slots, in one transaction. No answer of a node decides anything; only a final
// block does, in settle.go.
type payer struct {
	deps  Parts
	all   *Payers
	id    chain.ID
	chain chain.Chain
	coins bool // a ledger of coins: its slots do not follow each other
	log   logrus.FieldLogger
	sent  map[string]uint64 // attempt hash -> cursor height at which it was last sent
	same  map[string]uint64 // attempt hash -> cursor height at which it was last found to need no replacement

	waiting map[uint64]uint64 // payment -> cursor height at which it was last tried and had to wait
	short   map[string]bool   // accounts that had too little coin for fees when they last tried
	stuck   stuckSlots
	allowed map[paidFrom]bool   // what batches may move, or will soon
	merged  map[string]uint64   // account -> cursor height at which it was last asked about merges
	frozen  map[paidFrom]uint64 // cursor height at which a token last refused every payment of an account

	endsMu sync.Mutex       // AskHeld reads retired accounts concurrently with the rounds
	ends   map[signedBy]end // the last known end of an account's signatures in the sign-guard: an older one has fewer
}

type paidFrom struct {
	account string
	asset   chain.Asset
}

type signedBy struct {
	chain   chain.ID
	account string
}

// end is a branch and the number after the highest that was signed in it.
type end struct{ branch, number uint64 }

func (e end) before(other end) bool {
	return e.branch < other.branch || e.branch == other.branch && e.number < other.number
}

// round works through the accounts that have something to pay, one after the other.
func (p *payer) round(ctx context.Context) error {
	var accounts, all []records.Account
	var cur records.Cursor
	err := p.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		if cur, err = tx.Chains().Cursor(p.id); err != nil || cur.Missing || cur.Halted {
			return err
		}
		if accounts, err = tx.Accounts().Busy(p.id); err == nil {
			all, err = tx.Accounts().List(p.id, records.KindHot, records.KindGas, records.KindGateway)
		}
		return err
	})
	if err != nil {
		return err
	}
	if !cur.Missing && cur.Head < cur.Final.Height {
		return cur.ShorterLine(cur.Head) // nothing is signed for a line that is not ours
	}
	behind, err := p.networksBehind(ctx, accounts)
	if err != nil {
		return err
	}
	faults := []error{orderAllowances(ctx, p, all), orderMerges(ctx, p, all, cur)}
	p.stuck.dropIdle(accounts)
	for _, a := range accounts {
		if err := p.pay(ctx, a, cur, behind[a.Network]); err != nil {
			faults = append(faults, fmt.Errorf("account %s: %w", a.Account, err))
		}
	}
	for _, a := range unadopted(all, accounts) {
		if _, err := p.ready(ctx, a); err != nil {
			faults = append(faults, fmt.Errorf("account %s: %w", a.Account, err))
		}
	}
	return errors.Join(append(faults, p.stuck.tell(ctx, p.deps.Store))...)
}

// unadopted returns the idle accounts that are not adopted yet. They are adopted before they have a
// payment, so that a transaction which another party makes with their keys is noticed from then on.
func unadopted(all, busy []records.Account) []records.Account {
	return slices.DeleteFunc(slices.Clone(all), func(a records.Account) bool {
		return a.State != records.AccountNew || slices.ContainsFunc(busy, func(b records.Account) bool { return b.Account == a.Account })
	})
}

func (p *payer) pay(ctx context.Context, a records.Account, cur records.Cursor, behind bool) error {
	if a.State == records.AccountRecovering {
		return p.recover(ctx, a, cur)
	}
	unmined, err := p.unmined(ctx, a)
	if err != nil || p.mustWait(unmined, cur) {
		return err
	}
	ready, err := p.ready(ctx, a)
	if err != nil || !ready {
		return err
	}
	// What is signed already is sent whatever keeps new payments back.
	if behind && paysUsers(a) {
		return p.signAndSend(ctx, a, cur, unmined)
	}
	if p.all.retired(a) {
		if err := p.handOverQueued(ctx, a); err != nil {
			return err
		}
	}
	together := chain.InGroup(ctx)
	unmined, err = p.bind(together, a, cur, unmined)
	return errors.Join(err, p.signAndSend(together, a, cur, unmined))
}

// mustWait reports whether an account can bind, sign and send nothing before the next block: no
// more may be unmined, and all that is was sent since the newest block.
func (p *payer) mustWait(unmined []records.OpenSlot, cur records.Cursor) bool {
	return len(unmined) >= p.chain.MaxUnmined() && len(p.toSign(unmined, cur)) == 0 && !p.unsent(unmined, cur)
}

// mayHavePaid is the paying accounts of this chain, and for a source chain those that refund what
// is not paid here.
func (p *payer) mayHavePaid(tx *records.Tx) ([]records.Account, error) {
	paying, err := tx.Accounts().List(p.id, records.KindHot, records.KindGateway)
	for _, n := range p.deps.Networks() {
		if n.Source == p.id && err == nil {
			var refunding []records.Account
			refunding, err = tx.Accounts().List(n.Exchange, records.KindGateway)
			paying = append(paying, slices.DeleteFunc(refunding, func(a records.Account) bool { return a.Network != n.Name })...)
		}
	}
	return paying, err
}

func paysUsers(a records.Account) bool {
	return a.Kind == records.KindHot || a.Kind == records.KindGateway
}

// networksBehind returns the networks of which the sign-guard has signatures of a paying account
// that our records lack. Then the database was restored, and its liabilities may have been paid by
// any account that was configured before, or refunded on the exchange chain. No account of such a
// network begins a payment until that is settled.
func (p *payer) networksBehind(ctx context.Context, busy []records.Account) (map[string]bool, error) {
	found := map[string]bool{}
	if !slices.ContainsFunc(busy, paysUsers) {
		return found, nil
	}
	var paying []records.Account
	err := p.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		paying, err = p.mayHavePaid(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, a := range paying {
		why, err := p.signedMore(ctx, a)
		if err != nil {
			return nil, err
		}
		if why == "" {
			continue
		}
		found[a.Network] = true
		if a.Stopped() || a.Chain != p.id {
			continue
		}
		if err := p.markRecovering(ctx, a, why); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// signAndSend signs the bound slots without a signature, and sends or re-sends the unmined ones. It
// reads the stored attempts back before it sends.
func (p *payer) signAndSend(ctx context.Context, a records.Account, cur records.Cursor, unmined []records.OpenSlot) error {
	p.stuck.dropMined(a, unmined)
	p.stuck.dropSigned(a, unmined)
	if len(unmined) == 0 {
		return nil
	}
	signed, err := p.sign(ctx, a, unmined, cur)
	if signed > 0 {
		stored, readErr := p.unmined(ctx, a)
		if readErr != nil {
			return errors.Join(err, readErr)
		}
		unmined = stored
	}
	p.sendUnmined(ctx, a, cur, unmined)
	return err
}

// ready compares the account with its ledger and reports whether it may pay. A new account is
// adopted once all its transactions are final. An account with more transactions than in our
// records was used by another party, or our database is behind: it stops until an operator resumes
// it (R5, E9).
func (p *payer) ready(ctx context.Context, a records.Account) (bool, error) {
	if a.State != records.AccountNew && a.State != records.AccountOK {
		return false, nil
	}
	tip, err := p.chain.AccountHead(ctx, a.Account)
	if err != nil {
		return false, fmt.Errorf("reading the account's state: %w", err)
	}
	why, err := p.behind(ctx, a, tip)
	if err != nil {
		return false, err
	}
	if why != "" {
		return false, p.markRecovering(ctx, a, why)
	}
	if a.State == records.AccountOK {
		return true, nil
	}
	if !tip.Settled {
		return false, nil
	}
	return true, p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.Accounts().Adopt(p.id, a.Account, tip.Next, tip.Hash)
	})
}

// markRecovering stops an account of which our records may not know every signature.
func (p *payer) markRecovering(ctx context.Context, a records.Account, why string) error {
	p.log.WithField("account", a.Account).Error("account halted, needs an operator: " + why)
	return p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.Accounts().SetState(p.id, a.Account, records.AccountRecovering, why)
	})
}

// behind returns the reason why our records may lack signatures of the account's key: the
// sign-guard or the ledger has more, or a block, final or not, shows a transaction that we never
// signed. It is empty when all is well.
func (p *payer) behind(ctx context.Context, a records.Account, tip chain.AccountHead) (why string, err error) {
	if why, err = p.signedMore(ctx, a); err != nil || why != "" || a.State == records.AccountNew {
		return why, err
	}
	if tip.Next > a.Next {
		if a, err = p.rereadAccount(ctx, a); err != nil {
			return "", err
		}
	}
	if tip.Next > a.Next {
		return fmt.Sprintf("the ledger is at %d, our records are at %d", tip.Next, a.Next), nil
	}
	err = p.deps.Store.View(ctx, func(tx *records.Tx) error {
		hash, found, err := tx.Recovery().UnknownTx(p.id, a.Account)
		if found {
			why = "transaction " + hash + " was not signed by this daemon"
		}
		return err
	})
	return why, err
}

// unmined reads the slots that are in no block of the chain: a round's work. Mined slots that wait
// for finality cost nothing.
func (p *payer) unmined(ctx context.Context, a records.Account) (slots []records.OpenSlot, err error) {
	err = p.deps.Store.View(ctx, func(tx *records.Tx) error {
		slots, err = tx.Slots().Unmined(p.id, a.Account)
		return err
	})
	return slots, err
}

// signedMore describes the sign-guard's signatures of an account that our records lack, or those
// that it has lost since it was last asked.
func (p *payer) signedMore(ctx context.Context, a records.Account) (why string, err error) {
	by := signedBy{a.Chain, a.Account}
	was := p.endOf(by) // before the sign-guard is asked: what is signed meanwhile need not be in its answer
	branch, number, signed, err := p.deps.Signer.Next(ctx, a.Chain, a.Account)
	if err != nil {
		return "", err
	}
	now := end{branch, number}
	if now.before(was) {
		p.setEnd(by, now)
		return fmt.Sprintf("the sign-guard knew signatures up to %d/%d, and now only up to %d/%d: it was replaced by an older one", was.branch, was.number, branch, number), nil
	}
	p.raiseEnd(by, now)
	if !signed || !endsBefore(a, branch, number) {
		return "", nil
	}
	if a, err = p.rereadAccount(ctx, a); err != nil || !endsBefore(a, branch, number) {
		return "", err
	}
	return fmt.Sprintf("the sign-guard knows signatures up to %d/%d, our records up to %d/%d: was the database restored?", branch, number, a.Branch, a.Next), nil
}

// recordSigned moves the end of an account's signatures past a slot that the sign-guard has passed.
func (p *payer) recordSigned(at chain.Slot) {
	p.raiseEnd(signedBy{p.id, at.Account}, end{at.Branch, at.Nonce + 1})
}

func (p *payer) endOf(by signedBy) end {
	p.endsMu.Lock()
	defer p.endsMu.Unlock()
	return p.ends[by]
}

func (p *payer) setEnd(by signedBy, e end) {
	p.endsMu.Lock()
	defer p.endsMu.Unlock()
	p.ends[by] = e
}

// raiseEnd is setEnd unless the end is known to be further.
func (p *payer) raiseEnd(by signedBy, e end) {
	p.endsMu.Lock()
	defer p.endsMu.Unlock()
	if p.ends[by].before(e) {
		p.ends[by] = e
	}
}

// endsBefore reports whether the records of an account end before a signature of it.
func endsBefore(a records.Account, branch, number uint64) bool {
	return a.State == records.AccountNew || branch > a.Branch || (branch == a.Branch && number > a.Next)
}

// rereadAccount reads an account again. The ledger's and the sign-guard's data were stored in the
// records before, so records that are read after asking them are behind only if something was lost.
// Records that were read earlier may be out of date.
func (p *payer) rereadAccount(ctx context.Context, a records.Account) (now records.Account, err error) {
	err = p.deps.Store.View(ctx, func(tx *records.Tx) error {
		now, err = tx.Accounts().Get(a.Chain, a.Account)
		return err
	})
	return now, err
}

func (p *payer) haltAccount(ctx context.Context, account string, why error) error {
	p.log.WithField("account", account).WithError(why).Error("account halted, needs an operator")
	return p.deps.Store.Update(ctx, func(tx *records.Tx) error {
		return tx.Accounts().SetState(p.id, account, records.AccountHalted, why.Error())
	})
}
