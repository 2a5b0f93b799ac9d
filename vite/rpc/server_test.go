package rpc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// The typed client works against the server over each transport.
func TestClientOverEachTransport(t *testing.T) {
	f := start(t, nil)
	f.advance(12) // quota for four transfers
	for name, way := range map[string]struct {
		target string
		dial   func(context.Context, string, string) (net.Conn, error)
	}{
		"http": {"http://" + f.server.HTTPAddr(), nil}, "ws": {"ws://" + f.server.WSAddr(), nil}, "ipc": {f.server.cfg.IPC, nil},
		"pipe": {"ws://127.0.0.1", f.server.Dial},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.Dial(t.Context(), way.target, client.Options{Dial: way.dial})
			require.NoError(t, err)
			defer c.Close()
			hash := f.send(f.alice, f.bob.Address(), 5, []byte{0xb, 0xc3, 0, 'a'})
			got, err := c.AccountBlockByHash(t.Context(), hash)
			require.NoError(t, err)
			require.Equal(t, f.bob.Address(), got.ToAddress)
			require.Equal(t, "5", got.Amount.Dec())
			require.Zero(t, got.Confirmations)

			unknown, err := c.AccountBlocksByHash(t.Context(), []core.Hash{{1}, hash})
			require.NoError(t, err)
			require.Nil(t, unknown[0])
			require.Equal(t, got, unknown[1])

			many, err := c.AccountBlocksByHash(t.Context(), slices.Repeat([]core.Hash{{1}, hash}, 100))
			require.NoError(t, err, "a batch of 100 is larger than 8 KiB")
			require.Len(t, many, 200)
			require.Equal(t, got, many[199])

			var downwards []client.SnapshotBlock
			require.NoError(t, c.Call(t.Context(), &downwards, "ledger_getSnapshotBlocks", "9", 3))
			require.Len(t, downwards, 3)
			require.EqualValues(t, 7, downwards[2].Height)
			require.Equal(t, downwards[2].Hash, downwards[1].PreviousHash)
			query := map[string]any{"address": core.AssetContract, "data": []byte{1}}
			require.ErrorIs(t, c.Call(t.Context(), nil, "contract_query", query), &client.Error{Code: -32002, Message: "not supported"})

			again := &core.AccountBlock{
				BlockType: core.SendCall, Height: got.Height, PreviousHash: got.PreviousHash, Address: got.Address,
				ToAddress: got.ToAddress, TokenID: got.TokenID, Amount: got.Amount, Data: got.Data,
			}
			again.SignWith(f.alice)
			require.ErrorIs(t, c.SendRawTransaction(t.Context(), again), client.ErrPrevBlock)
		})
	}
}

// subscribe streams what a topic announces, as JSON, from a server at a WebSocket or Unix socket.
func subscribe(t *testing.T, target string, topic ...any) <-chan []json.RawMessage {
	over, err := gethrpc.DialContext(t.Context(), target)
	require.NoError(t, err)
	t.Cleanup(over.Close)
	items := make(chan []json.RawMessage, 8) // 8: more than come anywhere here
	sub, err := over.Subscribe(t.Context(), "subscribe", items, topic...)
	require.NoError(t, err)
	t.Cleanup(sub.Unsubscribe)
	return items
}

func TestClientSubscribes(t *testing.T) {
	f := start(t, nil)
	target := "ws://" + f.server.WSAddr()
	c, err := client.Dial(t.Context(), target, client.Options{})
	require.NoError(t, err)
	defer c.Close()
	bob := f.bob.Address()
	arrivals, snapshots := subscribe(t, target, "newUnreceivedBlockByAddress", bob), subscribe(t, target, "newSnapshotBlock")
	blocks, mine := subscribe(t, target, "newAccountBlock"), make(chan []client.BlockEvent, 8) // 8: all that come here
	sub, err := c.SubscribeAccount(t.Context(), f.alice.Address(), mine)
	require.NoError(t, err)
	defer sub.Close()
	hash := f.send(f.alice, bob, 5, nil)
	f.advance(2)
	expect := func(from <-chan []json.RawMessage, format string, args ...any) {
		t.Helper()
		items := <-from
		require.Len(t, items, 1)
		require.JSONEq(t, fmt.Sprintf(format, args...), string(items[0]))
	}
	expect(arrivals, `{"hash":%q,"received":false,"removed":false}`, hash)
	expect(blocks, `{"hash":%q,"removed":false}`, hash)
	require.Equal(t, []client.BlockEvent{{Hash: hash, Height: 2}}, <-mine)
	head := f.head().Hash
	expect(snapshots, `{"hash":%q,"height":"2","removed":false}`, head)

	require.NoError(t, f.node.Rollback(1))
	expect(snapshots, `{"hash":%q,"height":"2","removed":true}`, head)
	expect(arrivals, `{"hash":%q,"received":false,"removed":true}`, hash)
}

