package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// errTraceDispute: the next attempt may find the nodes of one mind.
var errTraceDispute = errors.New("the nodes trace the block differently")

// errUntraceable: no node can trace the block.
var errUntraceable = errors.New("no node can trace the block")

// internal is native coin that moved inside a transaction. Only a trace shows it: it is in no root.
type internal struct {
	movement
	tx   int
	path string // where in the tree of calls: "0", "0.2"
}

// needsTrace is false when every transaction that succeeded used as much gas as a plain payment, or
// none: then no contract ran. Where half of the gas may be refunded (before London), a contract may
// have used less.
func (b *block) needsTrace() bool {
	return !b.nativeLogs && slices.ContainsFunc(b.txs, func(t transaction) bool { return t.ok && t.gasUsed != 0 && t.gasUsed != minGas })
}

// traceVotes holds the answers of the nodes that traced one block.
type traceVotes struct {
	votes []vote
	need  int // number of nodes that must agree
}

type vote struct {
	node  *node
	moves []internal
}

// traceAnswer is one node's answer: the movements, or why the node cannot trace the block.
type traceAnswer struct {
	moves  []internal
	cannot error
}

// internals asks the nodes for the native coin that contracts moved in a block. A block that no
// node can trace passes with traces "auto" and is marked chain.Untraced; with traces "on" it does
// not pass.
func (c *Chain) internals(ctx context.Context, b *block) (traceVotes, chain.Tracing, error) {
	needed := b.needsTrace()
	if c.config.Traces == tracesOff || b.nativeLogs || !needed && !c.loss.mayProbe(time.Now()) {
		return traceVotes{}, chain.TracingUnneeded, nil
	}
	all, err := c.askTraces(ctx, b)
	switch {
	case err == nil:
		c.loss.end()
		if !needed {
			all = traceVotes{}
		}
		return all, chain.Traced, nil
	case !needed: // it was only to see whether nodes trace again
		return traceVotes{}, chain.TracingUnneeded, nil
	case !errors.Is(err, errUntraceable):
		return traceVotes{}, chain.TracingUnneeded, err
	}
	c.loss.begin(b.number, err)
	if c.config.Traces == tracesAuto {
		return traceVotes{}, chain.Untraced, nil
	}
	return traceVotes{}, chain.TracingUnneeded, unavailable([]error{fmt.Errorf("block %d: %w", b.number, err)})
}

// askTraces collects the votes about one block. A node that cannot trace it has no vote. A node
// that did not answer may have another opinion: it counts as a vote that is missing, until its
// tracer gives up on it.
func (c *Chain) askTraces(ctx context.Context, b *block) (traceVotes, error) {
	question := func(ctx context.Context, n *node) (traceAnswer, error) { return c.trace(ctx, n, b) }
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, c.tracedAlike))
	var all traceVotes
	var reasons []string
	for _, a := range good {
		if a.Value.cannot != nil {
			reasons = append(reasons, a.Value.cannot.Error())
			continue
		}
		all.votes = append(all.votes, vote{a.Node, a.Value.moves})
	}
	voices := len(c.nodes) - len(reasons)
	if voices == 0 {
		return traceVotes{}, fmt.Errorf("%w: %s", errUntraceable, strings.Join(reasons, "; "))
	}
	all.need = voices/2 + 1
	if len(all.votes) < all.need {
		return traceVotes{}, unavailable(append(faults, fmt.Errorf("block %d: not enough nodes could trace it", b.number)))
	}
	return all, nil
}

// tracedAlike reports whether a majority of all nodes names the same movements.
func (c *Chain) tracedAlike(answers []answer[traceAnswer]) bool {
	good, _ := quorum.Good(answers)
	return slices.ContainsFunc(good, func(mine answer[traceAnswer]) bool {
		same := 0
		for _, other := range good {
			if mine.Value.cannot == nil && other.Value.cannot == nil && slices.Equal(mine.Value.moves, other.Value.moves) {
				same++
			}
		}
		return same >= c.majority()
	})
}

// decide returns the movements to us on which enough votes agree.
func (v traceVotes) decide(ours func(internal) bool) ([]internal, error) {
	hits := make([][]internal, len(v.votes))
	for i, vote := range v.votes {
		hits[i] = slices.DeleteFunc(slices.Clone(vote.moves), func(m internal) bool { return !ours(m) })
	}
	for _, mine := range hits {
		same := 0
		for _, other := range hits {
			if slices.Equal(mine, other) {
				same++
			}
		}
		if same >= v.need {
			v.blame(mine, hits)
			return mine, nil
		}
	}
	if len(v.votes) == 0 {
		return nil, nil
	}
	return nil, errTraceDispute
}

