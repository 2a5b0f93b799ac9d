package transfers

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// queueCredit orders the payout on the other chain, from one of the accounts that pay there. A
// transfer has one: QueuePayment in records/payments.go, and the index payments_once, refuse
// another.
func (r Rules) queueCredit(tx *records.Tx, n records.Network, t records.Transfer) error {
	p := records.Payment{TransferID: t.ID, Purpose: chain.Credit, Network: n.Name, Token: t.Token, Payee: t.Payee, PayeeLabel: t.PayeeLabel}
	token, ok := n.Token(t.Token)
	if !ok {
		return fmt.Errorf("token %s is no longer configured on network %s", t.Token, n.Name)
	}
	if t.Direction == records.Deposit {
		p.Chain, p.Asset, p.Amount = n.Exchange, chain.Asset(t.Token), t.Net
	} else {
		paid, _, err := t.Net.Rescale(t.Policy.Decimals, t.Policy.AssetDecimals)
		if err != nil {
			return err
		}
		p.Chain, p.Asset, p.Amount = n.Source, token.Asset, paid
	}
	p.Account = n.PayerOf(p.Chain, t.Transfer, t.Chain)
	_, err := tx.Payments().Queue(p)
	return err
}

// queueRefund orders the refund of an amount of a withdrawal, to its sender unless an operator
// names another. It is paid from the receiving account or, where that is retired, from one that
// pays. The amount is the complete withdrawal, or the rest after a failed payout.
func queueRefund(tx *records.Tx, n records.Network, t records.Transfer, payee string, amount chain.Amount) error {
	_, err := tx.Payments().Queue(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: n.Name, Token: t.Token,
		Chain: n.Exchange, Account: n.RefunderOf(t.Transfer, n.Exchange), Asset: t.Asset, Amount: amount, Payee: payee,
	})
	return err
}

// queueReceive takes a final incoming send into the chain of the account that it came to, so that
// its value can be spent.
func queueReceive(tx *records.Tx, n records.Network, t records.Transfer) error {
	_, err := tx.Payments().Queue(records.Payment{
		TransferID: t.ID, Purpose: chain.Receive, Network: n.Name, Token: t.Token,
		Chain: n.Exchange, Account: t.To, Asset: t.Asset, Amount: t.Amount, Payee: t.To, Source: t.Tx,
	})
	return err
}

// GiveUp turns a payout of a withdrawal that is queued or held into a refund of an amount. The
// payout is void first, so the two can never both live. ErrConflict, with nothing changed: the
// withdrawal cannot be refunded.
func (r Rules) GiveUp(tx *records.Tx, p records.Payment, t records.Transfer, reason records.Reason, back chain.Amount) error {
	if !r.Refundable(t) {
		return fmt.Errorf("%w: transfer %d has left its chain, or its network was removed from the configuration", records.ErrConflict, t.ID)
	}
	if err := tx.Payments().Move(p.ID, p.State, records.VoidPayment, reason); err != nil {
		return err
	}
	if err := tx.Transfers().Move(t.ID, t.State, records.Refused, reason); err != nil {
		return err
	}
	return queueRefund(tx, r.Network(t.Network), t, t.From, back)
}

// Refundable reports whether a refund of a withdrawal can be ordered: it is on its chain, and its
// network is configured.
func (r Rules) Refundable(t records.Transfer) bool {
	return t.Incident == "" && r.Network(t.Network).Name != ""
}
