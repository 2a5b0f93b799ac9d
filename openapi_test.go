package gatewayd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

var descriptions = []string{"gateway/openapi.yaml", "exchangeapi/openapi.yaml"}

// The descriptions of the APIs pass the rules that Redocly's linter has by default, without a
// warning.
func TestDescriptionsPassRedocly(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed: nothing can install the linter")
	}
	output, err := exec.CommandContext(t.Context(), "scripts/npm-install.sh", "redocly").CombinedOutput()
	require.NoError(t, err, string(output))
	for _, path := range descriptions {
		lint := exec.CommandContext(t.Context(), "build/redocly/node_modules/.bin/redocly", "lint", "--format=json", path)
		lint.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		output, err := lint.Output()
		require.NoError(t, err, "%s: %s", path, output)
		var found struct {
			Totals   struct{ Errors, Warnings, Ignored int }
			Problems []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(output, &found), string(output))
		require.Empty(t, found.Problems, path)
		require.Zero(t, found.Totals, path)
	}
}

// Two of these rules without the linter: an operation without a security scheme states it, and
// every required member is described.
func TestDescriptionsNameWhatTheyRequire(t *testing.T) {
	t.Parallel()
	for _, path := range descriptions {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var doc map[string]any
		require.NoError(t, yaml.Unmarshal(text, &doc))
		require.Equal(t, []any{}, doc["security"], path)
		require.Empty(t, undescribed(path, doc))
	}
}

// undescribed lists the members that schemas require and do not describe.
func undescribed(at string, node any) (list []string) {
	switch v := node.(type) {
	case []any:
		for _, one := range v {
			list = append(list, undescribed(at, one)...)
		}
	case map[string]any:
		required, _ := v["required"].([]any)
		described, _ := v["properties"].(map[string]any)
		for _, name := range required {
			if _, ok := described[name.(string)]; !ok {
				list = append(list, at+" "+name.(string))
			}
		}
		for name, one := range v {
			list = append(list, undescribed(at+"/"+name, one)...)
		}
	}
	slices.Sort(list)
	return list
}
