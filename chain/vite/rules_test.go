package vite

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// TestWhatIsNotThePaymentIsNotSigned alters one field of a block at a time: a thief who owns the
// daemon could ask for each of these.
func TestWhatIsNotThePaymentIsNotSigned(t *testing.T) {
	key, thief, payee := keyOf(t, "gateway"), keyOf(t, "thief").Address(), keyOf(t, "user").Address()
	config := SigningConfig{ID: "vite", Tag: "gate"}
	require.NoError(t, config.Check())
	rules := NewSigningRules(config)
	slot := chain.Slot{Account: key.Address().String(), Key: "m/44'/666666'/0'", Branch: 1, Nonce: 9, Prev: core.Hash{9}.String()}
	credit := chain.Payment{ID: 5, Purpose: chain.Credit, Asset: chain.Asset(core.VITE.String()), To: payee.String(), Amount: chain.NewAmount(1000)}
	receive := chain.Payment{ID: 6, Purpose: chain.Receive, Source: core.Hash{7}.String()}
	order := func(pay chain.Payment, change func(b *core.AccountBlock)) chain.Order {
		b, err := rules.ordered(slot, pay)
		require.NoError(t, err)
		change(b)
		b.Hash = b.ComputeHash()
		raw, err := encodeUnsigned(b)
		require.NoError(t, err)
		return chain.Order{Slot: slot, Payment: pay, Unsigned: raw}
	}
	for _, pay := range []chain.Payment{credit, receive} {
		o := order(pay, func(*core.AccountBlock) {})
		digests, err := rules.Digests(o)
		require.NoError(t, err)
		require.Len(t, digests, 1)
		public := key.Public()
		signed, err := rules.Seal(o, chain.Signature{Public: public[:], Bytes: key.Sign(digests[0].Hash)})
		require.NoError(t, err)
		b, err := core.DecodeBlock(signed.Raw)
		require.NoError(t, err)
		require.NoError(t, b.Verify())
		stranger := keyOf(t, "thief")
		public = stranger.Public()
		_, err = rules.Seal(o, chain.Signature{Public: public[:], Bytes: stranger.Sign(digests[0].Hash)})
		require.ErrorIs(t, err, core.ErrBlockProducer)
		_, err = rules.Seal(o)
		require.ErrorContains(t, err, "one signature")
	}
	for _, c := range []struct {
		name   string
		pay    chain.Payment
		change func(b *core.AccountBlock)
		why    string
	}{
		{"payee", credit, func(b *core.AccountBlock) { b.ToAddress = thief }, "to: "},
		{"amount", credit, func(b *core.AccountBlock) { b.Amount = *uint256.NewInt(1001) }, "amount: 1001, not 1000"},
		{"token", credit, func(b *core.AccountBlock) { b.TokenID = goldID() }, "token: "},
		{"account", credit, func(b *core.AccountBlock) { b.Address = thief }, "account: "},
		{"height", credit, func(b *core.AccountBlock) { b.Height = 10 }, "height: 10, not 9"},
		{"previous", credit, func(b *core.AccountBlock) { b.PreviousHash = core.Hash{8} }, "previous: "},
		{"another payment's number", credit, func(b *core.AccountBlock) { b.Data[15]++ }, "data: "},
		{"a call of a contract", credit, func(b *core.AccountBlock) { b.Data = []byte{1, 2, 3, 4} }, "data: "},
		{"a fee", credit, func(b *core.AccountBlock) { b.Fee = *uint256.NewInt(1) }, "fee: 1"},
		{"a contract is made", credit, func(b *core.AccountBlock) { b.BlockType = core.SendCreate }, "type: "},
		{"a receive for a send", credit, func(b *core.AccountBlock) {
			b.BlockType, b.SendBlockHash = core.Receive, core.Hash{7}
		}, "type: "},
		{"a send for a receive", receive, func(b *core.AccountBlock) {
			b.BlockType, b.ToAddress, b.TokenID, b.Amount = core.SendCall, thief, core.VITE, *uint256.NewInt(5)
		}, "type: "},
		{"another source", receive, func(b *core.AccountBlock) { b.SendBlockHash = core.Hash{6} }, "source: "},
		{"data in a receive", receive, func(b *core.AccountBlock) { b.Data = []byte{1} }, "data: "},
	} {
		_, err := rules.Digests(order(c.pay, c.change))
		require.ErrorContains(t, err, c.why, c.name)
		require.NotContains(t, err.Error(), "\n", c.name)
	}
	lying := order(credit, func(*core.AccountBlock) {})
	b, err := core.DecodeBlock(lying.Unsigned)
	require.NoError(t, err)
	b.Hash = core.Hash{1}
	lying.Unsigned, err = encodeUnsigned(b)
	require.NoError(t, err)
	_, err = rules.Digests(lying)
	require.ErrorContains(t, err, "more in it")
	lying.Unsigned = []byte("{}")
	_, err = rules.Digests(lying)
	require.ErrorContains(t, err, "decoding")
}
