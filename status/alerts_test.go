package status

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// TestAlertsOnceEach: a condition is announced when it begins and when it ends, however often it is
// found and however its text changes meanwhile.
func TestAlertsOnceEach(t *testing.T) {
	log, hook := test.NewNullLogger()
	a := NewAlerts(log)
	lines := func() (told []string) {
		for _, e := range hook.AllEntries() {
			told = append(told, fmt.Sprint(e.Level, " ", e.Message, " ", e.Data["condition"], " ", e.Data["chain"], " ", e.Data["direction"], " ", e.Data["since"], " ", e.Data["lasted"]))
		}
		hook.Reset()
		return told
	}
	still := Condition{Kind: NodesStale, Chain: "eth", Detail: "for 30s", Stops: true}
	short := Condition{Kind: ChannelStopped, Network: "eth", Token: "tti_1", Direction: records.Withdrawal, Detail: "top it up", Since: begin.Add(-time.Minute)}
	a.Update(begin, []Condition{still, short, still})
	require.Equal(t, []string{
		"warning for 30s nodes_stale eth <nil> 2026-11-22T12:00:00Z <nil>", "warning top it up channel_stopped <nil> withdrawal 2026-11-22T11:59:00Z <nil>",
	}, lines())
	still.Detail = "for 40s"
	a.Update(begin.Add(10*s), []Condition{short, still})
	require.Empty(t, lines())

	a.reportStoreDown(begin.Add(20*s), errors.New("no route"))
	a.reportStoreDown(begin.Add(30*s), errors.New("no answer"))
	require.Equal(t, []string{"warning the database does not answer: no route store_down <nil> <nil> 2026-11-22T12:00:20Z <nil>"}, lines())

	a.Update(begin.Add(40*s), []Condition{short, {Kind: ChannelClosed, Network: "eth"}})
	require.Equal(t, []string{"info over nodes_stale eth <nil> 2026-11-22T12:00:00Z 40s", "info over store_down <nil> <nil> 2026-11-22T12:00:20Z 20s"}, lines())
	short.Direction = records.Deposit
	a.Update(begin.Add(50*s), []Condition{short})
	require.Len(t, lines(), 2, "another channel's is another one")
}
