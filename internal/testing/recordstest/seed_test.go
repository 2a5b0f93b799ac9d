package recordstest_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/books"
)

const token = "tti_5649544520544f4b454e6e40"

func network() records.Network {
	return records.Network{
		Name: "main", Source: "eth", Exchange: "vite", Hot: "0xhot", Gas: "0xgas", Gateway: "vite_gateway",
		Tokens: []records.Token{{TokenID: token, Decimals: 2, AssetDecimals: 4, Asset: "0xusd", Policy: policy()}},
	}
}

func policy() records.Policy { return records.Policy{Decimals: 2, AssetDecimals: 4} }

func at() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

func open(t *testing.T, url string) *records.Store {
	t.Helper()
	s, err := records.Open(t.Context(), records.Config{URL: url, Now: at})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestSQLite(t *testing.T) {
	testFill(t, func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "records.db") })
}

func TestPostgres(t *testing.T) { testFill(t, recordstest.Postgres(t).Database) }

func testFill(t *testing.T, url func(testing.TB) string) {
	t.Run("sound", func(t *testing.T) { testSound(t, url(t)) })
	t.Run("as the store's own", func(t *testing.T) { testAsOwn(t, url(t), url(t)) })
}

// testSound: the checks of the daemon and of the operators find nothing, and nothing waits.
func testSound(t *testing.T, url string) {
	const payments = 4500 // some batches, the last of them not full
	end, err := recordstest.Fill(t.Context(), url, recordstest.Plan{Network: network(), Payments: payments, At: at()})
	require.NoError(t, err)
	s := open(t, url)
	require.NoError(t, s.View(t.Context(), func(tx *records.Tx) error {
		breaches, _, err := books.Breaches(tx, 0)
		require.NoError(t, err)
		require.Empty(t, breaches)
		require.NoError(t, tx.VerifyHistory())
		for id, want := range map[chain.ID]chain.Point{"eth": end.Source, "vite": end.Exchange} {
			c, err := tx.Chains().Cursor(id)
			require.NoError(t, err)
			require.Equal(t, want, c.Point)
			require.Equal(t, want, c.Final)
			busy, err := tx.Accounts().Busy(id)
			require.NoError(t, err)
			require.Empty(t, busy)
			ownTxs, err := tx.OwnTxs().Unsettled(id, 10)
			require.NoError(t, err)
			require.Empty(t, ownTxs)
		}
		sweeps, err := tx.Treasury().Candidates("eth")
		require.NoError(t, err)
		require.Empty(t, sweeps)
		totals, err := books.TotalsOf(tx, "main", token)
		require.NoError(t, err)
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			sum, err := recordstest.Moved(totals, d, records.Final)
			require.NoError(t, err)
			require.EqualValues(t, payments/2, sum.Count)
		}
		owed, err := recordstest.Owed(totals, "vite")
		require.True(t, owed.IsZero())
		return err
	}))
	_, err = recordstest.Fill(t.Context(), url, recordstest.Plan{Network: network(), Payments: 2, At: at()})
	require.Error(t, err, "not twice")
}

// testAsOwn: a deposit, a withdrawal and a sweep leave the same rows as the store's own methods do.
func testAsOwn(t *testing.T, filled, own string) {
	_, err := recordstest.Fill(t.Context(), filled, recordstest.Plan{Network: network(), Payments: 2, At: at()})
	require.NoError(t, err)
	walk(t, open(t, own), dump(t, filled, "transfers"), dump(t, filled, "slots"))
	for _, name := range []string{"accounts", "bindings", "blocks", "cursors", "transfers", "payments", "slots", "attempts", "effects", "lineages", "sweepable"} {
		require.ElementsMatch(t, dump(t, own, name), dump(t, filled, name), name)
	}
	lines := func(url string) (out []map[string]any) {
		for _, l := range dump(t, url, "history") {
			delete(l, "seq") // each method writes its line when it runs, not transfer by transfer
			delete(l, "digest")
			out = append(out, l)
		}
		return out
	}
	require.ElementsMatch(t, lines(own), lines(filled))
}

// dump reads a table without its times and marks, which are not alike.
func dump(t *testing.T, url, name string) (list []map[string]any) {
	t.Helper()
	driver, dsn := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, dsn = "sqlite3", path
	}
	db, err := sqlx.Open(driver, dsn)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Queryx("SELECT * FROM " + name)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		row := map[string]any{}
		require.NoError(t, rows.MapScan(row))
		for _, column := range []string{"at", "block_at", "created_at", "changed_at", "seen_at", "head_at", "came_at", "mark"} {
			delete(row, column)
		}
		list = append(list, row)
	}
	require.NoError(t, rows.Err())
	return list
}

