package recordstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func testConditions(t *testing.T, url string) {
	r := newRig(t, url)
	told := func() (list []records.Condition) {
		r.See(func(tx *records.Tx) (err error) { list, err = records.Conditions(tx); return err })
		return list
	}
	note := func(source string, list ...records.Condition) {
		r.Do(func(tx *records.Tx) error { return records.NoteConditions(tx, source, list) })
	}
	require.Empty(t, told())
	down := records.Condition{Kind: "nodes_unreachable", Chain: Source, Stops: true, Detail: "nobody answers"}
	slow := records.Condition{Kind: "node_faulty", Subject: "a:1", Chain: Source, Detail: "slow"}
	short := records.Condition{Kind: "insolvent", Network: Network, Token: Token, Stops: true, Detail: "5 missing"}
	begun := r.Now()
	note("eth", down, slow)
	note("books", short)
	r.Pass(time.Minute)
	down.Detail = "nobody answers for a minute"
	note("eth", down)
	down.Since, down.Seen, short.Since, short.Seen = begun, r.Now(), begun, begun
	require.Equal(t, []records.Condition{short, down}, told(), "what goes on keeps its time, what is over is gone, another source's stays")
	r.Do(func(tx *records.Tx) error { return records.DropSources(tx, "b", []string{"books"}) })
	require.Len(t, told(), 2)
	r.Do(func(tx *records.Tx) error { return records.DropSources(tx, "e", []string{"books"}) })
	require.Equal(t, []records.Condition{short}, told(), "those whose source is not kept are gone")
	note("books")
	require.Empty(t, told())

	many := make([]records.Condition, 150)
	for i := range many {
		many[i] = records.Condition{Kind: "node_faulty", Subject: fmt.Sprint(i)}
	}
	note("eth", many...)
	require.Len(t, told(), 100)

	r.See(func(tx *records.Tx) error {
		_, ever, err := records.LastBeat(tx, "daemon")
		require.False(t, ever)
		return err
	})
	r.Do(func(tx *records.Tx) error { return records.Beat(tx, "daemon") })
	r.Pass(time.Hour)
	r.See(func(tx *records.Tx) error {
		beat, ever, err := records.LastBeat(tx, "daemon")
		require.True(t, ever)
		require.Less(t, beat.Age, 30*time.Minute, "by the database's clock, not ours")
		return err
	})
}

