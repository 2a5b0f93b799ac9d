// Command mutate removes the rules of money from the program, one at a time, and runs the tests
// that should fail without each. It builds the mutants by the go command's overlay: nothing in the
// tree is written. Developers run it as `make mutate`. The results are in build/mutation.txt (-o):
// several partial runs make one table. docs/mutation.md describes the outcomes.
//
//	mutate [-run REGEXP] [-jobs N] [-o FILE]
//
// It exits with 1 when a mutant survives without an accepted reason, no longer applies, does not
// build, or dies for another cause. Tests of PostgreSQL need GATEWAYD_TEST_POSTGRES:
// scripts/postgres.sh.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
)

func main() {
	only := flag.String("run", "", "only mutants whose name this regular expression matches")
	jobs := flag.Int("jobs", 2, "how many are tried at a time")
	out := flag.String("o", "build/mutation.txt", "file for the table of results; rows of mutants that were not run stay")
	flag.Parse()
	if err := try(*only, *jobs, *out); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// try runs the chosen mutants after the tests themselves: what is red without a mutant proves
// nothing with one.
func try(only string, jobs int, out string) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	var chosen []mutant
	for _, m := range table() {
		if pattern.MatchString(m.name) {
			chosen = append(chosen, m)
		}
	}
	work, err := os.MkdirTemp("", "gatewayd-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	w := &builder{dir: work, combined: map[string]bool{}, programs: map[string]*program{}}
	if err := w.prepare(chosen); err != nil {
		return err
	}
	if err := w.checkUnmutated(chosen, jobs); err != nil {
		return err
	}
	results := make([]result, len(chosen))
	each(len(chosen), jobs, func(i int) {
		results[i] = w.try(chosen[i])
		fmt.Println(results[i])
	})
	if err := writeTable(out, results); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return verdict(results)
}

// prepare builds a program with all mutants for each package.
func (w *builder) prepare(chosen []mutant) error {
	packages := map[string]bool{}
	for _, m := range chosen {
		packages[m.suite.pkg] = true
	}
	for pkg := range packages {
		names, err := w.combine(pkg, chosen)
		if err != nil {
			return err
		}
		for _, n := range names {
			w.combined[n] = true
		}
		fmt.Printf("%s: %d mutants in one program\n", pkg, len(names))
	}
	return nil
}

// checkUnmutated runs every test of the table on the program as it is.
func (w *builder) checkUnmutated(list []mutant, jobs int) error {
	var suites []suite
	seen := map[suite]bool{}
	for _, m := range list {
		if !seen[m.suite] {
			seen[m.suite] = true
			suites = append(suites, m.suite)
		}
	}
	fmt.Printf("%d mutants, %d suites; first the suites without any\n", len(list), len(suites))
	faults := make([]string, len(suites))
	each(len(suites), jobs, func(i int) {
		if r := suites[i].run(w.get(suites[i].pkg, suites[i].pkg, "")); r.outcome != survived {
			faults[i] = fmt.Sprintf("%s %s: %s %s", suites[i].pkg, suites[i].tests, r.outcome, r.red)
			fmt.Println(r.output)
		}
	})
	if all := strings.TrimSpace(strings.Join(faults, "\n")); all != "" {
		return fmt.Errorf("red without any mutant:\n%s", all)
	}
	return nil
}

// each calls f for 0 to n-1, so many at a time.
func each(n, jobs int, f func(i int)) {
	var g sync.WaitGroup
	free := make(chan struct{}, max(jobs, 1)) // one place for each that runs
	for i := range n {
		free <- struct{}{}
		g.Go(func() {
			defer func() { <-free }()
			f(i)
		})
	}
	g.Wait()
}

// verdict counts, and is an error when something is not as it must be.
func verdict(results []result) error {
	count := map[outcome]int{}
	bad := 0
	for _, r := range results {
		count[r.outcome]++
		if !r.good() {
			bad++
			fmt.Printf("\n%s\n%s\n", r, r.output)
		}
	}
	fmt.Printf("%d mutants: %d killed, %d hang, %d survive\n", len(results), count[killed], count[hangs], count[survived])
	if bad > 0 {
		return fmt.Errorf("%d of %d mutants are not as they must be", bad, len(results))
	}
	return nil
}
