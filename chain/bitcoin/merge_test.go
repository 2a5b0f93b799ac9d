package bitcoin_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/dev/bitcoinnode"
)

// keepKinds are nodes that replace nothing.
var keepKinds = []nodeKind{
	{bitcoinnode.Btcd, bitcoins, []string{"--rejectreplacement"}, 1},
	{bitcoinnode.Litecoind, litecoins, nil, 10},
}

func (p *payer) merge(source string) chain.Payment {
	return chain.Payment{ID: 99, Purpose: chain.Merge, Asset: chain.Native, To: p.pool.Text, Source: source}
}

func (p *payer) parent(slot chain.Slot, attempts ...chain.Attempt) string {
	p.t.Helper()
	source, err := p.Parent(p.t.Context(), slot, attempts)
	require.NoError(p.t, err)
	return source
}

func (p *payer) crowded() bool {
	p.t.Helper()
	worth, err := p.WorthMerging(p.t.Context(), p.pool.Text)
	require.NoError(p.t, err)
	return worth
}

// smallest binds the smallest free coin to a number.
func (p *payer) smallest(number uint64) chain.Slot {
	i := len(p.coins) - 1
	p.use(number, false, p.coins[i].Out)
	return chain.Slot{Account: p.pool.Text, Key: p.pool.Path, Nonce: number, Coin: p.coins[i].Out}
}

// TestStuckPayoutLeavesByItsChild: no node replaces a payout that offers too little. A merge that
// spends its change pays for both, and a block has both.
func TestStuckPayoutLeavesByItsChild(t *testing.T) {
	for _, k := range keepKinds {
		for _, addresses := range []string{"p2wpkh", "p2tr"} {
			t.Run(string(k.kind)+" "+addresses, func(t *testing.T) {
				t.Parallel()
				p := newPayer(t, k, func(c *bitcoin.Config) { c.Addresses = addresses }, 1_000_000, 50_000, 40_000)
				slot, pay := p.slot(1), p.pay(1, 1, 500_000)
				first := p.sent(slot, pay)
				require.Empty(t, p.parent(slot, first), "it offers enough")
				p.asks("0.00100000")
				require.Empty(t, p.parent(slot, first), "it may be replaced, as far as known")
				second := p.signed(slot, pay, first)
				require.ErrorAs(t, p.Broadcast(t.Context(), []chain.Attempt{second})[0], new(chain.Refusal))
				require.False(t, p.underpriced(slot, second))
				source := p.parent(slot, first, second)
				require.Contains(t, source, first.Hash)

				estimate, err := p.Estimate(t.Context(), p.pool.Text, p.merge(source))
				require.NoError(t, err)
				require.True(t, estimate.IsZero())
				child := p.smallest(2)
				a := p.signed(child, p.merge(source))
				require.Equal(t, []string{child.Coin, source}, a.Coins)
				require.Equal(t, []error{nil, nil}, p.Broadcast(t.Context(), []chain.Attempt{first, a}))
				require.ElementsMatch(t, []string{first.Hash, a.Hash}, p.waiting())
				size := sizeOf(t, first) + sizeOf(t, a)
				require.InDelta(t, 100*size, number(first.FeeCap)+number(a.FeeCap), 150, "both are at the rate")
				require.False(t, p.underpriced(child, a), "its coin is not lost")
				require.Empty(t, p.parent(child, a))

				b := p.mine()
				require.Len(t, b.OwnTxs, 2)
				i := slices.IndexFunc(b.OwnTxs, func(own chain.OwnTx) bool { return own.Tx == a.Hash })
				require.Equal(t, chain.OwnTx{Account: p.pool.Text, Tx: a.Hash, OK: true, Fee: a.FeeCap, Spent: a.Coins}, b.OwnTxs[i])
				did, err := p.Describe(t.Context(), a.Hash)
				require.NoError(t, err)
				require.True(t, did.Is(p.merge(source).Fingerprint(), 99))
				require.False(t, did.Is(pay.Fingerprint(), 1))
			})
		}
	}
}

// TestRefusedReplacement: a node replaces attempts, and yet not this one, as when a payee has spent
// his output with a high fee. A child of the first one helps then.
func TestRefusedReplacement(t *testing.T) {
	for _, k := range payKinds {
		t.Run(string(k.kind), func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, k, nil, 1_000_000, 50_000, 40_000)
			slot, pay := p.slot(1), p.pay(1, 1, 500_000)
			first := p.sent(slot, pay)
			p.asks("0.00100000")
			require.Empty(t, p.parent(slot, first), "it is replaced")
			require.Contains(t, p.parent(slot, first, p.signed(slot, pay, first)), first.Hash)
		})
	}
}

