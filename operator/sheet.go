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

// SheetRow is a token's balance sheet as `audit --json` has it. Amounts are in the asset's smallest
// unit.
type SheetRow struct {
	Network     string        `json:"network"`
	Symbol      string        `json:"symbol"`
	Asset       chain.Asset   `json:"asset"`
	Decimals    uint8         `json:"decimals"`
	Height      uint64        `json:"height"` // final block of the source chain
	Hot         chain.Amount  `json:"hot"`
	Gas         chain.Amount  `json:"gas"`
	Shared      chain.Amount  `json:"shared"`
	Deposits    chain.Amount  `json:"deposits"` // users' own addresses
	Above       chain.Amount  `json:"above"`    // credited deposits younger than height
	Cold        chain.Amount  `json:"cold"`     // at the cold address
	Held        chain.Amount  `json:"held"`
	Circulating chain.Amount  `json:"circulating"`        // credited less given back
	Supply      *chain.Amount `json:"supply,omitempty"`   // issued tokens: in other hands than the gateway's, by the exchange chain
	Unpaid      chain.Amount  `json:"unpaid"`             // payouts and refunds that no final block has
	Owed        chain.Amount  `json:"owed"`               // of all tokens of the asset, as WrittenOff
	WrittenOff  chain.Amount  `json:"writtenOff"`         // paid for transfers that have left their chains, given up by operators
	Uncovered   chain.Amount  `json:"uncovered"`          // owed above held and written off
	Expected    *chain.Amount `json:"expected,omitempty"` // tokens: held by the books, without above
	Missing     chain.Amount  `json:"missing"`            // tokens: expected above what is there
	Unexplained chain.Amount  `json:"unexplained"`        // coin: sent by transactions that the records do not know
}

// sheets compares the holdings of every token with its liabilities, and names outflows by
// transactions that we did not sign.
func (a *audit) sheets(ctx context.Context) error {
	networks, err := a.Networks(ctx)
	if err != nil {
		return err
	}
	for _, n := range networks {
		unexplained, err := a.unexplained(ctx, n.Source)
		if err != nil {
			return err
		}
		for _, t := range n.Tokens {
			b, ok, err := reconcile.Sheet(ctx, a.Store, a.chains[n.Source], a.chains[n.Exchange], n, t)
			if err != nil {
				a.missed = append(a.missed, fmt.Sprintf("balance sheet of %s on %s: %s", t.Symbol, n.Name, chain.PlainError(err)))
				continue
			}
			if ok {
				a.sheet(n, b, unexplained)
			}
		}
	}
	return nil
}

// sheet checks one. A debt that is not covered is a shortage where the books explain it.
func (a *audit) sheet(n records.Network, b reconcile.BalanceSheet, unexplained chain.Amount) {
	row := rowOfSheet(b)
	if b.Token.Asset == chain.Native {
		row.Unexplained = unexplained
	}
	a.rows = append(a.rows, row)
	a.check(row.Missing.IsZero(), "our accounts hold %s less of %s than the books show at block %d", row.text(row.Missing), row.Asset, b.Height)
	text := fmt.Sprintf("%s is held on %s and %s owed: %s is missing%s", row.text(row.Held), b.Network, row.text(row.Owed), row.text(row.Uncovered), row.unbooked())
	if !row.Missing.IsZero() || row.unbooked() != "" {
		a.check(row.Uncovered.IsZero(), "%s", text)
		return
	}
	needs, err := row.Held.Add(row.Uncovered)
	if err != nil {
		a.check(false, "%s", text)
		return
	}
	a.short(Shortage{Network: b.Network, Chain: n.Source, Token: b.Token.TokenID, Account: n.Hot, Asset: row.Asset, Holds: &row.Held, Needs: &needs, Detail: text})
}

// unbooked returns the circulation in excess of the books.
func (r SheetRow) unbooked() string {
	if r.Supply == nil || !r.Circulating.Less(*r.Supply) {
		return ""
	}
	more, _ := r.Supply.Sub(r.Circulating) // it is more
	return "; " + r.text(more) + " more is in circulation than the books show"
}

func rowOfSheet(b reconcile.BalanceSheet) SheetRow {
	row := SheetRow{
		Network: b.Network, Symbol: b.Token.Symbol, Asset: b.Token.Asset, Decimals: b.Token.AssetDecimals, Height: b.Height,
		Hot: b.Hot, Gas: b.Gas, Shared: b.Shared, Deposits: b.Deposits, Above: b.Above, Cold: b.Cold, Held: b.Held,
		Circulating: b.Circulating, Unpaid: b.Unpaid, Owed: b.Owed, WrittenOff: b.WrittenOff, Uncovered: b.Uncovered(), Missing: b.Missing,
	}
	if b.Issued {
		row.Supply = &b.Supply
	}
	if b.Opened {
		row.Expected = &b.Expected
	}
	return row
}

// unexplained adds up the coin that left by transactions of ours which the records do not know, and
// names each of them.
func (a *audit) unexplained(ctx context.Context, id chain.ID) (sum chain.Amount, err error) {
	err = a.Store.View(ctx, func(tx *records.Tx) error {
		accounts, err := tx.Recovery().Unexplained(id)
		if err != nil {
			return err
		}
		for _, account := range accounts {
			list, err := tx.Recovery().UnknownTxs(id, account)
			if err != nil {
				return err
			}
			for _, e := range list {
				a.check(false, "transaction %s of %s on %s was not signed by this daemon: it moved %s to %s", e.Tx, account, id, a.Config.AssetAmount(id, chain.Native, e.Value), e.To)
				if sum, err = sum.Add(e.Value); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return sum, err
}

func (r SheetRow) text(amount chain.Amount) string {
	return amount.Whole(r.Decimals) + " " + r.Symbol
}

// writeOff lets the books of a token take over what is missing of it.
func (a *audit) writeOff(ctx context.Context, name, why string, w io.Writer) error {
	networks, err := a.Networks(ctx)
	if err != nil {
		return err
	}
	for _, n := range networks {
		for _, t := range n.Tokens {
			if t.Asset == chain.Native || (t.Symbol != name && t.TokenID != name && string(t.Asset) != name) {
				continue
			}
			b, _, err := reconcile.Sheet(ctx, a.Store, a.chains[n.Source], a.chains[n.Exchange], n, t)
			if err != nil || b.Missing.IsZero() {
				return errors.Join(err, fmt.Errorf("%w: nothing of %s is missing", records.ErrNotFound, name))
			}
			err = a.Change(ctx, func(tx *records.Tx) error { return books.WriteOffTokens(tx, n.Source, t.Asset, b.Missing, why) })
			if err == nil {
				fmt.Fprintf(w, "The books of %s on %s are %s lower now. The daemon opens the channels once the debts are covered.\n", name, n.Name, rowOfSheet(b).text(b.Missing))
			}
			return err
		}
	}
	return records.ErrNotFound
}
