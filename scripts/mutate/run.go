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
	"sync"
	"time"
)

// outcome is the result of a mutant.
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

// mutant is one removed rule: in the file, old becomes new. Without old, new is appended, and the
// file must contain anchor.
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

// builder builds and runs test programs. The unchanged program of a package serves all of its
// suites. A program that reads the migrations from a folder serves all mutants of the schema.
type builder struct {
	dir      string
	combined map[string]bool // names of the mutants that are in their package's program
	mu       sync.Mutex
	programs map[string]*program
}

type program struct {
	once sync.Once
	path string
	err  error
	said string
}

// get builds a test program once.
func (w *builder) get(key, pkg, overlay string) *program {
	w.mu.Lock()
	p := w.programs[key]
	if p == nil {
		p = &program{}
		w.programs[key] = p
	}
	w.mu.Unlock()
	p.once.Do(func() { p.path, p.said, p.err = w.build(key, pkg, overlay) })
	return p
}

// build makes a package's test program, without what only debuggers read.
func (w *builder) build(key, pkg, overlay string) (path, said string, err error) {
	path = filepath.Join(w.dir, fileName(key)+".test")
	args := []string{"test", "-c", "-vet=off", "-ldflags", "-s -w", "-o", path}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	out, err := exec.Command("go", append(args, pkg)...).CombinedOutput()
	return path, string(out), err
}

func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/ :'", r) {
			return '_'
		}
		return r
	}, s)
}

// try builds the mutant and runs its tests.
func (w *builder) try(m mutant) result {
	began := time.Now()
	r := w.tryIn(m)
	r.mutant, r.took = m, time.Since(began)
	return r
}

func (w *builder) tryIn(m mutant) result {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return result{outcome: stale, output: err.Error()}
	}
	changed, err := m.apply(string(text))
	if err != nil {
		return result{outcome: stale, output: err.Error()}
	}
	if filepath.Ext(m.file) == ".sql" {
		return w.trySchema(m, changed)
	}
	if w.combined[m.name] {
		return m.suite.run(w.get(m.suite.pkg, m.suite.pkg, ""), switchName+"="+m.name)
	}
	overlay, err := w.overlay(m.name, map[string]string{m.file: changed})
	if err != nil {
		return result{outcome: broken, output: err.Error()}
	}
	p := w.get(m.name, m.suite.pkg, overlay)
	defer os.Remove(p.path)
	return m.suite.run(p)
}

// trySchema runs the one program of its package on changed migrations.
func (w *builder) trySchema(m mutant, changed string) result {
	root := filepath.Join(w.dir, fileName(m.name))
	defer os.RemoveAll(root)
	err := os.CopyFS(filepath.Join(root, "migrations"), os.DirFS(migrations))
	if err == nil {
		err = os.WriteFile(filepath.Join(root, strings.TrimPrefix(m.file, "records/")), []byte(changed), 0o600)
	}
	if err != nil {
		return result{outcome: broken, output: err.Error()}
	}
	p, err := w.schema(m.suite.pkg)
	if err != nil {
		return result{outcome: broken, output: err.Error()}
	}
	return m.suite.run(p, "GATEWAYD_MIGRATIONS="+root)
}

// migrations is the folder of the schema's texts. The programs that try its mutants read them from
// a folder instead of from themselves.
const migrations = "records/migrations"

var fromFolder = []mutant{
	{name: "schema", file: "records/store.go", old: "//go:embed migrations\nvar migrations embed.FS\n", new: "var migrations = os.DirFS(os.Getenv(\"GATEWAYD_MIGRATIONS\"))\n"},
	{name: "schema", file: "records/store.go", old: "\t\"embed\"\n", new: ""},
}

func (w *builder) schema(pkg string) (*program, error) {
	const file = "records/store.go"
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	changed := string(text)
	for _, m := range fromFolder {
		if changed, err = m.apply(changed); err != nil {
			return nil, err
		}
	}
	overlay, err := w.overlay("schema", map[string]string{file: changed})
	return w.get("schema "+pkg, pkg, overlay), err
}

// overlay writes changed files and the instruction for the go command to use them in place of those
// in the tree.
func (w *builder) overlay(name string, changed map[string]string) (string, error) {
	name = filepath.Join(w.dir, fileName(name))
	replace := map[string]string{}
	for file, text := range changed {
		inTree, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replace[inTree] = name + "_" + filepath.Base(file)
		if err := os.WriteFile(replace[inTree], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return name + ".json", os.WriteFile(name+".json", list, 0o600)
}

// limit bounds the tests of one mutant. They take seconds; the rest is for a machine with other
// work.
const limit = "5m"

// run runs the suite by a program. The models' random choices are always the same, so that a table
// can be repeated.
func (s suite) run(p *program, environment ...string) result {
	if p.err != nil {
		return result{outcome: broken, output: tail(p.said + p.err.Error())}
	}
	args := []string{"-test.short", "-test.failfast", "-test.count=1", "-test.timeout=" + limit, "-test.run=" + s.tests}
	if s.pkg == "./chain/ethereum" {
		args = append(args, "-rapid.nofailfile") // a property's counterexample would be kept in the tree
	}
	cmd := exec.Command(p.path, args...)
	cmd.Dir = s.pkg
	cmd.Env = append(append(os.Environ(), "GATEWAYD_SEED=1"), environment...)
	out, err := cmd.CombinedOutput()
	return judge(string(out), err)
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// judge reads the go command's output.
func judge(out string, err error) result {
	r := result{output: tail(out)}
	switch {
	case strings.Contains(out, "no tests to run"):
		r.outcome = idle
	case err == nil:
		r.outcome = survived
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
