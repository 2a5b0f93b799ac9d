package gatewayd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// textIdioms are phrases that texts of the program never contain, in addition to the bounds of
// idioms.
var textIdioms = []phrase{
	idiom("is wanted", `(?:is|are) wanted`, 0),
	idiom("is told", `(?:is|are|was|were) told`, 0),
	idiom("says why", `says? (?:why|what|how)`, 0),
	idiom("everybody's", `everybody'?s?|nobody'?s?`, 0),
	idiom("pays nobody", `(?:pays|reaches|tells|gives?) nobody`, 0),
	idiom("stands", `stands? (?:there|twice|still|in|on|at)`, 0),
	idiom("needs you", `needs you|waits for you|none waits`, 0),
	idiom("money moves", `money (?:moves|does not move|from moving)|moves no money`, 0),
	idiom("upkeep", `upkeep`, 0),
	idiom("as it should be", `as it should(?: be)?`, 0),
	idiom("once more", `once more|anew|afresh`, 0),
	idiom("goes on", `go(?:es|ing)? on`, 0),
	idiom("by itself", `by itself|by themselves`, 0),
	idiom("for good", `for good`, 0),
	idiom("mends", `mends?|mended|mending`, 0),
	idiom("what it has", `what (?:it|they|he) (?:has|have)`, 0),
	idiom("beside", `beside`, 0),
	idiom("the line of blocks", `(?:older|another|nodes') line`, 0),
	idiom("newest of the nodes", `newest of the`, 0),
}

const minTextLength = 4 // strings with fewer words are names, formats and parts of sentences

var (
	statement  = regexp.MustCompile(`^\s*\(?(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|WITH|PRAGMA|ORDER BY|GROUP BY|WHERE|AND|OR|FROM|UNION|SET|LEFT|JOIN|VALUES|ON|EXISTS|CASE)\b|\b(?:FROM|WHERE|AND|VALUES|IS NULL)\b.*(?:=|\(|\?)`)
	quoted     = regexp.MustCompile(`"((?:[^"\\\n]|\\.)*)"`)
	markup     = regexp.MustCompile(`<title>([^<]*)</title>|content="([^"]*)"|<noscript>(.*?)</noscript>`)
	pathInText = regexp.MustCompile(`docs/\S+`)
)

// isText reports whether a string is a text for people.
func isText(s string) bool {
	return len(wordInText.FindAllString(s, -1)) >= minTextLength && !statement.MatchString(s)
}

// fixedMessage reports whether a text is a msg value of the exchange API, which clients may compare.
func fixedMessage(path, s string) bool {
	return filepath.Dir(path) == "exchangeapi" && strings.ToUpper(s[:1]) == s[:1]
}

// isProduct reports whether a file belongs to the programs that users run.
func isProduct(path string) bool {
	for _, folder := range []string{"internal/testing/", "scripts/", "cmd/gatewaybench/"} {
		if strings.HasPrefix(path, folder) {
			return false
		}
	}
	return !strings.HasSuffix(path, "_test.go")
}

// codeTexts returns the texts in string literals of a file.
func codeTexts(t *testing.T, path string, file *ast.File) []string {
	t.Helper()
	var texts []string
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if x.Kind == token.STRING {
				s, err := strconv.Unquote(x.Value)
				require.NoError(t, err)
				if isText(s) && !fixedMessage(path, s) {
					texts = append(texts, s)
				}
			}
		}
		return true
	})
	return texts
}

// pageTexts returns the texts of the pages: the messages of their scripts and the head of a page.
func pageTexts(path, source string) []string {
	pattern := quoted
	switch filepath.Ext(path) {
	case ".html":
		pattern = markup
	case ".js", ".jsx":
	default:
		return nil
	}
	var texts []string
	for _, match := range pattern.FindAllStringSubmatch(source, -1) {
		if s := strings.Join(match[1:], ""); isText(s) && !strings.ContainsAny(s, "<>=") {
			texts = append(texts, s)
		}
	}
	return texts
}

// requirePlain checks texts against the bounds of comments and against the phrases that texts never
// contain.
func requirePlain(t *testing.T, of string, texts map[string][]string) {
	t.Helper()
	var all passage
	for where, list := range texts {
		for _, s := range list {
			s = pathInText.ReplaceAllString(s, "docs")
			for _, one := range textIdioms {
				if one.at.MatchString(s) {
					t.Errorf("%s: %q is not plain English: %s", where, one.name, s)
				}
			}
			for paragraph := range strings.SplitSeq(s, "\n") {
				all.add(paragraph)
			}
		}
	}
	require.NotEmpty(t, all.lines, of)
	for _, fault := range all.faults() {
		t.Errorf("%s: %s", of, fault)
	}
}

// TestTextsArePlainEnglish measures what users read: string literals of the programs, texts of the
// pages and the comments of the example configuration.
func TestTextsArePlainEnglish(t *testing.T) {
	texts := map[string][]string{}
	for path, file := range sources(t, parser.ParseComments) {
		if isProduct(path) && !ast.IsGenerated(file) {
			texts[path] = codeTexts(t, path, file)
		}
	}
	requirePlain(t, "texts of the programs", texts)

	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "web/ui").Output()
	require.NoError(t, err)
	pages := map[string][]string{}
	for path := range strings.FieldsSeq(string(list)) {
		source, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(t, err)
		pages[path] = pageTexts(path, string(source))
	}
	requirePlain(t, "texts of the pages", pages)

	example, err := os.ReadFile("config.example.yaml")
	require.NoError(t, err)
	var comments []string
	for line := range strings.Lines(string(example)) {
		if _, comment, found := strings.Cut(line, "# "); found {
			comments = append(comments, strings.TrimSpace(comment))
		}
	}
	requirePlain(t, "config.example.yaml", map[string][]string{"config.example.yaml": comments})
}
