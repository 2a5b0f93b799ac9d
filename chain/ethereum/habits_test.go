package ethereum

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// follow reads a chain as the daemon does, block after block with a check of the head each second,
// for some time. It returns the blocks read in each minute and the number of failed rounds.
func follow(t *testing.T, c *Chain, ranges bool, minutes int) (read []int, failed int) {
	t.Helper()
	next := uint64(1)
	for range minutes {
		begun, before := time.Now(), next
		for time.Since(begun) < time.Minute {
			if err := step(t.Context(), c, ranges, &next); err != nil {
				require.ErrorIs(t, err, chain.ErrUnavailable)
				failed++
			}
			<-time.After(time.Second)
		}
		read = append(read, int(next-before))
	}
	return read, failed
}

// step reads from a height on for about a second.
func step(ctx context.Context, c *Chain, ranges bool, next *uint64) error {
	head, err := c.Head(ctx)
	if err != nil {
		return err
	}
	for begun := time.Now(); *next <= head.Latest.Height && time.Since(begun) < time.Second; {
		var blocks []chain.Block
		if ranges {
			blocks, err = c.Blocks(ctx, *next, min(head.Latest.Height, *next+15))
		} else if b, failure := c.Block(ctx, *next); failure == nil {
			blocks = []chain.Block{b}
		} else {
			err = failure
		}
		for _, b := range blocks {
			if b.Height == *next {
				*next++
			}
		}
		if errors.Is(err, chain.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// TestReadingContinuesUnderEveryHabit has one node, then three, keep a habit for four minutes:
// blocks are read in each of them.
func TestReadingContinuesUnderEveryHabit(t *testing.T) {
	for name, h := range habits() {
		for _, way := range []struct {
			name   string
			nodes  int
			ranges bool
		}{{"alone", 1, false}, {"three", 3, false}, {"alone, ranges", 1, true}, {"three, ranges", 3, true}} {
			t.Run(name+", "+way.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var providers []*provider
					for range way.nodes {
						providers = append(providers, newProvider(8000, h()))
					}
					c := behindProviders(t, providers...)
					defer c.Close()
					read, failed := follow(t, c, way.ranges, 4)
					t.Logf("blocks a minute %v, %d rounds failed, %d requests, %d calls, %d refused", read, failed, providers[0].requests, providers[0].calls, c.nodes[0].limiter.count())
					for minute, blocks := range read {
						if head := 8000; minute > 0 && sum(read[:minute]) == head {
							break
						}
						require.GreaterOrEqual(t, blocks, 20, "minute %d", minute)
					}
				})
			})
		}
	}
}

// TestOneFailedCallIsRepeated counts the calls of one read.
func TestOneFailedCallIsRepeated(t *testing.T) {
	for name, answer := range map[string]habit{
		"HTML 502": page(502), "HTML 503": page(503), "HTML 200": page(200), "cut": cutAnswer, "header not found": unknown(`"error":{"code":-32000,"message":"header not found"}`),
		"null": unknown(`"result":null`), "limit": tooMany,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fails := 0
				p := newProvider(3, func(p *provider, calls []call) *http.Response {
					if fails == 0 {
						return nil
					}
					fails--
					return answer(p, calls)
				})
				c := behindProviders(t, p)
				defer c.Close()
				_, err := c.Head(t.Context())
				require.NoError(t, err)
				before := p.requests
				fails = 1
				b, err := c.Block(t.Context(), 2)
				require.NoError(t, err)
				require.EqualValues(t, 2, b.Height)
				require.Equal(t, 2, p.requests-before, "the failed call once more, and nothing else")
				require.Zero(t, c.Nodes()[0].Faults, "that is no lie")
			})
		})
	}
}

// TestPermanentRefusalsAreNotRepeated: asking again costs the provider's patience and changes
// nothing.
func TestPermanentRefusalsAreNotRepeated(t *testing.T) {
	for name, answer := range map[string]habit{
		"forbidden":  func(*provider, []call) *http.Response { return httpAnswer(403, "text/html", "<html>Forbidden</html>") },
		"no method":  unknown(`"error":{"code":-32601,"message":"method not found"}`),
		"refused":    unknown(`"error":{"code":-32000,"message":"your plan does not include this"}`),
		"other type": unknown(`"result":[1,2]`),
		"a lie":      unknown(`"result":` + blockText(newProvider(9, honest).headers[9])),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProvider(3, honest)
				c := behindProviders(t, p)
				defer c.Close()
				_, err := c.Head(t.Context())
				require.NoError(t, err)
				before := p.requests
				p.habit = answer
				_, err = c.Block(t.Context(), 2)
				require.ErrorIs(t, err, chain.ErrUnavailable)
				require.Equal(t, 1, p.requests-before)
			})
		})
	}
}

// TestPagesAreNamed: what a page for people is called where the nodes' faults are shown.
func TestPagesAreNamed(t *testing.T) {
	for _, status := range []int{200, 500, 502, 503, 504} {
		for name, body := range map[string]*http.Response{
			"by its type":  httpAnswer(status, "text/html; charset=utf-8", "oops"),
			"by its start": httpAnswer(status, "application/json", "\r\n <!DOCTYPE html><html></html>"),
		} {
			t.Run(http.StatusText(status)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := behindProviders(t, newProvider(1, func(*provider, []call) *http.Response {
						again := *body
						again.Body = http.NoBody
						if name == "by its start" {
							again.Body = httpAnswer(200, "", "\r\n <!DOCTYPE html>").Body
						}
						return &again
					}))
					defer c.Close()
					_, err := c.Head(t.Context())
					require.ErrorContains(t, err, "answers HTML instead of JSON")
					state := c.Nodes()[0]
					require.False(t, state.Up)
					require.Contains(t, state.Why, "answers HTML instead of JSON")
				})
			})
		}
	}
}

func sum(list []int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}
