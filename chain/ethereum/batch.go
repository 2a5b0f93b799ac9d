package ethereum

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ethereum/go-ethereum/rpc"
)

// batch asks several things in one request, or in as many as the node wants it cut into. Each element's own Error is made plain but left to
// the caller.
func (n *node) batch(ctx context.Context, elems []rpc.BatchElem) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	for len(elems) > 0 {
		size := min(len(elems), int(n.most.Load()))
		err := n.batchOnce(ctx, elems[:size])
		if size > 1 && classify(err) == verdictBatchSize {
			n.most.Store(int32(size / 2))
			continue
		}
		if err != nil {
			return err
		}
		elems = elems[size:]
	}
	return nil
}

// batchOnce asks in one request. A node that takes no batches is asked without.
func (n *node) batchOnce(ctx context.Context, elems []rpc.BatchElem) error {
	if n.most.Load() == 1 {
		return n.single(ctx, &elems[0])
	}
	return n.exchange(ctx, elems[0].Method, len(elems), func(ctx context.Context, client *rpc.Client) error {
		for i := range elems {
			elems[i].Error = nil // of an earlier try
		}
		if err := client.BatchCallContext(ctx, elems); err != nil {
			return wholeBatch(err)
		}
		return n.tidy(elems)
	})
}

// errBatchSize is a node that refuses a batch as a whole.
var errBatchSize = errors.New("the node takes no batch of that size")

// wholeBatch reads the refusal of a whole batch: an error page, or one object where a list should be.
func wholeBatch(err error) error {
	var status rpc.HTTPError
	var shape *json.UnmarshalTypeError
	refused := errors.As(err, &status) && (status.StatusCode == http.StatusBadRequest || status.StatusCode == http.StatusRequestEntityTooLarge)
	if refused || errors.As(err, &shape) && shape.Value == "object" && shape.Field == "" {
		return errBatchSize
	}
	return err
}

// tidy makes errors of elements plain, and those errors of the whole batch that say to ask otherwise or later.
func (n *node) tidy(elems []rpc.BatchElem) error {
	missing := 0
	for i := range elems {
		err := elems[i].Error
		if v := classify(err); v == verdictLimited || v == verdictBatchSize {
			return err
		}
		if errors.Is(err, rpc.ErrMissingBatchResponse) {
			missing++
		}
		if err != nil {
			elems[i].Error = n.fault(elems[i].Method, err)
		}
	}
	if missing == len(elems) { // it answered, but none of them
		return errBatchSize
	}
	return nil
}

func (n *node) single(ctx context.Context, elem *rpc.BatchElem) error {
	elem.Error = nil // of an earlier try
	err := n.call(ctx, elem.Result, elem.Method, elem.Args...)
	var refusal rpc.Error
	if errors.As(err, &refusal) && classify(err) != verdictLimited {
		elem.Error = err
		return nil
	}
	return err
}
