package main

// engine is a suite of the store on SQLite; the same tests run on PostgreSQL in the normal run.
func engine(tests string) suite { return suite{"./records", "^TestSQLite$/^(" + tests + ")$"} }

// paymentRules are the checks of package records between a transfer and its payment.
func paymentRules() []mutant {
	bind := engine("bind|bind_gates|branch|older_line_wins")
	settle := engine("settle|settle_void|branch|older_line_wins")
	groups := engine("groups|not_plain")
	return []mutant{
		{name: "bind: only what is queued", rule: "a payment that is not queued is not bound", file: "records/slots.go", old: "case p.State != string(Queued):", new: "case false:", suite: bind},
		{name: "bind: only by an account that is ok", rule: "a stopped account binds nothing", file: "records/slots.go", old: "case a.State != AccountOK:", new: "case false:", suite: bind},
		{name: "bind: no halted chain", rule: "a halted chain stops binding", file: "records/slots.go", old: "case p.Halted != \"\":", new: "case false:", suite: bind},
		{name: "bind: the transfer's chain counts", rule: "the chain that a payment is owed for counts too", file: "records/slots.go", old: "(c.chain = p.chain OR c.chain = (SELECT t.chain FROM transfers t WHERE t.id = p.transfer_id))", new: "c.chain = p.chain", suite: bind},
		{name: "bind: the transfer is of the line", rule: "nothing is bound for a transfer whose block left the line", file: "records/slots.go", old: "case p.OffLine:", new: "case false:", suite: bind},
		{name: "bind: the transfer is decided", rule: "nothing is bound for a transfer that is only seen", file: "records/slots.go", old: "case p.Undecided:", new: "case false:", suite: bind, survives: "no transfer of a live payment is seen or orphaned (trigger transfers_owed), and none is queued for one (trigger payments_cause)"},
		{name: "bind: no forked slot below the base", rule: "a payment that an older line may still pay is not bound", file: "records/slots.go", old: "case p.ForkedAt >= 0 && uint64(p.ForkedAt) < a.Base:", new: "case false:", suite: bind},
		{name: "bind: what is unmined is bounded", rule: "as many unmined slots as max_unmined", file: "records/slots.go", old: "if why == nil && unmined+len(bound) >= maxUnmined {", new: "if why == nil && unmined+len(bound) >= maxUnmined && false {", suite: bind},
		{name: "bind: mined slots take no room", rule: "a slot in a block does not count as unmined", file: "records/slots.go", old: "state = 'open' AND mined_in = ''`, string(id), account)", new: "state = 'open'`, string(id), account)", suite: bind},
		{name: "bind: numbers move on", rule: "a number is given once", file: "records/slots.go", old: "UPDATE accounts SET next = next + ? WHERE", new: "UPDATE accounts SET next = next + 0 * ? WHERE", suite: bind},
		{name: "attempts: of an open slot", rule: "an attempt needs an open slot", file: "records/attempts.go", old: "case s.Slot.Chain != id || !ok:", new: "case s.Slot.Chain != id || !ok && false:", suite: engine("attempts|settle")},
		{name: "attempts: in order", rule: "attempts have no gaps", file: "records/attempts.go", old: "case s.Attempt.Seq != next:", new: "case false:", suite: engine("attempts")},
		{name: "attempts: a hash once", rule: "a hash is stored once", file: "records/attempts.go", old: "case known[s.Attempt.Hash]:", new: "case false:", suite: engine("attempts|constraints")},
		{name: "attempts: seen before", rule: "an attempt that a block shows already is linked with it", file: "records/attempts.go", old: "return tx.mine(id, []OwnTx{{BlockHash: block, OwnTx: chain.OwnTx{Tx: hash}}}, map[string]at{hash: {s.Slot.Account, s.Slot.Branch, s.Slot.Nonce}})", new: "return nil", suite: engine("attempts|foreign_effect|seen_too_early|recovery_.*|effects|work")},
		{name: "settle: by a final block", rule: "only a final block decides a slot", file: "records/settle.go", old: "b.hash = ? AND b.canonical = 1 AND b.height <= c.final_height`", new: "b.hash = ? AND b.canonical = 1`", suite: settle},
		{name: "settle: by a block of the line", rule: "only a block of the line decides a slot", file: "records/settle.go", old: "b.hash = ? AND b.canonical = 1 AND b.height <= c.final_height`", new: "b.hash = ? AND b.height <= c.final_height`", suite: settle},
		{name: "settle: paid is checked", rule: "paid wants a final block", file: "records/settle.go", old: "func (tx *Tx) settlePaid(s Slot, hash, blockHash string) error {\n\tif err := tx.checkFinal(s.Chain, blockHash); err != nil {", new: "func (tx *Tx) settlePaid(s Slot, hash, blockHash string) error {\n\tif err := tx.checkFinal(s.Chain, blockHash); false {", suite: settle},
		{name: "settle: void is checked", rule: "void wants a final block", file: "records/settle.go", old: "requeue bool) error {\n\tif err := tx.checkFinal(s.Chain, blockHash); err != nil {", new: "requeue bool) error {\n\tif err := tx.checkFinal(s.Chain, blockHash); false {", suite: settle},
		{name: "settle: by an attempt that pays", rule: "a cancellation pays nothing", file: "records/settle.go", old: " AND kind <> 'cancel'`,", new: "`,", suite: settle},
		{name: "settle: by an attempt of the slot", rule: "only an attempt of the slot pays it", file: "records/settle.go", old: "if !pays {", new: "if !pays && false {", suite: settle},
		{name: "settle: other lines are void", rule: "a final block excludes the slots of other lines", file: "records/settle.go", old: "\tfor _, r := range rows {\n\t\tif err := tx.voidSlot(r.slot(), hash", new: "\tfor _, r := range rows[:0] {\n\t\tif err := tx.voidSlot(r.slot(), hash", suite: settle},
		{name: "settle: not bound elsewhere", rule: "a payment is paid where it is bound", file: "records/settle.go", old: "if elsewhere {", new: "if elsewhere && false {", suite: settle, survives: "the index slots_live refuses the second live slot; this only says it in words"},
		{name: "settle: a new generation", rule: "a freed payment gets a new generation", file: "records/settle.go", old: "reason = ?, gen = gen + 1, changed_at", new: "reason = ?, gen = gen + 0, changed_at", suite: settle},
		{name: "settle: many are checked", rule: "what is settled together wants a final block", file: "records/settle.go", old: "if err := tx.checkFinal(id, run.blockHash); err != nil {", new: "if err := error(nil); err != nil {", suite: groups},
		{name: "settle: many that succeeded", rule: "a failed transaction is not settled together with others", file: "records/settle.go", old: "!ok || !e.OK || !r.plain()", new: "!ok || !r.plain()", suite: groups},
		{name: "settle: many that are open", rule: "a slot of an older line is not settled together with others", file: "records/settle.go", old: "r.State == SlotOpen && !r.Sibling", new: "!r.Sibling", suite: groups},
		{name: "settle: many without siblings", rule: "a slot whose number another line has is not settled together with others", file: "records/settle.go", old: "r.State == SlotOpen && !r.Sibling", new: "r.State == SlotOpen", suite: groups},
		{name: "settle: many that pay", rule: "a cancellation is not settled together with payments", file: "records/settle.go", old: "&& r.Kind != AttemptCancel", new: "", suite: groups},
		{name: "branch: not below a final block", rule: "no line begins below a final block", file: "records/settle.go", old: "if decided {", new: "if decided && false {", suite: engine("branch|older_line_wins|recovery_of_lines")},
		{name: "branch: open slots are forked", rule: "what a new line excludes is not open any more", file: "records/settle.go", old: "(number >= ? OR lineage > ?) ORDER BY number`", new: "(number > ? AND lineage > ?) ORDER BY number`", suite: engine("branch|older_line_wins")},
		{name: "queue: one live payment", rule: "a transfer is credited or refunded, once", file: "records/payments.go", old: "case t.Live:", new: "case false:", suite: engine("payments|payment_causes"), survives: "the indexes payments_once and payments_received_once refuse it; this keeps the transaction usable on PostgreSQL"},
		{name: "queue: a decided transfer", rule: "a payment needs a decided transfer", file: "records/payments.go", old: "case t.Undecided:", new: "case false:", suite: engine("payments|payment_causes"), survives: "the trigger payments_cause refuses it; this keeps the transaction usable on PostgreSQL"},
		{name: "queue: a transfer of the line", rule: "a payment needs a transfer of the line", file: "records/payments.go", old: "case t.OffLine:", new: "case false:", suite: engine("payments|payment_causes|step_back")},
		{name: "queue: not zero", rule: "zero is not paid", file: "records/payments.go", old: "case p.Purpose != chain.Receive && p.Amount.IsZero():", new: "case false:", suite: engine("payments|payment_causes")},
		{name: "queue: to somebody", rule: "nobody is not paid", file: "records/payments.go", old: "case p.Purpose != chain.Receive && p.Payee == \"\":", new: "case false:", suite: engine("payments|payment_causes")},
		{name: "move: never to bound or paid", rule: "only binding binds, only settling pays", file: "records/payments.go", old: "if !waits || from == to || to == Bound || to == Paid {", new: "if waits && from == to {", suite: engine("payments|payment_causes|settle"), survives: "the triggers payments_bound and payments_paid refuse it"},
		{name: "move: void only when decided", rule: "a payment with an undecided slot is not void", file: "records/payments.go", old: "if undecided {", new: "if undecided && false {", suite: engine("payments|branch|older_line_wins|settle_void"), survives: "the trigger payments_void refuses it"},
	}
}

