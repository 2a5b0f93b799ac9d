// Package metrics exports the daemon's figures in Prometheus' text format,
// docs/operations/monitoring.md.
//
// It owns their names and costs. One loop reads the records and the nodes, in bounded time, every
// ten seconds (`status.every`), and a scrape shows its last reading. It decides nothing;
// status decides whether payments flow.
//
//	requests ──▶ counters, histograms ─┐
//	records, nodes ──Follow──▶ page ───┼─▶ scrape
//	index, sockets, files, process ────┘
package metrics

import (
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"gatewayd/chain"
	"gatewayd/exchangeapi/index"
	"gatewayd/exchangeapi/ws"
	"gatewayd/httpserver"
)

// Metrics collects all metrics of a process. It outlives the tenures of a daemon.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	wallet   *prometheus.CounterVec
	calls    calls
	reloads  reloads

	page   atomic.Pointer[page] // Follow's last reading; nil without a leader
	totals *totals              // Follow's own

	mu        sync.Mutex
	exchanges map[string]Exchange
	files     map[string]string
	works     map[chain.ID]bool
	pools     map[string]Pools
	disk      string
	signs     *bool // of a signer: it has the sign-guard; nil for a daemon
}

// Exchange has the figures of the exchange API on one network.
type Exchange struct {
	Index interface {
		Ready() error
		Lag() index.Lag
	}
	Sockets interface{ Stats() ws.Stats }
}

// New counts nothing yet. The directory is the daemon's data directory, whose free space is a
// metric.
func New(directory string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), exchanges: map[string]Exchange{}, works: map[chain.ID]bool{}, pools: map[string]Pools{}, disk: directory,
		calls: newCalls(), reloads: newReloads(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatewayd_http_requests_total", Help: "Answered requests, by server, route and class of the status.",
		}, []string{"server", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gatewayd_http_request_duration_seconds", Help: "Duration of requests, by server and route, without WebSockets.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"server", "route"}),
		wallet: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatewayd_wallet_calls_total", Help: "Calls of the wallet's JSON-RPC over all its transports, by method; other: unknown methods over HTTP.",
		}, []string{"method", "result"}),
	}
	m.totals = newTotals(prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "gatewayd_transfer_duration_seconds", Help: "Time from the sighting of a transfer to the finality of its credit or payout. ledger: coins for Bitcoin and its kin, else accounts.",
		Buckets: []float64{15, 30, 60, 120, 300, 600, 900, 1200, 1800, 2700, 3600, 7200, 14400, 43200, 86400},
	}, []string{"network", "direction", "ledger"}))
	m.registry.MustRegister(m.requests, m.latency, m.wallet, m.calls.nodes, m.calls.signer, m.calls.signerErrors, m.calls.signerOpen, m.reloads.success, m.reloads.failures, m.totals.durations, m,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// NewSigner is New for a signer in its own process.
func NewSigner(directory string) *Metrics {
	m := New(directory)
	m.signs = new(bool)
	return m
}

// Signs sets whether a signer has the sign-guard.
func (m *Metrics) Signs(is bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*m.signs = is
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// Requests counts the requests of one server. There are never more series than the server has
// routes.
func (m *Metrics) Requests(server string) func(httpserver.Request) {
	return func(r httpserver.Request) {
		m.requests.WithLabelValues(server, r.Route, strconv.Itoa(r.Status/100)+"xx").Inc()
		if !r.Socket {
			m.latency.WithLabelValues(server, r.Route).Observe(r.Took.Seconds())
		}
	}
}

// WalletCall counts a call of the wallet's JSON-RPC. Methods are the wallet's own names, never a
// caller's.
func (m *Metrics) WalletCall(method string, failed bool) {
	result := "ok"
	if failed {
		result = "refused"
	}
	m.wallet.WithLabelValues(method, result).Inc()
}

// Exchange adds the exchange API on a network.
func (m *Metrics) Exchange(name string, e Exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exchanges[name] = e
}

// NoExchange takes all exchange APIs away, before they are closed.
func (m *Metrics) NoExchange() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.exchanges)
}

// Works sets whether this process follows a chain and pays on it.
func (m *Metrics) Works(id chain.ID, works bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.works[id] = works
}

// Files sets the databases whose sizes are exported, paths by names.
func (m *Metrics) Files(paths map[string]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.files = paths
}

// Describe is of prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range all {
		to <- d.desc
	}
}

// Collect is of prometheus.Collector. It asks neither database nor node.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	var p page
	p.set(buildInfo, 1, version(), runtime.Version())
	read := m.page.Load()
	m.process(&p)
	if read != nil {
		p = append(p, *read...)
	}
	for _, one := range p {
		to <- one
	}
}

// process exports the process's own figures.
func (m *Metrics) process(p *page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.signs != nil {
		p.set(signerServes, number(*m.signs))
	} else {
		p.set(leader, number(m.page.Load() != nil))
	}
	for name, e := range m.exchanges {
		lag, stats := e.Index.Lag(), e.Sockets.Stats()
		p.set(indexReady, number(e.Index.Ready() == nil), name)
		p.set(indexLag, lag.For.Seconds(), name)
		p.set(indexMissing, float64(lag.Missing), name)
		p.set(sockets, float64(stats.Connections), name)
		p.set(subscriptions, float64(stats.Subscriptions), name)
		p.set(queueEntries, float64(stats.QueueEntries), name)
		p.set(queueBytes, float64(stats.QueueBytes), name)
		p.set(socketsSlow, float64(stats.Slow), name)
		p.set(socketsOvertaken, float64(stats.Overtaken), name)
	}
	for id, works := range m.works {
		p.set(chainWorked, number(works), string(id))
	}
	m.showPools(p)
	for name, path := range m.files {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		bytes := info.Size()
		if log, err := os.Stat(path + "-wal"); err == nil {
			bytes += log.Size()
		}
		p.set(databaseSize, float64(bytes), name)
	}
	if free, size, err := diskSpace(m.disk); err == nil {
		p.set(diskFree, float64(free))
		p.set(diskSize, float64(size))
	}
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// version returns the program's version from its build information.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
