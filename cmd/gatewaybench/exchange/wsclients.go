package exchange

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"gatewayd/cmd/gatewaybench/bench"
)

// wsHelper names the clients' process.
const wsHelper = "subscribers"

// wsSubscribe is what a client says first, and wsTopic what it wants.
const (
	wsTopic     = "market.VX_VITE.trade"
	wsSubscribe = `{"command":"sub","params":["` + wsTopic + `"]}`
)

// subscribers are the clients: argument "ADDRESS CONNECTIONS PUSHES DEAF TIMED". They subscribe, and read until each has all
// pushes; one in DEAF reads nothing. Notes: "push", the length of one; if TIMED, the times from publishing to the clients.
func subscribers(_ context.Context, r *bench.Run) (bench.Figure, error) {
	var addr string
	var conns, pushes, deaf int
	var timed bool
	if _, err := fmt.Sscan(r.Argument, &addr, &conns, &pushes, &deaf, &timed); err != nil {
		return bench.Figure{}, fmt.Errorf("reading what to do: %w", err)
	}
	clients := make([]*wsClient, conns)
	var wait sync.WaitGroup
	faults := make([]error, conns)
	for i := range clients {
		c, err := dialWS(addr, pushes, timed)
		if err != nil {
			return bench.Figure{}, fmt.Errorf("client %d: %w", i, err)
		}
		clients[i] = c
		defer c.conn.Close()
		if deaf > 0 && i%deaf == deaf-1 {
			continue
		}
		wait.Go(func() { faults[i] = c.read() })
	}
	wait.Wait()
	served := os.NewFile(3, "served")
	if err := errors.Join(served.Close(), bench.AwaitEnd()); err != nil {
		return bench.Figure{}, err
	}
	if err := errors.Join(faults...); err != nil {
		return bench.Figure{}, err
	}
	f := bench.Figure{Units: conns * pushes}
	f.Note("push", float64(clients[0].size), "B")
	if timed {
		noteDelays(&f, clients, pushes)
	}
	return f, nil
}

// noteDelays tells how long deliveries took, and how long it took until all clients had a push.
func noteDelays(f *bench.Figure, clients []*wsClient, pushes int) {
	var all []time.Duration
	complete := make([]time.Duration, pushes)
	for _, c := range clients {
		all = append(all, c.delays...)
		for i, d := range c.delays {
			complete[i] = max(complete[i], d)
		}
	}
	slices.Sort(all)
	slices.Sort(complete)
	f.Note("delivery p50", float64(all[len(all)/2]), "ns")
	f.Note("delivery p99", float64(all[len(all)*99/100]), "ns")
	f.Note("fan-out p50", float64(complete[len(complete)/2]), "ns")
	f.Note("fan-out p99", float64(complete[len(complete)*99/100]), "ns")
}

// wsClient is one client. It looks at as little as it can: the clients shall cost little.
type wsClient struct {
	conn   net.Conn
	pushes int
	timed  bool

	size   int // of a push
	seen   int
	delays []time.Duration
}

// dialWS connects and subscribes.
func dialWS(addr string, pushes int, timed bool) (*wsClient, error) {
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
	return &wsClient{conn: link.NetConn(), pushes: pushes, timed: timed}, nil
}

// read takes frames until all pushes are there.
func (c *wsClient) read() error {
	buf, filled := make([]byte, 16<<10), 0
	for c.seen < c.pushes {
		n, err := c.conn.Read(buf[filled:])
		if err != nil {
			return fmt.Errorf("reading push %d of %d: %w", c.seen+1, c.pushes, err)
		}
		filled += n
		used, err := c.frames(buf[:filled])
		if err != nil {
			return err
		}
		filled = copy(buf, buf[used:filled])
	}
	return nil
}

// frames looks at the whole frames in b and answers their length.
func (c *wsClient) frames(b []byte) (used int, err error) {
	for {
		rest := b[used:]
		if len(rest) < 4 {
			return used, nil
		}
		if rest[0] != 0x81 || rest[1] != 126 { // a text of 126 to 65,535 bytes, whole and not masked
			return used, fmt.Errorf("a frame that is no push: %x", rest[:4])
		}
		end := 4 + int(binary.BigEndian.Uint16(rest[2:]))
		if len(rest) < end {
			return used, nil
		}
		if err := c.take(rest[4:end]); err != nil {
			return used, err
		}
		used += end
	}
}

var errNotTimed = errors.New("a push does not tell its time")

func (c *wsClient) take(push []byte) error {
	c.size = len(push)
	c.seen++
	if !c.timed {
		return nil
	}
	_, after, found := bytes.Cut(push, []byte(`"id":"`))
	if !found || len(after) < 40 {
		return errNotTimed
	}
	at, err := strconv.ParseInt(string(after[:40]), 10, 64)
	if err != nil {
		return errors.Join(errNotTimed, err)
	}
	c.delays = append(c.delays, time.Since(time.Unix(0, at)))
	return nil
}
