package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/errgroup"

	"gatewayd/dev"
)

// Cases push to many WebSocket clients, which run in a process next to the hub's: only the hub's
// process is measured.
func exchangeCases() []Case {
	burst, paced := []Goal{{Of: CPU, Budget: 0.1, Limit: 0.05}}, []Goal{{Of: CPU, Budget: 1, Limit: 0.9}}
	memory := Goal{Of: "idle", Budget: 12 << 10, Limit: 8 << 10, Absolute: true}
	return []Case{
		wsCase("ws-burst-1000", "1,000 trades at once to 1,000 clients; yardstick: a hub of gorilla/websocket with prepared messages",
			wsLoad{conns: 1000, ticks: 1, perTick: 1000, pause: time.Second}, burst, "gorilla"),
		wsCase("ws-burst-5000", "200 trades at once to 5,000 clients, and memory of an idle connection; yardstick: gorilla",
			wsLoad{conns: 5000, ticks: 1, perTick: 200, pause: time.Second}, append(burst, memory), "gorilla"),
		wsCase("ws-paced-1000", "20 trades a second to 1,000 clients; yardsticks: gorilla, gws Broadcaster",
			wsLoad{conns: 1000, ticks: 60, perTick: 1, pause: 50 * time.Millisecond}, paced, "gorilla", "gws"),
		wsCase("ws-paced-5000", "5 trades a second to 5,000 clients; yardsticks: gorilla, gws Broadcaster",
			wsLoad{conns: 5000, ticks: 15, perTick: 1, pause: 200 * time.Millisecond}, paced, "gorilla", "gws"),
	}
}

func wsCase(name, about string, load wsLoad, goals []Goal, yardsticks ...string) Case {
	c := Case{
		Name: name, Unit: "delivery", About: about, Ours: load.part("hub"), Goals: goals, Same: []string{"push"},
		Helpers: map[string]Helper{wsHelper: subscribers},
	}
	for _, y := range yardsticks {
		c.Yardsticks = append(c.Yardsticks, Side{Name: y, Part: load.part(y)})
	}
	return c
}

// wsLoad describes the pushes and their receivers.
type wsLoad struct {
	conns   int
	ticks   int           // so many times
	perTick int           // so many trades at once
	pause   time.Duration // between two ticks
}

// wsHub is a hub under test.
type wsHub interface {
	http.Handler
	subscribers() int
	publish(id string) // pushes a trade to all
	close() error
}

func newWSHub(ctx context.Context, name string, pushes int) (wsHub, error) {
	switch name {
	case "hub":
		return newOwnHub(ctx, pushes)
	case "gorilla":
		return &gorillaHub{}, nil
	}
	return &gwsHub{}, nil
}

// part is the hub's process.
func (l wsLoad) part(name string) Part {
	return func(ctx context.Context, r *Run) (f Figure, err error) {
		l.conns, l.ticks = r.UpTo(l.conns), r.N(l.ticks) // more work is more pushes; the case fixes the number of clients
		h, err := newWSHub(ctx, name, l.ticks*l.perTick)
		if err != nil {
			return Figure{}, err
		}
		server := httptest.NewServer(h)
		before, err := settledMemory()
		if err == nil {
			f, err = l.measure(ctx, r, h, server.Listener.Addr().String(), before)
		}
		server.Close()
		return f, errors.Join(err, h.close())
	}
}

// measure waits for the clients, pushes, and waits until they have everything.
func (l wsLoad) measure(ctx context.Context, r *Run, h wsHub, addr string, before int) (f Figure, err error) {
	clients, err := r.Start(ctx, wsHelper, fmt.Sprint(addr, " ", l.conns, " ", l.ticks*l.perTick))
	if err != nil {
		return Figure{}, err
	}
	defer func() { err = errors.Join(err, clients.End()) }()
	err = dev.Within(ctx, 2*time.Minute, "all clients to come", func() (bool, error) { return h.subscribers() >= l.conns, nil })
	if err != nil {
		return Figure{}, err
	}
	idle, err := settledMemory()
	if err != nil {
		return Figure{}, err
	}
	var size float64
	f, err = r.Measure(l.conns*l.ticks*l.perTick, func() error {
		l.push(h)
		line, err := clients.Line()
		if err == nil {
			_, err = fmt.Sscan(line, &size)
		}
		return err
	})
	f.Note("idle", float64(idle-before)/float64(l.conns), "B")
	f.Note("push", size, "B")
	return f, err
}

