package spend

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

func TestOutputsKeepTheOrder(t *testing.T) {
	w := newEnv(t)
	same := w.payee(network.P2WSH, 1)
	pay := batch(w.pay(1, same, 30_000), w.pay(2, w.payee(network.P2SH, 2), 10_000), w.pay(3, same, 20_000))
	d, err := w.Pay(w.funds(network.P2TR, w.coin(w.own(network.P2TR, 0, 1), 1_000_000, 5)), pay, 1_000)
	require.NoError(t, err)
	var values []int64
	for _, out := range d.Outputs[:3] {
		values = append(values, out.Value)
	}
	require.Equal(t, []int64{30_000, 10_000, 20_000}, values, "a payee of two payments gets two outputs")
	require.Equal(t, d.Change.Script, d.Outputs[3].PkScript)
	_, tx := w.sign(d, pay)
	require.Equal(t, SizeOf(tx), d.Size, "of P2TR each signature has the same size")
	require.Len(t, tx.TxOut, 4)
}

// TestUnpayable: a payment that no transaction can make is named, and the others can be paid.
func TestUnpayable(t *testing.T) {
	w := newEnv(t)
	f := w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 10_000_000, 5))
	good := w.pay(1, w.payee(network.P2PKH, 1), 5_460)
	for kind, dust := range map[network.Kind]int64{network.P2PKH: 5_460, network.P2SH: 5_400, network.P2WPKH: 2_940, network.P2WSH: 3_300, network.P2TR: 3_300} {
		_, err := w.Pay(f, batch(good, w.pay(2, w.payee(kind, 2), dust)), 1_000)
		require.NoError(t, err, kind)
		_, err = w.Pay(f, batch(good, w.pay(2, w.payee(kind, 2), dust-1)), 1_000)
		var fault *Unpayable
		require.ErrorAs(t, err, &fault, kind)
		require.Equal(t, uint64(2), fault.Payment)
		require.ErrorIs(t, err, chain.ErrRefused, "it is refunded alone")
		require.ErrorContains(t, err, "are dust")
	}
	foreign := w.pay(3, "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", 10_000)
	_, err := w.Pay(f, foreign, 1_000)
	require.ErrorIs(t, err, chain.ErrAddress)
	require.ErrorContains(t, err, "payment 3: ")
	huge := w.pay(4, good.To, 1)
	huge.Amount = chain.MustAmount("18446744073709551617")
	_, err = w.Pay(f, huge, 1_000)
	require.ErrorIs(t, err, chain.ErrAmount)
}

func TestNotEnough(t *testing.T) {
	w := newEnv(t)
	anchor := w.coin(w.own(network.P2WPKH, 0, 1), 10_000, 5)
	_, err := w.Pay(w.funds(network.P2WPKH, anchor), w.pay(1, w.payee(network.P2PKH, 1), 10_000), 1_000)
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.ErrorContains(t, err, "the coins bring 10000 satoshi, 113 are missing")
	var small []Coin
	for i := range uint32(60) {
		small = append(small, w.coin(w.own(network.P2WPKH, 0, 2+i), 10_000, 5))
	}
	_, err = w.Pay(w.funds(network.P2WPKH, anchor, small...), w.pay(1, w.payee(network.P2PKH, 1), 550_000), 1_000)
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.ErrorContains(t, err, "small coins must be consolidated first")
	young := w.coin(w.own(network.P2WPKH, 0, 1), 10_000_000, 902)
	young.Matures = 1_002
	_, err = w.Pay(w.funds(network.P2WPKH, anchor, young), w.pay(1, w.payee(network.P2PKH, 1), 10_000), 1_000)
	require.ErrorIs(t, err, chain.ErrNotNow, "it is the block after 1,000")
	young.Matures--
	_, err = w.Pay(w.funds(network.P2WPKH, anchor, young), w.pay(1, w.payee(network.P2PKH, 1), 10_000), 1_000)
	require.NoError(t, err)
	worthless := w.coin(w.own(network.P2WPKH, 0, 1), 6_000, 5)
	_, err = w.Pay(w.funds(network.P2WPKH, anchor, worthless), w.pay(1, w.payee(network.P2PKH, 1), 9_999), 100_000)
	require.ErrorContains(t, err, "the coins bring 10000 satoshi", "a coin is not spent for more than it brings")
}

