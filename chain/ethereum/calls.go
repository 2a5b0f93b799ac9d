package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
)

// Batches of calls with large answers hold as many as make about targetAnswer bytes, and firstCalls
// while the size of an answer is unknown.
const (
	targetAnswer = 4 << 20
	firstCalls   = 8
)

// errNoAnswer is a call of a batch that the answer leaves out.
var errNoAnswer = errors.New("the node left the call out of its answer")

// calls are calls of one method whose answers are large. They go to one node in batches, and each
// has its own outcome: asking again leaves out those that were answered.
type calls[T any] struct {
	method string
	params [][]any
	read   func(*scanner) T
	valid  func(T) bool  // false for null
	weight *atomic.Int64 // bytes of one answer, as the node's answers show

	values []T
	errs   []error // nil: the value is there
}

func newCalls[T any](method string, weight *atomic.Int64, read func(*scanner) T, valid func(T) bool, params [][]any) *calls[T] {
	c := &calls[T]{method: method, params: params, read: read, valid: valid, weight: weight, values: make([]T, len(params)), errs: make([]error, len(params))}
	for i := range c.errs {
		c.errs[i] = errNoAnswer
	}
	return c
}

// open returns the calls without a value.
func (c *calls[T]) open() (list []int) {
	for i := range c.errs {
		if c.errs[i] != nil {
			list = append(list, i)
		}
	}
	return list
}

// answered reports whether a call has its value.
func (c *calls[T]) answered(i int) bool { return c.errs[i] == nil }

// size returns the number of calls in a batch.
func (c *calls[T]) size(n *node, count int) int {
	size := firstCalls
	if weight := c.weight.Load(); weight > 0 {
		size = max(1, int(min(targetAnswer, n.limit/4)/weight))
	}
	return min(size, count, n.mostCalls())
}

// ask sends all calls to a node, and a second time those without an answer. An error concerns the
// node as a unit; values may exist all the same.
func (c *calls[T]) ask(ctx context.Context, n *node) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	for range 2 {
		for open := c.open(); len(open) > 0; {
			size := c.size(n, len(open))
			err := c.batch(ctx, n, open[:size])
			if n.cut(size, err) || c.heavier(size, err) {
				continue
			}
			if err != nil {
				return err
			}
			open = open[size:]
		}
	}
	return nil
}

// heavier notes an answer that was too long or took too long, and reports whether smaller batches
// may help.
func (c *calls[T]) heavier(size int, err error) bool {
	if size == 1 || !errors.Is(err, errTooLarge) && !errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	c.weight.Store(max(2*c.weight.Load(), targetAnswer/int64(size)))
	return errors.Is(err, errTooLarge)
}

// batch asks for some calls in one request.
func (c *calls[T]) batch(ctx context.Context, n *node, which []int) error {
	if len(which) == 1 {
		return c.single(ctx, n, which[0])
	}
	return n.exchange(ctx, c.method, len(which), func(ctx context.Context, client *rpc.Client) error {
		which := slices.DeleteFunc(slices.Clone(which), c.answered) // by an earlier try
		if strings.HasPrefix(n.address, "http") {
			return c.post(ctx, n, which)
		}
		return c.send(ctx, client, which)
	})
}

func (c *calls[T]) single(ctx context.Context, n *node, i int) error {
	var value T
	err := n.scan(ctx, func(s *scanner) { value = c.read(s) }, c.method, c.params[i]...)
	var refusal rpc.Error
	if err != nil && (!errors.As(err, &refusal) || classify(err) == verdictLimited) {
		return err
	}
	c.take(i, value, err)
	return nil
}

// take keeps the outcome of one call.
func (c *calls[T]) take(i int, value T, err error) {
	if err == nil && !c.valid(value) {
		err = chain.ErrNotFound
	}
	c.values[i], c.errs[i] = value, err
}

// post asks over HTTP and reads the answer in one pass.
func (c *calls[T]) post(ctx context.Context, n *node, which []int) error {
	questions := make([]question, len(which))
	for k, i := range which {
		questions[k] = question{"2.0", k + 1, c.method, c.params[i]}
	}
	return wholeBatch(n.postBody(ctx, questions, func(text []byte) error {
		c.weigh(len(text), len(which))
		return c.readBatch(text, which)
	}))
}

// weigh notes the size of an answer: a larger one at once, a smaller one step by step.
func (c *calls[T]) weigh(length, count int) {
	each, known := int64(length/count), c.weight.Load()
	c.weight.Store(max(1, each, known-(known-each)/4))
}

// readBatch reads a list of answers in any order. One object instead of it refuses the batch.
func (c *calls[T]) readBatch(text []byte, which []int) error {
	s := newScanner(text)
	switch s.Peek() {
	case '{':
		if err := readAnswer(text, (*scanner).Skip); err != nil {
			return err
		}
		return errBatchSize
	case '[', 0:
	default:
		return errNotJSON
	}
	var limited error
	answered := 0
	s.Array(func() {
		id, value, err := c.readElement(s)
		if err != nil && (classify(err) == verdictLimited || classify(err) == verdictBatchSize) {
			limited = err
		}
		if id > 0 && id <= len(which) {
			answered++
			c.take(which[id-1], value, err)
		}
		if answered > len(which) {
			s.Fail(errors.New("more answers than calls"))
		}
	})
	switch err := s.End(); {
	case err != nil:
		return err
	case limited != nil:
		return limited
	case answered == 0:
		return errBatchSize
	}
	return nil
}

// readElement reads one answer of a batch. The id is 0 where it is none of ours.
func (c *calls[T]) readElement(s *scanner) (id int, value T, err error) {
	answered := false
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			id, _ = strconv.Atoi(string(s.Raw()))
		case "result":
			answered = true
			value = c.read(s)
		case "error":
			if r := scanRefusal(s); r != nil {
				err = remoteError{r.Code, printable(r.Message)}
			}
		default:
			s.Skip()
		}
	})
	if err == nil && !answered {
		err = errNoAnswer
	}
	return id, value, err
}

// send asks over WebSocket or IPC.
func (c *calls[T]) send(ctx context.Context, client *rpc.Client, which []int) error {
	elems, texts := make([]rpc.BatchElem, len(which)), make([]json.RawMessage, len(which))
	for k, i := range which {
		elems[k] = rpc.BatchElem{Method: c.method, Args: c.params[i], Result: &texts[k]}
	}
	if err := client.BatchCallContext(ctx, elems); err != nil {
		return wholeBatch(err)
	}
	length := 0
	for k, i := range which {
		var value T
		err := elems[k].Error
		if v := classify(err); err != nil && (v == verdictLimited || v == verdictBatchSize) {
			return err
		}
		if err == nil {
			s := newScanner(texts[k])
			value = c.read(s)
			err = s.End()
		}
		length += len(texts[k])
		c.take(i, value, err)
	}
	c.weigh(length, len(which))
	if !slices.ContainsFunc(elems, func(e rpc.BatchElem) bool { return !errors.Is(e.Error, rpc.ErrMissingBatchResponse) }) {
		return errBatchSize
	}
	return nil
}

// fault returns the reason for a missing value, with the node's name.
func (c *calls[T]) fault(n *node, i int) error {
	return fmt.Errorf("%s: %s: %w", n.name, c.method, plainError(c.errs[i]))
}
