package main

// batchRules are those of transactions that make several payments.
func batchRules() []mutant {
	records := suite{"./records", "^TestSQLite$/^batches$"}
	guard := suite{"./records/signguard", "^TestSlotOfSeveralPayments$"}
	signs := suite{"./signer", "^TestBatches|^TestOutcomesOfBatches"}
	allowances := suite{"./signer", "^TestAllowancesAreBounded$"}
	const settle, decide, divide = "records/settle.go", "records/signguard/decide.go", "watcher/pay/batch.go"
	return []mutant{
		{name: "batch: a place for each", rule: "each payment of a batch has its place", file: "records/slots.go", old: "\t\t\tplace++\n", new: "\t\t\tplace += 0\n", suite: records},
		{name: "batch: one number", rule: "a batch uses one number", file: "records/slots.go", old: "next += uint64(min(place, 1))", new: "next += uint64(place)", suite: records},
		{name: "batch: numbers count once", rule: "a batch is one unmined number", file: "records/slots.go", old: "account = ? AND place = 0 AND state", new: "account = ? AND state", suite: records},
		{name: "batch: outcomes are stored", rule: "the outcome of each payment is kept", file: "records/own_txs.go", old: "e.Fee, e.To, e.Value, lettersOf(e.Members), sqlstore.Bit(ours)}", new: "e.Fee, e.To, e.Value, lettersOf(nil), sqlstore.Bit(ours)}", suite: records},
		{name: "batch: unknown outcomes differ", rule: "what a block does not show of a batch is not paid", file: settle, old: "case e.OK && count == 1 && len(e.Members) == 0:", new: "case e.OK && len(e.Members) == 0:", suite: suite{"./watcher", "^TestBatchWithoutOutcomesIsHeld$"}},
		{name: "batch: each is paid by its outcome", rule: "a batch is not settled as a whole unless all of it is paid", file: settle, old: "made[i] != chain.MemberPaid", new: "made[0] != chain.MemberPaid", suite: records},
		{name: "batch: one is void", rule: "a void payment of a batch leaves the others", file: settle, old: "number = ? AND place = ? AND state = 'open'`,\n\t\tstring(s.Chain), s.Account, s.Branch, s.Nonce, s.Place)", new: "number = ? AND ? >= 0 AND state = 'open'`,\n\t\tstring(s.Chain), s.Account, s.Branch, s.Nonce, s.Place)", suite: records, survives: "the caller voids only slots that are open; a batch's others do not change the answer"},
		{name: "batch: what moved otherwise", rule: "a payment of a batch that moved something else is neither made again nor given back", file: "records/operator_orders.go", old: " OR substr(e.members, s.place + 1, 1) = 'd')", new: ")", suite: records},
		{name: "guard: all of a batch", rule: "a slot is signed again for the same payments only", file: "records/signguard/guard.go", old: "slices.Equal(known, wanted[w.Slot.Nonce]))", new: "slices.Contains(known, guardRow{w.Digest, w.PaymentID}))", suite: guard},
		{name: "guard: a member is decided by itself", rule: "a void payment of a batch frees no other", file: decide, old: "number = ? AND place = ?`, append(slot, o.Place)...)\n\t\treturn err", new: "number = ? AND ? >= 0`, append(slot, o.Place)...)\n\t\treturn err", suite: guard},
		{name: "guard: what follows a member", rule: "a void payment of a batch voids nothing behind it", file: decide, old: "case !o.Paid && o.Branch > 0 && !o.Member:", new: "case !o.Paid && o.Branch > 0:", suite: guard},
		{name: "signer: each member is authorized", rule: "no payment of a batch is signed without authorization", file: "signer/grants.go", old: "if p.Purpose.PaysNobody() {\n\t\t\t\tcontinue", new: "if p.Purpose.PaysNobody() || len(o.Payment.Members) > 1 {\n\t\t\t\tcontinue", suite: signs},
		{name: "signer: each member is guarded", rule: "the sign-guard knows all payments of a batch", file: "signer/signer.go", old: "for place, p := range o.Payment.All() {", new: "for place, p := range o.Payment.All()[:1] {", suite: signs},
		{name: "signer: a payment once", rule: "a batch pays nothing twice", file: "signer/signer.go", old: "case seen[p.ID]:", new: "case false:", suite: signs},
		{name: "signer: payouts only", rule: "a batch makes payouts only", file: "signer/signer.go", old: "case p.Purpose != chain.Credit && p.Purpose != chain.Refund:", new: "case false:", suite: signs},
		{name: "signer: paid by the outcome", rule: "a payment of a batch is spent only when it was made", file: "signer/outcomes.go", old: "return tx.Members[w.Place] == chain.MemberPaid,", new: "return true,", suite: signs},
		{name: "signer: differing is undecided", rule: "a payment of a batch that moved something else stays undecided", file: "signer/outcomes.go", old: "tx.Members[w.Place] != chain.MemberDiffers\n", new: "true\n", suite: signs},
		{name: "signer: unknown is undecided", rule: "a batch without outcomes decides nothing", file: "signer/outcomes.go", old: "\t\treturn false, false\n", new: "\t\treturn false, true\n", suite: signs},
		{name: "signer: by its place", rule: "a payment of a batch is described by its place", file: "chain/outgoing.go", old: "return place < len(o.Members) && o.Members[place].Is(digest, payment)", new: "return place < len(o.Members) && o.Members[0].Is(digest, payment)", suite: signs},
		{name: "batch: failed ones go alone", rule: "what failed in a batch is not put into another", file: divide, old: " && q.Gen == 0", new: "", suite: watch("TestFailedInABatchGoesAlone")},
		{name: "batch: labels go alone", rule: "a payment with a label shares no transaction", file: divide, old: " && q.PayeeLabel == \"\"", new: "", suite: watch("TestPaymentsThatShareNoTransaction")},
		{name: "batch: payees that go alone", rule: "what the ledger wants by itself shares no transaction", file: divide, old: "together[n] = !separate[i] &&", new: "together[n] = (!separate[i] || true) &&", suite: watch("TestPaymentsThatShareNoTransaction")},
		{name: "batch: approved ones go alone", rule: "what people have approved shares no transaction", file: divide, old: "len(approved[pays[i].ID]) == 0", new: "len(approved) >= 0", suite: watch("TestApprovedPayoutGoesAlone")},
		{name: "batch: credits only", rule: "only payouts share a transaction", file: divide, old: "q.Purpose == chain.Credit && ", new: "", suite: watch("TestPaymentsThatShareNoTransaction")},
		{name: "batch: allowed first", rule: "batches move only what they may", file: divide, old: "\tif allowed {", new: "\tif allowed || true {", suite: watch("TestAllowanceComesFirst")},
		{name: "batch: bounded", rule: "a batch has no more payments than the ledger takes", file: divide, old: "case has && len(groups[at]) < b.ledger.MaxBatch(q.Asset):", new: "case has:", suite: watch("TestBatchesAreFilled")},
		{name: "batch: waits for others", rule: "a payout waits for others as long as its chain says", file: divide, old: ">= b.ledger.BatchWait()", new: ">= 0", suite: watch("TestPayoutWaitsForOthers")},
		{name: "batch: not for ever", rule: "a payout that nobody joins leaves alone", file: divide, old: "if len(list) == 1 && b.ripe(list) {", new: "if len(list) == 1 {", suite: watch("TestPayoutWaitsForOthers")},
		{name: "batch: a failure waits for nobody", rule: "the others of a batch are settled while one waits", file: "watcher/follow/settle.go", old: "\t\tcase errors.Is(err, errAnswerPending):\n\t\t\tpending = err\n", new: "\t\tcase errors.Is(err, errAnswerPending):\n\t\t\treturn err\n", suite: watch("TestFailedInABatchGoesAlone"), survives: "the order of settling only: what waits is asked again with the next round"},
		{name: "batch: one held does not hold others", rule: "a batch leaves its number when the signer holds one of it", file: "watcher/pay/held_by_signer.go", old: "case h.others > 0:", new: "case false:", suite: watch("TestHeldInABatchHoldsNoOther")},
		{name: "signer: allowances are few", rule: "a stolen daemon burns few fees by allowances", file: "signer/signer.go", old: "return s.allowances, allowancesAtOnce, allowancesPerHour", new: "return nil, 0, 0", suite: allowances},
		{name: "batch: as many as the signer takes", rule: "payments of a call to the signer are bounded", file: "watcher/pay/sign.go", old: "payments > MaxGroup &&", new: "payments > 100*MaxGroup &&", suite: watch("TestManyBatchesAfterARestart")},
		{name: "batch: under its ceiling", rule: "a batch that costs more than its payments may is made of single payments", file: divide, old: "\tif waitsOrFails(err) {\n\t\treturn false, nil", new: "\tif waitsOrFails(err) {\n\t\treturn true, nil", suite: watch("TestBatchOverItsCeiling")},
		{name: "batch: stuck ones leave", rule: "a batch that cannot be signed leaves its number", file: "watcher/pay/sign.go", old: "if err := leaveBatch(ctx, p, s, err); err != nil || !p.coins {", new: "if err := error(nil); err != nil || !p.coins {", suite: watch("TestLostAllowanceReleasesTheNumber")},
		{name: "batch: refunds keep numbers", rule: "batches leave refunds their numbers", file: divide, old: "\t\t\tif users <= 0 {", new: "\t\t\tif false {", suite: suite{"./watcher/pay", "^TestRefundsKeepTheirNumbers$"}},
		{name: "batch: a payee passed over", rule: "a batch that would pass a payee over is not signed", file: "chain/ethereum/batch.go", old: "\t\t\treturn 0, errPassedOver\n", new: "\t\t\tcontinue\n", suite: suite{"./chain/ethereum", "^TestPayeeOnABlacklist$"}},
		{name: "batch: who gets the saving", rule: "what the gateway keeps is not passed on", file: "chain/ethereum/gas.go", old: " && c.config.Batch.Saving != savingGateway", new: "", suite: suite{"./chain/ethereum", "^TestSharedPayoutCost$"}},
		{name: "recovery: each by its place", rule: "a payment of an unknown batch is traced by its place", file: "watcher/recovery/signed.go", old: "return s.Place != place || !out.Is(", new: "return !out.Is(", suite: watch("TestUnknownBatchIsSettled"), survives: "payments of a batch that differ have different digests, and of equal ones any may be taken first"},
		{name: "recovery: all of a batch", rule: "an unknown batch is settled automatically only when all of it fits", file: "watcher/recovery/batch.go", old: "\t\t\tall = false\n", new: "\t\t\tall = all && true\n", suite: watch("TestUnknownBatchIsSettled")},
	}
}
