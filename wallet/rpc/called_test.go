package rpc

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// calls counts by method; what was refused by "method refused".
type calls struct {
	mu sync.Mutex
	by map[string]int
}

func (c *calls) called(method string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed {
		method += " refused"
	}
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[method]++
}

// TestCallsAreCounted: each call counts once by its method's name, over every transport and in
// batches; names that callers make up are one.
func TestCallsAreCounted(t *testing.T) {
	r := start(t, nil)
	for _, over := range r.transports() {
		over(`{"jsonrpc":"2.0","id":1,"method":"wallet_getDataDir"}`)
		over(`{"jsonrpc":"2.0","id":1,"method":"wallet_unlock","params":["nowhere","x"]}`)
	}
	r.overHTTP(` [{"jsonrpc":"2.0","id":1,"method":"wallet_isUnlocked","params":["nowhere"]},{"jsonrpc":"2.0","id":2,"method":"wallet_stranger1"},{"jsonrpc":"2.0","id":3,"method":"stranger_2"}]`)
	r.overHTTP(`{"jsonrpc":"2.0","id":1,"method":"rpc_modules"}`)
	r.overHTTP(`[{"method":`)
	r.calls.mu.Lock()
	defer r.calls.mu.Unlock()
	require.Equal(t, map[string]int{"getDataDir": 3, "unlock refused": 3, "isUnlocked": 1, "other refused": 2}, r.calls.by)
}
