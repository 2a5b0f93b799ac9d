package ws

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// dice turn bytes into choices, so that a fuzzer's bytes are a client.
type dice struct{ rest []byte }

// roll is a number below n; 0 when the bytes are used up.
func (d *dice) roll(n int) int {
	if len(d.rest) == 0 {
		return 0
	}
	v := int(d.rest[0])
	d.rest = d.rest[1:]
	return v % n
}

func (d *dice) bytes() []byte {
	n := min(d.roll(64), len(d.rest))
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

// fuzzHub is a live hub that gets any bytes, while honest clients hear every trade.
type fuzzHub struct {
	*rig
	honest []*honestClient
	pushed int
}

// honestClient hears every trade, in order.
type honestClient struct {
	*client
	shape shape
}

func newFuzzHub(t testing.TB) *fuzzHub {
	b := &fuzzHub{rig: setup(t, Config{})}
	for path, s := range homes() {
		w := &honestClient{b.dial(path), s}
		switch s {
		case commandShape:
			w.ask(subTrade)
		case opTypeShape:
			w.ask(`{"clientId":"w","opType":"sub","topics":"market.VX_VITE.trade"}`)
		case binaryShape:
			w.sendBinary(envelope("w", "market.VX_VITE.trade", opSub))
			w.readFrame()
		}
		b.honest = append(b.honest, w)
	}
	return b
}

// pushAndCheck pushes a trade and checks that every honest client hears exactly this one.
func (b *fuzzHub) pushAndCheck(t require.TestingT) {
	id := fmt.Sprintf("trade%08d", b.pushed)
	b.pushed++
	u := everything()
	u.Trades = []index.Trade{tradeOf(id)}
	b.feed.push(u)
	for _, w := range b.honest {
		require.NoError(t, w.SetReadDeadline(time.Now().Add(waitTimeout)))
		_, text, err := w.ReadMessage()
		require.NoError(t, err)
		require.Contains(t, string(text), id)
		require.NoError(t, w.WriteControl(websocket.PingMessage, nil, time.Now().Add(waitTimeout)))
	}
}

// runClient runs one client from the bytes: a handshake, frames, and some end.
func (b *fuzzHub) runClient(t require.TestingT, data []byte) {
	d := &dice{data}
	c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "ws://"))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(waitTimeout)))
	r := bufio.NewReader(c)
	if _, err := io.WriteString(c, handshake(d)); err != nil {
		return
	}
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		return // the HTTP library hung up on what is no HTTP
	}
	require.Less(t, answer.StatusCode, 500)
	if answer.StatusCode != http.StatusSwitchingProtocols {
		return
	}
	var sender sync.WaitGroup
	sender.Go(func() { // may block until the hub has hung up
		for range 1 + d.roll(6) {
			if _, err := c.Write(frame(d)); err != nil {
				return
			}
		}
		b.endClient(d, c)
	})
	err = readFrames(r)
	c.Close()
	sender.Wait()
	require.NoError(t, err)
}

// endClient ends a client's side in one of the ways there are.
func (b *fuzzHub) endClient(d *dice, c net.Conn) {
	plain, ok := c.(*net.TCPConn)
	switch {
	case !ok, d.roll(4) > 0:
		_ = plain.CloseWrite() // and hears the rest
	default:
		_ = plain.SetLinger(0)
		_ = plain.Close() // with a reset
	}
}

// handshake is mostly a good one.
func handshake(d *dice) string {
	path := []string{"/ws", "/v2/ws", "/websocket", "/ws", "/v2/ws", "/websocket", "/ws?x=1", "/nothing"}[d.roll(8)]
	headers := "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	switch d.roll(24) {
	case 1:
		headers = strings.Replace(headers, "13", "12", 1)
	case 2:
		headers = strings.Replace(headers, "dGhl", "!", 1)
	case 3:
		headers = strings.Replace(headers, "Upgrade: websocket\r\n", "", 1)
	case 4:
		headers += "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99\r\nSec-WebSocket-Protocol: a, ,b\r\nOrigin: null\r\n"
	case 5:
		headers += "Content-Length: 3\r\n\r\nabc"
	}
	return "GET " + path + " HTTP/1.1\r\n" + headers + "\r\n"
}

