package recordstest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// fold brings the books of the source chain's coin to its final block.
func (r *Rig) fold() {
	r.T.Helper()
	r.Finalize(Source)
	r.Do(func(tx *records.Tx) error { return tx.Balances().Fold(Source) })
}

// coin returns the received and the sent coin of an account in its books.
func (r *Rig) coin(account string) (came, went uint64) {
	r.T.Helper()
	h := r.holding(account)
	return h.In.Uint256().Uint64(), h.Out.Uint256().Uint64()
}

func (r *Rig) holding(account string) records.Holding {
	r.T.Helper()
	var list []records.Holding
	r.See(func(tx *records.Tx) (err error) {
		list, err = tx.Balances().HoldingsOf(Source, []string{account})
		return err
	})
	require.Len(r.T, list, 1, account)
	return list[0]
}

// sees stores a deposit of coin to an address in a block.
func (r *Rig) sees(to string, amount uint64, b chain.Block) (t records.Transfer) {
	r.T.Helper()
	in := r.Incoming(records.Deposit, amount, b)
	in.To = to
	r.Do(func(tx *records.Tx) (err error) { t, _, err = tx.Transfers().See(in); return err })
	return t
}

func (r *Rig) bind(owner string) (address string) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) error {
		b, err := BindAddress(tx, Network, Source, owner, derive)
		address = b.Address
		return err
	})
	return address
}

func testHoldings(t *testing.T, url string) {
	r := newRig(t, url)
	address := r.bind(Alice)
	require.Equal(t, records.Holding{Account: address, Kind: records.KindDeposit, Network: Network, Since: 100, Opened: true}, r.holding(address))
	require.False(t, r.holding(Hot).Opened)

	r.sees(address, 70, r.Mine(Source, ""))
	requireCoin(r, address, 0, 0) // not final
	r.fold()
	requireCoin(r, address, 70, 0)
	r.fold()
	requireCoin(r, address, 70, 0)

	failed := r.Incoming(records.Deposit, 9, r.Mine(Source, ""))
	failed.To, failed.Failed = address, true
	token := r.Incoming(records.Deposit, 9, r.Mine(Source, ""))
	token.To, token.Asset = address, "0xtoken"
	left := r.Mine(Source, "left")
	decided := r.sees(address, 5, left)
	r.Do(func(tx *records.Tx) error {
		for _, in := range []records.Transfer{failed, token} {
			if _, _, err := tx.Transfers().See(in); err != nil {
				return err
			}
		}
		if err := tx.Transfers().Move(decided.ID, records.Seen, records.Final, ""); err != nil { // by a count below finality
			return err
		}
		_, err := tx.Chains().StepBack(Source)
		return err
	})
	own := r.Mine(Source, "", // a payment to an outsider, a top-up, a failure, a cancellation, an unknown transaction
		chain.OwnTx{Account: Hot, Number: 7, Tx: "a", OK: true, Fee: chain.NewAmount(3), To: "0xpayee", Value: chain.NewAmount(40)},
		chain.OwnTx{Account: GasTank, Number: 1, Tx: "b", OK: true, Fee: chain.NewAmount(3), To: address, Value: chain.NewAmount(11)},
		chain.OwnTx{Account: Hot, Number: 8, Tx: "c", Void: true, Fee: chain.NewAmount(3)},
		chain.OwnTx{Account: Hot, Number: 9, Tx: "d", OK: true, Fee: chain.NewAmount(3), To: Hot, Value: chain.NewAmount(2)},
		chain.OwnTx{Account: address, Number: 0, Tx: "e", OK: true, Fee: chain.NewAmount(1), To: Hot, Value: chain.NewAmount(30)},
	)
	r.fold()
	requireCoin(r, address, 70+11, 31)
	requireCoin(r, Hot, 2+30, 43+3+5)
	requireCoin(r, GasTank, 0, 14)
	var past []records.Holding
	r.See(func(tx *records.Tx) (err error) {
		past, err = books.HoldingsAt(tx, Source, own.Height-1, []string{address, GasTank})
		return err
	})
	require.Equal(t, []string{GasTank, address}, []string{past[0].Account, past[1].Account})
	require.Equal(t, chain.Amount{}, past[0].Out)
	require.Equal(t, chain.NewAmount(70), past[1].In)
	require.Equal(t, chain.Amount{}, past[1].Out)
}

