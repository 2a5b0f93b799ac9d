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

// signedText is the text that the signature is of under the secret; false when it is of none. Clients sign one of several texts, all with names in
// byte order and values as they came: decoded, with encoded values, or with the query string's part ahead of the body's. Other parameters may make
// the same text ("xa=1&xb=2" is also the value "1&xb=2" of xa), so this text, not the parameters, is what tells a repeat.
func (p params) signedText(secret, signature string) (text string, ok bool) {
	given, err := hex.DecodeString(signature)
	if err != nil {
		return "", false
	}
	for _, candidate := range p.signable() {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(candidate))
		if hmac.Equal(mac.Sum(nil), given) {
			text, ok = candidate, true
		}
	}
	return text, ok
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
