package main

// custodyRules are those of the signer that hold when the daemon is not ours any more.
func custodyRules() []mutant {
	claims := suite{"./signer/cause", "^(TestAlteredClaims|TestTransfersThatProveNothing|TestDepthIsTheSigners|TestThiefGetsNothing)$"}
	leave := suite{"./signer", "^(TestNothingIsSignedWithoutAuthorization|TestCausesAreAuthorizedOnce|TestNumbersOfPaymentsComeAgain|TestMalformedClaims|TestChecksRunInOrder)$"}
	gasFalls := suite{"./signer/cause", "^(TestGasOutlivesAFallOfThePrice)$"}
	decides := suite{"./signer", "^(TestOnlyFinalBlocksFree|TestNumbersComeAgainWhenDecided|TestVoidByAFinalBlock|TestFirstUnsignedNumberIsCancelled|TestNoOtherLineHasIt|TestMarksTellPaymentsApart|TestAddressesAreOurs)$"}
	settles := suite{"./watcher", "^(TestSettlesWhatWasSigned|TestSettlesNobodyElses|TestGuardThatForgets)$"}
	bound := suite{"./records/signguard", "^(TestBindings|TestAnIndexHasOneOwner|TestImportedBindings|TestWatchedFromTheFirstTime|TestAuthorizations|TestLacksAuthorizations)$"}
	const cause, transfer, pay = "signer/cause/cause.go", "signer/cause/transfer.go", "signer/cause/pay.go"
	const guard, bindings = "records/signguard/authorization.go", "records/signguard/bindings.go"
	return []mutant{
		{name: "found: approved coin counts", rule: "what people have approved uses up what arrived", file: "signer/checks/verdicts.go", old: "Arrival: approved(v.Arrival)", new: "Arrival: nil", suite: checked("TestApprovedArrivalsCount")},
		{name: "found: proven by the root", rule: "a balance is that of the block's state root", file: "chain/ethereum/account_proof.go", old: "hash != block {", new: "hash != block && false {", suite: suite{"./chain/ethereum", "^TestFalseProofs$"}},
		{name: "found: what was spent is shown", rule: "the signer reads what swept addresses have paid before found coin is held", file: "watcher/pay/show_spent.go", old: "next, read = own.Number+1, true", new: "next, read = own.Number+1, false", suite: watch("TestSignerReadsWhatAddressesSpent")},
		{name: "custody: nothing without leave", rule: "nothing is signed without an authorization", file: guard, old: "\t\tif !found {\n\t\t\treturn nil, w.withSlot(id, ErrUnauthorized)", new: "\t\tif !found && false {\n\t\t\treturn nil, w.withSlot(id, ErrUnauthorized)", suite: leave},
		{name: "custody: one for a cause", rule: "a cause has one authorization", file: guard, old: "\tcase r.Signed:\n\t\treturn Taken", new: "\tcase r.Signed:\n\t\treturn Unknown", suite: leave},
		{name: "custody: a number is one payment's", rule: "a payment's number is not taken over while it is signed for", file: guard, old: "!own && g.binds(w) {", new: "!own && false {", suite: leave},
		{name: "custody: paid is paid", rule: "what was paid is never authorized again", file: guard, old: "case r.State == string(Spent):\n\t\treturn Spent", new: "case false:\n\t\treturn Spent", suite: decides},
		{name: "custody: no second line", rule: "a payment is signed in one line at a time", file: guard, old: "if w.Evidence && undecided[cause] {", new: "if w.Evidence && undecided[cause] && false {", suite: decides},
		{name: "custody: blocks follow their line", rule: "a line of linked blocks ends with what follows it, and nothing else is signed in it", file: "records/signguard/links.go", old: "if !slices.Contains(known, w.Slot.Prev) && (", new: "if false && (", suite: claims},
		{name: "custody: nonces have one line", rule: "a ledger that counts nonces has one line", file: "chain/ethereum/rules.go", old: "case slot.Branch != 0:", new: "case false:", suite: suite{"./chain/ethereum", "^TestWhatIsNotThePaymentIsNotSigned$"}},
		{name: "custody: a cause is named", rule: "a credit names its transfer", file: "signer/authorize.go", old: "c.Cause.Ref == \"\":", new: "c.Cause.Ref == \"\" && false:", suite: leave},
		{name: "custody: every check is asked", rule: "a claim passes all checks", file: "signer/authorize.go", old: "if verdicts[i].State != chain.Authorized {", new: "if verdicts[i].State == chain.RefusedClaim {", suite: leave},
		{name: "custody: final for us", rule: "outcomes are read from final blocks", file: "signer/outcomes.go", old: "if height > head.Final.Height {", new: "if false {", suite: decides},
		{name: "custody: freed by evidence", rule: "the daemon's word frees nothing", file: "signer/signer.go", old: "if s.ledgers == nil {\n\t\treturn s.guard.Free", new: "if true {\n\t\treturn s.guard.Free", suite: decides},
		{name: "custody: what is decided frees its number", rule: "the number of what is paid may be another payment's after a restore", file: "records/signguard/decide.go", old: "AND account = ? AND live = 1 AND cause <> '' AND cause = ?`,", new: "AND account = ? AND live = 2 AND cause <> '' AND cause = ?`,", suite: decides},
		{name: "custody: released by evidence", rule: "the daemon's word releases nothing", file: "signer/signer.go", old: "if s.ledgers != nil {\n\t\treturn nil\n\t}\n\treturn s.guard.Release", new: "return s.guard.Release", suite: decides},
		{name: "custody: cancellations end", rule: "nothing is cancelled far above the first number that nothing was signed for", file: "signer/signer.go", old: "case o.Slot.Nonce-next >= uint64(most):", new: "case o.Slot.Nonce-next >= uint64(most) && false:", suite: decides},
		{name: "custody: cancellations are few", rule: "few numbers that nothing was signed for are cancelled in an hour", file: "signer/signer.go", old: "case !limit.AllowN(s.now(), count):", new: "case !limit.AllowN(s.now(), count) && false:", suite: decides},
		{name: "custody: gas that was granted", rule: "only the payment of coin that was authorized outlives a fall of the price", file: "signer/cause/gas.go", old: "a.Payee == p.To && a.Asset == p.Asset && a.Amount == p.Amount, err", new: "a.Asset == p.Asset, err", suite: gasFalls},
		{name: "custody: what was done counts", rule: "a transaction pays what it says", file: "signer/outcomes.go", old: "case !tx.OK || !did.Pays(w.Place, w.Digest, w.PaymentID):", new: "case !tx.OK:", suite: decides},
		{name: "custody: marks tell payments apart", rule: "a payment of ours to ourselves is not another one that had its number", file: "chain/authorization.go", old: "if c.Cause.Mark != \"\" {", new: "if false {", suite: decides},
		{name: "custody: settled as it was signed", rule: "a transaction settles the payment that it was signed for", file: "watcher/recovery/signed.go", old: "if slices.ContainsFunc(s, func(one signguard.Signed) bool {\n\t\t\treturn one.Cause == key", new: "if slices.ContainsFunc(s, func(one signguard.Signed) bool {\n\t\t\treturn one.Cause != \"\" && key != \"\"", suite: settles},
		{name: "custody: settled for nobody else", rule: "what was signed for another transfer settles no payment alike", file: "watcher/recovery/signed.go", old: "case !s.exact():\n\t\treturn alike, false, nil", new: "default:\n\t\treturn alike, false, nil", suite: settles},
		{name: "custody: a sign-guard forgets nothing", rule: "a sign-guard that knows less than before stops the account", file: "watcher/pay/payer.go", old: "if now.before(was) {", new: "if false {", suite: settles},
		{name: "custody: addresses are ours", rule: "only addresses of our keys are given out", file: "signer/bind.go", old: "if b.Address != ours {", new: "if false {", suite: decides},
		{name: "custody: a label counts from then on", rule: "nothing that came before counts for a label", file: pay, old: "case t.height <= b.Since:", new: "case t.height < b.Since:", suite: claims},
		{name: "custody: a binding counts on its chain", rule: "a binding counts on the chain that it was given on", file: pay, old: "case !known || b.Network != n.Name || b.Chain != t.chain:", new: "case !known || b.Network != n.Name:", suite: claims},
		{name: "custody: an index on all chains", rule: "an index has one owner on all chains", file: bindings, old: "if err != nil || len(given) == 0 {", new: "if err != nil || !slices.Contains(given, b.Chain) {", suite: bound},
		{name: "custody: the account may still pay", rule: "a retired account signs nothing new", file: cause, old: "if payer.Retired {", new: "if false {", suite: claims},
		{name: "custody: a refund's network", rule: "a refund leaves an account of the network that was paid", file: pay, old: "case !ours: // networks share", new: "case !ours && false: // networks share", suite: claims},
		{name: "custody: a label is one user's", rule: "a binding is written once", file: bindings, old: "case found && known.User == b.User && known.Chain == b.Chain:\n\t\treturn nil", new: "case found && known.Chain == b.Chain:\n\t\treturn nil", suite: bound},
		{name: "custody: an index is one user's", rule: "an address is given once", file: bindings, old: "); err != nil || n == 1 {\n\t\treturn err\n\t}\n\treturn chain.ErrTaken", new: "); err != nil || n <= 1 {\n\t\treturn err\n\t}\n\treturn chain.ErrTaken", suite: bound},
		{name: "custody: our own depth", rule: "a transfer is as deep as the signer's policy wants", file: transfer, old: "!depth.Reached(max(t.height, t.Matures), head.Latest.Height, head.Final.Height)", new: "!depth.Reached(t.height, t.height, t.height)", suite: claims},
		{name: "custody: watched from then on", rule: "what came before the signer watched proves nothing", file: transfer, old: "case cause.Height < since:", new: "case false:", suite: claims},
		{name: "custody: failed transfers", rule: "a transfer that moved nothing proves nothing", file: transfer, old: "if t.Failed {", new: "if false {", suite: claims},
		{name: "custody: the user of a deposit", rule: "a deposit is credited to whom its address was given", file: pay, old: "case p.To != b.User:", new: "case false:", suite: claims},
		{name: "custody: a deposit's worth", rule: "a credit is at most the deposit's worth", file: pay, old: "case worth.Less(p.Amount):", new: "case false:", suite: claims},
		{name: "custody: a deposit's token", rule: "a deposit is credited in its token", file: pay, old: "case string(p.Asset) != token.TokenID || claim.Cause.Token != token.TokenID:\n\t\treturn refused(\"transfer %s is credited", new: "case false:\n\t\treturn refused(\"transfer %s is credited", suite: claims},
		{name: "custody: a payout's payee", rule: "a payout goes to whom the comment names", file: pay, old: "case p.To != named || p.Label != t.Memo.Label:", new: "case p.Label != t.Memo.Label:", suite: claims},
		{name: "custody: a payout's label", rule: "a payout has the label of the comment", file: pay, old: "case p.To != named || p.Label != t.Memo.Label:", new: "case p.To != named:", suite: claims},
		{name: "custody: a payout's bound", rule: "a payout is at most the value less the least fee", file: pay, old: "case most.Less(p.Amount):", new: "case false:", suite: claims},
		{name: "custody: a payout's asset", rule: "a payout is in the token's asset", file: pay, old: "case p.Asset != token.Asset || claim.Cause.Token", new: "case claim.Cause.Token", suite: claims},
		{name: "custody: the comment is an order", rule: "a transfer without an order is not paid out", file: pay, old: "if t.Memo.Fault != \"\" || t.Memo.Type != token.Type {", new: "if false {", suite: claims},
		{name: "custody: not to ourselves", rule: "no payout goes to an account of ours", file: pay, old: "\tcase ours:\n\t\treturn refused(\"the comment", new: "\tcase ours && false:\n\t\treturn refused(\"the comment", suite: claims},
		{name: "custody: money of our own", rule: "what is ours or the operators' is refunded to nobody", file: pay, old: "if ours || configured &&", new: "if ours && configured &&", suite: claims},
		{name: "custody: a refund's payee", rule: "a refund goes to the sender", file: pay, old: "case err != nil || p.To != sender || p.Label != \"\":", new: "case err != nil || p.To != sender && false:", suite: claims},
		{name: "custody: a refund's bound", rule: "a refund is at most the transfer", file: pay, old: "case t.Amount.Less(p.Amount):", new: "case false:", suite: claims},
		{name: "custody: a refund's asset", rule: "a refund is in the transfer's asset", file: pay, old: "case p.Asset != t.Asset:", new: "case false:", suite: claims},
		{name: "custody: the sender", rule: "the sender that lists are asked for is the transfer's", file: cause, old: "if claim.Cause.Sender != t.From {", new: "if false {", suite: claims},
		{name: "custody: sweeps stay ours", rule: "a sweep goes to an account of ours", file: cause, old: "case !ours:\n\t\treturn refused(\"%s is not an account of %s: %s", new: "case !ours && false:\n\t\treturn refused(\"%s is not an account of %s: %s", suite: claims},
		{name: "custody: sweeps end at payers", rule: "a sweep goes to a paying account", file: cause, old: "case p.Purpose == chain.Sweep && to.Kind != Hot && to.Kind != Gateway:", new: "case p.Purpose == chain.Sweep && to.Kind != Hot && false:", suite: claims},
		{name: "sweep: unjudged coin stays", rule: "no coin is swept before its sender was looked up", file: "watcher/treasury/sweep.go", old: "accounts[account] = true\n\t\t}\n\t}\n\treturn accounts, err", new: "accounts[account] = false\n\t\t}\n\t}\n\treturn accounts, err", suite: watch("TestCoinWaitsForItsVerdict")},
		{name: "sweep: unproven coin stays", rule: "no coin is swept whose deposit nothing proves", file: "watcher/treasury/sweep.go", old: "{records.HeldListed, records.HeldUnproven}", new: "{records.HeldListed}", suite: watch("TestCoinWaitsForItsVerdict")},
		{name: "custody: cold money's address", rule: "cold money goes to the cold address of the signer's own configuration", file: cause, old: "case p.To != token.Cold || p.Label != \"\":", new: "case p.Label != \"\":", suite: claims},
		{name: "custody: cold money's account", rule: "cold money leaves a hot account", file: cause, old: "case id != n.Source || from.Kind != Hot:", new: "case id != n.Source:", suite: claims},
		{name: "custody: cold money's asset", rule: "cold money is in its token's asset", file: cause, old: "case !known || p.Asset != token.Asset:", new: "case !known:", suite: claims},
		{name: "custody: gas leaves the gas account", rule: "coin for gas leaves the gas account only", file: cause, old: "case p.Purpose == chain.Gas && (from.Kind != Gas || p.Asset != chain.Native):", new: "case false:", suite: claims},
	}
}

