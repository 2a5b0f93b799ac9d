package spend

import (
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

var ownKinds = []network.Kind{network.P2WPKH, network.P2TR}

var payeeKinds = []network.Kind{network.P2PKH, network.P2SH, network.P2WPKH, network.P2WSH, network.P2TR}

// drawCoin is a coin of any kind and of an amount of any magnitude.
func (w *env) drawCoin(t *rapid.T, index uint32) Coin {
	kind := rapid.SampledFrom(ownKinds).Draw(t, "coin's kind")
	amount := rapid.Int64Range(1, 10).Draw(t, "digits of the amount")
	for range rapid.IntRange(2, 8).Draw(t, "magnitude") {
		amount *= 10
	}
	height := rapid.SampledFrom([]uint64{0, 7, 950}).Draw(t, "height")
	c := w.coin(w.own(kind, rapid.SampledFrom([]uint32{0, 1}).Draw(t, "branch"), index), amount, height)
	if height != 0 && rapid.IntRange(0, 5).Draw(t, "coinbase") == 0 {
		c.Matures = height + 100
	}
	return c
}

func (w *env) drawFunds(t *rapid.T) Funds {
	anchor := w.drawCoin(t, 0)
	anchor.Matures = 0
	var others []Coin
	for i := range rapid.IntRange(0, 12).Draw(t, "other coins") {
		others = append(others, w.drawCoin(t, uint32(i)+1))
	}
	f := w.funds(rapid.SampledFrom(ownKinds).Draw(t, "change's kind"), anchor, others...)
	f.Parts = rapid.IntRange(0, maxChange+1).Draw(t, "parts of the change")
	return f
}

func (w *env) drawPays(t *rapid.T) chain.Payment {
	var pays []chain.Payment
	for i := range rapid.IntRange(1, 6).Draw(t, "payees") {
		to := w.payee(rapid.SampledFrom(payeeKinds).Draw(t, "payee's kind"), byte(rapid.IntRange(1, 3).Draw(t, "payee")))
		pays = append(pays, w.pay(uint64(i)+1, to, rapid.Int64Range(5_460, 50_000_000).Draw(t, "amount")))
	}
	if len(pays) == 1 {
		return pays[0]
	}
	return batch(pays...)
}

func drawRate(t *rapid.T) Rate { return Rate(rapid.Int64Range(1_000, 200_000).Draw(t, "rate")) }

// checkDraft holds a draft against the promises that all drafts keep.
func (w *env) checkDraft(f Funds, d Draft, pays []chain.Payment) {
	t := w.t
	require.Equal(t, f.Anchor, d.Coins[0], "the anchor is first")
	seen := map[wire.OutPoint]bool{}
	for _, c := range d.Coins {
		require.False(t, seen[c.Outpoint], "a coin is spent once")
		require.True(t, c.spendable(f.Height))
		seen[c.Outpoint] = true
	}
	sum := d.Fee
	for i, out := range d.Outputs {
		require.GreaterOrEqual(t, out.Value, w.net.Dust(out.PkScript), "never dust")
		sum += out.Value
		if i < len(pays) {
			to, err := w.net.Parse(pays[i].To)
			require.NoError(t, err)
			require.Equal(t, to.Script, out.PkScript)
			require.Equal(t, pays[i].Amount, chain.NewAmount(uint64(out.Value)))
		}
	}
	require.Equal(t, total(d.Coins), sum, "sums are exact")
	require.Equal(t, d.Change != nil, len(d.Outputs) > len(pays))
	rest := d.Outputs[len(pays):]
	require.Len(t, rest, d.Parts)
	require.LessOrEqual(t, d.Parts, max(1, min(f.Parts, maxChange)))
	for i, out := range rest {
		require.Equal(t, f.Change.Script, out.PkScript)
		require.LessOrEqual(t, rest[0].Value-out.Value, int64(d.Parts), "equal parts")
		require.True(t, i == 0 || out.Value <= rest[0].Value)
		require.True(t, d.Parts == 1 || out.Value >= 20*w.net.Dust(out.PkScript), "parts are worth it")
	}
}

// shortOfSignatures is by how much a signed transaction weighs less than was assumed, because
// signatures of ECDSA differ in length.
func shortOfSignatures(d Draft, tx *wire.MsgTx) (short int64) {
	for i, c := range d.Coins {
		if c.Own.Kind == network.P2WPKH {
			short += 72 - int64(len(tx.TxIn[i].Witness[0]))
		}
	}
	return short
}

func weightOfTx(tx *wire.MsgTx) int64 {
	return 3*int64(tx.SerializeSizeStripped()) + int64(tx.SerializeSize())
}

// TestDrafts: whatever the coins, payees and rates, sums and sizes are exact, the fee is the rate's,
// and the signer passes the result.
func TestDrafts(t *testing.T) {
	keys := sharedKeys(t)
	paid, short, divided := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := setup(t, keys)
		f, pay, rate := w.drawFunds(t), w.drawPays(t), drawRate(t)
		d, err := w.Pay(f, pay, rate)
		if errors.Is(err, chain.ErrNotNow) {
			short++
			return
		}
		require.NoError(t, err)
		paid++
		pays, err := members(pay)
		require.NoError(t, err)
		w.checkDraft(f, d, pays)
		if d.Change != nil {
			require.Equal(t, rate.Fee(d.Size), d.Fee)
		} else {
			require.GreaterOrEqual(t, d.Fee, rate.Fee(d.Size))
			require.Less(t, d.Fee, rate.Fee(d.Size+43)+w.net.Dust(f.Change.Script), "only what would be dust is left to the fee")
		}
		if slices.ContainsFunc(d.Coins[1:], func(c Coin) bool { return c.Height == 0 }) {
			for _, c := range f.Others {
				used := coinAt(d.Coins, c.Outpoint) != nil
				worth := c.Amount > rate.Fee(vbytes(inputWeight(c.Own.Kind)))
				require.True(t, used || c.Height == 0 || !c.spendable(f.Height) || !worth, "coins in blocks come first")
			}
		}
		if d.Parts > 1 {
			divided++
		}
		_, tx := w.sign(d, pay)
		require.Equal(t, weightOf(d.Coins, d.Outputs)-shortOfSignatures(d, tx), weightOfTx(tx), "sizes are exact")
		require.LessOrEqual(t, SizeOf(tx), d.Size)
	})
	require.NotZero(t, paid)
	require.NotZero(t, short)
	require.NotZero(t, divided)
}

