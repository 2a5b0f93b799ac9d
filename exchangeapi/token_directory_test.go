package exchangeapi

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// describedToken is a configuration that describes VX like the public sample.
const describedToken = `
tokens:
  %TOKEN%:
    icon: https://example.invalid/epic.png
    website: https://epic.tech/
    published: 2020-05-01
    links: {website: ["https://epic.tech/"], twitter: ["https://twitter.com/EpicCashTech"], explorer: ["https://explorer.epic.tech/"]}
    overview: {en: (text)}
gateway:
  name: VGATE
  url: https://gateway.vgate.io/
  icon: https://example.invalid/vgate.png
  website: https://vgate.io/
  support: someone@example.invalid
  service_support: https://example.invalid/requests/new
  policy: {en: "https://vgate.io/clause"}
  overview: {en: (text)}
  links: {website: ["https://vgate.io/"], email: [someone@example.invalid]}
depth_steps: {VX_VITE: {min: 5, max: 8}}
`

func TestTokenDetailsOfTheConfiguration(t *testing.T) {
	bridged := []Bridged{
		{Platform: "EPIC", Path: "/gateway/epic", Decimals: 8},
		{Platform: "ETH", Path: "gateway/eth/", Address: "0xdAC17F958D2ee523a2206206994597C13D831ec7", Standard: "ERC20", Decimals: 6},
	}
	var id string
	w := setup(t, func(c *Config, p *Parts) {
		id = p.Networks[0].Index.Markets()[0].TradeToken
		require.NoError(t, yaml.UnmarshalWithOptions([]byte(strings.Replace(describedToken, "%TOKEN%", id, 1)), c, yaml.Strict()))
		p.Networks[0].Bridged = map[string][]Bridged{id: bridged, core.VITE.String(): bridged[:1]}
	})
	got := w.get(api + "/token/detail?tokenId=" + id).object(t)
	require.Equal(t, json.Number("1588291200000"), got["publisherDate"])
	require.NoError(t, sameShape("token", epicSample(t), got))
	gateway := got["gateway"].(map[string]any)
	require.Equal(t, "https://gateway.vgate.io/gateway/epic", gateway["url"])
	mapped := gateway["mappedToken"].(map[string]any)
	require.Equal(t, []any{"VX", "EPIC", nil, "", "https://gateway.vgate.io/gateway/epic", "https://example.invalid/epic.png", json.Number("8")},
		[]any{mapped["symbol"], mapped["platform"], mapped["tokenAddress"], mapped["standard"], mapped["url"], mapped["icon"], mapped["decimal"]})
	extra := mapped["mappedTokenExtras"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"ETH", bridged[1].Address, "ERC20", "https://gateway.vgate.io/gateway/eth"},
		[]any{extra["platform"], extra["tokenAddress"], extra["standard"], extra["url"]})

	vite := w.get(api + "/token/detail?tokenSymbol=VITE").object(t)
	require.Nil(t, vite["gateway"].(map[string]any)["mappedToken"].(map[string]any)["mappedTokenExtras"])
	require.Nil(t, vite["urlIcon"])
	ether := w.get(api + "/token/detail?tokenSymbol=ETH-000").object(t)
	require.Equal(t, []any{nil, nil, nil, nil}, []any{ether["gateway"], ether["website"], ether["links"], ether["overview"]})
	elsewhere := w.get("/test" + api + "/token/detail?tokenId=" + id).object(t)
	require.Nil(t, elsewhere["gateway"], "another network's tokens are others")
	for _, item := range w.get(api + "/tokens").list(t) {
		icon := item.(map[string]any)["urlIcon"]
		require.Equal(t, item.(map[string]any)["tokenId"] == id, icon != nil)
	}
	steps := w.get(api + "/limit").object(t)["depthStepsLimit"].(map[string]any)
	require.Equal(t, map[string]any{symbol: map[string]any{"min": json.Number("5"), "max": json.Number("8")}}, steps)
}

// epicSample is the public example of a bridged token, as a shape: members that the sample leaves
// open may have any value.
func epicSample(t *testing.T) any {
	for _, e := range samples(t).Endpoints {
		if e.Path == "/api/v2/token/detail" {
			sample := e.More[0].Response.Data.(map[string]any)
			sample["website"] = ""
			gateway := sample["gateway"].(map[string]any)
			gateway["level"] = nil // a directory's, not ours
			gateway["mappedToken"].(map[string]any)["tokenCode"] = nil
			return sample
		}
	}
	require.Fail(t, "no sample")
	return nil
}

func TestDirectoryIsChecked(t *testing.T) {
	tests := map[string]string{
		`tokens: {tti_1: {icon: "javascript:alert(1)"}}`:                                  "token tti_1: icon",
		`tokens: {tti_1: {website: "epic.tech"}}`:                                         "website",
		`tokens: {tti_1: {links: {twitter: ["@epic"]}}}`:                                  "link twitter",
		`tokens: {tti_1: {overview: {en: "` + strings.Repeat("x", maxOverview+1) + `"}}}`: "overview en",
		`gateway: {url: "ftp://x"}`:                                                       "gateway: url",
		`gateway: {policy: {en: "text"}}`:                                                 "gateway: en",
		`gateway: {support: "call us"}`:                                                   "support",
		`gateway: {links: {email: ["Some One <a@b.example>"]}}`:                           "link email",
		`depth_steps: {A_B: {min: 5, max: 4}}`:                                            "depth_steps of A_B",
		`depth_steps: {A_B: {min: 0, max: 19}}`:                                           "depth_steps of A_B",
	}
	for text, want := range tests {
		var c Config
		require.NoError(t, yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()), text)
		require.ErrorContains(t, c.Check(), want)
	}
}