// A contract's events reach the client as a stream, by block and by filter, and name the token that
// was issued.
func TestClientSeesContractEvents(t *testing.T) {
	f := start(t, nil)
	f.advance(40)
	c, err := client.Dial(t.Context(), f.server.cfg.IPC, client.Options{})
	require.NoError(t, err)
	defer c.Close()
	filter := client.LogFilter{Ranges: map[core.Address]client.HeightRange{core.AssetContract: {From: 2}}}
	events := subscribe(t, f.server.cfg.IPC, "newVmLog", filter)

	issue := &core.AccountBlock{BlockType: core.SendCall, Address: f.alice.Address(), ToAddress: core.AssetContract, TokenID: core.VITE, Fee: vite(1000)}
	for _, l := range recording(t, "ledger") {
		if l.Label == "issue a token" {
			issue.Data = lenientBlock(parseCall(t, l.Request).Params.([]any)[0].(map[string]any)).Data
		}
	}
	issue.Height, issue.PreviousHash = f.next(issue.Address)
	issue.SignWith(f.alice)
	require.NoError(t, c.SendRawTransaction(t.Context(), issue))
	f.advance(42)

	streamed := <-events
	require.Len(t, streamed, 1)
	var found []struct {
		Log    client.VMLog `json:"vmlog"`
		Block  core.Hash    `json:"accountBlockHash"`
		Height uint64       `json:"accountBlockHeight,string"`
	}
	require.NoError(t, c.Call(t.Context(), &found, "ledger_getVmLogsByFilter", filter))
	announced := found[0]
	require.NoError(t, json.Unmarshal(streamed[0], &announced))
	require.Equal(t, found[0], announced)
	var logs []client.VMLog
	require.NoError(t, c.Call(t.Context(), &logs, "ledger_getVmLogs", found[0].Block))
	require.Equal(t, []client.VMLog{found[0].Log}, logs)
	id := core.TokenID(found[0].Log.Topics[1][core.HashSize-core.TokenIDSize:])
	token, err := c.TokenInfo(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "GTT", token.Symbol)
	require.Equal(t, core.NewTokenID(issue.Address, found[0].Height, issue.Hash), id)
}

// A range that begins at 0 begins at the newest block of its contract.
func TestLogsFromZero(t *testing.T) {
	f := start(t, nil)
	f.line()
	heights := func(from, to string) (list []string) {
		params := fmt.Sprintf(`[{"addressHeightRange":{"%s":{"fromHeight":%q,"toHeight":%q}}}]`, core.AssetContract, from, to)
		found, _ := f.invoke("ledger_getVmLogsByFilter", params).Result.([]any)
		for _, e := range found {
			list = append(list, e.(map[string]any)["accountBlockHeight"].(string))
		}
		return list
	}
	require.Equal(t, []string{"1", "2"}, heights("1", "0"))
	require.Equal(t, []string{"2"}, heights("0", "0"))
}

func TestOlderNames(t *testing.T) {
	f := start(t, nil)
	bob := f.bob.Address()
	f.advance(9)
	f.send(f.alice, bob, 5, nil)
	for older, newer := range map[string]call{
		"onroad_getOnroadBlocksByAddress": {Method: "ledger_getUnreceivedBlocksByAddress", Params: []any{bob, 0, 10}},
		"mintage_getTokenInfoById":        {Method: "contract_getTokenInfoById", Params: []any{core.VITE}},
		"tx_sendRawTx":                    {Method: "ledger_sendRawTransaction", Params: []any{}},
		"ledger_getVmlogsByFilter":        {Method: "ledger_getVmLogsByFilter", Params: []any{map[string]any{}}},
	} {
		require.Equal(t, f.post(newer), f.post(call{Method: older, Params: newer.Params}), older)
	}
}

