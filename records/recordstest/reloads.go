package recordstest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/control"
)

// testReloads: an order to read the configuration again is open until it is ended, once; what was done last is what the daemon works by.
func testReloads(t *testing.T, url string) {
	r := newRig(t, url)
	order := func() (id uint64) {
		require.NoError(t, r.Store.Update(records.WithActor(context.Background(), "operator:ann"), func(tx *records.Tx) (err error) {
			id, err = control.OrderReload(tx)
			return err
		}))
		return id
	}
	open := func() (o control.Reload, found bool) {
		r.See(func(tx *records.Tx) (err error) { o, found, err = control.OpenReload(tx); return err })
		return o, found
	}
	configured := func() (c control.Reload, found bool) {
		r.See(func(tx *records.Tx) (err error) { c, found, err = control.Configured(tx); return err })
		return c, found
	}
	_, found := open()
	require.False(t, found)
	_, found = configured()
	require.False(t, found)
	r.Do(func(tx *records.Tx) error {
		return control.NoteReload(tx, control.Reload{State: control.ReloadDone, Fingerprint: "f0"})
	})

	first, second := order(), order()
	o, found := open()
	require.True(t, found)
	require.Equal(t, []any{first, control.ReloadOpen, "operator:ann"}, []any{o.ID, o.State, o.Actor})
	o.State, o.Fingerprint, o.Report = control.ReloadDone, "f1", `{"file":"config.yaml"}`
	r.Do(func(tx *records.Tx) error { return control.EndReload(tx, o) })
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return control.EndReload(tx, o) }), records.ErrConflict)

	o, _ = open()
	require.Equal(t, second, o.ID)
	o.State, o.Report = control.ReloadRefused, `{"refused":"no"}`
	r.Do(func(tx *records.Tx) error { return control.EndReload(tx, o) })
	c, found := configured()
	require.True(t, found)
	require.Equal(t, []any{first, "f1", `{"file":"config.yaml"}`, "operator:ann"}, []any{c.ID, c.Fingerprint, c.Report, c.Actor})
	r.See(func(tx *records.Tx) error {
		got, err := control.ReloadByID(tx, second)
		require.Equal(t, []any{control.ReloadRefused, `{"refused":"no"}`}, []any{got.State, got.Report})
		require.NoError(t, err)
		_, err = control.ReloadByID(tx, 99)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}
