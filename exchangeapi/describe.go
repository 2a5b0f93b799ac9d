package exchangeapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var openapi []byte

// describe is the API's description in JSON, with the base paths that are served here.
func describe(bases []string) ([]byte, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return nil, fmt.Errorf("reading the API's description: %w", err)
	}
	servers := make([]map[string]string, len(bases))
	for i, base := range bases {
		servers[i] = map[string]string{"url": base + prefix}
	}
	doc["servers"] = servers
	return json.Marshal(doc)
}

// splitRoute takes "METHOD /path" apart.
func splitRoute(at string) (method, path string) {
	method, path, _ = strings.Cut(at, " ")
	return method, path
}
