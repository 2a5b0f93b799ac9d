package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// calls measures calls of nodes and of the signer.
type calls struct {
	nodes, signer *prometheus.HistogramVec
	signerErrors  *prometheus.CounterVec
	signerOpen    *prometheus.GaugeVec
}

func newCalls() calls {
	return calls{
		nodes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gatewayd_node_call_duration_seconds", Help: "Duration of requests to a node, by the method of the first call, without waiting for our rate limit.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20},
		}, []string{"chain", "node", "method"}),
		signer: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gatewayd_signer_call_duration_seconds", Help: "Duration of calls of the signer, in this process or separate, with its sign-guard.",
			Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15, 60},
		}, []string{"signer", "call"}),
		signerErrors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gatewayd_signer_errors_total", Help: "Calls of the signer with an error: away, refused, failed.",
		}, []string{"signer", "call", "error"}),
		signerOpen: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "gatewayd_signer_calls_in_flight", Help: "Calls of the signer that have not ended.",
		}, []string{"signer", "call"}),
	}
}

// NodeCalls returns a function that observes the requests of one chain's adapter. Methods are the
// adapter's own names.
func (m *Metrics) NodeCalls(chain string) func(node, method string, took time.Duration) {
	of := m.calls.nodes.MustCurryWith(prometheus.Labels{"chain": chain})
	return func(node, method string, took time.Duration) {
		of.WithLabelValues(node, method).Observe(took.Seconds())
	}
}

// Places of a signer.
const (
	InProcess = "process"
	Separate  = "separate"
)

// Errors of a signer's call.
const (
	SignerAway    = "away"
	SignerRefused = "refused"
	SignerFailed  = "failed"
	// SignerCanceled is a call whose caller gave up: it is not counted.
	SignerCanceled = "canceled"
)

// SignerCall is one of the signer's calls with its series.
type SignerCall struct {
	duration prometheus.Observer
	open     prometheus.Gauge
	errors   map[string]prometheus.Counter
}

// SignerCall makes the series of a call.
func (m *Metrics) SignerCall(place, call string) SignerCall {
	c := SignerCall{m.calls.signer.WithLabelValues(place, call), m.calls.signerOpen.WithLabelValues(place, call), map[string]prometheus.Counter{}}
	for _, e := range []string{SignerAway, SignerRefused, SignerFailed} {
		c.errors[e] = m.calls.signerErrors.WithLabelValues(place, call, e)
	}
	return c
}

// Begin counts a call that begins. The returned function takes one of the errors above, or an empty
// one.
func (c SignerCall) Begin() (end func(fault string)) {
	begun := time.Now()
	c.open.Inc()
	return func(fault string) {
		c.open.Dec()
		if fault == SignerCanceled {
			return
		}
		c.duration.Observe(time.Since(begun).Seconds())
		if counter, ok := c.errors[fault]; ok {
			counter.Inc()
		}
	}
}

// reloads counts what became of the configuration file.
type reloads struct {
	success  prometheus.Gauge
	failures prometheus.Counter
}

func newReloads() reloads {
	r := reloads{
		success: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "gatewayd_config_reload_success_timestamp_seconds", Help: "Time when a configuration was last accepted, at the start or by a reload.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "gatewayd_config_reload_failures_total", Help: "Reloads of the configuration that were refused."}),
	}
	r.success.SetToCurrentTime()
	return r
}

// Reloaded counts a reading of the configuration.
func (m *Metrics) Reloaded(accepted bool) {
	if accepted {
		m.reloads.success.SetToCurrentTime()
	} else {
		m.reloads.failures.Inc()
	}
}
