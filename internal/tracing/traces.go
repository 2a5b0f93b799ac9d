// Spans go to a collector that operators run, by OTLP over HTTP. They wait in a queue of bounded
// size; what does not fit while the collector is away or slow is dropped, with a line in the log.

package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// ExportConfig names the collector. Without one there are no traces.
type ExportConfig struct {
	URL   string  `yaml:"url"`   // of the collector: http://127.0.0.1:4318
	Share float64 `yaml:"share"` // of all traces that are sent, up to 1; default 1
}

// Check names what cannot be used.
func (c ExportConfig) Check() error {
	u, err := url.Parse(c.URL)
	switch {
	case c.URL != "" && (err != nil || u.Host == "" || u.User != nil || (u.Scheme != "http" && u.Scheme != "https")):
		return errors.New("url: must be http://host:port or https://host:port, without a password")
	case c.Share < 0 || c.Share > 1:
		return fmt.Errorf("share: %v must be from 0 to 1", c.Share)
	}
	return nil
}

// Bounds of what waits for the collector, of a request to it, and of the last one when the daemon
// ends.
const (
	queue    = 2048
	batch    = 256
	sendTime = 5 * time.Second
	lastTime = 2 * time.Second
)

// Export sends spans until the answer is called. It does not wait for the collector.
func Export(ctx context.Context, c ExportConfig, version string, log logrus.FieldLogger) (stop func(), err error) {
	if c.URL == "" {
		return func() {}, nil
	}
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(c.URL), otlptracehttp.WithURLPath(path(c.URL)), otlptracehttp.WithTimeout(sendTime),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return nil, fmt.Errorf("operators.traces: %w", err)
	}
	share := c.Share
	if share == 0 {
		share = 1
	}
	sampler := sdk.TraceIDRatioBased(share)
	provider := sdk.NewTracerProvider(
		sdk.WithBatcher(to, sdk.WithMaxQueueSize(queue), sdk.WithMaxExportBatchSize(batch), sdk.WithExportTimeout(sendTime)),
		// a payment's trace has a parent without a sampling decision
		sdk.WithSampler(sdk.ParentBased(sampler, sdk.WithRemoteParentSampled(sampler))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "gatewayd"), attribute.String("service.version", version))),
	)
	otel.SetErrorHandler(&quiet{log: log})
	otel.SetTracerProvider(own{to: provider})
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), lastTime)
		defer cancel()
		_ = provider.Shutdown(ctx) // what is not sent by then is lost
	}, nil
}

// path is the collectors' usual path unless the URL contains one.
func path(text string) string {
	if u, err := url.Parse(text); err == nil && len(u.Path) > 1 {
		return u.Path
	}
	return "/v1/traces"
}

// own is a provider that drops the libraries' spans.
type own struct {
	embedded.TracerProvider
	to trace.TracerProvider
}

// Tracer is of trace.TracerProvider.
func (o own) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	if name != Name {
		return noop.NewTracerProvider().Tracer(name)
	}
	return o.to.Tracer(name, options...)
}

// tellAgain is the interval of the log's messages about a collector that accepts nothing.
const tellAgain = 10 * time.Minute

// quiet logs faults once in a while.
type quiet struct {
	log  logrus.FieldLogger
	mu   sync.Mutex
	last time.Time
}

// Handle is of otel.ErrorHandler.
func (q *quiet) Handle(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.last.IsZero() && time.Since(q.last) < tellAgain {
		return
	}
	q.last = time.Now()
	q.log.WithError(err).Warn("the collector does not accept traces; other functions are not affected")
}
