package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/daemon"
	"gatewayd/vite/core"
	"gatewayd/wallet/rpc"
)

// cannedNode answers each method with what it was given, and hangs up on every other one.
type cannedNode struct {
	answers map[string]string // method -> `"result":...` or `"error":...`
	mu      sync.Mutex
	asked   []string
	sent    []json.RawMessage
}

func (n *cannedNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if json.NewDecoder(r.Body).Decode(&call) != nil {
		panic(http.ErrAbortHandler)
	}
	n.mu.Lock()
	n.asked = append(n.asked, call.Method)
	if call.Method == sendRaw {
		n.sent = append(n.sent, call.Params...)
	}
	n.mu.Unlock()
	answer, ok := n.answers[call.Method]
	if !ok {
		panic(http.ErrAbortHandler) // hangs up
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(call.ID) + `,` + answer + `}`))
}

const (
	sendRaw = "ledger_sendRawTransaction"
	latest  = "ledger_getLatestAccountBlock"

	tookIt     = `"result":null`
	noBalance  = `"error":{"code":-35001,"message":"insufficient balance for transfer"}`
	notBehind  = `"error":{"code":-36005,"message":"verify prevBlock failed, incorrect use of prevHash or fork happened"}`
	shutsDown  = `"error":{"code":-32000,"message":"server is shutting down"}`
	noAccount  = `"result":null`
	unsentNode = "http://127.0.0.1:1"
)

// nodesOf serves canned nodes; nil is an unreachable one.
func nodesOf(t *testing.T, nodes []*cannedNode) daemon.WalletLedger {
	t.Helper()
	var targets []string
	for _, n := range nodes {
		if n == nil {
			targets = append(targets, unsentNode)
			continue
		}
		s := httptest.NewServer(n)
		t.Cleanup(s.Close)
		targets = append(targets, s.URL)
	}
	l := daemon.NewWalletLedger(targets, nil)
	t.Cleanup(l.Close)
	return l
}

func sampleBlock(t *testing.T) *core.AccountBlock {
	t.Helper()
	seed := [32]byte{7}
	key, err := core.NewPrivateKey(seed[:])
	require.NoError(t, err)
	b := &core.AccountBlock{BlockType: core.SendCall, Address: key.Address(), Height: 2, ToAddress: core.Address{1}, TokenID: core.VITE}
	b.SignWith(key)
	return b
}

// TestWalletSubmits: a node that cannot be reached or hangs up is no end; a doubt stays one until a
// node has the block.
func TestWalletSubmits(t *testing.T) {
	t.Parallel()
	b := sampleBlock(t)
	shown, err := core.EncodeBlock(b)
	require.NoError(t, err)
	sends := func(answer string) *cannedNode {
		return &cannedNode{answers: map[string]string{sendRaw: answer, latest: noAccount}}
	}
	hasIt := &cannedNode{answers: map[string]string{sendRaw: notBehind, latest: `"result":` + string(shown)}}
	hangsUp := func() *cannedNode { return &cannedNode{} }
	const taken, refused, unknown = "taken", "refused", "unknown"
	for name, c := range map[string]struct {
		nodes []*cannedNode
		want  string
		sent  []int // times that each node saw the block
	}{
		"taken":                         {[]*cannedNode{sends(tookIt), sends(tookIt)}, taken, []int{1, 0}},
		"refused":                       {[]*cannedNode{sends(noBalance), sends(tookIt)}, refused, []int{1, 0}},
		"not behind the tip":            {[]*cannedNode{sends(notBehind), sends(tookIt)}, refused, []int{1, 0}},
		"nobody there, taken":           {[]*cannedNode{nil, sends(tookIt)}, taken, []int{0, 1}},
		"nobody there, refused":         {[]*cannedNode{nil, sends(noBalance)}, refused, []int{0, 1}},
		"hangs up, taken":               {[]*cannedNode{hangsUp(), sends(tookIt)}, taken, []int{1, 1}},
		"shuts down, taken":             {[]*cannedNode{sends(shutsDown), sends(tookIt)}, taken, []int{1, 1}},
		"hangs up, is there":            {[]*cannedNode{hangsUp(), hasIt}, taken, []int{1, 1}},
		"hangs up, refused":             {[]*cannedNode{hangsUp(), sends(noBalance)}, unknown, []int{1, 1}},
		"hangs up, not behind":          {[]*cannedNode{hangsUp(), sends(notBehind)}, unknown, []int{1, 1}},
		"hangs up, refused, taken":      {[]*cannedNode{hangsUp(), sends(noBalance), sends(tookIt)}, taken, []int{1, 1, 1}},
		"hangs up, nobody there":        {[]*cannedNode{hangsUp(), nil}, unknown, []int{1, 0}},
		"hang up both":                  {[]*cannedNode{hangsUp(), hangsUp()}, unknown, []int{1, 1}},
		"nobody there, hangs up, taken": {[]*cannedNode{nil, hangsUp(), sends(tookIt)}, taken, []int{0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			err := nodesOf(t, c.nodes).Submit(t.Context(), b)
			var no *rpc.Refusal
			switch c.want {
			case taken:
				require.NoError(t, err)
			case refused:
				require.ErrorAs(t, err, &no)
			case unknown:
				require.Error(t, err)
				require.NotErrorAs(t, err, &no, "nobody knows")
			}
			for i, n := range c.nodes {
				if n == nil {
					continue
				}
				require.Len(t, n.sent, c.sent[i], "node %d", i)
				for _, text := range n.sent {
					require.JSONEq(t, string(shown), string(text), "the same block everywhere")
				}
			}
		})
	}
}

// TestWalletAsksTheNextNode: reads use the first node that answers; a refusal is an answer.
func TestWalletAsksTheNextNode(t *testing.T) {
	t.Parallel()
	b := sampleBlock(t)
	shown, err := core.EncodeBlock(b)
	require.NoError(t, err)
	good := &cannedNode{answers: map[string]string{latest: `"result":` + string(shown)}}
	l := nodesOf(t, []*cannedNode{nil, {}, good})
	height, hash, ok, err := l.Tip(t.Context(), b.Address)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, b.Height, height)
	require.Equal(t, b.Hash, hash)
	_, err = l.HasToken(t.Context(), core.VITE)
	require.Error(t, err, "they all hang up")
	require.Contains(t, good.asked, latest)

	refuses := &cannedNode{answers: map[string]string{latest: noBalance}}
	_, _, _, err = nodesOf(t, []*cannedNode{refuses, good}).Tip(t.Context(), b.Address)
	var no *rpc.Refusal
	require.ErrorAs(t, err, &no)
	require.Equal(t, []string{latest}, refuses.asked)
}
