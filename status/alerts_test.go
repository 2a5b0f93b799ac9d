package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
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
	a.Update(begin, Report{Conditions: []Condition{still, short, still}})
	require.Equal(t, []string{
		"warning for 30s nodes_stale eth <nil> 2026-11-22T12:00:00Z <nil>", "warning top it up channel_stopped <nil> withdrawal 2026-11-22T11:59:00Z <nil>",
	}, lines())
	still.Detail = "for 40s"
	a.Update(begin.Add(10*s), Report{Conditions: []Condition{short, still}})
	require.Empty(t, lines())

	a.reportStoreDown(begin.Add(20*s), errors.New("no route"))
	a.reportStoreDown(begin.Add(30*s), errors.New("no answer"))
	require.Equal(t, []string{"warning the database does not answer: no route store_down <nil> <nil> 2026-11-22T12:00:20Z <nil>"}, lines())

	a.Update(begin.Add(40*s), Report{Conditions: []Condition{short, {Kind: ChannelClosed, Network: "eth"}}})
	require.Equal(t, []string{"info over nodes_stale eth <nil> 2026-11-22T12:00:00Z 40s", "info over store_down <nil> <nil> 2026-11-22T12:00:20Z 20s"}, lines())
	short.Direction = records.Deposit
	a.Update(begin.Add(50*s), Report{Conditions: []Condition{short}})
	require.Equal(t, []string{"warning top it up channel_stopped <nil> deposit 2026-11-22T11:59:00Z <nil>"}, lines(), "another channel changes the alert")
}

// TestAlertsAreGrouped: the conditions of one kind of many tokens are one alert, in the log and in
// the history. It changes with its tokens, is critical while no withdrawal is possible, and ends
// with the last token.
func TestAlertsAreGrouped(t *testing.T) {
	networks := threeNetworks()
	all := allUnfunded(networks)
	r := recordstest.NewRig(t)
	for _, n := range networks[1:] {
		r.Do(func(tx *records.Tx) error { return tx.Chains().Start(n.Source, chain.Point{Height: 1, Hash: "h"}) })
	}
	log, hook := test.NewNullLogger()
	alerts := NewAlerts(log)
	var seq uint64
	// announced has the type, the severity and the list of each event of a round.
	announced := func(found []records.Condition) (events []string) {
		r.Do(func(tx *records.Tx) error {
			if err := records.BeatAt(tx, Role, 0); err != nil {
				return err
			}
			if err := records.NoteConditions(tx, "test", found); err != nil {
				return err
			}
			report, err := Read(tx, networks)
			if err != nil {
				return err
			}
			alerts.Update(r.Now(), report)
			return records.AnnounceConditions(tx, alertable(report.Conditions), report.Alerts)
		})
		r.See(func(tx *records.Tx) error {
			lines, err := tx.HistoryAfter(seq, 1000)
			for _, l := range lines {
				if seq = l.Seq; l.Subject != records.ConditionSubject {
					continue
				}
				var a records.Alert
				require.NoError(t, json.Unmarshal([]byte(l.Detail), &a), l.Detail)
				events = append(events, fmt.Sprint(a.Kind, " ", l.Event, " ", a.Severity, " ", len(a.Tokens), " ", a.Network, " ", a.Token))
			}
			return err
		})
		require.Len(t, hook.AllEntries(), len(events), "a line of the log for each event")
		hook.Reset()
		return events
	}
	require.Equal(t, []string{"no_funds began warning 1 eth tti_eth0"}, announced(all[:1]))
	require.Empty(t, announced(all[:1]))
	require.Equal(t, []string{"no_funds changed warning 12  "}, announced(all[:12]))
	require.Equal(t, []string{"no_funds changed warning 7 eth "}, announced(all[:7]))
	require.Equal(t, []string{"no_funds changed critical 21  "}, announced(all))
	require.Empty(t, announced(all))
	require.Equal(t, []string{"no_funds changed warning 1 eth tti_eth0"}, announced(all[:1]))
	halted := records.Condition{Kind: string(NodesStale), Chain: "bsc", Stops: true, Detail: "no block"}
	require.Equal(t, []string{"nodes_stale began critical 0  "}, announced(append(all[:1:1], halted)))
	require.Equal(t, []string{"no_funds over warning 1 eth tti_eth0", "nodes_stale over critical 0  "}, announced(nil))
}

// TestAlertOfManyTokens: the list of tokens fits a line of the history.
func TestAlertOfManyTokens(t *testing.T) {
	var list []records.Condition
	for i := range 300 {
		list = append(list, records.Condition{Kind: "no_funds", Network: "eth", Token: fmt.Sprintf("tti_%03d", i), Direction: records.Withdrawal, Detail: "first"})
	}
	alerts := Report{}.Alerts(list)
	require.Len(t, alerts, 1)
	require.Equal(t, "300 conditions, the first: first", alerts[0].Detail)
	require.Equal(t, []string{"eth tti_000 withdrawal", "and 264 more"}, []string{alerts[0].Tokens[0], alerts[0].Tokens[len(alerts[0].Tokens)-1]})
}
