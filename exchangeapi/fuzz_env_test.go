package exchangeapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	embedded "gatewayd/vite/node"
)

// fuzzEnv is a live exchange that gets any request, while users trade and one listens.
type fuzzEnv struct {
	*exchangeChain
	operations []operation
	orders     *recent
	traded     atomic.Int64
	codes      [2000]atomic.Int64 // answers by code of the envelope
}

// recent are the newest orders.
type recent struct {
	mu  sync.Mutex
	ids []string
}

func (r *recent) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ids) == 32 {
		r.ids = slices.Delete(r.ids, 0, 1)
	}
	r.ids = append(r.ids, id)
}

func (r *recent) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ids)
}

func newFuzzEnv(t testing.TB, changes ...change) *fuzzEnv {
	t.Helper()
	r := &fuzzEnv{orders: &recent{ids: []string{strings.Repeat("0", 64)}}}
	r.exchangeChain = onChain(t, append(changes, func(c *Config, _ *Parts) { c.CallLimit = 1 << 30 })...)
	r.join(r.user)
	description, err := describe([]string{""})
	require.NoError(t, err)
	doc, err := openapi3.NewLoader().LoadFromData(description.V31)
	require.NoError(t, err)
	for _, op := range operations(t, doc) {
		op.path = strings.TrimSuffix(servers(doc, op.path), "/") + op.path
		r.operations = append(r.operations, op)
	}
	require.Greater(t, len(r.operations), 30)
	return r
}

// servers returns the server of a path in the description.
func servers(doc *openapi3.T, path string) string {
	if list := doc.Paths.Value(path).Servers; len(list) > 0 {
		return list[0].URL
	}
	return doc.Servers[0].URL
}

