package ethereum_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// What a majority of the nodes refuses is a chain.Refusal with their words, whatever these are, as
// long as no node has the transaction.
func TestRefusalsAreTold(t *testing.T) {
	b := setup(t)
	a := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 77))
	answers := func(told any) lie {
		return func(q request, result any) any {
			if q.Method == "eth_sendRawTransaction" {
				return told
			}
			return result
		}
	}
	says := func(text string) lie { return answers(rpcError{-32000, text}) }
	dead := answers(raw{503, nil})
	for _, text := range []string{
		"tx fee (1.50 ether) exceeds the configured cap (1.00 ether)", "address already reserved", "transaction gas limit too high (cap: 16777216, tx: 30000000)",
		"exceeds block gas limit", "intrinsic gas too low: gas 20000, minimum needed 21000", "sub-pool is full", "max priority fee per gas higher than max fee per gas",
		"transaction type not supported", "no such words were ever seen",
	} {
		for name, nodes := range map[string][]lie{"one": {says(text)}, "all": {says(text), says(text), says(text)}, "two and a dead one": {dead, says(text), says(text)}} {
			errs := b.nodes(nodes...).Broadcast(t.Context(), []chain.Attempt{a})
			var refused chain.Refusal
			require.ErrorAs(t, errs[0], &refused, "%s: %s", name, text)
			require.Contains(t, refused.Text, text)
			require.Contains(t, refused.Text, "node ")
		}
	}
	long := make([]byte, 5000)
	for i := range long {
		long[i] = "ab\n\x00"[i%4]
	}
	var refused chain.Refusal
	require.ErrorAs(t, b.nodes(says(string(long)), says(string(long)), says(string(long))).Broadcast(t.Context(), []chain.Attempt{a})[0], &refused)
	require.Less(t, len(refused.Text), 1000)
	require.NotContains(t, refused.Text, "\n")
	for name, nodes := range map[string][]lie{
		"one of three refuses": {says("not today"), dead, dead}, "its nonce is used": {says("nonce too low"), says("nonce too low"), says("not today")},
		"too many requests": {says("too many requests")}, "already known": {says("already known")}, "another node takes it": {says("not today"), says("not today"), truth},
	} {
		errs := b.nodes(nodes...).Broadcast(t.Context(), []chain.Attempt{a})
		require.False(t, errors.As(errs[0], &refused), name)
	}
}

// TestRefusalsByStatusAreTold: nodes that refuse a transaction by an HTTP status alone refuse it
// too, in the words of the answer.
func TestRefusalsByStatusAreTold(t *testing.T) {
	b := setup(t)
	a := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 77))
	answers := func(status int, body string) lie {
		return func(q request, result any) any {
			if q.Method == "eth_sendRawTransaction" {
				return raw{status, []byte(body)}
			}
			return result
		}
	}
	const rpcBody = `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"sender is not allowed here"}}`
	for status, bodies := range map[int]map[string]string{
		400: {rpcBody: "sender is not allowed here", "policy says no": "policy says no"},
		403: {rpcBody: "sender is not allowed here", "policy says no": "policy says no", "<html>no</html>": "HTTP status 403: Forbidden", "": "HTTP status 403: Forbidden"},
	} {
		for body, want := range bodies {
			l := answers(status, body)
			var refused chain.Refusal
			require.ErrorAs(t, b.nodes(l, l, l).Broadcast(t.Context(), []chain.Attempt{a})[0], &refused, body)
			require.Contains(t, refused.Text, want)
			require.NoError(t, b.nodes(l, l, truth).Broadcast(t.Context(), []chain.Attempt{a})[0])
		}
	}
	known := answers(400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"already known"}}`)
	require.NoError(t, b.nodes(known).Broadcast(t.Context(), []chain.Attempt{a})[0])
	for _, status := range []int{401, 429, 503} {
		l := answers(status, "no")
		var refused chain.Refusal
		require.False(t, errors.As(b.nodes(l, l, l).Broadcast(t.Context(), []chain.Attempt{a})[0], &refused), "%d", status)
	}
}
