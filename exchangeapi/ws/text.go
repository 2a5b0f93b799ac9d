package ws

import (
	"encoding/json"
	"fmt"
	"strings"
)

// textMessage is a client's text frame in either of the two shapes.
type textMessage struct {
	Command *string  `json:"command"`
	Params  []string `json:"params"` // some put a list with commas into one of them

	OpType   *string `json:"opType"`
	ClientID string  `json:"clientId"`
	Topics   string  `json:"topics"`

	Key       json.RawMessage `json:"key"` // of auth; others may mean something else by these names
	Timestamp json.RawMessage `json:"timestamp"`
	Signature json.RawMessage `json:"signature"`
}

// parseText reads a text frame. Members that are not known are left alone, for clients send more
// than they must.
func parseText(data []byte) (request, error) {
	var m textMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return request{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	r := request{key: unquoted(m.Key), timestamp: unquoted(m.Timestamp), signature: unquoted(m.Signature)}
	switch {
	case m.Command != nil:
		r.shape, r.op, r.topics = commandShape, *m.Command, splitTopics(strings.Join(m.Params, ","))
		return r, nil
	case m.OpType != nil:
		r.shape, r.op, r.topics, r.clientID = opTypeShape, *m.OpType, splitTopics(m.Topics), m.ClientID
		return r, nil
	}
	return request{}, fmt.Errorf("%w: neither command nor opType is given", errUnreadable)
}

// unquoted returns the content of a JSON string, or a number's text.
func unquoted(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }

// splitTopics reads topics that are separated by commas.
func splitTopics(s string) []string {
	if s == "" {
		return nil
	}
	list := strings.Split(s, ",")
	for i, t := range list {
		list[i] = strings.TrimSpace(t)
	}
	return list
}

// command encodes a reply in the command shape. A pong names the time and no topics (the published
// samples).
func (r reply) command() []byte {
	b := appendInt(nil, `{"code":`, r.fault.code())
	if r.op == "" {
		r.op = "error"
	}
	b = appendText(b, `,"event":`, r.op)
	switch {
	case r.op == opPong:
		b = appendInt(b, `,"timestamp":`, r.at)
	case len(r.topics) > 0 || r.fault == noFault:
		b = appendText(b, `,"topic":`, bracketed(r.topics))
	}
	if r.fault != noFault {
		b = appendText(b, `,"msg":`, r.fault.text())
	}
	return append(b, '}')
}

// opType encodes a reply in the opType shape, after the model of the binary envelope.
func (r reply) opType() []byte {
	b := appendText(nil, `{"clientId":`, r.clientID)
	b = appendText(b, `,"opType":`, r.op)
	b = appendText(b, `,"topics":`, strings.Join(r.topics, ","))
	b = appendInt(b, `,"errorCode":`, int64(r.fault))
	return append(b, '}')
}

// appendCommandPush appends a push in the command shape.
func appendCommandPush(b []byte, name string, at int64, data []byte) []byte {
	b = appendInt(b, `{"code":0,"event":"push","timestamp":`, at)
	b = appendText(b, `,"topic":`, name)
	b = append(append(b, `,"data":`...), data...)
	return append(b, '}')
}

// appendOpTypePush appends a push in the opType shape, which does not name the topic.
func appendOpTypePush(b, data []byte) []byte {
	b = append(append(b, `{"message":`...), data...)
	return append(b, '}')
}
