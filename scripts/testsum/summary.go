package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// event is a line of go test -json (go doc test2json), build lines included.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build lines
	Test        string
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// test names a test of a package; an empty name is the package itself.
type test struct{ pkg, name string }

// summary counts, and keeps what a test said until it is known whether anybody wants to read it.
type summary struct {
	out            io.Writer
	passed, failed int
	skipped        []test
	broken         []test
	said           map[test][]string
	builds         map[string][]string
	running        map[test]time.Time
	done           map[string]*tally
	secrets        secrets       // what nothing may print
	lines          int           // that were searched for secrets
	leaks          map[test]bool // who printed one
}

// tally is what happened in one package.
type tally struct{ passed, failed int }

func newSummary(out io.Writer, passed, failed int) *summary {
	return &summary{
		out: out, passed: passed, failed: failed,
		said: make(map[test][]string), builds: make(map[string][]string),
		running: make(map[test]time.Time), done: make(map[string]*tally), leaks: make(map[test]bool),
	}
}

// line takes one line of the stream and tells whether it led to one of ours.
func (s *summary) line(line []byte) bool {
	var e event
	if err := json.Unmarshal(line, &e); err != nil || e.Action == "" {
		fmt.Fprintf(s.out, "%s\n", strings.TrimRight(string(line), "\n")) // go's own complaints
		return true
	}
	s.search(e)
	switch {
	case e.ImportPath != "":
		if e.Action == "build-output" {
			s.builds[e.ImportPath] = append(s.builds[e.ImportPath], e.Output)
		}
		return false
	case e.Test == "":
		return s.packageEvent(e)
	}
	return s.testEvent(e)
}

func (s *summary) testEvent(e event) bool {
	at := test{e.Package, e.Test}
	switch e.Action {
	case "run", "cont":
		s.running[at] = time.Now()
		return false
	case "pause": // until the tests that run alone are done
		delete(s.running, at)
		return false
	case "output":
		s.said[at] = append(s.said[at], e.Output)
		return false
	case "pass", "fail", "skip":
		return s.ended(at, e.Action)
	}
	return false
}

// ended counts a test and forgets or prints what it said.
func (s *summary) ended(at test, how string) bool {
	said := s.said[at]
	delete(s.running, at)
	delete(s.said, at)
	switch how {
	case "pass":
		s.passed++
		s.of(at.pkg).passed++
		return false
	case "skip":
		s.skipped = append(s.skipped, at)
		return false
	}
	s.failed++
	s.of(at.pkg).failed++
	s.broken = append(s.broken, at)
	fmt.Fprintf(s.out, "\n--- failed: %s %s\n%s\n", at.pkg, at.name, strings.Join(said, ""))
	return true
}

func (s *summary) of(pkg string) *tally {
	if s.done[pkg] == nil {
		s.done[pkg] = new(tally)
	}
	return s.done[pkg]
}

func (s *summary) packageEvent(e event) bool {
	at := test{pkg: e.Package}
	switch e.Action {
	case "start":
		s.running[at] = time.Now()
	case "output":
		s.said[at] = append(s.said[at], e.Output)
	case "pass":
		delete(s.running, at)
		delete(s.said, at)
		fmt.Fprintf(s.out, "ok      %s  %d passed  %.1fs\n", e.Package, s.of(e.Package).passed, e.Elapsed)
		return true
	case "skip":
		delete(s.running, at)
		delete(s.said, at)
	case "fail":
		s.packageFailed(e)
		return true
	}
	return false
}

// packageFailed counts the package itself when none of its tests carries the blame: it did not build, or died between
// tests. Tests that were under way then have failed with it.
func (s *summary) packageFailed(e event) {
	at := test{pkg: e.Package}
	said := s.said[at]
	delete(s.running, at)
	delete(s.said, at)
	under := s.under(e.Package)
	for _, one := range under {
		s.ended(one, "fail")
	}
	blameless := s.of(e.Package).failed == 0
	if blameless {
		s.failed++
		s.broken = append(s.broken, at)
	}
	if blameless || len(under) > 0 {
		said = append(s.builds[e.FailedBuild], said...)
		fmt.Fprintf(s.out, "\n--- failed: %s\n%s\n", e.Package, strings.Join(said, ""))
	}
	fmt.Fprintf(s.out, "FAILED  %s  %d passed, %d failed  %.1fs\n", e.Package, s.of(e.Package).passed, s.of(e.Package).failed, e.Elapsed)
}

// under lists the tests of a package that run, in order.
func (s *summary) under(pkg string) []test {
	var all []test
	for at := range maps.Keys(s.running) {
		if at.pkg == pkg && at.name != "" {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b test) int { return strings.Compare(a.name, b.name) })
	return all
}

// stillRunning shows that a long silence is not a standstill.
func (s *summary) stillRunning(now time.Time) {
	var packages []string
	for at := range s.running {
		if at.name == "" {
			packages = append(packages, at.pkg)
		}
	}
	slices.Sort(packages)
	for _, pkg := range packages {
		where := "starting"
		if tests := s.under(pkg); len(tests) > 0 {
			last := tests[len(tests)-1]
			where = fmt.Sprintf("%s for %s", last.name, now.Sub(s.running[last]).Round(time.Second))
		}
		fmt.Fprintf(s.out, "...     %s  %s\n", pkg, where)
	}
	if len(packages) == 0 {
		fmt.Fprintln(s.out, "...     building")
	}
}

// finish prints the end of the report and tells whether all is well.
func (s *summary) finish() bool {
	for _, at := range s.skipped {
		fmt.Fprintf(s.out, "skipped: %s %s\n", at.pkg, at.name)
	}
	for _, at := range s.broken {
		fmt.Fprintf(s.out, "failed: %s %s\n", at.pkg, at.name)
	}
	s.judgeSecrets()
	fmt.Fprintf(s.out, "%d passed, %d failed\n", s.passed, s.failed)
	return s.failed == 0 && s.passed > 0
}

// search looks for secrets in what a test prints, its logs among it.
func (s *summary) search(e event) {
	if e.Action != "output" || len(s.secrets) == 0 {
		return
	}
	s.lines++
	if _, found := s.secrets.in(e.Output); found {
		s.leaks[test{e.Package, e.Test}] = true
	}
}

// judgeSecrets counts the search as one check. The secret itself is not shown again.
func (s *summary) judgeSecrets() {
	if len(s.secrets) == 0 {
		return
	}
	for at := range s.leaks {
		fmt.Fprintf(s.out, "FAILED  a secret was printed by %s %s\n", at.pkg, at.name)
	}
	if len(s.leaks) > 0 {
		s.failed++
		return
	}
	s.passed++
	fmt.Fprintf(s.out, "ok      none of %d known secrets in %d lines of output\n", len(s.secrets), s.lines)
}
