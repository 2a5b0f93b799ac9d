package main

// signerRules are those of the signer's process: who may ask it, what delegation addresses may
// sign, which sign-guard goes with which records; and what retired accounts and successors of the
// wallet's seed may do.
func signerRules() []mutant {
	asks := func(tests string) suite { return suite{"./signer/remote", "^(" + tests + ")$"} }
	agent := asks("TestConformance")
	guard := suite{"./records", "^TestSQLite$/^guards$"}
	retired := func(tests string) suite { return suite{"./watcher", "^(" + tests + ")$"} }
	claims := suite{"./signer/cause", "^(TestRetiredAccountsAtTheSigner|TestThiefGetsNothing)$"}
	ring := suite{"./wallet", "^TestRing$"}
	const remote, server, delegation = "signer/remote/config.go", "signer/remote/server.go", "signer/delegation.go"
	const control, cause = "records/guard.go", "signer/cause/cause.go"
	return []mutant{
		{name: "signer: the peer's user", rule: "only the peer's processes connect to the socket", file: server, old: "if err == nil && (uid == *l.peer || int64(uid) == int64(os.Getuid())) {", new: "if err == nil && os.Getuid() >= 0 {", suite: asks("TestPeers")},
		{name: "signer: the socket's mode", rule: "a socket has the mode that is set", file: server, old: "Mode: cfg.mode(),", new: "Mode: 0o666,", suite: asks("TestSockets")},
		{name: "signer: clients have certificates", rule: "who asks over https shows a certificate of our authority", file: remote, old: "ClientAuth: tls.RequireAndVerifyClientCert", new: "ClientAuth: tls.RequireAnyClientCert", suite: asks("TestStrangersAreRefused")},
		{name: "signer: it has a certificate", rule: "a daemon asks only the signer whose authority it knows", file: remote, old: "MinVersion: tls.VersionTLS13, RootCAs: servers,", new: "MinVersion: tls.VersionTLS13, RootCAs: servers, InsecureSkipVerify: true,", suite: asks("TestStrangersAreRefused")},
		{name: "signer: https wants certificates", rule: "https without certificates on both sides is no configuration", file: remote, old: "if files.Cert == \"\" || files.Key == \"\" || files.CA == \"\" {", new: "if false {", suite: asks("TestConfigCheck")},
		{name: "signer: answers are bounded", rule: "no more of an answer is read than any may have", file: "signer/remote/client.go", old: "answer.Body = limited{io.LimitReader(answer.Body, maxBody), answer.Body}", new: "_ = limited{}", suite: asks("TestBodiesAreBounded")},

		{name: "delegation: the contract", rule: "a delegation address calls the exchange's contract only", file: delegation, old: "case b.ToAddress != core.DexFundContract:", new: "case false:", suite: agent},
		{name: "delegation: no transfer", rule: "a delegation address moves no amount", file: delegation, old: "case !b.Amount.IsZero():", new: "case false:", suite: agent},
		{name: "delegation: the token", rule: "a delegation address moves no token", file: delegation, old: "case b.TokenID != core.VITE:", new: "case false:", suite: agent},
		{name: "delegation: no fee", rule: "a delegation address pays no fee", file: delegation, old: "case !b.Fee.IsZero():", new: "case false:", suite: agent},
		{name: "delegation: its own account", rule: "a delegation address signs its own blocks", file: delegation, old: "if b.Address != agent {", new: "if false {", suite: agent},
		{name: "delegation: its owner", rule: "an order is of the account that the address acts for", file: delegation, old: "if of, ok := values[m.owner].(core.Address); !ok || of != owner {", new: "if of, ok := values[m.owner].(core.Address); !ok && of != owner {", suite: agent},
		{name: "delegation: orders only", rule: "a delegation address places and cancels orders", file: delegation, old: "return errors.New(\"data: neither an order nor a cancellation\")", new: "return nil", suite: agent},
		{name: "delegation: kinds of blocks", rule: "a delegation address makes calls and receives only", file: delegation, old: "err = fmt.Errorf(\"type: %d, where", new: "_ = fmt.Errorf(\"type: %d, where", suite: agent},
		{name: "delegation: receives", rule: "a receive has no data", file: delegation, old: "case len(b.Data) > 0:", new: "case false:", suite: agent},

		{name: "guard identity: another", rule: "records go with one sign-guard", file: control, old: "case found && was.ID != now.ID:", new: "case false:", suite: guard},
		{name: "guard identity: it never falls", rule: "what was seen of a sign-guard is not taken back", file: control, old: "case found && was.Commits >= now.Commits:", new: "case false:", suite: guard},
		{name: "guard identity: adopting stops", rule: "a sign-guard that may know less stops every account that pays", file: control, old: "AccountHalted, why); err != nil {", new: "AccountOK, why); err != nil {", suite: guard},
		{name: "guard identity: an older one stops", rule: "a sign-guard with fewer commits stops every account that pays", file: "daemon/signing.go", old: "now.Commits >= was.Commits {", new: "now.Commits >= was.Commits || true {", suite: suite{"./cmd/gatewayd", "^TestOlderGuardStopsWhatPays$"}},

		{name: "rotation: retired accounts pay nobody", rule: "a retired account hands over what it was to pay", file: "watcher/payer.go", old: "if p.retired(a) {", new: "if false {", suite: retired("TestRetiredAccountHandsOver")},
		{name: "rotation: what is held too", rule: "what the signer holds of a retired account is handed over", file: "watcher/authorize.go", old: "for id, p := range w.payers {", new: "for id, p := range map[chain.ID]*payer{} {", suite: retired("TestHeldPaymentsAreHandedOver")},
		{name: "rotation: stopped accounts keep theirs", rule: "a stopped account hands nothing over that it may have paid", file: "watcher/payer.go", old: "\tif err != nil || !ready {\n\t\treturn err\n\t}\n\t// What is signed", new: "\tif err != nil || !ready && a.State == records.AccountNew {\n\t\treturn err\n\t}\n\t// What is signed", suite: retired("TestStoppedAccountsHandNothingOver")},
		{name: "rotation: levelled away", rule: "nothing is brought to a retired account", file: "watcher/level_share.go", old: "if !stopped(m.account) && !m.retired {", new: "if !stopped(m.account) {", suite: retired("TestRetiredAccountHandsOver|TestRetiredAccountGoesHome")},
		{name: "rotation: refunds", rule: "a retired account makes no refund", file: "policy/policy.go", old: "if n.Pays(on, t.To) {", new: "if true {", suite: retired("TestRetiredAccountTakesMoneyForEver")},
		{name: "rotation: labels", rule: "labels count at retired addresses", file: "transfers/classify.go", old: "n.Shared == n.Hot // docs/adr/004", new: "n.Shared == n.Hot && row.To == n.Hot // docs/adr/004", suite: retired("TestLabelsAtARetiredAddress")},
		{name: "rotation: coin for fees", rule: "a retired account gets coin for what it moves", file: "watcher/level.go", old: "!have.Less(need) {\n\t\t\tcontinue", new: "true {\n\t\t\tcontinue", suite: retired("TestRetiredAccountWithoutCoin")},
		{name: "rotation: sweeps are made anew", rule: "a sweep to a retired account is void", file: "watcher/authorize.go", old: "\t\t\tif toRetired {", new: "\t\t\tif toRetired && false {", suite: retired("TestSweepToARetiredAccountIsMadeAnew")},
		{name: "rotation: the signer's word", rule: "the signer lets a retired account pay nobody", file: cause, old: "if payer.Retired {", new: "if false {", suite: claims},
		{name: "rotation: nothing comes to it", rule: "the signer lets no sweep go to a retired account", file: cause, old: "case p.Purpose == chain.Sweep && to.Retired:", new: "case false:", suite: claims},
		{name: "seeds: each its own", rule: "a path of a successor is that seed's", file: "wallet/ring.go", old: "\tcase seed > 0:\n\t\treturn later[seed-1].Keys", new: "\tcase seed > 9:\n\t\treturn later[seed-1].Keys", suite: ring},
		{name: "seeds: the newest gives addresses", rule: "new deposit addresses are the newest seed's", file: "wallet/ring.go", old: "key, err := later[len(later)-1].Keys.DepositKey(p)", new: "key, err := r.first.DepositKey(p)", suite: ring},
		{name: "seeds: accounts of a successor", rule: "a paying account is the seed's that names it", file: "wallet/ring.go", old: "if own == path {", new: "if own == path && false {", suite: ring},
	}
}
