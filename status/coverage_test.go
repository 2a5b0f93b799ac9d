package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// covered is a network with three tokens.
func covered() []records.Network {
	return []records.Network{{Name: "net", Source: recordstest.Source, Exchange: recordstest.Exchange, Tokens: []records.Token{
		{TokenID: "tti_a", Asset: "0xone"}, {TokenID: "tti_b", Asset: "0xtwo"}, {TokenID: "tti_c", Asset: "0xthree"},
	}}}
}

func compared(token string, asset chain.Asset, held, owed string, at time.Time) Coverage {
	return Coverage{Network: "net", Token: token, Asset: asset, Held: chain.MustAmount(held), Owed: chain.MustAmount(owed), Height: 7, At: at}
}

// TestCoverageStates: each configured token has a row. A comparison counts only while its chains are
// followed and comparisons are on time.
func TestCoverageStates(t *testing.T) {
	r := recordstest.NewRig(t)
	networks := covered()
	now := r.Now()
	states := func(found []Condition, age time.Duration) (states []string) {
		r.Do(func(tx *records.Tx) error {
			list, err := ReadCoverage(tx, networks, found, now.Add(age), 30*time.Second)
			for _, c := range list {
				states = append(states, c.State)
			}
			return err
		})
		return states
	}
	note := func(pause time.Duration, drawn ...Coverage) {
		r.Do(func(tx *records.Tx) error { return NoteCoverage(tx, networks, drawn, pause) })
	}
	require.Equal(t, []string{"uncompared", "uncompared", "uncompared"}, states(nil, 0))

	note(0, compared("tti_a", "0xone", "5", "5", now), compared("tti_b", "0xtwo", "4", "5", now))
	require.Equal(t, []string{"covered", "missing", "uncompared"}, states(nil, 90*time.Second))
	require.Equal(t, []string{"old", "old", "uncompared"}, states(nil, 91*time.Second))
	down := []Condition{{Kind: DaemonDown, Chain: recordstest.Source}}
	require.Equal(t, []string{"unfollowed", "unfollowed", "uncompared"}, states(down, 0))
	require.Equal(t, []string{"covered", "missing", "uncompared"}, states([]Condition{{Kind: DaemonDown, Chain: "bsc"}}, 0))

	note(time.Minute) // the process that leads now has compared nothing yet
	require.Equal(t, []string{"covered", "missing", "uncompared"}, states(nil, 270*time.Second), "the earlier ones are kept, with the new pause")
	require.Equal(t, []string{"old", "old", "uncompared"}, states(nil, 271*time.Second), "and with their own time")

	networks[0].Tokens[1].Asset = "0xother"
	require.Equal(t, []string{"covered", "uncompared", "uncompared"}, states(nil, 0), "of another asset")
	networks[0].Tokens[1].Asset = "0xtwo"
	r.Do(func(tx *records.Tx) error { return tx.Chains().Halt(recordstest.Source, "test") })
	require.Equal(t, []string{"halted", "halted", "uncompared"}, states(nil, 0))
}
