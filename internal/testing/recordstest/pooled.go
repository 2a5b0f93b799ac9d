package recordstest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// testPooled: a user's deposits in a pool are listed until a block shows them, or the list is old.
func testPooled(t *testing.T, url string) {
	r := newRig(t, url)
	pooled := func(owner string) (list []records.Pooled) {
		r.See(func(tx *records.Tx) (err error) {
			list, err = tx.Transfers().PooledOf(Source, Network, Token, owner)
			return err
		})
		return list
	}
	require.Empty(t, pooled(Alice))
	in := r.Incoming(records.Deposit, 500, r.Mine(Source, ""))
	one := records.Pooled{Network: Network, Token: Token, Owner: Alice, Ref: in.Ref, Tx: in.Tx, Net: chain.NewAmount(500), SeenAt: r.Now()}
	two, of := one, one
	two.Ref, of.Owner = "another", Bob
	note := func() {
		r.Do(func(tx *records.Tx) error {
			return records.NotePooled(tx, Source, []records.Pooled{one, two, of, {Network: "other"}})
		})
	}
	note()
	require.Equal(t, []records.Pooled{one, two}, pooled(Alice))
	require.Equal(t, []records.Pooled{of}, pooled(Bob))
	r.Do(func(tx *records.Tx) error { _, _, err := tx.Transfers().See(in); return err })
	require.Equal(t, []records.Pooled{two}, pooled(Alice))
	r.Pass(time.Hour)
	require.Empty(t, pooled(Alice))
	note()
	require.Len(t, pooled(Alice), 1)
}
