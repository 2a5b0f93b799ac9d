package chain

import (
	"context"
	"sync"
)

type groupKey struct{}

// group keeps answers of one group of payments, by question.
type group struct {
	mu      sync.Mutex
	answers map[any]any
}

// InGroup returns a context for a group of payments that are prepared together. Under it an adapter
// may ask once what is the same for all of them, such as prices.
func InGroup(ctx context.Context) context.Context {
	return context.WithValue(ctx, groupKey{}, &group{answers: map[any]any{}})
}

// Once answers a question: from the context's group if it was answered there, otherwise by ask. An
// error is not kept.
func Once[T any](ctx context.Context, question any, ask func(context.Context) (T, error)) (T, error) {
	g, ok := ctx.Value(groupKey{}).(*group)
	if !ok {
		return ask(ctx)
	}
	g.mu.Lock()
	known, ok := g.answers[question].(T)
	g.mu.Unlock()
	if ok {
		return known, nil
	}
	answer, err := ask(ctx)
	if err != nil {
		return answer, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers[question] = answer
	return answer, nil
}