func TestBodyLimit(t *testing.T) {
	f := start(t, nil)
	request := `{"jsonrpc":"2.0","id":1,"method":"ledger_getSnapshotChainHeight"}`
	for size, status := range map[int]int{maxBody: http.StatusOK, maxBody + 1: http.StatusRequestEntityTooLarge} {
		body := request + strings.Repeat(" ", size-len(request))
		resp, err := http.Post("http://"+f.server.HTTPAddr(), "application/json", strings.NewReader(body))
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, status, resp.StatusCode)
	}
}

func TestBatchLimit(t *testing.T) {
	f := start(t, nil)
	for n, whole := range map[int]bool{maxBatch: true, maxBatch + 1: false} {
		body := "[" + strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"net_syncInfo"},`, n), ",") + "]"
		resp, err := http.Post("http://"+f.server.HTTPAddr(), "application/json", strings.NewReader(body))
		require.NoError(t, err)
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, whole, len(parse(t, raw).([]any)) == n)
		require.Equal(t, !whole, strings.Contains(string(raw), "batch too large"))
	}
}

func TestListLimits(t *testing.T) {
	f := start(t, nil)
	a := f.alice.Address()
	pages := make([]any, maxBatchPages+1)
	for i := range pages {
		pages[i] = map[string]any{"address": a, "pageNumber": 0, "pageCount": maxCount}
	}
	many := make([]any, maxCount+1)
	for i := range many {
		many[i] = a
	}
	for _, c := range []call{
		{Method: "ledger_getAccountBlocks", Params: []any{a, nil, nil, maxCount + 1}},
		{Method: "ledger_getUnreceivedBlocksByAddress", Params: []any{a, 0, maxCount + 1}},
		{Method: "ledger_getSnapshotBlocks", Params: []any{"5", maxCount + 1}},
		{Method: "ledger_getUnreceivedBlocksInBatch", Params: []any{pages}},
		{Method: "ledger_getUnreceivedTransactionSummaryInBatch", Params: []any{many}},
		{Method: "ledger_getConfirmedBalances", Params: []any{core.Hash{}, many, []any{core.VITE}}},
		{Method: "contract_getTokenInfoList", Params: []any{0, maxCount + 1}},
		{Method: "contract_getStakeList", Params: []any{a, 0, maxCount + 1}},
	} {
		fault, _ := f.post(c).Error.(map[string]any)
		require.Equal(t, "count must be less than 1000", fault["message"], c.Method)
	}
	require.Nil(t, f.post(call{Method: "ledger_getAccountBlocks", Params: []any{a, nil, nil, -1}}).Error)
	require.Equal(t, []any{}, f.post(call{Method: "ledger_getUnreceivedBlocksByAddress", Params: []any{a, -1, 10}}).Result)
}

func TestHostsAndOrigins(t *testing.T) {
	f := start(t, func(c *Config) {
		c.VirtualHosts, c.Origins = []string{"node.example"}, []string{"https://wallet.example"}
	})
	f.advance(2) // the genesis is old: healthy needs a newer block
	for host, status := range map[string]int{"127.0.0.1": 200, "[::1]:80": 200, "node.example:8": 200, "evil.example": 403} {
		got := f.exchange(httpRequest{Method: http.MethodGet, Path: "/health", Headers: map[string]string{"Host": host}})
		require.Equal(t, status, got.Status, host)
	}
	for origin, allowed := range map[string]string{"https://wallet.example": "https://wallet.example", "https://evil.example": ""} {
		req, err := http.NewRequest(http.MethodOptions, "http://"+f.server.HTTPAddr(), http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, http.StatusNoContent, resp.StatusCode)
		require.Equal(t, allowed, resp.Header.Get("Access-Control-Allow-Origin"))

		_, refused, err := websocket.DefaultDialer.Dial("ws://"+f.server.WSAddr(), http.Header{"Origin": {origin}})
		require.Equal(t, allowed == "", err != nil, origin)
		if err != nil {
			refused.Body.Close()
		}
	}
}

func TestHealth(t *testing.T) {
	f := start(t, nil)
	f.advance(2)
	require.Equal(t, http.StatusOK, f.exchange(httpRequest{Method: http.MethodGet, Path: "/health"}).Status)
	f.wait(healthyAge)
	require.Equal(t, http.StatusInternalServerError, f.exchange(httpRequest{Method: http.MethodGet, Path: "/health"}).Status)
}

func TestUnixSocket(t *testing.T) {
	f := start(t, nil)
	path := f.server.cfg.IPC
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "only the socket")
}

func TestUnixMessageLimit(t *testing.T) {
	f := start(t, nil)
	dial := func() net.Conn {
		conn, err := net.Dial("unix", f.server.cfg.IPC)
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	request := `{"jsonrpc":"2.0","id":1,"method":"ledger_getLatestAccountBlock","params":["` + strings.Repeat("x", maxMessage/2) + `"]}`
	conn := dial()
	for range 4 { // more than the limit together, none alone
		_, err := io.WriteString(conn, request)
		require.NoError(t, err)
		answer := make([]byte, 4096)
		n, err := conn.Read(answer)
		require.NoError(t, err)
		require.Contains(t, string(answer[:n]), "error hex address")
	}
	for _, flood := range []string{`["` + strings.Repeat(`\"`, maxMessage), strings.Repeat("[", maxMessage+1), strings.Repeat(" ", maxMessage+1), strings.Repeat("1", maxMessage+1)} {
		conn := dial()
		go io.WriteString(conn, flood) // may fail half-way, which is the point; ends with the connection
		_, err := io.ReadAll(conn)
		if err != nil {
			require.ErrorContains(t, err, "reset")
		}
	}
}

func TestRunEndsWithOpenConnections(t *testing.T) {
	f := &fixture{t: t}
	n, err := node.New(node.Config{Genesis: recordedGenesis(t), SnapshotInterval: -1})
	require.NoError(t, err)
	s, err := New(n, Config{HTTP: "127.0.0.1:0", WS: "127.0.0.1:0", IPC: filepath.Join(t.TempDir(), "s")})
	require.NoError(t, err)
	require.NoError(t, s.Listen())
	f.node, f.server = n, s
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- s.Run(ctx) }()
	ws := f.dial()
	require.Contains(t, ws.ask(subscribeTo(1, "newSnapshotBlock")), "result")
	idle, err := net.Dial("unix", s.cfg.IPC)
	require.NoError(t, err)
	defer idle.Close()
	cancel()
	require.NoError(t, <-ended)
	_, _, err = ws.conn.ReadMessage()
	require.Error(t, err)
	require.NoFileExists(t, s.cfg.IPC)
	require.NoError(t, n.Close())
}

