package exchangeapi

import (
	"context"
	"errors"
	"strings"
	"time"
)

// The window of timestamps (spec: replay rule).
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

// once is the text that is taken once. A test does not use up the order that it tests: scripts sign once, test, and then place what they tested.
func (o private) once(p params) string {
	if o.test {
		return "test " + p.canonical()
	}
	return p.canonical()
}

// authorise checks a private request in the order of facts/exchange.md 1.3: the signature comes before the count, else anybody could use up
// a known key's calls.
func (n *network) authorise(ctx context.Context, o private, p params) (Key, error) {
	for _, name := range append([]string{"key", "timestamp", signatureName}, o.required...) {
		if _, err := p.required(name); err != nil {
			return Key{}, err
		}
	}
	key, secret, err := n.Keys.find(ctx, n.Name, p.get("key"))
	switch {
	case errors.Is(err, ErrUnknownKey):
		return Key{}, refuse(codeParameter, "Invalid key")
	case err != nil:
		return Key{}, err
	case !inWindow(p, n.Now()):
		return Key{}, refuse(codeParameter, textTimestamp)
	case !p.signs(secret, p.get(signatureName)):
		return Key{}, refuse(codeParameter, textSignature)
	}
	return key, n.countCall(ctx, key, o.once(p))
}

func (n *network) countCall(ctx context.Context, key Key, once string) error {
	c := cycle{limit: n.cfg.CallLimit, length: n.cfg.CallCycle}
	if key.Limit > 0 {
		c.limit = key.Limit
	}
	wait, err := n.Keys.call(ctx, key.Key, once, onceLife, c)
	switch {
	case errors.Is(err, errRepeated):
		return refuse(codeParameter, "Duplicate request")
	case errors.Is(err, errOverrun):
		r := refuse(codeFrequent, textFrequent)
		r.retry = wait
		return r
	}
	return err
}

// inWindow tells whether the timestamp, in Unix milliseconds, is neither too old nor too far ahead.
func inWindow(p params, now time.Time) bool {
	text := p.get("timestamp")
	ms, err := p.number("timestamp", 0, 0, 1<<53)
	if err != nil || strings.HasPrefix(text, "0") {
		return false
	}
	age := now.UnixMilli() - ms
	return age > -maxAhead.Milliseconds() && age <= maxAge.Milliseconds()
}
