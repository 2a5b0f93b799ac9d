package rpc

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"testing"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// Bits of a frame's first two bytes (RFC 6455 5.2).
const (
	finalBit  = 0x80
	textFrame = 1
	maskBit   = 0x80
)

// A message in several frames is refused as a real node refuses it: each frame is taken for a
// message, and the connection ends with 1000.
func TestFragmentedMessage(t *testing.T) {
	f := start(t, nil)
	dialer := websocket.Dialer{WriteBufferSize: 256}
	ws, _, err := dialer.Dial("ws://"+f.server.WSAddr(), nil)
	require.NoError(t, err)
	defer ws.Close()
	height := `{"jsonrpc":"2.0","id":1,"method":"ledger_getSnapshotChainHeight","params":[]}`
	ask := func(text string) string {
		require.NoError(t, ws.WriteMessage(websocket.TextMessage, []byte(text)))
		_, answer, err := ws.ReadMessage()
		require.NoError(t, err)
		return string(answer)
	}
	require.Contains(t, ask(height), `"result":"1"`)
	require.NoError(t, ws.WriteControl(websocket.PingMessage, []byte("x"), f.now().AddDate(100, 0, 0)))
	require.Contains(t, ask(height), `"result":"1"`, "control frames are no messages")
	require.Equal(t, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"unexpected EOF"}}`, ask(strings.Repeat(" ", 10_000)+height))
	_, _, err = ws.ReadMessage()
	require.True(t, websocket.IsCloseError(err, websocket.CloseNormalClosure), err)
}

// Complete frames of any size pass unchanged, however the network splits them.
func TestWholeFrames(t *testing.T) {
	var sent bytes.Buffer
	for _, size := range []int{0, 1, 125, 126, 4096, 65535, 65536, 200_000} {
		sent.Write(clientFrame(finalBit|textFrame, size))
	}
	sent.Write(clientFrame(finalBit|9, 5))
	near, far := net.Pipe()
	c := &frameConn{Conn: near, in: bufio.NewReader(near)}
	go func() {
		for left := sent.Bytes(); len(left) > 0; left = left[min(len(left), 777):] {
			_, _ = far.Write(left[:min(len(left), 777)]) // the reader would miss bytes
		}
		far.Close()
	}()
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Equal(t, sent.Bytes(), got)
}

func FuzzFrames(f *testing.F) {
	f.Add(clientFrame(finalBit|textFrame, 300))
	f.Add(append(clientFrame(textFrame, 3), clientFrame(finalBit, 200)...))
	f.Add([]byte{finalBit | textFrame, 127, 255, 255, 255, 255, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		near, far := net.Pipe()
		c := &frameConn{Conn: near, in: bufio.NewReader(bytes.NewReader(raw))}
		go func() { _, _ = io.Copy(io.Discard, far) }()
		defer near.Close()
		got, _ := io.ReadAll(c)
		require.True(t, bytes.HasPrefix(raw, got))
	})
}

// clientFrame is a masked frame with a payload of so many bytes.
func clientFrame(first byte, size int) []byte {
	var b bytes.Buffer
	b.WriteByte(first)
	switch {
	case size < 126:
		b.WriteByte(maskBit | byte(size))
	case size < 1<<16:
		b.Write([]byte{maskBit | 126, byte(size >> 8), byte(size)})
	default:
		b.Write([]byte{maskBit | 127, 0, 0, 0, 0, byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)})
	}
	b.WriteString("mask")
	b.Write(bytes.Repeat([]byte{'p'}, size))
	return b.Bytes()
}

// The public port has no private methods and finds no nonces.
func TestPublicPort(t *testing.T) {
	private := []string{"dex_getOwner", "dex_getDexConfig", "dex_getTime", "dex_getPeriodId", "dex_verifyDexBalance"}
	const missing = -32601
	for _, public := range []bool{true, false} {
		f := start(t, func(c *Config) { c.Public, c.Workers = public, 1 })
		c, err := gethrpc.Dial("http://" + f.server.HTTPAddr())
		require.NoError(t, err)
		defer c.Close()
		for _, method := range private {
			require.Equal(t, public, code(c.CallContext(t.Context(), nil, method)) == missing, method)
		}
		var clock int64
		require.NoError(t, c.CallContext(t.Context(), &clock, "dextrade_getTimestamp"))
		err = c.CallContext(t.Context(), nil, "util_getPoWNonce", "1", strings.Repeat("0", 64))
		require.Equal(t, public, err != nil && err.Error() == "not supported", err)
	}
}

// code is a refusal's code, 0 for none.
func code(err error) int {
	if coded, ok := err.(gethrpc.Error); ok {
		return coded.ErrorCode()
	}
	return 0
}
