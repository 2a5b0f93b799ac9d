package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// outcome is what became of a mutant.
type outcome string

const (
	killed   outcome = "killed"       // a test turned red
	survived outcome = "survives"     // all tests stayed green
	hangs    outcome = "hangs"        // the tests did not end: the same as red, for a rule whose loss makes the program wait for ever
	stale    outcome = "stale"        // its text is not in its file once
	broken   outcome = "is not built" // it proves nothing
	idle     outcome = "untested"     // no test of that name
)

// suite is a choice of tests of one package.
type suite struct{ pkg, tests string }

// mutant is one rule taken out: in the file, old becomes new. Without old, new is appended, and anchor must stand in the file.
type mutant struct {
	name     string
	rule     string // what is gone, in words
	file     string
	old, new string
	anchor   string
	suite    suite
	survives string // why no test can turn red without it
}

type result struct {
	mutant  mutant
	outcome outcome
	red     string // the first test that failed
	took    time.Duration
	output  string
}

func (r result) good() bool {
	if r.mutant.survives != "" {
		return r.outcome == survived
	}
	return r.outcome == killed || r.outcome == hangs
}

func (r result) String() string {
	return fmt.Sprintf("%-10s %-44s %-34s %5.0fs  %s", r.outcome, r.mutant.name, r.mutant.file, r.took.Seconds(), r.red)
}

var errStale = errors.New("the text does not stand in the file exactly once")

// apply is the file's text without the rule.
func (m mutant) apply(text string) (string, error) {
	want := m.old
	if want == "" {
		want = m.anchor
	}
	if strings.Count(text, want) != 1 {
		return "", fmt.Errorf("%s: %w: %q", m.name, errStale, want)
	}
	if m.old == "" {
		return text + "\n" + m.new + "\n", nil
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}

// try builds the mutant and runs its tests.
func (m mutant) try(work string) result {
	began := time.Now()
	text, err := os.ReadFile(m.file)
	if err != nil {
		return result{mutant: m, outcome: stale, output: err.Error()}
	}
	changed, err := m.apply(string(text))
	if err != nil {
		return result{mutant: m, outcome: stale, output: err.Error()}
	}
	overlay, err := m.overlay(work, changed)
	if err != nil {
		return result{mutant: m, outcome: broken, output: err.Error()}
	}
	r := m.suite.run(overlay)
	r.mutant, r.took = m, time.Since(began)
	return r
}

// overlay writes the changed file and what tells the go command to take it in place of the one in the tree.
func (m mutant) overlay(work, changed string) (string, error) {
	name := filepath.Join(work, strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' {
			return '_'
		}
		return r
	}, m.name))
	inTree, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	replacement := name + filepath.Ext(m.file)
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{inTree: replacement}})
	if err != nil {
		return "", err
	}
	return name + ".json", errors.Join(os.WriteFile(replacement, []byte(changed), 0o600), os.WriteFile(name+".json", list, 0o600))
}

// limit is how long the tests of one mutant may take. They take seconds; the rest is for a machine with other work.
const limit = "5m"

// run runs the suite, with an overlay if one is named. The models' worlds are always the same ones, so that a table can be repeated.
func (s suite) run(overlay string) result {
	args := []string{"test", "-count=1", "-short", "-failfast", "-timeout", limit, "-run", s.tests}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.Command("go", append(args, s.pkg)...)
	cmd.Env = append(os.Environ(), "GATEWAYD_SEED=1")
	out, err := cmd.CombinedOutput()
	return judge(string(out), err)
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge reads what the go command said.
func judge(out string, err error) result {
	r := result{output: tail(out)}
	switch {
	case strings.Contains(out, "no tests to run"):
		r.outcome = idle
	case err == nil:
		r.outcome = survived
	case strings.Contains(out, "[build failed]"), strings.Contains(out, "[setup failed]"):
		r.outcome = broken
	case strings.Contains(out, "panic: test timed out"):
		r.outcome = hangs
	default:
		r.outcome = killed
		for _, m := range failed.FindAllStringSubmatch(out, -1) {
			r.red = m[1] // the innermost comes last
		}
		if r.red == "" {
			r.red = "the test program ended"
		}
	}
	return r
}

// tail is the end of a long output.
func tail(s string) string {
	const most = 3000
	if len(s) > most {
		return "..." + s[len(s)-most:]
	}
	return s
}
