package ws

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// maxJoined bounds the bytes of queued frames in one write.
const maxJoined = 64 << 10

// idleQueueCapacity is the largest capacity that an empty queue keeps.
const idleQueueCapacity = 8

// closeTimeout bounds the time in which a closing connection sends the rest of its frame and its
// close frame.
const closeTimeout = 2 * time.Second

// entry is a queued item of a connection: complete frames, which other connections may share, so
// they are never changed.
type entry struct {
	frames []byte
	state  string // names what the frame is the newest state of; empty: never left out
}

// conn is one client. Its reader is a goroutine of its own; publishers call push and flush. One
// goroutine at a time writes, without waiting. Bytes that the socket does not accept at once go to
// a goroutine that lives until the client has caught up. So an idle client costs one goroutine, and
// a slow one delays no other.
type conn struct {
	hub    *Hub
	client string // what the connection is counted by
	socket *socket
	ws     *websocket.Conn

	// The reader's own.
	shape    shape     // of the last valid message
	window   time.Time // a minute began
	inWindow int       // messages in it
	signIns  int

	seen atomic.Int64 // when the last frame came, ns of Unix time

	subs     map[subKey]*subscription // guarded by hub.table
	signedIn map[string]string        // the keys of the accounts' topics that this client may have; guarded by hub.table

	round uint64 // the publisher's own: the last round that had something for it

	mu      sync.Mutex
	queue   []entry
	size    int  // bytes in queue
	writing bool // a goroutine writes
	closing bool // nothing new is taken; the socket closes when the queue is written
	unread  bool // the reader has gone
}

// attach gives the connection its socket.
func (c *conn) attach(n net.Conn) {
	c.socket = newSocket(n)
	c.socket.link = c
}

// send queues frames for this client alone and writes what can be written. It is false when the
// connection closes.
func (c *conn) send(frames []byte) bool {
	ok := c.push(entry{frames: frames})
	c.flush(nil)
	return ok
}

// push queues an entry; flush must follow. A client whose queue is full loses states that newer
// ones have overtaken, and when that does not help, the connection: an order or a trade is never
// left out. It is false when the connection closes.
func (c *conn) push(e entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	if c.full(e) {
		c.dropOvertaken(e.state)
	}
	if c.full(e) {
		c.hub.slow.Add(1)
		c.endLocked(websocket.ClosePolicyViolation, "slow consumer: "+e.kindName()+" could not be queued")
		return false
	}
	c.queue = append(c.queue, e)
	c.size += len(e.frames)
	return true
}

// queued returns the size of the queue.
func (c *conn) queued() (entries, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue), c.size
}

// full reports whether e is too much. One entry always fits into an empty queue.
func (c *conn) full(e entry) bool {
	return len(c.queue) >= c.hub.cfg.QueueEntries || len(c.queue) > 0 && c.size+len(e.frames) > c.hub.cfg.QueueBytes
}

// dropOvertaken drops the states that newer ones in the queue, or the state that is about to come,
// have overtaken.
func (c *conn) dropOvertaken(coming string) {
	newer := map[string]bool{coming: true}
	kept := len(c.queue)
	for i := len(c.queue) - 1; i >= 0; i-- {
		e := c.queue[i]
		if e.state != "" && newer[e.state] {
			c.size -= len(e.frames)
			c.hub.overtaken.Add(1)
			continue
		}
		newer[e.state] = true
		kept--
		c.queue[kept] = e
	}
	c.queue = slices.Delete(c.queue, 0, kept)
}

// kindName names the entry's kind of push in the reason of a close.
func (e entry) kindName() string {
	if e.state == "" {
		return "an order or trade"
	}
	return "a state"
}

// end closes the connection with a code and a reason: what waits is forgotten, since the client
// cannot or need not have it, and the close frame follows what was begun.
func (c *conn) end(code int, reason string) {
	c.mu.Lock()
	c.endLocked(code, reason)
	c.mu.Unlock()
	c.flush(nil)
}

func (c *conn) endLocked(code int, reason string) {
	if c.closing {
		return
	}
	c.closing = true
	payload := websocket.FormatCloseMessage(code, reason)
	frame := appendFrame(nil, 0x80|websocket.CloseMessage, payload)
	c.queue, c.size = []entry{{frames: frame}}, len(frame)
	c.limitClose()
}

