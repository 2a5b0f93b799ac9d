package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"gatewayd/cmd/gatewaybench/bench"
)

// wsCases are pushes to many WebSocket clients, who are a process beside the hub's: what counts is what the hub's process uses.
func wsCases() []bench.Case {
	gorilla, broadcaster := bench.Yardstick{Name: "gorilla", Part: nil}, bench.Yardstick{Name: "gws", Part: nil}
	one := func(name, about string, load wsLoad, goals []bench.Goal, yardsticks ...bench.Yardstick) bench.Case {
		for i := range yardsticks {
			yardsticks[i].Part = load.part(yardsticks[i].Name)
		}
		return bench.Case{
			Name: name, Group: bench.Exchange, Unit: "delivery", About: about, Ours: load.part("hub"), Yardsticks: yardsticks,
			Helpers: map[string]bench.Part{wsHelper: subscribers}, Goals: goals, Same: []string{"push"}, Scales: []float64{1},
		}
	}
	burst, paced := []bench.Goal{{Of: bench.CPU, Budget: 0.25, Limit: 0.1}}, []bench.Goal{{Of: bench.CPU, Budget: 1, Limit: 0.9}}
	memory := []bench.Goal{
		{Of: "idle", Budget: 8 << 10, Limit: 6 << 10, Absolute: true}, {Of: "loaded", Budget: 12 << 10, Limit: 8 << 10, Absolute: true},
	}
	fine, deaf := wsLoad{conns: 1000, ticks: 100, perTick: 16, pause: 50 * time.Millisecond, timed: true}, wsLoad{
		conns: 1000, ticks: 100, perTick: 16, pause: 50 * time.Millisecond, timed: true, deaf: 100,
	}
	slow := one("ws-slow", "pushes to 1,000 clients of whom ten read nothing; yardstick: all of them read", deaf,
		[]bench.Goal{{Of: "delivery p99", Budget: 1.2, Limit: 1.05}})
	slow.Yardsticks = []bench.Yardstick{{Name: "all read", Part: fine.part("hub")}}
	return []bench.Case{
		one("ws-burst-1000", "1,000 trades at once to 1,000 clients; yardstick: a hub of gorilla/websocket with prepared messages",
			wsLoad{conns: 1000, ticks: 1, perTick: 1000, pause: time.Second}, burst, gorilla),
		one("ws-burst-5000", "200 trades at once to 5,000 clients, and memory of a connection; yardstick: gorilla",
			wsLoad{conns: 5000, ticks: 1, perTick: 200, pause: time.Second}, append(burst, memory...), gorilla),
		one("ws-paced-1000", "20 trades a second to 1,000 clients; yardsticks: gorilla, gws Broadcaster",
			wsLoad{conns: 1000, ticks: 60, perTick: 1, pause: 50 * time.Millisecond, timed: true}, paced, gorilla, broadcaster),
		one("ws-paced-5000", "5 trades a second to 5,000 clients; yardsticks: gorilla, gws Broadcaster",
			wsLoad{conns: 5000, ticks: 15, perTick: 1, pause: 200 * time.Millisecond, timed: true}, paced, gorilla, broadcaster),
		slow,
	}
}

// wsLoad is what is pushed to whom.
type wsLoad struct {
	conns   int
	ticks   int           // so many times
	perTick int           // so many trades at once
	pause   time.Duration // between two ticks
	timed   bool          // clients tell how long pushes took
	deaf    int           // one client in so many reads nothing; 0 for none
}

// wsHub is a hub under test.
type wsHub interface {
	http.Handler
	subscribers() int
	// publish pushes a trade to all. The id is 40 digits.
	publish(id string)
	close() error
}

func newWSHub(ctx context.Context, name string, pushes int) (wsHub, error) {
	switch name {
	case "hub":
		return newOwnHub(ctx, pushes)
	case "gorilla":
		return &gorillaHub{}, nil
	default:
		return &gwsHub{}, nil
	}
}