// testWaiting: the longest wait is reported by account, until a block contains the payment.
func testWaiting(t *testing.T, url string) {
	r := newRig(t, url)
	waiting := func() (ids []uint64) {
		r.See(func(tx *records.Tx) error {
			list, err := records.OldestWaiting(tx, Exchange, Gateway)
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
		r.See(func(tx *records.Tx) (err error) { list, err = tx.Accounts().StoppedOwn(Source); return err })
		return list
	}
	require.Empty(t, own())
	r.stop(Source, Hot, records.AccountHalted)
	require.Len(t, own(), 1)
	require.Equal(t, Hot, own()[0].Account)
}

// testGuards: the first sign-guard is taken, another one is not, and one that is adopted stops
// every account that pays.
func testGuards(t *testing.T, url string) {
	r := newRig(t, url)
	read := func() (g records.Guard, found bool) {
		r.See(func(tx *records.Tx) (err error) { g, found, err = records.GuardOf(tx); return err })
		return g, found
	}
	note := func(g records.Guard) error {
		return r.Store.Update(context.Background(), func(tx *records.Tx) error { return records.NoteGuard(tx, g) })
	}
	_, found := read()
	require.False(t, found)
	require.NoError(t, note(records.Guard{ID: "a", Commits: 3}))
	require.NoError(t, note(records.Guard{ID: "a", Commits: 2}))
	require.ErrorIs(t, note(records.Guard{ID: "b", Commits: 9}), records.ErrOtherGuard)
	g, found := read()
	require.True(t, found)
	require.Equal(t, records.Guard{ID: "a", Commits: 3}, g, "it never falls by itself")

	fresh := records.Account{Chain: Source, Account: "0xNew", Kind: records.KindGas, Network: Network, KeyPath: "m/9", State: records.AccountNew}
	var halted []records.Account
	r.Do(func(tx *records.Tx) (err error) {
		if err := tx.Accounts().Ensure(fresh); err != nil {
			return err
		}
		halted, err = records.AdoptGuard(tx, records.Guard{ID: "b"}, []chain.ID{Source, Exchange}, "a test")
		return err
	})
	require.Len(t, halted, 2)
	g, _ = read()
	require.Equal(t, records.Guard{ID: "b"}, g)
	r.See(func(tx *records.Tx) error {
		for _, a := range halted {
			now, err := tx.Accounts().Get(a.Chain, a.Account)
			require.NoError(t, err)
			require.Equal(t, []any{records.AccountHalted, "a test"}, []any{now.State, now.Why})
		}
		now, err := tx.Accounts().Get(fresh.Chain, fresh.Account)
		require.Equal(t, records.AccountNew, now.State, "it has signed nothing")
		return err
	})
}

// testLackingGuards: a sign-guard that lacks signatures of an account halts that account, once, and
// no other.
func testLackingGuards(t *testing.T, url string) {
	r := newRig(t, url)
	for range 3 {
		_, id := r.Owe(records.Deposit, 500)
		r.Sign(r.Bind(id), records.AttemptPay)
	}
	_, id := r.Owe(records.Deposit, 500)
	r.Bind(id) // nothing is signed there
	account := func(id chain.ID, of string) (a records.Account) {
		r.See(func(tx *records.Tx) (err error) { a, err = tx.Accounts().Get(id, of); return err })
		return a
	}
	gateway, hot := account(Exchange, Gateway), account(Source, Hot)
	halted := func(branch, number uint64, known bool) (list []string) {
		r.Do(func(tx *records.Tx) error {
			some, err := records.HaltLacking(tx, []records.GuardEnd{{Account: gateway, Branch: branch, Number: number, Known: known}, {Account: hot}})
			for _, a := range some {
				list = append(list, a.Account)
				require.Contains(t, a.Why, "the sign-guard is older than these records")
			}
			return err
		})
		return list
	}
	end := gateway.Next - 1
	require.Empty(t, halted(gateway.Branch, end, true))
	require.Empty(t, halted(gateway.Branch, end+1, true), "a signature that the records do not have is another story")
	require.Empty(t, halted(gateway.Branch+1, 3, true), "so is a newer branch")
	require.Equal(t, []string{Gateway}, halted(gateway.Branch, end-1, true))
	require.Equal(t, records.AccountHalted, account(Exchange, Gateway).State)
	require.Equal(t, records.AccountOK, account(Source, Hot).State)

	r.Do(func(tx *records.Tx) error { return tx.Accounts().SetState(Exchange, Gateway, records.AccountOK, "") })
	require.Empty(t, halted(gateway.Branch, end-1, true), "it was told")
	r.Do(func(tx *records.Tx) error {
		_, err := records.HaltLacking(tx, []records.GuardEnd{{Account: hot}})
		return err
	})
	require.Empty(t, halted(gateway.Branch, end-1, true), "another process has compared another chain meanwhile")
	require.Empty(t, halted(gateway.Branch, end, true))
	require.Equal(t, []string{Gateway}, halted(gateway.Branch, end-1, true), "it knew that once more")
	r.Do(func(tx *records.Tx) error { return tx.Accounts().SetState(Exchange, Gateway, records.AccountOK, "") })
	_, id = r.Owe(records.Deposit, 500)
	r.Sign(r.Bind(id), records.AttemptPay)
	require.Equal(t, []string{Gateway}, halted(gateway.Branch, end, true), "it lacks a newer one")

	r.Do(func(tx *records.Tx) error {
		_, err := records.AdoptGuard(tx, records.Guard{ID: "b"}, []chain.ID{Source, Exchange}, "a test")
		return err
	})
	require.Empty(t, halted(0, 0, false), "what an adopted one lacks was told")
}

// testReloads: an order to read the configuration again is open until it is ended, once; the daemon
// works by the last reading.
func testReloads(t *testing.T, url string) {
	r := newRig(t, url)
	order := func() (id uint64) {
		require.NoError(t, r.Store.Update(records.WithActor(context.Background(), "operator:ann"), func(tx *records.Tx) (err error) {
			id, err = records.OrderReload(tx)
			return err
		}))
		return id
	}
	open := func() (o records.Reload, found bool) {
		r.See(func(tx *records.Tx) (err error) { o, found, err = records.OpenReload(tx); return err })
		return o, found
	}
	configured := func() (c records.Reload, found bool) {
		r.See(func(tx *records.Tx) (err error) { c, found, err = records.Configured(tx); return err })
		return c, found
	}
	_, found := open()
	require.False(t, found)
	_, found = configured()
	require.False(t, found)
	r.Do(func(tx *records.Tx) error {
		return records.NoteReload(tx, records.Reload{State: records.ReloadDone, Fingerprint: "f0"})
	})

	first, second := order(), order()
	o, found := open()
	require.True(t, found)
	require.Equal(t, []any{first, records.ReloadOpen, "operator:ann"}, []any{o.ID, o.State, o.Actor})
	o.State, o.Fingerprint, o.Report = records.ReloadDone, "f1", `{"file":"config.yaml"}`
	r.Do(func(tx *records.Tx) error { return records.EndReload(tx, o) })
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return records.EndReload(tx, o) }), records.ErrConflict)

	o, _ = open()
	require.Equal(t, second, o.ID)
	o.State, o.Report = records.ReloadRefused, `{"refused":"no"}`
	r.Do(func(tx *records.Tx) error { return records.EndReload(tx, o) })
	c, found := configured()
	require.True(t, found)
	require.Equal(t, []any{first, "f1", `{"file":"config.yaml"}`, "operator:ann"}, []any{c.ID, c.Fingerprint, c.Report, c.Actor})
	r.See(func(tx *records.Tx) error {
		got, err := records.ReloadByID(tx, second)
		require.Equal(t, []any{records.ReloadRefused, `{"refused":"no"}`}, []any{got.State, got.Report})
		require.NoError(t, err)
		_, err = records.ReloadByID(tx, 99)
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})
}

// Alive stores a heartbeat of the daemon that lasts for an hour, for tests in which no daemon runs.
func Alive(tx *records.Tx) error { return records.BeatAt(tx, "daemon", time.Hour) }
