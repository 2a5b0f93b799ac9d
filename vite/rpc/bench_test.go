package rpc

import (
	"fmt"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// benchServer is a chain in memory, whose only user has all the quota there is, and its server.
func benchServer(b *testing.B) (*Server, core.PrivateKey) {
	alice := key(b, aliceSeed)
	genesis := recordedGenesis(b)
	genesis.Stakes[0].Amount = vite(2_500_000)
	genesis.Accounts[1].Balances[core.VITE] = vite(1e9 - 1e7 - 2_500_000)
	n, err := node.New(node.Config{Genesis: genesis, SnapshotInterval: -1})
	require.NoError(b, err)
	s, err := New(n, Config{})
	require.NoError(b, err)
	done := make(chan error)
	go func() { done <- s.Run(b.Context()) }()
	b.Cleanup(func() {
		require.NoError(b, <-done)
		require.NoError(b, n.Close())
	})
	return s, alice
}

func dial(b *testing.B, s *Server) *websocket.Conn {
	d := websocket.Dialer{NetDialContext: s.Dial}
	c, _, err := d.DialContext(b.Context(), "ws://127.0.0.1", nil)
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	return c
}

// ask sends a request and reads the answer.
func ask(b *testing.B, c *websocket.Conn, request []byte) []byte {
	require.NoError(b, c.WriteMessage(websocket.TextMessage, request))
	_, answer, err := c.ReadMessage()
	require.NoError(b, err)
	return answer
}

// sends are signed requests of transfers to oneself in a row.
func sends(b *testing.B, s *Server, alice core.PrivateKey, count int) [][]byte {
	tip := read(s.node, func(v *node.View) ledger.BlockID { return v.HeadID(alice.Address()) })
	list := make([][]byte, count)
	for i := range list {
		block := &core.AccountBlock{
			BlockType: core.SendCall, Height: tip.Height + 1, PreviousHash: tip.Hash, Address: alice.Address(), ToAddress: alice.Address(),
			TokenID: core.VITE, Amount: vite(1), Data: make([]byte, 260),
		}
		block.SignWith(alice)
		tip = ledger.BlockID{Height: block.Height, Hash: block.Hash}
		raw, err := core.EncodeBlock(block)
		require.NoError(b, err)
		list[i] = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ledger_sendRawTransaction","params":[%s]}`, i+1, raw)
	}
	return list
}

// BenchmarkSend is a block over JSON-RPC, with the signature's check and all that the chain does.
func BenchmarkSend(b *testing.B) {
	s, alice := benchServer(b)
	c, requests := dial(b, s), sends(b, s, alice, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for i, request := range requests {
		if i%20 == 0 {
			_, err := s.node.Snapshot()
			require.NoError(b, err)
		}
		require.Contains(b, string(ask(b, c, request)), `"result":null`)
	}
}

// BenchmarkLatest is the question for an account's newest block.
func BenchmarkLatest(b *testing.B) {
	s, alice := benchServer(b)
	c := dial(b, s)
	ask(b, c, sends(b, s, alice, 1)[0])
	request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"ledger_getLatestAccountBlock","params":[%q]}`, alice.Address())
	b.ReportAllocs()
	for b.Loop() {
		ask(b, c, request)
	}
}

// BenchmarkBalances is the question for an account's balances.
func BenchmarkBalances(b *testing.B) {
	s, alice := benchServer(b)
	c := dial(b, s)
	request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"ledger_getAccountInfoByAddress","params":[%q]}`, alice.Address())
	b.ReportAllocs()
	for b.Loop() {
		ask(b, c, request)
	}
}
