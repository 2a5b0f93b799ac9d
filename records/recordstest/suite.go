package recordstest

import "testing"

// Run runs the suite. url makes an empty database that ends with the test and answers its URL.
func Run(t *testing.T, url func(t *testing.T) string) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, url string)
	}{
		{"open again", testOpenAgain},
		{"newer database", testNewer},
		{"update", testUpdate},
		{"cursor", testCursor},
		{"step back", testStepBack},
		{"final point", testFinalPoint},
		{"halt", testHalt},
		{"prune", testPrune},
		{"accounts", testAccounts},
		{"bindings", testBindings},
		{"parallel bindings", testParallelBindings},
		{"watch", testWatch},
		{"transfers", testTransfers},
		{"due transfers", testDue},
		{"order of service", testService},
		{"replayed block", testReplayedBlock},
		{"changed by a re-organisation", testChangedFacts},
		{"unstorable text", testUnstorableText},
		{"payments", testPayments},
		{"payment causes", testPaymentCauses},
		{"bind", testBind},
		{"bind gates", testBindGates},
		{"attempts", testAttempts},
		{"settle", testSettle},
		{"settle void", testSettleVoid},
		{"branch", testBranch},
		{"older line wins", testOlderLineWins},
		{"effects", testEffects},
		{"channels", testChannels},
		{"quotes", testQuotes},
		{"history", testHistory},
		{"lease", testLease},
		{"zombie", testZombie},
		{"pages", testPages},
		{"pages at every state", testPageStates},
		{"lines that are kept", testKeptLines},
		{"operators' lists", testLists},
		{"totals", testTotals},
		{"work", testWork},
		{"foreign effect", testForeignEffect},
		{"pages of full blocks", testFullBlocks},
		{"recovery of nonces", testRecoverNonces},
		{"recovery with open slots", testRecoverOpenSlots},
		{"recovery of lines", testRecoverLines},
		{"recovery of a known line", testRecoverKnownLine},
		{"cancellations", testCancels},
		{"seen too early", testSeenTooEarly},
		{"taken index", testTakenIndex},
		{"sweeps", testSweeps},
		{"pools", testPools},
		{"breaches", testBreaches},
		{"holdings", testHoldings},
		{"holdings of older rows", testHoldingsOfOlderRows},
		{"findings", testFindings},
		{"first looks", testFirstLooks},
		{"conditions", testConditions},
		{"what waits", testWaiting},
		{"two processes", testTwoProcesses},
		{"constraints", testConstraints},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, url(t)) })
	}
}