func requireCoin(r *Rig, account string, came, went uint64) {
	r.T.Helper()
	in, out := r.coin(account)
	require.Equal(r.T, []uint64{came, went}, []uint64{in, out}, account)
}

// testHoldingsOfOlderRows: rows of versions that did not note the moved amount give the same sums,
// added up block by block and by the migration at once.
func testHoldingsOfOlderRows(t *testing.T, url string) {
	r := newRig(t, url)
	address := r.bind(Alice)
	t1 := r.sees(address, 100, r.Mine(Source, ""))
	r.Finalize(Source)
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(t1.ID, records.Seen, records.Refused, records.ReasonBelowMinimum)
	})
	gas := records.Payment{Purpose: chain.Gas, Network: Network, Token: Token, Chain: Source, Account: GasTank, Asset: chain.Native, Amount: chain.NewAmount(21_000), Payee: address}
	sweep := records.Payment{Purpose: chain.Sweep, Network: Network, Token: Token, Chain: Source, Account: address, Asset: chain.Native, Amount: chain.NewAmount(90), Payee: Hot}
	r.Do(func(tx *records.Tx) error {
		if err := tx.Accounts().Adopt(Source, GasTank, 0, ""); err != nil {
			return err
		}
		return tx.Accounts().Adopt(Source, address, 0, "")
	})
	for _, p := range []records.Payment{gas, sweep} {
		id, err := queue(r, p)
		require.NoError(t, err)
		r.Pay(id)
		if p.Purpose == chain.Sweep {
			r.Do(func(tx *records.Tx) error { return tx.Treasury().Swept(id, chain.NewAmount(80)) })
		}
	}
	_, payout := r.Owe(records.Withdrawal, 500)
	r.Pay(payout)
	db := rawWithSums(t, url)
	_, err := db.Exec(`UPDATE effects SET value = NULL, payee = ''`)
	require.NoError(t, err)
	r.fold()
	want := map[string][]uint64{address: {100 + 21_000, 80 + 21_000}, Hot: {80, 499 + 21_000}, GasTank: {0, 2 * 21_000}}
	for account, sums := range want {
		requireCoin(r, account, sums[0], sums[1])
	}

	_, err = db.Exec(`UPDATE holdings SET came = '0', went = '0'`)
	require.NoError(t, err)
	for _, s := range migrationSums(t) {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
	for account, sums := range want {
		requireCoin(r, account, sums[0], sums[1])
	}
}

// migrationSums are the statements by which the migration adds up what is there.
func migrationSums(t *testing.T) (list []string) {
	text, err := os.ReadFile("migrations/0030_holdings.sql") // the suite runs in package records
	require.NoError(t, err)
	for _, s := range strings.Split(string(text), ";") {
		if strings.HasPrefix(strings.TrimSpace(s), "UPDATE holdings") {
			list = append(list, s)
		}
	}
	require.Len(t, list, 2)
	return list
}

// rawWithSums is raw with the store's amount_sum, which PostgreSQL has in the database.
func rawWithSums(t *testing.T, url string) *sql.DB {
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return raw(t, url)
	}
	db := sql.OpenDB(summing{path + "?_foreign_keys=on&_busy_timeout=5000", &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return c.RegisterAggregator("amount_sum", func() *bigSum { return new(bigSum) }, true)
	}}})
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

type summing struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (s summing) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.dsn) }
func (s summing) Driver() driver.Driver                        { return s.driver }

type bigSum struct{ sum big.Int }

// Step adds one number.
func (s *bigSum) Step(text string) {
	n, _ := new(big.Int).SetString(text, 10)
	s.sum.Add(&s.sum, n)
}

// Done is the sum.
func (s *bigSum) Done() string { return s.sum.String() }

// findings returns the differences on the source chain.
func (r *Rig) findings() (list []books.Finding) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) { list, err = books.Findings(tx, Source); return err })
	return list
}

// looks compares an account that has so much at the final block, and returns the comparison.
func (r *Rig) looks(account string, have uint64) (uint64, books.Look) {
	r.T.Helper()
	l := books.Look{Holding: r.holding(account), Have: chain.NewAmount(have)}
	height := r.Cursor(Source).Final.Height
	r.Do(func(tx *records.Tx) error { return books.NoteLooks(tx, Source, height, []books.Look{l}) })
	return height, l
}

