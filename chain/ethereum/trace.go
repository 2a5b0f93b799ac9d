package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gatewayd/chain/ethereum/wire"
	"gatewayd/chain/quorum"
)

// Whether a node can trace; found out at its first trace and kept until the program ends, so that a node that loses the ability later
// is noticed as a fault.
const (
	tracingUnknown = int32(iota)
	tracingYes
	tracingNo
)

// errTraceDispute: the next attempt may find the nodes of one mind.
var errTraceDispute = errors.New("the nodes trace the block differently")

// internal is native coin that moved inside a transaction. Only a trace tells: it is in no root.
type internal struct {
	movement
	tx   int
	path string // where in the tree of calls: "0", "0.2"
}

// needsTrace is false when every transaction that succeeded used as much gas as a plain payment, or none: then no contract ran. Where half of the gas may be
// refunded (before London), a contract may have used less.
func (b *block) needsTrace() bool {
	return !b.nativeLogs && slices.ContainsFunc(b.txs, func(t transaction) bool { return t.ok && t.gasUsed != 0 && t.gasUsed != minGas })
}

// traceVotes is what the nodes that trace say about one block.
type traceVotes struct {
	votes []vote
	need  int // so many must say the same
}

type vote struct {
	node  *node
	moves []internal
}

// internals asks the nodes for the native coin moved by contracts in a block. A node that cannot trace has no voice; one that could not
// answer is waited for as one that could have said something else, unless a majority of all nodes traces alike. With traces "auto", a block that no node can
// trace is counted and passes without.
func (c *Chain) internals(ctx context.Context, b *block) (traceVotes, error) {
	if c.config.Traces == tracesOff || !b.needsTrace() {
		return traceVotes{}, nil
	}
	question := func(ctx context.Context, n *node) (*[]internal, error) { return c.trace(ctx, n, b) }
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, c.tracedAlike))
	var all traceVotes
	voices := len(c.nodes)
	for _, a := range good {
		if a.Value != nil {
			all.votes = append(all.votes, vote{a.Node, *a.Value})
		} else {
			voices--
		}
	}
	if voices == 0 && c.config.Traces == tracesAuto {
		c.untraced.Add(1)
		return traceVotes{}, nil
	}
	all.need = voices/2 + 1
	if len(all.votes) < all.need {
		return traceVotes{}, unavailable(append(faults, fmt.Errorf("block %d: not enough nodes could trace it", b.number)))
	}
	return all, nil
}

// tracedAlike reports whether a majority of all nodes names the same movements.
func (c *Chain) tracedAlike(answers []answer[*[]internal]) bool {
	good, _ := quorum.Good(answers)
	return slices.ContainsFunc(good, func(mine answer[*[]internal]) bool {
		same := 0
		for _, other := range good {
			if mine.Value != nil && other.Value != nil && slices.Equal(*mine.Value, *other.Value) {
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

// trace asks one node. The answer is nil when the node does not trace at all or has no state of that block any more.
func (c *Chain) trace(ctx context.Context, n *node, b *block) (*[]internal, error) {
	if n.tracing.Load() == tracingNo {
		return nil, nil
	}
	var traces []wire.Trace
	err := n.scan(ctx, func(s *wire.Scanner) { traces = wire.ScanTraces(s) }, "debug_traceBlockByHash", b.hash, map[string]any{"tracer": "callTracer"})
	switch {
	case err == nil:
	case classify(err) == verdictNoState:
		return nil, nil
	case classify(err) == verdictNoMethod && n.tracing.Load() == tracingUnknown:
		n.tracing.Store(tracingNo)
		return nil, nil
	default:
		return nil, err
	}
	n.tracing.Store(tracingYes)
	moves, err := readTraces(traces, b)
	if err != nil {
		return nil, n.RecordWrong("trace", fmt.Errorf("%s: trace of block %d: %w", n.name, b.number, err))
	}
	return &moves, nil
}

// readTraces takes the movements out of a block's traces, which must be those of the block's transactions in their order.
func readTraces(traces []wire.Trace, b *block) ([]internal, error) {
	if len(traces) != len(b.txs) {
		return nil, fmt.Errorf("%d traces for %d transactions", len(traces), len(b.txs))
	}
	var moves []internal
	for i, t := range traces {
		if t.TxHash != nil && *t.TxHash != b.txs[i].hash() {
			return nil, fmt.Errorf("trace %d is of another transaction", i)
		}
		if t.Result == nil {
			return nil, fmt.Errorf("trace %d is missing: %s", i, printable(t.Error))
		}
		if !b.txs[i].ok || t.Result.Error != "" {
			continue
		}
		moves = appendMoves(moves, t.Result.Calls, i, "")
	}
	return moves, nil
}

// appendMoves walks the calls below a frame that was not reverted. A frame with an error undid itself and everything below it.
func appendMoves(moves []internal, calls []wire.Frame, tx int, above string) []internal {
	for i := range calls {
		f := &calls[i]
		if f.Error != "" {
			continue
		}
		path := above + strconv.Itoa(i)
		if carries(f) {
			moves = append(moves, internal{movement{f.From, *f.To, *wire.Word(f.Value)}, tx, path})
		}
		moves = appendMoves(moves, f.Calls, tx, path+".")
	}
	return moves
}

// carries reports whether a frame carries value away. DELEGATECALL and CALLCODE name a value that stays where it is.
func carries(f *wire.Frame) bool {
	switch f.Type {
	case "CALL", "CREATE", "CREATE2", "SELFDESTRUCT":
		return f.To != nil && f.Value != nil && f.Value.ToInt().Sign() > 0 && *f.To != f.From
	}
	return false
}
