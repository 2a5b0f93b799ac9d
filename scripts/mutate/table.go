package main

import (
	"fmt"
	"slices"
)

// table is every mutant.
func table() []mutant {
	return slices.Concat(
		schema(), paymentRules(), storeRules(), guardRules(), custodyRules(), signatureRules(), policyRules(), signerRules(), batchRules(), watcherRules(), payerRules(), checkRules(), feeRules(), bookRules(), edgeRules(), operateRules(), sourceRules(), coinRules(), coinSlotRules(), exchangeRules(),
	)
}

// The engines' tests of what the database itself refuses.
func constraints(engine string) suite {
	return suite{"./records", map[string]string{"sqlite": `^TestSQLite$/^constraints$`, "postgres": `^TestPostgres$/^constraints$`}[engine]}
}

// schema contains the refusals of the database itself, on both engines.
func schema() []mutant {
	list := triggers("sqlite", guardFiles("sqlite"), "DROP TRIGGER %[1]s;")
	list = append(list, triggers("postgres", guardFiles("postgres"), "DROP TRIGGER %[1]s ON %[2]s;")...)
	list = append(list, triggers("postgres", truncateFiles(), "DROP TRIGGER %[1]s ON %[2]s;")...)
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, i := range slices.Concat(indexes, engineIndexes[engine]) {
			list = append(list, mutant{
				name: engine + " " + i.name, rule: "unique index " + i.name, file: "records/migrations/" + i.file,
				anchor: "CREATE UNIQUE INDEX " + i.name + " ON", new: "DROP INDEX " + i.name + ";", suite: constraints(engine),
			})
		}
		for _, c := range slices.Concat(clauses, engineClauses[engine]) {
			list = append(list, mutant{
				name: engine + " " + c.name, rule: c.rule(), file: "records/migrations/" + c.file, old: c.old, new: c.new, suite: constraints(engine),
			})
		}
	}
	return list
}

// guardFiles are the files of an engine's triggers with their names, each behind its table's.
func guardFiles(engine string) map[string]map[string][]string {
	at := func(file string) string { return "records/migrations/" + engine + "/" + file }
	slots, placed := []string{"no_delete", "outcome", "start"}, []string{"binding", "members"}
	if engine == "sqlite" { // which had to make the table anew
		slots, placed = nil, append(placed, slots...)
	}
	return map[string]map[string][]string{
		at("0170_batches.sql"): {"slots": placed}, at("0181_coin_guards.sql"): {"slots": {"coin"}},
		at("0002_guards.sql"): {
			"attempts": {"no_update", "no_delete", "open"}, "history": {"no_update", "no_delete"}, "lineages": {"no_update", "no_delete"},
			"bindings": {"no_update", "no_delete"}, "transfers": {"no_delete", "identity", "seen", "owed"},
			"payments": {"no_delete", "cause", "frozen", "arrows", "gen", "bound", "freed", "paid", "void"},
			"slots":    slots, "accounts": {"no_delete", "identity", "lineage"}, "blocks": {"final"}, "cursors": {"final"},
		},
		at("0004_cancel_guards.sql"):    {"cancels": {"no_update", "no_delete"}},
		at("0007_swept_guards.sql"):     {"swept": {"no_update", "no_delete"}},
		at("0009_paid_guards.sql"):      {"payments": {"settled"}},
		at("0064_repair_guards.sql"):    {"transfers": {"frozen"}, "refund_payees": {"no_update", "no_delete"}},
		at("0070_write_off_guards.sql"): {"write_offs": {"incident", "no_update", "stand"}},
		at("0071_orphan_guards.sql"):    {"transfers": {"orphaned"}},
	}
}

func truncateFiles() map[string]map[string][]string {
	const at = "records/migrations/postgres/"
	all := map[string][]string{}
	for _, t := range []string{"attempts", "history", "lineages", "bindings", "transfers", "payments", "slots", "accounts"} {
		all[t] = []string{"no_truncate"}
	}
	return map[string]map[string][]string{
		at + "0002_guards.sql": all, at + "0004_cancel_guards.sql": {"cancels": {"no_truncate"}}, at + "0007_swept_guards.sql": {"swept": {"no_truncate"}},
	}
}

// triggers are mutants without one trigger each.
func triggers(engine string, files map[string]map[string][]string, drop string) (list []mutant) {
	for file, tables := range files {
		for t, names := range tables {
			for _, n := range names {
				name := t + "_" + n
				list = append(list, mutant{
					name: engine + " " + name, rule: "trigger " + name, file: file, anchor: "CREATE TRIGGER " + name + " ", new: fmt.Sprintf(drop, name, t),
					suite: constraints(engine),
				})
			}
		}
	}
	slices.SortFunc(list, func(a, b mutant) int { return slices.Compare([]string{a.file, a.name}, []string{b.file, b.name}) })
	return list
}

// indexes are the unique indexes that have a name, by the file that makes them last.
var indexes = []struct{ name, file string }{
	{"blocks_line", "0001_init.sql"}, {"bindings_address", "0001_init.sql"}, {"bindings_label", "0001_init.sql"}, {"payments_once", "0001_init.sql"},
	{"payments_received_once", "0001_init.sql"}, {"payments_gas_once", "0001_init.sql"}, {"payments_sweep_once", "0040_pools.sql"}, {"slots_anchor", "0180_coins.sql"},
}