func TestCeilings(t *testing.T) {
	w := newEnv(t)
	f := w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 100_000_000, 5))
	pay := w.pay(1, w.payee(network.P2PKH, 1), 1_000_000)
	_, err := w.Pay(f, pay, 500_000)
	require.NoError(t, err)
	_, err = w.Pay(f, pay, 510_000)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	w.Limits.MaxFee = 20_000
	_, err = w.Pay(f, pay, 200_000)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	w.Limits.MaxFee = 50_000_000
	pay.MaxFee = chain.NewAmount(20_000)
	_, err = w.Pay(f, pay, 200_000)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	both := batch(pay, w.pay(2, pay.To, 1_000_000))
	_, err = w.Pay(f, both, 200_000)
	require.NoError(t, err, "half of the fee is its share")
	for range 12 {
		both = batch(append(both.Members, both.Members...)...)
	}
	f.Anchor.Amount = 84_000_000 * 100_000_000
	_, err = w.Pay(f, both, 1_000)
	require.ErrorIs(t, err, ErrTooLarge)
}

// TestReplacementTakesTheChangeFirst: a higher fee comes from the change, and only then from
// another coin in a block.
func TestReplacementTakesTheChangeFirst(t *testing.T) {
	w := newEnv(t)
	more, pending := w.coin(w.own(network.P2TR, 0, 2), 1_000_000, 5), w.coin(w.own(network.P2TR, 1, 3), 9_000_000, 0)
	f := w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 1_030_000, 5), more, pending)
	pay := w.pay(1, w.payee(network.P2WPKH, 1), 1_000_000)
	first, err := w.Pay(f, pay, 1_000)
	require.NoError(t, err)
	require.Len(t, first.Coins, 1)
	signed, _ := w.sign(first, pay)
	second, err := w.Pay(f, pay, 50_000, Earlier{Draft: signed})
	require.NoError(t, err)
	require.Len(t, second.Coins, 1)
	require.Less(t, second.Outputs[1].Value, first.Outputs[1].Value)
	again, _ := w.sign(second, pay)
	third, err := w.Pay(f, pay, 300_000, Earlier{Draft: signed}, Earlier{Draft: again})
	require.NoError(t, err)
	require.Equal(t, []Coin{f.Anchor, more}, third.Coins)
	f.Others = []Coin{pending}
	_, err = w.Pay(f, pay, 300_000, Earlier{Draft: signed}, Earlier{Draft: again})
	require.ErrorIs(t, err, chain.ErrNotNow, "no coin that is in no block is added")
	f.Others = []Coin{more, pending}
	kept, _ := w.sign(third, pay)
	fourth, err := w.Pay(f, pay, 1_000, Earlier{Draft: kept})
	require.NoError(t, err)
	require.Equal(t, third.Coins, fourth.Coins, "the coins of the newest attempt stay")
	require.Greater(t, fourth.Fee, third.Fee, "a lower rate is no reason to pay less than what is replaced")
	f.Others = nil
	_, err = w.Pay(f, pay, 1_000, Earlier{Draft: kept})
	require.ErrorIs(t, err, chain.ErrNotNow, "a coin that another transaction spent is no longer used")
	cancel, err := w.Cancel(f, 1_000, Earlier{Draft: signed}, Earlier{Draft: again})
	require.NoError(t, err)
	require.Equal(t, []Coin{f.Anchor}, cancel.Coins)
	require.Greater(t, cancel.Fee, again.Fee)
}

// TestReplacementHasAHigherRate: a larger transaction pays more for each of its bytes too.
func TestReplacementHasAHigherRate(t *testing.T) {
	w := newEnv(t)
	f := w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 1_030_000, 5), w.coin(w.own(network.P2WPKH, 0, 2), 1_000_000, 5))
	pay := w.pay(1, w.payee(network.P2WPKH, 1), 1_000_000)
	first, err := w.Pay(f, pay, 250_000)
	require.NoError(t, err)
	require.Len(t, first.Outputs, 1, "what is left is dust")
	signed, _ := w.sign(first, pay)
	second, err := w.Pay(f, pay, 1_000, Earlier{Draft: signed})
	require.NoError(t, err)
	require.Len(t, second.Coins, 2)
	require.Greater(t, RateOf(second.Fee, second.Size), RateOf(signed.Fee, signed.Size))
}

func TestMerge(t *testing.T) {
	w := newEnv(t)
	var others []Coin
	for i := range uint32(80) {
		others = append(others, w.coin(w.own(ownKinds[i%2], 0, 2+i), 100_000-int64(i)*1_000, 5))
	}
	others = append(others, w.coin(w.own(network.P2TR, 1, 1), 50, 5), w.coin(w.own(network.P2TR, 1, 1), 40_000, 0))
	f := w.funds(network.P2TR, w.coin(w.own(network.P2WPKH, 0, 1), 20_000, 5), others...)
	_, err := w.Merge(f, 5_001)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	d, err := w.Merge(f, 1_000)
	require.NoError(t, err)
	w.checkDraft(f, d, nil)
	require.Len(t, d.Coins, w.Limits.MaxCoins)
	for _, c := range d.Coins {
		require.Less(t, c.Amount, int64(71_000), "the smallest")
		require.Greater(t, c.Amount, int64(50), "but not what costs more than it brings")
		require.NotZero(t, c.Height)
	}
	w.sign(d, merge(d, ""))
	w.Limits.MaxCoins = 200
	d, err = w.Merge(f, 1_000)
	require.NoError(t, err)
	require.Len(t, d.Coins, 53, "the largest, and half of the value, are left to payments")
	d, err = w.Merge(w.funds(network.P2TR, f.Anchor), 1_000)
	require.NoError(t, err)
	require.Len(t, d.Coins, 1, "the others were taken meanwhile")

	require.True(t, w.Crowded(f.Others, 5_000))
	require.False(t, w.Crowded(f.Others, 5_001))
	require.True(t, w.Crowded(f.Others[:61], 1_000))
	require.False(t, w.Crowded(append(slices.Clone(f.Others[:60]), f.Others[80:]...), 1_000), "dust and pending coins do not count")
}

