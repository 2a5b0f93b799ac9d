package transfers

import (
	"errors"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// quoteWindow is the validity of a quoted network cost: a withdrawal is charged the lowest cost
// quoted this long before it was seen.
const quoteWindow = 10 * time.Minute

// Classify converts a movement to its row at first sight: owner, value and, already, the reason why
// it will be refused or held once it is final. Every account that was ever ours counts, so a
// published address works permanently. ok is false for movements without relevance.
func (r Rules) Classify(tx *records.Tx, id chain.ID, t chain.Transfer) (row records.Transfer, ok bool, err error) {
	if t.Amount.IsZero() {
		return row, false, nil
	}
	account, err := tx.Accounts().Get(id, t.To)
	if errors.Is(err, records.ErrNotFound) {
		return row, false, nil
	}
	if err != nil {
		return row, false, err
	}
	row = records.Transfer{Chain: id, Transfer: t, State: records.Seen, Network: account.Network}
	n := r.Network(account.Network)
	if account.Kind == records.KindGateway {
		return row, true, r.toGateway(tx, n, &row)
	}
	err = r.deposit(tx, n, account.Kind, &row)
	return row, !row.Failed || row.Reason == records.ReasonFailed, err // a failed one matters only to a user whom it would have been credited to
}

// toGateway separates our own transfers from users' withdrawals.
func (r Rules) toGateway(tx *records.Tx, n records.Network, row *records.Transfer) error {
	_, err := tx.Accounts().Get(row.Chain, row.From)
	switch {
	case errors.Is(err, records.ErrNotFound):
		return r.withdrawal(tx, n, row)
	case err != nil:
		return err
	}
	row.Direction, row.Reason = records.Funding, records.ReasonInternal
	if token, ok := n.Token(string(row.Asset)); ok {
		row.Token, row.Policy = token.TokenID, token.Policy
	}
	return nil
}

func (r Rules) deposit(tx *records.Tx, n records.Network, kind records.AccountKind, row *records.Transfer) error {
	row.Direction = records.Deposit
	if kind != records.KindDeposit && (n.NoSenders || slices.Contains(n.Funders, row.From)) {
		row.Direction = records.Funding
		return nil
	}
	bindingType, owner, reason, err := r.depositor(tx, n, kind, row)
	if err != nil || reason != "" {
		row.Reason = reason
		return err
	}
	token, ok := served(n, kind, row.Asset)
	other := token.Type != bindingType
	if !ok || other && row.Failed { // a failed transfer that could not have been credited is not shown
		row.Reason = records.ReasonUnknownToken
		return nil
	}
	row.Token, row.Owner, row.Payee, row.Policy = token.TokenID, owner, owner, token.Policy
	if row.Net, row.Reason = valueOf(row, token); other && row.Reason == "" {
		row.Reason = records.ReasonWrongType
	}
	return nil
}

// served returns the token of an asset at an account of a kind: one that is deposited there, else
// one that is deposited the other way.
func served(n records.Network, kind records.AccountKind, asset chain.Asset) (records.Token, bool) {
	first, second := records.TypeLabel, records.TypeAddress
	if kind == records.KindDeposit {
		first, second = second, first
	}
	if token, ok := n.ByAsset(asset, first); ok {
		return token, true
	}
	return n.ByAsset(asset, second)
}

// valueOf returns a deposit's value in the gateway token's units, truncated, and the reason for a
// refusal, if any.
func valueOf(row *records.Transfer, token records.Token) (net chain.Amount, reason records.Reason) {
	net, _, err := row.Amount.Rescale(token.AssetDecimals, token.Decimals)
	switch {
	case err != nil:
		return net, records.ReasonOverMaximum
	case net.IsZero() || net.Less(token.Policy.MinDeposit):
		return net, records.ReasonBelowMinimum
	case row.Failed:
		return net, records.ReasonFailed
	}
	return net, ""
}

// depositor returns the user of an inbound address or of a label at the shared one, or the reason
// why there is none.
func (r Rules) depositor(tx *records.Tx, n records.Network, kind records.AccountKind, row *records.Transfer) (bindingType int, owner string, reason records.Reason, err error) {
	var b records.Binding
	var known bool
	hot := kind == records.KindHot && n.Shared == n.Hot // docs/adr/004; users have the addresses of retired ones too
	shared := kind == records.KindShared || hot
	switch {
	case kind == records.KindDeposit:
		bindingType, reason = records.TypeAddress, records.ReasonUnbound
		b, known, err = tx.Bindings().ByAddress(row.Chain, row.To)
	case shared:
		bindingType, reason = records.TypeLabel, records.ReasonUnknownLabel
		if row.Memo.Label != "" && row.Memo.Fault == "" {
			b, known, err = bindingOf(tx, n.Name, row.Memo.Label)
		}
	default:
		reason = records.ReasonUnbound
	}
	if err != nil || !known {
		return bindingType, "", reason, err
	}
	return bindingType, b.Owner, "", nil
}

// bindingOf finds the binding of the label that a sender wrote: as written, else in capitals,
// because our labels have capitals only and people type them. Letters of other scripts are not
// changed.
func bindingOf(tx *records.Tx, network, label string) (records.Binding, bool, error) {
	b, known, err := tx.Bindings().ByLabel(network, label)
	capitals := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r - 'a' + 'A'
		}
		return r
	}, label)
	if err != nil || known || capitals == label {
		return b, known, err
	}
	return tx.Bindings().ByLabel(network, capitals)
}

