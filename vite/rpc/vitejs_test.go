package rpc

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/node"
)

// vitejs gives the path of the public client library, installed by our script where it is not there
// yet.
func vitejs(t *testing.T) string {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the session of the JavaScript client needs %s, which is not on this machine", program)
		}
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	library := filepath.Join(root, "build/npm/node_modules/@vite/vitejs")
	if _, err := os.Stat(library); err != nil {
		out, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/npm-install.sh")).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	return library
}

// jsSession is the output of testdata/vitejs/session.js.
type jsSession struct {
	Fresh    string          `json:"fresh"`
	Send     string          `json:"send"`
	Receive  string          `json:"receive"`
	Arrival  unreceivedEvent `json:"arrival"`
	Received unreceivedEvent `json:"received"`
	Nonce    string          `json:"nonce"`
	Token    tokenInfo       `json:"token"`
	Balance  string          `json:"balance"`
	Refusal  struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"refusal"`
	History  []string          `json:"history"`
	Producer sbpInfo           `json:"producer"`
	Voted    any               `json:"voted"`
	Cycle    int64             `json:"cycle"`
	Rewards  *sbpRewards       `json:"rewards"`
	Storage  map[string]string `json:"storage"`
	Synced   uint64            `json:"synced"`
}

// The public client library, unchanged, lives with our node over each transport.
func TestPublicClientLibrary(t *testing.T) {
	library := vitejs(t)
	f := startLive(t)
	for transport, target := range map[string]string{
		"http": "http://" + f.server.HTTPAddr(), "ws": "ws://" + f.server.WSAddr(), "ipc": f.server.cfg.IPC,
	} {
		t.Run(transport, func(t *testing.T) { f.judge(t, runSession(t, library, transport, target)) })
	}
}

// startLive is start with a chain that makes snapshot blocks automatically, faster than a real one:
// they bring quota.
func startLive(t *testing.T) *fixture {
	f := &fixture{t: t, alice: key(t, aliceSeed)}
	var err error
	f.node, err = node.New(node.Config{Genesis: recordedGenesis(t), SnapshotInterval: 10 * time.Millisecond})
	require.NoError(t, err)
	f.server, err = New(f.node, Config{HTTP: "127.0.0.1:0", WS: "127.0.0.1:0", IPC: filepath.Join(t.TempDir(), "s"), Workers: 1})
	require.NoError(t, err)
	require.NoError(t, f.server.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2) // one of each Run
	go func() { ended <- f.server.Run(ctx) }()
	go func() { ended <- f.node.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		require.NoError(t, f.node.Close())
	})
	return f
}

func runSession(t *testing.T, library, transport, target string) jsSession {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	session := exec.CommandContext(ctx, "node", "testdata/vitejs/session.js", library, transport, target)
	var out, faults bytes.Buffer
	session.Stdout, session.Stderr = &out, &faults
	require.NoError(t, session.Run(), faults.String())
	var told jsSession
	require.NoError(t, json.Unmarshal(out.Bytes(), &told), out.String())
	return told
}

// judge compares the library's output with the chain.
func (f *fixture) judge(t *testing.T, told jsSession) {
	fresh, err := core.ParseAddress(told.Fresh)
	require.NoError(t, err)
	block := func(text string) *node.Block {
		h, err := core.ParseHash(text)
		require.NoError(t, err)
		b := read(f.node, func(v *node.View) *node.Block { return v.BlockByHash(h) })
		require.NotNil(t, b)
		return b
	}
	send, receive := block(told.Send), block(told.Receive)
	require.Equal(t, "hello from a wallet", string(send.Data))
	require.Equal(t, fresh, send.Transfer.To)
	require.Equal(t, receive.Hash, send.Received.Hash)
	require.Equal(t, unreceivedEvent{Hash: send.Hash}, told.Arrival)
	require.Equal(t, unreceivedEvent{Hash: send.Hash, Received: true}, told.Received)
	require.Equal(t, "1000000000000000000", told.Balance)
	require.Equal(t, "SESS", told.Token.TokenSymbol)
	require.Equal(t, f.alice.Address(), told.Token.Owner)
	require.Equal(t, -35001, told.Refusal.Code)
	require.Equal(t, "insufficient balance for transfer", told.Refusal.Message)
	require.Contains(t, told.History, "IssueToken")
	require.Contains(t, told.History, "StakeForQuota")

	require.Equal(t, f.producer(), told.Producer.BlockProducingAddress)
	require.Nil(t, told.Voted)
	require.Positive(t, told.Cycle)
	require.Contains(t, told.Rewards.RewardMap, told.Producer.Name)
	require.Empty(t, told.Storage)
	require.NotZero(t, told.Synced)

	nonce, err := base64.StdEncoding.DecodeString(told.Nonce)
	require.NoError(t, err)
	require.True(t, core.CheckPoW(core.PoWDataHash(fresh, receive.Hash), nonce, big.NewInt(2000)))
}