func TestChildOfAnother(t *testing.T) {
	w := newEnv(t)
	_, err := w.Child(w.funds(network.P2TR, w.coin(w.own(network.P2TR, 0, 1), 10_000, 5)), w.coin(w.own(network.P2TR, 1, 1), 10_000, 0), Draft{Size: 100}, 1_000)
	require.ErrorContains(t, err, "not an output of the parent")
	_, err = w.Pay(w.funds(network.P2TR, w.coin(w.own(network.P2TR, 1, 1), 10_000, 0)), chain.Payment{Purpose: chain.Merge}, 1_000)
	require.ErrorContains(t, err, "purpose: ")
}

// TestPayeeSize: batches make a payment cheaper.
func TestPayeeSize(t *testing.T) {
	script := make([]byte, 22)
	require.Equal(t, int64(141), PayeeSize(network.P2WPKH, 1, 1, script))
	require.Equal(t, int64(40), PayeeSize(network.P2WPKH, 2, 20, script))
	require.Equal(t, int64(49), PayeeSize(network.P2TR, 1, 20, make([]byte, 34)))
}

func TestParseOutpoint(t *testing.T) {
	w := newEnv(t)
	at := w.coin(w.own(network.P2TR, 1, 1), 10_000, 0).Outpoint
	read, err := ParseOutpoint(at.String())
	require.NoError(t, err)
	require.Equal(t, at, read)
	for _, text := range []string{"", ":", at.String() + "0:", at.Hash.String(), at.Hash.String() + ":", at.Hash.String() + ":01", at.Hash.String() + ":-1", at.Hash.String() + ":4294967296", at.String()[1:]} {
		_, err := ParseOutpoint(text)
		require.Error(t, err, text)
	}
	require.Equal(t, int64(2), Rate(1_001).Fee(1))
	require.Equal(t, Rate(1_000), RateOf(110, 110))
}

// TestDividedChange: a pool of few coins gets several, while the parts are worth it and the fee
// stays under the ceilings.
func TestDividedChange(t *testing.T) {
	w := newEnv(t)
	f := w.funds(network.P2WPKH, w.coin(w.own(network.P2WPKH, 0, 1), 10_000_000, 5))
	pay := w.pay(1, w.payee(network.P2PKH, 1), 1_000_000)
	parts := func(amount int64, rate Rate, pay chain.Payment) []int64 {
		f.Anchor, f.Parts = w.coin(w.own(network.P2WPKH, 0, 1), amount, 5), 4
		d, err := w.Pay(f, pay, rate)
		require.NoError(t, err)
		_, tx := w.sign(d, pay)
		var list []int64
		for _, out := range tx.TxOut[1:] {
			list = append(list, out.Value)
		}
		return list
	}
	require.Equal(t, []int64{2_249_943, 2_249_940, 2_249_940, 2_249_940}, parts(10_000_000, 1_000, pay))
	require.Len(t, parts(1_000_000+3*58_800+500, 1_000, pay), 3, "20 times the dust limit")
	require.Len(t, parts(1_000_000+3*58_800+100, 1_000, pay), 2)
	require.Len(t, parts(1_000_000+58_800, 1_000, pay), 1)
	require.Len(t, parts(1_600_000, 5_000, pay), 4)
	require.Len(t, parts(1_600_000, 100_000, pay), 4)
	require.Len(t, parts(1_600_000, 200_000, pay), 2, "20 times the fee of the later input")
	pay.MaxFee = chain.NewAmount(200)
	require.Len(t, parts(10_000_000, 1_000, pay), 2, "under the payment's ceiling")
	f.Parts = 0
	d, err := w.Pay(f, pay, 1_000)
	require.NoError(t, err)
	require.Equal(t, 1, d.Parts)
	cancelled, err := w.Cancel(Funds{Anchor: f.Anchor, Change: f.Change, Parts: 4}, 1_000)
	require.NoError(t, err)
	require.Equal(t, 1, cancelled.Parts)
}
