package recordstest

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// breach is a statement that the database itself must refuse, whoever sends it.
type breach struct {
	guard  string // trigger, or table and constraint in short
	sql    string
	before []string // what is allowed, and makes that the constraint alone is in the way
}

// breaches refer to the rows of scene: transfer 1 credited by payment 1 (slot 1, paid), transfer 2
// by payment 2 (slot 2, open and signed), transfer 3 by payment 3 (queued), transfer 4 seen.
// Further: payment 4 a held gas top-up, payment 5 of transfer 5 forked from slot 3, transfer 6
// held, transfer 7 held without an owner.
func breaches() []breach {
	return slices.Concat(lineBreaches(), transferBreaches(), paymentBreaches(), accountBreaches(), preparedBreaches(), valueBreaches())
}

// preparedBreaches are refused by one index each, after something that is allowed.
func preparedBreaches() []breach {
	const slot = `INSERT INTO slots (chain, account, lineage, number, payment_id, gen, state, created_at, changed_at)
		VALUES ('vite', 'vite_gateway', 1, `
	const label = `INSERT INTO bindings (id, network, type, owner, chain, address, label, created_at) VALUES (`
	receive := func(id string) string { return insertPayment(id+`, 3, 'receive'`, `'queued'`) }
	sweep := func(id string) string { return insertPayment(id+`, NULL, 'sweep'`, `'queued'`) }
	allow := func(id string) string { return insertPayment(id+`, NULL, 'allow'`, `'queued'`) }
	cold := func(id string) string { return insertPayment(id+`, NULL, 'cold'`, `'queued'`) }
	merge := func(id, source string) string {
		return strings.Replace(insertPayment(id+`, NULL, 'merge'`, `'queued'`), `'', '', 'queued'`, `'', `+source+`, 'queued'`, 1)
	}
	return []breach{
		{
			"slots unique generation", slot + `61, 5, 1, 'open', 0, 0)`,
			[]string{slot + `60, 5, 1, 'open', 0, 0)`, `UPDATE slots SET state = 'forked' WHERE payment_id = 5 AND gen = 1`},
		},
		{"slots primary key", slot + `60, 5, 1, 'open', 0, 0)`, []string{slot + `60, 3, 0, 'open', 0, 0)`}},
		{
			"the index slots_live", `UPDATE slots SET state = 'paid', tx = 'x', block_hash = 'b' WHERE payment_id = 5 AND gen = 0`,
			[]string{slot + `60, 5, 1, 'open', 0, 0)`},
		},
		{
			"the index slots_anchor", `INSERT INTO slots (chain, account, lineage, number, payment_id, gen, state, coin, created_at, changed_at) VALUES ('vite', 'vite_gateway', 1, 61, 5, 1, 'open', 'x:0', 0, 0)`,
			[]string{`INSERT INTO slots (chain, account, lineage, number, payment_id, gen, state, coin, created_at, changed_at) VALUES ('vite', 'vite_gateway', 1, 60, 3, 0, 'open', 'x:0', 0, 0)`},
		},
		{"the index payments_received_once", receive(`101`), []string{receive(`100`)}},
		{"the index payments_sweep_once", sweep(`101`), []string{sweep(`100`)}},
		{"the index payments_allow_once", allow(`101`), []string{allow(`100`)}},
		{"the index payments_merge_once", merge(`101`, `''`), []string{merge(`100`, `''`)}},
		{"the index payments_child_once", merge(`101`, `'a:0'`), []string{merge(`100`, `'a:0'`), `UPDATE payments SET state = 'void' WHERE id = 100`}},
		{"the index payments_cold_once", cold(`101`), []string{cold(`100`)}},
		{
			"the index bindings_label", label + `101, 'eth', 1, 'vite_second', 'eth', '0xShared', '4711', 0)`,
			[]string{label + `100, 'eth', 1, 'vite_first', 'eth', '0xShared', '4711', 0)`},
		},
	}
}

