package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

func TestHeadline(t *testing.T) {
	since := time.Date(2026, 11, 23, 17, 32, 27, 0, time.UTC)
	blocked := Condition{Kind: AccountStopped, Chain: "eth", Stops: true, Detail: "an account is halted"}
	for _, c := range []struct {
		found    []Condition
		pending  uint64
		state    State
		headline string
	}{
		{nil, 0, Idle, "No pending payments."},
		{nil, 3, Flowing, "Payments are flowing."},
		{[]Condition{{Kind: FeesHigh}}, 3, Flowing, "Payments are flowing."},
		{[]Condition{blocked}, 0, Blocked, "All payments are blocked."},
		{[]Condition{blocked, {Kind: DaemonDown, Stops: true, Detail: "the daemon does not answer", Since: since}}, 3, Unknown,
			"Unknown: the daemon does not answer since 2026-11-23 17:32:27 UTC."},
		{[]Condition{{Kind: NodesDown, Chain: "eth", Stops: true, Detail: "a, b and c"}}, 0, Unknown, "Unknown: the nodes of chain eth do not answer."},
		{[]Condition{{Kind: NodesDisagree, Chain: "eth", Stops: true}}, 0, Unknown, "Unknown: the nodes of chain eth disagree."},
		{Down().Conditions, 0, Unknown, "Unknown: the database does not answer."},
	} {
		r := Report{Conditions: c.found}
		require.Equal(t, c.state, r.State(c.pending))
		require.Equal(t, c.headline, r.Headline(c.pending))
		require.Equal(t, c.state == Idle || c.state == Flowing, r.Flows())
	}
}

// TestSilentNodes: nodes that do not answer this process are a condition, unless the daemon knows
// it already.
func TestSilentNodes(t *testing.T) {
	var r Report
	r.AddSilent("eth", "no connection")
	r.AddSilent("eth", "no connection")
	require.Equal(t, []Condition{{Kind: NodesDown, Chain: "eth", Stops: true, Detail: "the nodes of chain eth do not answer here: no connection"}}, r.Conditions)
	require.Equal(t, Unknown, r.State(0))
}

// TestSilentDaemon: some seconds after its last sign of life nothing is known about payments, on
// every surface, and only once.
func TestSilentDaemon(t *testing.T) {
	r := recordstest.NewRig(t)
	n := records.Network{Name: recordstest.Network, Source: recordstest.Source, Exchange: recordstest.Exchange}
	other := n
	other.Name = "other"
	var report Report
	var health Health
	read := func() State {
		r.See(func(tx *records.Tx) (err error) {
			if report, err = Read(tx, []records.Network{n, other}); err == nil {
				health, err = ReadHealth(tx, []records.Network{n, other})
			}
			return err
		})
		return report.State(0)
	}
	r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, Role, 0) })
	require.Equal(t, Idle, read())
	require.Equal(t, "ok", health.Status)
	r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, Role, -6*time.Second) })
	require.Equal(t, Unknown, read())
	require.Len(t, report.Conditions, 1)
	require.Regexp(t, `^Unknown: the daemon does not answer since 20..-..-.. ..:..:.. UTC\.$`, report.Headline(0))
	require.Equal(t, "unknown", health.Status)
	require.Equal(t, []Reason{{Kind: DaemonDown}}, health.Reasons)
}
