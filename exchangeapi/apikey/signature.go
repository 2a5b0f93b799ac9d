package apikey

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// SignatureName is the one parameter that is not signed.
const SignatureName = "signature"

// The window of timestamps.
const (
	maxAhead = 1000 * time.Millisecond // excluded
	maxAge   = 5000 * time.Millisecond // included
	// onceLife is for how long a signed request is remembered: longer than it could pass the window.
	onceLife = maxAge + maxAhead
)

// Request is the parameters of a request, as they came in its two parts.
type Request struct{ Query, Body map[string]string }

// SignedAt reads a timestamp, in Unix milliseconds, and tells whether it is neither too old nor too far ahead.
func SignedAt(timestamp string, now time.Time) (at int64, ok bool) {
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || at > 1<<53 || strings.Trim(timestamp, "0123456789") != "" || timestamp[0] == '0' {
		return 0, false
	}
	age := now.UnixMilli() - at
	return at, age > -maxAhead.Milliseconds() && age <= maxAge.Milliseconds()
}

// Signed is the text that the signature is of under the secret; false when it is of none. Clients sign one of several texts, all with names in byte
// order and values as they came: decoded, with encoded values, or with the query string's part ahead of the body's. Other parameters may make the
// same text ("xa=1&xb=2" is also the value "1&xb=2" of xa), so this text, not the parameters, is what tells a repeat.
func (r Request) Signed(secret, signature string) (text string, ok bool) {
	given, err := hex.DecodeString(signature)
	if err != nil {
		return "", false
	}
	for _, candidate := range r.signable() {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(candidate))
		if hmac.Equal(mac.Sum(nil), given) {
			text, ok = candidate, true
		}
	}
	return text, ok
}

// signable are the texts that the signature may be of. Usually nothing needs encoding, and there is one.
func (r Request) signable() []string {
	all := map[string]string{}
	maps.Copy(all, r.Query)
	maps.Copy(all, r.Body)
	texts := slices.Compact([]string{joined(all, plain), joined(all, escaped), joined(all, url.QueryEscape)})
	if len(r.Query) > 0 && len(r.Body) > 0 {
		query, body := joined(r.Query, plain), joined(r.Body, plain)
		texts = append(texts, query+body, query+"&"+body)
	}
	return texts
}

func joined(values map[string]string, write func(string) string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == SignatureName {
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
