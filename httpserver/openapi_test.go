package httpserver

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// loaded are both forms of both descriptions.
func loaded(t *testing.T) map[string]*openapi3.T {
	docs := map[string]*openapi3.T{}
	for _, path := range []string{"../gateway/openapi.yaml", "../exchangeapi/openapi.yaml"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		d, err := ReadOpenAPI(text, []string{"/base"})
		require.NoError(t, err)
		for name, form := range map[string][]byte{"3.1 " + path: d.V31, "3.0 " + path: d.V30} {
			docs[name], err = openapi3.NewLoader().LoadFromData(form)
			require.NoError(t, err, name)
		}
	}
	return docs
}

// Both forms obey their standard, and their examples their schemas.
func TestBothFormsAreValid(t *testing.T) {
	for name, doc := range loaded(t) {
		require.NoError(t, doc.Validate(t.Context(), openapi3.EnableExamplesValidation()), name)
		require.Equal(t, name[:3], doc.OpenAPI[:3])
		require.Equal(t, "/base", doc.Servers[0].URL)
	}
}

// Every operation has an example of what is sent and of each answer, and explains its errors.
func TestEveryOperationHasExamples(t *testing.T) {
	for name, doc := range loaded(t) {
		for path, item := range doc.Paths.Map() {
			for method, o := range item.Operations() {
				at := name + ": " + method + " " + path
				for _, p := range o.Parameters {
					require.NotNil(t, p.Value.Example, at+" "+p.Value.Name)
				}
				if o.RequestBody != nil {
					checkContent(t, at, o.RequestBody.Value.Content)
				}
				for status, answer := range o.Responses.Map() {
					checkContent(t, at+" "+status, answer.Value.Content)
				}
				require.NotEmpty(t, o.Summary, at)
				for _, code := range codesOf(t, o.Extensions["x-errors"]) {
					require.Contains(t, o.Description, "| "+code+" | ", at)
					require.Contains(t, doc.Info.Description, "| "+code+" | ", at)
				}
			}
		}
	}
}

func checkContent(t *testing.T, at string, content openapi3.Content) {
	require.NotEmpty(t, content, at)
	for kind, media := range content {
		require.NotNil(t, media.Example, at+" "+kind)
	}
}

func codesOf(t *testing.T, list any) (codes []string) {
	text, err := json.Marshal(list)
	require.NoError(t, err)
	var numbers []json.Number
	require.NoError(t, json.Unmarshal(text, &numbers))
	for _, n := range numbers {
		codes = append(codes, n.String())
	}
	return codes
}

func TestSchemasOfOpenAPI30(t *testing.T) {
	for from, want := range map[string]string{
		`{"type":["string","null"]}`:                                `{"type":"string","nullable":true}`,
		`{"type":"null"}`:                                           `{"type":"object","maxProperties":0,"nullable":true}`,
		`{"type":["integer"]}`:                                      `{"type":"integer"}`,
		`{"const":"ok"}`:                                            `{"enum":["ok"]}`,
		`{"examples":[1,2]}`:                                        `{"example":1}`,
		`{"exclusiveMinimum":0,"maximum":9}`:                        `{"minimum":0,"exclusiveMinimum":true,"maximum":9}`,
		`{"properties":{"type":{"type":"null"},"const":{}}}`:        `{"properties":{"type":{"type":"object","maxProperties":0,"nullable":true},"const":{"nullable":true}}}`,
		`{"items":{"const":1},"propertyNames":{"enum":["a"]}}`:      `{"items":{"enum":[1]}}`,
		`{"oneOf":[{"$ref":"#/a"},{"const":1}]}`:                    `{"oneOf":[{"$ref":"#/a"},{"enum":[1]}]}`,
		`{"additionalProperties":false,"not":{"const":1}}`:          `{"additionalProperties":false,"not":{"enum":[1]}}`,
		`{"additionalProperties":{"type":["boolean","null"]}}`:      `{"additionalProperties":{"type":"boolean","nullable":true}}`,
		`{"dependentRequired":{"a":["b"]},"example":{"const":"x"}}`: `{"example":{"const":"x"}}`,
	} {
		var schema any
		require.NoError(t, json.Unmarshal([]byte(from), &schema))
		require.NoError(t, rewriteSchema(schema), from)
		got, err := json.Marshal(schema)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), from)
	}
}

func TestUnreadableDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"{":                                   "reading the API's description",
		"paths: {/a: {get: {x-errors: [7]}}}": "get /a: x-error-codes has no error 7",
		"components: {schemas: {A: {properties: {b: {type: [string, integer]}}}}}": "OpenAPI 3.0: components: schemas: A: b: no form for the types",
	} {
		_, err := ReadOpenAPI([]byte(text), nil)
		require.ErrorContains(t, err, want)
	}
}

// Only schemas of a document are rewritten.
func TestOnlySchemasAreRewritten(t *testing.T) {
	d, err := ReadOpenAPI([]byte(`{openapi: 3.1.0, info: {title: a, summary: b, license: {name: c, identifier: d}}, paths: {/a: {get: {parameters: [{name: q, schema: {const: 1}, example: {const: 1}}]}}}}`), []string{"/"})
	require.NoError(t, err)
	require.JSONEq(t, `{"openapi":"3.0.3","servers":[{"url":"/"}],"info":{"title":"a","license":{"name":"c"}},"paths":{"/a":{"get":{"parameters":[{"name":"q","schema":{"enum":[1]},"example":{"const":1}}]}}}}`, string(d.V30))
	var current map[string]any
	require.NoError(t, json.Unmarshal(d.V31, &current))
	require.Equal(t, []string{"info", "openapi", "paths", "servers"}, slices.Sorted(maps.Keys(current)))
}