// engineIndexes are those that each engine has in another file.
var engineIndexes = map[string][]struct{ name, file string }{
	"sqlite":   {{"slots_live", "sqlite/0170_batches.sql"}, {"payments_allow_once", "sqlite/0170_batches.sql"}, {"payments_merge_once", "sqlite/0182_merges.sql"}, {"payments_child_once", "sqlite/0182_merges.sql"}},
	"postgres": {{"slots_live", "0001_init.sql"}, {"payments_allow_once", "postgres/0170_batches.sql"}, {"payments_merge_once", "postgres/0182_merges.sql"}, {"payments_child_once", "postgres/0182_merges.sql"}},
}

// engineClauses are those of tables that SQLite had to make anew.
var engineClauses = map[string][]clause{
	"sqlite":   append(slotClauses("sqlite/0170_batches.sql"), clause{"slots primary key", "sqlite/0170_batches.sql", "PRIMARY KEY (chain, account, lineage, number, place), ", ""}),
	"postgres": append(slotClauses("0001_init.sql"), clause{"slots primary key", "postgres/0170_batches.sql", ", ADD PRIMARY KEY (chain, account, lineage, number, place)", ""}),
}

func slotClauses(file string) []clause {
	return []clause{
		{"slots unique generation", file, ", UNIQUE (payment_id, gen),", ","},
		{"slots state", file, " CHECK (state IN ('open','paid','void','forked'))", ""},
		{"slots decided by a block", file, ",\n  CHECK ((state IN ('paid','void')) = (block_hash <> '')));", ");"},
	}
}

// clause is a constraint inside a table's definition.
type clause struct{ name, file, old, new string }

func (c clause) rule() string { return "`" + c.old + "`" }

var clauses = []clause{
	{"transfers unique ref", "0001_init.sql", ",\n  UNIQUE (chain, ref));", ");"},
	{"accounts unique key path", "0001_init.sql", ", UNIQUE (chain, key_path));", ");"},
	{"bindings unique owner", "0001_init.sql", "UNIQUE (network, type, owner), ", ""},
	{"bindings unique index", "0001_init.sql", "UNIQUE (chain, path_index),", ""},
	{"attempts unique hash", "0001_init.sql", "PRIMARY KEY (chain, account, lineage, number, seq), UNIQUE (chain, hash),", "PRIMARY KEY (chain, account, lineage, number, seq),"},
	{"attempts unique seq", "0001_init.sql", "PRIMARY KEY (chain, account, lineage, number, seq), UNIQUE (chain, hash),", "UNIQUE (chain, hash),"},
	{"cancels unique hash", "0003_cancels.sql", ", UNIQUE (chain, hash),", ","},
	{"cursors state", "0001_init.sql", " CHECK (state IN ('ok','halted'))", ""},
	{"blocks canonical", "0001_init.sql", " CHECK (canonical IN (0,1))", ""},
	{"accounts kind", "0001_init.sql", " CHECK (kind IN ('deposit','shared','hot','gas','gateway'))", ""},
	{"accounts state", "0001_init.sql", " CHECK (state IN ('new','ok','halted','recovering'))", ""},
	{"bindings type", "0001_init.sql", " CHECK (type IN (0,1))", ""},
	{"bindings label of a type", "0001_init.sql", "CHECK ((type = 0) = (label = '')), ", ""},
	{"bindings index of a type", "0001_init.sql", "CHECK ((type = 0) = (label = '')), CHECK ((type = 0) = (path_index IS NOT NULL))", "CHECK ((type = 0) = (label = ''))"},
	{"transfers direction", "0001_init.sql", " CHECK (direction IN ('deposit','withdrawal','funding'))", ""},
	{"transfers failed", "0001_init.sql", " CHECK (failed IN (0,1))", ""},
	{"transfers state", "0001_init.sql", " CHECK (state IN ('seen','final','orphaned','held','refused'))", ""},
	{"payments purpose", "0001_init.sql", " CHECK (purpose IN ('credit','refund','sweep','gas','receive'))", ""},
	{"payments state", "0001_init.sql", " CHECK (state IN ('queued','bound','paid','held','void'))", ""},
	{"payments with a transfer", "0001_init.sql", "CHECK ((purpose IN ('sweep','gas')) = (transfer_id IS NULL)), ", ""},
	{"payments paid by a transaction", "0001_init.sql", ", CHECK ((state = 'paid') = (tx <> '')));", ");"},
	{"attempts kind", "0001_init.sql", " CHECK (kind IN ('pay','replace','cancel'))", ""},
	{"effects ok", "0087_own_txs_by_number.sql", " CHECK (ok IN (0,1))", ""},
	{"effects void", "0087_own_txs_by_number.sql", " CHECK (void IN (0,1) AND (void = 0 OR ok = 0))", ""},
	{"effects known", "0087_own_txs_by_number.sql", " CHECK (known IN (0,1))", ""},
	{"effects settled", "0087_own_txs_by_number.sql", " CHECK (settled IN (0,1))", ""},
	{"channels operator", "0001_init.sql", " CHECK (operator IN ('OPEN','MAINTAIN','CLOSED'))", ""},
	{"channels automatic", "0001_init.sql", " CHECK (automatic IN ('OPEN','MAINTAIN'))", ""},
}
