package spend

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/psbt/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// paid is a batch of two payees from two coins, with change, and its order.
func (w *env) paid() (Draft, chain.Order) {
	pay := batch(w.pay(1, w.payee(network.P2PKH, 1), 1_000_000), w.pay(2, w.payee(network.P2TR, 2), 2_000_000))
	f := w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 2_000_000, 5), w.coin(w.own(network.P2TR, 0, 2), 3_000_000, 6))
	d, err := w.Pay(f, pay, 10_000)
	require.NoError(w.t, err)
	require.Len(w.t, d.Coins, 2)
	require.NotNil(w.t, d.Change)
	return d, w.order(d, pay)
}

// output is a part that names a path of ours for an output.
func output(own network.Own) psbt.POutput { return psbt.POutput{Bip32Derivation: derivation(own)} }

// TestThiefGetsNothing: an order whose transaction differs from it in any field is refused, and the
// text names the field.
func TestThiefGetsNothing(t *testing.T) {
	w := newEnv(t)
	d, good := w.paid()
	_, err := w.rules.Digests(good)
	require.NoError(t, err)
	thief, err := w.net.Parse(w.payee(network.P2WPKH, 66))
	require.NoError(t, err)
	strange := w.coin(w.own(network.P2WPKH, 0, 3), 1_000_000, 5)
	strange.Own.Script = thief.Script
	more := func(p *psbt.Packet, count int, amount int64) { // outputs of change
		own := w.own(network.P2WPKH, network.Internal, 4)
		for range count {
			p.UnsignedTx.AddTxOut(wire.NewTxOut(amount, own.Script))
			p.Outputs = append(p.Outputs, output(own))
			p.UnsignedTx.TxOut[2].Value -= amount + 1_000
		}
	}
	_, err = w.rules.Digests(altered(t, good, func(p *psbt.Packet) { more(p, 3, 100_000) }))
	require.NoError(t, err, "change in four parts")
	for _, c := range []struct {
		name  string
		alter func(*psbt.Packet)
		why   string
	}{
		{"the amount of an input is lied", func(p *psbt.Packet) { p.Inputs[0].NonWitnessUtxo.TxOut[d.Coins[0].Outpoint.Index].Value *= 10 }, "input 0: amount: it is of transaction"},
		{"a witness alone tells the amount", func(p *psbt.Packet) {
			p.Inputs[1].NonWitnessUtxo, p.Inputs[1].WitnessUtxo = nil, wire.NewTxOut(3_000_000, d.Coins[1].Own.Script)
		}, "input 1: amount: nothing proves"},
		{"the transaction of another input", func(p *psbt.Packet) { p.Inputs[1].NonWitnessUtxo = p.Inputs[0].NonWitnessUtxo }, "input 1: amount: it is of transaction"},
		{"payees are swapped", func(p *psbt.Packet) { out := p.UnsignedTx.TxOut; out[0], out[1] = out[1], out[0] }, "output 0: to: not the payee of payment 1"},
		{"amounts are swapped", func(p *psbt.Packet) {
			out := p.UnsignedTx.TxOut
			out[0].Value, out[1].Value = out[1].Value, out[0].Value
		}, "output 0: amount: 2000000, and payment 1 is of 1000000"},
		{"a payee gets more", func(p *psbt.Packet) { p.UnsignedTx.TxOut[1].Value++ }, "output 1: amount"},
		{"a payee is replaced", func(p *psbt.Packet) { p.UnsignedTx.TxOut[1].PkScript = thief.Script }, "output 1: to: not the payee of payment 2"},
		{"a payee is missing", func(p *psbt.Packet) { p.UnsignedTx.TxOut = p.UnsignedTx.TxOut[:1] }, "output 1: payment 2 is missing"},
		{"change to a stranger", func(p *psbt.Packet) { p.UnsignedTx.TxOut[2].PkScript = thief.Script }, "change: to: it is no script of our accounts"},
		{"change without a path", func(p *psbt.Packet) { p.Outputs[2] = psbt.POutput{} }, "change: to: it is no script of our accounts"},
		{"change to a user's address", func(p *psbt.Packet) {
			own := w.own(network.P2WPKH, network.External, 4)
			p.UnsignedTx.TxOut[2].PkScript, p.Outputs[2] = own.Script, output(own)
		}, "change: to: it is on branch 0, not on 1"},
		{"change of an unhardened sibling", func(p *psbt.Packet) { p.Outputs[2].Bip32Derivation[0].Bip32Path[4]++ }, "change: to: it is no script of our accounts"},
		{"dust as change", func(p *psbt.Packet) { p.UnsignedTx.TxOut[2].Value = 1 }, "change: amount: 1 satoshi"},
		{"a fee as theft", func(p *psbt.Packet) { p.UnsignedTx.TxOut[2].Value = 3_000 }, "fee: the fee ceiling is reached"},
		{"all change as fee", func(p *psbt.Packet) { p.UnsignedTx.TxOut = p.UnsignedTx.TxOut[:2] }, "fee: the fee ceiling is reached"},
		{"no fee", func(p *psbt.Packet) { p.UnsignedTx.TxOut[2].Value += d.Fee }, "fee: the inputs of 5000000 satoshi leave none"},
		{"more than there is", func(p *psbt.Packet) { p.UnsignedTx.TxOut[2].Value += 5_000_000 }, "fee: the inputs of 5000000 satoshi leave none"},
		{"another first coin", func(p *psbt.Packet) {
			in := p.UnsignedTx.TxIn
			in[0], in[1], p.Inputs[0], p.Inputs[1] = in[1], in[0], p.Inputs[1], p.Inputs[0]
		}, "coin: the transaction spends " + d.Coins[1].Outpoint.String() + " first"},
		{"a coin is no longer spent", func(p *psbt.Packet) { p.UnsignedTx.TxIn, p.Inputs = p.UnsignedTx.TxIn[1:], p.Inputs[1:] }, "coin: the transaction spends"},
		{"a coin twice", func(p *psbt.Packet) {
			p.UnsignedTx.AddTxIn(p.UnsignedTx.TxIn[1])
			p.Inputs = append(p.Inputs, p.Inputs[1])
			p.UnsignedTx.TxOut[2].Value += 3_000_000
		}, "is spent twice"},
		{"a stranger's coin", func(p *psbt.Packet) {
			made := w.made[strange.Outpoint.Hash].Copy()
			made.TxOut[strange.Outpoint.Index].PkScript = thief.Script
			in := wire.NewTxIn(&wire.OutPoint{Hash: made.TxHash(), Index: strange.Outpoint.Index}, nil, nil)
			in.Sequence = txSequence
			p.UnsignedTx.AddTxIn(in)
			p.Inputs = append(p.Inputs, psbt.PInput{NonWitnessUtxo: stripped(made), Bip32Derivation: derivation(strange.Own)})
		}, "input 2: key: it is no script of our accounts"},
		{"an output that is not there", func(p *psbt.Packet) { p.UnsignedTx.TxIn[1].PreviousOutPoint.Index = 9 }, "input 1: coin: "},
		{"two keys for a coin", func(p *psbt.Packet) {
			p.Inputs[0].Bip32Derivation = append(p.Inputs[0].Bip32Derivation, derivation(w.own(network.P2WPKH, 0, 8))...)
		}, "input 0: key: "},
		{"an output more", func(p *psbt.Packet) { p.UnsignedTx.AddTxOut(wire.NewTxOut(1_000, thief.Script)) }, "output 3: change: to: it is no script of our accounts"},
		{"a stranger's output between change", func(p *psbt.Packet) {
			more(p, 2, 100_000)
			p.UnsignedTx.TxOut[3].PkScript = thief.Script
		}, "output 3: change: to: it is no script of our accounts"},
		{"dust between change", func(p *psbt.Packet) { more(p, 2, 1) }, "output 3: change: amount: 1 satoshi"},
		{"further change to a user's address", func(p *psbt.Packet) {
			own := w.own(network.P2WPKH, network.External, 4)
			more(p, 1, 100_000)
			p.UnsignedTx.TxOut[3].PkScript, p.Outputs[3] = own.Script, output(own)
		}, "output 3: change: to: it is on branch 0, not on 1"},
		{"change in five parts", func(p *psbt.Packet) { more(p, 4, 100_000) }, "output 6: no payment asks for it"},
		{"data in place of change", func(p *psbt.Packet) {
			p.UnsignedTx.TxOut[2].PkScript = append([]byte{txscript.OP_RETURN, 4}, "data"...)
		}, "change: to: it is no script of our accounts"},
		{"signatures for others' inputs too", func(p *psbt.Packet) { p.Inputs[1].SighashType = txscript.SigHashAll | txscript.SigHashAnyOneCanPay }, "input 1: signature hash type: 129"},
		{"signatures for no output", func(p *psbt.Packet) { p.Inputs[0].SighashType = txscript.SigHashNone }, "input 0: signature hash type: 2"},
		{"not replaceable", func(p *psbt.Packet) { p.UnsignedTx.TxIn[1].Sequence = wire.MaxTxInSequenceNum }, "input 1: sequence: 0xffffffff"},
		{"a relative lock time", func(p *psbt.Packet) { p.UnsignedTx.TxIn[0].Sequence = 5 }, "input 0: sequence: 0x5"},
		{"a lock time", func(p *psbt.Packet) { p.UnsignedTx.LockTime = 1_000 }, "lock time: 1000"},
		{"another version", func(p *psbt.Packet) { p.UnsignedTx.Version = 3 }, "version: 3"},
	} {
		_, err := w.rules.Digests(altered(t, good, c.alter))
		require.ErrorContains(t, err, c.why, c.name)
		require.NotContains(t, err.Error(), "\n", c.name)
	}
}