func (l wsLoad) push(h wsHub) {
	tick := time.NewTicker(l.pause)
	defer tick.Stop()
	for i := range l.ticks {
		if i > 0 {
			<-tick.C
		}
		for k := range l.perTick {
			h.publish(fmt.Sprintf("%040d", i*l.perTick+k))
		}
	}
}

// settledMemory returns the resident memory after enough collections to shrink the stacks: each
// halves them.
func settledMemory() (bytes int, err error) {
	for range 4 {
		debug.FreeOSMemory()
	}
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSkip, err)
	}
	var size, resident int
	_, err = fmt.Sscan(string(raw), &size, &resident)
	return resident * os.Getpagesize(), err
}

// wsHelper names the clients' process.
const wsHelper = "subscribers"

// wsSubscribe is a client's first message, and wsTopic its topic.
const (
	wsTopic     = "market.VX_VITE.trade"
	wsSubscribe = `{"command":"sub","params":["` + wsTopic + `"]}`
)

// subscribers are the clients: argument "ADDRESS CONNECTIONS PUSHES". They subscribe, and read
// until each has all pushes; then they print the length of one.
func subscribers(_ context.Context, r *Run, say func(string)) error {
	var addr string
	var conns, pushes int
	if _, err := fmt.Sscan(r.Argument, &addr, &conns, &pushes); err != nil {
		return fmt.Errorf("reading what to do: %w", err)
	}
	var g errgroup.Group
	var size int
	for i := range conns {
		link, err := dialWS(addr)
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		defer func() { _ = link.Close() }() // the hub may have closed it
		g.Go(func() error {
			n, err := readPushes(link.NetConn(), pushes)
			if i == 0 {
				size = n
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	say(fmt.Sprint(size))
	return AwaitEnd()
}

// readPushes reads so many pushes and returns the length of the last. It parses raw frames, because
// expensive clients share their machine with the hub and would distort the figure.
func readPushes(link net.Conn, pushes int) (size int, err error) {
	buf, filled := make([]byte, 16<<10), 0
	for pushes > 0 {
		n, err := link.Read(buf[filled:])
		if err != nil {
			return size, fmt.Errorf("%d pushes before the last: %w", pushes, err)
		}
		rest := buf[:filled+n]
		for len(rest) > 4 {
			if rest[0] != 0x81 || rest[1] != 126 { // a text of 126 bytes or more, complete and not masked
				return size, fmt.Errorf("a frame that is no push: %x", rest[:4])
			}
			end := 4 + int(binary.BigEndian.Uint16(rest[2:]))
			if end > len(buf) {
				return size, fmt.Errorf("a push of %d bytes", end)
			}
			if len(rest) < end {
				break
			}
			rest, size, pushes = rest[end:], end-4, pushes-1
		}
		filled = copy(buf, rest)
	}
	return size, nil
}

// dialWS connects and subscribes.
func dialWS(addr string) (*websocket.Conn, error) {
	dialer := websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512, HandshakeTimeout: time.Minute}
	link, answer, err := dialer.Dial("ws://"+addr+"/v2/ws", nil)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	answer.Body.Close()
	if err := link.WriteMessage(websocket.TextMessage, []byte(wsSubscribe)); err != nil {
		return nil, fmt.Errorf("subscribing: %w", err)
	}
	if _, _, err := link.ReadMessage(); err != nil {
		return nil, fmt.Errorf("subscribing: %w", err)
	}
	return link, nil
}
