package index

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// TestNeitherWaits: when both contracts have many blocks, trades do not wait until all of dexFund
// is stored, and no order is open before it was received.
func TestNeitherWaits(t *testing.T) {
	r := newRig(t)
	r.span = 10
	x := r.caught(sqliteURL(t))
	updates := x.Subscribe(1000)
	const pairs = 50
	for range pairs {
		r.order(r.alice, dex.Sell, "10", coins(20))
		r.order(r.bob, dex.Buy, "10", coins(20))
	}
	r.catchUp(x)
	last, received, ahead, trades := map[string]Status{}, 0, 0, 0
	for _, u := range queuedUpdates(updates) {
		for _, o := range u.Orders {
			require.Contains(t, legal[last[o.ID]], o.Status, o.ID)
			last[o.ID] = o.Status
			if o.Status == Received {
				received++
			}
		}
		trades += len(u.Trades)
		ahead = max(ahead, received-2*trades)
	}
	require.Equal(t, []int{2 * pairs, pairs}, []int{received, trades})
	require.LessOrEqual(t, ahead, 2*int(r.span), "trades waited for more of dexFund than is read at a time")
	r.same(x)
}

// TestCutWhereItRests: blocks of dexTrade are taken up to the one whose block of dexFund is not
// there.
func TestCutWhereItRests(t *testing.T) {
	sends := func(b ...byte) (list []block) {
		for _, n := range b {
			list = append(list, block{send: core.Hash{n}, from: core.DexFundContract, ok: n != 9})
		}
		return list
	}
	w := waiting{}
	w.add([]block{{relay: core.Hash{1}}, {}, {relay: core.Hash{2}}})
	require.Len(t, w, 2)
	require.Len(t, w.take(sends(1, 7, 9, 2)), 2, "7 has no effect, 9 has failed")
	require.Len(t, w, 1, "1 was received")
	user := block{send: core.Hash{5}, from: core.Address{1}}
	require.Len(t, w.take(append([]block{user}, sends(2)...)), 2)
	require.Empty(t, w)
}

// testDeep: of what is too old to be taken back, only what is asked for is kept; the rest is the
// same, and so is taking back.
func testDeep(t *testing.T, url string) {
	r := newRig(t)
	for i := range 60 {
		r.setClock(startTime + int64(i))
		id := r.order(r.alice, dex.Sell, fmt.Sprintf("1%d", i%3), coins(20))
		switch i % 5 {
		case 0:
			r.cancel(r.alice, id)
		case 1:
			r.cancel(r.bob, id) // refused
		case 2:
			r.order(r.bob, dex.Buy, "12", coins(30))
		case 3:
			r.order(r.bob, dex.Buy, "12", coins(10_000_000)) // fails
		}
		if i%4 == 0 {
			r.snapshot()
		}
	}
	r.snapshot()
	whole := r.caught(sqliteURL(t))
	r.span, r.retainedBlocks = 7, 40
	x := r.caught(url)
	require.Equal(t, dumpOf(t, whole, history), dumpOf(t, x, history))
	require.Less(t, len(dumpOf(t, x, retractable)), len(dumpOf(t, whole, retractable))/2)
	r.recent(x)

	height := r.head()
	r.order(r.bob, dex.Buy, "12", coins(60))
	r.cancel(r.alice, r.order(r.alice, dex.Sell, "13", coins(20)))
	r.snapshot()
	r.catchUp(x)
	require.NoError(t, r.chain.Rollback(height))
	r.catchUp(x)
	require.Equal(t, dumpOf(t, whole, history), dumpOf(t, x, history))
	require.NoError(t, r.chain.Rollback(height-14))
	require.ErrorIs(t, x.follower.catchUp(t.Context()), ErrForked, "is too old")
}

// recent proves that the newest blocks of both contracts are stored without a gap.
func (r *rig) recent(x *Index) {
	r.t.Helper()
	for _, c := range []contract{fund, trade} {
		var rows []blockRow
		require.NoError(r.t, x.store.view(r.t.Context(), func(t *tx) error {
			return t.list(&rows, "SELECT "+blockColumns+" FROM ex_blocks WHERE contract = ? ORDER BY height DESC", c)
		}))
		require.GreaterOrEqual(r.t, len(gapless(rows)), int(r.retainedBlocks))
	}
}
