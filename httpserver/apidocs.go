package httpserver

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

//go:embed page.html
var page string

//go:embed page.css
var style string

// document contains the displayed parts of an OpenAPI document. References are resolved on use.
type document struct {
	Info    struct{ Title, Version, Summary, Description string }
	Servers []struct{ URL string }
	Paths   map[string]map[string]json.RawMessage

	Components map[string]map[string]json.RawMessage
}

// operation is one row of the page.
type operation struct {
	Method, Path, ID string
	Summary          string
	Private          bool
	Parameters       []parameter
	Example          string
	Answer           string // name of the schema of the answer's data
}

type parameter struct {
	Name, In, Description string
	Required              bool
}

// schema is one of the shapes at the end of the page.
type schema struct {
	Name, Description string
	Members           []member
}

type member struct {
	Name, Type, Description string
	Optional                bool
}

// Handler serves the page of an OpenAPI document in JSON.
func Handler(doc []byte) (http.Handler, error) {
	html, err := render(doc)
	if err != nil {
		return nil, fmt.Errorf("making the page of the API's description: %w", err)
	}
	digest := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		_, _ = w.Write(html) // who is gone needs none
	}), nil
}

func render(text []byte) ([]byte, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	t, err := template.New("page").Funcs(template.FuncMap{"prose": prose, "marked": marked}).Parse(page)
	if err != nil {
		return nil, err
	}
	operations, err := d.operations()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Info": d.Info, "Servers": d.Servers, "Style": template.CSS(style), "Operations": operations, "Schemas": d.schemas(), "Schemes": d.schemes(),
	})
	return b.Bytes(), err
}

// methods are in the order of the page.
var methods = []string{"get", "post", "delete"}

func (d *document) operations() (list []operation, err error) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range methods {
			raw, ok := d.Paths[path][method]
			if !ok {
				continue
			}
			one, err := d.operation(strings.ToUpper(method), path, raw)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			list = append(list, one)
		}
	}
	return list, nil
}

// content contains the displayed parts of a request or an answer.
type content struct {
	Content map[string]struct {
		Example json.RawMessage
		Schema  json.RawMessage
	}
}

func (d *document) operation(method, path string, raw json.RawMessage) (operation, error) {
	var o struct {
		OperationID, Summary string
		Security             []json.RawMessage
		Parameters           []json.RawMessage
		RequestBody          json.RawMessage
		Responses            map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return operation{}, err
	}
	one := operation{Method: method, Path: path, ID: o.OperationID, Summary: o.Summary, Private: len(o.Security) > 0}
	for _, p := range o.Parameters {
		var to parameter
		if err := d.read(p, &to); err != nil {
			return one, err
		}
		one.Parameters = append(one.Parameters, to)
	}
	if o.RequestBody != nil {
		var body content
		if err := d.read(o.RequestBody, &body); err != nil {
			return one, err
		}
		one.Parameters = append(one.Parameters, d.fields(body)...)
	}
	var answer content
	if err := d.read(o.Responses["200"], &answer); err != nil {
		return one, err
	}
	if example := answer.Content["application/json"].Example; example != nil {
		var b bytes.Buffer
		if err := json.Indent(&b, example, "", "  "); err != nil {
			return one, err
		}
		one.Example = b.String()
	}
	one.Answer = lastReference(answer.Content["application/json"].Schema)
	return one, nil
}

// fields are the members of a form, as parameters.
func (d *document) fields(body content) (list []parameter) {
	for _, m := range d.members(body.Content["application/json"].Schema) {
		list = append(list, parameter{Name: m.Name, In: "form", Description: m.Description, Required: !m.Optional})
	}
	return list
}

// read follows a reference, if there is one, and reads what it finds.
func (d *document) read(raw json.RawMessage, into any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(d.follow(raw), into)
}

