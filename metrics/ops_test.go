package metrics

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/status"
)

const root = "../"

type rule struct {
	Record, Alert       string
	Expr, For           string
	Labels, Annotations map[string]string
}

// readRules returns the alerts, without the recording rules.
func readRules(t *testing.T) (list []rule) {
	t.Helper()
	text, err := os.ReadFile(root + "ops/alerts.yml")
	require.NoError(t, err)
	var file struct{ Groups []struct{ Rules []rule } }
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			require.NotEqual(t, r.Record == "", r.Alert == "", "a rule is an alert or a recording rule")
			if r.Alert != "" {
				list = append(list, r)
			}
		}
	}
	return list
}

// TestEachKindHasAnAlertAndARow requires an alert for each kind of condition and a row in the
// tables of docs/operations/alerts.md. The alert names the section of the kind's runbook.
func TestEachKindHasAnAlertAndARow(t *testing.T) {
	source, err := os.ReadFile("../status/kinds.go")
	require.NoError(t, err)
	named := regexp.MustCompile(`(?m)^\t\w+ +Kind = "(\w+)"`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, status.Kinds(), len(named), "Kinds names all of them")
	document, err := os.ReadFile(root + "docs/operations/alerts.md")
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
		require.Regexp(t, "(?m)^\\|.* ?`"+kind+"`", string(document))
		runbook := alerts[kind].Annotations["runbook"]
		require.Regexp(t, `^docs/operations/alerts/[a-z-]+\.md#`+kind+`$`, runbook, alerts[kind].Alert)
	}
}

// site is the place of the published documents in runbook_url; the head of ops/alerts.yml describes
// it.
const site = "https://gatewayd.example/"

// TestAlertsHaveRunbooks requires a duration, a severity, a summary and a runbook of each alert.
// The runbook is a section of a page, and runbook_url is the same section on the site.
func TestAlertsHaveRunbooks(t *testing.T) {
	for _, r := range readRules(t) {
		require.NotEmpty(t, r.For, r.Alert)
		require.Contains(t, []string{"critical", "warning", "info"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		page, anchor, ok := strings.Cut(r.Annotations["runbook"], "#")
		require.True(t, ok, "%s: %s", r.Alert, r.Annotations["runbook"])
		require.Contains(t, anchors(t, page), anchor, "%s: %s", r.Alert, page)
		require.Equal(t, site+strings.TrimSuffix(page, ".md")+".html#"+anchor, r.Annotations["runbook_url"], r.Alert)
	}
}

// anchors returns the anchors of a page's headings.
func anchors(t *testing.T, page string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(root + page)
	require.NoError(t, err)
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(h[1]), "")
		list = append(list, strings.ReplaceAll(plain, " ", "-"))
	}
	return list
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
