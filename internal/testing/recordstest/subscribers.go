package recordstest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/books"
)

// testSubscribers: a receiver of the history has a position in it, which only advances; the history
// contains the beginning and the end of conditions.
func testSubscribers(t *testing.T, url string) {
	r := newRig(t, url)
	see := func(name string) (s records.Subscriber) {
		r.See(func(tx *records.Tx) (err error) { s, err = records.SubscriberOf(tx, name); return err })
		return s
	}
	r.See(func(tx *records.Tx) error {
		_, err := records.SubscriberOf(tx, "a")
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
	var end uint64
	r.Do(func(tx *records.Tx) error {
		require.NoError(t, records.AddSubscriber(tx, "a"))
		require.NoError(t, records.AddSubscriber(tx, "a"))
		var err error
		end, err = books.HistoryEnd(tx)
		return err
	})
	require.Equal(t, end, see("a").Seq)

	down := records.Condition{Kind: "nodes_unreachable", Chain: Source, Stops: true, Detail: "no answer", Since: r.Now().Add(-time.Minute)}
	faulty := records.Condition{Kind: "node_faulty", Subject: "b", Detail: "it lies"}
	reworded := down
	reworded.Detail = "still no answer"
	for _, now := range [][]records.Condition{{down}, {reworded, faulty, faulty}, {faulty}, {faulty}, nil} {
		r.Do(func(tx *records.Tx) error { return records.AnnounceConditions(tx, now, single) })
	}
	r.See(func(tx *records.Tx) error {
		lines, err := tx.HistoryAfter(end, 100)
		require.NoError(t, err)
		var told []string
		for _, l := range lines {
			var c records.Condition
			require.Equal(t, records.ConditionSubject, l.Subject)
			require.NoError(t, json.Unmarshal([]byte(l.Detail), &c))
			require.False(t, c.Since.IsZero())
			told = append(told, c.Kind+" "+l.Event)
		}
		require.Equal(t, []string{"nodes_unreachable began", "node_faulty began", "nodes_unreachable over", "node_faulty over"}, told)
		two, err := tx.HistoryAfter(end, 2)
		require.Len(t, two, 2)
		return err
	})

	r.Do(func(tx *records.Tx) error {
		return records.SubscriberRefused(tx, "a", "it answers 500", r.Now().Add(time.Hour))
	})
	r.Pass(time.Minute)
	r.Do(func(tx *records.Tx) error {
		return records.SubscriberRefused(tx, "a", "it answers 502", r.Now().Add(time.Hour))
	})
	s := see("a")
	require.Equal(t, []any{end, 2, "it answers 502", r.Now().Add(time.Hour), time.Minute}, []any{s.Seq, s.Attempts, s.Fault, s.NextAt, s.For})
	r.Do(func(tx *records.Tx) error { return records.SubscriberTook(tx, "a", end+3) })
	r.Do(func(tx *records.Tx) error { return records.SubscriberTook(tx, "a", end+1) })
	s = see("a")
	require.Equal(t, []any{end + 3, 0, "", time.Time{}}, []any{s.Seq, s.Attempts, s.Fault, s.NextAt})
	r.See(func(tx *records.Tx) error {
		all, err := records.Subscribers(tx)
		require.Len(t, all, 1)
		return err
	})
}

// single makes an alert of each condition.
func single(list []records.Condition) (all []records.Alert) {
	for _, c := range list {
		all = append(all, records.Alert{Condition: c})
	}
	return all
}