// The server ends when the chain under it does: its polling filters could not be kept.
func TestRunEndsWithTheNode(t *testing.T) {
	n, err := node.New(node.Config{Genesis: recordedGenesis(t), SnapshotInterval: -1})
	require.NoError(t, err)
	s, err := New(n, Config{})
	require.NoError(t, err)
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- s.Run(t.Context()) }()
	require.NoError(t, n.Close())
	require.ErrorIs(t, <-ended, node.ErrClosed)
}

// A subscriber whose stream broke must notice it.
func TestSlowSubscriberIsDropped(t *testing.T) {
	f := start(t, nil)
	feed := f.node.Subscribe(1)
	f.advance(4)
	nothing := func(*node.Event) (any, bool) { return nil, false }
	require.False(t, f.server.subscribe.pump(nil, &gethrpc.Subscription{}, feed, nothing))

	ws := f.dial()
	require.Contains(t, ws.ask(subscribeTo(1, "newSnapshotBlock")), "result")
	f.server.Drop(ws.conn.LocalAddr().String())
	_, _, err := ws.conn.ReadMessage()
	require.Error(t, err)
	f.server.Drop(ws.conn.LocalAddr().String()) // gone already: nothing happens
}

func TestPoWByTheNode(t *testing.T) {
	f := start(t, func(c *Config) { c.Workers = 1 })
	target := core.PoWDataHash(f.bob.Address(), core.Hash{})
	got := f.post(call{Method: "util_getPoWNonce", Params: []any{"1000", target}})
	require.Nil(t, got.Error)
	nonce, err := base64.StdEncoding.DecodeString(got.Result.(string))
	require.NoError(t, err)
	require.True(t, core.CheckPoW(target, nonce, big.NewInt(1000)))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = grind(ctx, target, big.NewInt(jsonrpc.MaxWork))
	require.Error(t, err)
	busy := &utilAPI{slots: make(chan struct{})} // no slot is ever free
	_, err = busy.GetPoWNonce(ctx, "1000", hashArg{target})
	require.Error(t, err, "who waits for a slot may leave")
}

