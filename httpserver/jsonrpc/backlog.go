package jsonrpc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
)

// A connection's requests are read while at most maxOpen before them are not answered yet: the
// library begins each as soon as it is read, and keeps the answer until the client has read those
// before it.
const (
	maxOpen = 16
	// maxSilent bounds requests without an ID, which have no answer: their end cannot be observed.
	maxSilent = 100
)

var errSilent = errors.New("too many requests without an id")

// backlog counts the requests of one connection that are not answered yet. One that is nil counts
// nothing.
type backlog struct {
	open   chan struct{} // one element for each; its capacity is the bound
	ended  chan struct{}
	end    sync.Once
	silent int // of the reader
}

func newBacklog() *backlog {
	return &backlog{open: make(chan struct{}, maxOpen), ended: make(chan struct{})}
}

// asked waits until the library may read a message. io.EOF when the connection has been closed.
func (b *backlog) asked(message []byte) error {
	if b == nil {
		return nil
	}
	if !wantsAnswer(message) {
		if b.silent++; b.silent > maxSilent {
			return errSilent
		}
		return nil
	}
	select {
	case b.open <- struct{}{}:
		return nil
	case <-b.ended:
		return io.EOF
	}
}

// notification is the prefix of a subscription's messages; every other message is an answer.
var notification = []byte(`{"jsonrpc":"2.0","method":`)

// wrote takes note of a message of which this is the beginning.
func (b *backlog) wrote(beginning []byte) {
	if b == nil || bytes.HasPrefix(beginning, notification) {
		return
	}
	select {
	case <-b.open:
	default: // of what counted as silent
	}
}

func (b *backlog) close() { b.end.Do(func() { close(b.ended) }) }

// message contains the members that determine whether a message gets an answer.
type message struct {
	Version       string          `json:"jsonrpc"`
	ID            json.RawMessage `json:"id"`
	Method        string          `json:"method"`
	Result, Error json.RawMessage
}

// wantsAnswer is false for requests without an id and for answers, which the library passes over in
// silence. A batch has one answer for all.
func wantsAnswer(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '[' {
		return oneWantsAnswer(text)
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil || len(list) == 0 {
		return true
	}
	return slices.ContainsFunc(list, func(one json.RawMessage) bool { return oneWantsAnswer(one) })
}

func oneWantsAnswer(text []byte) bool {
	var m message
	if json.Unmarshal(text, &m) != nil || m.Version != "2.0" {
		return true
	}
	if m.Method != "" {
		return m.ID != nil
	}
	return m.ID == nil || m.Result == nil && m.Error == nil
}

// Bits of a WebSocket frame's first two bytes, and the codes of frames that carry messages (RFC
// 6455 5.2).
const (
	finalBit = 0x80
	codeBits = 0x0f
	maskBit  = 0x80
	sizeBits = 0x7f
	lastData = 2 // 0 continues a message, 1 and 2 begin one, the others are control frames
	maskSize = 4
)

var errFrameSize = errors.New("frame is too large")

// Frame is the head of a WebSocket frame.
type Frame struct {
	Final, Data bool // the last of its message; not a control frame
	Header      int  // bytes before the payload
	Payload     uint64
	begins      bool // a message
	mask        [maskSize]byte
}

// Size counts header and payload.
func (f Frame) Size() uint64 { return uint64(f.Header) + f.Payload }

// PeekFrame returns the next frame without consuming it.
func PeekFrame(in *bufio.Reader) (f Frame, err error) {
	head, err := in.Peek(2)
	if err != nil {
		return f, err
	}
	if head, err = in.Peek(headerSize(head[1])); err != nil {
		return f, err
	}
	return parseFrame(head)
}

func headerSize(second byte) int {
	size := 2 + map[byte]int{126: 2, 127: 8}[second&sizeBits]
	if second&maskBit != 0 {
		size += maskSize
	}
	return size
}

func parseFrame(head []byte) (Frame, error) {
	code := head[0] & codeBits
	f := Frame{
		Final: head[0]&finalBit != 0, Data: code <= lastData, begins: code != 0, Header: len(head), Payload: uint64(head[1] & sizeBits),
	}
	switch f.Payload {
	case 126:
		f.Payload = uint64(binary.BigEndian.Uint16(head[2:]))
	case 127:
		f.Payload = binary.BigEndian.Uint64(head[2:])
	}
	if f.Payload >= 1<<63 { // RFC 6455 5.2
		return f, errFrameSize
	}
	if head[1]&maskBit != 0 {
		copy(f.mask[:], head[len(head)-maskSize:])
	}
	return f, nil
}

// pacedUpgrade hands out connections that bound their requests.
type pacedUpgrade struct {
	http.ResponseWriter
	maxMessage int
}

// Hijack is called by the WebSocket library once the handshake is good; no frame has been read yet.
func (u pacedUpgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffers, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &pacedConn{Conn: c, in: bufio.NewReader(c), max: u.maxMessage, backlog: newBacklog()}, buffers, nil
}

// pacedConn follows the frames of both sides.
type pacedConn struct {
	net.Conn
	*backlog
	max int // bytes of a message; the library refuses what is longer

	in      *bufio.Reader
	frame   Frame
	taken   uint64 // bytes of the frame that have been read
	message []byte

	upgraded  bool   // the handshake's answer, which the library writes at once, has been written
	head      []byte // of the frame that is written, until it is complete
	out       Frame
	left      uint64 // bytes of it that are still to be written
	beginning []byte // of the message that is written
}

// Read gives the bytes of one frame at most. The last ones of a message wait for their turn.
func (c *pacedConn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.taken == c.frame.Size() {
		f, err := PeekFrame(c.in)
		if err != nil {
			return 0, err
		}
		c.frame, c.taken = f, 0
		if f.Data && f.begins {
			c.message = nil
		}
	}
	n, err := c.in.Read(p[:min(uint64(len(p)), c.frame.Size()-c.taken)])
	c.keep(p[:n])
	if err == nil && c.taken == c.frame.Size() && c.frame.Data && c.frame.Final {
		err = c.asked(c.message)
		c.message = nil
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// keep adds what has been read of a data frame to the message.
func (c *pacedConn) keep(p []byte) {
	for _, b := range p {
		if at := c.taken - uint64(c.frame.Header); c.taken >= uint64(c.frame.Header) && c.frame.Data && len(c.message) < c.max {
			c.message = append(c.message, b^c.frame.mask[at%maskSize])
		}
		c.taken++
	}
}

// Write closes the connection if it fails: what is not answered would be waited for, for ever.
func (c *pacedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.upgraded {
		c.follow(p[:n])
	}
	c.upgraded = true
	if err != nil {
		_ = c.Close()
	}
	return n, err
}

// follow counts the messages in what was written, each of which the library writes as one frame.
func (c *pacedConn) follow(p []byte) {
	for len(p) > 0 {
		if c.left == 0 {
			c.head, p = append(c.head, p[0]), p[1:]
			if len(c.head) < 2 || len(c.head) < headerSize(c.head[1]) {
				continue
			}
			c.out, _ = parseFrame(c.head)
			c.head, c.beginning, c.left = c.head[:0], c.beginning[:0], c.out.Payload
			continue
		}
		part := p[:min(uint64(len(p)), c.left)]
		if room := len(notification) - len(c.beginning); room > 0 {
			c.beginning = append(c.beginning, part[:min(len(part), room)]...)
		}
		p, c.left = p[len(part):], c.left-uint64(len(part))
		if c.left == 0 && c.out.Data {
			c.wrote(c.beginning)
		}
	}
}

func (c *pacedConn) Close() error {
	c.close()
	return c.Conn.Close()
}
