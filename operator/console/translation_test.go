package console_test

import (
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
		"condition": kinds(),
		"reason": {
			records.ReasonBelowMinimum, records.ReasonOverMaximum, records.ReasonWrongAddress, records.ReasonWrongComment, records.ReasonFailed, records.ReasonPayoutFailed, records.ReasonPayeeRefuses, records.ReasonPayeeGas,
			records.ReasonPayoutDiffers, records.ReasonUnknownLabel, records.ReasonUnbound, records.ReasonUnknownToken, records.ReasonUnknownSender, records.ReasonWrongType, records.ReasonOperator, records.ReasonInternal,
			records.ReasonDust, records.ReasonBeforeAddress, records.ReasonUnproven, records.ReasonFoundByAudit,
			records.HeldLimit, records.HeldApproval, records.HeldListed, records.HeldUnproven, records.HeldRefused,
		},
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

func kinds() (list []string) {
	for _, k := range status.Kinds() {
		list = append(list, string(k))
	}
	return list
}