func (d *document) follow(raw json.RawMessage) json.RawMessage {
	var r struct {
		Ref string `json:"$ref"`
	}
	if json.Unmarshal(raw, &r) != nil || r.Ref == "" {
		return raw
	}
	kind, name, _ := strings.Cut(strings.TrimPrefix(r.Ref, "#/components/"), "/")
	return d.Components[kind][name]
}

// shape contains the displayed parts of a schema.
type shape struct {
	Ref         string `json:"$ref"`
	Type        any
	Description string
	Enum        []any
	Required    []string
	Properties  map[string]json.RawMessage
	Items       json.RawMessage
	AllOf       []json.RawMessage
}

// fullDescription is the description, with those of what a list's entries have besides the shape
// that they are of.
func (s shape) fullDescription() string {
	var of shape
	if s.Items == nil || json.Unmarshal(s.Items, &of) != nil {
		return s.Description
	}
	text := []string{}
	for _, raw := range of.AllOf {
		var part shape
		if json.Unmarshal(raw, &part) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(part.Properties)) {
			var m shape
			if json.Unmarshal(part.Properties[name], &m) == nil && m.Description != "" {
				text = append(text, name+": "+m.Description)
			}
		}
	}
	return strings.TrimSpace(s.Description + "\n" + strings.Join(text, "\n"))
}

func (d *document) members(raw json.RawMessage) (list []member) {
	var s shape
	if d.read(raw, &s) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		var m shape
		if json.Unmarshal(s.Properties[name], &m) != nil {
			continue
		}
		list = append(list, member{Name: name, Type: m.kind(), Description: m.fullDescription(), Optional: !slices.Contains(s.Required, name)})
	}
	return list
}

// kind is the type in a word: the name of a shape, or what JSON calls it.
func (s shape) kind() string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case len(s.AllOf) > 0:
		var first shape
		if json.Unmarshal(s.AllOf[0], &first) == nil {
			return first.kind()
		}
	case len(s.Enum) > 0:
		var words []string
		for _, one := range s.Enum {
			words = append(words, fmt.Sprint(one))
		}
		return strings.Join(words, ", ")
	case s.Items != nil:
		var of shape
		if json.Unmarshal(s.Items, &of) == nil {
			return "list of " + of.kind()
		}
	}
	if several, ok := s.Type.([]any); ok {
		return strings.Trim(fmt.Sprint(several), "[]")
	}
	if s.Type == nil {
		return ""
	}
	return fmt.Sprint(s.Type)
}

func (d *document) schemas() (list []schema) {
	for _, name := range slices.Sorted(maps.Keys(d.Components["schemas"])) {
		var s shape
		raw := d.Components["schemas"][name]
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		list = append(list, schema{Name: name, Description: cmp.Or(s.Description, s.kind()), Members: d.members(raw)})
	}
	return list
}

func (d *document) schemes() (list []parameter) {
	for _, name := range slices.Sorted(maps.Keys(d.Components["securitySchemes"])) {
		var p parameter
		if json.Unmarshal(d.Components["securitySchemes"][name], &p) == nil {
			list = append(list, p)
		}
	}
	return list
}

// lastReference is the name of the last schema that an answer's schema refers to: that of its data.
func lastReference(raw json.RawMessage) string {
	const mark = `"#/components/schemas/`
	at := bytes.LastIndex(raw, []byte(mark))
	if at < 0 {
		return ""
	}
	name, _, _ := strings.Cut(string(raw[at+len(mark):]), `"`)
	return name
}

// quoted matches names and values between back-quotes in descriptions.
var quoted = regexp.MustCompile("`([^`\n]+)`")

// marked is a description with its names and values set as such.
func marked(text string) template.HTML {
	return template.HTML(quoted.ReplaceAllString(template.HTMLEscapeString(text), "<code>$1</code>"))
}

// prose is a description of paragraphs, which the browser breaks into lines.
func prose(text string) (html template.HTML) {
	for _, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		html += "<p>" + marked(paragraph) + "</p>"
	}
	return html
}
