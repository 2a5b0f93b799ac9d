package main

import (
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/operator"
	"gatewayd/records"
)

// openDatabase opens a daemon's database to damage it.
func openDatabase(t *testing.T, cfg config.Config) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(cfg.Database.URL, "sqlite:")+"?_busy_timeout=60000&_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// deleteRow deletes a row as soon as it is there, as a fault of the follower would.
func deleteRow(t *testing.T, db *sql.DB, statement, hash string) {
	t.Helper()
	waitFor(t, "the row to lose", func() bool {
		r, err := db.Exec(statement, hash)
		require.NoError(t, err)
		n, err := r.RowsAffected()
		require.NoError(t, err)
		return n == 1
	})
}

const (
	loseTransfer = `DELETE FROM transfers WHERE tx = ? AND state = 'seen'`
	loseOwnTx    = `DELETE FROM effects WHERE tx = ? AND settled = 0`
)

// deepOptions leave three seconds between a block and its finality.
func deepOptions(o *dev.Options) { o.Confirmations, o.Finality = 30, 30 }

func firstHeight(t *testing.T, r *rig, id chain.ID) (height uint64) {
	t.Helper()
	require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) (err error) {
		height, err = tx.Chains().Began(id)
		return err
	}))
	return height
}

// runRescan runs `rescan --json`.
func (r *rig) runRescan(t *testing.T, args ...string) (rows []operator.DifferenceRow) {
	t.Helper()
	out := r.mustCommand(t, append([]string{"rescan", "--json"}, args...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &rows), out)
	return rows
}

// TestRescan loses a deposit of coin, a withdrawal and a payout next to a running daemon. Reading
// the blocks again shows each, books each once, and in the end every user has the correct balance.
func TestRescan(t *testing.T) {
	t.Parallel()
	r := newRig(t, deepOptions)
	u := r.newCustomer(t, "ETH")
	db := openDatabase(t, r.Daemon.Config)
	_, err := db.Exec(`DROP TRIGGER transfers_no_delete`)
	require.NoError(t, err)
	from := map[string]string{"eth": strconv.FormatUint(firstHeight(t, r, "eth")+1, 10), "vite": strconv.FormatUint(firstHeight(t, r, "vite")+1, 10)}
	for id, first := range from {
		require.Empty(t, r.runRescan(t, id, first), id)
	}

	deposit := u.pay(t, "native", depositAddress(t, u), u.Times(7), "")
	deleteRow(t, db, loseTransfer, deposit)
	r.waitForBlocks(t, 31)
	require.Empty(t, r.listRecords(t, "--hash", deposit))
	rows := r.runRescan(t, "eth", from["eth"])
	require.Len(t, rows, 1)
	require.Equal(t, []any{"missing_transfer", deposit, u.Times(7).String(), true}, []any{rows[0].Kind, rows[0].Tx, rows[0].Amount, rows[0].Mends})
	out := r.mustCommand(t, "rescan", "eth", from["eth"])
	require.Contains(t, out, "the records lack 0.07 ETH from "+u.Eth.Address().Hex()+" to "+depositAddress(t, u)+" in "+deposit)
	require.Contains(t, out, "Nothing was changed.")
	require.Empty(t, r.listRecords(t, "--hash", deposit), "without --book nothing changes")
	at := strconv.FormatUint(rows[0].Height, 10)
	require.Contains(t, r.mustCommand(t, "rescan", "eth", at, at, "--book"), "The daemon has booked 1 blocks again")
	u.mustAwait(t, "/deposit-records", deposit, "TOT_CONFIRMED")

	payee, withdrawal := u.withdrawToPayee(t, u.Times(5))
	deleteRow(t, db, loseTransfer, withdrawal)
	r.waitForBlocks(t, 31)
	rows = r.runRescan(t, "vite", from["vite"], "--book")
	require.Len(t, rows, 1)
	require.Equal(t, []string{"missing_transfer", withdrawal, "done"}, []string{rows[0].Kind, rows[0].Tx, rows[0].Booked})
	u.mustAwait(t, "/withdraw-records", withdrawal, "OPPOSITE_PROCESSING")
	payout := r.recordDetail(t, withdrawal).Record.OutTx
	deleteRow(t, db, loseOwnTx, payout)
	r.waitForBlocks(t, 31)
	rows = r.runRescan(t, "eth", from["eth"], "--book")
	require.Len(t, rows, 1)
	require.Equal(t, []string{"missing_own", payout, "done"}, []string{rows[0].Kind, rows[0].Tx, rows[0].Booked})
	u.mustAwait(t, "/withdraw-records", withdrawal, "OPPOSITE_CONFIRMED")

	for id, first := range from {
		require.Contains(t, r.mustCommand(t, "rescan", id, first, "--book"), "The records are complete.")
	}
	require.NoError(t, u.Collect(t.Context(), u.Times(51)))
	require.Equal(t, u.Times(51).String(), u.spendable(t).String())
	u.requirePaid(t, payee, u.Times(5))
	require.NoError(t, r.Daemon.Watcher.AuditBalances(t.Context()))
	r.waitUntilSettled(t)
	require.Len(t, r.recordDetail(t, withdrawal).Payments, 2, "a receive and a credit")

	t.Run("words", func(t *testing.T) { checkRescanMessages(t, r, db, from["eth"]) })
}

