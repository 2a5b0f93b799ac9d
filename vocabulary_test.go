package gatewayd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// unusedNames lists the words that names do not use, and the words that replace them.
const unusedNames = `
turn: seq (of orders), batch (of blocks), mu (of an account)
glance, kept: raw read, settled cache
lane, wish, tape, terms, standing: account sender, order request, public trades, order limits, fee tier or position
drain, twice, places, forget: catch up, retry once or duplicate, cursors, prune
whereabouts, chapter, chronicle: block location, history batch, checkpoint
odd, pace, ballot, wording: unknown type, node limiter, quorum, error pattern
room, guest: limit listener, limit connection
purse, poke: spendable, wake
desk, story, world: operator, record detail, streams or env
shop, venue, crowd, door: API env, node env, load generator, limiter
effect, effects, lineage, foreign: own tx, branch, unknown tx
victim, massacre, slaughter: daemon process, kills at random
skirmish, battlefield: kills at random, env with faulty nodes
patient, reckon, hall, lossy, limp: client that tries again, check of the books, exchange process, restore env
words, say, alone, together: messages, text, memory and database replay guard, batch
`

// replacements maps each unused word to the words that replace it.
func replacements(t *testing.T) map[string]string {
	to := map[string]string{}
	for line := range strings.Lines(unusedNames) {
		words, instead, found := strings.Cut(strings.TrimSpace(line), ": ")
		for word := range strings.SplitSeq(words, ", ") {
			if found {
				to[word] = instead
			}
		}
	}
	require.NotEmpty(t, to)
	return to
}

var camelWord = regexp.MustCompile(`[A-Z]+(?:[a-z0-9]+)?|[a-z0-9]+`)

// partsOf takes a name apart: "BlockLocation2" and "block_location" are block, location.
func partsOf(name string) []string {
	var found []string
	for _, word := range camelWord.FindAllString(name, -1) {
		found = append(found, strings.ToLower(strings.TrimRight(word, "0123456789")))
	}
	return found
}

var testFunc = regexp.MustCompile(`^(Test|Benchmark|Fuzz|Example)`)

// declaredNames are a file's top-level declarations: functions, methods, types with their fields
// and methods, constants and variables.
func declaredNames(file *ast.File) (names []string) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			names = append(names, id.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if !testFunc.MatchString(n.Name.Name) { // whose names are sentences
				add(n.Name)
			}
			return false
		case *ast.FuncType:
			return false
		case *ast.TypeSpec:
			add(n.Name)
		case *ast.ValueSpec:
			add(n.Names...)
		case *ast.Field:
			add(n.Names...)
		}
		return true
	})
	return names
}

// sources are the Go files of the repository but the generated bindings of contracts, parsed.
func sources(t *testing.T, mode parser.Mode) map[string]*ast.File {
	t.Helper()
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "*.go").Output()
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for path := range strings.FieldsSeq(string(list)) {
		if strings.HasPrefix(path, "chain/ethereum/contracts/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution|mode)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(t, err)
		files[path] = file
	}
	return files
}

// TestNamesAreTheFieldsWords checks file names and everything that files declare, tests too,
// against the list of words that are not used.
func TestNamesAreTheFieldsWords(t *testing.T) {
	banned := replacements(t)
	for path, file := range sources(t, 0) {
		base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".go"), "_test")
		for _, name := range append(declaredNames(file), base) {
			for _, word := range partsOf(name) {
				if instead, found := banned[word]; found {
					t.Errorf("%s: %s: names do not use %q but: %s", path, name, word, instead)
				}
			}
		}
	}
}

var camelName = regexp.MustCompile(`^\w*[a-z][A-Z]\w*`)

// TestDocCommentsNameTheirOwn refuses a comment that begins with the name of another declaration.
func TestDocCommentsNameTheirOwn(t *testing.T) {
	for path, file := range sources(t, parser.ParseComments) {
		check := func(doc *ast.CommentGroup, names ...*ast.Ident) {
			first := camelName.FindString(doc.Text())
			own := slices.ContainsFunc(names, func(id *ast.Ident) bool { return id.Name == first })
			if first != "" && !own {
				t.Errorf("%s: the comment on %s begins with %s", path, names[0].Name, first)
			}
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if !testFunc.MatchString(d.Name.Name) {
					check(d.Doc, d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						check(s.Doc, s.Name)
						if len(d.Specs) == 1 {
							check(d.Doc, s.Name)
						}
					case *ast.ValueSpec:
						check(s.Doc, s.Names...)
					}
				}
			}
		}
	}
}
