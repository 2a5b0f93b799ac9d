package console_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/transfers"
)

var update = flag.Bool("update", false, "write web/ui/src/console/codes.js")

// TestCodesOfThePage: the page's labels of reasons and conditions are those of the tables.
func TestCodesOfThePage(t *testing.T) {
	type label struct {
		English string `json:"en"`
		Chinese string `json:"zh"`
	}
	codes := map[string]map[string]label{"reason": {}, "condition": {}, "reasonAdvice": {}, "conditionAdvice": {}}
	add := func(of, code, english, chinese string) {
		require.NotContains(t, codes[of], code, "twice")
		require.NotEmpty(t, english, code)
		require.Regexp(t, `\p{Han}`, chinese, code)
		codes[of][code] = label{english, chinese}
	}
	for _, r := range records.AllReasons() {
		add("reason", string(r.Reason), r.English, r.Chinese)
		if r.Advice.English != "" {
			add("reasonAdvice", string(r.Reason), r.Advice.English, r.Advice.Chinese)
			for _, order := range r.Advice.Orders {
				require.Contains(t, append(transfers.OrderNames(), records.Approve), transfers.OrderName(order), r.Reason)
			}
		}
	}
	add("reasonAdvice", "incident", records.IncidentAdvice.English, records.IncidentAdvice.Chinese)
	add("reasonAdvice", "heldRefund", records.RefundAdvice.English, records.RefundAdvice.Chinese)
	for _, k := range status.AllKinds() {
		add("condition", string(k.Kind), k.English, k.Chinese)
		if k.Remedy != "" {
			add("conditionAdvice", string(k.Kind), k.Remedy, k.RemedyChinese)
		}
	}
	want, err := json.MarshalIndent(codes, "", "  ")
	require.NoError(t, err)
	want = fmt.Appendf(nil, "// Labels of the daemon's codes, written by `go test ./operator/console -run TestCodesOfThePage -update`.\nexport const codes = %s;\n", want)
	const path = "../../web/ui/src/console/codes.js"
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o644))
	}
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "write it: go test ./operator/console -run TestCodesOfThePage -update; then scripts/web.sh")
}

// TestCodesAreTranslated: every code of the API has a Chinese text on the page, and every Chinese
// text belongs to a code.
func TestCodesAreTranslated(t *testing.T) {
	page, err := os.ReadFile("../../web/ui/src/console/labels.js")
	require.NoError(t, err)
	list := func(name string) string {
		found := regexp.MustCompile(`(?s)\n  ` + name + `: \{(.*?)\}`).FindSubmatch(page)
		require.NotNil(t, found, name)
		return string(found[1])
	}
	for name, words := range map[string][]string{
		"difference": {string(transfers.MissingTransfer), string(transfers.MissingOwn), string(transfers.OtherBlock), string(transfers.OtherFacts), string(transfers.NotOnChain), string(transfers.OtherLine)},
	} {
		for _, word := range words {
			require.Regexp(t, `\b`+word+`: "`, list(name), name)
		}
	}
	said := ""
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range sources {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if !strings.HasSuffix(name, "_test.go") {
			said += string(text)
		}
	}
	_, refusals, found := strings.Cut(string(page), "export const refusals = {")
	require.True(t, found)
	refusals, _, _ = strings.Cut(refusals, "\n};")
	for _, known := range regexp.MustCompile(`"([^"]+)": "`).FindAllStringSubmatch(refusals, -1) {
		require.Contains(t, said, known[1])
	}
}
