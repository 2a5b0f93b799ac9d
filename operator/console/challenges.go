package console

import (
	"crypto/rand"
	"encoding/base64"
	"sync"
	"time"
)

// challengeLasts is the time to touch a passkey, and maxChallenges bounds the open challenges.
const (
	challengeLasts = 5 * time.Minute
	maxChallenges  = 1000
)

// challenges are the open challenges for passkeys, each for one use: to sign in, or to register for
// one user. They end with the process; the user then starts again.
type challenges struct {
	mu   sync.Mutex
	now  func() time.Time
	open map[string]challenge // by its text
}

type challenge struct {
	user string // whose registration it is; empty for signing in
	ends time.Time
}

func newChallenges(now func() time.Time) *challenges {
	return &challenges{now: now, open: map[string]challenge{}}
}

// issue makes a challenge for a user. It evicts others when too many are open.
func (c *challenges) issue(user string) []byte {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxChallenges {
		c.evict()
	}
	c.open[textOf(raw)] = challenge{user, c.now().Add(challengeLasts)}
	return raw
}

// evict removes the challenges that have ended, or else the one that ends first.
func (c *challenges) evict() {
	first := ""
	for text, x := range c.open {
		if !c.now().Before(x.ends) {
			delete(c.open, text)
		} else if first == "" || x.ends.Before(c.open[first].ends) {
			first = text
		}
	}
	if len(c.open) >= maxChallenges {
		delete(c.open, first)
	}
}

// redeem uses a challenge up; false when it was not issued to this user, was used before, or has
// ended.
func (c *challenges) redeem(raw []byte, user string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, ok := c.open[textOf(raw)]
	if !ok || x.user != user {
		return false
	}
	delete(c.open, textOf(raw))
	return c.now().Before(x.ends)
}

func textOf(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }
