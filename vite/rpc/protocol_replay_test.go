package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/httpserver/jsonrpc"
)

// httpRequest is a recorded HTTP request. The sessions with a strictly configured node have method
// and parameters only.
type httpRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Params  any               `json:"params"`
}

type httpResponse struct {
	Status      int    `json:"status"`
	ContentType string `json:"contentType"`
	Body        string `json:"body"`
}

// TestProtocolReplay plays the recorded envelope, HTTP, Unix-socket and WebSocket sessions. Only
// methods of the chain's height are called, so values do not count: shape, codes and texts do.
func TestProtocolReplay(t *testing.T) {
	open := start(t, func(c *Config) { c.VirtualHosts = []string{"*"} })
	strict := start(t, func(c *Config) { c.VirtualHosts = nil })
	open.advance(233)
	strict.advance(273)
	v := judge(t, "protocol")
	for _, l := range recording(t, "protocol") {
		f := open
		if strings.HasPrefix(l.Label, "strict node") {
			f = strict
		}
		switch {
		case strings.HasPrefix(l.Transport, "http"):
			v.add(l, f.playHTTP(l))
		case l.Transport == "ipc":
			v.add(l, f.playIPC(l))
		default:
			v.add(l, f.playWS(l))
		}
	}
	v.finish()
}

func (f *fixture) playHTTP(l line) error {
	var want httpResponse
	require.NoError(f.t, json.Unmarshal(l.Response, &want))
	got := f.exchange(recordedRequest(f.t, l))
	if want.Status != got.Status {
		return fmt.Errorf("status %d, want %d", got.Status, want.Status)
	}
	if want.Body != "" && want.ContentType != "" && want.ContentType != got.ContentType {
		return fmt.Errorf("content type %q, want %q", got.ContentType, want.ContentType)
	}
	return sameMessage(want.Body, strings.TrimSuffix(got.Body, "\n"))
}

