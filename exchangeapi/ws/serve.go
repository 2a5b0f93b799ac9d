package ws

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"gatewayd/httpserver"
)

// serve returns the handler of a path whose clients start with the shape home.
func (h *Hub) serve(home shape) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		client := httpserver.ClientOf(r)
		if !h.clients.Enter(client) {
			reject(w, http.StatusTooManyRequests, "no more connections from your address")
			return
		}
		if !h.admit() {
			h.clients.Leave(client)
			reject(w, http.StatusServiceUnavailable, "no more connections, or no current data")
			return
		}
		c := &conn{hub: h, shape: home, client: client}
		upgraded, err := h.upgrader.Upgrade(hijacker{w, c}, r, nil)
		if err != nil { // the client has received the error
			h.release(c)
			return
		}
		c.start(upgraded)
	}
}

// retryAfter is the number of seconds after which a rejected client may try again.
const retryAfter = 10

func reject(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	http.Error(w, why, status)
}

// admit counts a connection; it is false when there are too many, or no current data. Each admit
// needs a release.
func (h *Hub) admit() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open || h.unfed || h.clientConns >= h.cfg.Connections {
		return false
	}
	h.clientConns++
	h.running.Add(1)
	return true
}

// release ends what admit began.
func (h *Hub) release(c *conn) {
	h.table.removeAll(c)
	h.clients.Leave(c.client)
	h.mu.Lock()
	delete(h.conns, c)
	h.clientConns--
	h.mu.Unlock()
	h.running.Done()
}

// start begins to read. The handler returns at once, so that nothing of the HTTP server is held for
// a connection; Run waits for the reader.
func (c *conn) start(upgraded *websocket.Conn) {
	c.ws = upgraded
	c.alive()
	upgraded.SetReadLimit(int64(c.hub.cfg.MessageBytes))
	c.handleControls()
	c.hub.mu.Lock()
	c.hub.conns[c] = struct{}{}
	open := c.hub.open
	c.hub.mu.Unlock()
	if !open {
		c.end(websocket.CloseGoingAway, "the service stops")
	}
	go c.read()
}

// handleControls counts control frames as signs of life; a ping is answered by the library's own
// handler.
func (c *conn) handleControls() {
	pong := c.ws.PingHandler()
	c.ws.SetPingHandler(func(data string) error {
		c.alive()
		return pong(data)
	})
	c.ws.SetPongHandler(func(string) error {
		c.alive()
		return nil
	})
}

func (c *conn) alive() { c.seen.Store(c.hub.now().UnixNano()) }

// read hears the client until the connection ends.
func (c *conn) read() {
	defer c.hub.release(c)
	defer c.readerEnded()
	for {
		messageType, r, err := c.ws.NextReader()
		if err != nil {
			return // closed by either side, broken, or too large: the library has notified the client
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return
		}
		c.alive()
		if !c.allowed() {
			c.end(websocket.ClosePolicyViolation, "too many messages")
			continue
		}
		c.handle(messageType, data)
	}
}

// allowed counts messages, minute by minute.
func (c *conn) allowed() bool {
	now := c.hub.now()
	if now.Sub(c.window) >= time.Minute {
		c.window, c.inWindow = now, 0
	}
	c.inWindow++
	return c.inWindow <= c.hub.cfg.MessagesAMin
}

// handle does what a message asks and answers.
func (c *conn) handle(messageType int, data []byte) {
	req, err := parse(messageType, data)
	if err != nil {
		c.answer(c.complaintShape(messageType), reply{fault: illegalOp})
		return
	}
	c.shape = req.shape
	c.answer(req.shape, c.do(req))
	if req.op == opSub {
		c.hub.wakeSnapshots()
	}
}

// complaintShape is the shape of the answer to an unreadable message: a binary frame gets a binary
// answer.
func (c *conn) complaintShape(messageType int) shape {
	switch {
	case messageType == websocket.BinaryMessage:
		return binaryShape
	case c.shape == binaryShape:
		return opTypeShape
	}
	return c.shape
}

func (c *conn) answer(s shape, r reply) {
	r.at = c.hub.now().UnixMilli()
	c.send(s.frame(r))
}

// do carries out a request.
func (c *conn) do(req request) reply {
	r := reply{op: req.op, topics: req.topics, clientID: req.clientID}
	if r.fault = checkClientID(req.clientID); r.fault != noFault {
		r.clientID = ""
		return r
	}
	switch req.op {
	case opPing:
		return reply{op: opPong, clientID: req.clientID}
	case opSub:
		r.topics, r.fault = c.hub.sub(c, req)
	case opUnSub:
		for _, name := range req.topics {
			c.hub.table.remove(c, name, req.shape)
		}
	case opAuth:
		r.topics, r.fault = nil, c.signIn(req)
	default:
		r.fault = illegalOp
	}
	return r
}

// sub subscribes to the valid topics of a request, and lists them, each once. It is a fault only if
// there are none; then the list is the request's.
func (h *Hub) sub(c *conn, req request) ([]string, fault) {
	wanted := distinct(req)
	if len(wanted) > h.cfg.Topics {
		return req.topics, visitLimit
	}
	var taken []string
	var topics []topic
	for _, t := range wanted {
		if t.symbol != "" && !h.books.HasMarket(t.symbol) {
			continue
		}
		if !h.table.mayHear(c, t) {
			return req.topics, notSignedIn
		}
		taken, topics = append(taken, t.name), append(topics, t)
	}
	switch {
	case len(topics) == 0:
		return req.topics, illegalTopic
	case !h.table.add(c, topics, req.shape, strings.Clone(req.clientID), h.cfg.Topics):
		return req.topics, visitLimit
	}
	return taken, noFault
}

// distinct are the topics that a request names, each once, whether their pairs exist or not. The
// wallets' lists of orders are for their shape alone.
func distinct(req request) (list []topic) {
	seen := map[string]bool{}
	for _, name := range req.topics {
		if seen[name] {
			continue
		}
		seen[name] = true
		t, ok := parseTopic(strings.Clone(name)) // a living subscription must not retain the complete message
		if ok && (t.kind != kindOpen && t.kind != kindHistory || req.shape == binaryShape) {
			list = append(list, t)
		}
	}
	return list
}