// walk takes the transfers of a filled database through the store's methods.
func walk(t *testing.T, s *records.Store, transfers, slots []map[string]any) {
	t.Helper()
	n := network()
	do := func(f func(tx *records.Tx) error) {
		t.Helper()
		require.NoError(t, s.Update(t.Context(), f))
	}
	do(func(tx *records.Tx) error {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			require.NoError(t, tx.Chains().Start(id, chain.Point{Hash: recordstest.BlockHash(id, 0)}))
		}
		for _, a := range recordstest.Accounts(n) {
			require.NoError(t, tx.Accounts().Ensure(a))
		}
		require.NoError(t, tx.Accounts().Adopt(n.Source, n.Hot, 0, ""))
		return tx.Accounts().Adopt(n.Exchange, n.Gateway, 1, "seed-base")
	})
	owner, deposit := transfers[0]["owner"].(string), transfers[0]["account"].(string)
	var queued []records.Payment
	do(func(tx *records.Tx) error {
		_, err := recordstest.BindAddress(tx, n.Name, n.Source, owner, func(uint32) (string, string, error) { return deposit, "deposit/0", nil })
		require.NoError(t, err)
		require.NoError(t, tx.Accounts().Adopt(n.Source, deposit, 0, ""))
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			require.NoError(t, tx.Chains().Advance(id, chain.Block{Point: chain.Point{Height: 1, Hash: recordstest.BlockHash(id, 1)}, Parent: recordstest.BlockHash(id, 0), Time: at()}))
			require.NoError(t, tx.Chains().SetHead(id, chain.Head{Latest: chain.Point{Height: 1, Hash: recordstest.BlockHash(id, 1)}, Final: chain.Point{Height: 1, Hash: recordstest.BlockHash(id, 1)}}))
		}
		for _, row := range transfers {
			queued = append(queued, take(t, tx, n, row)...)
		}
		return nil
	})
	queued = append(queued, records.Payment{Purpose: chain.Sweep, Network: n.Name, Chain: n.Source, Account: deposit, Asset: "0xusd", Amount: chain.NewAmount(100000), Payee: n.Hot})
	do(func(tx *records.Tx) error {
		for i, p := range queued {
			id, err := tx.Payments().Queue(p)
			require.NoError(t, err)
			require.EqualValues(t, i+1, id)
		}
		return nil
	})
	pay(t, s, n, queued, slots)
}

// take stores a transfer and answers the payments that it causes.
func take(t *testing.T, tx *records.Tx, n records.Network, row map[string]any) []records.Payment {
	text := func(column string) string { s, _ := row[column].(string); return s }
	amount := func(column string) chain.Amount {
		a, err := chain.ParseAmount(text(column))
		require.NoError(t, err)
		return a
	}
	in, _, err := tx.Transfers().See(records.Transfer{
		Network: n.Name, Direction: records.Direction(text("direction")), Chain: chain.ID(text("chain")),
		Transfer: chain.Transfer{Ref: text("ref"), Tx: text("tx"), From: text("sender"), To: text("account"), Asset: chain.Asset(text("asset")), Amount: amount("amount"), Memo: memoOf(text("direction"), text("payee"))},
		Token:    token, Owner: text("owner"), Payee: text("payee"), Net: amount("net"), Fee: amount("fee"), Height: 1, BlockHash: text("block_hash"), Policy: policy(),
	})
	require.NoError(t, err)
	require.NoError(t, tx.Transfers().Move(in.ID, records.Seen, records.Final, ""))
	credit := records.Payment{TransferID: in.ID, Purpose: chain.Credit, Network: n.Name, Token: token, Payee: in.Payee}
	if in.Direction == records.Deposit {
		credit.Chain, credit.Account, credit.Asset, credit.Amount = n.Exchange, n.Gateway, token, in.Net
		return []records.Payment{credit}
	}
	receive := records.Payment{
		TransferID: in.ID, Purpose: chain.Receive, Network: n.Name, Token: token, Chain: n.Exchange, Account: n.Gateway, Asset: token,
		Amount: in.Amount, Payee: n.Gateway, Source: in.Tx,
	}
	credit.Chain, credit.Account, credit.Asset, credit.Amount = n.Source, n.Hot, "0xusd", chain.NewAmount(100000)
	return []records.Payment{receive, credit}
}

func memoOf(direction, payee string) chain.Memo {
	if direction == string(records.Deposit) {
		return chain.Memo{Type: -1}
	}
	return chain.Memo{Raw: []byte{0x0b, 0xc3}, Address: payee}
}

// pay binds, signs and settles the payments with the hashes of the filled slots.
func pay(t *testing.T, s *records.Store, n records.Network, queued []records.Payment, slots []map[string]any) {
	for i := range queued {
		of := slots[i]
		id, tx := chain.ID(of["chain"].(string)), of["tx"].(string)
		require.EqualValues(t, i+1, of["payment_id"])
		require.NoError(t, s.Update(t.Context(), func(x *records.Tx) error {
			slot, err := x.Slots().Bind(uint64(i)+1, 16)
			require.NoError(t, err)
			fee := chain.NewAmount(21000)
			if id == n.Exchange {
				fee = chain.Amount{}
			}
			require.NoError(t, x.Slots().AddAttempt(slot, records.Attempt{Attempt: chain.Attempt{Hash: tx, Raw: make([]byte, 170), FeeCap: fee}, Kind: records.AttemptPay}))
			return x.OwnTxs().See(records.OwnTx{Chain: id, BlockHash: recordstest.BlockHash(id, 2), Height: 2, OwnTx: chain.OwnTx{Account: slot.Account, Number: slot.Nonce, Tx: tx, OK: true, Fee: fee}})
		}))
	}
	require.NoError(t, s.Update(t.Context(), func(x *records.Tx) error {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			at := chain.Point{Height: 2, Hash: recordstest.BlockHash(id, 2)}
			require.NoError(t, x.Chains().Advance(id, chain.Block{Point: at, Parent: recordstest.BlockHash(id, 1)}))
			require.NoError(t, x.Chains().SetHead(id, chain.Head{Latest: at, Final: at}))
			ownTxs, err := x.OwnTxs().Unsettled(id, 100)
			require.NoError(t, err)
			for _, e := range ownTxs {
				slots, _, err := x.Slots().AttemptByHash(id, e.Tx)
				require.NoError(t, err)
				require.Len(t, slots, 1)
				require.NoError(t, x.Slots().SettlePaid(slots[0], e.Tx, e.BlockHash))
				require.NoError(t, x.OwnTxs().MarkSettled(e))
			}
		}
		return nil
	}))
}
