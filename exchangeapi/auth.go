package exchangeapi

import (
	"context"
	"errors"

	"gatewayd/exchangeapi/apikey"
)

// private is an operation that a signed request asks for.
type private struct {
	required []string
	slow     bool // it may take several times a request's time
	test     bool // it changes nothing
	act      func(ctx context.Context, key apikey.Key, p params) (data any, err error)
}

// once is what of a signed text is taken once. A test does not use up the order that it tests: scripts sign once, test, and then place what they
// tested.
func (o private) once(signed string) string {
	if o.test {
		return "test " + signed
	}
	return signed
}

// authorise checks a private request in the order of docs/exchange-rules.md 1.3: the signature comes before the count, else anybody could use up
// a known key's calls.
func (n *network) authorise(ctx context.Context, o private, p params) (apikey.Key, error) {
	for _, name := range append([]string{"key", "timestamp", apikey.SignatureName}, o.required...) {
		if _, err := p.required(name); err != nil {
			return apikey.Key{}, err
		}
	}
	key, secret, err := n.Keys.Find(ctx, n.Name, p.get("key"))
	if errors.Is(err, apikey.ErrUnknown) {
		return apikey.Key{}, reject(codeParameter, "Invalid key")
	}
	if err != nil {
		return apikey.Key{}, err
	}
	at, ok := apikey.SignedAt(p.get("timestamp"), n.Now())
	if !ok {
		return apikey.Key{}, reject(codeParameter, textTimestamp)
	}
	signed, ok := apikey.Request{Query: p.query, Body: p.body}.Signed(secret, p.get(apikey.SignatureName))
	if !ok {
		return apikey.Key{}, reject(codeParameter, textSignature)
	}
	return key, n.countCall(ctx, apikey.Call{Key: key.Key, Text: o.once(signed), At: at}, key.Limit)
}

// countCall uses a call up and counts it, by the key's own limit or the configuration's.
func (n *network) countCall(ctx context.Context, c apikey.Call, limit int) error {
	c.Cycle = *n.calls.Load()
	if limit > 0 {
		c.Cycle.Limit = limit
	}
	wait, err := n.Keys.Count(ctx, c)
	var r *apiError
	switch {
	case errors.Is(err, apikey.ErrRepeated):
		return reject(codeParameter, "Duplicate request")
	case errors.Is(err, apikey.ErrOverrun):
		r = reject(codeFrequent, textFrequent)
	case errors.Is(err, apikey.ErrForgotten):
		r = reject(codeNetwork, "The exchange has just started: sign the request anew")
	default:
		return err
	}
	r.retry = wait
	return r
}