// limitClose bounds the remaining time of the reader and of a write in progress.
func (c *conn) limitClose() {
	if c.socket == nil {
		return
	}
	until := time.Now().Add(closeTimeout)
	_ = c.socket.Conn.SetReadDeadline(until) // fails on closed sockets, which is intended
	_ = c.socket.Conn.SetWriteDeadline(until)
}

// readerEnded closes the connection after its reader: what waits may still be written, then the
// socket closes.
func (c *conn) readerEnded() {
	c.mu.Lock()
	c.closing, c.unread = true, true
	c.limitClose()
	c.mu.Unlock()
	c.flush(nil)
}

// flush writes what waits as far as the socket takes it without waiting. scratch is room for
// joining entries and may be nil.
func (c *conn) flush(scratch []byte) {
	c.mu.Lock()
	if c.writing {
		c.mu.Unlock()
		return // the writer checks the queue again before it stops
	}
	c.writing = true
	for {
		batch, shared := c.next(scratch)
		c.mu.Unlock()
		if batch == nil {
			return
		}
		n, err := c.socket.writeNow(batch)
		if err != nil {
			c.abandon()
			return
		}
		if n < len(batch) {
			c.writeInBackground(batch[n:], shared)
			return
		}
		c.mu.Lock()
	}
}

// next takes the next bytes to write from the queue: an entry as it is, or several joined in
// scratch. Where nothing is left, the turn of this writer is over, and so is the connection if it
// was closing.
func (c *conn) next(scratch []byte) (batch []byte, shared bool) {
	if len(c.queue) == 0 {
		c.writing = false
		if c.unread {
			c.socket.Conn.Close()
		}
		return nil, false
	}
	n := 1
	if len(c.queue) > 1 {
		n, batch = c.join(scratch)
	} else {
		batch, shared = c.queue[0].frames, true
	}
	c.size -= len(batch)
	c.pop(n)
	return batch, shared
}

// pop takes the first n entries off the queue. An empty queue keeps a little room for the next
// round and no more.
func (c *conn) pop(n int) {
	clear(c.queue[:n])
	switch {
	case n < len(c.queue):
		c.queue = c.queue[n:]
	case cap(c.queue) <= idleQueueCapacity:
		c.queue = c.queue[:0]
	default:
		c.queue = nil
	}
}

// join copies the first entries together, at least one, while they fit.
func (c *conn) join(scratch []byte) (int, []byte) {
	if scratch == nil {
		scratch = make([]byte, 0, min(c.size, maxJoined))
	}
	batch := append(scratch[:0], c.queue[0].frames...)
	n := 1
	for n < len(c.queue) && len(batch)+len(c.queue[n].frames) <= maxJoined {
		batch = append(batch, c.queue[n].frames...)
		n++
	}
	return n, batch
}

// writeInBackground writes the rest of a batch in a goroutine that may wait for the client.
func (c *conn) writeInBackground(rest []byte, shared bool) {
	if !shared {
		rest = slices.Clone(rest)
	}
	c.hub.running.Go(func() { c.writeRest(rest) })
}

// writeRest writes a rest and then the queue, as slowly as the client reads. It ends when the
// client has caught up, or accepts nothing for the configured time.
func (c *conn) writeRest(rest []byte) {
	for rest != nil {
		c.limitWrite(time.Now().Add(c.hub.cfg.WriteTimeout))
		if _, err := c.socket.Conn.Write(rest); err != nil {
			c.abandon()
			return
		}
		c.limitWrite(time.Time{}) // else it would pass between two pushes, and fail the next
		c.mu.Lock()
		rest, _ = c.next(nil)
		c.mu.Unlock()
	}
}

// limitWrite sets the deadline of writes, unless the connection is already closing.
func (c *conn) limitWrite(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.socket.Conn.SetWriteDeadline(until)
	}
}

// abandon gives up a connection that cannot be written to. The reader sees the socket close and
// cleans up.
func (c *conn) abandon() {
	c.mu.Lock()
	c.closing, c.queue, c.size = true, nil, 0
	c.mu.Unlock()
	c.socket.Conn.Close()
}