// TestOtherOrdersGetNothing: the same transaction is not signed for another order.
func TestOtherOrdersGetNothing(t *testing.T) {
	w := newEnv(t)
	d, good := w.paid()
	for _, c := range []struct {
		name  string
		alter func(o *chain.Order)
		why   string
	}{
		{"another slot's anchor", func(o *chain.Order) { o.Slot.Coin = d.Coins[1].Outpoint.String() }, "coin: the transaction spends " + d.Coins[0].Outpoint.String() + " first"},
		{"no anchor", func(o *chain.Order) { o.Slot.Coin = "" }, "must be TXID:NUMBER"},
		{"another form of the anchor", func(o *chain.Order) { o.Slot.Coin = "0" + o.Slot.Coin }, "must be TXID:NUMBER"},
		{"a branch", func(o *chain.Order) { o.Slot.Branch = 1 }, "branch: "},
		{"another order of the payees", func(o *chain.Order) { slices.Reverse(o.Payment.Members) }, "output 0: to: "},
		{"a payment less", func(o *chain.Order) { o.Payment = batch(o.Payment.Members[:1]...) }, "output 1: change: to: it is no script of our accounts"},
		{"a payment more", func(o *chain.Order) { o.Payment = batch(append(o.Payment.Members, o.Payment.Members[0])...) }, "output 2: to: "},
		{"another sum", func(o *chain.Order) { o.Payment.Amount = chain.NewAmount(5) }, "amount: 5, and its members' sum is 3000000"},
		{"no members", func(o *chain.Order) { o.Payment.Members = nil }, "members: a batch must have some"},
		{"a batch as a payment", func(o *chain.Order) { o.Payment.Purpose = chain.Credit }, "members: a credit has none"},
		{"a batch in a batch", func(o *chain.Order) { o.Payment.Members[0].Purpose = chain.Batch }, "purpose: \"batch\" does not exist"},
		{"another asset", func(o *chain.Order) { o.Payment.Members[0].Asset = "x" }, "asset: "},
		{"a label", func(o *chain.Order) { o.Payment.Members[0].Label = "x" }, "not a usable label"},
		{"a batch's own ceiling", func(o *chain.Order) { o.Payment.MaxFee = chain.NewAmount(uint64(d.Fee - 1)) }, "of payment 0"},
		{"a payment's own ceiling", func(o *chain.Order) { o.Payment.Members[1].MaxFee = chain.NewAmount(uint64(d.Fee / 3)) }, "satoshi of payment 2 are over its"},
		{"a cancellation", func(o *chain.Order) { o.Payment = chain.Payment{Purpose: chain.Cancel} }, "output 2: no payment asks for it"},
		{"a merge", func(o *chain.Order) { o.Payment = chain.Payment{Purpose: chain.Merge} }, "output 2: no payment asks for it"},
		{"a coin for gas", func(o *chain.Order) { o.Payment = chain.Payment{Purpose: chain.Gas} }, "purpose: \"gas\" does not exist"},
		{"no transaction", func(o *chain.Order) { o.Unsigned = nil }, "decoding the transaction"},
		{"more bytes", func(o *chain.Order) { o.Unsigned = append(o.Unsigned, 0) }, "1 bytes follow it"},
		{"too many bytes", func(o *chain.Order) { o.Unsigned = append(o.Unsigned, make([]byte, maxPSBT)...) }, "at most 2097152 are read"},
	} {
		o := good
		o.Payment.Members, o.Unsigned = slices.Clone(good.Payment.Members), slices.Clone(good.Unsigned)
		c.alter(&o)
		_, err := w.rules.Digests(o)
		require.ErrorContains(t, err, c.why, c.name)
		_, err = w.rules.Seal(o, make([]chain.Signature, 2)...)
		require.ErrorContains(t, err, c.why, c.name)
	}
	w.rules.limits.MaxCoins = 1
	_, err := w.rules.Digests(good)
	require.ErrorContains(t, err, "inputs: 2, from 1 to 1 are allowed")
}

