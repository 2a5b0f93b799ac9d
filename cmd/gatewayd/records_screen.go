package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
)

// showRecords prints the records that an id or a hash names.
func showRecords(ctx context.Context, d *operator.Session, w streams, f format, name string) error {
	list, err := d.Details(ctx, name)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(w.stdout, list)
	}
	for i, s := range list {
		if i > 0 {
			fmt.Fprintln(w.stdout)
		}
		recordScreen{w, d.Config, s}.print()
	}
	return nil
}

// recordScreen is the screen of one record: what it is, what to do, and all that happened.
type recordScreen struct {
	w   streams
	cfg config.Config
	s   operator.RecordDetail
}

func (x recordScreen) print() {
	x.printHead()
	x.printIncoming()
	for i := range x.s.Payments {
		x.printPayment(i)
	}
	fmt.Fprintln(x.w.stdout, "History")
	for _, e := range x.s.History {
		x.text(fmt.Sprintf("  %s  %-10s ", shownStamp(e.At), e.Actor), strings.TrimSpace(e.What+" "+x.cfg.InWholeUnits(e.Detail)))
	}
}

// line prints a value under its name, if there is one.
func (x recordScreen) line(name, value string) {
	if value != "" {
		x.text(fmt.Sprintf("  %-8s ", name), value)
	}
}

// text prints a line, which only a terminal breaks.
func (x recordScreen) text(first, text string) {
	if x.w.width == 0 {
		fmt.Fprintln(x.w.stdout, first+text)
		return
	}
	printParagraph(x.w.stdout, first, strings.Repeat(" ", len(first)), text)
}

// printHead prints the record with its amount, its state, and the next step of an operator.
func (x recordScreen) printHead() {
	r, t := x.s.Record, x.s.Stored
	amount := x.cfg.AssetAmount(t.Chain, t.Asset, t.Amount)
	fmt.Fprintf(x.w.stdout, "Record %d: %s of %s on %s, %s\n", r.ID, r.Direction, amount, r.Network, withReason(r.Status, reasonOf(t)))
	x.line("reason", reasonText(r.Reason))
	x.line("INCIDENT", r.Incident)
	if l := t.Loss; r.Incident != "" && l != nil {
		x.line("LOST", x.cfg.AssetAmount(l.Chain, l.Asset, l.Amount)+", written off")
	}
	x.line("next", x.s.NextStep())
	if r.Token != "" && t.Direction != records.Funding {
		x.line("amount", fmt.Sprintf("%s = net %s + fee %s", amount, x.cfg.TokenAmount(r.Token, t.Net), x.cfg.TokenAmount(r.Token, t.Fee)))
	}
	x.line("from", x.sender())
	x.line("to", r.To)
	x.line("wallet", r.Wallet)
	if r.Payee != r.Wallet {
		x.line("payee", r.Payee)
	}
	x.line("label", r.Label)
	x.line("note", r.Note())
}

// sender is the sender, or why it is unknown.
func (x recordScreen) sender() string {
	switch {
	case x.s.Record.From != "":
		return x.s.Record.From
	case x.s.Stored.FoundByAudit():
		return "unknown: only balances show it, and the hash is its block's"
	}
	return "unknown: the transaction names no sender"
}

// inTxURL is the explorer's page of a record's transaction. What only balances show has none.
func inTxURL(cfg config.Config, t records.Transfer) string {
	if t.FoundByAudit() {
		return ""
	}
	return cfg.TxURL(t.Chain, t.Tx)
}

func (x recordScreen) printIncoming() {
	in := x.s.In
	fmt.Fprintf(x.w.stdout, "Received on %s\n", in.Chain)
	x.line("hash", in.Tx)
	x.line("explorer", inTxURL(x.cfg, x.s.Stored.Transfer))
	depth := depthText(in.Confirmed, in.Wanted, in.Final)
	if x.s.Stored.State == records.Orphaned {
		depth = "left the chain"
	}
	x.line("block", fmt.Sprintf("%d of %s, %s", in.Height, shownStamp(in.At), depth))
}

// depthText is the depth of a block.
func depthText(confirmed, wanted uint64, final bool) string {
	depth := counted(int(confirmed), "confirmation")
	switch {
	case final:
		return depth + ", final"
	case wanted > 0:
		return fmt.Sprintf("%d of %d confirmations", confirmed, wanted)
	}
	return depth
}

func (x recordScreen) printPayment(i int) {
	p, stored := x.s.Payments[i], x.s.Paid[i]
	fmt.Fprintf(x.w.stdout, "Payment %d: %s of %s on %s, %s\n",
		p.ID, p.Purpose, x.cfg.AssetAmount(stored.Chain, stored.Asset, stored.Amount), p.Chain, withReason(p.State, p.Reason))
	x.line("reason", reasonText(p.Reason))
	x.line("from", p.Account)
	x.line("to", strings.TrimSpace(p.Payee+" "+p.Label))
	tx := p.Tx
	if m := p.Mined; m != nil {
		tx = cmp.Or(tx, m.Tx)
	}
	x.line("hash", tx)
	x.line("explorer", x.cfg.TxURL(stored.Chain, tx))
	if m := p.Mined; m != nil {
		x.line("block", fmt.Sprintf("%d, %s", m.Height, depthText(m.Confirmed, 0, m.Final)))
	}
	for _, a := range p.Attempts {
		x.line("attempt", fmt.Sprintf("%s  number %d, %s %s", shownStamp(a.At), a.Number, a.Kind, a.Hash))
	}
}

// reasonOf is the reason of a record or, where it has none, of its held payment.
func reasonOf(r records.Record) records.Reason {
	for _, p := range []*records.Payment{r.Refund, r.Credit} {
		if r.Reason == "" && p != nil && p.State == records.HeldPayment {
			return p.Reason
		}
	}
	return r.Reason
}

// withReason is a state with its reason, as --reason has it.
func withReason(state string, r records.Reason) string {
	if r == "" {
		return state
	}
	return fmt.Sprintf("%s (%s)", state, r)
}

// reasonText is a reason in words; empty where they are those of its name.
func reasonText(r records.Reason) string {
	info, _ := records.ReasonOf(r)
	if info.English == strings.ReplaceAll(string(r), "_", " ") {
		return ""
	}
	return info.English
}