// lineBreaches are those of append-only tables and of slots.
func lineBreaches() []breach {
	return []breach{
		{"attempts_no_update", `UPDATE attempts SET raw = 'AA=='`, nil},
		{"attempts_no_delete", `DELETE FROM attempts`, nil},
		{"cancels_no_update", `UPDATE cancels SET raw = 'AA=='`, nil},
		{"cancels_no_delete", `DELETE FROM cancels`, nil},
		{"cancels unique hash", `INSERT INTO cancels SELECT chain, account, number + 1, seq, hash, raw, tip, cap, head, created_at FROM cancels`, nil},
		{"swept_no_update", `UPDATE swept SET brought = '9'`, nil},
		{"swept_no_delete", `DELETE FROM swept`, nil},
		{"history_no_update", `UPDATE history SET actor = 'nobody'`, nil},
		{"history_no_delete", `DELETE FROM history`, nil},
		{"lineages_no_update", `UPDATE lineages SET base = 9`, nil},
		{"lineages_no_delete", `DELETE FROM lineages`, nil},
		{"bindings_no_update", `UPDATE bindings SET owner = 'vite_thief'`, nil},
		{"bindings_no_delete", `DELETE FROM bindings`, nil},
		{"transfers_no_delete", `DELETE FROM transfers WHERE id = 4`, nil},
		{"payments_no_delete", `DELETE FROM payments WHERE id = 4`, nil},
		{"slots_no_delete", `DELETE FROM slots`, nil},
		{"accounts_no_delete", `DELETE FROM accounts WHERE account = '0xShared'`, nil},

		{"slots_binding", `UPDATE slots SET number = 77 WHERE payment_id = 2`, nil},
		{"slots_binding", `UPDATE slots SET lineage = 2 WHERE payment_id = 2`, nil},
		{"slots_binding", `UPDATE slots SET payment_id = 3 WHERE payment_id = 2`, nil},
		{"slots_binding", `UPDATE slots SET gen = 5 WHERE payment_id = 2`, nil},
		{"slots_outcome", `UPDATE slots SET state = 'void' WHERE payment_id = 1`, nil},
		{"slots_outcome", `UPDATE slots SET tx = 'other' WHERE payment_id = 1`, nil},
		{"slots_outcome", `UPDATE slots SET state = 'open' WHERE payment_id = 5`, nil},
		{"slots_start", `INSERT INTO slots (chain, account, lineage, number, payment_id, gen, state, created_at, changed_at)
			VALUES ('vite', 'vite_gateway', 1, 50, 2, 1, 'open', 0, 0)`, nil},
		{"slots_start", `INSERT INTO slots (chain, account, lineage, number, payment_id, gen, state, created_at, changed_at)
			VALUES ('eth', '0xHot', 0, 50, 3, 0, 'open', 0, 0)`, nil},
		{"slots_binding", `UPDATE slots SET place = 3 WHERE payment_id = 2`, nil},
		{"slots_coin", `UPDATE slots SET coin = 'x:0' WHERE payment_id = 2`, nil},
		{"slots_members", `INSERT INTO slots (chain, account, lineage, number, place, payment_id, gen, state, created_at, changed_at)
			VALUES ('vite', 'vite_gateway', 1, 2, 1, 3, 0, 'open', 0, 0)`, nil},
		{"slots check", `UPDATE slots SET state = 'void' WHERE payment_id = 2`, nil},
	}
}

