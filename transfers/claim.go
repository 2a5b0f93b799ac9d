package transfers

import (
	"gatewayd/chain"
	"gatewayd/records"
)

// ClaimOf returns the claim of a payment: the payment and the transfer that it answers, if any.
func ClaimOf(q records.Payment, t records.Transfer) chain.Claim {
	c := chain.Claim{Account: q.Account, Payment: ChainPayment(q, chain.Amount{}), Cause: chain.Cause{Network: q.Network, Token: q.Token, Mark: q.Mark}}
	if q.TransferID != 0 {
		c.Cause.User, c.Cause.Chain, c.Cause.Height, c.Cause.Ref = t.Owner, t.Chain, t.Height, t.Ref
		c.Cause.Sender = t.From
	}
	return c
}

// ChainPayment returns a payment as its chain's adapter takes it, with the most that it may cost.
func ChainPayment(p records.Payment, maxFee chain.Amount) chain.Payment {
	return chain.Payment{ID: p.ID, Purpose: p.Purpose, Asset: p.Asset, To: p.Payee, Amount: p.Amount, Label: p.PayeeLabel, Source: p.Source, MaxFee: maxFee}
}
