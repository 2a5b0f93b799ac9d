package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"gatewayd/config"
	"gatewayd/internal/tracing"
)

// traceReceiver is a collector: it takes OTLP over HTTP.
type traceReceiver struct {
	server *httptest.Server
	mu     sync.Mutex
	spans  []*tracepb.Span
}

func newTraceReceiver(t *testing.T) *traceReceiver {
	t.Helper()
	r := &traceReceiver{}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var sent collector.ExportTraceServiceRequest
		body, err := io.ReadAll(q.Body)
		if err != nil || q.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, of := range sent.ResourceSpans {
			for _, in := range of.ScopeSpans {
				r.spans = append(r.spans, in.Spans...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *traceReceiver) all() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// namesOf are the names of the spans of one trace, each once, sorted.
func namesOf(spans []*tracepb.Span, trace []byte) (names []string) {
	for _, s := range spans {
		if string(s.TraceId) == string(trace) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func find(spans []*tracepb.Span, is func(*tracepb.Span) bool) *tracepb.Span {
	if i := slices.IndexFunc(spans, is); i >= 0 {
		return spans[i]
	}
	return nil
}

func attributeOf(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

// TestTraces: a payment's steps are one trace, with the nodes' calls that they took, and requests
// have theirs; nothing in them is secret. A collector that goes away stops nothing.
func TestTraces(t *testing.T) {
	t.Parallel()
	r := newTraceReceiver(t)
	w := newFaultyEnv(t, func(_ *faultyEnv, c *config.Config) { c.Operators.Traces = tracing.ExportConfig{URL: r.server.URL} })
	to, sent := w.user.withdrawToPayee(t, w.user.Times(2))
	w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, to, w.user.Times(2))

	var spans []*tracepb.Span
	waitFor(t, "the payout's trace", func() bool {
		spans = r.all()
		final := find(spans, func(s *tracepb.Span) bool {
			return s.Name == "payment final" && strings.Contains(attributeOf(s, "chain"), "eth")
		})
		if final == nil {
			return false
		}
		names := namesOf(spans, final.TraceId)
		for _, step := range []string{"payment bind", "payment sign", "payment store", "payment send", "payment final"} {
			if !slices.Contains(names, step) {
				return false
			}
		}
		sending := find(spans, func(s *tracepb.Span) bool { return s.Name == "send to eth" })
		return sending != nil && slices.Contains(namesOf(spans, sending.TraceId), "eth_sendRawTransaction")
	})
	page := find(spans, func(s *tracepb.Span) bool { return s.Name == "GET /gateway/eth/withdraw-records" })
	require.NotNil(t, page)
	require.Contains(t, attributeOf(page, "http.response.status_code"), "200")
	for _, s := range spans {
		require.Empty(t, s.Status.GetMessage(), "the text of an error is the log's")
		for _, a := range s.Attributes {
			require.Less(t, len(a.Value.GetStringValue()), 100, "%s of %s: a body", a.Key, s.Name)
			require.NotContains(t, a.Value.GetStringValue(), "://", "%s of %s: an address may have a key", a.Key, s.Name)
		}
	}

	r.server.CloseClientConnections()
	r.server.Close()
	to, sent = w.user.withdrawToPayee(t, w.user.Times(3))
	w.user.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, to, w.user.Times(3))
	waitFor(t, "a line of the log", func() bool { return strings.Contains(w.log.String(), "the collector does not accept traces") })
	w.waitUntilWell(t)
}