func recordedRequest(t *testing.T, l line) httpRequest {
	var r httpRequest
	if missing(l.Request) { // the one whose body was too large to record
		return httpRequest{Method: http.MethodPost, Headers: jsonHeaders(), Body: strings.Repeat(" ", 140079)}
	}
	require.NoError(t, json.Unmarshal(l.Request, &r))
	if !strings.Contains(r.Method, "_") {
		return r
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": r.Method, "params": r.Params})
	require.NoError(t, err)
	headers := jsonHeaders()
	for name, value := range r.Headers {
		headers[name] = value
	}
	return httpRequest{Method: http.MethodPost, Headers: headers, Body: string(body)}
}

func missing(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func jsonHeaders() map[string]string { return map[string]string{"Content-Type": "application/json"} }

func (f *fixture) exchange(r httpRequest) httpResponse {
	body := io.Reader(strings.NewReader(r.Body))
	if len(r.Body) == maxBody || len(r.Body) == maxBody+1 {
		body = io.MultiReader(body) // hides the length: these two were recorded without Content-Length
	}
	if r.Body == "" {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(f.t.Context(), r.Method, "http://"+f.server.HTTPAddr()+r.Path, body)
	require.NoError(f.t, err)
	for name, value := range r.Headers {
		req.Header.Set(name, value)
	}
	req.Host = r.Headers["Host"]
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(f.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(f.t, err)
	return httpResponse{resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)}
}

// ipcSession is the recording of a Unix-socket client.
type ipcSession struct {
	Closed bool   `json:"closed"`
	Data   string `json:"data"`
}

func (f *fixture) playIPC(l line) error {
	var sent string
	var want ipcSession
	require.NoError(f.t, json.Unmarshal(l.Request, &sent))
	require.NoError(f.t, json.Unmarshal(l.Response, &want))
	conn, err := net.Dial("unix", f.server.cfg.IPC)
	require.NoError(f.t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, sent)
	require.NoError(f.t, err)
	expected := strings.Split(strings.TrimSuffix(want.Data, "\n"), "\n")
	stream := json.NewDecoder(conn)
	read := func() (string, error) {
		require.NoError(f.t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		var raw json.RawMessage
		err := stream.Decode(&raw)
		return string(raw), err
	}
	return f.session(read, expected, want.Closed)
}

// wsSession is the recording of a WebSocket client.
type wsSession struct {
	ClosedByServer bool     `json:"closedByServer"`
	Messages       []string `json:"messages"`
}

func (f *fixture) playWS(l line) error {
	sent, want := []string{walletRequest}, wsSession{}
	if missing(l.Request) {
		require.NoError(f.t, json.Unmarshal(l.Response, &want.Messages))
	} else {
		require.NoError(f.t, json.Unmarshal(l.Request, &sent))
		require.NoError(f.t, json.Unmarshal(l.Response, &want))
	}
	ws := f.dial()
	for _, message := range sent {
		require.NoError(f.t, ws.conn.WriteMessage(websocket.TextMessage, []byte(message)))
	}
	read := func() (string, error) {
		require.NoError(f.t, ws.conn.SetReadDeadline(time.Now().Add(20*time.Second)))
		_, raw, err := ws.conn.ReadMessage()
		return string(raw), err
	}
	return f.session(read, want.Messages, want.ClosedByServer)
}

// walletRequest is the call that the recording of the strict node's WebSocket does not show.
const walletRequest = `{"jsonrpc":"2.0","id":1,"method":"wallet_listAllEntropyFiles","params":[]}`

// session reads as many messages as were recorded. Answers come in any order; notifications come
// with snapshot blocks.
func (f *fixture) session(read func() (string, error), expected []string, closed bool) error {
	var got []string
	for len(got) < len(expected) {
		if strings.Contains(expected[len(got)], "subscribe_subscription") {
			f.advance(f.head().Height + 1)
		}
		message, err := read()
		if err != nil {
			return fmt.Errorf("after %d messages: %w", len(got), err)
		}
		got = append(got, message)
	}
	for _, want := range expected {
		if err := takeMatching(&got, want); err != nil {
			return err
		}
	}
	if !closed {
		return nil
	}
	if message, err := read(); err == nil {
		return fmt.Errorf("not closed, but %s", message)
	} else if isTimeout(err) {
		return errors.New("not closed")
	}
	return nil
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// takeMatching removes one message that is like the wanted one.
func takeMatching(got *[]string, want string) error {
	var faults []error
	for i, message := range *got {
		err := sameMessage(want, message)
		if err == nil {
			*got = append((*got)[:i:i], (*got)[i+1:]...)
			return nil
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// sameMessage compares messages but for what a moving chain changes: hashes, ids of subscriptions,
// heights.
func sameMessage(want, got string) error {
	if want == got {
		return nil
	}
	var w, g any
	if json.Unmarshal([]byte(want), &w) != nil || json.Unmarshal([]byte(got), &g) != nil {
		return fmt.Errorf("%s, want %s", jsonrpc.Shortened(got), jsonrpc.Shortened(want))
	}
	ids, _ := json.Marshal(identities(w))
	mine, _ := json.Marshal(identities(g))
	if !bytes.Equal(ids, mine) {
		return fmt.Errorf("%s, want %s", jsonrpc.Shortened(got), jsonrpc.Shortened(want))
	}
	return nil
}

// identities replaces what a moving chain changes by its kind.
func identities(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any)
		for name, member := range v {
			out[name] = identities(member)
			if number, ok := member.(float64); ok && name == "height" {
				out[name] = fmt.Sprintf("a number: %t", number > 0)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = identities(v[i])
		}
		return out
	case string:
		switch {
		case hexHash.MatchString(v):
			return "a hash"
		case subscriptionID.MatchString(v):
			return "a subscription"
		case number(v) > 0 && len(v) == 3:
			return "a height"
		}
	}
	return v
}
