package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const sendMethod = "eth_sendRawTransaction"

// sendBatch bounds the transactions per request.
const sendBatch = 32

// Broadcast sends the bytes of attempts to all nodes, in order. An error is nil when one of the
// nodes reports that it has the transaction, now or already. Otherwise it contains each node's
// answer: a chain.Refusal if a majority refuses it. Neither decides anything: a node may forget,
// lie, or be cut off after it took the bytes.
func (c *Chain) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	c = c.current()
	errs := make([]error, len(attempts))
	var good []chain.Attempt
	var at []int // positions of the valid ones
	for i, a := range attempts {
		if errs[i] = c.sendable(a); errs[i] == nil {
			good, at = append(good, a), append(at, i)
		}
	}
	for i, err := range c.sendAll(ctx, good) {
		errs[at[i]] = err
	}
	return errs
}

// sendable returns an error if stored bytes do not match their attempt.
func (c *Chain) sendable(a chain.Attempt) error {
	tx, err := readAttempt(a)
	if err != nil {
		return fmt.Errorf("broadcasting: %w", err)
	}
	if tx.ChainId().Uint64() != c.config.ChainID {
		return fmt.Errorf("broadcasting %s: it is of chain %s", a.Hash, tx.ChainId())
	}
	return nil
}

// sendAll asks every node to take the attempts and answers for each why no node has it.
func (c *Chain) sendAll(ctx context.Context, attempts []chain.Attempt) []error {
	if len(attempts) == 0 {
		return nil
	}
	question := func(ctx context.Context, n *node) ([]error, error) { return send(ctx, n, attempts), nil }
	answers, faults := quorum.Good(quorum.All(ctx, c.nodes, question))
	errs := make([]error, len(attempts))
	for i, a := range attempts {
		said, taken := slices.Clone(faults), false
		for _, answer := range answers {
			taken = taken || answer.Value[i] == nil
			said = append(said, answer.Value[i])
		}
		if !taken {
			errs[i] = fmt.Errorf("broadcasting %s: %w", a.Hash, c.refusedBy(said))
		}
	}
	return errs
}

// maxRefusals bounds how many nodes' texts a refusal contains.
const maxRefusals = 3

// refusedBy is a chain.Refusal if a majority of the nodes refuses a transaction and none has seen
// its nonce used.
func (c *Chain) refusedBy(said []error) error {
	var words []string
	for _, err := range said {
		var r refusedSend
		switch {
		case !errors.As(err, &r):
		case r.verdict == verdictNonceUsed: // a block has it, or another attempt of its slot
			return unavailable(said)
		default:
			words = append(words, r.node+": "+r.text)
		}
	}
	if len(words) < c.majority() {
		return unavailable(said)
	}
	return chain.Refusal{Text: strings.Join(words[:min(len(words), maxRefusals)], "; ")}
}

// refusedSend is one node's refusal to take a transaction.
type refusedSend struct {
	node, text string
	verdict    verdict
}

func (r refusedSend) Error() string { return fmt.Sprintf("%s: %s: %s", r.node, r.verdict, r.text) }

// send sends attempts to one node, a few in a request, and returns its answer to each.
func send(ctx context.Context, n *node, attempts []chain.Attempt) []error {
	errs := make([]error, 0, len(attempts))
	for part := range slices.Chunk(attempts, sendBatch) {
		got := make([]common.Hash, len(part))
		elems := make([]rpc.BatchElem, len(part))
		for i, a := range part {
			elems[i] = rpc.BatchElem{Method: sendMethod, Args: []any{hexutil.Bytes(a.Raw)}, Result: &got[i]}
		}
		err := n.batch(ctx, elems)
		for i, a := range part {
			errs = append(errs, sent(n, errors.Join(err, elems[i].Error), got[i], common.HexToHash(a.Hash)))
		}
	}
	return errs
}

// sent is nil when the node has the transaction.
func sent(n *node, err error, got, want common.Hash) error {
	if err == nil && got != want {
		return fmt.Errorf("%s: it took other bytes: it answers the hash %s", n.name, got)
	}
	if err == nil {
		return nil
	}
	switch v := classify(err); v {
	case verdictKnown:
		return nil
	case verdictTransport, verdictLimited, verdictBatchSize:
		return err
	default:
		var remote rpc.Error
		if errors.As(err, &remote) {
			return refusedSend{n.name, remote.Error(), v}
		}
		return err
	}
}

// MaxUnmined bounds the transactions of one account that are in no block yet.
func (c *Chain) MaxUnmined() int { return c.config.MaxUnmined }
