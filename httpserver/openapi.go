package httpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/labstack/echo/v4"
)

// OpenAPI is an API's description in JSON.
type OpenAPI struct {
	V31 []byte // OpenAPI 3.1, as it is written
	V30 []byte // the same in OpenAPI 3.0, for generators that know no other
}

// ReadOpenAPI reads a description in YAML. It sets the servers and adds a table of errors to the
// text of the document and of each operation: x-errors lists an operation's codes, x-error-codes
// explains them.
func ReadOpenAPI(text []byte, servers []string) (OpenAPI, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return OpenAPI{}, fmt.Errorf("reading the API's description: %w", err)
	}
	list := make([]any, len(servers))
	for i, url := range servers {
		list[i] = map[string]any{"url": url}
	}
	doc["servers"] = list
	if err := describeErrors(doc); err != nil {
		return OpenAPI{}, fmt.Errorf("the API's description: %w", err)
	}
	current, err := json.Marshal(doc)
	if err != nil {
		return OpenAPI{}, fmt.Errorf("the API's description: %w", err)
	}
	older, err := openAPI30(current)
	if err != nil {
		return OpenAPI{}, fmt.Errorf("the API's description in OpenAPI 3.0: %w", err)
	}
	return OpenAPI{V31: current, V30: older}, nil
}

// Route serves both documents.
func (o OpenAPI) Route(get func(path string, h echo.HandlerFunc)) {
	get("/openapi.json", func(c echo.Context) error { return c.JSONBlob(http.StatusOK, o.V31) })
	get("/openapi-3.0.json", func(c echo.Context) error { return c.JSONBlob(http.StatusOK, o.V30) })
}

// describeErrors adds the tables of errors.
func describeErrors(doc map[string]any) error {
	known, _ := doc["x-error-codes"].(map[string]any)
	if info, ok := doc["info"].(map[string]any); ok && len(known) > 0 {
		table, err := errorTable(slices.Sorted(maps.Keys(known)), known)
		if err != nil {
			return err
		}
		info["description"] = fmt.Sprint(info["description"], "\n## Errors\n\n", table)
	}
	paths, _ := doc["paths"].(map[string]any)
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		for method, one := range operations {
			operation, _ := one.(map[string]any)
			codes, _ := operation["x-errors"].([]any)
			if len(codes) == 0 {
				continue
			}
			names := make([]string, len(codes))
			for i, code := range codes {
				names[i] = fmt.Sprint(code)
			}
			table, err := errorTable(names, known)
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			text, _ := operation["description"].(string)
			operation["description"] = strings.TrimLeft(text+"\n\nErrors:\n\n", "\n") + table
		}
	}
	return nil
}

// errorTable is a table in Markdown.
func errorTable(codes []string, known map[string]any) (string, error) {
	var b strings.Builder
	b.WriteString("| Code | Meaning | What to do |\n|---|---|---|\n")
	for _, code := range codes {
		texts, ok := known[code].(map[string]any)
		if !ok {
			return "", fmt.Errorf("x-error-codes has no error %s", code)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", code, texts["meaning"], texts["action"])
	}
	return b.String(), nil
}

// openAPI30 rewrites a document of OpenAPI 3.1 in the words of 3.0.
func openAPI30(text []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	doc["openapi"] = "3.0.3"
	if info, ok := doc["info"].(map[string]any); ok {
		delete(info, "summary")
		if license, ok := info["license"].(map[string]any); ok {
			delete(license, "identifier")
		}
	}
	if err := rewriteSchemas(doc); err != nil {
		return nil, err
	}
	return json.Marshal(doc)
}

// rewriteSchemas rewrites the schemas in a part of a document.
func rewriteSchemas(node any) error {
	switch v := node.(type) {
	case []any:
		return rewriteEach(v, rewriteSchemas)
	case map[string]any:
		for name, one := range v {
			rewrite := rewriteSchemas
			switch name {
			case "example", "examples":
				continue
			case "schema":
				rewrite = rewriteSchema
			case "schemas":
				rewrite = rewriteNamed
			}
			if err := rewrite(one); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func rewriteEach(list []any, rewrite func(any) error) error {
	for _, one := range list {
		if err := rewrite(one); err != nil {
			return err
		}
	}
	return nil
}

// rewriteNamed rewrites schemas that have names.
func rewriteNamed(node any) error {
	named, _ := node.(map[string]any)
	for name, one := range named {
		if err := rewriteSchema(one); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// newKeywords exist in OpenAPI 3.1 only and just narrow what a schema allows, so they can be left
// out.
var newKeywords = []string{"dependentRequired", "propertyNames"}

// rewriteSchema rewrites a schema and those within it.
func rewriteSchema(node any) error {
	s, ok := node.(map[string]any)
	if !ok {
		return nil // additionalProperties: false
	}
	if err := rewriteType(s); err != nil {
		return err
	}
	if value, ok := s["const"]; ok {
		s["enum"] = []any{value}
		delete(s, "const")
	}
	if list, ok := s["examples"].([]any); ok {
		s["example"] = list[0]
		delete(s, "examples")
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if value, ok := s[exclusive].(float64); ok {
			s[bound], s[exclusive] = value, true
		}
	}
	for _, name := range newKeywords {
		delete(s, name)
	}
	for _, name := range []string{"items", "not", "additionalProperties"} {
		if err := rewriteSchema(s[name]); err != nil {
			return err
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[name].([]any)
		if err := rewriteEach(list, rewriteSchema); err != nil {
			return err
		}
	}
	return rewriteNamed(s["properties"])
}

// rewriteType makes a type that allows null nullable. What is only null becomes an object without
// members that is nullable.
func rewriteType(s map[string]any) error {
	var types []any
	switch t := s["type"].(type) {
	case string:
		types = []any{t}
	case []any:
		types = t
	default:
		if len(s) == 0 {
			s["nullable"] = true // anything
		}
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" })
	switch {
	case len(others) > 1:
		return fmt.Errorf("no form for the types %v", others)
	case len(others) == 1:
		s["type"] = others[0]
	default:
		s["type"], s["maxProperties"] = "object", 0
	}
	if len(others) < len(types) {
		s["nullable"] = true
	}
	return nil
}
