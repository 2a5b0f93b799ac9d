package main

// sourceRules are the checks of the source chain's adapter.
func sourceRules() []mutant {
	eth := func(tests string) suite { return suite{"./chain/ethereum", "^(" + tests + ")$"} }
	const signs = "TestPayments|TestSignSaysWhy|TestReplacementRefusesAnotherMessage|TestReplacementKeepsTheMessage|TestCancelTakesTheSlot|TestNativeSweepShrinks|TestSweepsGoToUsOnly"
	const heads = "TestFinalityByTagAndByCount|TestFinalNeverGoesBack|TestChainShorterThanItsFinalBlock|TestHeadsThatAreNoHeads|TestNoFinalBlockYetMeansTheFirst|TestNodesAtDifferentHeights"
	const deposits = "TestNativeDeposit|TestTokenDeposit|TestNothingForUs|TestBatchIsCreditedOneByOne|TestFailedTransactionsMoveNothing|TestForeignEventsNeverCountAsAToken|TestOurOwnMovesAreNoTransfers|TestFloodsOfForeignTokensAreBounded"
	return []mutant{
		{name: "ethereum: the attempt's slot", rule: "a replacement is of the same nonce and chain", file: "chain/ethereum/sign.go", old: "if tx.Nonce() != slot.Number || tx.ChainId().Uint64() != c.config.ChainID {\n\t\treturn fmt.Errorf(\"it has", new: "if false {\n\t\treturn fmt.Errorf(\"it has", suite: eth(signs)},
		{name: "ethereum: the attempt's signer", rule: "a replacement is of the same account", file: "chain/ethereum/sign.go", old: "err != nil || sender != msg.from {", new: "err != nil || sender != msg.from && false {", suite: eth(signs)},
		{name: "ethereum: the attempt's receiver", rule: "a replacement pays the same receiver", file: "chain/ethereum/sign.go", old: "tx.To() == nil || *tx.To() != msg.to || !bytes.Equal(tx.Data(), msg.data)", new: "tx.To() == nil || !bytes.Equal(tx.Data(), msg.data)", suite: eth(signs)},
		{name: "ethereum: the attempt's data", rule: "a replacement carries the same data", file: "chain/ethereum/sign.go", old: "tx.To() == nil || *tx.To() != msg.to || !bytes.Equal(tx.Data(), msg.data)", new: "tx.To() == nil || *tx.To() != msg.to || !bytes.Equal(tx.Data(), tx.Data())", suite: eth(signs)},
		{name: "ethereum: the attempt's amount", rule: "a replacement pays the same amount", file: "chain/ethereum/sign.go", old: "if !swept && tx.Value().Cmp(msg.value.ToBig()) != 0 {", new: "if !swept && false {", suite: eth(signs)},
		{name: "ethereum: the attempt's hash", rule: "stored bytes have their stored hash", file: "chain/ethereum/sign.go", old: "if tx.Hash().Hex() != a.Hash {", new: "if false {", suite: eth(signs + "|TestBroadcastRefusesBytesOfAnotherHash")},
		{name: "ethereum: the right key", rule: "a signature is the account's", file: "chain/ethereum/sign.go", old: "err != nil || signer != from {", new: "err != nil || signer != from && false {", suite: eth(signs)},
		{name: "ethereum: zero is not paid", rule: "zero is not paid", file: "chain/ethereum/sign.go", old: "if pay.Amount.IsZero() {", new: "if false {", suite: eth(signs)},
		{name: "ethereum: configured tokens only", rule: "no other contract is called", file: "chain/ethereum/sign.go", old: "if !c.tokens[token] {", new: "if false {", suite: eth(signs)},
		{name: "ethereum: the nonce is the slot's", rule: "the nonce is the slot's", file: "chain/ethereum/sign.go", old: "c.unsigned(slot.Number, msg, gas, offer)", new: "c.unsigned(slot.Number+1, msg, gas, offer)", suite: eth(signs)},
		{name: "ethereum: sweeps go to us", rule: "a sweep goes to an account of ours", file: "chain/ethereum/fee.go", old: "if !ours[to] {", new: "if !ours[to] && false {", suite: eth("TestSweepsGoToUsOnly")},
		{name: "ethereum: a sweep's fee", rule: "a sweep's fee leaves at least half", file: "chain/ethereum/fee.go", old: "return lower(most, perGas(left, gas)), nil", new: "return higher(most, perGas(left, gas)), nil", suite: eth("TestNativeSweepShrinks|TestNativeSweepEmptiesItsAddress|TestLegacySweeps")},
		{name: "ethereum: the first fee's ceiling", rule: "a first attempt stays under the ceiling", file: "chain/ethereum/fee.go", old: "if !offer.cap.Gt(ceiling) {", new: "if true {", suite: eth("TestFirstPrice|TestFeesStayUnderTheCeiling|TestTheCeilingIsNeverPassed|TestPricesKeepTheirPromises")},
		{name: "ethereum: the replacement's ceiling", rule: "a replacement stays under the ceiling", file: "chain/ethereum/fee.go", old: "if needed.cap.Gt(ceiling) {", new: "if false {", suite: eth("TestFirstPrice|TestFeesStayUnderTheCeiling|TestTheCeilingIsNeverPassed|TestPricesKeepTheirPromises|TestLegacyCeiling")},
		{name: "ethereum: replacements pay more", rule: "a replacement offers an eighth more", file: "chain/ethereum/fee.go", old: "step.Rsh(step, 3)", new: "step.Rsh(step, 5)", suite: eth("TestRaised|TestPricesKeepTheirPromises")},
		{name: "ethereum: the payment's ceiling", rule: "a payment's own ceiling counts", file: "chain/ethereum/fee.go", old: "if !msg.asked.MaxFee.IsZero() {", new: "if false {", suite: eth("TestFeesStayUnderTheCeiling|TestTheCeilingIsNeverPassed|TestLegacyCeiling")},
		{name: "ethereum: a majority has the block", rule: "a block counts when a majority has it", file: "chain/ethereum/quorum.go", old: "len(having[*a.value.Hash]) >= c.majority()", new: "len(having[*a.value.Hash]) >= 1", suite: eth("TestALyingNodeIsNeverBelieved|TestANodeWithTwoFaces|TestNodesAtDifferentHeights|TestAnotherChainWithTheSameNumberIsOutvoted")},
		{name: "ethereum: more than half", rule: "a majority is more than half", file: "chain/ethereum/quorum.go", old: "return len(c.nodes)/2 + 1", new: "return (len(c.nodes) + 1) / 2", suite: eth("TestALyingNodeIsNeverBelieved|TestNodesAtDifferentHeights|TestCountingNodes|TestBallot|TestTipOfDisagreeingNodes")},
		{name: "ethereum: the height asked for", rule: "a node answers the height that it was asked for", file: "chain/ethereum/quorum.go", old: "if uint64(*ref.Number) != height {", new: "if false {", suite: eth("TestALyingNodeIsNeverBelieved|TestANodeWithTwoFaces|TestHeadsThatAreNoHeads")},
		{name: "ethereum: final never goes back", rule: "the final height never goes back", file: "chain/ethereum/head.go", old: "if point.Height >= c.final.Height {", new: "if true {", suite: eth(heads)},
		{name: "ethereum: final by a majority", rule: "the final height is a majority's", file: "chain/ethereum/head.go", old: "nthHighest(views, c.majority(), view.finalHeight)", new: "nthHighest(views, 1, view.finalHeight)", suite: eth(heads + "|TestALyingNodeIsNeverBelieved")},
		{name: "ethereum: confirmations", rule: "confirmations are counted", file: "chain/ethereum/head.go", old: "height = latest + 1 - c.confirmations", new: "height = latest", suite: eth(heads)},
		{name: "ethereum: the chain's id", rule: "a node of another chain is no node", file: "chain/ethereum/head.go", old: "if err := n.checkChain(uint64(id)); err != nil {", new: "if err := n.checkChain(uint64(id)); false {", suite: eth("TestWrongChainIsItsOwnError|TestAnotherChainWithTheSameNumberIsOutvoted|TestHeadsThatAreNoHeads")},
		{name: "ethereum: final is not above latest", rule: "no block above the newest is final", file: "chain/ethereum/head.go", old: "if *final.Number > *latest.Number {", new: "if false {", suite: eth(heads)},
		{name: "ethereum: the middle balance", rule: "one node alone does not raise a balance", file: "chain/ethereum/account.go", old: "return numbers[(len(numbers)-1)/2]", new: "return numbers[len(numbers)-1]", suite: eth("TestBalanceIsTheMiddleOne|TestMedian")},
		{name: "ethereum: settled by a majority", rule: "an account is settled when a majority says so", file: "chain/ethereum/account.go", old: "Settled: n.latest == n.pending && n.latest == n.final}", new: "Settled: true}", suite: eth("TestTip|TestTipOfDisagreeingNodes")},
		{name: "ethereum: other bytes are not sent", rule: "a node that answers another hash has taken other bytes", file: "chain/ethereum/broadcast.go", old: "if err == nil && got != want {", new: "if false {", suite: eth("TestBroadcastOfANodeThatTookOtherBytes")},
		{name: "ethereum: the sender is proven", rule: "the sender of what is reported is proven", file: "chain/ethereum/match.go", old: "if err := s.chain.checkSender(t); err != nil {", new: "if err := error(nil); err != nil {", suite: eth("TestALyingNodeIsNeverBelieved|TestSenderOfATypedTransactionIsRecovered|TestLiarTellsTheTruthByDefault")},
		{name: "ethereum: failed ones move nothing", rule: "a failed transaction moves nothing", file: "chain/ethereum/match.go", old: "\tif t.ok {\n\t\ts.value(t)", new: "\tif true {\n\t\ts.value(t)", suite: eth(deposits)},
		{name: "ethereum: only from others", rule: "what we send ourselves is no transfer", file: "chain/ethereum/match.go", old: "return s.ours[m.to] && !s.ours[m.from] && !m.amount.IsZero()", new: "return s.ours[m.to] && !m.amount.IsZero()", suite: eth(deposits)},
		{name: "ethereum: native logs of the protocol", rule: "logs of coin count where the protocol writes them", file: "chain/ethereum/match.go", old: "if s.block.nativeLogs && n != own {", new: "if n != own {", suite: eth("TestNativeLogsOfAForeignForkAreIgnored|TestInternalTransfers")},
		{name: "ethereum: foreign tokens are bounded", rule: "foreign tokens are reported a hundred times a block", file: "chain/ethereum/match.go", old: "case s.foreign < maxForeign:", new: "default:", suite: eth("TestFloodsOfForeignTokensAreBounded")},
		{name: "ethereum: a token's own event", rule: "a token payment is paid by exactly its event", file: "chain/ethereum/match.go", old: "ok && l.Address == *t.to && m == want {", new: "ok && m == want {", suite: eth("TestATokenPaymentIsKeptByItsOwnEventOnly|TestTokenWithoutItsEventIsNotPaid")},
		{name: "ethereum: a token's amount", rule: "a token payment that moved something else is not paid", file: "chain/ethereum/match.go", old: "ok && l.Address == *t.to && m == want {", new: "ok && l.Address == *t.to && m.to == want.to {", suite: eth("TestATokenPaymentIsKeptByItsOwnEventOnly|TestTokenWithoutItsEventIsNotPaid|TestFeeTokenIsCreditedByWhatArrived")},
	}
}