func testFindings(t *testing.T, url string) {
	r := newRig(t, url)
	address := r.bind(Alice)
	next := func() {
		r.Mine(Source, "")
		r.fold()
	}
	next()
	r.looks(Hot, 1000)
	require.True(t, r.holding(Hot).Opened, "what is there at first is not a surplus")
	require.Empty(t, r.findings())
	first, _ := r.looks(address, 50)
	f := r.findings()[0]
	require.Equal(t, []any{books.Surplus, chain.NewAmount(50), first, int64(-1)}, []any{f.Kind, f.Amount, f.Height, f.Clean})
	found := func(amount, height uint64) records.Transfer {
		in := r.Incoming(records.Deposit, amount, chain.Block{Point: chain.Point{Height: height, Hash: blockHash(Source, height, "")}})
		in.To, in.Ref = address, records.AuditRef(address, chain.Native, height)
		return in
	}
	credit := func(f books.Finding, height uint64, l books.Look, in ...records.Transfer) error {
		return r.Try(func(tx *records.Tx) error { return books.CreditSurplus(tx, f, height, l, in) })
	}
	_, same := r.looks(address, 50)
	require.ErrorIs(t, credit(f, first, same, found(50, first)), records.ErrConflict, "one block is not enough")
	next()
	second, l := r.looks(address, 70)
	require.Equal(t, f.Amount, r.findings()[0].Amount, "what the first block showed")
	require.ErrorIs(t, credit(f, second, l, found(49, first)), records.ErrConflict, "another sum")
	stale := l
	stale.In = chain.NewAmount(1)
	require.ErrorIs(t, credit(f, second, stale, found(50, first)), records.ErrConflict, "other books")
	require.NoError(t, credit(f, second, l, found(20, first-1), found(30, first)))
	require.ErrorIs(t, credit(f, second, l, found(50, first)), records.ErrConflict, "once")
	requireCoin(r, address, 50, 0)
	rest := r.findings()[0]
	require.Equal(t, []any{chain.NewAmount(20), second, int64(first)}, []any{rest.Amount, rest.Height, rest.Clean})

	next()
	r.looks(address, 60)
	require.Equal(t, chain.NewAmount(10), r.findings()[0].Amount, "less than before begins anew")
	next()
	r.looks(address, 50)
	require.Empty(t, r.findings())
	testLate(t, r, address, first)
	testShortage(t, r, next)
	r.See(func(tx *records.Tx) error { return tx.VerifyHistory() })
}

// testLate: movements in blocks that are added up already are matched with what balances have
// found, and else booked.
func testLate(t *testing.T, r *Rig, address string, height uint64) {
	b := chain.Block{Point: chain.Point{Height: height, Hash: blockHash(Source, height, "")}}
	one := r.sees(address, 25, b)
	require.Equal(t, []any{records.Held, records.ReasonFoundByAudit, ""}, []any{one.State, one.Reason, one.Owner})
	requireCoin(r, address, 50, 0)
	more := r.sees(address, 6, b)
	require.Equal(t, records.Seen, more.State, "30 were found by that block, 25 of them have been shown")
	requireCoin(r, address, 56, 0)
	all := r.sees(address, 5, b)
	require.Equal(t, records.Held, all.State)
	requireCoin(r, address, 56, 0)
}

func testShortage(t *testing.T, r *Rig, next func()) {
	next()
	r.looks(Hot, 990)
	f := r.findings()[0]
	require.Equal(t, []any{books.Shortage, chain.NewAmount(10), false}, []any{f.Kind, f.Amount, f.Confirmed})
	accept := func() error {
		return r.Try(func(tx *records.Tx) error { _, err := books.AcceptShortage(tx, Source, Hot, "a test"); return err })
	}
	require.ErrorIs(t, accept(), records.ErrNotFound, "not confirmed")
	r.looks(Hot, 990)
	require.False(t, r.findings()[0].Confirmed, "the same block again")
	next()
	r.looks(Hot, 988)
	f = r.findings()[0]
	require.Equal(t, []any{books.Shortage, chain.NewAmount(12), true}, []any{f.Kind, f.Amount, f.Confirmed})
	require.NoError(t, accept())
	next()
	r.looks(Hot, 988)
	require.Empty(t, r.findings())
	require.ErrorIs(t, accept(), records.ErrNotFound)
}

