package main

// edgeRules are those of nodes that disagree, of the lease, of signed requests to the exchange, of
// secret files and of what strangers may take.
func edgeRules() []mutant {
	quorum := suite{"./chain/quorum", "^(TestTheSlowDecideWhenTheOthersDiffer|TestASilentNodeCostsOneWait|TestALeftOutNodeIsHeardWhenItIsNeeded|TestFaultsAreCountedAndLoggedOncePerChange|TestALeftOutNodeIsTriedAgain|TestABlockBesideTheOthersCountsOnce)$"}
	exchange := func(tests string) suite { return suite{"./exchangeapi", "^(" + tests + ")$"} }
	guard := suite{"./exchangeapi/apikey", "^TestOnce.*$"}
	bindings := suite{"./gateway", "^(TestNewcomersAreCounted|TestNewcomersOfASiteAreCounted|TestNewcomersOfADayAreCounted)$"}
	const once = "TestRepeatsAreRefused|TestRecutParametersAreRepeats|TestTestedThenPlaced"
	return []mutant{
		{name: "quorum: as many as are needed", rule: "nothing is agreed before a majority says the same", file: "chain/quorum/ask.go", old: "if votes[k]++; votes[k] >= need {", new: "if votes[k]++; votes[k] >= min(need, 1) {", suite: quorum},
		{name: "quorum: faults have no vote", rule: "an error is no answer", file: "chain/quorum/ask.go", old: "\t\tif a.Err != nil {\n\t\t\tcontinue", new: "\t\tif a.Err != nil && false {\n\t\t\tcontinue", suite: quorum},
		{name: "quorum: the slow are waited for", rule: "without a majority everybody is waited for", file: "chain/quorum/ask.go", old: "\t\t\tif decided {\n", new: "\t\t\tif decided || len(others) == 0 {\n", suite: quorum},
		{name: "quorum: all are heard when needed", rule: "a node that was left out is heard when the others do not suffice", file: "chain/quorum/ask.go", old: "for len(p.calls) > 0 || !decided && len(others) > 0 {", new: "for len(p.calls) > 0 {", suite: quorum},
		{name: "quorum: three wrong answers", rule: "three wrong answers leave a node out", file: "chain/quorum/node.go", old: "if n.strikes++; n.strikes < leaveOutAfter || n.only", new: "if n.strikes++; n.strikes > 0 || n.only", suite: quorum},
		{name: "quorum: not after one", rule: "one wrong answer leaves no node out", file: "chain/quorum/node.go", old: "if n.strikes++; n.strikes < leaveOutAfter || n.only", new: "if n.strikes++; n.only", suite: quorum},
		{name: "quorum: who is left out is not asked", rule: "a node that is left out is not asked first", file: "chain/quorum/node.go", old: "n.late == nil && !now.Before(n.leaveTill) && !now.Before(n.restTill)", new: "n.late == nil && !now.Before(n.restTill)", suite: quorum},
		{name: "quorum: a block beside counts once", rule: "an honest node's own block is no series of lies", file: "chain/quorum/node.go", old: "if n.side != block {", new: "if n.side != \"\"+block+\"-\" {", suite: quorum},
		{name: "quorum: forgiven after a while", rule: "what was wrong long ago is forgotten", file: "chain/quorum/node.go", old: "n.strikes, n.leave = 0, 0", new: "n.strikes, n.leave = n.strikes, 0", suite: quorum},
		{name: "lease: one holder of a file", rule: "two processes on one SQLite file do not both lead", file: "records/sqlstore/lease.go", old: "if err == nil && !locked {", new: "if err == nil && !locked && false {", suite: suite{"./records", "^TestHold"}},
		{name: "tenure: a lost lease ends it", rule: "a daemon that has lost its lease works no longer", file: "daemon/tenure.go", old: "return fmt.Errorf(\"keeping the lease: %w\", err)", new: "t.fault = fmt.Errorf(\"keeping the lease: %w\", err)", suite: suite{"./daemon", "^TestTenureEndsWithItsLease$"}},
		{name: "tenure: what writes is fenced", rule: "all that a daemon writes is fenced by its lease", file: "daemon/daemon.go", old: "store: d.store.Fenced(t.lease)}", new: "store: d.store}", suite: suite{"./cmd/gatewayd", "^TestDaemonWritesUnderItsLease$"}},
		{name: "exchange: the signature", rule: "a private request is signed", file: "exchangeapi/auth.go", old: "if !ok {\n\t\treturn apikey.Key{}, u, reject(codeParameter, textSignature)", new: "if !ok && secret == \"\" {\n\t\treturn apikey.Key{}, u, reject(codeParameter, textSignature)", suite: exchange("TestAuthorisation")},
		{name: "exchange: the window", rule: "a signed request is good for seconds", file: "exchangeapi/apikey/signature.go", old: "return at, age > -maxAhead.Milliseconds() && age <= maxAge.Milliseconds()", new: "return at, age > -maxAhead.Milliseconds()", suite: exchange("TestAuthorisation")},
		{name: "exchange: not from the future", rule: "a request is not signed far ahead", file: "exchangeapi/apikey/signature.go", old: "return at, age > -maxAhead.Milliseconds() && age <= maxAge.Milliseconds()", new: "return at, age <= maxAge.Milliseconds()", suite: exchange("TestAuthorisation")},
		{name: "exchange: a repeat is the signed text", rule: "parameters that are cut otherwise are the same request", file: "exchangeapi/auth.go", old: "Text: o.replayText(signed)", new: "Text: o.replayText(signed + string(rune(len(p.query)+len(p.body))))", suite: exchange(once)},
		{name: "exchange: once in memory", rule: "one program takes a signed request once", file: "exchangeapi/apikey/replay_guard_memory.go", old: "case g.used.has(digest):", new: "case false && g.used.has(digest):", suite: guard},
		{name: "exchange: once in the database", rule: "several programs take a signed request once", file: "exchangeapi/apikey/replay_guard.go", old: "if err == nil && n == 0 {\n\t\treturn ErrRepeated", new: "if err == nil && n < 0 {\n\t\treturn ErrRepeated", suite: exchange(once)},
		{name: "exchange: once over a restart", rule: "what a program before may have taken is refused", file: "exchangeapi/apikey/replay_guard_memory.go", old: "case c.At < g.floor:", new: "case c.At < g.floor && false:", suite: guard},
		{name: "exchange: the mark is ours", rule: "of two programs in memory one goes on", file: "exchangeapi/apikey/replay_guard_memory.go", old: "if n, err := r.RowsAffected(); err != nil || n == 0 {\n\t\treturn errors.Join(errTakenOver", new: "if n, err := r.RowsAffected(); err != nil || n < 0 {\n\t\treturn errors.Join(errTakenOver", suite: guard},
		{name: "secrets: their owner's alone", rule: "a secret file that others may read or write is not used", file: "internal/secretfile/secretfile.go", old: "info.Mode().Perm()&0o077 != 0", new: "info.Mode().Perm()&0o001 != 0", suite: suite{"./internal/secretfile", "^TestRead$"}},
		{name: "secrets: a plain file", rule: "a secret is read from a plain file", file: "internal/secretfile/secretfile.go", old: "!info.Mode().IsRegular() || ", new: "", suite: suite{"./internal/secretfile", "^TestRead$"}},
		{name: "bindings: by client", rule: "a client takes so many new addresses an hour", file: "gateway/binding_limits.go", old: "if wait, err := n.clients.Take(ctx, all, client); wait > 0 || err != nil {", new: "if wait, err := n.clients.Take(ctx, all, client); wait > 0 && err != nil {", suite: bindings},
		{name: "bindings: by site", rule: "the clients of a /48 take so many together", file: "gateway/binding_limits.go", old: "return n.sites.Take(ctx, all, httpserver.SiteOf(client))", new: "return n.sites.Take(ctx, all, \"\")", suite: bindings},
		{name: "bindings: by day", rule: "the whole gateway gives so many a day", file: "gateway/binding_limits.go", old: "if wait <= 0 {", new: "if wait <= 0 || n != nil {", suite: bindings},
		{name: "bindings: the span of a day", rule: "as many in any span of time", file: "records/bindings.go", old: "return sqlstore.FromMillis(at).Add(span), sqlstore", new: "return sqlstore.FromMillis(at).Add(span / 2), sqlstore", suite: engine("bound_of_bindings")},
	}
}