// signatureRules are the rules of bindings, of signing, and of coin at deposit addresses.
func signatureRules() []mutant {
	binds := suite{"./signer", "^(TestAddressesAreOurs|TestBindings.*|TestLabelsHaveOneFormat|TestNumbersOutOfRange)$"}
	signs := suite{"./signer/checks", "^(TestAuthorizationsOfDays|TestListedBeforeTheSignature)$"}
	clock := suite{"./signer/limits", "^(TestAJumpOfTheClock|TestAClockThatStaysAhead|TestAClockThatWasAhead)$"}
	realClock := suite{"./signer/limits", "^(TestTheClockCountsWhatPasses|TestAJumpIsReportedForADay)$"}
	gas := suite{"./signer/cause", "^(TestGasGoesWhereTokensAre|TestGasIsCounted)$"}
	const found, coin = "signer/cause/balance.go", "records/signguard/arrivals.go"
	counts := suite{"./signer/cause", "^(TestFoundCoinIsCreditedOnce|TestFoundCoinByChance|TestOpenings)$"}
	books := suite{"./records/signguard", "^(TestCoinIsCounted|TestApprovedCoinCounts)$"}
	const earlier = "records/signguard/earlier.go"
	downgrades := suite{"./signer/cause", "^TestEarlierVersionsPaidOnce$"}
	return []mutant{
		{name: "found: no more than arrived", rule: "what only balances show is credited as far as it arrived", file: found, old: "if most.Less(total) {", new: "if false && most.Less(total) {", suite: counts},
		{name: "found: counted at the commit", rule: "the commit that authorizes keeps the limit of an address", file: coin, old: "if a.Limit.Less(total) {", new: "if false && a.Limit.Less(total) {", suite: books},
		{name: "found: what is credited counts", rule: "a credit uses up what arrived", file: coin, old: "c.Counted, err = counted.Add(gas)", new: "_, c.Counted = counted, gas", suite: books},
		{name: "found: our own coin is none", rule: "coin that we sent for fees is no deposit", file: coin, old: "c.Counted, err = counted.Add(gas)", new: "_, c.Counted = gas, counted", suite: books},
		{name: "found: what was there before is none", rule: "coin from before an address was given is nobody's", file: coin, old: "return total.Sub(c.Opening)", new: "return total, nil", suite: books},
		{name: "found: later deposits keep the limit", rule: "a deposit is not credited again after it was claimed as found", file: found, old: "if err != nil || !bounded {\n\t\treturn err", new: "if err != nil || bounded {\n\t\treturn err", suite: counts},
		{name: "found: spent by final blocks", rule: "what an address has paid counts up to the balance's block", file: coin, old: "height > ? AND height <= ?`, address", new: "height > ? AND height >= 0 * ?`, address", suite: books},
		{name: "found: to its own user", rule: "found coin is its address's user's", file: found, old: "case p.To != b.User || claim.Cause.User != b.User:", new: "case false:", suite: counts},
		{name: "downgrade: noticed", rule: "what an earlier version signed is unknown history", file: earlier, old: "<> commits OR seen_payments", new: "<> commits AND seen_payments", suite: downgrades},
		{name: "downgrade: deposits", rule: "what an earlier version credited is not credited again", file: earlier, old: "DELETE FROM watched", new: "DELETE FROM watched WHERE 1 = 0", suite: downgrades},
		{name: "downgrade: found coin", rule: "what an earlier version credited is not found again", file: earlier, old: "WHERE since <> 9", new: "WHERE since < 0 AND since <> 9", suite: downgrades},
		{name: "downgrade: later deposits", rule: "coin counted before a downgrade keeps back no later deposit", file: earlier, old: "WHERE height < 0", new: "WHERE 1 = 0", suite: downgrades},
		{name: "custody: bindings of the configuration", rule: "bindings are given on the source chain of a network", file: "signer/bind.go", old: "if id, ok := s.source(b.Network); !ok || id != b.Chain {", new: "if false {", suite: binds},
		{name: "custody: the newest block", rule: "a binding has the newest block that was ever seen", file: "signer/bind.go", old: "\tif _, err := s.head(ctx, id, l); err != nil {\n\t\treturn 0, err\n\t}\n\treturn s.highest(id), nil", new: "\thead, err := s.head(ctx, id, l)\n\treturn head.Latest.Height, err", suite: binds},
		{name: "custody: after the last binding", rule: "a binding given in an outage counts from a later block", file: "signer/bind.go", old: "if at.After(s.unsettled[id]) {", new: "if s.unsettled[id].IsZero() {", suite: binds},
		{name: "custody: a clock that was ahead", rule: "a clock that was ahead delays no binding", file: "signer/bind.go", old: "!ok || at.After(now)", new: "!ok || at.After(now) && false", suite: binds},
		{name: "custody: bindings are bounded", rule: "a stolen daemon does not fill the disk with bindings", file: "signer/bind.go", old: "wait > 0 {", new: "false {", suite: binds},
		{name: "custody: labels have one format", rule: "a label that looks like a user's is given to nobody", file: "chain/label.go", old: "case !strings.ContainsRune(LabelLetters, r):", new: "case !strings.ContainsRune(LabelLetters, r) && false:", suite: binds},
		{name: "custody: authorizations expire", rule: "what was authorized long ago is checked again", file: "signer/grants.go", old: "now.Sub(o.at).Abs() >= grantLifetime", new: "false", suite: signs},
		{name: "custody: checked at the signature", rule: "what has changed since the authorization is checked again", file: "signer/grants.go", old: "if at >= 0 && at < passed {\n\t\t\ts.grants.drop", new: "if false {\n\t\t\ts.grants.drop", suite: signs},
		{name: "custody: listed since", rule: "no other fees for a payee who is listed now", file: "signer/grants.go", old: "if at >= 0 && at < passed {\n\t\tpassed, why", new: "if false {\n\t\tpassed, why", suite: signs},
		{name: "custody: counted once", rule: "what is authorized again counts once", file: "signer/limits/limits.go", old: "l.takeOut(u.Was)\n\t\t_ = l.count(u)", new: "_ = l.count(u)", suite: signs},
		{name: "custody: a jump frees nothing", rule: "a clock that jumps ahead frees no limit", file: "signer/limits/clock.go", old: "if passed > maxStep {\n\t\tpassed = 0", new: "if false {\n\t\tpassed = 0", suite: clock},
		{name: "custody: a jump keeps nothing", rule: "a clock that was ahead keeps no limit used", file: "signer/limits/clock.go", old: "c.time = c.time.Add(passed)", new: "_ = passed", suite: clock},
		{name: "custody: a jump under a running signer", rule: "the monotonic clock tells a jump from time that passes", file: "signer/limits/clock.go", old: "return passed, maxCorrection", new: "return passed, maxStep", suite: realClock},
		{name: "custody: a jump is reported", rule: "a clock that is behind is reported", file: "signer/limits/clock.go", old: "ahead < c.accepted-maxCorrection", new: "ahead < c.accepted-maxStep", suite: realClock},
		{name: "custody: gas goes where tokens are", rule: "coin for gas goes to accounts with tokens", file: "signer/cause/gas.go", old: "case !sweepable:", new: "case !sweepable && false:", suite: gas},
		{name: "custody: gas is bounded", rule: "coin for gas is at most what a few transfers cost", file: "signer/cause/gas.go", old: "case most.Less(p.Amount):", new: "case false:", suite: gas},
		{name: "custody: gas is enough", rule: "an account that has its gas gets none", file: "signer/cause/gas.go", old: "case !has.Less(most):", new: "case false:", suite: gas},
		{name: "custody: gas is counted", rule: "an hour bounds the gas of an account", file: "signer/cause/gas.go", old: "case b.of[to] >= gasPerAddress:", new: "case false:", suite: gas},
		{name: "custody: numbers are kept", rule: "numbers out of range are refused", file: "signer/ranges.go", old: "if n > maxNumber {", new: "if false {", suite: binds},
	}
}
