package rpc

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// healthyAge bounds the age of a healthy node's latest snapshot block.
const healthyAge = 3 * time.Minute

// guard precedes the JSON-RPC server: the host check (against pages whose name resolves to a local
// node), CORS and the health page. The JSON-RPC server itself checks method, content type and body
// size.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.hostAllowed(r.Host) {
			http.Error(w, "invalid host specified", http.StatusForbidden)
			return
		}
		s.allowOrigin(w, r)
		switch {
		case r.Method == http.MethodOptions:
			w.WriteHeader(http.StatusNoContent)
		case r.Method == http.MethodGet && r.URL.Path == "/health":
			s.health(w)
		case websocket.IsWebSocketUpgrade(r):
			next.ServeHTTP(frameUpgrade{w}, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostAllowed passes IP addresses, listed names, and requests without a host (HTTP/1.0).
func (s *Server) hostAllowed(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	if host == "" || net.ParseIP(strings.Trim(host, "[]")) != nil {
		return true
	}
	for _, name := range s.cfg.VirtualHosts {
		if name == "*" || strings.EqualFold(name, host) {
			return true
		}
	}
	return false
}

func (s *Server) allowOrigin(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	switch {
	case slices.Contains(s.cfg.Origins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(s.cfg.Origins, origin):
		h.Set("Access-Control-Allow-Origin", origin)
		h.Add("Vary", "Origin")
	default:
		return
	}
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "POST, GET")
		h.Set("Access-Control-Allow-Headers", "Content-Type")
		h.Set("Access-Control-Max-Age", "600")
	}
}

// health is 200 while snapshot blocks come, else 500.
func (s *Server) health(w http.ResponseWriter) {
	if !s.healthy() {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (s *Server) healthy() bool {
	head := read(s.node, func(v *node.View) ledger.Point { return v.Head() })
	return s.cfg.Now().Sub(head.Time) < healthyAge
}

// A real node does not join the frames of a fragmented WebSocket message (RFC 6455 5.4). It takes
// each for a complete message, reports that it ends too soon, and closes. A client that works here
// must work there, so this server does the same.

// fragmentRefusal is a real node's answer to a part of a message. It has no ID.
const fragmentRefusal = `{"jsonrpc":"2.0","error":{"code":-32600,"message":"unexpected EOF"}}`

// What begins the frame that carries the refusal: the last of a text.
const finalText = 0x80 | 1

var errFrameSize = errors.New("frame is too large")

// frameUpgrade hands out connections that take no fragments.
type frameUpgrade struct{ http.ResponseWriter }

// Hijack is called by the WebSocket library once the handshake is good; no frame has been read yet.
func (u frameUpgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffers, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	return &frameConn{Conn: c, in: bufio.NewReader(c)}, buffers, nil
}

// frameConn follows a client's frames and ends at the first that is not a complete message.
type frameConn struct {
	net.Conn
	in      *bufio.Reader
	left    uint64     // bytes of the current frame that have not been read
	writing sync.Mutex // the refusal is written between the library's frames
}

// Read returns the bytes of complete messages and of control frames. It is io.EOF after a fragment
// has been refused.
func (c *frameConn) Read(p []byte) (int, error) {
	if c.left == 0 {
		f, err := jsonrpc.PeekFrame(c.in)
		if err != nil {
			return 0, err
		}
		if !f.Final {
			return 0, c.refuse()
		}
		c.left = f.Size()
	}
	n, err := c.in.Read(p[:min(uint64(len(p)), c.left)])
	c.left -= uint64(n)
	return n, err
}

func (c *frameConn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.Conn.Write(p)
}

// refuse reads the message to its end, so that the client does not write to a closed connection and
// miss the answer.
func (c *frameConn) refuse() error {
	for read := uint64(0); ; {
		f, err := jsonrpc.PeekFrame(c.in)
		if err != nil {
			return err
		}
		if read += f.Size(); read > maxMessage {
			return errFrameSize
		}
		if _, err := c.in.Discard(int(f.Size())); err != nil {
			return err
		}
		if f.Final && f.Data {
			break
		}
	}
	frame := append([]byte{finalText, byte(len(fragmentRefusal))}, fragmentRefusal...)
	if _, err := c.Write(frame); err != nil {
		return err
	}
	return io.EOF
}
