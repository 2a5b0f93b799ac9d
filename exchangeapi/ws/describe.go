package ws

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/goccy/go-yaml"
)

//go:embed asyncapi.yaml
var asyncapi []byte

// description is asyncapi.yaml in JSON.
func description() ([]byte, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(asyncapi, &doc); err != nil {
		return nil, fmt.Errorf("reading the description of the pushes: %w", err)
	}
	return json.Marshal(doc)
}

// describe serves the description of the three shapes and all topics.
func (h *Hub) describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	_, _ = w.Write(h.description) // a client who is gone needs none
}
