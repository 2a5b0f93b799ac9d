// Command reference writes a Markdown page for each endpoint of the two APIs, for the documents'
// site: request, answer, errors and an example. The OpenAPI documents are the source. The errors of
// an endpoint are its x-errors; their texts come from the tables of docs/gateway-api.md and
// docs/exchange-api.md.
//
//	reference DIR
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// api is one of the two APIs: its name, its OpenAPI document and the base of its URLs.
type api struct{ name, document, base string }

var apis = []api{
	{"gateway-api", "gateway/openapi.yaml", "https://host/gateway/eth"},
	{"exchange-api", "exchangeapi/openapi.yaml", "http://127.0.0.1:8090/api/v2"},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reference DIR")
		os.Exit(2)
	}
	for _, a := range apis {
		if err := a.write(".", os.Args[1]); err != nil {
			fmt.Fprintf(os.Stderr, "reference: %s: %v\n", a.name, err)
			os.Exit(1)
		}
	}
}

// write makes the pages of an API in a folder with its name below dir.
func (a api) write(root, dir string) error {
	pages, err := a.pages(root)
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, a.name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range pages {
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pages returns the pages by operation id. Endpoints without x-errors serve the description itself.
func (a api) pages(root string) (map[string]string, error) {
	doc, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, a.document))
	if err != nil {
		return nil, err
	}
	texts, err := errorTexts(filepath.Join(root, "docs", a.name+".md"))
	if err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Extensions["x-errors"] == nil {
				continue
			}
			p := page{api: a, method: method, path: path, op: op, host: len(item.Servers) > 0}
			if pages[op.OperationID], err = p.text(texts); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
		}
	}
	return pages, nil
}

var errorRow = regexp.MustCompile(`(?m)^\| (\d{1,4}) \|(.+)\|$`)

// errorTexts reads the rows of a document's table of errors by their code.
func errorTexts(file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	_, table, _ := strings.Cut(string(text), "\n## Errors")
	if table == "" {
		_, table, _ = strings.Cut(string(text), "\n## subCode")
	}
	texts := map[string]string{}
	table, _, _ = strings.Cut(table, "\n## ")
	for _, row := range errorRow.FindAllStringSubmatch(table, -1) {
		cells := strings.Split(row[2], "|")
		if len(cells) == 4 { // code and HTTP status come first
			cells = cells[2:]
		}
		texts[row[1]] = strings.TrimSpace(cells[0])
		if last := strings.TrimSpace(cells[1]); last != "" {
			texts[row[1]] += " (" + last + ")"
		}
	}
	return texts, nil
}

// page is an endpoint's page.
type page struct {
	api
	method, path string
	op           *openapi3.Operation
	host         bool // the path is below the host, not below the API's base
}

