package main

// policyRules are bounds of claims, prices and fees that the tests of their own packages must
// catch.
func policyRules() []mutant {
	claims := suite{"./signer/cause", "^(TestGasIsPaidInCoinOnly|TestColdMoneyLeavesTheSourceOnly|TestCommentsHaveTheTokensType|TestPayoutsAreAtMostTheMaximum|TestRefundsHaveNoLabel|TestTheDeeperTokenOfAnAssetCounts|TestTransfersOfNoTokenWaitForTheFinalBlock|TestAccountsBelongToTheirNetwork)$"}
	users := suite{"./signer/checks", "^TestUserAndPayeeAreCounted$"}
	prices := suite{"./signer/limits", "^(TestPricesOfTheFuture|TestPriceOfZero)$"}
	fees := suite{"./policy", "^(TestFeeOf|TestFeeRulesAreChecked|TestCeilingOfAPayout)$"}
	const cause, transfer, pay = "signer/cause/cause.go", "signer/cause/transfer.go", "signer/cause/pay.go"
	const set, file, fee = "signer/checks/checks.go", "signer/limits/prices.go", "policy/withdrawal_fee.go"
	return []mutant{
		{name: "claims: gas in coin", rule: "gas is paid in coin", file: cause, old: "(from.Kind != Gas || p.Asset != chain.Native)", new: "(from.Kind != Gas)", suite: claims},
		{name: "claims: cold on the source", rule: "cold money leaves the source chain only", file: cause, old: "case id != n.Source || from.Kind != Hot:", new: "case from.Kind != Hot:", suite: claims},
		{name: "claims: type of a comment", rule: "a comment has the token's type", file: pay, old: "t.Memo.Fault != \"\" || t.Memo.Type != token.Type", new: "t.Memo.Fault != \"\"", suite: claims},
		{name: "claims: the maximum", rule: "a payout is at most max_withdraw", file: pay, old: "!most.IsZero() && most.Less(net)", new: "false && most.Less(net)", suite: claims},
		{name: "claims: label of a refund", rule: "a refund has no label", file: pay, old: "case err != nil || p.To != sender || p.Label != \"\":", new: "case err != nil || p.To != sender:", suite: claims},
		{name: "claims: the deeper token", rule: "of two tokens of an asset the deeper counts", file: transfer, old: "max(deepest.Count, d.Count)", new: "d.Count", suite: claims},
		{name: "claims: no token", rule: "a transfer of no token waits for the final block", file: transfer, old: "return policy.Depth{Tag: true}", new: "return policy.Depth{}", suite: claims},
		{name: "claims: label of another network", rule: "a label counts at an account of its network", file: pay, old: "!a.Shared || a.Network != n.Name ||", new: "!a.Shared ||", suite: claims},
		{name: "claims: payout of another network", rule: "a withdrawal comes to the gateway's account of its network", file: pay, old: "a.Kind != Gateway || a.Network != n.Name", new: "a.Kind != Gateway", suite: claims},
		{name: "limits: payees count", rule: "the limit of a user counts the payee", file: set, old: "func usersOf(user, payee string) []string {", new: "func usersOf(user, payee string) []string {\n\tpayee = \"\"", suite: users},
		{name: "limits: users count", rule: "the limit of a user counts the user", file: set, old: "func usersOf(user, payee string) []string {", new: "func usersOf(user, payee string) []string {\n\tuser = \"\"", suite: users},
		{name: "limits: past payees", rule: "a restart keeps what was paid to a payee", file: set, old: "Users: usersOf(a.User, a.Payee)", new: "Users: usersOf(a.User, \"\")", suite: users},
		{name: "limits: future prices", rule: "a price far in the future does not count", file: file, old: " || one.at.Sub(now) > age", new: "", suite: prices},
		{name: "limits: price of zero", rule: "a price is above zero", file: file, old: "if one.worth.Sign() == 0 {", new: "if false {", suite: prices},
		{name: "fees: the maximum", rule: "a fee is at most max", file: fee, old: "if !f.Max.IsZero() && f.Max.Less(fee) {", new: "if false {", suite: fees},
		{name: "fees: max above min", rule: "max is at least min", file: fee, old: "if !f.Max.IsZero() && f.Max.Less(f.Min) {", new: "if false {", suite: fees},
		{name: "fees: ppm", rule: "ppm is at most 100 %", file: fee, old: "if f.PPM > 1_000_000 {", new: "if f.PPM > 2_000_000 {", suite: fees},
		{name: "fees: least ceiling", rule: "a ceiling is at least 1", file: fee, old: "decimal.Max(coins.Floor(), decimal.NewFromInt(1))", new: "coins.Floor()", suite: fees},
		{name: "fees: rate of zero", rule: "a rate of zero is no rate", file: fee, old: "case !f.rateOf(t).IsPositive():", new: "case f.rateOf(t).IsNegative():", suite: fees},
		{name: "claims: approvals", rule: "a claim has at most 16 approvals", file: "signer/authorize.go", old: "if len(c.Approvals) > maxApprovals {", new: "if false {", suite: suite{"./signer", "^TestApprovalsOfAClaimAreBounded$"}},
	}
}
