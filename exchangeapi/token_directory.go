package exchangeapi

import (
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"time"

	"gatewayd/httpserver"
)

// TokenInfo is an operator's description of a token in addition to the chain's data. Empty members
// are null in answers.
type TokenInfo struct {
	Icon      string              `yaml:"icon"` // URL
	Website   string              `yaml:"website"`
	Published time.Time           `yaml:"published"` // a date
	Overview  map[string]string   `yaml:"overview"`  // text by language: en, zh
	Links     map[string][]string `yaml:"links"`     // URLs and mail addresses by kind: website, explorer, twitter, email
}

// GatewayInfo is who runs the gateway, as the detail of a bridged token shows it.
type GatewayInfo struct {
	Name           string              `yaml:"name"`
	URL            string              `yaml:"url"` // before the networks' paths: https://gateway.example.org
	Icon           string              `yaml:"icon"`
	Website        string              `yaml:"website"`
	Support        string              `yaml:"support"`         // mail address or URL
	ServiceSupport string              `yaml:"service_support"` // URL
	Policy         map[string]string   `yaml:"policy"`          // URL by language
	Overview       map[string]string   `yaml:"overview"`        // text by language
	Links          map[string][]string `yaml:"links"`
}

// Bridged is a token of a source chain that the gateway bridges.
type Bridged struct {
	Platform string // the source network's name, in capitals
	Path     string // of the network's gateway API, below the gateway's URL
	Address  string // of the token's contract; "" for the chain's own coin
	Standard string // of the contract: "ERC20"; "" for the chain's own coin
	Decimals int    // on the source chain
}

// maxOverview bounds a text, in bytes.
const maxOverview = 4096

func (t TokenInfo) check() error {
	return errors.Join(checkURLs(map[string]string{"icon": t.Icon, "website": t.Website}), checkTexts(t.Overview), checkLinks(t.Links))
}

func (g GatewayInfo) check() error {
	faults := []error{
		checkURLs(map[string]string{"url": g.URL, "icon": g.Icon, "website": g.Website, "service_support": g.ServiceSupport}),
		checkURLs(g.Policy), checkTexts(g.Overview), checkLinks(g.Links),
	}
	if g.Support != "" && !isLink(g.Support) {
		faults = append(faults, fmt.Errorf("support %.80q: must be a mail address or URL", g.Support))
	}
	return errors.Join(faults...)
}

// checkURLs refuses what pages of wallets could not, or should not, follow.
func checkURLs(byName map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if text := byName[name]; text != "" && !isWeb(text) {
			return fmt.Errorf("%s %.80q: must be http(s)://host/path", name, text)
		}
	}
	return nil
}

func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

func isLink(text string) bool {
	a, err := mail.ParseAddress(text)
	return isWeb(text) || err == nil && a.Address == text
}

func checkTexts(byLanguage map[string]string) error {
	for language, text := range byLanguage {
		if len(text) > maxOverview {
			return fmt.Errorf("overview %s: at most %d bytes", language, maxOverview)
		}
	}
	return nil
}

func checkLinks(byKind map[string][]string) error {
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		for _, text := range byKind[kind] {
			if !isLink(text) {
				return fmt.Errorf("link %s %.80q: must be a mail address or http(s)://host/path", kind, text)
			}
		}
	}
	return nil
}

// gatewayDetail is the gateway of a token (docs/exchange-rest.md 1.1 has a real one). The gateway
// does not decide whether a directory counts it as official, and at which level.
type gatewayDetail struct {
	Name           *string             `json:"name"`
	Icon           *string             `json:"icon"`
	Policy         map[string]string   `json:"policy"`
	Overview       map[string]string   `json:"overview"`
	Links          map[string][]string `json:"links"`
	Support        *string             `json:"support"`
	ServiceSupport *string             `json:"serviceSupport"`
	IsOfficial     bool                `json:"isOfficial"`
	Level          *int                `json:"level"`
	Website        *string             `json:"website"`
	MappedToken    mappedToken         `json:"mappedToken"`
	URL            string              `json:"url"`
}

// mappedToken is the source chain's side of a gateway token.
type mappedToken struct {
	Symbol       string        `json:"symbol"`
	Name         *string       `json:"name"`
	TokenCode    *string       `json:"tokenCode"`
	Platform     string        `json:"platform"`
	TokenAddress *string       `json:"tokenAddress"`
	Standard     string        `json:"standard"`
	TokenIndex   *int          `json:"tokenIndex"`
	URL          string        `json:"url"`
	Icon         *string       `json:"icon"`
	Decimal      int           `json:"decimal"`
	Extras       []mappedToken `json:"mappedTokenExtras"` // the same token on other networks
}

// gatewayOf is the gateway of a token, nil for one that is not bridged.
func (n *network) gatewayOf(id, originalSymbol string) *gatewayDetail {
	sides := n.Bridged[id]
	if len(sides) == 0 {
		return nil
	}
	who := n.cfg.Gateway
	mapped := make([]mappedToken, len(sides))
	for i, side := range sides {
		mapped[i] = mappedToken{
			Symbol: originalSymbol, Platform: side.Platform, TokenAddress: orNull(side.Address), Standard: side.Standard,
			URL: strings.TrimSuffix(who.URL, "/") + httpserver.CleanBase(side.Path), Icon: orNull(n.cfg.Tokens[id].Icon), Decimal: side.Decimals,
		}
	}
	first := mapped[0]
	if len(mapped) > 1 {
		first.Extras = mapped[1:]
	}
	return &gatewayDetail{
		Name: orNull(who.Name), Icon: orNull(who.Icon), Policy: who.Policy, Overview: who.Overview, Links: who.Links,
		Support: orNull(who.Support), ServiceSupport: orNull(who.ServiceSupport), Website: orNull(who.Website), MappedToken: first, URL: first.URL,
	}
}

// orNull returns nil for an empty text.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
