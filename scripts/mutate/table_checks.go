package main

func limits(tests string) suite  { return suite{"./signer/limits", "^(" + tests + ")$"} }
func checked(tests string) suite { return suite{"./signer/checks", "^(" + tests + ")$"} }
func approve(tests string) suite { return suite{"./signer/approval", "^(" + tests + ")$"} }
func listed(tests string) suite  { return suite{"./signer/checks", "^(" + tests + ")$"} }

// checkRules are the reasons to hold payments before they are bound: limits, approvals of people,
// lists of addresses.
func checkRules() []mutant {
	return []mutant{
		{name: "limits: a transfer", rule: "no transfer is above its limit", file: "signer/limits/limits.go", old: "!most.IsZero() && most.Less(u.Amount) {", new: "!most.IsZero() && most.Less(u.Amount) && false {", suite: limits("TestTransfersAreLimited")},
		{name: "limits: windows", rule: "nothing passes that is over a window", file: "signer/limits/limits.go", old: "if bound.w.over(bound.most, u.Amount) {", new: "if bound.w.over(bound.most, u.Amount) && false {", suite: limits("TestWindowsRoll|TestUsersAreLimited")},
		{name: "limits: the clock", rule: "a clock that is set back frees nothing", file: "signer/limits/clock.go", old: "if c.time.Before(at) {", new: "if false {", suite: limits("TestTheClockFreesNothing")},
		{name: "limits: the whole gateway", rule: "all payments of a day are worth no more than the gateway's limit", file: "signer/limits/limits.go", old: "if sum.Cmp(l.budget) <= 0 {", new: "if sum.Cmp(l.budget) <= 0 || true {", suite: limits("TestTheWholeGatewayIsLimited")},
		{name: "limits: what is held is not counted", rule: "a check alone uses up nothing", file: "signer/limits/limits.go", old: "undo = append(undo, back, func() { l.uncount(u) })", new: "undo = append(undo, back)", suite: limits("TestGroupsCountThemselves")},
		{name: "limits: fees", rule: "fees of a day stay in their budget", file: "signer/limits/fees.go", old: "if w.over(most, fee) {", new: "if w.over(most, fee) && false {", suite: limits("TestFeesAreLimited")},
		{name: "limits: a start counts the past", rule: "limits outlive the process", file: "signer/checks/checks.go", old: "\tl.Load(uses)", new: "\tl.Load(uses[:0])", suite: checked("TestLimitsOutliveTheProcess")},
		{name: "limits: fees outlive the process", rule: "budgets of fees outlive the process", file: "signer/checks/checks.go", old: "f.Load(p.Chain, p.At, p.Most)", new: "f.Load(p.Chain, p.At, chain.Amount{})", suite: checked("TestFeesAreBounded")},
		{name: "limits: what is authorized is counted", rule: "what was authorized uses up its limits", file: "signer/authorize.go", old: "if len(list) > 0 {\n\t\ts.authorized(id, list)", new: "if len(list) > 0 && false {\n\t\ts.authorized(id, list)", suite: checked("TestLimitsOutliveTheProcess")},
		{name: "approvals: each once", rule: "an approver counts once", file: "signer/approval/rule.go", old: "if len(signed) >= r.needed {", new: "if len(c.Approvals)-len(faults) >= r.needed || len(c.Approvals) >= r.needed && len(signed) > 0 {", suite: approve("TestOneOrTwoApprove")},
		{name: "approvals: approvers only", rule: "a stranger's signature does not count", file: "signer/approval/rule.go", old: "if !ok {\n\t\treturn \"\", fmt.Errorf(\"%w: its key", new: "if !ok {\n\t\treturn s.Key, nil\n\t}\n\tif !ok {\n\t\treturn \"\", fmt.Errorf(\"%w: its key", suite: approve("TestOneOrTwoApprove")},
		{name: "approvals: this payment", rule: "a signature counts for one payment", file: "signer/approval/order.go", old: "case !ed25519.Verify(ed25519.PublicKey(k), text, signature):", new: "case !ed25519.Verify(ed25519.PublicKey(k), text, signature) && false:", suite: approve("TestApprovalsAreForOnePayment")},
		{name: "approvals: a passkey's payment", rule: "a passkey's signature counts for one payment, by its own key", file: "signer/approval/passkey.go", old: "\tif err != nil {\n\t\treturn fmt.Errorf(\"%w: %w\", ErrRefused, err)", new: "\tif err != nil && false {\n\t\treturn fmt.Errorf(\"%w: %w\", ErrRefused, err)", suite: approve("TestPasskeysApproveOnePayment")},
		{name: "approvals: a passkey's page", rule: "a passkey's signature on another page does not count", file: "signer/approval/webauthn.go", old: "[]string{s.Origin}, nil, nil, protocol.TopOriginExplicitVerificationMode,\n\t\tfalse, true, true, k.cose", new: "[]string{p.Response.CollectedClientData.Origin}, nil, nil, protocol.TopOriginExplicitVerificationMode,\n\t\tfalse, true, true, k.cose", suite: approve("TestPasskeysApproveOnePayment")},
		{name: "approvals: a passkey's owner", rule: "a passkey's signature without its owner's finger, face or PIN does not count", file: "signer/approval/webauthn.go", old: "false, true, true, k.cose", new: "false, false, true, k.cose", suite: approve("TestPasskeysApproveOnePayment")},
		{name: "approvals: they end", rule: "an approval that has ended does not count", file: "signer/approval/order.go", old: "case !now.Before(expires):", new: "case false:", suite: approve("TestApprovalsAreForOnePayment")},
		{name: "approvals: above the sum", rule: "what is above approve_above wants approvals", file: "signer/approval/rule.go", old: "if !t.above.IsZero() && t.above.Less(p.Amount) {", new: "if !t.above.IsZero() && t.above.Less(p.Amount) && false {", suite: approve("TestWhichPaymentsWantApproval")},
		{name: "approvals: first payouts", rule: "a first payout to a payee wants approvals", file: "signer/approval/rule.go", old: "if err != nil || before {", new: "if err != nil || before || true {", suite: approve("TestWhichPaymentsWantApproval")},
		{name: "approvals: unproven only", rule: "approvals overrule what nobody proves, and nothing else", file: "signer/checks/verdicts.go", old: "if v.State != chain.HeldClaim || v.Reason != chain.ReasonUnproven {", new: "if v.State != chain.HeldClaim {", suite: checked("TestApprovalsOverruleWhatNobodyProves")},
		{name: "held by an operator", rule: "what an operator holds waits for an operator", file: "transfers/orders.go", old: "return tx.Payments().NoteHeld(p.ID, records.ReasonOperator)", new: "return nil", suite: watch("TestOperatorsHold")},
		{name: "lists: the sender", rule: "listed senders' money is held", file: "signer/checks/checks.go", old: "Address: c.Cause.Sender,", new: "Address: \"\",", suite: checked("TestListedAreHeld")},
		{name: "lists: a broken file", rule: "a list that is broken keeps what was read before", file: "signer/checks/files.go", old: "\taddrs, err := read(l.File)\n\tif err != nil {", new: "\taddrs, err := read(l.File)\n\tif err != nil && l.addrs == nil {", suite: listed("TestListsAreReadAgain")},
		{name: "lists: never read", rule: "a list that was never read passes nobody", file: "signer/checks/files.go", old: "return false, l.fault", new: "return false, nil", suite: listed("TestAListThatWasNeverReadStopsAll")},
		{name: "lists: coin stays", rule: "coin of listed senders is not swept", file: "watcher/treasury/sweep.go", old: "if listed[s.Account.Account] {", new: "if listed[s.Account.Account] && false {", suite: watch("TestListedCoinIsNotSwept")},
		{name: "lists: silence holds", rule: "a screening service that does not answer passes nobody", file: "signer/checks/hook.go", old: "if s.fault = err; err != nil {\n\t\treturn \"\", err", new: "if s.fault = err; err != nil {\n\t\treturn \"\", nil", suite: listed("TestServicesThatHangPassNobody")},
	}
}
