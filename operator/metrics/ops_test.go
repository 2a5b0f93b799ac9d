package metrics

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/operator/status"
)

const root = "../../"

type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func readRules(t *testing.T) (list []rule) {
	t.Helper()
	text, err := os.ReadFile(root + "ops/alerts.yml")
	require.NoError(t, err)
	var file struct{ Groups []struct{ Rules []rule } }
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		list = append(list, g.Rules...)
	}
	return list
}

// Each kind of condition has an alert, whose expression asks for it, and a row in the tables of
// docs/operations.md.
func TestEachKindHasAnAlertAndARow(t *testing.T) {
	source, err := os.ReadFile("../status/status.go")
	require.NoError(t, err)
	named := regexp.MustCompile(`(?m)^\t\w+ +Kind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, status.Kinds(), len(named), "Kinds names all of them")
	document, err := os.ReadFile(root + "docs/operations.md")
	require.NoError(t, err)
	alerts := map[string]rule{}
	for _, r := range readRules(t) {
		alerts[r.Labels["condition"]] = r
	}
	for _, n := range named {
		kind := n[1]
		require.Contains(t, status.Kinds(), status.Kind(kind))
		require.Contains(t, alerts, kind, "ops/alerts.yml")
		require.Contains(t, alerts[kind].Expr, `gatewayd_condition{kind="`+kind+`"}`)
		require.Regexp(t, "(?m)^\\| `"+kind+"`", string(document))
	}
}

// Each alert has a delay, a severity, and the heading of the documents with the instructions.
func TestAlertsSayWhatToDo(t *testing.T) {
	document, err := os.ReadFile(root + "docs/operations.md")
	require.NoError(t, err)
	anchors := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(document), -1) {
		anchors[strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	for _, r := range readRules(t) {
		require.NotEmpty(t, r.For, r.Alert)
		require.Contains(t, []string{"critical", "warning", "info"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		anchor, ok := strings.CutPrefix(r.Annotations["runbook"], "docs/operations.md#")
		require.True(t, ok && anchors[anchor], "%s: %s", r.Alert, r.Annotations["runbook"])
	}
}

// Prometheus reads the rules, and each fires when it should and not before.
func TestAlertRules(t *testing.T) {
	for _, args := range [][]string{{"check", "config", "ops/prometheus.yml"}, {"check", "rules", "ops/alerts.yml"}, {"test", "rules", "ops/alerts_test.yml"}} {
		c := exec.Command("scripts/promtool.sh", args...)
		c.Dir = root
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		if strings.Contains(string(out), "promtool: not here") {
			t.Skip(string(out))
		}
		require.Contains(t, string(out), "SUCCESS")
	}
	tests, err := os.ReadFile(root + "ops/alerts_test.yml")
	require.NoError(t, err)
	for _, r := range readRules(t) {
		require.Contains(t, string(tests), "name: "+r.Alert+"\n", "a case of its own")
	}
}