func transferBreaches() []breach {
	const incident = `UPDATE transfers SET incident = 'gone' WHERE id = 1`
	const insertWriteOff = `INSERT INTO write_offs (transfer_id, network, token, chain, asset, amount, actor, created_at) VALUES (1, 'eth', 'tti', 'eth', 'native', '1', 'x', 0)`
	return []breach{
		{"transfers_identity", `UPDATE transfers SET ref = 'other' WHERE id = 4`, nil},
		{"transfers_identity", `UPDATE transfers SET seen_at = 1 WHERE id = 4`, nil},
		{"transfers_frozen", `UPDATE transfers SET policy = '{}' WHERE id = 4`, nil},
		{"transfers_frozen", `UPDATE transfers SET net = '999' WHERE id = 4`, nil},
		{"transfers_frozen", `UPDATE transfers SET fee = '0', amount = '1' WHERE id = 3`, nil},
		{"transfers_frozen", `UPDATE transfers SET owner = 'vite_thief' WHERE id = 3`, nil},
		{"transfers_frozen", `UPDATE transfers SET payee = 'vite_thief' WHERE id = 3`, nil},
		{"transfers_frozen", `UPDATE transfers SET asset = 'tti' WHERE id = 3`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', owner = 'vite_thief', payee = 'vite_thief' WHERE id = 6`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', owner = '', payee = '' WHERE id = 6`, nil},
		{"transfers_frozen", `UPDATE transfers SET owner = 'vite_thief', payee = 'vite_thief' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', owner = 'vite_bob', payee = 'vite_thief' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', owner = 'vite_bob', payee = 'vite_bob', amount = '99' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', owner = 'vite_bob', payee = 'vite_bob', asset = 'tti' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'refused', owner = 'vite_bob', payee = 'vite_bob' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'refused', token = 'tti', owner = 'vite_bob', payee = 'vite_thief' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', direction = 'funding', payee = 'vite_thief' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', direction = 'funding', amount = '99' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', direction = 'withdrawal', token = 'tti', owner = 'vite_bob', payee = 'vite_bob' WHERE id = 7`, nil},
		{"transfers_frozen", `UPDATE transfers SET state = 'final', direction = 'funding' WHERE id = 6`, nil},
		{"refund_payees_no_update", `UPDATE refund_payees SET payee = 'vite_thief'`, nil},
		{"refund_payees_no_delete", `DELETE FROM refund_payees`, nil},
		{"write_offs_incident", insertWriteOff, nil},
		{"write_offs_no_update", `UPDATE write_offs SET amount = '9'`, []string{incident, insertWriteOff}},
		{"write_offs_stand", `DELETE FROM write_offs`, []string{incident, insertWriteOff}},
		{"write_offs primary key", insertWriteOff, []string{incident, insertWriteOff}},
		{"transfers_seen", `UPDATE transfers SET state = 'seen' WHERE id = 6`, nil},
		{"transfers_owed", `UPDATE transfers SET state = 'orphaned' WHERE id = 3`, []string{`UPDATE transfers SET incident = 'gone' WHERE id = 3`}},
		{"transfers_orphaned", `UPDATE transfers SET state = 'orphaned' WHERE id = 6`, nil},
		{"transfers unique ref", `INSERT INTO transfers SELECT id + 100, network, direction, chain, ref, tx, sender, account, asset, amount, memo, failed, token, owner,
			payee, payee_label, net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at, due, incident, matures FROM transfers WHERE id = 4`, nil},
		{"transfers check", `UPDATE transfers SET state = 'paid' WHERE id = 4`, nil},
	}
}

func paymentBreaches() []breach {
	return []breach{
		{"payments_cause", insertPayment(`100, 4, 'credit'`, `'queued'`), nil},
		{"payments_cause", insertPayment(`100, 5, 'credit'`, `'bound'`), nil},
		{"payments_mark", `UPDATE payments SET mark = 'other' WHERE id = 4`, nil},
		{"payments once", insertPayment(`100, 3, 'refund'`, `'queued'`), nil},
		{"payments once", insertPayment(`100, 1, 'credit'`, `'held'`), nil},
		{"payments gas once", insertPayment(`100, NULL, 'gas'`, `'queued'`), nil},
		{"payments cause of a sweep", insertPayment(`100, 5, 'sweep'`, `'queued'`), nil},
		{"payments cause of cold money", insertPayment(`100, 5, 'cold'`, `'queued'`), nil},
		{"payments cause of a credit", insertPayment(`100, NULL, 'credit'`, `'queued'`), nil},
		{"payments_frozen", `UPDATE payments SET amount = '999999' WHERE id = 3`, nil},
		{"payments_frozen", `UPDATE payments SET payee = 'vite_thief' WHERE id = 3`, nil},
		{"payments_frozen", `UPDATE payments SET account = '0xHot', chain = 'eth' WHERE id = 3`, nil},
		{"payments_arrows", `UPDATE payments SET state = 'queued', tx = '' WHERE id = 1`, nil},
		{"payments_settled", `UPDATE payments SET tx = 'other' WHERE id = 1`, nil},
		{"payments_gen", `UPDATE payments SET gen = 1 WHERE id = 3`, nil},
		{"payments_freed", `UPDATE payments SET state = 'queued', gen = 1 WHERE id = 2`, nil},
		{"payments_bound", `UPDATE payments SET state = 'bound' WHERE id = 3`, nil},
		{"payments_paid", `UPDATE payments SET state = 'paid', tx = 'forged' WHERE id = 3`, nil},
		{"payments_paid", `UPDATE payments SET state = 'paid', tx = 'forged' WHERE id = 2`, nil},
		{"payments_void", `UPDATE payments SET state = 'void' WHERE id = 5`, nil},
		{"payments paid check", `UPDATE payments SET tx = 'forged' WHERE id = 3`, nil},
	}
}

func accountBreaches() []breach {
	return []breach{
		{"attempts_open", insertAttempt(`1, 1, 7`, `'fresh'`), nil},
		{"attempts_open", insertAttempt(`1, 3, 7`, `'fresh'`), nil},
		{"attempts unique hash", insertAttempt(`1, 2, 7`, `(SELECT MAX(hash) FROM attempts)`), nil},
		{"attempts unique seq", insertAttempt(`1, 2, 0`, `'fresh'`), nil},
		{"accounts_identity", `UPDATE accounts SET key_path = 'm/0' WHERE account = '0xHot'`, nil},
		{"accounts_lineage", `UPDATE accounts SET next = 1 WHERE account = 'vite_gateway'`, nil},
		{"accounts_lineage", `UPDATE accounts SET lineage = 1, next = 90 WHERE account = 'vite_gateway'`, nil},
		{"accounts unique key path", `INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at)
			SELECT chain, 'other', kind, network, key_path, 'new', 1000, 0 FROM accounts WHERE account = '0xHot'`, nil},
		{"bindings unique owner", `INSERT INTO bindings SELECT id + 100, network, type, owner, chain, 'other', label, path_index + 100, created_at FROM bindings`, nil},
		{"bindings unique address", `INSERT INTO bindings SELECT id + 100, network, type, 'other', chain, address, label, path_index + 100, created_at FROM bindings`, nil},
		{"bindings unique index", `INSERT INTO bindings SELECT id + 100, network, type, 'other', chain, 'other', label, path_index, created_at FROM bindings`, nil},
		{"blocks_final", `UPDATE blocks SET canonical = 0 WHERE chain = 'eth' AND height = 101`, nil},
		{"blocks one line", `INSERT INTO blocks (chain, hash, height, parent, at, canonical) VALUES ('eth', 'rival', 101, 'x', 0, 1)`, nil},
		{"cursors_final", `UPDATE cursors SET final_height = 1 WHERE chain = 'eth'`, nil},
	}
}

// valueBreaches put a word or a flag that no rule knows into each column that has a list of them.
func valueBreaches() []breach {
	account := func(kind, state string) string {
		return `INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at) VALUES ('eth', 'other', ` + kind + `, 'eth', 'm/9', ` + state + `, 1000, 0)`
	}
	binding := func(values string) string {
		return `INSERT INTO bindings (id, network, type, owner, chain, address, label, path_index, created_at) VALUES (` + values + `)`
	}
	transfer := func(direction, failed string) string {
		return `INSERT INTO transfers SELECT id + 100, network, ` + direction + `, chain, 'other', tx, sender, account, asset, amount, memo, ` + failed + `, token, owner,
			payee, payee_label, net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at, due, incident, matures FROM transfers WHERE id = 4`
	}
	effect := func(flags string) string {
		return `INSERT INTO effects (chain, tx, block_hash, height, account, number, fee, ok, void, settled, known) VALUES ('eth', 't', 'b', 1, 'a', 1, '0', ` + flags + `)`
	}
	channel := func(values string) string {
		return `INSERT INTO channels (network, token, direction, operator, automatic, operator_why, automatic_why, changed_at) VALUES ('n', 't', ` + values + `, '', '', 0)`
	}
	return []breach{
		{"cursors state check", `UPDATE cursors SET state = 'lost'`, nil},
		{"blocks canonical check", `UPDATE blocks SET canonical = 2 WHERE chain = 'eth' AND height = 101`, nil},
		{"accounts kind check", account(`'friend'`, `'new'`), nil},
		{"accounts state check", account(`'hot'`, `'gone'`), nil},
		{"bindings type check", binding(`100, 'eth', 2, 'x', 'eth', 'y', 'z', NULL, 0`), nil},
		{"bindings label check", binding(`100, 'eth', 0, 'x', 'eth', 'y', 'z', 77, 0`), nil},
		{"bindings index check", binding(`100, 'eth', 1, 'x', 'eth', 'y', 'z', 77, 0`), nil},
		{"transfers direction check", transfer(`'gift'`, `0`), nil},
		{"transfers failed check", transfer(`direction`, `2`), nil},
		{"payments purpose check", insertPayment(`100, 3, 'gift'`, `'queued'`), nil},
		{"payments state check", `UPDATE payments SET state = 'lost' WHERE id = 3`, nil},
		{"slots state check", `UPDATE slots SET state = 'lost' WHERE payment_id = 2`, nil},
		{"attempts kind check", strings.Replace(insertAttempt(`1, 2, 7`, `'fresh'`), "'pay'", "'gift'", 1), nil},
		{"effects ok check", effect(`2, 0, 0, 0`), nil},
		{"effects void check", effect(`1, 1, 0, 0`), nil},
		{"effects settled check", effect(`1, 0, 2, 0`), nil},
		{"effects known check", effect(`1, 0, 0, 2`), nil},
		{"channels direction check", channel(`'up', 'OPEN', 'OPEN'`), nil},
		{"channels operator check", channel(`'deposit', 'AJAR', 'OPEN'`), nil},
		{"channels automatic check", channel(`'deposit', 'OPEN', 'CLOSED'`), nil},
	}
}

func insertPayment(key, state string) string {
	return `INSERT INTO payments (id, transfer_id, purpose, network, token, chain, account, asset, amount, payee, payee_label, source, state, created_at, changed_at)
		VALUES (` + key + `, 'eth', 't', 'eth', '0xGas', 'native', '1', '0xdeposit0', '', '', ` + state + `, 0, 0)`
}

func insertAttempt(place, hash string) string {
	return `INSERT INTO attempts (chain, account, lineage, number, seq, kind, hash, raw, tip, cap, head, created_at)
		SELECT 'vite', 'vite_gateway', ` + place + `, 'pay', ` + hash + `, '', '0', '0', 0, 0`
}

func scene(t *testing.T, url string) *Rig {
	r := newRig(t, url)
	_, paid := r.Owe(records.Deposit, 500)
	r.Pay(paid)
	_, bound := r.Owe(records.Deposit, 500)
	last := r.Sign(r.Bind(bound), records.AttemptPay)
	r.Owe(records.Deposit, 500)
	r.Receive(records.Deposit, 500)
	gas := records.Payment{
		Purpose: chain.Gas, Network: Network, Token: Token, Chain: Source, Account: GasTank, Asset: chain.Native, Amount: chain.NewAmount(1),
		Payee: "0xdeposit0", State: records.HeldPayment,
	}
	_, err := queue(r, gas)
	require.NoError(t, err)
	_, forked := r.Owe(records.Deposit, 500)
	r.Bind(forked)
	_, err = newBranch(r, 3, last)
	require.NoError(t, err)
	r.Do(func(tx *records.Tx) error { _, err := BindAddress(tx, Network, Source, Alice, derive); return err })
	held := r.Receive(records.Deposit, 500)
	r.Do(func(tx *records.Tx) error { return tx.Transfers().Move(held.ID, records.Seen, records.Held, "") })
	r.stop(Source, Hot, records.AccountRecovering)
	r.Do(func(tx *records.Tx) error {
		return tx.Recovery().AddCancel(Source, Hot, 7, chain.Attempt{Hash: "cancel"})
	})
	sweep := records.Payment{Purpose: chain.Sweep, Network: Network, Token: Token, Chain: Source, Account: "0xdeposit0", Asset: chain.Native, Amount: chain.NewAmount(9), Payee: Hot}
	id, err := queue(r, sweep)
	require.NoError(t, err)
	r.Do(func(tx *records.Tx) error { return tx.Accounts().Adopt(Source, "0xdeposit0", 0, "") })
	r.Pay(id)
	r.Do(func(tx *records.Tx) error { return tx.Treasury().Swept(id, chain.NewAmount(8)) })
	nobodys := r.unattributed(Shared, 500)
	require.Equal(t, uint64(7), nobodys.ID)
	r.Do(func(tx *records.Tx) error { return tx.Orders().AllowRefundTo(nobodys.ID, "0xAnother") })
	return r
}

// testConstraints: the database refuses what the rules forbid, without any help from the program.
func testConstraints(t *testing.T, url string) {
	r := scene(t, url)
	require.Equal(t, []records.PaymentState{records.Paid, records.Bound, records.Queued, records.HeldPayment, records.Queued}, states(r, 1, 2, 3, 4, 5))
	db := raw(t, url)
	defined, tried := guards(t, db), make(map[string]bool)
	for _, b := range breaches() {
		err := try(t, db, b)
		require.Error(t, err, "%s: %s", b.guard, b.sql)
		if !strings.Contains(b.guard, " ") { // a trigger, whatever else might refuse as well
			definition, ok := defined[b.guard]
			require.True(t, ok, "there is no guard %s", b.guard)
			said := strings.TrimSuffix(strings.TrimPrefix(err.Error(), "ERROR: "), " (SQLSTATE P0001)")
			require.Contains(t, definition, "'"+said+"'", "%s: another guard refused %s", b.guard, b.sql)
		} else {
			require.Regexp(t, `(?i)constraint`, err.Error(), "%s: %s", b.guard, b.sql)
		}
		tried[b.guard] = true
	}
	for g := range defined {
		require.True(t, tried[g], "no statement tries the guard %s", g)
	}
	testTruncate(t, url, db)
	r.See(func(tx *records.Tx) error { return tx.VerifyHistory() })
}

// testTruncate: what is never deleted is never cut off either. SQLite has no such statement.
func testTruncate(t *testing.T, url string, db *sql.DB) {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		return
	}
	for table, says := range map[string]string{
		"attempts": "attempts are never deleted", "history": "the history is append-only", "lineages": "lineages are never deleted",
		"bindings": "bindings are never deleted", "transfers": "transfers are never deleted", "payments": "payments are never deleted",
		"slots": "slots are never deleted", "accounts": "accounts are never deleted", "cancels": "cancellations are append-only", "swept": "what was swept is append-only",
	} {
		_, err := db.Exec("TRUNCATE " + table + " CASCADE")
		require.ErrorContains(t, err, says, "%s itself refuses first", table)
	}
}

// try runs a breach and what is allowed before it, and takes all of it back.
func try(t *testing.T, db *sql.DB, b breach) error {
	t.Helper()
	tx, err := db.Begin()
	require.NoError(t, err)
	defer tx.Rollback()
	for _, allowed := range b.before {
		_, err := tx.Exec(allowed)
		require.NoError(t, err, "%s: %s", b.guard, allowed)
	}
	_, err = tx.Exec(b.sql)
	return err
}

// guards are the triggers of the database with their definitions; those against TRUNCATE exist on
// one engine only.
func guards(t *testing.T, db *sql.DB) map[string]string {
	rows, err := db.Query(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
	if err != nil {
		rows, err = db.Query(`SELECT g.tgname, pg_get_triggerdef(g.oid) || p.prosrc FROM pg_trigger g JOIN pg_proc p ON p.oid = g.tgfoid
			WHERE NOT g.tgisinternal AND g.tgname NOT LIKE '%_no_truncate'`)
	}
	require.NoError(t, err)
	defer rows.Close()
	out := make(map[string]string)
	for rows.Next() {
		var name, definition string
		require.NoError(t, rows.Scan(&name, &definition))
		out[name] = definition
	}
	require.NoError(t, rows.Err())
	require.Greater(t, len(out), 30)
	return out
}