// trade lets two users trade until ctx ends: the background that everything else must not disturb.
func (r *fuzzEnv) trade(ctx context.Context) error {
	pause := time.NewTicker(50 * time.Millisecond)
	defer pause.Stop()
	for n := 1; ctx.Err() == nil; n++ {
		for _, side := range []struct {
			who  wallet
			sell bool
		}{{r.admin, n%2 == 0}, {r.poor, n%2 == 1}} { // by turns, so that neither runs out
			price := fmt.Sprintf("1.%d", n%10)
			id, err := r.submitAndTick(ctx, side.who, dex.FundPlaceOrder, r.gold, core.VITE, side.sell, uint8(dex.Limit), price, whole(150))
			if err != nil {
				return err
			}
			r.orders.add(id.String())
		}
		r.traded.Add(1)
		if _, err := r.node.Snapshot(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
	return nil
}

// submitAndTick is do with an error in place of a test that fails.
func (r *fuzzEnv) submitAndTick(ctx context.Context, w wallet, m core.Method, args ...any) (core.Hash, error) {
	data, err := m.Pack(args...)
	if err != nil {
		return core.Hash{}, err
	}
	b := &core.AccountBlock{BlockType: core.SendCall, Address: w.key.Address(), ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data}
	r.node.Read(func(v *embedded.View) {
		head := v.AccountHead(b.Address)
		b.Height, b.PreviousHash = head.Height+1, head.Hash
	})
	b.SignWith(w.key)
	if err := r.node.Submit(ctx, b); err != nil {
		return core.Hash{}, err
	}
	return b.Hash, r.node.Tick()
}

// recordTrades subscribes to the index and records the ids of all trades.
func (r *fuzzEnv) recordTrades(t testing.TB) (heard func() []string) {
	t.Helper()
	x, ok := r.server.Networks[0].Index.(*index.Index)
	require.True(t, ok)
	updates := x.Subscribe(1 << 16)
	t.Cleanup(updates.Close)
	var mu sync.Mutex
	var ids []string
	background(t, func(ctx context.Context) error {
		for {
			u, err := updates.Next(ctx)
			if err != nil {
				return err
			}
			mu.Lock()
			for _, one := range u.Trades {
				ids = append(ids, one.ID)
			}
			mu.Unlock()
		}
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(ids)
	}
}

// sendFuzzed sends the request encoded by the bytes and checks the answer.
func (r *fuzzEnv) sendFuzzed(t require.TestingT, data []byte) {
	d := &dice{data}
	if d.roll(12) == 11 {
		r.sendRaw(t, d)
		return
	}
	s := r.newRequest(d)
	request := s.request(d, r.url)
	if request == nil {
		return // no library can send it; shootRaw does
	}
	said := fmt.Sprintf("%s %s, head of %d bytes: %.40q %.40q", s.method, s.path, headSize(request), s.values, request.Header)
	response, body, err := r.exchange(request)
	if err != nil && headSize(request) > 15<<10 {
		return // the HTTP library hangs up on it, and may do so before its answer is read
	}
	require.NoError(t, err, said)
	require.Less(t, response.StatusCode, 500, "%s: %s %s", said, body, r.logged)
	if s.method == http.MethodHead || s.method == http.MethodOptions || response.StatusCode == http.StatusRequestHeaderFieldsTooLarge || response.StatusCode == http.StatusBadRequest && len(body) > 0 && body[0] != '{' {
		return // no envelope: the HTTP library has answered
	}
	out := r.read(t, request, response.StatusCode, response.Header, body)
	require.NotEqual(t, codeService, out.Code, "%s: %s %s", said, body, r.logged)
	r.codes[out.Code].Add(1)
}

// exchange sends a request and reads the answer.
func (r *fuzzEnv) exchange(request *http.Request) (*http.Response, []byte, error) {
	response, err := r.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// headSize is about how long a request is without its body.
func headSize(r *http.Request) int {
	n := len(r.URL.String())
	for name, values := range r.Header {
		n += len(name) + len(strings.Join(values, ""))
	}
	return n
}

// sendRaw sends bytes as they are. Whatever is answered, the service has not broken; what the HTTP
// library itself does not support is 501 or 505.
func (r *fuzzEnv) sendRaw(t require.TestingT, d *dice) {
	c, err := net.Dial("tcp", r.server.Addr())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	text := rawRequest(d)
	if _, err := io.WriteString(c, text); err != nil {
		return // it has hung up, as it may
	}
	_ = c.(*net.TCPConn).CloseWrite() // it may have hung up
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 500 {
		require.Contains(t, []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported}, answer.StatusCode, "%q", text)
	}
}

// checkHonestClient checks that an honest client is served as ever.
func (r *fuzzEnv) checkHonestClient(t require.TestingT) {
	response, err := http.Get(r.url + api + "/depth?symbol=" + pairOnChain)
	require.NoError(t, err)
	defer response.Body.Close()
	var out struct{ Code code }
	require.NoError(t, json.NewDecoder(response.Body).Decode(&out))
	require.Equal(t, []any{http.StatusOK, code(0)}, []any{response.StatusCode, out.Code})
}

// FuzzREST sends requests to every operation of the description, signed and unsigned, with valid,
// nearly valid and random values, and to the HTTP layer itself. A run of ten minutes: go test
// ./exchangeapi -run '^$' -fuzz FuzzREST -fuzztime 10m -parallel 1
func FuzzREST(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := range 256 {
		data := make([]byte, 16+random.IntN(200))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		data[0], data[1] = byte(n%12), byte(n) // each operation
		f.Add(data)
	}
	for _, text := range []string{"\x0b\x00\x00\x00", "\x0b\x01\x00\x00\x03\x04\x05\x06"} {
		f.Add([]byte(text))
	}
	r := newFuzzEnv(f)
	background(f, r.trade)
	f.Fuzz(func(t *testing.T, data []byte) {
		r.sendFuzzed(t, data)
		r.checkHonestClient(t)
	})
}

// background is run for parts whose context ends in the middle of something.
func background(t testing.TB, part func(context.Context) error) (stop func()) {
	stop = sync.OnceFunc(start(t, part))
	t.Cleanup(stop)
	return stop
}

func start(t testing.TB, part func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1) // the part's one result
	go func() { done <- part(ctx) }()
	return func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			require.NoError(t, err)
		}
	}
}