func (p page) text(errors map[string]string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %s\n\n%s\n\n", p.method, p.path, escape(p.op.Summary))
	if p.signed() {
		fmt.Fprintf(&b, "The request is signed: it also has `key`, `timestamp` and `signature` ([signing](../%s.md#signing)).\n\n", p.name)
	}
	b.WriteString("## Request\n\n")
	b.WriteString(p.request())
	p.answer(&b)
	codes, err := p.codes()
	if err != nil {
		return "", err
	}
	if len(codes) == 0 {
		return b.String(), nil
	}
	b.WriteString("## Errors\n\n| Code | Meaning |\n|---|---|\n")
	for _, code := range codes {
		if errors[code] == "" {
			return "", fmt.Errorf("docs/%s.md has no error %s", p.name, code)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", code, escape(errors[code]))
	}
	return b.String(), nil
}

func (p page) signed() bool { return p.op.Security != nil && len(*p.op.Security) > 0 }

// codes are the endpoint's errors, as texts.
func (p page) codes() (codes []string, err error) {
	text, err := json.Marshal(p.op.Extensions["x-errors"])
	if err != nil {
		return nil, err
	}
	var numbers []int
	if err := json.Unmarshal(text, &numbers); err != nil {
		return nil, fmt.Errorf("x-errors: %w", err)
	}
	for _, n := range numbers {
		codes = append(codes, fmt.Sprint(n))
	}
	return codes, nil
}

// request is the table of parameters and a call with those that are required.
func (p page) request() string {
	var rows, query []string
	add := func(name string, required bool, schema *openapi3.SchemaRef, description string) {
		need := "no"
		if required {
			need = "yes"
			query = append(query, name+"="+strings.ToUpper(name))
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, need, kind(schema), escape(description)))
	}
	for _, one := range p.op.Parameters {
		if v := one.Value; v.In == openapi3.ParameterInQuery {
			add(v.Name, v.Required, v.Schema, v.Description)
		}
	}
	if p.op.RequestBody != nil {
		s := p.op.RequestBody.Value.Content.Get("application/json").Schema.Value
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			add(name, slices.Contains(s.Required, name), s.Properties[name], s.Properties[name].Value.Description)
		}
	}
	url := p.base + p.path
	if p.host {
		url = regexp.MustCompile(`^(\w+://[^/]+).*`).ReplaceAllString(p.base, "$1") + p.path
	}
	call := "    curl '" + url
	switch {
	case len(query) > 0 && p.method == "GET":
		call += "?" + strings.Join(query, "&") + "'"
	case len(query) > 0:
		call = "    curl -X " + p.method + " '" + url + "' -d '" + strings.Join(query, "&") + "'"
	default:
		call += "'"
	}
	if len(rows) == 0 {
		return call + "\n\n"
	}
	return call + "\n\n| Parameter | Required | Type | Meaning |\n|---|---|---|---|\n" + strings.Join(rows, "") + "\n"
}

// answer is the example and the members of the data.
func (p page) answer(b *strings.Builder) {
	ok := p.op.Responses.Value("200")
	if ok == nil {
		return
	}
	body := ok.Value.Content.Get("application/json")
	if body == nil {
		return
	}
	b.WriteString("## Answer\n\n")
	if body.Example != nil {
		if text, err := json.MarshalIndent(body.Example, "", "  "); err == nil {
			fmt.Fprintf(b, "```json\n%s\n```\n\n", text)
		}
	}
	if data := dataOf(body.Schema); data != nil && len(data.Properties) > 0 {
		b.WriteString("| Member | Type | Meaning |\n|---|---|---|\n")
		for _, name := range slices.Sorted(maps.Keys(data.Properties)) {
			m := data.Properties[name]
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, kind(m), escape(m.Value.Description))
		}
		b.WriteString("\n")
	}
}

// dataOf returns the schema of an answer's data, or of a list's elements. Without an envelope it is
// the schema itself.
func dataOf(s *openapi3.SchemaRef) *openapi3.Schema {
	if s == nil || s.Value == nil {
		return nil
	}
	for _, several := range []openapi3.SchemaRefs{s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf} {
		for _, one := range slices.Backward(several) {
			if found := dataOf(one); found != nil {
				return found
			}
		}
	}
	if data := s.Value.Properties["data"]; data != nil {
		return dataOf(data)
	}
	if s.Value.Items != nil {
		return dataOf(s.Value.Items)
	}
	if len(s.Value.Properties) == 0 {
		return nil
	}
	return s.Value
}

// kind is a schema's type: the name of a component, its values, or the JSON type.
func kind(s *openapi3.SchemaRef) string {
	switch {
	case s == nil || s.Value == nil:
		return ""
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.Value.Enum) > 0:
		var words []string
		for _, one := range s.Value.Enum {
			if text := fmt.Sprint(one); text != "" {
				words = append(words, text)
			}
		}
		return strings.Join(words, ", ")
	case s.Value.Items != nil:
		return "list of " + kind(s.Value.Items)
	case s.Value.Type != nil:
		return strings.Join(s.Value.Type.Slice(), ", ")
	}
	return ""
}

// escape keeps a text on its line, in its table cell and free of HTML.
func escape(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "{", "&#123;", "}", "&#125;").Replace(strings.ReplaceAll(s, `\|`, "|"))
}
