package spend

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// Unpayable means that one payment of a transaction can never be made, however high the fee. The
// others can.
type Unpayable struct {
	Payment uint64
	Why     error
}

func (e *Unpayable) Error() string { return fmt.Sprintf("payment %d: %s", e.Payment, e.Why) }

// Unwrap is chain.ErrRefused: it is refunded.
func (e *Unpayable) Unwrap() []error { return []error{chain.ErrRefused, e.Why} }

// members are the payments that a transaction makes: those of a batch, or the payment itself.
// A merge and a cancellation pay none: their one output is ours.
func members(pay chain.Payment) ([]chain.Payment, error) {
	switch pay.Purpose {
	case chain.Merge, chain.Cancel:
		if len(pay.Members) > 0 {
			return nil, fmt.Errorf("members: a %s has none", pay.Purpose)
		}
		return nil, nil
	case chain.Batch:
		return pay.Members, checkSum(pay)
	}
	if len(pay.Members) > 0 {
		return nil, fmt.Errorf("members: a %s has none", pay.Purpose)
	}
	return []chain.Payment{pay}, nil
}

// checkSum holds a batch's amount against those of its members.
func checkSum(pay chain.Payment) error {
	var sum chain.Amount
	for _, m := range pay.Members {
		var err error
		if sum, err = sum.Add(m.Amount); err != nil {
			return err
		}
	}
	switch {
	case len(pay.Members) == 0:
		return errors.New("members: a batch must have some")
	case sum != pay.Amount:
		return fmt.Errorf("amount: %s, and its members' sum is %s", pay.Amount, sum)
	}
	return nil
}

// payees are the outputs of payments, in their order.
func payees(n *network.Network, pays []chain.Payment) ([]*wire.TxOut, error) {
	outputs := make([]*wire.TxOut, len(pays))
	for i, pay := range pays {
		out, err := payee(n, pay)
		if err != nil {
			return nil, err
		}
		outputs[i] = out
	}
	return outputs, nil
}

// CheckPayee returns an error unless a transaction can make the payment, whatever the fee:
// Unpayable where that is its receiver's or amount's fault.
func CheckPayee(n *network.Network, pay chain.Payment) error {
	_, err := payee(n, pay)
	return err
}

func payee(n *network.Network, pay chain.Payment) (*wire.TxOut, error) {
	switch pay.Purpose {
	case chain.Credit, chain.Refund, chain.Cold:
	default:
		return nil, fmt.Errorf("payment %d: purpose: %q does not exist on this chain", pay.ID, pay.Purpose)
	}
	to, err := n.Parse(pay.To)
	switch {
	case pay.Asset != chain.Native:
		return nil, fmt.Errorf("payment %d: asset: %q, where there is only the chain's coin", pay.ID, pay.Asset)
	case pay.Label != "":
		return nil, fmt.Errorf("payment %d: %w: the chain has none", pay.ID, chain.ErrLabel)
	case err != nil:
		return nil, &Unpayable{pay.ID, err}
	}
	value, err := satoshi(pay.Amount)
	if err != nil {
		return nil, &Unpayable{pay.ID, err}
	}
	if least := n.Dust(to.Script); value < least {
		return nil, &Unpayable{pay.ID, fmt.Errorf("%w: %d satoshi to %s are dust: nodes relay %d at least", chain.ErrAmount, value, to.Text, least)}
	}
	return wire.NewTxOut(value, to.Script), nil
}
