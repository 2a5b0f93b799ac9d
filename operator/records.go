package operator

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gatewayd/records"
	"gatewayd/view"
)

// RecordRow is one record as lists, CSV and JSON show it. Amounts are in smallest units.
type RecordRow struct {
	ID        uint64         `json:"id"`
	Network   string         `json:"network"`
	Direction string         `json:"direction"`
	Token     string         `json:"token"`
	Wallet    string         `json:"wallet"`
	State     string         `json:"state"`
	Status    string         `json:"status"`      // the state as operators see it: docs/glossary.md
	Public    string         `json:"publicState"` // the state as wallets see it
	Reason    records.Reason `json:"reason"`
	Asset     string         `json:"asset"`
	Amount    string         `json:"amount"`
	Net       string         `json:"net"`
	Fee       string         `json:"fee"`
	From      string         `json:"from"`
	Payee     string         `json:"payee"`
	Label     string         `json:"label"`
	InTx      string         `json:"inTx"`
	OutTx     string         `json:"outTx"`
	RefundTx  string         `json:"refundTx"`
	Seen      string         `json:"seen"`
	To        string         `json:"to"`                // the account of ours that it came to
	Memo      string         `json:"memo"`              // the sender's note, in hexadecimal
	MemoText  string         `json:"memoText"`          // the same as text, where it is text
	Fault     string         `json:"fault"`             // why that is no label, or no comment
	Incident  string         `json:"incident"`          // what happened after it was decided: its block has left the chain
	Lost      string         `json:"lost"`              // what was written off of it, in units of LostAsset
	LostAsset string         `json:"lostAsset"`         // what was paid for it
	Account   string         `json:"account,omitempty"` // a stopped account of ours; no record then
}

var RecordHeader = []string{
	"id", "network", "direction", "token", "wallet", "state", "status", "reason", "asset", "amount", "net", "fee",
	"from", "payee", "label", "inTx", "outTx", "refundTx", "seen", "to", "memo", "memoText", "fault", "incident", "lost", "lostAsset",
}

func RowOf(r records.Record) RecordRow {
	label, public := r.PayeeLabel, view.PublicState(&r)
	if r.Direction == records.Funding {
		public = "" // wallets never see it
	}
	if r.Direction == records.Deposit {
		label = r.Memo.Label
	}
	row := RecordRow{
		ID: r.ID, Network: r.Network, Direction: string(r.Direction), Token: r.Token, Wallet: r.Owner,
		State: string(r.State), Status: view.OutcomeOf(&r), Public: public, Reason: r.Reason,
		Asset: string(r.Asset), Amount: r.Amount.String(), Net: r.Net.String(), Fee: r.Fee.String(),
		From: r.From, Payee: r.Payee, Label: label, InTx: r.Tx, OutTx: r.CreditTx, RefundTx: r.RefundTx, Seen: r.SeenAt.UTC().Format(time.RFC3339),
		To: r.To, Memo: hex.EncodeToString(r.Memo.Raw), MemoText: plainText(r.Memo.Raw), Fault: r.Memo.Fault, Incident: r.Incident,
	}
	if r.Loss != nil {
		row.Lost, row.LostAsset = r.Loss.Amount.String(), string(r.Loss.Asset)
	}
	return row
}

// plainText returns bytes as text if a terminal may show them.
func plainText(raw []byte) string {
	text := string(raw)
	if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return ""
	}
	return text
}

func (r RecordRow) Cells() []string {
	return []string{
		strconv.FormatUint(r.ID, 10), r.Network, r.Direction, r.Token, r.Wallet, r.State, r.Status, string(r.Reason), r.Asset, r.Amount, r.Net, r.Fee,
		r.From, r.Payee, r.Label, r.InTx, r.OutTx, r.RefundTx, r.Seen, r.To, r.Memo, r.MemoText, r.Fault, r.Incident, r.Lost, r.LostAsset,
	}
}

func (d *Session) Page(ctx context.Context, f view.Filter) (list []records.Record, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		list, err = view.Records(tx, f)
		return err
	})
	return list, err
}
