package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
)

// page is one kind of request that a server is asked for.
type Page struct {
	Name     string
	Requests int      // at scale 1
	URLs     []string // asked by turns
}

// clientConns is how many clients ask at a time while CPU is measured. Latency is measured with one.
const clientConns = 16

// clientsHelper names the helper that asks: the clients' work must not count as the server's.
const clientsHelper = "clients"

func PageHelpers() map[string]Part { return map[string]Part{clientsHelper: askAll} }

// PageGoals are goals for the CPU time of a page's request.
func PageGoals(budget, limit float64, names ...string) []Goal {
	goals := make([]Goal, len(names))
	for i, name := range names {
		goals[i] = Goal{Of: name, Budget: budget, Limit: limit}
	}
	return goals
}

// ServePages serves h to clients in another process and measures, page by page, the server's CPU for a request (the note of
// the page's name) and the time of a lonely request ("p50", "p99" behind it).
func ServePages(ctx context.Context, r *Run, h http.Handler, pages []Page) (Figure, error) {
	server, err := ServeLocal(ctx, h)
	if err != nil {
		return Figure{}, err
	}
	var total Figure
	for _, p := range pages {
		if err = servePage(ctx, r, server.Addr, p, &total); err != nil {
			break
		}
	}
	return total, errors.Join(err, server.Close())
}

func servePage(ctx context.Context, r *Run, addr string, p Page, total *Figure) error {
	list := filepath.Join(r.Dir, "urls")
	if err := os.WriteFile(list, []byte(strings.Join(p.URLs, "\n")), 0o600); err != nil {
		return fmt.Errorf("writing the clients' list: %w", err)
	}
	n := r.UpTo(p.Requests)                                                        // more work is more rows, not more requests
	if _, err := askClients(ctx, r, addr, clientConns, max(1, n/10)); err != nil { // warms caches and connections up
		return err
	}
	start, cpu := time.Now(), CPUTime()
	loaded, err := askClients(ctx, r, addr, clientConns, n)
	if err != nil {
		return err
	}
	used := CPUTime() - cpu
	total.Units, total.CPU, total.Wall = total.Units+n, total.CPU+used, total.Wall+time.Since(start)
	total.Note(p.Name, float64(used)/float64(n), "ns")
	lonely, err := askClients(ctx, r, addr, 1, max(1, n/20))
	if err != nil {
		return err
	}
	for _, which := range []string{"p50", "p99"} {
		note, _ := lonely.note(which)
		total.Note(p.Name+" "+which, note.Value, "ns")
	}
	size, _ := loaded.note("body")
	total.Note(p.Name+" body", size.Value, "B")
	return nil
}

// askClients has the helper ask n times over so many connections.
func askClients(ctx context.Context, r *Run, addr string, conns, n int) (Figure, error) {
	command, err := r.Command(ctx, clientsHelper, fmt.Sprint(addr, " ", conns, " ", n))
	if err != nil {
		return Figure{}, err
	}
	out, err := command.Output()
	if err != nil {
		return Figure{}, fmt.Errorf("running the clients: %w", err)
	}
	return ReadOutcome(out)
}

// askAll is the clients: argument "ADDRESS CONNECTIONS REQUESTS", URLs in the directory. The first answer's length is the note
// "body".
func askAll(ctx context.Context, r *Run) (Figure, error) {
	var addr string
	var conns, n int
	if _, err := fmt.Sscan(r.Argument, &addr, &conns, &n); err != nil {
		return Figure{}, fmt.Errorf("reading what to ask: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(r.Dir, "urls"))
	if err != nil {
		return Figure{}, fmt.Errorf("reading the URLs: %w", err)
	}
	h := clients{addr: addr, urls: strings.Split(string(raw), "\n"), times: make([]time.Duration, n)}
	var wait sync.WaitGroup
	faults := make([]error, conns)
	for i := range conns {
		wait.Go(func() { faults[i] = h.client(ctx) })
	}
	wait.Wait()
	if err := errors.Join(faults...); err != nil {
		return Figure{}, err
	}
	slices.Sort(h.times)
	f := Figure{Units: n}
	f.Note("p50", float64(h.times[n/2]), "ns")
	f.Note("p99", float64(h.times[n*99/100]), "ns")
	f.Note("body", float64(h.body.Load()), "B")
	return f, nil
}

// clients is what the clients share.
type clients struct {
	addr  string
	urls  []string
	times []time.Duration // of each request
	next  atomic.Int64
	body  atomic.Int64 // length of the first answer
}

// client asks on one connection until all requests are taken.
func (h *clients) client(ctx context.Context) error {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", h.addr)
	if err != nil {
		return fmt.Errorf("connecting a client: %w", err)
	}
	defer c.Close()
	in := bufio.NewReaderSize(c, 32<<10)
	for {
		i := int(h.next.Add(1)) - 1
		if i >= len(h.times) {
			return nil
		}
		start := time.Now()
		size, err := get(c, in, h.urls[i%len(h.urls)])
		if err != nil {
			return fmt.Errorf("asking for %s: %w", h.urls[i%len(h.urls)], err)
		}
		h.times[i] = time.Since(start)
		if i == 0 {
			h.body.Store(size)
		}
	}
}

// get asks for a URL and reads the whole answer, which must be a success in the envelope that all our answers have.
func get(c net.Conn, in *bufio.Reader, url string) (size int64, err error) {
	if _, err := io.WriteString(c, "GET "+url+" HTTP/1.1\r\nHost: bench\r\n\r\n"); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	start := make([]byte, len(Success))
	n, err := io.ReadFull(response.Body, start)
	if err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK || !bytes.Equal(start, []byte(Success)) {
		return 0, errors.New("the answer is " + strconv.Itoa(response.StatusCode) + " " + string(start))
	}
	rest, err := io.Copy(io.Discard, response.Body)
	return int64(n) + rest, err
}

// Success is how an answer begins.
const Success = `{"code":0,`

// BareEcho is the yardstick: a handler of echo that encodes the same answers, which it has in memory as structs of type T.
func BareEcho[T any](h http.Handler, pages []Page) (http.Handler, error) {
	e := echo.New()
	for _, p := range pages {
		answer, err := Answer(h, p.URLs[0])
		if err != nil {
			return nil, err
		}
		var value T
		if err := json.Unmarshal(answer, &value); err != nil {
			return nil, fmt.Errorf("reading the answer to %s: %w", p.URLs[0], err)
		}
		path, _, _ := strings.Cut(p.URLs[0], "?")
		e.GET(path, func(c echo.Context) error { return c.JSON(http.StatusOK, &value) })
	}
	return e, nil
}

// Answer is the body of an answer, made without a network.
func Answer(h http.Handler, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", url, err)
	}
	request.RemoteAddr = "127.0.0.1:1"
	w := &recorder{header: http.Header{}}
	h.ServeHTTP(w, request)
	if !bytes.HasPrefix(w.body.Bytes(), []byte(Success)) {
		return nil, fmt.Errorf("asking for %s: the answer is %.200s", url, w.body.String())
	}
	return w.body.Bytes(), nil
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *recorder) WriteHeader(int)             {}
