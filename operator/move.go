package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// ToCold is the destination that means the token's cold address.
const ToCold = "cold"

// Order is an operator's order to move an amount.
type Order struct {
	Chain   string
	Account string
	Amount  string // in whole units
	Token   string // by its id, its symbol or its asset
	To      string // ToCold, or an account of ours that pays
	Why     string
}

// Row is one line of `account moves --json`, and the answer of `account move --json`. Amounts are
// in the asset's smallest units.
type Row struct {
	Payment uint64         `json:"payment"`
	Purpose string         `json:"purpose"`
	Chain   chain.ID       `json:"chain"`
	From    string         `json:"from"`
	To      string         `json:"to"`
	Asset   chain.Asset    `json:"asset"`
	Amount  chain.Amount   `json:"amount"`
	State   string         `json:"state"`
	Reason  records.Reason `json:"reason"`
	Tx      string         `json:"tx"`
	Actor   string         `json:"actor"` // empty: the daemon did it automatically
	Why     string         `json:"why"`
	At      time.Time      `json:"at"`
	Instead uint64         `json:"instead,omitempty"` // of this payment, which waited and is void
}

func rowOf(p records.Payment, m records.Move) Row {
	return Row{
		Payment: p.ID, Purpose: string(p.Purpose), Chain: p.Chain, From: p.Account, To: p.Payee, Asset: p.Asset, Amount: p.Amount,
		State: string(p.State), Reason: p.Reason, Tx: p.Tx, Actor: m.Actor, Why: m.Why, At: p.CreatedAt,
	}
}

// shownMoves is the number of listed moves.
const shownMoves = 50

// List are the newest payments to the cold address and between our own accounts by order.
func List(ctx context.Context, d *Session) (rows []Row, err error) {
	rows = []Row{}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		list, err := tx.Treasury().Moved(shownMoves)
		for _, m := range list {
			rows = append(rows, rowOf(m.Payment, m.Move))
		}
		return err
	})
	return rows, err
}

// Send orders a payment from an account that pays to the token's cold address or to another account
// of ours that pays. The daemon makes it. What waits of the same kind is void; what is bound
// already is an error.
func Send(ctx context.Context, d *Session, o Order) (row Row, err error) {
	if strings.TrimSpace(o.Why) == "" {
		return row, Usagef("--why is required; the history stores it")
	}
	p, err := payment(ctx, d, o)
	if err != nil {
		return row, err
	}
	if err := checkFunds(ctx, d, p); err != nil {
		return row, err
	}
	err = d.Change(ctx, func(tx *records.Tx) error {
		instead, err := voidWaiting(tx, p)
		if err != nil {
			return err
		}
		if p.ID, err = tx.Treasury().OrderMove(p, o.Why); err != nil {
			return err
		}
		queued, err := tx.Payments().Get(p.ID)
		if err != nil {
			return err
		}
		m, _, err := tx.Treasury().MoveOrder(p.ID)
		row = rowOf(queued, m)
		row.Instead = instead
		return err
	})
	return row, err
}

func refused(format string, args ...any) error {
	return AsTold(fmt.Errorf(format, args...))
}

// voidWaiting voids a waiting payment of the same kind, and returns its id.
func voidWaiting(tx *records.Tx, p records.Payment) (instead uint64, err error) {
	before, found, err := tx.Treasury().WaitingMove(p)
	switch {
	case err != nil || !found:
		return 0, err
	case before.State == records.Bound:
		return 0, refused("an equal payment %d to %s is already signed: order it again once `gatewayd account moves` shows it as paid", before.ID, before.Payee)
	}
	err = tx.Payments().Move(before.ID, before.State, records.VoidPayment, "an operator ordered another one")
	return before.ID, err
}