// replaces holds a transaction against BIP-125, as nodes with the usual settings do.
func replaces(t require.TestingT, newer Draft, tx *wire.MsgTx, old []Earlier, oldTxs []*wire.MsgTx) {
	size, before := SizeOf(tx), map[wire.OutPoint]bool{}
	for i, e := range old {
		require.Equal(t, oldTxs[i].TxIn[0].PreviousOutPoint, tx.TxIn[0].PreviousOutPoint, "both spend the anchor")
		require.GreaterOrEqual(t, newer.Fee, e.Fee+e.Children+size, "rules 3 and 4: it pays for what it evicts and for its own relay")
		require.Greater(t, newer.Fee*1000/size, e.Fee*1000/SizeOf(oldTxs[i]), "a higher rate")
		for _, in := range oldTxs[i].TxIn {
			require.LessOrEqual(t, in.Sequence, uint32(0xfffffffd), "rule 1")
			before[in.PreviousOutPoint] = true
		}
	}
	for _, c := range newer.Coins {
		require.True(t, c.Height != 0 || before[c.Outpoint] || len(old) == 0, "rule 2: no new coin that is in no block")
	}
}

// TestReplacements: a replacement keeps its payees and satisfies BIP-125 against all earlier
// attempts, at any rate; so does a cancellation.
func TestReplacements(t *testing.T) {
	keys := sharedKeys(t)
	replaced, cancelled := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := setup(t, keys)
		f, pay := w.drawFunds(t), w.drawPays(t)
		var earlier []Earlier
		var txs []*wire.MsgTx
		d, err := w.Pay(f, pay, drawRate(t))
		for err == nil && len(earlier) < 3 {
			if len(earlier) > 0 {
				pays, err := members(pay)
				require.NoError(t, err)
				w.checkDraft(f, d, pays)
			}
			signed, tx := w.sign(d, pay)
			if len(earlier) > 0 {
				replaced++
				replaces(t, d, tx, earlier, txs)
			}
			earlier, txs = append(earlier, Earlier{signed, rapid.SampledFrom([]int64{0, 0, 777}).Draw(t, "fees of children")}), append(txs, tx)
			d, err = w.Pay(f, pay, drawRate(t), earlier...)
		}
		if err != nil {
			require.True(t, errors.Is(err, chain.ErrNotNow) || errors.Is(err, chain.ErrFeeCeiling), err)
		}
		d, err = w.Cancel(f, drawRate(t), earlier...)
		if err != nil {
			require.True(t, errors.Is(err, chain.ErrNotNow) || errors.Is(err, chain.ErrFeeCeiling), err)
			return
		}
		w.checkDraft(f, d, nil)
		_, tx := w.sign(d, chain.Payment{Purpose: chain.Cancel})
		cancelled++
		replaces(t, d, tx, earlier, txs)
	})
	require.NotZero(t, replaced)
	require.NotZero(t, cancelled)
}

// TestShares: shares are exact in sum, and larger outputs bear no less.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var outputs []*wire.TxOut
		for range rapid.IntRange(1, 30).Draw(t, "outputs") {
			outputs = append(outputs, wire.NewTxOut(0, make([]byte, rapid.SampledFrom([]int{22, 23, 25, 34}).Draw(t, "script"))))
		}
		fee := rapid.Int64Range(0, 1_000_000).Draw(t, "fee")
		sum, size := int64(0), int64(0)
		for _, out := range outputs {
			size += int64(out.SerializeSize())
		}
		for i, share := range Shares(fee, outputs) {
			sum += share
			require.InDelta(t, float64(fee)*float64(outputs[i].SerializeSize())/float64(size), share, 1)
		}
		require.Equal(t, fee, sum)
	})
}
