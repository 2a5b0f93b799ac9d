package ws

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
)

// The benchmarks of design.md 8 by the method of facts/performance.md 2: the hub under test is a process of its own, its
// clients are another, and what is compared is the server's CPU time for each delivered push, in rounds A B C A B C.
// Beside this hub: the usual one (a goroutine and a channel of 256 for each connection, messages prepared once), and that
// one without preparing. gws, the third yardstick of the facts, is not among this project's modules.
//
//	go test ./exchangeapi/ws -run '^$' -bench . -benchtime 5x

// benchEnv holds what a hub process is to do: "<hub> <mode> <connections> <messages>".
const benchEnv = "GATEWAYD_WS_BENCH"

func TestMain(m *testing.M) {
	if job := os.Getenv(benchEnv); job != "" {
		if err := benchServe(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// benchHubs are the hubs that are compared; the first is ours.
func benchHubs() []string { return []string{"ours", "prepared", "plain"} }

func BenchmarkBurst1000(b *testing.B) { compare(b, "burst", 1000, 1000) }
func BenchmarkBurst5000(b *testing.B) { compare(b, "burst", 5000, 200) }
func BenchmarkPaced1000(b *testing.B) { compare(b, "paced", 1000, 60) } // 20 a second
func BenchmarkPaced5000(b *testing.B) { compare(b, "paced", 5000, 15) } // 4 a second
func BenchmarkIdle5000(b *testing.B)  { compare(b, "idle", 5000, 0) }

// BenchmarkDeaf1000 is the burst with and without one client in a hundred who reads nothing, and its wall time as the
// others see it: from the first push until each of them has the last. (The usual hub would wait for the deaf for ever.)
func BenchmarkDeaf1000(b *testing.B) {
	var all, deaf []float64
	for b.Loop() {
		all = append(all, float64(benchRound(b, "ours", "burst", 1000, 5000).wall.Milliseconds()))
		deaf = append(deaf, float64(benchRound(b, "ours", "deaf", 1000, 5000).wall.Milliseconds()))
	}
	slices.Sort(all)
	slices.Sort(deaf)
	b.ReportMetric(all[len(all)/2], "all-ms")
	b.ReportMetric(deaf[len(deaf)/2], "with-deaf-ms")
	b.ReportMetric(0, "ns/op")
}

// measured is what a hub process tells when its clients have all.
type measured struct {
	MicrosPerPush float64 // CPU, user and system
	KBPerConn     float64 // resident, after a collection, idle
	KBLoaded      float64 // resident after the pushes

	wall time.Duration // as the clients see it
}

func compare(b *testing.B, mode string, conns, messages int) {
	results := map[string][]measured{}
	for b.Loop() {
		for _, hub := range benchHubs() {
			results[hub] = append(results[hub], benchRound(b, hub, mode, conns, messages))
		}
	}
	middle := func(hub string, figure func(measured) float64) float64 {
		var all []float64
		for _, m := range results[hub] {
			all = append(all, figure(m))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	for _, hub := range benchHubs() {
		if mode == "idle" {
			b.ReportMetric(middle(hub, func(m measured) float64 { return m.KBPerConn }), hub+"-KB/conn")
			continue
		}
		b.ReportMetric(middle(hub, func(m measured) float64 { return m.MicrosPerPush }), hub+"-us/push")
		b.ReportMetric(middle(hub, func(m measured) float64 { return m.KBLoaded }), hub+"-KB/conn")
	}
	if mode != "idle" {
		cpu := func(m measured) float64 { return m.MicrosPerPush }
		b.ReportMetric(middle("ours", cpu)/middle("prepared", cpu), "x-prepared")
	}
	b.ReportMetric(0, "ns/op")
}

// benchRound runs one hub process and is its clients.
func benchRound(b *testing.B, hub, mode string, conns, messages int) measured {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d", benchEnv, hub, mode, conns, messages))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(b, lines.Scan(), "the hub's address")
	clients := benchDial(b, lines.Text(), conns)
	require.True(b, lines.Scan(), "the size of a push")
	size, err := strconv.Atoi(lines.Text())
	require.NoError(b, err)
	start := time.Now()
	benchRead(b, readersOf(mode, clients), int64(size)*int64(messages))
	m := measured{wall: time.Since(start)}
	fmt.Fprintln(in, "done")
	require.True(b, lines.Scan(), "the figures")
	require.NoError(b, json.Unmarshal(lines.Bytes(), &m))
	for _, c := range clients {
		c.Close()
	}
	require.NoError(b, in.Close())
	require.NoError(b, cmd.Wait())
	return m
}

// readersOf leaves out one in a hundred, where there are to be deaf clients.
func readersOf(mode string, clients []net.Conn) []net.Conn {
	if mode != "deaf" {
		return clients
	}
	return slices.DeleteFunc(slices.Clone(clients), func(c net.Conn) bool { return slices.Index(clients, c)%100 == 0 })
}

// benchDial connects and subscribes clients.
func benchDial(b *testing.B, address string, n int) []net.Conn {
	list := make([]net.Conn, n)
	for i := range list {
		ws, answer, err := (&websocket.Dialer{ReadBufferSize: 512, WriteBufferSize: 512}).Dial("ws://"+address+"/v2/ws", nil)
		require.NoError(b, err)
		answer.Body.Close()
		require.NoError(b, ws.WriteMessage(websocket.TextMessage, []byte(subTrade)))
		_, _, err = ws.ReadMessage()
		require.NoError(b, err)
		list[i] = ws.NetConn()
	}
	return list
}

// benchRead reads so many bytes from each client, without looking at them: the clients shall cost little.
func benchRead(b *testing.B, clients []net.Conn, each int64) {
	var readers sync.WaitGroup
	var missing atomic.Int64
	for _, c := range clients {
		readers.Go(func() {
			buf := make([]byte, 16<<10)
			for left := each; left > 0; {
				n, err := c.Read(buf)
				if left -= int64(n); err != nil {
					missing.Add(left)
					return
				}
			}
		})
	}
	readers.Wait()
	require.Zero(b, missing.Load(), "bytes that did not come")
}

// fanout is a hub under test.
type fanout interface {
	http.Handler
	count() int // subscribers
	publish(i int)
}

// benchServe is the hub's process: it tells its address, awaits its clients, tells the size of a push, pushes, and tells
// the figures when it hears that the clients have all.
func benchServe(job string) error {
	var hub, mode string
	var conns, messages int
	if _, err := fmt.Sscan(job, &hub, &mode, &conns, &messages); err != nil {
		return err
	}
	f, frame, err := newFanout(hub, messages)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, f)
	before := resident()
	fmt.Fprintln(os.Stdout, l.Addr())
	for f.count() < conns {
		runtime.Gosched()
	}
	var m measured
	m.KBPerConn = (resident() - before) / float64(conns)
	start := cpu()
	fmt.Fprintln(os.Stdout, frame)
	publish(f, mode, messages, conns)
	bufio.NewScanner(os.Stdin).Scan() // done
	if messages > 0 {
		m.MicrosPerPush = float64((cpu() - start).Microseconds()) / float64(conns*messages)
	}
	m.KBLoaded = (resident() - before) / float64(conns)
	return json.NewEncoder(os.Stdout).Encode(m)
}

func publish(f fanout, mode string, messages, conns int) {
	var tick <-chan time.Time
	if mode == "paced" {
		tick = time.Tick(time.Duration(conns) * 50 * time.Microsecond) // 20,000 pushes a second in all
	}
	for i := range messages {
		if tick != nil {
			<-tick
		}
		f.publish(i)
	}
}

// resident is the process's memory in KB, after the collections that it takes until stacks have shrunk: each halves them.
func resident() float64 {
	for range 4 {
		debug.FreeOSMemory()
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize()) / 1024
}

// cpu is the time that the process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// benchPush is a push of a trade; all have one size.
func benchPush(i int) []byte {
	t := trades(tradeOf(fmt.Sprintf("%040d", i)))
	return appendCommandPush(nil, tradeTopic("VX_VITE"), time.Now().UnixMilli(), t.appendJSON(nil))
}

func newFanout(hub string, messages int) (fanout, int, error) {
	frame := len(appendFrame(nil, textFrame, benchPush(0)))
	if hub != "ours" {
		return &usual{prepared: hub == "prepared"}, frame, nil
	}
	feed := &fakeFeed{books: map[string]index.Depth{"VX_VITE": {}}}
	h, err := New(Config{UpdatesBehind: max(messages, 1)}, feed)
	if err != nil {
		return nil, 0, err
	}
	go h.Run(context.Background())
	for feed.latest() == nil || !h.admit() { // Run runs
		runtime.Gosched()
	}
	return ours{h.Handler(), h, feed}, frame, nil
}

type ours struct {
	http.Handler
	hub  *Hub
	feed *fakeFeed
}

func (o ours) count() int { return o.hub.Stats().Subscriptions }
func (o ours) publish(i int) {
	o.feed.tell(index.Update{Trades: []index.Trade{tradeOf(fmt.Sprintf("%040d", i))}})
}

// usual is the usual hub on gorilla/websocket: two goroutines and a channel for each connection.
type usual struct {
	prepared bool
	mu       sync.Mutex
	subs     []chan any
}

func (u *usual) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ws, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	ch := make(chan any, 256)
	go func() {
		for m := range ch {
			switch x := m.(type) {
			case *websocket.PreparedMessage:
				err = ws.WritePreparedMessage(x)
			case []byte:
				err = ws.WriteMessage(websocket.TextMessage, x)
			}
		}
	}()
	go func() {
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				return
			}
			ch <- []byte(`{"code":0,"event":"sub","topic":"[market.VX_VITE.trade]"}`)
			u.mu.Lock()
			u.subs = append(u.subs, ch)
			u.mu.Unlock()
		}
	}()
}

func (u *usual) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.subs)
}

func (u *usual) publish(i int) {
	var m any = benchPush(i)
	if u.prepared {
		m, _ = websocket.NewPreparedMessage(websocket.TextMessage, benchPush(i))
	}
	for _, ch := range u.subs {
		ch <- m
	}
}
