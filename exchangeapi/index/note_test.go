package index

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

func (r *rig) note(x *Index, u user, id core.Hash, side int, price string, n uint64) {
	r.t.Helper()
	require.NoError(r.t, x.NotePlacement(r.t.Context(), Placement{
		Hash: id, Owner: u.addr, Trade: coin, Quote: core.VITE, Side: side, Price: price, Quantity: coins(n),
	}))
}

func (r *rig) noteCancel(x *Index, request, order core.Hash) {
	r.t.Helper()
	require.NoError(r.t, x.NoteCancel(r.t.Context(), CancelRequest{request, order}))
}

func testNotes(t *testing.T, url string) {
	r := newRig(t)
	x := r.caught(url)
	updates := x.Subscribe(100)
	statuses := func() (list []Status) {
		for _, u := range queuedUpdates(updates) {
			for _, o := range u.Orders {
				list = append(list, o.Status)
			}
		}
		return list
	}
	id := r.sendOrder(r.alice, dex.Sell, "10", coins(20))
	r.note(x, r.alice, id, 1, "10", 20)
	r.note(x, r.alice, id, 1, "10", 20)
	require.Equal(t, PendingRequest, r.find(x, r.alice, id).Status)
	open, err := x.Orders(t.Context(), OrderFilter{Owner: r.alice.addr, OpenOnly: true}, Page{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, open.List)
	r.tick()
	r.catchUp(x)
	require.Equal(t, []Status{PendingRequest, Received, Open}, statuses())

	r.order(r.bob, dex.Buy, "10", coins(15))
	r.catchUp(x)
	require.Equal(t, []Status{Received, Filled, PartiallyFilled}, statuses(), "the taker, then the maker")
	request := r.send(r.alice, core.DexFundContract, core.VITE, coins(0), dex.FundCancelBySendHash, id, core.Address{}, coin, core.VITE)
	r.noteCancel(x, request, id)
	require.Equal(t, PendingCancel, r.find(x, r.alice, id).Status)
	r.tick()
	r.catchUp(x)
	require.Equal(t, []Status{PendingCancel, PartiallyCancelled}, statuses())
	r.noteCancel(x, request, id)
	require.Equal(t, PartiallyCancelled, r.find(x, r.alice, id).Status, "a note that comes late")

	refused := r.order(r.alice, dex.Sell, "10", coins(10_000_000))
	r.note(x, r.alice, refused, 1, "10", 10_000_000)
	r.catchUp(x)
	require.Equal(t, []Status{PendingRequest, Failed}, statuses(), "more than the account has")
	err = x.NotePlacement(t.Context(), Placement{Hash: core.Hash{1}, Owner: r.alice.addr, Trade: coin, Quote: gold, Price: "1"})
	require.ErrorIs(t, err, ErrOrder)
	err = x.NotePlacement(t.Context(), Placement{Hash: core.Hash{1}, Owner: r.alice.addr, Trade: coin, Quote: core.VITE, Price: "1e1"})
	require.ErrorIs(t, err, ErrOrder)
	testCancelRefused(t, r, x)
	testFillWins(t, r, x)
	testLost(t, r, x)
}

// testCancelRefused: another user's cancel fails in dexTrade, and the order shows its true state
// again, whichever is known first.
func testCancelRefused(t *testing.T, r *rig, x *Index) {
	id := r.order(r.alice, dex.Sell, "10", coins(20))
	r.catchUp(x)
	request := r.send(r.bob, core.DexFundContract, core.VITE, coins(0), dex.FundCancelBySendHash, id, core.Address{}, coin, core.VITE)
	r.noteCancel(x, request, id)
	require.Equal(t, PendingCancel, r.find(x, r.alice, id).Status)
	open, err := x.Orders(t.Context(), OrderFilter{Owner: r.alice.addr, OpenOnly: true}, Page{Limit: 10})
	require.NoError(t, err)
	require.Len(t, open.List, 1)
	r.tick()
	r.catchUp(x)
	require.Equal(t, Open, r.find(x, r.alice, id).Status)
	r.noteCancel(x, request, id)
	require.Equal(t, Open, r.find(x, r.alice, id).Status)
	direct := r.send(r.bob, core.DexTradeContract, core.VITE, coins(0), dex.TradeCancelByHash, id)
	r.noteCancel(x, direct, id)
	require.Equal(t, PendingCancel, r.find(x, r.alice, id).Status)
	r.tick()
	r.catchUp(x)
	require.Equal(t, Open, r.find(x, r.alice, id).Status)
	r.cancel(r.alice, id)
	r.catchUp(x)
	require.Equal(t, Cancelled, r.find(x, r.alice, id).Status)
}

// testFillWins: the order is filled before its cancel is received.
func testFillWins(t *testing.T, r *rig, x *Index) {
	id := r.order(r.alice, dex.Sell, "10", coins(20))
	r.catchUp(x)
	r.sendOrder(r.bob, dex.Buy, "10", coins(20))
	request := r.send(r.alice, core.DexFundContract, core.VITE, coins(0), dex.FundCancelBySendHash, id, core.Address{}, coin, core.VITE)
	r.noteCancel(x, request, id)
	r.tick()
	r.catchUp(x)
	require.Equal(t, Filled, r.find(x, r.alice, id).Status)
}

// testLost: an order that the node no longer has counts as failed.
func testLost(t *testing.T, r *rig, x *Index) {
	id := core.Hash{9, 9}
	r.note(x, r.alice, id, 1, "10", 20)
	retainedBlocks := r.order(r.alice, dex.Sell, "10", coins(20))
	r.catchUp(x)
	r.noteCancel(x, core.Hash{8, 8}, retainedBlocks)
	require.NoError(t, x.checkUnreceived(t.Context()))
	require.Equal(t, PendingRequest, r.find(x, r.alice, id).Status, "not yet")
	r.clock.Add(unreceivedAfterSeconds + 1)
	require.NoError(t, x.checkUnreceived(t.Context()))
	require.Equal(t, Failed, r.find(x, r.alice, id).Status)
	require.Equal(t, Open, r.find(x, r.alice, retainedBlocks).Status)
}

// Callers that arrive during a commit share the next transaction, and an invalid call fails alone.
func TestNotesTogether(t *testing.T) {
	r := newRig(t)
	x := r.caught("sqlite:" + filepath.Join(t.TempDir(), "index.db"))
	updates := x.Subscribe(100)
	placement := func(n byte, price string) Placement {
		return Placement{Hash: core.Hash{n}, Owner: r.alice.addr, Trade: coin, Quote: core.VITE, Side: 1, Price: price, Quantity: coins(20)}
	}
	together := func(prices ...string) []error {
		x.commits.Lock() // as the follower has it while he stores blocks
		faults := make([]error, len(prices))
		var callers sync.WaitGroup
		for i, price := range prices {
			callers.Go(func() { faults[i] = x.NotePlacement(t.Context(), placement(byte(len(prices)*10+i), price)) })
		}
		require.Eventually(t, func() bool {
			x.noted.mu.Lock()
			defer x.noted.mu.Unlock()
			return len(x.noted.list) == len(prices)
		}, time.Minute, time.Millisecond)
		x.commits.Unlock()
		callers.Wait()
		return faults
	}
	for _, err := range together("10", "11", "12") {
		require.NoError(t, err)
	}
	got := queuedUpdates(updates)
	require.Len(t, got, 1, "one commit")
	require.Len(t, got[0].Orders, 3)

	faults := together("10", "1e1", "11", "12")
	require.ErrorIs(t, faults[1], ErrOrder)
	for _, i := range []int{0, 2, 3} {
		require.NoError(t, faults[i])
		require.Equal(t, PendingRequest, r.find(x, r.alice, core.Hash{byte(40 + i)}).Status)
	}
	require.Len(t, queuedUpdates(updates), 3, "each alone")
}
