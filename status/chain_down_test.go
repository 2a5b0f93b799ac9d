package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// TestChainWithoutAProcess: a process leads, and none works on a source chain. The payments of that
// network are blocked, and no others.
func TestChainWithoutAProcess(t *testing.T) {
	networks := threeNetworks()
	r := recordstest.NewRig(t)
	read := func() (report Report) {
		r.Do(func(tx *records.Tx) (err error) {
			report, err = Read(tx, networks)
			return err
		})
		return report
	}
	r.Do(func(tx *records.Tx) error { return records.Beat(tx, Role) })
	require.Empty(t, read().Conditions, "an older version has led")
	r.Do(func(tx *records.Tx) error {
		for _, n := range networks {
			if err := records.Beat(tx, ChainRole(n.Source)); err != nil {
				return err
			}
		}
		return records.Beat(tx, ChainRole(recordstest.Exchange))
	})
	require.Empty(t, read().Conditions)
	r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, ChainRole("bsc"), -2*alive) })
	found := read()
	require.Len(t, found.Conditions, 1)
	c := found.Conditions[0]
	require.Equal(t, []any{DaemonDown, "bsc", true}, []any{c.Kind, string(c.Chain), c.Stops})
	require.WithinDuration(t, time.Now().Add(-2*alive), c.Since, alive)
	for _, channel := range found.Channels {
		require.Equal(t, channel.Network == "bsc", channel.State() == records.ChannelMaintain, "%+v", channel.Channel)
	}
	r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, Role, -2*alive) })
	require.Empty(t, read().Conditions[0].Chain, "no process leads: that is all")
	require.Len(t, read().Conditions, 1)
}
