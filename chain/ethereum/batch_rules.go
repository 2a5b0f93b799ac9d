package ethereum

import (
	"errors"
	"fmt"

	"gatewayd/chain"
)

// batchMessage builds a call of the batch contract, and of no other: its members are payouts of one
// asset, without labels, and their sum is the amount of the batch. Payees may repeat.
func (c *SigningRules) batchMessage(msg message) (message, error) {
	pay := msg.asked
	if len(pay.Members) == 0 || len(pay.Members) > maxMembers {
		return message{}, fmt.Errorf("a batch of %d payments: must be 1 to %d", len(pay.Members), maxMembers)
	}
	call := batchCall{}
	if pay.Asset != chain.Native {
		token, err := c.token(pay.Asset)
		if err != nil {
			return message{}, err
		}
		call.token, call.gas = &token, tokenBatchGas
	}
	var sum chain.Amount
	for i, m := range pay.Members {
		p, err := c.batchMember(pay.Asset, m)
		if err == nil {
			call.pays = append(call.pays, p)
			sum, err = sum.Add(m.Amount)
		}
		if err != nil {
			return message{}, fmt.Errorf("member %d of the batch: %w", i, err)
		}
	}
	if sum != pay.Amount {
		return message{}, fmt.Errorf("%w: a batch of %s, whose members are %s", chain.ErrAmount, pay.Amount, sum)
	}
	if call.token == nil {
		msg.value = sum.Uint256()
	}
	msg.batch, msg.data = &call, call.data()
	return c.toPayouts(msg)
}

// withGasOf returns the message with the gas for each payment that a call has, if it is a batch.
func (m message) withGasOf(data []byte) message {
	if call, ok := readBatchCall(data); ok && m.batch != nil {
		return m.withGas(call.gas)
	}
	return m
}

func (m message) withGas(each uint64) message {
	call := *m.batch
	call.gas = each
	if call.gasFits() {
		m.batch, m.data = &call, call.data()
	}
	return m
}

// batchMember is one payment of a batch.
func (c *SigningRules) batchMember(asset chain.Asset, m chain.Payment) (movement, error) {
	switch {
	case m.Purpose != chain.Credit && m.Purpose != chain.Refund:
		return movement{}, fmt.Errorf("purpose %q is not paid in a batch", m.Purpose)
	case m.Asset != asset:
		return movement{}, fmt.Errorf("asset %s in a batch of %s", m.Asset, asset)
	case m.Label != "":
		return movement{}, fmt.Errorf("%w: a batch has no room for it", chain.ErrLabel)
	case m.Source != "":
		return movement{}, errors.New("it takes nothing in")
	case m.Amount.Uint256().BitLen() > 8*payeeAmount:
		return movement{}, fmt.Errorf("%w: above 2^%d-1", chain.ErrAmount, 8*payeeAmount)
	}
	to, err := c.payee(m)
	return movement{to: to, amount: *m.Amount.Uint256()}, err
}

// allowMessage builds the call that lets the batch contract move a token of the account. The
// contract moves tokens of its caller only. It moves nothing, so its amount is zero.
func (c *SigningRules) allowMessage(msg message) (message, error) {
	pay := msg.asked
	token, err := c.token(pay.Asset)
	if err != nil {
		return message{}, err
	}
	if !pay.Amount.IsZero() || len(pay.Members) > 0 {
		return message{}, fmt.Errorf("%w: an allowance moves nothing", chain.ErrAmount)
	}
	if msg, err = c.toPayouts(msg); err != nil {
		return message{}, err
	}
	msg.to, msg.data, msg.token = token, approveCall(c.payouts), true
	return msg, nil
}

// toPayouts makes the batch contract the receiver, which the payment must name.
func (c *SigningRules) toPayouts(msg message) (message, error) {
	to, err := parseAddress(msg.asked.To)
	if err != nil || to != c.payouts {
		return message{}, fmt.Errorf("receiver %q: %w: must be the contract of batches, %s", msg.asked.To, chain.ErrAddress, c.payouts)
	}
	if msg.asked.Label != "" || msg.asked.Source != "" {
		return message{}, fmt.Errorf("%w: purpose %q has none", chain.ErrLabel, msg.asked.Purpose)
	}
	msg.to = c.payouts
	return msg, nil
}
