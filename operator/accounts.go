package operator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer/remote"
	"gatewayd/watcher/recovery"
)

// RecoveryPatience is the time for which a command waits for the daemon to read up to the chains'
// present heads.
const RecoveryPatience = time.Minute

// guard is the sign-guard, or the signer that has it.
type guard interface {
	recovery.Guard
	Identity(ctx context.Context) (signguard.Identity, error)
	Close() error
}

// Recovery is a session that also has the sign-guard and the nodes.
type Recovery struct {
	*Session
	guard guard
	*recovery.Recovery
}

func OpenRecovery(ctx context.Context, path string) (*Recovery, error) {
	d, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := d.recovery(ctx)
	if err != nil {
		return nil, errors.Join(err, d.Store.Close())
	}
	return r, nil
}

// recovery opens the daemon's own sign-guard and never creates one: an empty one would claim that
// nothing was ever signed.
func (d *Session) recovery(ctx context.Context) (*Recovery, error) {
	b, err := d.Bridge(ctx)
	if err != nil {
		return nil, err
	}
	guard, err := openGuard(d.Config)
	if err != nil {
		return nil, err
	}
	return &Recovery{d, guard, b.Recovery(d.Store, guard)}, nil
}

// openGuard asks the signer where it is another process.
func openGuard(cfg config.Config) (guard, error) {
	if cfg.Wallet.Remote() {
		return remote.Dial(cfg.Wallet.Target())
	}
	path := filepath.Join(cfg.Data, "guard.db")
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the sign-guard is required, run this in the daemon's environment: %w", err)
	}
	return signguard.Open(path)
}

func (r *Recovery) Close() { _, _ = r.guard.Close(), r.Store.Close() }

// AccountRow is one line of `account list --json`.
type AccountRow struct {
	Chain   string `json:"chain"`
	Kind    string `json:"kind"`
	Address string `json:"address"`
	State   string `json:"state"`
	Retired bool   `json:"retired,omitempty"` // it no longer pays users, receives, and sends its balance to the paying accounts
	Why     string `json:"why"`
	Next    uint64 `json:"next"`             // number that our records give next
	Ledger  uint64 `json:"ledger"`           // next free number on the ledger
	Settled bool   `json:"settled"`          // nothing of it waits on the ledger
	Signed  string `json:"signed,omitempty"` // lineage/number after the highest that the sign-guard knows
	Fault   string `json:"fault,omitempty"`  // why the ledger was not asked
}

func (r *Recovery) Accounts(ctx context.Context) (list []records.Account, err error) {
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		for _, id := range r.Config.ChainIDs() {
			paying, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
			if err != nil {
				return err
			}
			stopped, err := tx.Recovery().StoppedAccounts(id)
			if err != nil {
				return err
			}
			list = append(list, paying...)
			for _, s := range stopped {
				if s.Kind == records.KindDeposit || s.Kind == records.KindShared {
					list = append(list, s)
				}
			}
		}
		return nil
	})
	return list, err
}

func (r *Recovery) Row(ctx context.Context, a records.Account) AccountRow {
	v := AccountRow{
		Chain: string(a.Chain), Kind: string(a.Kind), Address: a.Account, State: string(a.State), Retired: r.Config.Retired(a), Why: a.Why, Next: a.Next,
	}
	s, err := r.Position(ctx, a.Chain, a.Account)
	if err != nil {
		v.Fault = chain.PlainError(err)
		return v
	}
	v.Ledger, v.Settled = s.Tip.Next, s.Tip.Settled
	if s.Signed {
		v.Signed = fmt.Sprintf("%d/%d", s.Branch, s.Number)
	}
	return v
}

// AccountDetail is `account show --json`.
type AccountDetail struct {
	Account    AccountRow     `json:"account"`
	Open       []openRow      `json:"open"`
	UnknownTxs []UnknownTxRow `json:"foreign"`
	Unread     string         `json:"unread,omitempty"` // what the ledger shows of it in blocks that the records have not read
}

// openRow is a slot that waits for a final block.
type openRow struct {
	Number  uint64   `json:"number"`
	Payment uint64   `json:"payment"`
	Purpose string   `json:"purpose"`
	Amount  string   `json:"amount"`
	Asset   string   `json:"asset"`
	Payee   string   `json:"payee"`
	Others  int      `json:"others,omitempty"` // further payments of a batch
	Mined   bool     `json:"mined"`
	Hashes  []string `json:"hashes"`
}

