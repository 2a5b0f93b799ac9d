package ws

import (
	"encoding/hex"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/exchangeapi/index"
)

// FuzzMessage hands any frame to a connection: there is always exactly one answer, well-formed, in
// one of the shapes.
func FuzzMessage(f *testing.F) {
	s := readSamples(f)
	for _, m := range []json.RawMessage{s.NewJSON.Ping.Send, s.NewJSON.SubMany.Send, s.NewJSON.UnSub.Send, s.OldJSON.Sub.Send,
		s.OldJSON.Ping.Send, s.OldJSON.UnSub.Send} {
		f.Add(false, []byte(m))
	}
	for _, b := range s.Protobuf.Samples {
		raw, err := hex.DecodeString(b.Hex)
		require.NoError(f, err)
		f.Add(true, raw)
	}
	for _, c := range topicCases() {
		f.Add(true, envelope("c", c.name, opSub))
	}
	f.Add(false, []byte(`{"command":"\ud800"}`))
	h, err := New(Config{}, &fakeFeed{books: map[string]index.Depth{"VX_VITE": {}}}, nil, nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, binary bool, data []byte) {
		c := &conn{hub: h, writing: true} // the answers stay in the queue
		c.handle(map[bool]int{false: websocket.TextMessage, true: websocket.BinaryMessage}[binary], data)
		require.Len(t, c.queue, 1)
		requireAnswer(t, c.queue[0].frames)
		require.Equal(t, len(c.subs), h.table.count)
		h.table.removeAll(c)
		require.Empty(t, h.table.groups)
	})
}

// requireAnswer checks that a frame is complete and that its content can be read.
func requireAnswer(t *testing.T, frame []byte) {
	t.Helper()
	opcode, payload := unframe(t, frame)
	if opcode == textFrame {
		require.True(t, utf8.Valid(payload))
		require.True(t, json.Valid(payload), "%s", payload)
		return
	}
	for len(payload) > 0 {
		_, _, n := protowire.ConsumeField(payload)
		require.Positive(t, n)
		payload = payload[n:]
	}
}

// unframe takes one frame apart, and there is nothing behind it.
func unframe(t *testing.T, frame []byte) (opcode byte, payload []byte) {
	t.Helper()
	require.GreaterOrEqual(t, len(frame), 2)
	n, header := int(frame[1]), 2
	switch n {
	case 126:
		n, header = int(frame[2])<<8|int(frame[3]), 4
	case 127:
		n, header = 0, 10
		for _, b := range frame[2:10] {
			n = n<<8 | int(b)
		}
	}
	require.Len(t, frame, header+n)
	return frame[0], frame[header:]
}

// A frame's length is written in the three ways of RFC 6455.
func TestFrames(t *testing.T) {
	for _, n := range []int{0, 1, 125, 126, 127, 65535, 65536, 200_000} {
		payload := make([]byte, n)
		for i := range payload {
			payload[i] = byte(i)
		}
		opcode, got := unframe(t, appendFrame(nil, binaryFrame, payload))
		require.Equal(t, byte(binaryFrame), opcode)
		require.Equal(t, payload, got)
	}
}

// FuzzTopic: what is taken for a topic is short, plain text and names its pair.
func FuzzTopic(f *testing.F) {
	for _, c := range topicCases() {
		f.Add(c.name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		topic, ok := parseTopic(name)
		if !ok {
			return
		}
		require.LessOrEqual(t, len(name), topicLength)
		require.Equal(t, name, topic.name)
		require.Contains(t, name, topic.symbol)
		for _, c := range name {
			require.True(t, c > ' ' && c <= '~' && c != '"' && c != ',')
		}
	})
}
