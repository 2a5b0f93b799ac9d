package recordstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/control"
)

func testConditions(t *testing.T, url string) {
	r := newRig(t, url)
	told := func() (list []control.Condition) {
		r.See(func(tx *records.Tx) (err error) { list, err = control.Conditions(tx); return err })
		return list
	}
	note := func(source string, list ...control.Condition) {
		r.Do(func(tx *records.Tx) error { return control.NoteConditions(tx, source, list) })
	}
	require.Empty(t, told())
	down := control.Condition{Kind: "nodes_unreachable", Chain: Source, Stops: true, Detail: "nobody answers"}
	slow := control.Condition{Kind: "node_faulty", Subject: "a:1", Chain: Source, Detail: "slow"}
	short := control.Condition{Kind: "insolvent", Network: Network, Token: Token, Stops: true, Detail: "5 missing"}
	begun := r.Now()
	note("eth", down, slow)
	note("books", short)
	r.Pass(time.Minute)
	down.Detail = "nobody answers for a minute"
	note("eth", down)
	down.Since, down.Seen, short.Since, short.Seen = begun, r.Now(), begun, begun
	require.Equal(t, []control.Condition{short, down}, told(), "what goes on keeps its time, what is over is gone, another source's stays")
	note("eth")
	note("books")
	require.Empty(t, told())

	many := make([]control.Condition, 150)
	for i := range many {
		many[i] = control.Condition{Kind: "node_faulty", Subject: fmt.Sprint(i)}
	}
	note("eth", many...)
	require.Len(t, told(), 100)

	r.See(func(tx *records.Tx) error {
		_, ever, err := control.SinceBeat(tx, "daemon")
		require.False(t, ever)
		return err
	})
	r.Do(func(tx *records.Tx) error { return control.Beat(tx, "daemon") })
	r.Pass(time.Hour)
	r.See(func(tx *records.Tx) error {
		age, ever, err := control.SinceBeat(tx, "daemon")
		require.True(t, ever)
		require.Less(t, age, 30*time.Minute, "by the database's clock, not ours")
		return err
	})
}

// testWaiting: what waits longest is told by account, and stops being told once it stands in a block.
func testWaiting(t *testing.T, url string) {
	r := newRig(t, url)
	waiting := func() (ids []uint64) {
		r.See(func(tx *records.Tx) error {
			list, err := control.OldestWaiting(tx, Exchange, Gateway)
			for _, w := range list {
				require.Equal(t, []any{Network, Token}, []any{w.Network, w.Token})
				ids = append(ids, w.Payment)
			}
			return err
		})
		return ids
	}
	require.Empty(t, waiting())
	_, first := r.Owe(records.Deposit, 500)
	_, second := r.Owe(records.Deposit, 70)
	require.Equal(t, []uint64{first}, waiting())
	s := r.Bind(first)
	require.Equal(t, []uint64{second, first}, waiting(), "one that is queued, one that is bound")
	r.Settle(s, r.Sign(s, records.AttemptPay))
	require.Equal(t, []uint64{second}, waiting())

	own := func() (list []records.Account) {
		r.See(func(tx *records.Tx) (err error) { list, err = tx.StoppedOwn(Source); return err })
		return list
	}
	require.Empty(t, own())
	r.stop(Source, Hot, records.AccountHalted)
	require.Len(t, own(), 1)
	require.Equal(t, Hot, own()[0].Account)
}
