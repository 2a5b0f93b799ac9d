package config

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/operations/configuration.md")

const (
	examplePath   = "../config.example.yaml"
	referencePath = "../docs/operations/configuration.md"
)

// keyLine is a key of the example, or one that is commented out: indentation, item, name and value.
var keyLine = regexp.MustCompile(`^( *)(- )?([\w]+):(?: (.*))?$`)

// citedDocument is a document that a comment names.
var citedDocument = regexp.MustCompile(`docs/([\w/-]+\.md)`)

// referenceKey is a row of the reference.
type referenceKey struct {
	path, value, text string
	isExample         bool // commented out in the example
}

// referenceParser collects the keys of the example with the comments above them and on their lines.
type referenceParser struct {
	levels  []referenceLevel
	keys    []*referenceKey
	byPath  map[string]*referenceKey
	comment []string
}

type referenceLevel struct {
	indent int
	path   string
}

// line reads one line of the example.
func (p *referenceParser) line(text string) {
	body, isExample := text, false
	if before, after, found := strings.Cut(text, "#"); found && strings.TrimSpace(before) == "" {
		body, isExample = before+strings.TrimPrefix(after, " "), true
	}
	trimmed := strings.TrimSpace(body)
	switch m := keyLine.FindStringSubmatch(body); {
	case trimmed == "":
		p.comment = nil
	case strings.HasPrefix(trimmed, "# "): // a comment in a part that is commented out
		p.comment = append(p.comment, trimmed[2:])
	case m != nil:
		p.key(len(m[1]), m[2] != "", m[3], m[4], isExample)
	case isExample && !strings.HasPrefix(trimmed, "- "):
		p.comment = append(p.comment, trimmed)
	default:
		p.item(trimmed)
	}
}

// key adds a key below the nearest one with a smaller indentation.
func (p *referenceParser) key(indent int, isItem bool, name, value string, isExample bool) {
	value, trailing, _ := strings.Cut(value, " # ")
	if strings.HasPrefix(value, "# ") {
		value, trailing = "", value[2:]
	}
	text := strings.TrimSpace(strings.Join(append(p.comment, trailing), " "))
	p.comment = nil
	if isItem {
		indent += 2
	}
	for len(p.levels) > 0 && p.levels[len(p.levels)-1].indent >= indent {
		p.levels = p.levels[:len(p.levels)-1]
	}
	path := name
	if len(p.levels) > 0 {
		parent := p.levels[len(p.levels)-1].path
		if isItem {
			parent = strings.TrimSuffix(parent, "[]") + "[]"
			p.levels[len(p.levels)-1].path = parent
		}
		path = parent + "." + name
	}
	p.levels = append(p.levels, referenceLevel{indent, path})
	p.add(&referenceKey{path, strings.TrimSpace(value), text, isExample})
}

// add keeps the first of equal keys, which are of further items, and joins what they explain.
func (p *referenceParser) add(k *referenceKey) {
	known := p.byPath[k.path]
	if known == nil {
		p.byPath[k.path], p.keys = k, append(p.keys, k)
		return
	}
	if k.text != "" && !strings.Contains(known.text, k.text) {
		known.text = strings.TrimSpace(sentence(known.text) + " " + k.text)
	}
}

// item is the value of a list that has no keys.
func (p *referenceParser) item(text string) {
	if last := p.keys[len(p.keys)-1]; last.value == "" {
		last.value = "[" + strings.TrimPrefix(text, "- ") + "]"
	}
}

func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// reference renders the page.
func reference(example string) string {
	p := &referenceParser{byPath: map[string]*referenceKey{}}
	head, rest, _ := strings.Cut(example, "\n\n")
	for line := range strings.Lines(rest) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Configuration\n\n%s\n\n"+
		"A value is the default where there is one, otherwise an example. Optional keys are commented out in\n"+
		"[config.example.yaml](../../config.example.yaml). [Configure](configure.md) explains how to change them.\n\n"+
		"This page is generated from that file: `go test ./config -run TestReference -update`.\n",
		strings.ReplaceAll(strings.TrimPrefix(head, "# "), "\n# ", "\n"))
	for _, k := range p.keys {
		k.write(&b)
	}
	return b.String()
}

// write writes the key's row, and before it the heading of a section that begins with the key.
func (k *referenceKey) write(b *strings.Builder) {
	section, name, isNested := strings.Cut(k.path, ".")
	text := citedDocument.ReplaceAllString(strings.ReplaceAll(k.text, "|", `\|`), "[$1](../$1)")
	if !isNested {
		fmt.Fprintf(b, "\n## %s\n\n", section)
		if k.value == "" && text != "" {
			fmt.Fprintf(b, "%s\n\n", text)
		}
		fmt.Fprint(b, "| Key | Value | Meaning |\n|---|---|---|\n")
		if k.value == "" {
			return
		}
		name = section
	}
	if name = "`" + name + "`"; k.isExample {
		name += " (optional)"
	}
	value := k.value
	if value != "" {
		value = "`" + strings.ReplaceAll(value, "|", `\|`) + "`"
	}
	fmt.Fprintf(b, "| %s | %s | %s |\n", name, value, text)
}

// TestReference requires the committed reference of the configuration to be that of the example.
func TestReference(t *testing.T) {
	example, err := os.ReadFile(examplePath)
	require.NoError(t, err)
	want := reference(string(example))
	if *update {
		require.NoError(t, os.WriteFile(referencePath, []byte(want), 0o644))
	}
	page, err := os.ReadFile(referencePath)
	require.NoError(t, err)
	known := map[string]bool{}
	addKeys(known, reflect.TypeFor[Config]())
	for _, row := range regexp.MustCompile("(?m)^\\| `(?:[^` ]*\\.)?(\\w+)`").FindAllStringSubmatch(want, -1) {
		require.True(t, known[row[1]], "%s is no key: a comment line begins like one", row[1])
	}
	require.Equal(t, want, string(page), "the page is stale: go test ./config -run TestReference -update")
}

// addKeys adds the keys of a type and of everything in it.
func addKeys(known map[string]bool, of reflect.Type) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		addKeys(known, of.Elem())
	case reflect.Struct:
		for i := range of.NumField() {
			if f := of.Field(i); f.IsExported() {
				name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				known[name] = true
				addKeys(known, f.Type)
			}
		}
	}
}

// TestReferenceReadsComments covers lists, parts that are commented out, and keys of several items.
func TestReferenceReadsComments(t *testing.T) {
	page := reference("# head\n\n# Chains.\nchains:\n  - id: a # name\n    # Long\n    # text.\n    nodes:\n      - http://x\n  - id: b # other\n\n" +
		"# Off.\n# extra:\n#   # inner\n#   key: 1 # one | two\n")
	for _, row := range []string{
		"## chains\n\nChains.\n", "| `id` | `a` | name. other |", "| `nodes` | `[http://x]` | Long text. |",
		"## extra\n\nOff.\n", "| `key` (optional) | `1` | inner one \\| two |",
	} {
		require.Contains(t, page, row)
	}
}
