package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gorilla/websocket"
)

// Shape is the way in which a stream and the server speak. The server hears any shape on any of its
// paths.
type Shape int

// The shapes.
const (
	// Command is JSON with the members command and params. Pushes contain their topic and time. Its
	// path is /v2/ws.
	Command Shape = iota
	// OpType is JSON with clientId, opType and topics; its path is /ws. A push consists of its
	// payload alone. On a stream of several topics its topic is unknown, and Push.Topic is empty.
	OpType
	// Binary is protobuf, as wallets use it. Pushes contain their topic. Its path is /websocket.
	Binary
)

// String is the shape's name.
func (s Shape) String() string {
	switch s {
	case Command:
		return "command"
	case OpType:
		return "opType"
	case Binary:
		return "binary"
	}
	return fmt.Sprintf("shape %d", int(s))
}

// path returns the server's path of the shape.
func (s Shape) path() string {
	switch s {
	case OpType:
		return "/ws"
	case Binary:
		return "/websocket"
	default:
		return "/v2/ws"
	}
}

// SocketURL returns the URL for pushes in a shape.
func (c *Client) SocketURL(s Shape) string {
	if rest, ok := strings.CutPrefix(c.base(), "http"); ok {
		return "ws" + rest + s.path()
	}
	return c.base() + s.path()
}

// The words of the protocol, the same in all shapes.
const (
	opSub  = "sub"
	opPing = "ping"
	opPush = "push"
)

// message encodes a client's request.
func (s Shape) message(clientID, op string, topics []string) (kind int, data []byte) {
	switch s {
	case Binary:
		return websocket.BinaryMessage, envelope{clientID: clientID, op: op, topics: strings.Join(topics, ",")}.encode()
	case OpType:
		return websocket.TextMessage, object(map[string]any{"clientId": clientID, "opType": op, "topics": strings.Join(topics, ",")})
	}
	if op == opPing {
		return websocket.TextMessage, object(map[string]any{"command": op})
	}
	return websocket.TextMessage, object(map[string]any{"command": op, "params": topics})
}

// object prints an object of texts, which never fails.
func object(members map[string]any) []byte {
	b, _ := json.Marshal(members)
	return b
}

// errFrame marks a frame that is not of the stream's shape.
var errFrame = errors.New("not a frame of the stream's shape")

// frame decodes a server's message.
func (s Shape) frame(kind int, data []byte) (frame, error) {
	switch {
	case (s == Binary) != (kind == websocket.BinaryMessage):
		return frame{}, fmt.Errorf("%w: WebSocket message type %d", errFrame, kind)
	case s == Binary:
		return binaryFrame(data)
	case s == OpType:
		return opTypeFrame(data)
	}
	return commandFrame(data)
}

func commandFrame(data []byte) (frame, error) {
	var m struct {
		Code      int             `json:"code"`
		Event     string          `json:"event"`
		Msg       string          `json:"msg"`
		Topic     string          `json:"topic"`
		Timestamp int64           `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	return frame{
		event: m.Event, code: m.Code, msg: m.Msg, topics: m.Topic,
		push: Push{Topic: m.Topic, Timestamp: m.Timestamp, Shape: Command, Data: m.Data},
	}, nil
}

func opTypeFrame(data []byte) (frame, error) {
	var m struct {
		OpType    string          `json:"opType"`
		Topics    string          `json:"topics"`
		ErrorCode int             `json:"errorCode"`
		Message   json.RawMessage `json:"message"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return frame{}, fmt.Errorf("%w: %w", errFrame, err)
	}
	if m.Message != nil {
		return frame{event: opPush, push: Push{Shape: OpType, Data: m.Message}}, nil
	}
	return frame{event: m.OpType, code: m.ErrorCode, msg: errorText(m.ErrorCode), topics: m.Topics}, nil
}

// errorText returns the text of an error code for the shapes that send codes only.
func errorText(code int) string {
	switch code {
	case 0:
		return ""
	case 1:
		return "illegal client id"
	case 2:
		return "illegal topic"
	case 3:
		return "illegal message or operation"
	case 5:
		return "too many topics"
	}
	return "error"
}
