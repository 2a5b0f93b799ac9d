package node

import "gatewayd/chain/vite/core"

// block is what the chain knows about an entry, nil for nil. Memory knows more about a block than the history: that it was
// received lately.
func (v *View) block(e *entry) *Block {
	if e == nil {
		return nil
	}
	if newer := v.s.blocks[e.block.Hash]; newer != nil {
		e = newer
	}
	own := *e.block
	b := &Block{
		AccountBlock: &own, Producer: producerOf(&own), Transfer: e.moves(),
		QuotaByStake: e.byStake, TotalQuota: e.total,
	}
	b.TokenInfo = v.Token(b.Transfer.Token)
	if n := e.snapshot; n != nil {
		point := n.Point
		b.Snapshot, b.Confirmations = &point, v.s.height()-n.Height+1
	}
	if e.receive != nil {
		id := e.receive.id()
		b.Received = &id
	}
	own.Triggered = nil
	for _, t := range e.triggered {
		shown := v.block(t)
		b.Triggered = append(b.Triggered, shown)
		own.Triggered = append(own.Triggered, shown.AccountBlock)
	}
	if own.Signature == nil && own.PublicKey != nil {
		v.unsigned = append(v.unsigned, func(key core.PrivateKey) { own.Signature = key.Sign(own.Hash[:]) })
	}
	return b
}

// producerOf is the address of the block's key, or of the empty key, as a real node shows it.
func producerOf(b *core.AccountBlock) core.Address {
	if len(b.PublicKey) == core.PublicKeySize {
		return core.UserAddress(core.PublicKey(b.PublicKey))
	}
	return emptyKeyAddress
}

// moves is the value that the block carries, a receive's being its send's.
func (e *entry) moves() Transfer {
	b := e.block
	switch {
	case b.IsSend():
		return Transfer{From: b.Address, To: b.ToAddress, Token: b.TokenID, Amount: b.Amount, Fee: b.Fee}
	case e.send != nil:
		return e.send.moves()
	}
	return Transfer{}
}

// emptyKeyAddress is what a real node shows as the producer of a block without a key.
var emptyKeyAddress = mustAddress("vite_3345524abf6bbe1809449224b5972c41790b6cf2e22fcb5caf")

func mustAddress(s string) core.Address {
	a, err := core.ParseAddress(s)
	if err != nil {
		panic(err)
	}
	return a
}
