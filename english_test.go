package gatewayd_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// phrase is an idiom that plain technical English does without, and how often it may occur in 1,000
// lines.
type phrase struct {
	name string
	at   *regexp.Regexp
	max  float64
}

func idiom(name, pattern string, max float64) phrase {
	return phrase{name: name, at: regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`), max: max}
}

// idioms are bounds for comments, for texts of the program and for documents alike.
var idioms = []phrase{
	idiom("is what", `(?:is|are|was|were) what`, 1),
	idiom("is how", `(?:is|are|was|were) (?:how|where|why)`, 1),
	idiom("says", `says?|said|saying`, 2),
	idiom("tells", `tells?|told|telling`, 2),
	idiom("nobody", `nobody|somebody|everybody`, 1),
	idiom("mended", `mends?|mended|mending`, 0.2),
	idiom("anew", `anew|afresh`, 0.2),
	idiom("goes on", `go(?:es|ing)? on|went on`, 1),
	idiom("whole", `whole`, 4),
	idiom("beside", `beside`, 1),
	idiom("for good", `for good`, 0.2),
	idiom("by itself", `by itself|by themselves`, 1),
}

const (
	maxColumns      = 100  // of a comment line
	longestSentence = 25   // of a sentence
	maxLongRate     = 0.02 // share of the sentences that may be longer
)

// passage is the text of one kind of a folder: its lines and its sentences.
type passage struct {
	lines     []string
	sentences []string
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?:;]["')\]]*(?:\s|$)`)
	wordInText  = regexp.MustCompile(`[\pL\pN][^\s]*`)
	lineSpaces  = regexp.MustCompile(`\s+`)
)

// add takes a paragraph, whose lines may wrap.
func (p *passage) add(paragraph string) {
	for line := range strings.Lines(paragraph) {
		if strings.TrimSpace(line) != "" {
			p.lines = append(p.lines, strings.TrimSpace(line))
		}
	}
	p.sentences = append(p.sentences, sentenceEnd.Split(lineSpaces.ReplaceAllString(paragraph, " "), -1)...)
}

// faults returns what of the text is out of bounds.
func (p *passage) faults() []string {
	var found []string
	text := strings.Join(p.lines, "\n")
	for _, one := range idioms {
		hits := len(one.at.FindAllString(text, -1))
		if rate := float64(hits) * 1000 / float64(max(len(p.lines), 1)); rate > one.max {
			found = append(found, fmt.Sprintf("%q occurs %d times in %d lines (%.1f per 1,000, at most %g)", one.name, hits, len(p.lines), rate, one.max))
		}
	}
	var long []string
	for _, sentence := range p.sentences {
		if len(wordInText.FindAllString(sentence, -1)) > longestSentence {
			long = append(long, sentence)
		}
	}
	if share := float64(len(long)) / float64(max(len(p.sentences), 1)); share > maxLongRate {
		slices.SortFunc(long, func(a, b string) int { return len(b) - len(a) })
		found = append(found, fmt.Sprintf("%d of %d sentences have more than %d words (%.1f %%), the longest: %s", len(long), len(p.sentences), longestSentence, share*100, long[0]))
	}
	return found
}

// TestCommentsArePlainEnglish measures the comments of the product's code.
func TestCommentsArePlainEnglish(t *testing.T) {
	var all passage
	for path, file := range sources(t, parser.ParseComments) {
		if ast.IsGenerated(file) || strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, group := range file.Comments {
			all.add(group.Text())
			for _, comment := range group.List {
				for line := range strings.Lines(comment.Text) {
					if utf8.RuneCountInString(line) > maxColumns && !strings.Contains(line, "://") && !strings.HasPrefix(line, "//go:") {
						t.Errorf("%s: a comment line has more than %d columns: %s", path, maxColumns, line)
					}
				}
			}
		}
	}
	for _, fault := range all.faults() {
		t.Errorf("comments: %s", fault)
	}
}

var codeBlock = regexp.MustCompile("(?s)```.*?```")

// TestDocumentsArePlainEnglish measures the text of the documents without their code blocks.
func TestDocumentsArePlainEnglish(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "*.md").Output()
	require.NoError(t, err)
	var all passage
	for path := range strings.FieldsSeq(string(list)) {
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(t, err)
		for line := range strings.Lines(codeBlock.ReplaceAllString(string(text), "")) {
			for cell := range strings.SplitSeq(line, "|") {
				all.add(cell)
			}
		}
	}
	for _, fault := range all.faults() {
		t.Errorf("documents: %s", fault)
	}
}
