package gateway

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBothLanguagesSayTheSame(t *testing.T) {
	words, err := loadCatalogue()
	require.NoError(t, err)
	placeholder := regexp.MustCompile(`\{[a-z]+\}`)
	holes := func(lang string) map[string][]string {
		out := map[string][]string{}
		for key, text := range words[lang] {
			require.NotEmpty(t, text, key)
			found := placeholder.FindAllString(text, -1)
			slices.Sort(found)
			out[key] = found
		}
		return out
	}
	require.Equal(t, holes(english), holes(chinese))
}

// Every text has a use and every use has a text.
func TestWordsAreUsed(t *testing.T) {
	words, err := loadCatalogue()
	require.NoError(t, err)
	used := []string{"notice_deposit_maintain", "notice_deposit_held", "notice_deposit_no_sender", "notice_withdraw_by_contract", "address_empty", "address_invalid", "address_other_network", "address_ours", "label_invalid"}
	for _, key := range faultTexts {
		used = append(used, key)
	}
	var known []string
	for key := range words[english] {
		known = append(known, key)
	}
	require.ElementsMatch(t, known, used)
}

func TestSay(t *testing.T) {
	c := catalogue{english: {"a": "{field} and {limit} and {field}"}}
	require.Equal(t, "x and 3 and x", c.text(english, "a", "{field}", "x", "{limit}", "3"))
}