// part is the hub's process.
func (l wsLoad) part(hub string) bench.Part {
	return func(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
		l.conns, l.ticks = r.UpTo(l.conns), r.N(l.ticks) // more work is more pushes; how many clients there are is what the case is about
		h, err := newWSHub(ctx, hub, l.ticks*l.perTick)
		if err != nil {
			return bench.Figure{}, err
		}
		server, err := bench.ServeLocal(ctx, h)
		if err != nil {
			return bench.Figure{}, errors.Join(err, h.close())
		}
		f, err = l.run(ctx, r, h, server.Addr)
		return f, errors.Join(err, server.Close(), h.close())
	}
}

func (l wsLoad) run(ctx context.Context, r *bench.Run, h wsHub, addr string) (bench.Figure, error) {
	before, err := settledMemory()
	if err != nil {
		return bench.Figure{}, err
	}
	clients, err := r.Command(ctx, wsHelper, fmt.Sprint(addr, " ", l.conns, " ", l.ticks*l.perTick, " ", l.deaf, " ", l.timed))
	if err != nil {
		return bench.Figure{}, err
	}
	var out bytes.Buffer
	clients.Stdout = &out
	loadgen, err := startCrowd(clients)
	if err != nil {
		return bench.Figure{}, err
	}
	f, err := l.measure(ctx, h, loadgen, before)
	err = errors.Join(err, loadgen.leave())
	told, fault := bench.ReadOutcome(out.Bytes())
	f.Notes = append(told.Notes, f.Notes...)
	return f, errors.Join(err, fault)
}

// loadgen is the clients' process. It keeps a pipe open until all clients have everything, and stays until its input ends.
type loadgen struct {
	*exec.Cmd
	served *os.File
	stay   io.Closer
}

func startCrowd(clients *exec.Cmd) (*loadgen, error) {
	served, serving, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the clients: %w", err)
	}
	defer serving.Close() // theirs is a copy
	clients.ExtraFiles = []*os.File{serving}
	stay, err := clients.StdinPipe()
	if err == nil {
		err = clients.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting the clients: %w", err), served.Close())
	}
	return &loadgen{clients, served, stay}, nil
}

func (c *loadgen) leave() error {
	err := errors.Join(c.stay.Close(), c.Wait(), c.served.Close())
	if err != nil {
		return fmt.Errorf("running the clients: %w", err)
	}
	return nil
}

// measure waits for the clients, pushes, and waits until they have everything. base is the memory before they came.
func (l wsLoad) measure(ctx context.Context, h wsHub, clients *loadgen, base int64) (bench.Figure, error) {
	if err := l.gathered(ctx, h); err != nil {
		return bench.Figure{}, errors.Join(err, clients.Process.Kill())
	}
	idle, err := settledMemory()
	if err != nil {
		return bench.Figure{}, err
	}
	start, cpu := time.Now(), bench.CPUTime()
	l.push(h)
	if _, err := io.Copy(io.Discard, clients.served); err != nil {
		return bench.Figure{}, fmt.Errorf("waiting for the clients: %w", err)
	}
	f := bench.Figure{Units: l.conns * l.ticks * l.perTick, CPU: bench.CPUTime() - cpu, Wall: time.Since(start)}
	loaded, err := settledMemory()
	f.Note("idle", float64(idle-base)/float64(l.conns), "B")
	f.Note("loaded", float64(loaded-base)/float64(l.conns), "B")
	return f, err
}

// wsPatience is how long clients may take to come.
const wsPatience = 2 * time.Minute

// gathered waits until all clients are subscribed.
func (l wsLoad) gathered(ctx context.Context, h wsHub) error {
	ctx, cancel := context.WithTimeout(ctx, wsPatience)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for h.subscribers() < l.conns {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d clients came: %w", h.subscribers(), l.conns, ctx.Err())
		}
	}
	return nil
}

func (l wsLoad) push(h wsHub) {
	tick := time.NewTicker(l.pause)
	defer tick.Stop()
	for i := range l.ticks {
		if i > 0 {
			<-tick.C
		}
		for range l.perTick {
			h.publish(fmt.Sprintf("%040d", time.Now().UnixNano()))
		}
	}
}

// settledMemory is what is resident after the collections that it takes until stacks have shrunk: each halves them.
func settledMemory() (int64, error) {
	for range 4 {
		debug.FreeOSMemory()
	}
	n, err := residentMemory()
	return int64(n), err
}