func sizeOf(t *testing.T, a chain.Attempt) int64 {
	var tx wire.MsgTx
	require.NoError(t, tx.Deserialize(bytes.NewReader(a.Raw)))
	return int64(3*tx.SerializeSizeStripped()+tx.SerializeSize()+3) / 4
}

// TestChildWithoutItsParent: another attempt of the parent's slot is mined, so that what a child
// spends will never exist. It is replaced by a merge without it.
func TestChildWithoutItsParent(t *testing.T) {
	t.Parallel()
	p := newPayer(t, keepKinds[1], nil, 1_000_000, 50_000, 40_000)
	slot, pay := p.slot(1), p.pay(1, 1, 500_000)
	first := p.signed(slot, pay)
	p.asks("0.00100000")
	second := p.signed(slot, pay, first)
	source := p.largestChange(first)
	child := p.smallest(2)
	a := p.signed(child, p.merge(source))
	require.Equal(t, []string{child.Coin, source}, a.Coins)
	require.False(t, p.underpriced(child, a), "the parent may still be mined")
	require.Equal(t, []error{nil}, p.Broadcast(t.Context(), []chain.Attempt{second}))
	require.ErrorAs(t, p.Broadcast(t.Context(), []chain.Attempt{a})[0], new(chain.Refusal))
	p.mine()
	require.True(t, p.underpriced(child, a))
	again := p.signed(child, p.merge(source), a)
	require.Equal(t, []string{child.Coin}, again.Coins)
	require.Equal(t, []error{nil}, p.Broadcast(t.Context(), []chain.Attempt{again}))
	require.Equal(t, again.Hash, p.mine().OwnTxs[0].Tx)
}

func (p *payer) largestChange(a chain.Attempt) string {
	largest, at := int64(0), 0
	for i, out := range changeOf(p.t, a) {
		if out.Value > largest {
			largest, at = out.Value, i+1
		}
	}
	id, err := chainhash.NewHashFromStr(a.Hash)
	require.NoError(p.t, err)
	return wire.OutPoint{Hash: *id, Index: uint32(at)}.String()
}

// TestChildSpendsOurChangeOnly: a merge spends no coin of a transaction that is none of ours, or
// not its change, and none whose parent can never be mined.
func TestChildSpendsOurChangeOnly(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], nil, 1_000_000, 50_000, 40_000)
	slot := p.slot(1)
	first := p.signed(slot, p.pay(1, 1, 500_000))
	child := p.smallest(2)
	require.Len(t, p.signed(child, p.merge(p.largestChange(first))).Coins, 2)
	for name, source := range map[string]string{
		"a payee's":    first.Hash + ":0",
		"no output":    first.Hash + ":9",
		"a stranger's": p.mined[0] + ":0",
	} {
		require.Equal(t, []string{child.Coin}, p.signed(child, p.merge(source)).Coins, name)
	}
	_, err := p.Prepare(t.Context(), child, p.merge("x"), nil)
	require.Error(t, err)
	delete(p.held, slot.Coin)
	require.Equal(t, []string{child.Coin}, p.signed(child, p.merge(p.largestChange(first))).Coins, "a block spends its coin")
}

// TestSmallCoinsAreMerged: 150 deposits become few coins while fees are low.
func TestSmallCoinsAreMerged(t *testing.T) {
	for _, k := range payKinds {
		t.Run(string(k.kind), func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, k, nil, append([]int64{5_000_000}, slices.Repeat([]int64{20_000}, 150)...)...)
			require.Len(t, p.coins, 151)
			require.True(t, p.crowded())
			p.asks(map[bool]string{true: "0.00005001", false: "0.00050001"}[k.flat == 1])
			require.False(t, p.crowded(), "blocks ask for more than merges pay")
			_, err := p.Estimate(t.Context(), p.pool.Text, p.merge(""))
			require.ErrorIs(t, err, chain.ErrFeeCeiling)
			slot := p.smallest(1)
			_, err = p.Prepare(t.Context(), slot, p.merge(""), nil)
			require.ErrorIs(t, err, chain.ErrFeeCeiling)
			p.asks("")
			a := p.sent(slot, p.merge(""))
			require.Len(t, a.Coins, 100)
			require.NotContains(t, a.Coins, p.coins[0].Out, "the large one is left to payments")
			require.False(t, p.crowded(), "what is used does not count")
			b := p.mine()
			require.Equal(t, a.Hash, b.OwnTxs[0].Tx)
			require.Equal(t, a.FeeCap, b.OwnTxs[0].Fee)
			require.Len(t, p.coins, 52)
			require.False(t, p.crowded())

			p.config.MergeBelow = -1

			p.reopen()
			require.False(t, p.crowded())
			_, err = p.Prepare(t.Context(), p.slot(2), p.merge(""), nil)
			require.ErrorIs(t, err, chain.ErrFeeCeiling, "never")
		})
	}
}