// exchangeRules are the checks of the exchange chain's adapter.
func exchangeRules() []mutant {
	vite := func(tests string) suite { return suite{"./chain/vite", "^(" + tests + ")$"} }
	const lies = "TestLyingChunks|TestFirstSightIsProven|TestLiarPassesOn|TestCutAnswers"
	const signs = "TestSignRefuses|TestNoReplacement|TestPaymentCarriesItsData|TestSignerThatFails|TestPaymentData|TestPaymentDataRefused"
	return []mutant{
		{name: "vite: one block at a height", rule: "a height is signed once", file: "chain/vite/sign.go", old: "if len(prev) > 0 {", new: "if false {", suite: vite(signs)},
		{name: "vite: nothing to itself", rule: "an account does not pay itself", file: "chain/vite/sign.go", old: "case b.ToAddress == b.Address:", new: "case false:", suite: vite(signs)},
		{name: "vite: zero is not paid", rule: "zero is not paid", file: "chain/vite/sign.go", old: "case pay.Amount.IsZero():", new: "case false:", suite: vite(signs)},
		{name: "vite: the previous block", rule: "a block follows the one before", file: "chain/vite/sign.go", old: "if (slot.Number == 1) != block.PreviousHash.IsZero() {", new: "if false {", suite: vite(signs)},
		{name: "vite: the right key", rule: "a signature is the account's", file: "chain/vite/sign.go", old: "if err := b.Verify(); err != nil {", new: "if err := b.Verify(); false {", suite: vite(signs)},
		{name: "vite: a send is received", rule: "the zero hash is no send", file: "chain/vite/sign.go", old: "if b.SendBlockHash.IsZero() {", new: "if false {", suite: vite(signs)},
		{name: "vite: the payment's number", rule: "a payment carries its number", file: "chain/vite/data.go", old: "return binary.BigEndian.AppendUint64(data, d.ID), nil", new: "return binary.BigEndian.AppendUint64(data, 1), nil", suite: vite(signs)},
		{name: "vite: confirmations", rule: "confirmations are counted", file: "chain/vite/head.go", old: "return max(latest-c.cfg.Confirmations+1, c.final)", new: "return max(latest, c.final)", suite: vite("TestHead|TestFinalNeverGoesBack|TestHeadOfSeveralNodes")},
		{name: "vite: final never goes back", rule: "the final height never goes back", file: "chain/vite/head.go", old: "c.final = max(c.final, final)", new: "_ = final", suite: vite("TestHead|TestFinalNeverGoesBack|TestChangedFinalHashIsReported")},
		{name: "vite: a majority's top", rule: "the head is a majority's", file: "chain/vite/head.go", old: "return tops[c.quorum()-1], nil", new: "return tops[0], nil", suite: vite("TestHeadOfSeveralNodes|TestNodesThatLag")},
		{name: "vite: snapshot blocks follow", rule: "a snapshot block follows the one before", file: "chain/vite/line_check.go", old: "if b.Height > r.first && b.PreviousHash != r.last.hash {", new: "if false {", suite: vite(lies + "|TestReorgIsReadAnew")},
		{name: "vite: no height is left out", rule: "no snapshot block is left out", file: "chain/vite/line_check.go", old: "if want := r.last.height + 1; b.Height != want {", new: "if want := r.last.height + 1; b.Height < want {", suite: vite(lies)},
		{name: "vite: hashes fit contents", rule: "a snapshot block's hash covers its content", file: "chain/vite/line_check.go", old: "if err == nil && !fits {", new: "if err == nil && !fits && false {", suite: vite(lies)},
		{name: "vite: account blocks follow", rule: "an account's blocks follow each other in a snapshot block", file: "chain/vite/line_check.go", old: "case seen && end != before:", new: "case false:", suite: vite(lies)},
		{name: "vite: account lines follow", rule: "an account's blocks follow from one snapshot block to the next", file: "chain/vite/line_check.go", old: "case known && head != before:", new: "case false:", suite: vite(lies)},
		{name: "vite: as many accounts", rule: "no account is left out or added", file: "chain/vite/line_check.go", old: "if len(ends) != len(c.Snapshot.Content) {", new: "if false {", suite: vite(lies)},
		{name: "vite: the last of each", rule: "the content names the last block of each account", file: "chain/vite/line_check.go", old: "if ends[a] != (core.HashHeight{Hash: named.Hash, Height: named.Height}) {", new: "if false {", suite: vite(lies)},
		{name: "vite: block hashes", rule: "a block's hash covers its fields", file: "chain/vite/line_check.go", old: "if whole.ComputeHash() != b.Hash {", new: "if false {", suite: vite(lies)},
		{name: "vite: sends in a receive", rule: "a contract's sends are covered by its receive", file: "chain/vite/line_check.go", old: "send.ComputeTriggeredHash(whole, uint8(i)) != t.Hash {", new: "false {", suite: vite(lies)},
		{name: "vite: producers sign", rule: "a producer signs each snapshot block", file: "chain/vite/line_check.go", old: "if core.VerifyAll(signed) {", new: "if true {", suite: vite(lies)},
		{name: "vite: first sights are proven", rule: "where an account was before is proven", file: "chain/vite/line_check.go", old: "if s.head != (core.HashHeight{Hash: named.Hash, Height: named.Height}) {", new: "if named.Height > 1<<62 {", suite: vite(lies)},
		{name: "vite: sends are to us", rule: "a send goes to the account", file: "chain/vite/verify.go", old: "case b.ToAddress != to:", new: "case false:", suite: vite("TestLyingListNode|TestLiarPassesOn|TestEveryMemberCounts")},
		{name: "vite: sends are signed", rule: "a send is signed by its sender", file: "chain/vite/verify.go", old: "\tif err := signedPart(b).Verify(); err != nil {\n\t\treturn fmt.Errorf(\"send", new: "\tif err := signedPart(b).Verify(); false {\n\t\treturn fmt.Errorf(\"send", suite: vite("TestLyingListNode|TestLiarPassesOn|TestEveryMemberCounts")},
	}
}
