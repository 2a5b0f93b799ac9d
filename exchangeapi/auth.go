package exchangeapi

import (
	"context"
	"errors"
	"strings"
	"time"
)

// The window of timestamps.
const (
	maxAhead = 1000 * time.Millisecond // excluded
	maxAge   = 5000 * time.Millisecond // included
	// onceLife is for how long a signed request is remembered: longer than it could pass the window.
	onceLife = maxAge + maxAhead
)

// private is an operation that a signed request asks for.
type private struct {
	required []string
	slow     bool // it may take several times a request's time
	test     bool // it changes nothing
	act      func(ctx context.Context, key Key, p params) (data any, err error)
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
func (n *network) authorise(ctx context.Context, o private, p params) (Key, error) {
	for _, name := range append([]string{"key", "timestamp", signatureName}, o.required...) {
		if _, err := p.required(name); err != nil {
			return Key{}, err
		}
	}
	key, secret, err := n.Keys.find(ctx, n.Name, p.get("key"))
	if errors.Is(err, ErrUnknownKey) {
		return Key{}, refuse(codeParameter, "Invalid key")
	}
	if err != nil {
		return Key{}, err
	}
	at, ok := signedAt(p, n.Now())
	if !ok {
		return Key{}, refuse(codeParameter, textTimestamp)
	}
	signed, ok := p.signedText(secret, p.get(signatureName))
	if !ok {
		return Key{}, refuse(codeParameter, textSignature)
	}
	return key, n.countCall(ctx, call{key: key.Key, text: o.once(signed), at: at}, key.Limit)
}

// countCall uses a call up and counts it, by the key's own limit or the configuration's.
func (n *network) countCall(ctx context.Context, c call, limit int) error {
	c.cycle = cycle{limit: n.cfg.CallLimit, length: n.cfg.CallCycle}
	if limit > 0 {
		c.cycle.limit = limit
	}
	wait, err := n.Keys.counter.call(ctx, c)
	var r *refusal
	switch {
	case errors.Is(err, errRepeated):
		return refuse(codeParameter, "Duplicate request")
	case errors.Is(err, errOverrun):
		r = refuse(codeFrequent, textFrequent)
	case errors.Is(err, errForgotten):
		r = refuse(codeNetwork, "The exchange has just started: sign the request anew")
	default:
		return err
	}
	r.retry = wait
	return r
}

// signedAt reads the timestamp, in Unix milliseconds, and tells whether it is neither too old nor too far ahead.
func signedAt(p params, now time.Time) (at int64, ok bool) {
	at, err := p.number("timestamp", 0, 0, 1<<53)
	if err != nil || strings.HasPrefix(p.get("timestamp"), "0") {
		return 0, false
	}
	age := now.UnixMilli() - at
	return at, age > -maxAhead.Milliseconds() && age <= maxAge.Milliseconds()
}