// storeRules are its checks of transfers, cursors, accounts, the lease and the database.
func storeRules() []mutant {
	return []mutant{
		{name: "transfer: seen is not seen anew", rule: "a decided transfer never becomes seen again", file: "records/transfers.go", old: "if to == Seen || from == Orphaned && to != Held {", new: "if from == Orphaned && to != Held {", suite: engine("transfers|changed_by_a_re-organisation|step_back"), survives: "the trigger transfers_seen refuses it"},
		{name: "transfer: orphans are not decided", rule: "an orphaned transfer does not become final", file: "records/transfers.go", old: "if to == Seen || from == Orphaned && to != Held {", new: "if to == Seen {", suite: engine("transfers|changed_by_a_re-organisation|step_back|due_transfers")},
		{name: "transfer: final on the line", rule: "a transfer becomes final on the line only", file: "records/transfers.go", old: "if to == Final {\n\t\tif err := tx.onLine(id); err != nil {", new: "if to == Final {\n\t\tif err := tx.onLine(id); false {", suite: engine("transfers|step_back|final_point|payment_causes|due_transfers")},
		{name: "transfer: not orphaned while paid", rule: "no transfer is orphaned while a payment for it lives", file: "records/transfers.go", old: "if live {", new: "if live && false {", suite: engine("transfers|step_back|payment_causes"), survives: "the trigger transfers_owed refuses it"},
		{name: "transfer: a block that left", rule: "a block that left the line proves nothing", file: "records/transfers.go", old: "b.hash = t.block_hash AND b.canonical = 0)", new: "b.hash = t.block_hash AND b.canonical = 2)", suite: engine("bind_gates|transfers|payment_causes|step_back")},
		{name: "transfer: the same facts", rule: "a ref does not stand for something else in a block of the same line", file: "records/transfers.go", old: "case known.State == string(Seen) && !same:", new: "case false:", suite: engine("transfers|changed_by_a_re-organisation|replayed_block")},
		{name: "transfer: new facts of a new block", rule: "a transaction that is mined again may do something else", file: "records/transfers.go", old: "case known.State == string(Orphaned) && !same:", new: "case false:", suite: engine("transfers|changed_by_a_re-organisation")},
		{name: "due: not before its depth", rule: "a transfer is looked at when it is deep enough", file: "records/transfers.go", old: "due > 0 AND due <= ?", new: "due > 0 AND due >= ?", suite: engine("due_transfers")},
		{name: "cursor: the parent fits", rule: "a block follows the one before", file: "records/cursors.go", old: "(b.Height != r.Height+1 || b.Parent != r.Hash)", new: "(b.Height != r.Height+1)", suite: engine("cursor|step_back|halt")},
		{name: "cursor: no height is left out", rule: "no height is left out", file: "records/cursors.go", old: "(b.Height != r.Height+1 || b.Parent != r.Hash)", new: "(b.Parent != r.Hash)", suite: engine("cursor|step_back|halt")},
		{name: "cursor: not below the final point", rule: "a final block is not left", file: "records/cursors.go", old: "if r.Height <= r.FinalHeight {", new: "if false {", suite: engine("cursor|step_back|final_point")},
		{name: "cursor: a halted one stands", rule: "a halted chain does not move", file: "records/cursors.go", old: "case r.State == \"halted\":", new: "case false:", suite: engine("cursor|halt")},
		{name: "cursor: what left is not of the line", rule: "a block that is left is not of the line", file: "records/cursors.go", old: "UPDATE blocks SET canonical = 0 WHERE", new: "UPDATE blocks SET canonical = 1 WHERE", suite: engine("cursor|step_back")},
		{name: "cursor: slots of a left block", rule: "slots of a block that is left are unmined again", file: "records/cursors.go", old: "if err := tx.unmine(id, r.Hash); err != nil {", new: "if err := tx.unmine(id, \"none\"); err != nil {", suite: engine("bind|attempts|step_back|work")},
		{name: "cursor: transfers of a left block", rule: "transfers of a block that is left are orphaned", file: "records/cursors.go", old: "if left[i].State != Seen {", new: "if true {", suite: engine("cursor|step_back|transfers")},
		{name: "final: another hash is a violation", rule: "what was final stays that block", file: "records/cursors.go", old: "case h.Final.Height == r.FinalHeight && r.FinalHash != \"\" && r.FinalHash != h.Final.Hash:", new: "case false:", suite: engine("final_point|cursor")},
		{name: "final: on our line", rule: "the final point is a block of our line", file: "records/cursors.go", old: "if err := tx.checkLine(r.Chain, h.Final); err != nil {", new: "if err := tx.checkLine(r.Chain, h.Final); false {", suite: engine("final_point|cursor")},
		{name: "final: reached by the cursor", rule: "the final point is not above the cursor", file: "records/cursors.go", old: "case h.Final.Height > r.Height: // not reached", new: "case false: // not reached", suite: engine("final_point|cursor")},
		{name: "effects: only final ones", rule: "only final blocks are acted on", file: "records/own_txs.go", old: "e.settled = 0 AND e.height <= ?", new: "e.settled = 0 AND e.height < 1 + ? * 1000", suite: engine("effects|settle|final_point|work")},
		{name: "effects: only of the line", rule: "only blocks of the line are acted on", file: "records/own_txs.go", old: "b.hash = e.block_hash AND b.canonical = 1)\n\t\tORDER BY", new: "b.hash = e.block_hash)\n\t\tORDER BY", suite: engine("effects|step_back|work")},
		{name: "effects: once", rule: "an effect is acted on once", file: "records/own_txs.go", old: "AND block_hash = ? AND settled = 0`, string(e.Chain)", new: "AND block_hash = ?`, string(e.Chain)", suite: engine("effects|settle")},
		{name: "cancels: only in recovery", rule: "only a recovering account cancels", file: "records/recovery.go", old: "of.State != AccountRecovering || of.Branch != 0 || number < of.Next", new: "of.Branch != 0 || number < of.Next", suite: engine("cancellations")},
		{name: "cancels: no number of ours", rule: "a number that our records gave is not cancelled", file: "records/recovery.go", old: " || number < of.Next {", new: " {", suite: engine("cancellations")},
		{name: "adopt: numbers go up", rule: "no number below those given is adopted", file: "records/accounts.go", old: "if baseHash == \"\" && (a.Branch != 0 || base < a.Next) {", new: "if false {", suite: engine("accounts|recovery_of_nonces|bind_gates"), survives: "the trigger accounts_lineage refuses it"},
		{name: "adopt: nothing is open", rule: "no account with open slots is adopted", file: "records/accounts.go", old: "if open {", new: "if open && false {", suite: engine("accounts|recovery_.*")},
		{name: "account: its key stays", rule: "an account keeps its key path", file: "records/accounts.go", old: "case known.Kind != string(a.Kind) || known.KeyPath != a.KeyPath:", new: "case false:", suite: engine("accounts")},
		{name: "resume: all explained", rule: "an account goes on when everything is explained", file: "records/recovery.go", old: "if len(foreign) > 0 {", new: "if false {", suite: engine("recovery_.*|foreign_effect")},
		{name: "resume: all read", rule: "an account goes on when all its numbers were read", file: "records/recovery.go", old: "if err == nil && seen != next-a.Base {", new: "if err == nil && seen != next-a.Base && false {", suite: engine("recovery_.*|foreign_effect")},
		{name: "resume: all decided", rule: "an account goes on when all below is decided", file: "records/recovery.go", old: "if err == nil && undecided {", new: "if err == nil && undecided && false {", suite: engine("recovery_.*|foreign_effect"), survives: "every number below is in a final block that was read (`resume: all read`), which settles the slot or, being foreign, has just voided it"},
		{name: "settle by an operator: only stopped", rule: "only a stopped account is settled by hand", file: "records/recovery.go", old: "if a.State != AccountHalted && a.State != AccountRecovering {\n\t\treturn OwnTx{}", new: "if false {\n\t\treturn OwnTx{}", suite: engine("recovery_.*|foreign_effect")},
		{name: "settle by an operator: undecided slots", rule: "a payment with an undecided slot is not settled by hand", file: "records/recovery.go", old: "\tif undecided {\n\t\treturn Slot{}", new: "\tif undecided && false {\n\t\treturn Slot{}", suite: engine("recovery_.*|foreign_effect")},
		{name: "fence: every transaction", rule: "a transaction begins with the lease", file: "records/store.go", old: "return tx.checkFence(s.lease)", new: "return nil", suite: engine("lease|zombie")},
		{name: "fence: the epoch", rule: "the epoch is part of the lease", file: "records/lease.go", old: "holder = ? AND epoch = ? AND expires_at > ?`, l.Role, l.Holder, l.Epoch, ends)", new: "holder = ? AND ? > 0 AND expires_at > ?`, l.Role, l.Holder, l.Epoch, ends)", suite: engine("lease|zombie")},
		{name: "fence: the time", rule: "a lease runs out", file: "records/lease.go", old: "AND expires_at > ?`, l.Role, l.Holder, l.Epoch, ends)", new: "AND expires_at <> ?`, l.Role, l.Holder, l.Epoch, ends-1)", suite: engine("lease|zombie")},
		{name: "lease: one holder", rule: "nobody takes a lease that is held", file: "records/lease.go", old: "row.Holder != l.Holder && row.Expires > now {", new: "row.Holder == \"\" && row.Expires > now {", suite: engine("lease|zombie")},
		{name: "lease: a new epoch", rule: "each change of hands is a new epoch", file: "records/lease.go", old: "l.Epoch = row.Epoch + 1", new: "l.Epoch = row.Epoch + 0", suite: engine("lease|zombie")},
		{name: "commit: a lost answer is unknown", rule: "a commit whose answer is lost is unknown", file: "records/store.go", old: "return fmt.Errorf(\"committing: %w: %w\", ErrUnknownOutcome, err)", new: "return fmt.Errorf(\"committing: %w\", err)", suite: suite{"./records", "^TestLostCommit$"}},
		{name: "sqlite: synchronous", rule: "commits survive a power cut", file: "records/store.go", old: "_synchronous=FULL", new: "_synchronous=NORMAL", suite: suite{"./records", "^TestSQLiteCommitsAreDurable$"}},
		{name: "sqlite: foreign keys", rule: "foreign keys hold", file: "records/store.go", old: "&_foreign_keys=on", new: "", suite: suite{"./records", "^TestSQLiteCommitsAreDurable$"}},
		{name: "sqlite: damaged file", rule: "a damaged file is not used", file: "internal/database/database.go", old: "if len(verdict) != 1 || verdict[0] != \"ok\" {", new: "if false {", suite: suite{"./records", "^TestDamagedFile$"}, survives: "most damage makes the reading itself fail, which ends the start as well"},
		{name: "postgres: synchronous", rule: "commits survive a power cut", file: "records/store.go", old: "\"synchronous_commit\": \"on\", ", new: "", suite: suite{"./records", "^TestPostgresCommitsAreDurable$"}},
		{name: "postgres: one writer", rule: "one transaction writes at a time", file: "records/store.go", old: "lock: writerLock,", new: "", suite: suite{"./records", "^TestPostgres$/^(parallel_bindings|two_processes)$"}},
		{name: "history: its digests", rule: "each line's digest covers the one before", file: "records/history.go", old: "r.Digest = r.digest(tx.last.Digest)", new: "r.Digest = r.digest(\"\")", suite: engine("history")},
	}
}

