package watcher

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// queueCredit orders the payout on the other chain, from one of the accounts that pay there. A transfer has one: QueuePayment in records/payments.go, and the
// index payments_once, refuse another.
func (w *Watcher) queueCredit(tx *records.Tx, n records.Network, t records.Transfer) error {
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
	_, err := tx.QueuePayment(p)
	return err
}

// queueRefund orders so much of a withdrawal back, to its sender unless an operator names another, from the account that it came to or, where that is
// retired, one that pays: all of it, or what a payout that failed has left.
func queueRefund(tx *records.Tx, n records.Network, t records.Transfer, payee string, amount chain.Amount) error {
	_, err := tx.QueuePayment(records.Payment{
		TransferID: t.ID, Purpose: chain.Refund, Network: n.Name, Token: t.Token,
		Chain: n.Exchange, Account: n.RefunderOf(t.Transfer, n.Exchange), Asset: t.Asset, Amount: amount, Payee: payee,
	})
	return err
}

// queueReceive takes a final incoming send into the chain of the account that it came to, so that its value can be spent.
func queueReceive(tx *records.Tx, n records.Network, t records.Transfer) error {
	_, err := tx.QueuePayment(records.Payment{
		TransferID: t.ID, Purpose: chain.Receive, Network: n.Name, Token: t.Token,
		Chain: n.Exchange, Account: t.To, Asset: t.Asset, Amount: t.Amount, Payee: t.To, Source: t.Tx,
	})
	return err
}