// frame is a frame or several, right or wrong.
func frame(d *dice) []byte {
	opcode := []byte{1, 1, 1, 2, 2, 2, 8, 9, 10, 0, 3, 7, 11, 15}[d.roll(14)]
	payload := message(d, opcode)
	switch d.roll(16) {
	case 0: // in pieces, with a ping between
		half := len(payload) / 2
		b := masked(opcode, payload[:half], true)
		b = append(b, masked(0x80|9, []byte("ping"), true)...)
		return append(b, masked(0x80, payload[half:], true)...)
	case 1: // a beginning without an end
		return masked(opcode, payload, true)
	case 2:
		return masked(0x80|0x40|opcode, payload, true)
	case 3:
		return masked(0x80|opcode, payload, false)
	case 4: // a length that never comes
		b := []byte{0x80 | opcode, 0x80 | 127}
		b = binary.BigEndian.AppendUint64(b, []uint64{1 << 20, 1 << 31, 1 << 62, 1<<63 - 1, 1 << 63, 1<<64 - 1}[d.roll(6)])
		return append(b, "mask"...)
	case 5: // more than a message may have
		return masked(0x80|opcode, make([]byte, 100<<10), true)
	case 6: // a short length, long-winded
		return append([]byte{0x80 | opcode, 0x80 | 126, 0, 1}, "mask-"...)
	case 7:
		return d.bytes()
	case 8: // a close, and something after it
		return append(masked(0x80|8, closing(d), true), masked(0x80|1, []byte(subTrade), true)...)
	}
	return masked(0x80|opcode, payload, true)
}

// masked is one frame as clients send it.
func masked(first byte, payload []byte, mask bool) []byte {
	b := appendFrameHeader(nil, first, len(payload))
	if !mask {
		return append(b, payload...)
	}
	b[1] |= 0x80
	key := []byte{1, 2, 3, 4}
	b = append(b, key...)
	for i, v := range payload {
		b = append(b, v^key[i%4])
	}
	return b
}

func closing(d *dice) []byte {
	code := []uint16{1000, 1001, 1002, 1005, 1006, 1015, 999, 2999, 3000, 4999, 5000, 0}[d.roll(12)]
	return append(binary.BigEndian.AppendUint16(nil, code), d.bytes()...)
}

// message is mostly one that a client might send.
func message(d *dice, opcode byte) []byte {
	topics := []string{
		"market.VX_VITE.trade", "market.VX_VITE.depth", "market.VX_VITE.depth.step3", "market.VITE_BTC-000.kline.minute", "market.quoteToken.VITE.tickers",
		"market.quoteTokenCategory.ETH.tickers", "order." + address, "market.VX_VITE.order." + address + ".open", "market..trade", "order.", "market.VX_VITE.kline.year",
		"\x00", "\xff", strings.Repeat("a", 200), "", " ", ",", "market.VX_VITE.trade,market.VX_VITE.tickers", "\u202e", "\"", "\\",
	}
	topic := func() string { return topics[d.roll(len(topics))] }
	op := []string{opSub, opSub, opSub, opUnSub, opPing, opPong, opPush, "", "SUB", "\xff"}[d.roll(10)]
	id := []string{"w", "", "c1", strings.Repeat("x", 128), strings.Repeat("x", 129), "\x00\xff"}[d.roll(6)]
	switch {
	case opcode == 8:
		return closing(d)
	case opcode > 8:
		return append(d.bytes(), make([]byte, 62*d.roll(4))...)
	case d.roll(8) == 0:
		return d.bytes()
	case opcode == 2:
		return corrupt(d, envelope(id, topic()+","+topic(), op))
	}
	var text []byte
	if d.roll(2) == 0 {
		text, _ = json.Marshal(map[string]any{"command": op, "params": []string{topic(), topic()}}) // strings only
	} else {
		text, _ = json.Marshal(map[string]any{"clientId": id, "opType": op, "topics": topic() + "," + topic()})
	}
	return corrupt(d, text)
}

// corrupt changes one message in four.
func corrupt(d *dice, b []byte) []byte {
	switch d.roll(16) {
	case 0:
		return b[:len(b)/2]
	case 1:
		return append(b, d.bytes()...)
	case 2:
		b[d.roll(256)%len(b)] ^= byte(1 + d.roll(255))
	case 3:
		return []byte(strings.Repeat("[", 20_000))
	}
	return b
}

// readFrames reads the hub's frames until the end. Whatever the hub receives, it sends complete
// frames of the protocol.
func readFrames(r *bufio.Reader) error {
	for {
		first, err := r.ReadByte()
		if err != nil {
			return nil // its end, in order or with a reset
		}
		second, err := r.ReadByte()
		if err != nil {
			return fmt.Errorf("half a header: %x: %w", first, err)
		}
		n, err := lengthOf(r, second)
		if err != nil {
			return err
		}
		payload := make([]byte, n)
		if _, err := io.ReadFull(r, payload); err != nil {
			return nil // cut off by a reset
		}
		if err := checkFrame(first, payload); err != nil {
			return err
		}
	}
}