// checkRescanMessages checks what is printed about ranges that cannot be read, or not wholly
// compared.
func checkRescanMessages(t *testing.T, r *rig, db *sql.DB, first string) {
	before, _ := strconv.ParseUint(first, 10, 64)
	for _, c := range []struct{ args, says string }{
		{"bsc 1", `there is no chain "bsc": must be one of eth, vite`},
		{"eth one", `block "one": must be a block number`},
		{"eth 9 8", "blocks 9 to 8: the first is above the last"},
		{"eth " + first + " 99999999", "block 99999999: the daemon has followed eth to block"},
		{"eth " + strconv.FormatUint(before-1, 10), "eth is followed from block " + first},
		{"eth", "accepts between 2 and 3 arg"},
	} {
		_, err := r.command(t, append([]string{"rescan"}, strings.Fields(c.args)...)...)
		require.ErrorContains(t, err, c.says)
		require.Equal(t, exitUsage, exitCode(err), c.args)
	}
	_, err := db.Exec(`DELETE FROM blocks WHERE chain = 'eth' AND height < ?`, before+10)
	require.NoError(t, err)
	require.Contains(t, r.mustCommand(t, "rescan", "eth", first), "The records no longer have the hashes of 10 old ones")
}

// TestRescanOfAStoppedDaemon orders a lost deposit to be booked while no daemon runs: the next one
// books it, and only once.
func TestRescanOfAStoppedDaemon(t *testing.T) {
	t.Parallel()
	n, err := ethnode.Start(ethnode.Config{Period: 100 * time.Millisecond, FinalityDepth: 30})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	v := newDaemonProcess(t, "--source", n.URL(), "--finality", "30", "--confirmations", "2")
	info := waitForInfo(t, v.dir)
	u, err := newTestUser(t.Context(), info, info.Tokens[1], 0, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { u.Close() })
	cfg, err := config.Load(info.Config)
	require.NoError(t, err)
	db := openDatabase(t, cfg)
	_, err = db.Exec(`DROP TRIGGER transfers_no_delete`)
	require.NoError(t, err)
	_, err = u.Faucet.Pay(t.Context(), u.Token.Asset, u.Eth.Address(), u.Times(50).Uint256().ToBig(), nil)
	require.NoError(t, err)
	hash := u.pay(t, u.Token.Asset, depositAddress(t, u), u.Times(7), "")
	var height string
	waitFor(t, "the deposit", func() bool {
		return db.QueryRow(`SELECT height FROM transfers WHERE tx = ?`, hash).Scan(&height) == nil
	})
	deleteRow(t, db, loseTransfer, hash)
	v.kill(t)

	r := &rig{Env: &dev.Env{Info: info}, t: t}
	require.Contains(t, r.mustCommand(t, "rescan", "eth", height, height), "the records lack 7 USDT")
	require.Contains(t, r.mustCommand(t, "rescan", "eth", height, height, "--book"), "1 blocks are ordered and not booked yet: the daemon does it when it runs")
	v.start(t)
	waitForInfo(t, v.dir)
	waitFor(t, "the record", func() bool { return len(r.listRecords(t, "--hash", hash)) == 1 })
	require.Contains(t, r.mustCommand(t, "rescan", "eth", height, height, "--book"), "The records are complete.")
	waitFor(t, "the credit", func() bool { return r.recordDetail(t, hash).Record.Public == "TOT_CONFIRMED" })
	require.Len(t, r.recordDetail(t, hash).Payments, 1)
	require.Contains(t, r.mustCommand(t, "audit"), " 0 differences")
}
