package exchangeapi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// signatureName is the one parameter that is not signed.
const signatureName = "signature"

// signs tells whether the signature is the request's under the secret. Clients sign one of several texts, all with names in byte order and
// values as they came: decoded, with encoded values, or with the query string's part ahead of the body's (facts/exchange.md 1.3).
func (p params) signs(secret, signature string) bool {
	given, err := hex.DecodeString(signature)
	if err != nil {
		return false
	}
	good := false
	for _, text := range p.signable() {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(text))
		good = hmac.Equal(mac.Sum(nil), given) || good
	}
	return good
}

// signable are the texts that the signature may be of. Usually nothing needs encoding, and there is one.
func (p params) signable() []string {
	all := p.all()
	texts := slices.Compact([]string{joined(all, plain), joined(all, escaped), joined(all, url.QueryEscape)})
	if len(p.query) > 0 && len(p.body) > 0 {
		query, body := joined(p.query, plain), joined(p.body, plain)
		texts = append(texts, query+body, query+"&"+body)
	}
	return texts
}

func (p params) all() map[string]string {
	all := maps.Clone(p.query)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, p.body)
	return all
}

// canonical is the text of the request that does not depend on where its parameters stand.
func (p params) canonical() string { return joined(p.all(), escaped) }

func joined(values map[string]string, write func(string) string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == signatureName {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(name + "=" + write(values[name]))
	}
	return b.String()
}

func plain(s string) string { return s }

func escaped(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