func lengthOf(r *bufio.Reader, second byte) (n uint64, err error) {
	long := make([]byte, 8)
	switch second {
	case 126:
		if _, err := io.ReadFull(r, long[6:]); err != nil {
			return 0, nil
		}
	case 127:
		if _, err := io.ReadFull(r, long); err != nil {
			return 0, nil
		}
	default:
		long[7] = second
	}
	if n = binary.BigEndian.Uint64(long); n > 1<<20 || second > 127 {
		return 0, fmt.Errorf("a frame of %d bytes, mask %t", n, second > 127)
	}
	return n, nil
}

func checkFrame(first byte, payload []byte) error {
	switch first {
	case textFrame:
		if !utf8.Valid(payload) || !json.Valid(payload) {
			return fmt.Errorf("a text frame that is no JSON: %q", payload)
		}
	case binaryFrame, 0x80 | websocket.PongMessage:
	case 0x80 | websocket.CloseMessage:
		if len(payload) == 1 || len(payload) > 125 {
			return fmt.Errorf("a close of %d bytes", len(payload))
		}
	default:
		return fmt.Errorf("a frame of kind %x", first)
	}
	return nil
}

// waitUntilGone waits until only the honest clients are left.
func (b *fuzzHub) waitUntilGone(t require.TestingT) {
	require.Eventually(t, func() bool {
		s := b.hub.Stats()
		return s.Connections == len(b.honest) && s.Subscriptions == len(b.honest)
	}, waitTimeout, time.Millisecond)
}

// FuzzConnection is a client who sends anything after a good or bad handshake, to a hub whose other
// clients must hear every trade. A run of ten minutes: go test ./exchangeapi/ws -run '^$' -fuzz
// FuzzConnection -fuzztime 10m -parallel 1
func FuzzConnection(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		f.Add(wildBytes(random))
	}
	b := newFuzzHub(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		b.runClient(t, data)
		b.pushAndCheck(t)
		b.waitUntilGone(t)
	})
}

func wildBytes(random *rand.Rand) []byte {
	data := make([]byte, 8+random.IntN(160))
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	return data
}

// TestUnderFire lets wild clients come for a while, GATEWAYD_FUZZ_TIME if that is set, eight at a
// time, and then finds everything as it was.
func TestUnderFire(t *testing.T) {
	long := 2 * time.Second
	if text := os.Getenv("GATEWAYD_FUZZ_TIME"); text != "" {
		var err error
		long, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	b := newFuzzHub(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	b.runClients(t, long/4, seed) // caches are full then
	goroutines, heap := b.measureIdle(t)
	clients := b.runClients(t, long, seed+8)
	goroutinesAfter, heapAfter := b.measureIdle(t)
	t.Logf("%d clients, %d trades; goroutines %d, then %d; heap %d KB, then %d KB", clients, b.pushed, goroutines, goroutinesAfter, heap>>10, heapAfter>>10)
	require.LessOrEqual(t, goroutinesAfter, goroutines)
	require.Less(t, heapAfter-heap, int64(8<<20))
}

// runClients runs fuzzed clients for a time, eight at once, and answers how many there were.
func (b *fuzzHub) runClients(t *testing.T, long time.Duration, seed uint64) (clients int) {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	recorders := make([]*failureRecorder, 8)
	var all sync.WaitGroup
	for i := range recorders {
		one := &failureRecorder{}
		recorders[i] = one
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		all.Go(func() {
			for ; ctx.Err() == nil; one.clients++ {
				b.runClient(one, wildBytes(random))
			}
		})
	}
	for ctx.Err() == nil {
		b.pushAndCheck(t)
	}
	all.Wait()
	for _, one := range recorders {
		require.Empty(t, one.failure)
		clients += one.clients
	}
	return clients
}

// failureRecorder records the failure of a goroutine that is not the test's.
type failureRecorder struct {
	clients int
	failure string
}

// Errorf records a failure.
func (a *failureRecorder) Errorf(format string, args ...any) {
	a.failure = fmt.Sprintf(format, args...)
}

// FailNow ends the goroutine.
func (a *failureRecorder) FailNow() { runtime.Goexit() }

// measureIdle measures the process when the fuzzed clients have gone.
func (b *fuzzHub) measureIdle(t *testing.T) (goroutines int, heap int64) {
	b.waitUntilGone(t)
	last := -1
	require.Eventually(t, func() bool {
		same := runtime.NumGoroutine() == last
		last = runtime.NumGoroutine()
		return same
	}, waitTimeout, 50*time.Millisecond)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return last, int64(m.HeapAlloc)
}