// payment is the payment that an order asks for.
func payment(ctx context.Context, d *Session, o Order) (p records.Payment, err error) {
	o.Account = SpelledAddress(o.Account)
	id, err := d.OwnAccount(ctx, o.Chain, o.Account)
	if err != nil {
		return p, err
	}
	var from records.Account
	err = d.Store.View(ctx, func(tx *records.Tx) (err error) { from, err = tx.Accounts().Get(id, o.Account); return err })
	if err != nil {
		return p, err
	}
	switch {
	case from.Kind != records.KindHot && from.Kind != records.KindGateway:
		return p, refused("%s is a %s account: only paying accounts can be moved from; deposits are swept automatically", o.Account, from.Kind)
	case from.State == records.AccountHalted || from.State == records.AccountRecovering:
		return p, refused("%s is %s (%s): `gatewayd account show %s %s` shows the requirements before it pays again", o.Account, from.State, from.Why, id, o.Account)
	}
	n, t, err := tokenOfAccount(ctx, d, from, o.Token)
	if err != nil {
		return p, err
	}
	p = records.Payment{Purpose: chain.Sweep, Network: n.Name, Token: t.TokenID, Chain: id, Account: o.Account, Asset: t.Asset, Payee: SpelledAddress(o.To)}
	decimals := t.AssetDecimals
	if id == n.Exchange {
		p.Asset, decimals = chain.Asset(t.TokenID), t.Decimals
	}
	if p.Amount, err = chain.ParseWhole(o.Amount, decimals); err != nil || p.Amount.IsZero() {
		return p, Usagef("amount %q: must be a number of whole %s above zero, with at most %d decimal places", o.Amount, t.Symbol, decimals)
	}
	return p, destination(ctx, d, &p, from, n, t)
}

// tokenOfAccount is a token of an account's network.
func tokenOfAccount(ctx context.Context, d *Session, a records.Account, name string) (records.Network, records.Token, error) {
	networks, err := d.Networks(ctx)
	if err != nil {
		return records.Network{}, records.Token{}, err
	}
	var symbols []string
	for _, n := range networks {
		for _, t := range n.Tokens {
			if n.Name != a.Network {
				continue
			}
			if slices.Contains([]string{t.TokenID, t.Symbol, t.SourceSymbol(), string(t.Asset)}, name) {
				return n, t, nil
			}
			symbols = append(symbols, t.Symbol)
		}
	}
	return records.Network{}, records.Token{}, Usagef("network %s has no token %q: must be one of %s", a.Network, name, strings.Join(symbols, ", "))
}

// destination sets where the money goes: the cold address, or an account that pays on the same
// chain of the network. Nothing else is ours.
func destination(ctx context.Context, d *Session, p *records.Payment, from records.Account, n records.Network, t records.Token) error {
	if p.Payee == ToCold {
		switch {
		case from.Kind != records.KindHot:
			return refused("%s is on %s: cold storage is on the source chain, so move funds from a hot account", from.Account, from.Chain)
		case t.Cold == "":
			return refused("token %s of network %s has no cold address: configure `cold` of it, here and for the signer", t.Symbol, p.Network)
		}
		p.Purpose, p.Payee = chain.Cold, t.Cold
		return nil
	}
	var paying []string
	err := d.Store.View(ctx, func(tx *records.Tx) error {
		list, err := tx.Accounts().List(from.Chain, from.Kind)
		for _, a := range list {
			if slices.Contains(n.Paying(from.Chain), a.Account) && a.Account != from.Account && a.State != records.AccountHalted && a.State != records.AccountRecovering {
				paying = append(paying, a.Account)
			}
		}
		return err
	})
	if err != nil || slices.Contains(paying, p.Payee) {
		return err
	}
	if len(paying) == 0 {
		return Usagef("--to %q: must be `cold`: there is no other paying account on %s", p.Payee, from.Chain)
	}
	return Usagef("--to %q: must be `cold` or one of %s: funds are moved to our own accounts only", p.Payee, strings.Join(paying, ", "))
}

// checkFunds is an error unless the account has the amount in addition to what it owes and is
// sending.
func checkFunds(ctx context.Context, d *Session, p records.Payment) error {
	chains, err := d.Chains(ctx)
	if err != nil {
		return err
	}
	have, err := chains[p.Chain].Balance(ctx, p.Account, p.Asset)
	if err != nil {
		return fmt.Errorf("reading the balance of %s: %w", p.Account, err)
	}
	var owed chain.Amount
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		all, err := books.Owed(tx, p.Chain, p.Account)
		owed = all[p.Asset]
		return err
	})
	if err != nil {
		return err
	}
	free, err := have.Sub(owed)
	if err != nil {
		free = chain.Amount{}
	}
	if free.Less(p.Amount) {
		text := func(a chain.Amount) string { return d.Config.AssetAmount(p.Chain, p.Asset, a) }
		return refused("%s has %s and owes %s of it to users: at most %s can be moved", p.Account, text(have), text(owed), text(free))
	}
	return nil
}