// UnknownTxRow is a final transaction that our records do not know.
type UnknownTxRow struct {
	Number   uint64   `json:"number"`
	Hash     string   `json:"hash"`
	Height   uint64   `json:"height"`
	OK       bool     `json:"ok"`
	To       string   `json:"to"`
	Asset    string   `json:"asset"`
	Amount   string   `json:"amount"`
	Label    string   `json:"label,omitempty"`
	Source   string   `json:"source,omitempty"`
	Payments int      `json:"payments,omitempty"` // of a batch: how many are in it
	Signed   string   `json:"signed,omitempty"`   // what the sign-guard knows that it was signed for
	Harmless string   `json:"harmless,omitempty"`
	Cold     string   `json:"cold,omitempty"` // token that it sent to its cold address
	Pays     []uint64 `json:"pays"`           // records whose payment asks for exactly this
	Refunds  []uint64 `json:"refunds"`        // records that it would refund exactly
	Others   []uint64 `json:"others"`         // if there are none: records whose refund would go to a party other than their senders
}

func (r *Recovery) Detail(ctx context.Context, id chain.ID, account string) (s AccountDetail, err error) {
	standing, err := r.Position(ctx, id, account)
	if err != nil {
		return s, err
	}
	foreign, err := r.UnknownTxs(ctx, id, account, RecoveryPatience)
	if err != nil {
		return s, err
	}
	s = AccountDetail{Account: r.Row(ctx, standing.Account), Open: []openRow{}, UnknownTxs: []UnknownTxRow{}}
	for _, f := range foreign {
		s.UnknownTxs = append(s.UnknownTxs, rowOfUnknownTx(f))
	}
	if s.Unread, err = r.Unread(ctx, standing); err != nil {
		return s, err
	}
	var open []records.OpenSlot
	err = r.Store.View(ctx, func(tx *records.Tx) error {
		open, err = tx.Slots().Open(id, account)
		return err
	})
	for _, o := range open {
		s.Open = append(s.Open, rowOfOpen(o))
	}
	return s, err
}

func rowOfOpen(o records.OpenSlot) openRow {
	p := o.Payment
	row := openRow{
		Number: o.Nonce, Payment: p.ID, Purpose: string(p.Purpose), Amount: p.Amount.String(), Asset: string(p.Asset), Payee: p.Payee,
		Others: len(o.Payments()) - 1, Mined: o.Mined, Hashes: []string{},
	}
	for _, a := range o.Attempts {
		row.Hashes = append(row.Hashes, a.Hash)
	}
	return row
}

func rowOfUnknownTx(f recovery.UnknownTx) UnknownTxRow {
	row := UnknownTxRow{
		Number: f.Number, Hash: f.Tx, Height: f.Height, OK: f.OK, To: f.Out.To, Asset: string(f.Out.Asset), Amount: f.Out.Amount.String(),
		Label: f.Out.Label, Source: f.Out.Source, Payments: len(f.Batch), Signed: f.Signed, Harmless: f.Harmless, Cold: f.Cold, Pays: []uint64{}, Refunds: append([]uint64{}, f.Refunds...), Others: append([]uint64{}, f.Others...),
	}
	for _, p := range f.Pays {
		if p.TransferID != 0 {
			row.Pays = append(row.Pays, p.TransferID)
		}
	}
	return row
}

// bindingsAtOnce is the number of bindings per read.
const bindingsAtOnce = 1000

// EachBinding hands over who has which deposit address or label, as a sign-guard keeps it.
func (d *Session) EachBinding(ctx context.Context, tell func(signguard.Binding) error) error {
	for after := uint64(0); ; {
		var list []records.Binding
		err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
			list, err = tx.Bindings().List(after, bindingsAtOnce)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		after = list[len(list)-1].ID
		for _, b := range list {
			kept := signguard.Binding{Network: b.Network, Chain: b.Chain, Index: b.PathIndex, Address: b.Address, User: b.Owner}
			if b.Label != "" { // all labels share one address
				kept.Address, kept.Label = "", b.Label
			}
			if err := tell(kept); err != nil {
				return err
			}
		}
	}
}