// TestWhatAnOrderSpends: fee and coins of an order are those that are proven.
func TestWhatAnOrderSpends(t *testing.T) {
	w := newEnv(t)
	d, o := w.paid()
	fee, err := w.rules.Fee(o)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(uint64(d.Fee)), fee)
	coins, err := w.rules.Coins(o)
	require.NoError(t, err)
	require.Equal(t, []string{d.Coins[0].Outpoint.String(), d.Coins[1].Outpoint.String()}, coins)
	o.Payment.Members = o.Payment.Members[:1]
	_, err = w.rules.Fee(o)
	require.Error(t, err)
	_, err = w.rules.Coins(o)
	require.Error(t, err)
	text, err := w.rules.CheckAddress("RLTC1QUATTG44CFTXNENMD6E6DK6FFST5LWVGPZVC957", "")
	require.NoError(t, err)
	require.Equal(t, "rltc1quattg44cftxnenmd6e6dk6ffst5lwvgpzvc957", text)
	_, err = w.rules.CheckAddress(text, "label")
	require.ErrorIs(t, err, chain.ErrLabel)
}

// TestSealWantsEachKey: a signature of another key, scheme or input is refused before anything is
// sent.
func TestSealWantsEachKey(t *testing.T) {
	w := newEnv(t)
	_, o := w.paid()
	digests, err := w.rules.Digests(o)
	require.NoError(t, err)
	require.Equal(t, []string{"m/84'/1'/0'/0/1", "m/86'/1'/0'/0/2"}, []string{digests[0].Key, digests[1].Key})
	good := make([]chain.Signature, 2)
	for i, d := range digests {
		good[i].Public, good[i].Bytes, err = w.keys.Sign(t.Context(), d.Key, d.Hash)
		require.NoError(t, err)
	}
	_, err = w.rules.Seal(o, good...)
	require.NoError(t, err)
	stranger := func(path string, hash []byte) chain.Signature {
		_, signature, err := w.keys.Sign(t.Context(), path, hash)
		require.NoError(t, err)
		return chain.Signature{Bytes: signature}
	}
	for name, signatures := range map[string][]chain.Signature{
		"another key":         {stranger("m/84'/1'/0'/0/2", digests[0].Hash), good[1]},
		"another key of P2TR": {good[0], stranger("m/86'/1'/0'/0/3", digests[1].Hash)},
		"another digest":      {stranger(digests[0].Key, digests[1].Hash), good[1]},
		"swapped":             {good[1], good[0]},
		"over the order":      {{Bytes: slices.Repeat([]byte{0xff}, 64)}, good[1]},
		"short":               {good[0], {Bytes: good[1].Bytes[:63]}},
		"too few":             {good[0]},
		"too many":            {good[0], good[1], good[1]},
		"none":                {},
	} {
		_, err := w.rules.Seal(o, signatures...)
		require.Error(t, err, name)
	}
}

