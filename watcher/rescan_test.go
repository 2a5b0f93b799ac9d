package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

func (r *rig) orderRescan(p chain.Point) {
	r.t.Helper()
	r.update(func(tx *records.Tx) error { return records.OrderRescan(tx, "eth", p) })
}

func (r *rig) rescanAt(height uint64) (o records.Rescan) {
	r.t.Helper()
	require.NoError(r.t, r.store.View(r.t.Context(), func(tx *records.Tx) (err error) {
		o, err = records.RescanAt(tx, "eth", height)
		return err
	}))
	return o
}

// compare returns how blocks differ from the records.
func (r *rig) compare(blocks []chain.Block) (list []transfers.BlockDifference) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		list, _, err = r.w.rules().Compare(tx, "eth", blocks)
		return err
	})
	return list
}

// An order that cannot be carried out fails with its reason, and following goes on.
func TestRescanThatFailsHoldsNothingUp(t *testing.T) {
	r := setup(t)
	r.run(2)
	owner, address := r.user()
	head, err := r.eth.Head(t.Context())
	require.NoError(t, err)
	r.orderRescan(chain.Point{Height: head.Latest.Height, Hash: "another"})
	r.orderRescan(chain.Point{Height: head.Latest.Height + 1000, Hash: "none yet"})
	hash := r.deposit(address, 50_000)
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireHolding(r.vite, owner, usd, 500)
	require.Equal(t, records.RescanFailed, r.rescanAt(head.Latest.Height).State)
	require.Contains(t, r.rescanAt(head.Latest.Height).Detail, "a different block now")
	require.Equal(t, records.RescanFailed, r.rescanAt(head.Latest.Height+1000).State)
	require.Contains(t, r.rescanAt(head.Latest.Height+1000).Detail, "do not return this block")
}

// What came to an address before it was given to its user is shown by reading the blocks again, and
// is nobody's.
func TestRescanCreditsNothingFromBeforeTheAddress(t *testing.T) {
	r := setup(t)
	address := r.eth.Address("deposit/0")
	hash := r.deposit(address, 50_000)
	r.run(finality + 2)
	owner, given := r.user()
	require.Equal(t, address, given)

	head, err := r.eth.Head(t.Context())
	require.NoError(t, err)
	blocks, err := chain.ReadBlocks(t.Context(), r.eth, 1, head.Latest.Height, 1)
	require.NoError(t, err)
	found := r.compare(blocks)
	require.Len(t, found, 1)
	require.Equal(t, []any{transfers.MissingTransfer, hash, units(50_000), true}, []any{found[0].Kind, found[0].Tx, found[0].Amount, found[0].Mends()})
	for range 2 {
		r.orderRescan(found[0].Point)
		r.rest()
		require.Equal(t, records.RescanDone, r.rescanAt(found[0].Height).State)
		r.requireState(hash, records.Held, records.ReasonBeforeAddress)
		require.Empty(t, r.transfer(hash).Owner)
	}
	require.Equal(t, "0 booked", r.rescanAt(found[0].Height).Detail)
	r.requireHolding(r.vite, owner, usd, 0)

	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderCredit, transfers.Order{Record: r.transfer(hash).ID, To: owner, Why: "a test"})
	})
	r.rest()
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireSound()
}

// A comment that the records have otherwise than the chain, because a node hid it when it was read,
// is shown by reading the blocks again.
func TestRescanShowsAnotherComment(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	hash := r.deposit(address, 50_000)
	r.rest()
	head, err := r.eth.Head(t.Context())
	require.NoError(t, err)
	blocks, err := chain.ReadBlocks(t.Context(), r.eth, 1, head.Latest.Height, 1)
	require.NoError(t, err)
	for i := range blocks {
		for j := range blocks[i].Transfers {
			found := r.compare(blocks[i : i+1])
			require.Empty(t, found)
			blocks[i].Transfers[j].Memo.Raw = []byte("another")
			found = r.compare(blocks[i : i+1])
			require.Len(t, found, 1)
			require.Equal(t, []any{transfers.OtherFacts, hash, r.transfer(hash).ID}, []any{found[0].Kind, found[0].Tx, found[0].Record})
			return
		}
	}
	t.Fatal("no block with a transfer")
}
