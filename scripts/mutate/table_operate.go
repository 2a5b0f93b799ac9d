package main

// operateRules are those of backups and of telling people.
func operateRules() []mutant {
	backup := func(test string) suite { return suite{"./operator/backup", "^" + test + "$"} }
	told := suite{"./operator/notify", "^TestEveryEventOnce$"}
	return []mutant{
		{name: "backup: every byte", rule: "a backup whose digest does not fit is damaged", file: "operator/backup/archive.go", old: "case err == nil && whole, whole && errors.Is(err, ErrNewer):", new: "case err == nil, whole && errors.Is(err, ErrNewer):", suite: backup("TestFlippedBitIsFound")},
		{name: "backup: the newest sign-guard", rule: "a sign-guard that lacks a signature of the backup is not taken for the newest", file: "operator/backup/forward.go", old: "if err == nil && lacks != \"\" {", new: "if err == nil && lacks != \"\" && false {", suite: backup("TestRestoreRefusesAnOlderGuard")},
		{name: "backup: an older guard by order", rule: "the backup's sign-guard goes over one that is there by --older-guard alone", file: "operator/backup/forward.go", old: "if r.o.OlderGuard {", new: "if r.o.OlderGuard || r.o.Replace {", suite: backup("TestRestoreRefusesAnOlderGuard")},
		{name: "notify: at least once", rule: "what a receiver did not take is sent again", file: "operator/notify/notify.go", old: "if failed != nil {\n\t\t\treturn", new: "if failed != nil && false {\n\t\t\treturn", suite: told},
		{name: "notify: told once", rule: "a condition that was told is not told again", file: "records/control/told.go", old: "if !slices.ContainsFunc(before, c.sameAs) && !slices", new: "if !slices", suite: told},
	}
}
