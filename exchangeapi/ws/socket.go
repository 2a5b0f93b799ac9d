package ws

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"
)

// socket is the net.Conn of the WebSocket library. Data that the library writes itself (the
// handshake, pongs and closes) passes through the connection's queue like all other data. So frames
// never interleave, and several leave in one write.
type socket struct {
	net.Conn
	raw  syscall.RawConn // nil where the transport is not a plain socket (TLS)
	link *conn
}

// maxKernelBuffer bounds the bytes that the system buffers for a client that does not read. Its
// default is megabytes for each client, outside our queue's bound.
const maxKernelBuffer = 256 << 10

func newSocket(c net.Conn) *socket {
	s := &socket{Conn: c}
	limitKernelBuffer(c)
	if plain, ok := c.(syscall.Conn); ok {
		if raw, err := plain.SyscallConn(); err == nil {
			s.raw = raw
		}
	}
	return s
}

// limitKernelBuffer finds the plain connection below TLS and listeners.
func limitKernelBuffer(c net.Conn) {
	for c != nil {
		if plain, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
			_ = plain.SetWriteBuffer(maxKernelBuffer) // fails on closed sockets, where it does not matter
			return
		}
		wrapped, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return
		}
		c = wrapped.NetConn()
	}
}

// Write queues the library's data: a complete frame, or the answer to the handshake.
func (s *socket) Write(b []byte) (int, error) {
	if !s.link.send(append([]byte(nil), b...)) {
		return 0, net.ErrClosed
	}
	return len(b), nil
}

// SetWriteDeadline does nothing: the library's deadlines are for its own writes, and those only
// queue.
func (s *socket) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the reading side's only.
func (s *socket) SetDeadline(t time.Time) error { return s.Conn.SetReadDeadline(t) }

// Close is for the connection to do when its queue is written; the library closes only where the
// handshake fails.
func (s *socket) Close() error { return s.Conn.Close() }

// writeNow writes as much of b as the socket takes without waiting, which may be nothing.
func (s *socket) writeNow(b []byte) (int, error) {
	if s.raw == nil {
		return 0, nil
	}
	var n int
	var failure error
	err := s.raw.Write(func(fd uintptr) bool {
		n, failure = tryWrite(int(fd), b)
		return true // never wait here: the caller has other sockets to serve
	})
	return n, errors.Join(err, failure)
}

// tryWrite is one write(2) on a socket that does not block.
func tryWrite(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Write(fd, b)
		switch {
		case err == nil:
			return n, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return 0, nil
		default:
			return 0, err
		}
	}
}

// hijacker hands the library our socket in place of the server's connection.
type hijacker struct {
	http.ResponseWriter
	link *conn
}

// Hijack takes the connection from the HTTP server.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.link.attach(c)
	return h.link.socket, buffers, nil
}

// Opcodes of the frames of pushes and replies (RFC 6455, 5.2), with the bit that marks the last
// frame of a message.
const (
	textFrame   = 0x80 | 1
	binaryFrame = 0x80 | 2
)

// frameHeader is the longest header of a server's frame: opcode, 127, and eight bytes of length. A
// server does not mask.
const frameHeader = 10

// appendFrame appends payload as one complete frame. A frame is encoded once and shared by all
// connections that get it. So it is built here and not by the connection, which would build it for
// each.
func appendFrame(b []byte, opcode byte, payload []byte) []byte {
	b = appendFrameHeader(b, opcode, len(payload))
	return append(b, payload...)
}

// appendFrameHeader appends the header of a frame whose payload of n bytes follows.
func appendFrameHeader(b []byte, opcode byte, n int) []byte {
	switch {
	case n < 126:
		return append(b, opcode, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, opcode, 126), uint16(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, opcode, 127), uint64(n))
	}
}