// guardRules are those of the sign-guard.
func guardRules() []mutant {
	tests := suite{"./records/signguard", "^TestGuard"}
	const file = "records/signguard/guard.go"
	return []mutant{
		{name: "guard: one payee at a slot", rule: "a slot is signed for one payment", file: file, old: "case len(known) == 1:\n\t\treturn fmt.Errorf", new: "case len(known) == 2:\n\t\treturn fmt.Errorf", suite: tests, survives: "the primary key of the guard refuses a second signature at a slot; only the words of the refusal differ"},
		{name: "guard: the digest counts", rule: "the same payment at a slot is the same order", file: file, old: "known[0] == guardRow{w.Digest, w.PaymentID})", new: "known[0].PaymentID == w.PaymentID)", suite: tests},
		{name: "guard: a payment has one slot", rule: "a payment is signed at one slot of a line", file: file, old: "CREATE UNIQUE INDEX IF NOT EXISTS guard_payment ON guard (chain, account, lineage, payment_id) WHERE live = 1;", new: "", suite: tests},
		{name: "guard: a digest is wanted", rule: "nothing is signed without knowing what", file: file, old: "if w.Digest == \"\" || !w.Cancel && w.PaymentID == 0 {", new: "if false {", suite: tests},
		{name: "guard: cancellations are no payments", rule: "a cancellation keeps its slot for itself", file: file, old: "w.PaymentID, live = 0, 0", new: "live = 0", suite: tests,
			survives: "a cancellation has no payment: nothing passes one with a number"},
		{name: "guard: next is behind the highest", rule: "the guard tells where signatures end", file: file, old: "return rows[0].Branch, rows[0].Number + 1, true, nil", new: "return rows[0].Branch, rows[0].Number, true, nil", suite: tests},
		{name: "guard: the newest line", rule: "the guard tells the newest line", file: file, old: "ORDER BY lineage DESC, number DESC LIMIT 1", new: "ORDER BY number DESC LIMIT 1", suite: tests},
		{name: "guard: an index once", rule: "an address is given once", file: file, old: "\t\treturn ErrTaken\n", new: "\t\treturn nil\n", suite: tests},
		{name: "guard: release below next only", rule: "only what is final is released", file: file, old: "account = ? AND number < ?`, string(id), account, next)", new: "account = ? AND number <> ?`, string(id), account, next)", suite: tests},
	}
}