func (r Rules) withdrawal(tx *records.Tx, n records.Network, row *records.Transfer) error {
	row.Direction = records.Withdrawal
	token, ok := n.Token(string(row.Asset))
	if !ok {
		if slices.Contains(n.Funders, row.From) {
			row.Direction = records.Funding
			return nil
		}
		row.Reason = records.ReasonUnknownToken
		return nil
	}
	row.Token, row.Policy = token.TokenID, token.Policy
	if row.Memo.Type < 0 && slices.Contains(n.Funders, row.From) {
		row.Direction = records.Funding
		return nil
	}
	if _, ok := r.Payable(n.Exchange, row.From, ""); !ok {
		row.Reason = records.ReasonUnknownSender
		return nil
	}
	row.Owner = row.From
	if err := r.price(tx, n, token, row); err != nil || row.Reason != "" {
		return err
	}
	return r.payoutAddress(tx, n, token, row)
}

// price splits the gross amount into what is paid out and the fee, and checks the limits, which
// bound the net amount (docs/gateway-clients.md 4.2).
func (r Rules) price(tx *records.Tx, n records.Network, token records.Token, row *records.Transfer) error {
	p := &row.Policy
	lowest, highest, err := r.costs(tx, n, token)
	if err != nil {
		return err
	}
	p.Cost = lowest
	net, fee, ok := split(*p, row.Amount, highest)
	if !ok {
		row.Net, row.Reason = row.Amount, records.ReasonBelowMinimum
		return nil
	}
	row.Net, row.Fee = net, fee
	row.Reason = limits(*p, net)
	return nil
}

// costs are the lowest and the highest network cost that the user may have been quoted.
func (r Rules) costs(tx *records.Tx, n records.Network, token records.Token) (lowest, highest chain.Amount, err error) {
	if token.Policy.Fee.Kind != "network" {
		return lowest, highest, nil
	}
	lowest, highest, ok, err := records.QuotesSince(tx, n.Name, token.TokenID, r.Now().Add(-quoteWindow))
	if err == nil && !ok {
		err = ErrNoQuote
	}
	return lowest, highest, err
}

// split charges the lowest cost. Who was quoted a higher one and sent the maximum with it gets the
// maximum, not a refusal.
func split(p records.Policy, gross, highest chain.Amount) (net, fee chain.Amount, ok bool) {
	net, fee, ok = p.Fee.NetOf(gross, p.Cost)
	if !ok || p.MaxWithdraw.IsZero() || !p.MaxWithdraw.Less(net) {
		return net, fee, ok
	}
	asked, _, fits := p.Fee.NetOf(gross, highest)
	rest, err := gross.Sub(p.MaxWithdraw)
	if fits && err == nil && !p.MaxWithdraw.Less(asked) {
		return p.MaxWithdraw, rest, true
	}
	return net, fee, true
}

// limits returns the reason for refusing a net amount, if any.
func limits(p records.Policy, net chain.Amount) records.Reason {
	paid, _, err := net.Rescale(p.Decimals, p.AssetDecimals)
	switch {
	case net.Less(p.MinWithdraw) || (err == nil && paid.IsZero()):
		return records.ReasonBelowMinimum
	case err != nil || (!p.MaxWithdraw.IsZero() && p.MaxWithdraw.Less(net)):
		return records.ReasonOverMaximum
	}
	return ""
}

// payoutAddress reads the payee from the withdrawal's comment. A comment of the wrong type or shape
// is refused, not guessed (docs/gateway-clients.md 4.3).
func (r Rules) payoutAddress(tx *records.Tx, n records.Network, token records.Token, row *records.Transfer) error {
	if row.Memo.Fault != "" || row.Memo.Type != token.Type {
		row.Reason = records.ReasonWrongComment
		return nil
	}
	payee, ok := r.Payable(n.Source, row.Memo.Address, row.Memo.Label)
	if !ok {
		row.Reason = records.ReasonWrongAddress
		return nil
	}
	if _, err := tx.Accounts().Get(n.Source, payee); err == nil {
		row.Reason = records.ReasonWrongAddress // one of our own
		return nil
	} else if !errors.Is(err, records.ErrNotFound) {
		return err
	}
	row.Payee, row.PayeeLabel = payee, row.Memo.Label
	return nil
}