// testFirstLooks: every account is compared once soon after it was stored, in pages, whatever order
// they come in.
func testFirstLooks(t *testing.T, url string) {
	r := newRig(t, url)
	for _, owner := range []string{"vite_a", "vite_b", "vite_c", "vite_d", "vite_e"} {
		r.bind(owner)
		r.Mine(Source, "")
	}
	page := func(looked int64, after records.Holding) (names []string, last records.Holding) {
		var list []records.Holding
		r.See(func(tx *records.Tx) (err error) {
			list, err = tx.Balances().NewHoldings(Source, looked, after, 3)
			return err
		})
		for _, h := range list {
			names, last = append(names, h.Account), h
		}
		return names, last
	}
	r.fold()
	got, last := page(-1, records.Holding{Since: -1})
	require.Equal(t, []string{GasTank, Hot, Shared}, got, "from block 100, with the first address behind them")
	got, last = page(-1, last)
	require.Equal(t, []string{"0xdeposit0", "0xdeposit1", "0xdeposit2"}, got)
	got, _ = page(-1, last)
	require.Equal(t, []string{"0xdeposit3", "0xdeposit4"}, got)
	r.Do(func(tx *records.Tx) error { return books.NoteLooked(tx, Source, 102) })
	got, _ = page(102, records.Holding{Since: -1})
	require.Equal(t, []string{"0xdeposit3", "0xdeposit4"}, got)
	r.Do(func(tx *records.Tx) error { return books.NoteAudited(tx, Source, 105) })
	r.See(func(tx *records.Tx) error {
		a, found, err := tx.Balances().BalanceAudit(Source)
		require.True(t, found)
		require.Equal(t, []any{uint64(105), int64(105), int64(105)}, []any{a.Folded, a.Looked, a.Audited})
		return err
	})
}

// testTracing: a loss of traces lasts from the first untraced block to the next traced one. What no
// comparison of balances covers is kept apart from that.
func testTracing(t *testing.T, url string) {
	r := newRig(t, url)
	note := func(from uint64, blocks ...chain.Tracing) (state records.Tracing) {
		var list []chain.Block
		for i, b := range blocks {
			list = append(list, chain.Block{Point: chain.Point{Height: from + uint64(i)}, Tracing: b})
		}
		r.Do(func(tx *records.Tx) error { return tx.Chains().NoteTracing(Source, list) })
		r.See(func(tx *records.Tx) (err error) { state, err = tx.Chains().Tracing(Source); return err })
		return state
	}
	nothing := records.Tracing{First: -1, Last: -1}
	require.Equal(t, nothing, note(1, chain.TracingUnneeded))
	state := note(2, chain.Untraced, chain.TracingUnneeded, chain.Untraced)
	require.False(t, state.LostAt.IsZero())
	lost := state.LostAt
	require.Equal(t, records.Tracing{LostAt: lost, Untraced: 2, First: 2, Last: 4}, state)
	r.Pass(time.Minute)
	require.Equal(t, records.Tracing{LostAt: lost, Untraced: 3, First: 2, Last: 5}, note(5, chain.Untraced), "since the first of them")
	require.Equal(t, records.Tracing{Traced: true, First: 2, Last: 5}, note(6, chain.Traced), "balances still have to be compared")
	cover := func(height uint64) (state records.Tracing) {
		r.Do(func(tx *records.Tx) error { return tx.Chains().CoverUntraced(Source, height) })
		r.See(func(tx *records.Tx) (err error) { state, err = tx.Chains().Tracing(Source); return err })
		return state
	}
	require.Equal(t, records.Tracing{Traced: true, First: 2, Last: 5}, cover(1))
	require.Equal(t, records.Tracing{Traced: true, First: 4, Last: 5}, cover(3))
	require.Equal(t, records.Tracing{Traced: true, First: -1, Last: -1}, cover(5))
	state = note(7, chain.Traced, chain.Untraced)
	require.Equal(t, records.Tracing{Traced: true, LostAt: state.LostAt, Untraced: 1, First: 8, Last: 8}, state)
	require.True(t, state.LostAt.After(lost))
}
