package main

// operateRules are those of backups and of notifications.
func operateRules() []mutant {
	backup := func(test string) suite { return suite{"./operator/backup", "^" + test + "$"} }
	told := suite{"./notify", "^TestEveryEventOnce$"}
	page := func(test string) suite { return suite{"./operator/console", "^" + test + "$"} }
	return []mutant{
		{name: "console: role", rule: "who has not the role orders nothing", file: "operator/console/session.go", old: "if role != \"\" && r.user.Role != role {", new: "if role != \"\" && r.user.Role != role && false {", suite: page("TestOrdersWantRoleTokenAndReason")},
		{name: "console: token", rule: "a request without the session's token changes nothing", file: "operator/console/session.go", old: "subtle.ConstantTimeCompare([]byte(given), []byte(s.CSRF)) != 1", new: "subtle.ConstantTimeCompare([]byte(given), []byte(s.CSRF)) > 1", suite: page("TestOrdersWantRoleTokenAndReason")},
		{name: "console: code", rule: "nobody signs in without the second factor", file: "operator/console/session.go", old: "if !known || !fits || !ok {", new: "if !known || !fits || !ok && false {", suite: page("TestSignIn")},
		{name: "console: code once", rule: "a code of the second factor is used once", file: "records/access.go", old: "AND totp_step < ?`", new: "AND totp_step < ? + 1000000000`", suite: page("TestSignIn")},
		{name: "console: other origins", rule: "pages of other origins are not answered", file: "operator/console/console.go", old: "case site != \"\" && site != \"same-origin\" && site != \"none\":", new: "case site == \"no such\":", suite: page("TestStrangersAreTurnedAway")},
		{name: "console: a passkey's challenge", rule: "a passkey signs in by a challenge that was given out, once", file: "records/challenges.go", old: "if err == nil && n == 0 {", new: "if err == nil && n < 0 {", suite: page("TestPasskeysSignIn")},
		{name: "console: a passkey's counter", rule: "a copy of an authenticator signs nobody in", file: "records/passkeys.go", old: "AND (sign_count < ? OR", new: "AND (sign_count < ? + 1000000000 OR", suite: page("TestPasskeysThatSignNobodyIn")},
		{name: "console: a passkey's user", rule: "nobody approves with another user's passkey", file: "operator/console/approvals.go", old: "err == nil && p.User != r.user.Name", new: "err == nil && p.User == \"\"", suite: page("TestApprovalsThatDoNotCount")},
		{name: "console: a removed passkey", rule: "who loses a passkey is signed out elsewhere", file: "records/passkeys.go", old: "WHERE user_name = ? AND token <> ?`", new: "WHERE user_name = ? AND token <> ? AND token = ''`", suite: page("TestPasskeysAreRemoved")},
		{name: "backup: every byte", rule: "a backup whose digest does not fit is damaged", file: "operator/backup/archive.go", old: "case err == nil && whole, whole && errors.Is(err, ErrNewer):", new: "case err == nil, whole && errors.Is(err, ErrNewer):", suite: backup("TestFlippedBitIsFound")},
		{name: "backup: the newest sign-guard", rule: "a sign-guard that lacks a signature of the backup is not taken for the newest", file: "operator/backup/forward.go", old: "if err == nil && lacks != \"\" {", new: "if err == nil && lacks != \"\" && false {", suite: backup("TestRestoreRefusesAnOlderGuard")},
		{name: "backup: an older guard by order", rule: "the backup's sign-guard goes over one that is there by --older-guard alone", file: "operator/backup/forward.go", old: "if r.o.OlderGuard {", new: "if r.o.OlderGuard || r.o.Replace {", suite: backup("TestRestoreRefusesAnOlderGuard")},
		{name: "notify: at least once", rule: "what a receiver did not take is sent again", file: "notify/notify.go", old: "if failed != nil {\n\t\t\treturn", new: "if failed != nil && false {\n\t\t\treturn", suite: told},
		{name: "notify: announced once", rule: "an alert is announced once", file: "records/alerts.go", old: "case i < 0:", new: "case i < 1:", suite: told},
	}
}
