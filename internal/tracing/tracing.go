// Package tracing makes the spans of gatewayd: of requests, of the steps of payments, and of the
// calls of nodes within both. It costs next to nothing until internal/tracing exports them.
//
// A span has names, numbers and addresses that are public on a chain: never a body, a parameter, a
// URL, a secret or the text of an error. The log contains the error.
package tracing

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Name is the tracer's: internal/tracing sends its spans, and none of libraries.
const Name = "gatewayd"

func tracer() trace.Tracer { return otel.Tracer(Name) }

// Start begins a span. Its end records whether the action failed.
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, func(error)) {
	return start(ctx, name, trace.WithAttributes(attributes...))
}

func start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, func(error)) {
	within, span := tracer().Start(ctx, name, options...)
	if !span.IsRecording() {
		return ctx, func(error) {}
	}
	return within, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Request begins a request that others make. Its end has the route, as a name that the server
// knows.
func Request(ctx context.Context) (context.Context, func(route string, status int)) {
	within, span := tracer().Start(ctx, "request", trace.WithSpanKind(trace.SpanKindServer))
	if !span.IsRecording() {
		return ctx, func(string, int) {}
	}
	return within, func(route string, status int) {
		span.SetName(route)
		span.SetAttributes(attribute.String("http.route", route), attribute.Int("http.response.status_code", status))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Call begins a call of a node, where it is part of something that is traced.
func Call(ctx context.Context, method, node string) (context.Context, func(error)) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(error) {}
	}
	return start(ctx, method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("rpc.method", method), attribute.String("node", node)))
}

// Payment is one in all its steps. They are one trace, however many rounds, days and daemons are
// between them.
type Payment struct {
	Chain, Account string // that pays
	ID             uint64
	Number         uint64 // of its slot
	Tx             string // of the attempt; empty before there is one
}

// Begin begins a step.
func (p Payment) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	return p.begin(ctx, step, time.Now())
}

// Done records a step that has ended now. Other steps of the same call are linked.
func (p Payment) Done(ctx context.Context, step string, begun time.Time, err error) {
	_, done := p.begin(ctx, step, begun, trace.WithLinks(trace.LinkFromContext(ctx)))
	done(err)
}

func (p Payment) begin(ctx context.Context, step string, begun time.Time, options ...trace.SpanStartOption) (context.Context, func(error)) {
	attributes := []attribute.KeyValue{
		attribute.Int64("payment", int64(p.ID)), attribute.String("chain", p.Chain), attribute.String("account", p.Account), attribute.Int64("number", int64(p.Number)),
	}
	if p.Tx != "" {
		attributes = append(attributes, attribute.String("tx", p.Tx))
	}
	return start(trace.ContextWithRemoteSpanContext(ctx, p.parent()), "payment "+step, append(options, trace.WithTimestamp(begun), trace.WithAttributes(attributes...))...)
}

// parent is the same for all steps; it is no span that anybody sends.
func (p Payment) parent() trace.SpanContext {
	sum := sha256.Sum256(fmt.Appendf(nil, "gatewayd payment %s %s %d", p.Chain, p.Account, p.ID))
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID(sum[:16]), SpanID: trace.SpanID(sum[16:24]), TraceFlags: trace.FlagsSampled, Remote: true})
}
