package gatewayd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// citing are the kinds of files whose lines are looked at. What tests record of other programs
// (JSON) cites what it likes.
var citing = []string{".go", ".md", ".yaml", ".yml", ".sql", ".sh", ".txt", ".js", ".mjs", ".html", ".css", ".sol", ".txtar", ".book", "Makefile", "Dockerfile", ".ci/run"}

var (
	citedFile    = regexp.MustCompile(`(?:^|[^\w./:@~$*{}-])((?:\.\./)*(?:[\w.-]+/)*[\w-][\w.-]*\.(?:md|go|sql|yaml|txt|txtar|sh|jsonl|json|js|mjs|sol|book|bin))(?:#([\w-]+))?\b`)
	citedADR     = regexp.MustCompile(`\b(?:ADR |adr/)0*([0-9]+)\b`)
	citedSection = regexp.MustCompile(`\b([\w-]+\.md)\)? ([0-9]+(?:\.[0-9]+)*(?:(?:, | and | to )[0-9]+(?:\.[0-9]+)*)*)`)
	citedRule    = regexp.MustCompile(`\b[REL][0-9]{1,2}\b`)
	citedTest    = regexp.MustCompile(`\b(Test[A-Z]\w*)(?:/([\w-]+))?`)
	ruleOfTests  = regexp.MustCompile(`(?m)^\| [RL][0-9].*$`)
	citedCode    = regexp.MustCompile(`((?:[\w-]+/)+[\w-]+\.go) (\w+)`)
	sectionHead  = regexp.MustCompile(`(?m)^#+ ([0-9]+(?:\.[0-9]+)*)\b`)
	ruleRow      = regexp.MustCompile(`(?m)^\| ([REL][0-9]+)\b`)
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors = regexp.MustCompile(`[^\w -]`)
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	number       = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)*`)
)

// repository lists the files, tests and rules that may be cited.
type repository struct {
	text  map[string]string // of the files in citing, by path
	files map[string]bool
	names map[string]bool // last elements of the files
	tops  map[string]bool // folders of the first level
	tests map[string]bool
	rules map[string]bool // of docs/payment-rules.md
	adrs  map[string]bool // numbers
}

func readRepository(t *testing.T) *repository {
	listed, err := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Skip("this is no git checkout: nobody says which files belong to the project")
	}
	r := &repository{text: map[string]string{}, files: map[string]bool{}, names: map[string]bool{}, tops: map[string]bool{}, tests: map[string]bool{}, rules: map[string]bool{}, adrs: map[string]bool{}}
	for _, name := range strings.Fields(string(listed)) {
		if _, err := os.Stat(name); err != nil {
			continue // removed, and not committed yet
		}
		r.files[name], r.names[path.Base(name)] = true, true
		if top, _, ok := strings.Cut(name, "/"); ok {
			r.tops[top] = true
		}
		if adr, ok := strings.CutPrefix(name, "docs/adr/"); ok {
			digits, _, _ := strings.Cut(adr, "-")
			r.adrs[strings.TrimLeft(digits, "0")] = true
		}
		if !slices.ContainsFunc(citing, func(end string) bool { return strings.HasSuffix(name, end) }) {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		r.text[name] = string(text)
		if strings.HasSuffix(name, "_test.go") {
			add(r.tests, testFunction, string(text))
		}
	}
	add(r.rules, ruleRow, r.text["docs/payment-rules.md"])
	return r
}

func add(to map[string]bool, what *regexp.Regexp, text string) {
	for _, found := range what.FindAllStringSubmatch(text, -1) {
		to[found[1]] = true
	}
}

// find returns the path of a file that a line of another names: from the root, from its own folder,
// or by name alone from anywhere.
func (r *repository) find(from, cited string) (string, bool) {
	for _, dir := range []string{".", path.Dir(from), "docs", path.Dir(path.Dir(from))} {
		if whole := path.Join(dir, cited); r.files[whole] {
			return whole, true
		}
	}
	return "", !strings.Contains(cited, "/") && r.names[cited]
}

// mustExist reports whether a name that fits no file is a mistake: where its folder is ours, and
// elsewhere of documents and Go files in prose.
func (r *repository) mustExist(cited, says string) bool {
	top, _, deep := strings.Cut(cited, "/")
	document := strings.HasSuffix(cited, ".md") || strings.HasSuffix(cited, ".go")
	return deep && (r.tops[top] || top == "testdata") || document && strings.Contains(says, cited)
}

// wrong lists what a line cites in vain.
func (r *repository) wrong(from, line string) []string {
	says := prose(from, line)
	list := append(r.wrongFiles(from, line, says), r.wrongSections(from, line)...)
	for _, c := range citedADR.FindAllStringSubmatch(line, -1) {
		if !r.adrs[c[1]] {
			list = append(list, "ADR "+c[1])
		}
	}
	for _, rule := range citedRule.FindAllString(says, -1) {
		if !r.rules[rule] {
			list = append(list, "rule "+rule)
		}
	}
	if from == "docs/architecture.md" && strings.HasPrefix(line, "|") {
		list = append(list, r.wrongFunctions(line)...)
	}
	if strings.HasSuffix(from, ".md") {
		list = append(list, r.wrongTests(line)...)
	}
	return list
}

func (r *repository) wrongFiles(from, line, says string) (list []string) {
	for _, c := range citedFile.FindAllStringSubmatch(line, -1) {
		file, ok := r.find(from, c[1])
		if !ok && r.mustExist(c[1], says) {
			list = append(list, c[1])
		}
		if ok && c[2] != "" && !slices.Contains(r.anchors(file), c[2]) {
			list = append(list, c[1]+"#"+c[2])
		}
	}
	return list
}

// wrongSections are numbers behind a document's name that are none of its headings'.
func (r *repository) wrongSections(from, line string) (list []string) {
	for _, c := range citedSection.FindAllStringSubmatch(line, -1) {
		known := map[string]bool{}
		if file, ok := r.find(from, c[1]); ok {
			add(known, sectionHead, r.text[file])
		}
		for _, n := range number.FindAllString(c[2], -1) {
			if !known[n] {
				list = append(list, c[1]+" "+n)
			}
		}
	}
	return list
}

// wrongFunctions are names behind a Go file's that are none of its functions'.
func (r *repository) wrongFunctions(line string) (list []string) {
	for _, c := range citedCode.FindAllStringSubmatch(line, -1) {
		if !strings.Contains(r.text[c[1]], "func "+c[2]+"(") && !strings.Contains(r.text[c[1]], ") "+c[2]+"(") {
			list = append(list, c[1]+" "+c[2])
		}
	}
	return list
}

// wrongTests are names of tests that no test file has, and names of cases of the suite of package
// records that it has not.
func (r *repository) wrongTests(line string) (list []string) {
	for _, c := range citedTest.FindAllStringSubmatch(line, -1) {
		ofSuite := c[2] != "" && (c[1] == "TestSQLite" || c[1] == "TestPostgres")
		known := r.tests[c[1]] && (!ofSuite || strings.Contains(r.text["internal/testing/recordstest/suite.go"], `"`+strings.ReplaceAll(c[2], "_", " ")+`"`))
		if !known {
			list = append(list, c[0])
		}
	}
	return list
}

func (r *repository) anchors(file string) (list []string) {
	for _, h := range heading.FindAllStringSubmatch(r.text[file], -1) {
		list = append(list, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return list
}

// prose is the part of a line that is written for people: of code its comment.
func prose(from, line string) string {
	if strings.HasSuffix(from, ".md") {
		return line
	}
	_, comment, _ := strings.Cut(line, "// ")
	return comment
}

// What a line cites exists: files, sections and anchors of documents, decisions, rules, tests.
func TestCitationsExist(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	for from, text := range r.text {
		if from == "citations_test.go" {
			continue // what it cites in vain is its purpose
		}
		for i, line := range strings.Split(text, "\n") {
			for _, cited := range r.wrong(from, line) {
				t.Errorf("%s:%d cites %s, which does not exist", from, i+1, cited)
			}
		}
	}
}

// Each rule of docs/payment-rules.md names a test that proves it.
func TestEachPaymentRuleNamesATest(t *testing.T) {
	t.Parallel()
	rows := ruleOfTests.FindAllString(readRepository(t).text["docs/payment-rules.md"], -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		require.Regexp(t, citedTest, row)
	}
}

func TestCitationsThatDoNotExistAreFound(t *testing.T) {
	t.Parallel()
	r := readRepository(t)
	for line, want := range map[string][]string{
		"// see docs/nowhere.md":                      {"docs/nowhere.md"},
		"// see docs/records.md":                      nil,
		"// see watcher/nowhere.go and payer.go":      {"watcher/nowhere.go"},
		"// docs/adr/999 says why, ADR 2 does not":    {"ADR 999"},
		"// (docs/exchange-rules.md 2.5, 2.99 and 3)": {"exchange-rules.md 2.99"},
		"// docs/gateway-api.md#channel-states":       nil,
		"// docs/gateway-api.md#channel-fates":        {"docs/gateway-api.md#channel-fates"},
		"// rule R8 and R7":                           {"rule R8"},
		`x := "https://example.org/docs/nowhere.md"`:  nil,
		"// nowhere.md and notes/nowhere.md":          {"notes/nowhere.md", "nowhere.md"},
	} {
		got := r.wrong("watcher/pay/payer.go", line)
		slices.Sort(got)
		slices.Sort(want)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), line)
	}
	require.Equal(t, []string{"watcher/pay/payer.go nobody"}, r.wrong("docs/architecture.md", "| 1 | watcher/pay/payer.go round, watcher/pay/payer.go nobody |"))
}