// TestSearchesAreBounded: a scan of an account's blocks waits for a slot, and ends within its
// timeout.
func TestSearchesAreBounded(t *testing.T) {
	f := start(t, nil)
	l := newLedgerAPI(f.node)
	l.patience = time.Millisecond
	logs := logFilter{AddressHeightRange: map[addressKey]heightRange{addressKey(f.alice.Address()): {"1", "0"}}}
	ask := map[string]func(ctx context.Context) error{
		"logs": func(ctx context.Context) error { _, err := l.GetVmLogsByFilter(ctx, logs); return err },
		"blocks": func(ctx context.Context) error {
			_, err := l.GetAccountBlocks(ctx, addressArg{f.alice.Address()}, nil, nil, 1)
			return err
		},
		"slow": func(ctx context.Context) error {
			_, err := search(ctx, l, func(ctx context.Context, v *node.View) ([]*node.Block, error) {
				<-ctx.Done()
				return v.Blocks(ctx, f.alice.Address(), nil, nil, 1)
			})
			return err
		},
	}
	require.Equal(t, errSearch, ask["slow"](t.Context()))
	require.True(t, l.searches.TryAcquire(maxSearches), "what has ended holds no slot")
	left, leave := context.WithCancel(t.Context())
	leave()
	for name, f := range ask {
		require.Equal(t, errSearch, f(t.Context()), name)
		require.ErrorContains(t, f(left), "shutting down", name)
	}
	l.searches.Release(maxSearches)
	l.patience = searchTime
	require.NoError(t, ask["logs"](t.Context()))
	require.NoError(t, ask["blocks"](t.Context()))
}

func TestFaultsOnTheWire(t *testing.T) {
	for _, c := range []struct {
		err     error
		code    int
		message string
	}{
		{fmt.Errorf("wrapped: %w", ledger.ErrQuota), -35002, "out of quota"},
		{node.ErrClosed, -32000, "server is shutting down"},
		{context.Canceled, -32000, "server is shutting down"},
		{errors.New("write /data/blocks.log: no space left"), -32001, "server execute panic"},
		{jsonrpc.Other("x"), -32002, "x"},
	} {
		var coded gethrpc.Error
		require.ErrorAs(t, onWire(c.err), &coded)
		require.Equal(t, c.code, coded.ErrorCode())
		require.Equal(t, c.message, coded.Error())
	}
	require.NoError(t, onWire(nil))
}

func TestConfigCheck(t *testing.T) {
	for _, bad := range []Config{{Workers: -1}, {MaxConnections: -1}, {MaxFilters: -1}, {HTTP: "127.0.0.1:5", WS: "127.0.0.1:5"}} {
		_, err := New(nil, bad)
		require.Error(t, err)
	}
	f := start(t, nil)
	second, err := New(f.node, Config{HTTP: f.server.HTTPAddr()})
	require.NoError(t, err)
	require.ErrorContains(t, second.Run(t.Context()), "exchange chain RPC over HTTP")
}

func TestUnits(t *testing.T) {
	for quota, want := range map[uint64]string{0: "0", 21000: "1", 22260: "1.06", 189000: "9", 301000: "14.3333"} {
		require.Equal(t, want, units(quota, 4))
	}
}

func FuzzRawBlock(f *testing.F) {
	for _, l := range recording(f, "ledger") {
		if c := parseCall(f, l.Request); c.Method == "ledger_sendRawTransaction" {
			if list := c.Params.([]any); len(list) == 1 {
				raw, err := json.Marshal(list[0])
				require.NoError(f, err)
				f.Add(raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b AccountBlock
		if json.Unmarshal(raw, &b) != nil {
			return
		}
		block, err := b.block()
		if err != nil {
			var coded gethrpc.Error
			require.ErrorAs(t, onWire(err), &coded)
			require.NotEqual(t, jsonrpc.CodePanic, coded.ErrorCode(), err)
			return
		}
		require.Equal(t, block.Difficulty == nil, block.Nonce == nil)
	})
}

func FuzzLogFilter(f *testing.F) {
	for _, l := range recording(f, "ledger") {
		if c := parseCall(f, l.Request); c.Method == "ledger_getVmLogsByFilter" {
			raw, err := json.Marshal(c.Params.([]any)[0])
			require.NoError(f, err)
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var asked logFilter
		if json.Unmarshal(raw, &asked) != nil {
			return
		}
		if chosen, err := asked.filter(); err == nil {
			require.NotEmpty(t, chosen.Ranges)
			require.LessOrEqual(t, chosen.Size, maxCount)
			require.GreaterOrEqual(t, chosen.Page, 0)
		}
	})
}