// TestChildrenAreBounded: a child pays for its parent, and no more.
func TestChildrenAreBounded(t *testing.T) {
	w := newEnv(t)
	f := w.funds(network.P2TR, w.coin(w.own(network.P2WPKH, 0, 1), 3_000_000, 5))
	pay := w.pay(1, w.payee(network.P2WPKH, 1), 500_000)
	parent, err := w.Pay(f, pay, 1_000)
	require.NoError(t, err)
	signed, tx := w.sign(parent, pay)
	source, anchor := change(parent, tx), w.coin(w.own(network.P2TR, 0, 1), 12_000, 5)
	child, err := w.Child(w.funds(network.P2WPKH, anchor), source, signed, 100_000)
	require.NoError(t, err)
	require.Equal(t, []Coin{anchor, source}, child.Coins)
	require.InDelta(t, Rate(100_000).Fee(child.Size+signed.Size), child.Fee+signed.Fee, 1, "both are at the rate")
	good := w.order(child, merge(child, source.Outpoint.String()))
	_, err = w.rules.Digests(good)
	require.NoError(t, err)
	require.NoError(t, w.rules.SetMaxFee("120"))
	_, err = w.rules.Digests(good)
	require.NoError(t, err, "over the highest rate by its own size, under it with its parent's")
	for name, c := range map[string]struct {
		alter func(p *psbt.Packet)
		why   string
	}{
		"it drains":     {func(p *psbt.Packet) { p.UnsignedTx.TxOut[0].Value -= 50_000 }, "fee: the fee ceiling is reached"},
		"to a stranger": {func(p *psbt.Packet) { p.UnsignedTx.TxOut[0].PkScript = tx.TxOut[0].PkScript }, "change: to: "},
		"to another": {func(p *psbt.Packet) {
			own := w.own(network.P2WPKH, 1, 5)
			p.UnsignedTx.TxOut[0].PkScript, p.Outputs[0] = own.Script, output(own)
		}, "output 0: to: not " + good.Payment.To},
		"another's child": {func(p *psbt.Packet) { p.UnsignedTx.TxIn[1].PreviousOutPoint.Hash = chainhash.Hash{1} }, "input 1: amount: "},
	} {
		_, err := w.rules.Digests(altered(t, good, c.alter))
		require.ErrorContains(t, err, c.why, name)
	}
	for name, alter := range map[string]func(p *chain.Payment){
		"an amount":   func(p *chain.Payment) { p.Amount = chain.NewAmount(1) },
		"a label":     func(p *chain.Payment) { p.Label = "x" },
		"a token":     func(p *chain.Payment) { p.Asset = "0xtoken" },
		"no receiver": func(p *chain.Payment) { p.To = "" },
		"a ceiling":   func(p *chain.Payment) { p.MaxFee = chain.NewAmount(uint64(child.Fee - 1)) },
		"no source":   func(p *chain.Payment) { p.Source = "" },
		"not its own": func(p *chain.Payment) { p.Source = f.Anchor.Outpoint.String() },
		"a deposit's": func(p *chain.Payment) { p.Source = anchor.Outpoint.String() },
		"a cancel":    func(p *chain.Payment) { p.Purpose = chain.Cancel },
	} {
		bad := good
		alter(&bad.Payment)
		_, err := w.rules.Digests(bad)
		require.Error(t, err, name)
	}
}

