package quorum

import (
	"context"
	"errors"
	"slices"
	"time"
)

// grace is the wait for slower nodes: when the answers suffice, before these are abandoned; when
// they do not, before the skipped nodes are asked too.
const grace = 500 * time.Millisecond

// longest ends what no other limit does: far above the time limit of any call.
const longest = time.Hour

// Member is a node that can be asked.
type Member interface {
	comparable
	Watched() *Node
	Willing() bool // may be asked first
}

// Answer is one node's answer to a question.
type Answer[N Member, T any] struct {
	Node  N
	Value T
	Err   error
}

// Question is put to each node. It must end when its context does.
type Question[N Member, T any] func(context.Context, N) (T, error)

// Ask sends a question to the willing nodes, and to the others as well when those do not suffice.
// It ends a moment after the answers suffice, or when all have answered; slow nodes are missing in
// the answers. The last call of a slow node continues until the node is closed, so that it is known
// whether the node answers at all.
func Ask[N Member, T any](ctx context.Context, nodes []N, question Question[N, T], enough func([]Answer[N, T]) bool) []Answer[N, T] {
	willing, others := split(nodes)
	p := poll[N, T]{question: question, incoming: make(chan Answer[N, T], len(nodes)), calls: make(map[N]*call)}
	p.start(ctx, willing)
	decided := false
	patience := time.NewTimer(grace)
	defer patience.Stop()
	for len(p.calls) > 0 || !decided && len(others) > 0 {
		if len(p.calls) == 0 {
			p.start(ctx, others)
			others = nil
		}
		select {
		case a := <-p.incoming:
			p.take(a)
			if !decided && enough(p.answers) {
				decided = true
				patience.Reset(grace)
			}
		case <-patience.C:
			if decided {
				p.leaveBehind()
				return p.answers
			}
			p.start(ctx, others)
			others = nil
		}
	}
	return p.answers
}

// All puts a question to every node and waits for all of them.
func All[N Member, T any](ctx context.Context, nodes []N, question Question[N, T]) []Answer[N, T] {
	p := poll[N, T]{question: question, incoming: make(chan Answer[N, T], len(nodes)), calls: make(map[N]*call)}
	p.start(ctx, nodes)
	for range nodes {
		p.take(<-p.incoming)
	}
	return p.answers
}

// Order puts the willing nodes before the others.
func Order[N Member](nodes []N) []N {
	willing, others := split(nodes)
	return append(willing, others...)
}

func split[N Member](nodes []N) (willing, others []N) {
	for _, n := range nodes {
		if n.Willing() {
			willing = append(willing, n)
		} else {
			others = append(others, n)
		}
	}
	return willing, others
}

// poll is a question on its way.
type poll[N Member, T any] struct {
	question Question[N, T]
	incoming chan Answer[N, T] // room for every answer, so that no node waits for a reader
	answers  []Answer[N, T]
	calls    map[N]*call // without an answer yet
}

// call is one node's part of a poll.
type call struct {
	cancel context.CancelFunc
	detach func() bool // makes it outlive the asker
	done   chan struct{}
}

func (p *poll[N, T]) start(ctx context.Context, nodes []N) {
	for _, n := range nodes {
		// A context of its own, so that the call may outlive the question; the caller's
		// cancellation and deadline count until then.
		limit, ok := ctx.Deadline()
		if !ok {
			limit = time.Now().Add(longest)
		}
		own, cancel := context.WithDeadline(context.WithoutCancel(ctx), limit)
		if ctx.Err() != nil {
			cancel()
		}
		stop := func() {
			if errors.Is(ctx.Err(), context.Canceled) { // its time limit is own's, too
				cancel()
			}
		}
		c := &call{cancel, context.AfterFunc(ctx, stop), make(chan struct{})}
		p.calls[n] = c
		go func() {
			defer close(c.done)
			a := Answer[N, T]{Node: n}
			if a.Err = own.Err(); a.Err == nil { // an ended context must send nothing
				a.Value, a.Err = p.question(own, n)
			}
			p.incoming <- a
		}()
	}
}

func (p *poll[N, T]) take(a Answer[N, T]) {
	p.answers = append(p.answers, a)
	c := p.calls[a.Node]
	delete(p.calls, a.Node)
	c.detach()
	c.cancel()
	<-c.done
}

// leaveBehind lets each node finish the call that it works on, but one only.
func (p *poll[N, T]) leaveBehind() {
	for n, c := range p.calls {
		if c.detach() && n.Watched().keepLate(c) {
			continue
		}
		c.cancel()
		<-c.done
	}
}

// keepLate takes over an abandoned call; false when there is one already.
func (n *Node) keepLate(c *call) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.late != nil || n.closed {
		return false
	}
	n.late = c.cancel
	n.behind.Go(func() {
		<-c.done
		c.cancel()
		n.mu.Lock()
		defer n.mu.Unlock()
		n.late = nil
	})
	return true
}

// Same is enough for Ask when need nodes gave the same answer; key makes equal answers equal.
func Same[N Member, T any, K comparable](need int, key func(T) K) func([]Answer[N, T]) bool {
	return func(answers []Answer[N, T]) bool {
		_, found := Agreed(answers, need, key)
		return found
	}
}

// Agreed is the first answer that need nodes gave alike.
func Agreed[N Member, T any, K comparable](answers []Answer[N, T], need int, key func(T) K) (value T, found bool) {
	votes := make(map[K]int, len(answers))
	for _, a := range answers {
		if a.Err != nil {
			continue
		}
		k := key(a.Value)
		if votes[k]++; votes[k] >= need {
			return a.Value, true
		}
	}
	return value, false
}

// Good leaves the answers without an error, and collects the errors of the others.
func Good[N Member, T any](answers []Answer[N, T]) (good []Answer[N, T], faults []error) {
	good = slices.DeleteFunc(slices.Clone(answers), func(a Answer[N, T]) bool {
		if a.Err != nil {
			faults = append(faults, a.Err)
		}
		return a.Err != nil
	})
	return good, faults
}
