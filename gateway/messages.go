package gateway

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed messages/*.json
var messageFiles embed.FS

// The languages that wallets ask for (docs/gateway-clients.md 2). The header is "undefined" or
// absent in the others: they read English.
const (
	english = "en"
	chinese = "zh-cn"
)

// languageOf reads the header "lang".
func languageOf(header string) string {
	switch strings.ReplaceAll(strings.ToLower(header), "_", "-") {
	case "zh-cn", "zh", "zh-hans":
		return chinese
	}
	return english
}

// catalogue holds what users read, by language and key.
type catalogue map[string]map[string]string

func loadCatalogue() (catalogue, error) {
	c := catalogue{}
	for _, lang := range []string{english, chinese} {
		text, err := messageFiles.ReadFile("messages/" + lang + ".json")
		if err != nil {
			return nil, fmt.Errorf("reading the messages of %s: %w", lang, err)
		}
		var messages map[string]string
		if err := json.Unmarshal(text, &messages); err != nil {
			return nil, fmt.Errorf("reading the messages of %s: %w", lang, err)
		}
		c[lang] = messages
	}
	return c, nil
}

// text is a key's text in a language, args being placeholders and their values by turns ("{field}",
// "amount").
func (c catalogue) text(lang, key string, args ...string) string {
	return strings.NewReplacer(args...).Replace(c[lang][key])
}
