package faults

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	methodTrace  = "debug_traceBlockByHash"
	methodNumber = "eth_getBlockByNumber"

	codeNoMethod = -32601
	codeServer   = -32000
)

const html = "<html><head><title>502 Bad Gateway</title></head><body>try again later</body></html>"

// WithoutMethods answers "no such method" to some methods.
func WithoutMethods(name string, methods ...string) Habit {
	return Habit{Name: name, After: func(_ *Upstream, c Call, a *Answer) {
		if slices.Contains(methods, c.Method) {
			a.Refuse(codeNoMethod, "the method "+c.Method+" does not exist/is not available")
		}
	}}
}

// DeniedMethods answers HTTP 403 to requests with some methods.
func DeniedMethods(name string, methods ...string) Habit {
	return Habit{Name: name, Whole: func(calls []Call) *Reply {
		if slices.ContainsFunc(calls, func(c Call) bool { return slices.Contains(methods, c.Method) }) {
			return &Reply{Status: http.StatusForbidden, Type: "text/plain", Body: "this method is not part of your plan"}
		}
		return nil
	}}
}

// HangingMethods never answers requests with some methods.
func HangingMethods(name string, methods ...string) Habit {
	return Habit{Name: name, Whole: func(calls []Call) *Reply {
		if slices.ContainsFunc(calls, func(c Call) bool { return slices.Contains(methods, c.Method) }) {
			return &Reply{Hangs: true}
		}
		return nil
	}}
}

// PrunedTraces has traces of the newest blocks only: of older ones each transaction has an error,
// as anvil answers.
func PrunedTraces(name string, keep uint64) Habit {
	return Habit{Name: name, After: func(up *Upstream, c Call, a *Answer) {
		var traces []json.RawMessage
		if c.Method != methodTrace || json.Unmarshal(a.Result, &traces) != nil || up.age(c.Params) < keep {
			return
		}
		lost := make([]map[string]string, len(traces))
		for i := range lost {
			lost[i] = map[string]string{"error": "Resource not found"}
		}
		a.Return(lost)
	}}
}

// age returns the number of blocks above the one that parameters name by hash.
func (u *Upstream) age(params []any) uint64 {
	var block struct{ Number string }
	if len(params) == 0 || u.Ask(&block, "eth_getBlockByHash", params[0], false) != nil {
		return 0
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(block.Number, "0x"), 16, 64)
	if head := u.head(); err == nil && head > number {
		return head - number
	}
	return 0
}

func (u *Upstream) head() uint64 {
	var text string
	if err := u.Ask(&text, "eth_blockNumber"); err != nil {
		return 0
	}
	head, _ := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
	return head
}

// RateLimited takes so many calls a second, a batch of n counting n, and answers 429 to more.
func RateLimited(name string, perSecond int, retryAfter string) Habit {
	limit := rate.NewLimiter(rate.Limit(perSecond), perSecond)
	return Habit{Name: name, Whole: func(calls []Call) *Reply {
		if limit.AllowN(time.Now(), len(calls)) {
			return nil
		}
		return &Reply{Status: http.StatusTooManyRequests, Type: "text/plain", Body: "too many requests", RetryAfter: retryAfter}
	}}
}

// Pages answers a share of all requests with an HTML page of a status.
func Pages(name string, share float64, status int) Habit {
	return Habit{Name: name, Whole: func([]Call) *Reply {
		if rand.Float64() >= share {
			return nil
		}
		return &Reply{Status: status, Type: "text/html", Body: html}
	}}
}

// HeaderNotFound refuses a share of the calls about blocks, as machines of a pool do that are
// behind.
func HeaderNotFound(name string, share float64) Habit {
	return Habit{Name: name, After: func(_ *Upstream, c Call, a *Answer) {
		if strings.Contains(c.Method, "Block") && rand.Float64() < share {
			a.Refuse(codeServer, "header not found")
		}
	}}
}

// NullAnnounced names a new head at once and has no block there for a while.
func NullAnnounced(name string, late time.Duration) Habit {
	var mu sync.Mutex
	seen := map[string]time.Time{}
	announced := func(number string) time.Time {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := seen[number]; !ok {
			seen[number] = time.Now()
		}
		return seen[number]
	}
	return Habit{Name: name, After: func(_ *Upstream, c Call, a *Answer) {
		var block struct{ Number string }
		if c.Method != methodNumber || json.Unmarshal(a.Result, &block) != nil || block.Number == "" {
			return
		}
		since := announced(block.Number)
		if c.Params[0] == block.Number && time.Since(since) < late {
			a.Return(nil)
		}
	}}
}

// Batches takes at most so many calls in a request, and answers an HTTP status to more; 0 for a
// JSON-RPC error.
func Batches(name string, most, status int) Habit {
	return Habit{Name: name, Whole: func(calls []Call) *Reply {
		if len(calls) <= most {
			return nil
		}
		if status == 0 {
			return &Reply{Status: http.StatusOK, Type: "application/json",
				Body: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch of more than ` + strconv.Itoa(most) + ` requests"}}`}
		}
		return &Reply{Status: status, Type: "text/plain", Body: http.StatusText(status)}
	}}
}

// WithoutTags does not know the tags of finality.
func WithoutTags(name string) Habit {
	return Habit{Name: name, After: func(_ *Upstream, c Call, a *Answer) {
		if len(c.Params) > 0 && (c.Params[0] == "finalized" || c.Params[0] == "safe") {
			a.Refuse(-32602, "invalid argument 0: hex string without 0x prefix")
		}
	}}
}

// PrunedState has the state of the newest blocks only.
func PrunedState(name string, keep uint64) Habit {
	at := map[string]int{"eth_call": 1, "eth_getBalance": 1, "eth_getCode": 1, "eth_getTransactionCount": 1, "eth_getProof": 2}
	return Habit{Name: name, After: func(up *Upstream, c Call, a *Answer) {
		i, stateful := at[c.Method]
		if !stateful || len(c.Params) <= i {
			return
		}
		text, isText := c.Params[i].(string)
		number, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
		if isText && err == nil && number+keep <= up.head() {
			a.Refuse(codeServer, "missing trie node 5b1e (path ) state 0x5b1e is not available, not found")
		}
	}}
}

// Pool answers each request from one of several machines, all but one of which are some blocks
// behind.
func Pool(name string, lag uint64) Habit {
	behind := func(up *Upstream) uint64 {
		head, late := up.head(), rand.Uint64N(lag+1)
		return head - min(late, head)
	}
	return Habit{
		Name: name,
		Before: func(up *Upstream, c *Call) {
			for i, p := range c.Params {
				if p == "latest" {
					c.Params[i] = "0x" + strconv.FormatUint(behind(up), 16)
				}
			}
		},
		After: func(up *Upstream, c Call, a *Answer) {
			var block struct{ Number string }
			if c.Method != methodNumber || json.Unmarshal(a.Result, &block) != nil {
				return
			}
			number, err := strconv.ParseUint(strings.TrimPrefix(block.Number, "0x"), 16, 64)
			if err == nil && number > behind(up) {
				a.Return(nil)
			}
		},
	}
}

// ClosedSockets ends WebSocket connections after a while.
func ClosedSockets(name string, after time.Duration) Habit {
	return Habit{Name: name, CloseAfter: after}
}
