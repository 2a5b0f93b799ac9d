package watcher

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// A block of an older line of ours that becomes final is paid, and the account goes on behind it:
// what is owed besides leaves on a new line.
func TestBlockOfAnOlderLineIsGoneOnFrom(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	r.deposit(address, 10_000)
	r.rest() // the line has a final block of ours
	hash := r.deposit(address, 20_000)
	r.eth.Mine(finality + 1)
	r.step()
	require.Equal(t, records.Bound, r.payment(hash).State)
	require.Len(t, r.vite.Waiting(), 1, "it is on its way")
	a, tip := r.account("vite", r.net.Gateway), r.lineTip()
	r.update(func(tx *records.Tx) error {
		_, err := tx.Slots().NewBranch("vite", a.Account, a.Next-1, tip, "a test")
		return err
	})
	require.Equal(t, records.Queued, r.payment(hash).State)
	r.vite.Mine(1) // the older line's block stands all the same
	for range finality {
		r.vite.Mine(1)
		_ = r.w.Step(t.Context()) // the ledger knows more than the newer line
	}
	require.Equal(t, records.Paid, r.payment(hash).State)
	now := r.account("vite", r.net.Gateway)
	require.Equal(t, []uint64{a.Branch + 2, a.Next, a.Next}, []uint64{now.Branch, now.Base, now.Next}, "it goes on behind that block")
	r.requireHolding(r.vite, r.vite.Address("user 1"), usd, 300)
	r.requireSound()
}

// lineTip is the hash of the gateway's last block.
func (r *rig) lineTip() string {
	r.t.Helper()
	tip, err := r.vite.AccountHead(r.t.Context(), r.net.Gateway)
	require.NoError(r.t, err)
	return tip.Hash
}
