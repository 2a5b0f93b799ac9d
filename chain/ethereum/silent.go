package ethereum

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain/quorum"
)

// silentCall is an account of ours and a token that it called without an event of a transfer from
// the account.
type silentCall struct{ account, token common.Address }

// silent reports whether a transaction is a token payment that succeeded and wrote no event of a
// transfer from its sender: the token answered false, or it is no ERC-20.
func (t *transaction) silent() bool {
	_, _, isToken := readTransferCall(t.input)
	if !t.ok || t.to == nil || !isToken {
		return false
	}
	for _, l := range t.logs {
		if m, ok := readTransferLog(l.Topics, l.Data); ok && l.Address == *t.to && m.from == t.from {
			return false
		}
	}
	return true
}

// markSilent marks as void the silent payments of ours, alone or in a batch, of which the balances
// prove that they moved nothing. Without that proof a payment stays neither paid nor void, and
// people decide.
func (s *searcher) markSilent(ctx context.Context) {
	proven := make(map[silentCall]bool)
	unmoved := func(call silentCall) bool {
		is, asked := proven[call]
		if !asked {
			is = s.chain.eventsExplain(ctx, s.block, call)
			proven[call] = is
		}
		return is
	}
	for i, at := range s.ownAt {
		t := &s.block.txs[at]
		if t.silent() {
			s.ownTxs[i].Void = unmoved(silentCall{t.from, *t.to})
		}
		proveVoid(&s.ownTxs[i], t, unmoved)
	}
}

// eventsExplain reports whether a majority of the nodes shows that the account's token balance
// after the block is at least the amount of the token's events.
func (c *Chain) eventsExplain(ctx context.Context, b *block, call silentCall) bool {
	question := func(ctx context.Context, n *node) ([2]uint256.Int, error) { return n.balancesAround(ctx, b, call) }
	key := func(held [2]uint256.Int) [2]uint256.Int { return held }
	held, found := quorum.Agreed(quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), key)), c.majority(), key)
	if !found {
		return false
	}
	have, want := &held[1], &held[0]
	for i := range b.txs {
		for _, l := range b.txs[i].logs {
			m, ok := readTransferLog(l.Topics, l.Data)
			if !ok || l.Address != call.token {
				continue
			}
			over := false
			if m.to == call.account {
				_, over = want.AddOverflow(want, &m.amount)
			}
			if m.from == call.account && !over {
				_, over = have.AddOverflow(have, &m.amount)
			}
			if over {
				return false
			}
		}
	}
	return !have.Lt(want)
}

// balancesAround asks one node what an account had of a token before and after a block.
func (n *node) balancesAround(ctx context.Context, b *block, call silentCall) (held [2]uint256.Int, err error) {
	var words [2]hexutil.Bytes
	elems := make([]rpc.BatchElem, len(words))
	asked := map[string]any{"to": call.token, "input": hexutil.Bytes(balanceCall(call.account))}
	for i, hash := range []common.Hash{b.parent, b.hash} {
		elems[i] = rpc.BatchElem{Method: "eth_call", Args: []any{asked, map[string]any{"blockHash": hash}}, Result: &words[i]}
	}
	if err := n.batch(ctx, elems); err != nil {
		return held, err
	}
	for i, e := range elems {
		if e.Error != nil {
			return held, e.Error
		}
		if len(words[i]) != wordSize {
			return held, fmt.Errorf("%s: token %s answers %d bytes, not %d", n.name, call.token, len(words[i]), wordSize)
		}
		held[i].SetBytes(words[i])
	}
	return held, nil
}
