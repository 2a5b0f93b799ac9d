package recordstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// testReloads: an order to read the configuration again is open until it is ended, once; what was done last is what the daemon works by.
func testReloads(t *testing.T, url string) {
	r := newRig(t, url)
	order := func() (id uint64) {
		require.NoError(t, r.Store.Update(records.WithActor(context.Background(), "operator:ann"), func(tx *records.Tx) (err error) {
			id, err = tx.OrderReload()
			return err
		}))
		return id
	}
	open := func() (o records.Reload, found bool) {
		r.See(func(tx *records.Tx) (err error) { o, found, err = tx.OpenReload(); return err })
		return o, found
	}
	configured := func() (c records.Reload, found bool) {
		r.See(func(tx *records.Tx) (err error) { c, found, err = tx.Configured(); return err })
		return c, found
	}
	_, found := open()
	require.False(t, found)
	_, found = configured()
	require.False(t, found)
	r.Do(func(tx *records.Tx) error {
		return tx.NoteReload(records.Reload{State: records.ReloadDone, Fingerprint: "f0"})
	})

	first, second := order(), order()
	o, found := open()
	require.True(t, found)
	require.Equal(t, []any{first, records.ReloadOpen, "operator:ann"}, []any{o.ID, o.State, o.Actor})
	o.State, o.Fingerprint, o.Report = records.ReloadDone, "f1", `{"file":"config.yaml"}`
	r.Do(func(tx *records.Tx) error { return tx.EndReload(o) })
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return tx.EndReload(o) }), records.ErrConflict)

	o, _ = open()
	require.Equal(t, second, o.ID)
	o.State, o.Report = records.ReloadRefused, `{"refused":"no"}`
	r.Do(func(tx *records.Tx) error { return tx.EndReload(o) })
	c, found := configured()
	require.True(t, found)
	require.Equal(t, []any{first, "f1", `{"file":"config.yaml"}`, "operator:ann"}, []any{c.ID, c.Fingerprint, c.Report, c.Actor})
	r.See(func(tx *records.Tx) error {
		got, err := tx.ReloadByID(second)
		require.Equal(t, []any{records.ReloadRefused, `{"refused":"no"}`}, []any{got.State, got.Report})
		require.NoError(t, err)
		_, err = tx.ReloadByID(99)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}
