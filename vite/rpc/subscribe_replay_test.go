package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// socket is a WebSocket client that keeps answers and notifications apart.
type socket struct {
	t      *testing.T
	conn   *websocket.Conn
	events []any // notifications that came while an answer was awaited
}

func (f *fixture) dial() *socket {
	conn, resp, err := websocket.DefaultDialer.Dial("ws://"+f.server.WSAddr(), nil)
	require.NoError(f.t, err)
	resp.Body.Close()
	f.t.Cleanup(func() { conn.Close() })
	return &socket{t: f.t, conn: conn}
}

func (s *socket) read() map[string]any {
	require.NoError(s.t, s.conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, raw, err := s.conn.ReadMessage()
	require.NoError(s.t, err)
	return parse(s.t, raw).(map[string]any)
}

// ask sends a request and waits for its answer.
func (s *socket) ask(request any) map[string]any {
	raw, err := json.Marshal(request)
	require.NoError(s.t, err)
	require.NoError(s.t, s.conn.WriteMessage(websocket.TextMessage, raw))
	for {
		m := s.read()
		if m["method"] == nil {
			return m
		}
		s.events = append(s.events, m)
	}
}

// event is the next notification of a subscription.
func (s *socket) event(subscription string) map[string]any {
	for {
		for i, e := range s.events {
			if params := e.(map[string]any)["params"].(map[string]any); params["subscription"] == subscription {
				s.events = append(s.events[:i], s.events[i+1:]...)
				return e.(map[string]any)
			}
		}
		s.events = append(s.events, s.read())
	}
}

// playSubscriptions replays the recorded session of subscriptions and filters.
func (r *replay) playSubscriptions(lines []line) {
	v := judge(r.t, "subscribe")
	r.advance(260)
	r.fill(r.alice.Address(), 30) // beforehand: the recorded subscribers saw none of these
	ws := r.dial()
	for _, l := range lines {
		v.add(l, r.playSubscription(ws, l))
	}
	require.Empty(r.t, ws.events, "notifications that were not recorded")
	v.finish()
}

func (r *replay) playSubscription(ws *socket, l line) error {
	compare := &comparison{names: r.names}
	switch {
	case len(l.Event) > 0:
		want := parse(r.t, l.Event).(map[string]any)
		theirs := want["params"].(map[string]any)["subscription"].(string)
		require.Contains(r.t, r.names.ours, theirs)
		return compare.differ("event", want, any(ws.event(r.names.ours[theirs])))
	case l.Label == "unsubscribe": // recorded without its request: it was the first subscription's
		first := r.names.ours["0x57847cd44af379cc46e9744c577e4a37"]
		got := ws.ask(map[string]any{"jsonrpc": "2.0", "id": 50, "method": "subscribe_unsubscribe", "params": []any{first}})
		return compare.differ("answer", parse(r.t, l.Response), any(got))
	case l.Transport == "ws":
		return compare.differ("answer", parse(r.t, l.Response), any(ws.ask(r.names.translate(parse(r.t, l.Request)))))
	}
	if l.Label == "poll" {
		r.awaitItems(l)
	}
	return r.play(l, nil)
}

// awaitItems waits until a filter holds as many items as the recorded poll found.
func (r *replay) awaitItems(l line) {
	r.advance(264)
	asked, want := parseCall(r.t, l.Request), parseCall(r.t, l.Response)
	id := gethrpc.ID(r.names.ours[asked.Params.([]any)[0].(string)])
	items := len(want.Result.(map[string]any)["result"].([]any))
	require.Eventually(r.t, func() bool { return r.waiting(id) >= items }, 20*time.Second, time.Millisecond, l.Label)
}

func (f *fixture) waiting(id gethrpc.ID) int {
	table := f.server.subscribe.filters
	table.mu.Lock()
	defer table.mu.Unlock()
	if found := table.filters[id]; found != nil {
		return len(found.waiting)
	}
	return 0
}

func TestFiltersExpire(t *testing.T) {
	f := start(t, nil)
	kept := f.post(call{Method: "subscribe_newSnapshotBlockFilter"}).Result
	left := f.post(call{Method: "subscribe_newSnapshotBlockFilter"}).Result
	poll := func(id any) error {
		if fault := f.post(call{Method: "subscribe_getChangesByFilterId", Params: []any{id}}).Error; fault != nil {
			return errors.New(fmt.Sprint(fault))
		}
		return nil
	}
	f.wait(3 * time.Minute)
	require.NoError(t, poll(kept))
	f.wait(3 * time.Minute)
	require.NoError(t, poll(kept))
	require.ErrorContains(t, poll(left), "filter not found")
}

// An empty poll is [] for most filters and null for the blocks of all accounts: a real node's
// habit.
func TestEmptyPolls(t *testing.T) {
	f := start(t, nil)
	for method, empty := range map[string]any{"subscribe_newSnapshotBlockFilter": []any{}, "subscribe_newAccountBlockFilter": nil} {
		id := f.post(call{Method: method}).Result
		got := f.post(call{Method: "subscribe_getChangesByFilterId", Params: []any{id}}).Result.(map[string]any)
		require.Equal(t, map[string]any{"result": empty, "subscription": id}, got)
	}
}

func TestFiltersAreBounded(t *testing.T) {
	f := start(t, func(c *Config) { c.MaxFilters = 2 })
	for range 2 {
		require.Nil(t, f.post(call{Method: "subscribe_newSnapshotBlockFilter"}).Error)
	}
	require.NotNil(t, f.post(call{Method: "subscribe_newSnapshotBlockFilter"}).Error)
	ws := f.dial()
	for id := range 2 {
		require.Contains(t, ws.ask(subscribeTo(id, "newSnapshotBlock")), "result")
	}
	require.Contains(t, ws.ask(subscribeTo(3, "newSnapshotBlock")), "error")
}

func subscribeTo(id int, params ...any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": "subscribe_subscribe", "params": params}
}

// A filter without polls does not grow without bound: it is removed, because a list with a gap
// would be wrong.
func TestFilterOverflow(t *testing.T) {
	table := newFilterTable(1, time.Now)
	table.follow(start(t, nil).node.Subscribe(1))
	id, err := table.install(&filter{topic: snapshotBlocks})
	require.NoError(t, err)
	for range maxFilterItems {
		table.add(snapshotEvents(1))
	}
	got, err := table.poll(id)
	require.NoError(t, err)
	require.Len(t, got.Result, maxFilterItems)
	table.add(snapshotEvents(maxFilterItems + 1))
	_, err = table.poll(id)
	require.Equal(t, errNoFilter, err)
}

// A filter has nothing of what was published before it was made, however late the table hears of
// it.
func TestFilterBeginsWhenItIsMade(t *testing.T) {
	f := start(t, nil)
	table := newFilterTable(1, time.Now)
	feed := f.node.Subscribe(16)
	table.follow(feed)
	f.advance(5)
	id, err := table.install(&filter{topic: snapshotBlocks})
	require.NoError(t, err)
	f.advance(6)
	for range feed.Sent() {
		table.add(<-feed.Changes())
	}
	got, err := table.poll(id)
	require.NoError(t, err)
	require.Len(t, got.Result, 1)
}

// When the feed of the filters breaks they are removed, so that no client takes a gap for silence;
// new ones use the next feed.
func TestFiltersGoWithTheirFeed(t *testing.T) {
	f := start(t, nil)
	table := newFilterTable(2, f.now)
	broken := f.node.Subscribe(1)
	f.advance(5)
	table.follow(broken)
	before, err := table.install(&filter{topic: snapshotBlocks})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1) // run's one result
	go func() { ended <- table.run(ctx, f.node) }()
	gone := func() bool { _, err := table.poll(before); return err != nil }
	require.Eventually(t, gone, 20*time.Second, time.Millisecond)
	after, err := table.install(&filter{topic: snapshotBlocks})
	require.NoError(t, err)
	f.advance(6)
	came := func() bool { got, err := table.poll(after); return err == nil && len(got.Result) == 1 }
	require.Eventually(t, came, 20*time.Second, time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
}

// Every name of every topic is there, and the parameters are checked as by a real node.
func TestTopicNames(t *testing.T) {
	f := start(t, nil)
	ws := f.dial()
	a := f.alice.Address()
	logs := map[string]any{"addressHeightRange": map[string]any{a.String(): map[string]any{"fromHeight": "0", "toHeight": "0"}}}
	for i, params := range [][]any{
		{"newSnapshotBlock"}, {"createSnapshotBlockSubscription"}, {"newSnapshotBlocks"},
		{"newAccountBlock"}, {"createAccountBlockSubscription"}, {"newAccountBlocks"},
		{"newAccountBlockByAddress", a}, {"createAccountBlockSubscriptionByAddress", a}, {"newAccountBlocksByAddr", a},
		{"newUnreceivedBlockByAddress", a}, {"createUnreceivedBlockSubscriptionByAddress", a}, {"newOnroadBlocksByAddr", a},
		{"newVmLog", logs}, {"createVmlogSubscription", logs}, {"newLogs", logs},
	} {
		require.Contains(t, ws.ask(subscribeTo(i, params...)), "result", params[0])
	}
	nothing := ws.ask(subscribeTo(99, "newVmLog", map[string]any{}))["error"]
	require.Equal(t, map[string]any{"code": json.Number("-32002"), "message": "addressHeightRange is nil"}, nothing)

	require.Nil(t, f.post(call{Method: "subscribe_newVmLogFilter", Params: []any{logs}}).Error)
	for _, bad := range []map[string]any{
		{},
		{"addressHeightRange": map[string]any{a.String(): map[string]any{"fromHeight": "x", "toHeight": "0"}}},
		{"addressHeightRange": map[string]any{a.String(): map[string]any{"fromHeight": "0", "toHeight": "-1"}}},
		{"addressHeightRange": map[string]any{"vite_1": map[string]any{}}},
		{"addressHeightRange": logs["addressHeightRange"], "pageSize": maxCount + 1},
	} {
		require.NotNil(t, f.post(call{Method: "subscribe_newVmLogFilter", Params: []any{bad}}).Error, bad)

	}
}
