package ethereum_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// What waits in a pool for too low a price may be replaced, and nothing else: neither what no pool
// has, nor what blocks would take.
func TestUnderpricedIsWhatWaitsForItsPrice(t *testing.T) {
	b := setup(t)
	require.NoError(t, b.dev.SetBaseFee(big.NewInt(5e9)))
	const usual = 50e9
	config := b.config()
	config.MinTipGwei = "50" // more than any block pays here
	b.chain = b.adapter(config)
	pay := credit(chain.Native, outsider("payee"), 77)
	here := b.next(b.hot)
	behind := here
	behind.Nonce++ // another nonce comes first: no block can have passed it over
	base := b.dev.BaseFee().Int64()
	require.NoError(t, b.dev.SetMinTip(big.NewInt(4*usual))) // no block takes any of them
	for _, c := range []struct {
		name     string
		slot     chain.Slot
		tip, cap int64
		pooled   bool
		want     bool
	}{
		{"a cap below the base fee", behind, 1, base - 1, true, true},
		{"no room for the tip", behind, usual, base + usual - 1, true, true},
		{"a tip below the usual", behind, usual - 1, 20 * usual, true, true},
		{"good, and others come first", behind, usual, 20 * usual, true, false},
		{"good, and passed over", here, usual, 20 * usual, true, true},
		{"nearly twice the usual tip", here, 2*usual - 1, 20 * usual, true, true},
		{"twice the usual tip, and passed over all the same", here, 2 * usual, 20 * usual, true, false},
		{"too cheap, and no pool has it", here, 1, base - 1, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := b.waiting(c.slot, pay, big.NewInt(c.tip), big.NewInt(c.cap), 21_000)
			if !c.pooled {
				b.dev.DropAll()
			}
			low, err := b.chain.Underpriced(t.Context(), c.slot, a)
			if c.slot == here && c.pooled { // blocks made after it was seen in the pool
				require.False(t, low)
				b.mine(2)
				low, err = b.chain.Underpriced(t.Context(), c.slot, a)
			}
			require.NoError(t, err)
			require.Equal(t, c.want, low)
			b.dev.DropAll()
		})
	}
}

// An attempt at the blocks' price is ignored only by a block that is two younger than the check
// that found it in the pool. A block made before the attempt arrived has no meaning, however late
// it is checked.
func TestPassedOver(t *testing.T) {
	b := setup(t)
	b.mine(11) // empty, so that the nodes report no tip
	slot := b.next(b.hot)
	a := b.sign(slot, credit(chain.Native, outsider("payee"), 77))
	require.NoError(t, b.dev.SetMinTip(new(big.Int).Add(a.TipCap.Uint256().ToBig(), big.NewInt(1)))) // more than the nodes report
	b.broadcast(a)
	low := func() bool {
		yes, err := b.chain.Underpriced(t.Context(), slot, a)
		require.NoError(t, err)
		return yes
	}
	require.False(t, low(), "the newest block was made before it came")
	b.mine(1)
	require.False(t, low(), "the next one may have been under way")
	b.mine(1)
	require.True(t, low())
	b.dev.DropAll()
	require.False(t, low(), "in no pool")
}