// TestMergesAreCheap: what only brings coins together costs little.
func TestMergesAreCheap(t *testing.T) {
	w := newEnv(t)
	d, err := w.Merge(w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 3_000_000, 5)), 5_000)
	require.NoError(t, err)
	_, err = w.rules.Digests(w.order(d, merge(d, "")))
	require.NoError(t, err)
	d.Outputs[0].Value -= 10
	_, err = w.rules.Digests(w.order(d, merge(d, "")))
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	w.rules.limits.Cheap = 0
	d.Outputs[0].Value += 10
	_, err = w.rules.Digests(w.order(d, merge(d, "")))
	require.ErrorIs(t, err, chain.ErrFeeCeiling, "there are none")
}

// checkSigned wants of any bytes that are signed that they pay the payees of an order from its
// anchor, for a bounded fee.
func (w *env) checkSigned(t require.TestingT, d Draft, o chain.Order) {
	if _, err := w.rules.Digests(o); err != nil {
		return
	}
	packet, err := readPSBT(o.Unsigned)
	require.NoError(t, err)
	require.Equal(t, d.Outputs[:2], packet.UnsignedTx.TxOut[:2])
	require.Equal(t, d.Coins[0].Outpoint, packet.UnsignedTx.TxIn[0].PreviousOutPoint)
	fee, err := w.rules.Fee(o)
	require.NoError(t, err)
	require.False(t, chain.NewAmount(uint64(w.rules.limits.MaxFee)).Less(fee))
}

// TestChangedBytes: whichever bytes of an order are changed, what is signed still pays its payees.
func TestChangedBytes(t *testing.T) {
	w := newEnv(t)
	d, good := w.paid()
	rapid.Check(t, func(t *rapid.T) {
		o := good
		o.Unsigned = slices.Clone(good.Unsigned)
		for range rapid.IntRange(1, 3).Draw(t, "bytes") {
			o.Unsigned[rapid.IntRange(0, len(o.Unsigned)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
		}
		w.checkSigned(t, d, o)
	})
}

func FuzzOrders(f *testing.F) {
	w := setup(f, sharedKeys(f))
	d, good := w.paid()
	f.Add(good.Unsigned)
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := good
		o.Unsigned = raw
		w.checkSigned(t, d, o)
	})
}