// blame counts the votes that differ from the agreed one.
func (v traceVotes) blame(agreed []internal, hits [][]internal) {
	for i, vote := range hits {
		if !slices.Equal(agreed, vote) {
			v.votes[i].node.RecordWrong("trace", errors.New("it traces other movements of coins to us than a majority"))
		}
	}
}

// trace asks one node.
func (c *Chain) trace(ctx context.Context, n *node, b *block) (traceAnswer, error) {
	begin := time.Now()
	if why := n.tracer.absent(begin); why != nil {
		return traceAnswer{cannot: why}, nil
	}
	moves, err := n.traceBlock(ctx, b)
	switch {
	case err == nil:
		n.tracer.works()
		return traceAnswer{moves: moves}, nil
	case ctx.Err() != nil:
		return traceAnswer{}, err
	case errors.Is(err, errNoTrace) || lacksState(err):
		n.tracer.answered()
		return traceAnswer{cannot: err}, nil
	case notOffered(err):
		n.tracer.lose(time.Now(), err)
		return traceAnswer{cannot: err}, nil
	case n.tracer.failed(begin, time.Now(), err):
		return traceAnswer{cannot: err}, nil
	}
	return traceAnswer{}, err
}

// traceBlock returns a block's movements as one node traces them.
func (n *node) traceBlock(ctx context.Context, b *block) ([]internal, error) {
	var traces []wireTrace
	err := n.scan(optional(ctx), func(s *scanner) { traces = scanTraces(s) }, methodTrace, b.hash, callTracer())
	if err != nil {
		return nil, err
	}
	moves, err := readTraces(traces, b)
	if errors.Is(err, errNoTrace) {
		return nil, fmt.Errorf("%s: block %d: %w", n.name, b.number, err)
	}
	if err != nil {
		return nil, n.RecordWrong("trace", fmt.Errorf("%s: trace of block %d: %w", n.name, b.number, err))
	}
	return moves, nil
}

const methodTrace = "debug_traceBlockByHash"

func callTracer() map[string]any { return map[string]any{"tracer": "callTracer"} }

// errNoTrace is a transaction without a trace: a node that no longer keeps the state of an old
// block answers so.
var errNoTrace = errors.New("the node has no trace of a transaction")

// readTraces takes the movements out of a block's traces, which must be those of the block's
// transactions in their order.
func readTraces(traces []wireTrace, b *block) ([]internal, error) {
	if len(traces) != len(b.txs) {
		return nil, fmt.Errorf("%d traces for %d transactions", len(traces), len(b.txs))
	}
	var moves []internal
	for i, t := range traces {
		if t.TxHash != nil && *t.TxHash != b.txs[i].hash() {
			return nil, fmt.Errorf("trace %d is of another transaction", i)
		}
		if t.Result == nil {
			return nil, fmt.Errorf("%w: %d: %s", errNoTrace, i, printable(t.Error))
		}
		if !b.txs[i].ok || t.Result.Error != "" {
			continue
		}
		moves = appendMoves(moves, t.Result.Calls, i, "")
	}
	return moves, nil
}

// appendMoves walks the calls below a frame that was not reverted. A frame with an error undid
// itself and everything below it.
func appendMoves(moves []internal, calls []wireFrame, tx int, above string) []internal {
	for i := range calls {
		f := &calls[i]
		if f.Error != "" {
			continue
		}
		path := above + strconv.Itoa(i)
		if carries(f) {
			moves = append(moves, internal{movement{f.From, *f.To, *wireWord(f.Value)}, tx, path})
		}
		moves = appendMoves(moves, f.Calls, tx, path+".")
	}
	return moves
}

// carries reports whether a frame carries value away. DELEGATECALL and CALLCODE name a value that
// stays where it is.
func carries(f *wireFrame) bool {
	switch f.Type {
	case "CALL", "CREATE", "CREATE2", "SELFDESTRUCT":
		return f.To != nil && f.Value != nil && f.Value.ToInt().Sign() > 0 && *f.To != f.From
	}
	return false
}
