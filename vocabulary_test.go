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

// bannedWords are the first column of the table below "Words that are not used" in the glossary, in lower case.
func bannedWords(t *testing.T) []string {
	text, err := os.ReadFile("docs/glossary.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "## Words that are not used")
	require.True(t, found)
	var words []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "Not" {
			continue
		}
		for word := range strings.SplitSeq(cells[1], ",") {
			words = append(words, strings.ToLower(strings.TrimSpace(word)))
		}
	}
	require.NotEmpty(t, words)
	return words
}

var camelWord = regexp.MustCompile(`[A-Z]+(?:[a-z0-9]+)?|[a-z0-9]+`)

// wordsOf takes a name apart: "BlockLocation2" and "block_location" are block, location.
func wordsOf(name string) []string {
	var words []string
	for _, word := range camelWord.FindAllString(name, -1) {
		words = append(words, strings.ToLower(strings.TrimRight(word, "0123456789")))
	}
	return words
}

// exportedNames are what other packages see of a file: functions, methods, types, their fields, constants and variables.
func exportedNames(file *ast.File) (names []string) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Name)
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

// TestNamesAreTheFieldsWords holds file names and exported names against the glossary's list of words that are not used.
func TestNamesAreTheFieldsWords(t *testing.T) {
	banned := bannedWords(t)
	files, err := exec.CommandContext(t.Context(), "git", "ls-files", "*.go").Output()
	require.NoError(t, err)
	for path := range strings.FieldsSeq(string(files)) {
		base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".go"), "_test")
		for _, word := range wordsOf(base) {
			if slices.Contains(banned, word) {
				t.Errorf("%s: file names do not use %q", path, word)
			}
		}
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "chain/ethereum/contracts/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(t, err)
		for _, name := range exportedNames(file) {
			for _, word := range wordsOf(name) {
				if slices.Contains(banned, word) {
					t.Errorf("%s: %s: exported names do not use %q", path, name, word)
				}
			}
		}
	}
}