// TestUnderFire sends fuzzed requests for a while, GATEWAYD_FUZZ_TIME if that is set, and then
// finds everything as it was: goroutines, memory, and a listener who has heard every trade in
// order. On PostgreSQL the API keys are asked for in another engine's texts.
func TestUnderFire(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) { runFuzzed(t) })
	t.Run("PostgreSQL", func(t *testing.T) {
		url := recordstest.Postgres(t).Database(t)
		runFuzzed(t, func(_ *Config, p *Parts) { p.Keys = openKeys(t, url, p.Now) })
	})
}

func runFuzzed(t *testing.T, changes ...change) {
	long := 3 * time.Second
	if text := os.Getenv("GATEWAYD_FUZZ_TIME"); text != "" {
		var err error
		long, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	r := newFuzzEnv(t, changes...)
	heard := r.recordTrades(t)
	stop := background(t, r.trade)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	sendMany := func(until time.Time) (sent int) {
		for ; time.Now().Before(until); sent++ {
			data := make([]byte, 400)
			for i := range data {
				data[i] = byte(random.Uint32())
			}
			r.sendFuzzed(t, data)
			if sent%100 == 0 {
				r.checkHonestClient(t)
			}
		}
		return sent
	}
	sendMany(time.Now().Add(long / 3)) // caches are full then
	before := r.measureIdle(t)
	sent := sendMany(time.Now().Add(long))
	stop()
	after := r.measureIdle(t)
	grown := after.heap - before.heap - (after.blocks-before.blocks)*chainBlock // the chain is in memory, and it grows
	t.Logf("%d requests; goroutines %d, then %d; heap %d KB, then %d KB, of which the chain's %d blocks take about %d KB; %d codes; %d trades",
		sent, before.goroutines, after.goroutines, before.heap>>10, after.heap>>10, after.blocks-before.blocks, (after.blocks-before.blocks)*chainBlock>>10, r.answers(), r.traded.Load())
	require.LessOrEqual(t, after.goroutines, before.goroutines+2)
	require.Less(t, grown, int64(24<<20))
	r.checkHeardAll(t, heard)
}

// chainBlock is about what a block of the chain in memory takes, with its place in the index and
// the rest.
const chainBlock = 1500

// footprint is the resource use of a server.
type footprint struct {
	goroutines   int
	heap, blocks int64
}

// measureIdle measures the server without load.
func (r *fuzzEnv) measureIdle(t testing.TB) (f footprint) {
	r.client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	last := -1
	require.Eventually(t, func() bool { // until the connections are gone
		same := runtime.NumGoroutine() == last
		last = runtime.NumGoroutine()
		return same
	}, waiting, 100*time.Millisecond)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.goroutines, f.heap = last, int64(m.HeapAlloc)
	r.node.Read(func(v *embedded.View) {
		for _, a := range []core.Address{r.admin.key.Address(), r.poor.key.Address(), r.user.agent, core.DexFundContract, core.DexTradeContract} {
			if head := v.AccountHead(a); head != nil {
				f.blocks += int64(head.Height)
			}
		}
	})
	return f
}

// answers are the codes that were answered, with their numbers.
func (r *fuzzEnv) answers() map[int]int64 {
	got := map[int]int64{}
	for c := range r.codes {
		if n := r.codes[c].Load(); n > 0 {
			got[c] = n
		}
	}
	return got
}

// checkHeardAll checks that the listener has heard every trade since, in order.
func (r *fuzzEnv) checkHeardAll(t testing.TB, heard func() []string) {
	x := r.server.Networks[0].Index
	var want []string
	require.Eventually(t, func() bool { // until the index has them all
		list, err := x.Trades(context.Background(), index.TradeFilter{Symbol: pairOnChain}, index.Page{Limit: 1 << 30})
		if err != nil || len(list.List) < int(r.traded.Load()) {
			return false
		}
		want = nil
		for _, one := range slices.Backward(list.List) {
			want = append(want, one.ID)
		}
		return len(heard()) >= len(want)
	}, 6*waiting, 10*tick, "%d trades, %d heard", r.traded.Load(), len(heard()))
	require.Equal(t, want, heard())
}
