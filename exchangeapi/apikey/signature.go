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
	// replayRetention is for how long a signed request is remembered: longer than it could pass the
	// window.
	replayRetention = maxAge + maxAhead
)

// Request is the parameters of a request, as they came in its two parts.
type Request struct{ Query, Body map[string]string }

// SignedAt parses a timestamp in Unix milliseconds and reports whether it is neither too old nor
// too far ahead.
func SignedAt(timestamp string, now time.Time) (at int64, ok bool) {
	at, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || at > 1<<53 || strings.Trim(timestamp, "0123456789") != "" || timestamp[0] == '0' {
		return 0, false
	}
	age := now.UnixMilli() - at
	return at, age > -maxAhead.Milliseconds() && age <= maxAge.Milliseconds()
}

// Verify finds the text that was signed with the secret; ok is false if the signature fits none.
// Clients sign one of several texts, all with names in byte order. The values are decoded, or
// encoded, or the query string's part precedes the body's. A repeated request is recognised by this
// text and not by its parameters, because other parameters may give the same text ("xa=1&xb=2" is
// also the value "1&xb=2" of xa).
func (r Request) Verify(secret, signature string) (text string, ok bool) {
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

// signable are the texts that the signature may be of. Usually nothing needs encoding, and there is
// one.
func (r Request) signable() []string {
	all := map[string]string{}
	maps.Copy(all, r.Query)
	maps.Copy(all, r.Body)
	texts := slices.Compact([]string{joinParams(all, plain), joinParams(all, escape), joinParams(all, url.QueryEscape)})
	if len(r.Query) > 0 && len(r.Body) > 0 {
		query, body := joinParams(r.Query, plain), joinParams(r.Body, plain)
		texts = append(texts, query+body, query+"&"+body)
	}
	return texts
}

func joinParams(values map[string]string, write func(string) string) string {
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

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
