package main

// coinRules are the rules of Bitcoin and its kin: what blocks show, what is signed, and how
// transactions are built.
func coinRules() []mutant {
	const thief = "TestThiefGetsNothing|TestOtherOrdersGetNothing|TestSealWantsEachKey|TestChildrenAreBounded|TestMergesAreCheap"
	const drafts = "TestDrafts|TestReplacements|TestReplacementTakesTheChangeFirst|TestReplacementHasAHigherRate|TestNotEnough|TestCeilings|TestMerge|TestMergesAreCheap|TestChildrenAreBounded"
	spend := func(tests string) suite { return suite{"./chain/bitcoin/spend", "^(" + tests + ")$"} }
	network := func(tests string) suite { return suite{"./chain/bitcoin/network", "^(" + tests + ")$"} }
	rules := func(name, rule, old, now string) mutant {
		return mutant{name: "signer: bitcoin, " + name, rule: rule, file: "chain/bitcoin/spend/rules.go", old: old, new: now, suite: spend(thief)}
	}
	builder := func(name, rule, old, now string) mutant {
		return mutant{name: "bitcoin: " + name, rule: rule, file: "chain/bitcoin/spend/builder.go", old: old, new: now, suite: spend(drafts)}
	}
	reader := func(tests string) suite { return suite{"./chain/bitcoin", "^(" + tests + ")$"} }
	return []mutant{
		{name: "signer: bitcoin, the batch's fee", rule: "the fee is under the ceiling of its batch", file: "chain/bitcoin/spend/limits.go", old: "!most.IsZero() && most.Less(chain.NewAmount(uint64(fee)))", new: "false", suite: spend(thief)},
		{name: "bitcoin: the root", rule: "a block's transactions are those of its header's root", file: "chain/bitcoin/parse.go", old: "root != h.MerkleRoot {", new: "false {", suite: reader("TestLiesAboutBlocks")},
		{name: "bitcoin: twice", rule: "no transaction of a block counts twice", file: "chain/bitcoin/parse.go", old: "if seen[*tx.Hash()] {", new: "if false {", suite: reader("TestLiesAboutBlocks")},
		{name: "bitcoin: the hash", rule: "a block is that of the hash that was asked for", file: "chain/bitcoin/parse.go", old: "got != hash {", new: "false && got != hash {", suite: reader("TestLiesAboutBlocks")},
		{name: "bitcoin: the work", rule: "a header counts with the work that its target demands", file: "chain/bitcoin/line.go", old: "if err := l.rules.checkWork(&h); err != nil {", new: "if err := l.rules.checkWork(&h); false {", suite: reader("TestLiesAboutHeads")},
		{name: "bitcoin: the target", rule: "a header's target follows from those below it", file: "chain/bitcoin/line.go", old: "if err := l.rules.checkNext(&h, parent); err != nil {", new: "if err := l.rules.checkNext(&h, parent); false {", suite: reader("TestLiesAboutHeads")},
		{name: "bitcoin: most work", rule: "the line with the most work counts", file: "chain/bitcoin/line.go", old: "more = h.work.Cmp(best.work)", new: "more = 0", suite: reader("TestMostWorkWins")},
		{name: "bitcoin: final", rule: "a final block is one that a majority of the nodes has", file: "chain/bitcoin/head.go", old: "height := shared[len(shared)-c.majority()]", new: "height := shared[len(shared)-1]", suite: reader("TestMostWorkWins")},
		{name: "bitcoin: the network", rule: "a node of another network is not asked", file: "chain/bitcoin/node.go", old: "if genesis != n.network.Genesis.String() {", new: "if false {", suite: reader("TestLiesAboutHeads")},
		{name: "bitcoin: change", rule: "change of our own transaction is no deposit", file: "chain/bitcoin/match.go", old: "	if own {\n\t\treturn", new: "	if false {\n\t\treturn", suite: reader("TestDepositsAndOwnTransactions")},
		{name: "bitcoin: a coinbase", rule: "a coinbase counts when it can be spent", file: "chain/bitcoin/match.go", old: "coin.Matures = b.height + maturity", new: "coin.Matures = 0", suite: reader("TestDepositsAndOwnTransactions")},
		rules("the anchor", "every transaction of a slot spends the slot's coin first", "case tx.TxIn[0].PreviousOutPoint != anchor:", "case false && tx.TxIn[0].PreviousOutPoint != anchor:"),
		rules("proven amounts", "the amount of an input is proven by the transaction that made it", "case in.NonWitnessUtxo.TxHash() != at.Hash:", "case false:"),
		rules("coins twice", "a coin counts once", "case p.spent[at] != nil:", "case false:"),
		rules("the sequence", "every transaction can be replaced", "case asked.Sequence != txSequence:", "case false:"),
		rules("the hash type", "a signature covers all inputs and outputs", "case in.SighashType != txscript.SigHashDefault && in.SighashType != txscript.SigHashAll:", "case false:"),
		rules("the payee", "an output pays the payee of its payment", "case !bytes.Equal(outputs[i].PkScript, want.PkScript):", "case false && bytes.Equal(outputs[i].PkScript, want.PkScript):"),
		rules("the amount", "an output has the amount of its payment", "case outputs[i].Value != want.Value:", "case false:"),
		rules("nothing more", "no output but the payees and one of change", "case len(rest) > maxChange, len(rest) > 1 && len(wanted) == 0:", "case false:"),
		rules("the change", "change goes to our own accounts", "if _, err := network.OwnAt(r.accounts, levels, out.PkScript); err != nil {", "if _, err := network.OwnAt(r.accounts, levels, out.PkScript); err != nil && len(levels) < 2 {"),
		rules("the change's branch", "change goes to no user's address", "branch != network.Internal {", "branch != network.Internal && false {"),
		rules("merges have no amount", "a merge has no amount", "|| !pay.Amount.IsZero() ||", "||"),
		rules("the merge's receiver", "a merge goes to the address of its payment", "case !bytes.Equal(to.Script, out.PkScript):", "case false:"),
		rules("no fee", "the outputs have less than the inputs", "p.fee <= 0 {", "p.fee <= 0 && false {"),
		rules("the parent", "only a merge of change may pay for its parent", " && levels[len(levels)-2] == network.Internal {", " && len(levels) > 0 {"),
		rules("the source", "a merge pays for the parent that it was ordered for alone", "in.PreviousOutPoint.String() == pay.Source &&", "(i == 1 || in.PreviousOutPoint.String() == pay.Source) &&"),
		{name: "signer: bitcoin, merges are cheap", rule: "what only brings coins together waits for low fees", file: "chain/bitcoin/spend/limits.go", old: "l.MaxRate = min(l.MaxRate, l.Cheap)", new: "l.MaxRate = max(l.MaxRate, l.Cheap)", suite: spend(thief)},
		rules("the script engine", "a signature that nodes would refuse is not sent", "err = engine.Execute()", "_ = engine.Execute"),
		{name: "signer: bitcoin, our scripts", rule: "a script is ours only at its own path", file: "chain/bitcoin/network/account.go", old: "if err == nil && bytes.Equal(own.Script, script) {", new: "if err == nil && (true || bytes.Equal(own.Script, script)) {", suite: network("TestOwnAtFindsNothingElse")},
		{name: "signer: bitcoin, the fee", rule: "the fee is under its ceiling", file: "chain/bitcoin/spend/limits.go", old: "if fee > most {", new: "if false {", suite: spend(thief + "|" + drafts)},
		{name: "signer: bitcoin, the payment's fee", rule: "a payment's share of the fee is under the payment's ceiling", file: "chain/bitcoin/spend/limits.go", old: "!most.IsZero() && most.Less(chain.NewAmount(uint64(share)))", new: "most.Less(chain.NewAmount(uint64(share))) && false", suite: spend(thief + "|" + drafts)},
		{name: "bitcoin: dust is not paid", rule: "what nodes do not relay is refunded", file: "chain/bitcoin/spend/payees.go", old: "value < least {", new: "value < least-1 {", suite: spend("TestUnpayable")},
		{name: "bitcoin: the batch's sum", rule: "a batch pays the sum of its payments", file: "chain/bitcoin/spend/payees.go", old: "case sum != pay.Amount:", new: "case false:", suite: spend(thief)},
		builder("no dust", "change that nodes would not relay is left to the fee", "change.Value >= least {", "change.Value > 0 {"),
		builder("a replacement's fee", "a replacement pays for what it evicts", "max(fee, r.fee+r.stepPerBytes.Fee(size), (r.beatenRate + 1).Fee(size))", "max(fee, r.stepPerBytes.Fee(size), (r.beatenRate + 1).Fee(size))"),
		builder("a replacement's step", "a replacement pays for its own relay", "max(fee, r.fee+r.stepPerBytes.Fee(size), (r.beatenRate + 1).Fee(size))", "max(fee, r.fee+1, (r.beatenRate + 1).Fee(size))"),
		builder("a replacement's rate", "a replacement has a higher rate", "max(fee, r.fee+r.stepPerBytes.Fee(size), (r.beatenRate + 1).Fee(size))", "max(fee, r.fee+r.stepPerBytes.Fee(size))"),
		builder("fees of children", "a replacement pays for the children that it evicts", "e.Fee+e.Children", "e.Fee"),
		builder("a replacement's coins", "a replacement adds no coin that is in no block", "		r.may = inBlocks(r.may)\n	}\n", "	}\n"),
		builder("young coinbases", "a coinbase is spent when it is mature", "return !c.spendable(f.Height)", "return false"),
		{name: "bitcoin: coins in blocks", rule: "coins that are in blocks are spent first", file: "chain/bitcoin/spend/coin.go", old: "confirmed != (b.Height != 0) {", new: "confirmed && b.Height == 0 && false {", suite: spend(drafts)},
		{name: "bitcoin: other networks", rule: "an address of another network is refused", file: "chain/bitcoin/network/address.go", old: "case prefix != n.Bech32:", new: "case false:", suite: network("TestRefusedAddresses|TestMWEBIsRefused")},
		{name: "bitcoin: unknown witness versions", rule: "nobody is paid by a rule that does not exist", file: "chain/bitcoin/network/address.go", old: "case version > 1:", new: "case version > 16:", suite: network("TestRefusedAddresses")},
		{name: "bitcoin: bech32m", rule: "each witness version has its checksum", file: "chain/bitcoin/network/address.go", old: "case version == 1 && encoding != bech32.VersionM:", new: "case false:", suite: network("TestRefusedAddresses")},
		{name: "bitcoin: choices", rule: "two slots do not choose the same coin", file: "chain/bitcoin/choices.go", old: "return ok && now.Before(by.until)", new: "return false && ok && now.Before(by.until)", suite: reader("TestChoices")},
		{name: "bitcoin: another slot's coin", rule: "a coin of another slot is not spent", file: "chain/bitcoin/prepare.go", old: "case h.Bound && h.Number != slot.Nonce:", new: "case false:", suite: reader("TestChoices")},
		{name: "bitcoin: the same payees", rule: "a replacement pays what it replaces", file: "chain/bitcoin/prepare.go", old: "!slices.EqualFunc(e.Outputs[:len(payees)], payees, sameOutput)", new: "false", suite: reader("TestReplacedAndCancelled")},
		{name: "bitcoin: stored coins", rule: "a coin has the amount and script of its transaction's output", file: "chain/bitcoin/prepare.go", old: "outs[at].Value != coin.Amount || ", new: "", suite: reader("TestStoredCoinsAreProven")},
		{name: "bitcoin: no payment to change", rule: "a payment and change are distinguished", file: "chain/bitcoin/prepare.go", old: "c.change.all[to.Text] {", new: "false && c.change.all[to.Text] {", suite: reader("TestUnpayable")},
		{name: "bitcoin: a lost coin", rule: "an attempt that can never be mined is replaced", file: "chain/bitcoin/broadcast.go", old: "if missing(tx.TxIn[0]) {", new: "if true {", suite: reader("TestLostCoin")},
		{name: "bitcoin: a child is not lost", rule: "a child waits while its parent may be mined", file: "chain/bitcoin/broadcast.go", old: "err != nil || f == nil {", new: "err != nil || f != nil {", suite: reader("TestChildWithoutItsParent")},
		{name: "bitcoin: our change alone", rule: "a merge spends no pending coin but change of ours", file: "chain/bitcoin/merge.go", old: "to.Text != c.change.pool || tx", new: "to.Text == \"\" || tx", suite: reader("TestChildSpendsOurChangeOnly")},
		{name: "bitcoin: children where nodes keep the first", rule: "no child is made of what may be replaced", file: "chain/bitcoin/merge.go", old: "|| !low || newest && seen.replaces {", new: "|| !low || newest && false {", suite: reader("TestStuckPayoutLeavesByItsChild")},
		builder("large coins stay", "a merge leaves the largest coins to payments", "small = small[min(mergeLeaves, len(small)):]", "small = small[min(0, len(small)):]"),
		builder("both at the rate", "a child pays for its parent", "r.rate.Fee(size+r.parent.Size)-r.parent.Fee, ", "r.rate.Fee(size), "),
		{name: "bitcoin: who keeps the first", rule: "a node that replaces nothing is not asked to", file: "chain/bitcoin/broadcast.go", old: "n.keeps.Store(true)", new: "n.keeps.Store(false)", suite: reader("TestNodeThatKeepsTheFirst")},
		{name: "bitcoin: other bytes", rule: "a node that took other bytes has not the transaction", file: "chain/bitcoin/broadcast.go", old: "case err == nil && got != a.Hash:", new: "case false:", suite: reader("TestLiesAboutSending")},
		{name: "bitcoin: signed coins", rule: "coins of a signed attempt are spent", file: "chain/bitcoin/pay.go", old: "err == nil && !h.Signed {", new: "err == nil {", suite: reader("TestPayments")},
		{name: "bitcoin: change is no payment", rule: "outputs of change are no payments", file: "chain/bitcoin/describe.go", old: "out.Value == 0 || c.all[paid[v]] {", new: "out.Value == 0 {", suite: reader("TestPayments")},
		{name: "bitcoin: the median", rule: "one node does not set the fee", file: "chain/bitcoin/rate.go", old: "return list[(len(list)-1)/2]", new: "return list[len(list)-1]", suite: reader("TestMedianOfNodes")},
		{name: "bitcoin: the ceiling", rule: "nothing is offered above the ceiling", file: "chain/bitcoin/rate.go", old: "if !replaces {", new: "if false {", suite: reader("TestFees")},
	}
}
