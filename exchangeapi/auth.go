package exchangeapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"gatewayd/exchangeapi/apikey"
)

// private is an operation that a signed request asks for.
type private struct {
	required []string
	slow     bool // it may take several times a request's time
	test     bool // it changes nothing
	cost     int  // what it uses of the key's calls; 0 is 1
	act      func(ctx context.Context, key apikey.Key, p params) (data any, err error)
}

// replayText is the text that the replay guard lets through once. That of a test differs from that
// of the order it tests: scripts sign once, test, and then place what they tested.
func (o private) replayText(signed string) string {
	if o.test {
		return "test " + signed
	}
	return signed
}

// authorise checks a private request in the order of docs/exchange-rest.md 1.3: the signature
// comes before the count, else anybody could use up a known key's calls.
func (n *network) authorise(ctx context.Context, o private, p params) (key apikey.Key, u apikey.Usage, err error) {
	for _, name := range append([]string{"key", "timestamp", apikey.SignatureName}, o.required...) {
		if _, err := p.required(name); err != nil {
			return apikey.Key{}, u, err
		}
	}
	key, secret, err := n.Keys.Find(ctx, n.Name, p.get("key"))
	if errors.Is(err, apikey.ErrUnknown) {
		return apikey.Key{}, u, reject(codeParameter, "Invalid key")
	}
	if err != nil {
		return apikey.Key{}, u, err
	}
	at, ok := apikey.SignedAt(p.get("timestamp"), n.Now())
	if !ok {
		return apikey.Key{}, u, reject(codeParameter, textTimestamp)
	}
	signed, ok := apikey.Request{Query: p.query, Body: p.body}.Verify(secret, p.get(apikey.SignatureName))
	if !ok {
		return apikey.Key{}, u, reject(codeParameter, textSignature)
	}
	u, err = n.countCall(ctx, apikey.Call{Key: key.Key, Text: o.replayText(signed), At: at, Cost: max(1, o.cost)}, key.Limit)
	return key, u, err
}

// countCall uses a call up and counts it, by the key's own limit or the configuration's. A call
// that costs more than that takes all of it.
func (n *network) countCall(ctx context.Context, c apikey.Call, limit int) (apikey.Usage, error) {
	c.Cycle = *n.calls.Load()
	if limit > 0 {
		c.Cycle.Limit = limit
	}
	c.Cost = min(c.Cost, c.Cycle.Limit)
	u, wait, err := n.Keys.Count(ctx, c)
	var r *apiError
	switch {
	case errors.Is(err, apikey.ErrRepeated):
		return u, reject(codeParameter, "Duplicate request")
	case errors.Is(err, apikey.ErrOverrun):
		r = reject(codeFrequent, textFrequent)
	case errors.Is(err, apikey.ErrForgotten):
		r = reject(codeNetwork, "The exchange has just started: sign the request anew")
	default:
		return u, err
	}
	r.retry = wait
	return u, r
}

// Headers that report the used part of a key's cycle.
const (
	headerUsed  = "X-RateLimit-Used"
	headerLimit = "X-RateLimit-Limit"
	headerReset = "X-RateLimit-Reset" // seconds until the cycle ends
)

func setUsageHeaders(h http.Header, u apikey.Usage) {
	if u.Limit == 0 {
		return
	}
	h.Set(headerUsed, strconv.Itoa(u.Used))
	h.Set(headerLimit, strconv.Itoa(u.Limit))
	h.Set(headerReset, strconv.Itoa(seconds(u.Reset)))
}
