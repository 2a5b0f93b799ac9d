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

// BatchPayment returns the payment of a number as its chain's adapter takes it, with the most that
// it may cost: that of a batch has its payments as members, and the payee of batches of its asset.
func BatchPayment(c chain.Chain, s records.OpenSlot, maxFee chain.Amount) chain.Payment {
	if len(s.Members) == 0 {
		return ChainPayment(s.Payment, maxFee)
	}
	all := chain.Payment{ID: s.PaymentID, Purpose: chain.Batch, Asset: s.Payment.Asset, MaxFee: maxFee}
	if batches := chain.CapabilitiesOf(c).Batches; batches != nil {
		all.To = batches.BatchTo(s.Payment.Asset)
	}
	for _, p := range s.Members {
		all.Members = append(all.Members, ChainPayment(p, chain.Amount{}))
		if sum, err := all.Amount.Add(p.Amount); err == nil {
			all.Amount = sum
		}
	}
	return all
}

// ChainPayment returns a payment as its chain's adapter takes it, with the most that it may cost.
func ChainPayment(p records.Payment, maxFee chain.Amount) chain.Payment {
	return chain.Payment{ID: p.ID, Purpose: p.Purpose, Asset: p.Asset, To: p.Payee, Amount: p.Amount, Label: p.PayeeLabel, Source: p.Source, MaxFee: maxFee}
}
