package ethereum

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const (
	// gasPerByte is what a byte of call data costs at most (the floor of EIP-7623).
	gasPerByte = 40
	// refusedGas is what a receiver of native coin may use up to refuse it.
	refusedGas = 79_000
)

// estimate is what one node thinks a message needs.
type estimate struct {
	gas     uint64
	verdict verdict // empty when it was estimated
}

// gas is how much a message may use: the nodes' highest estimate with a margin, at least what every transaction of its size costs, within
// the configured bound. A message that would be refused gets enough to be refused with. Unused gas is not paid.
func (c *Chain) gas(ctx context.Context, msg message, earlier attempts) (uint64, error) {
	least, most := c.gasBounds(msg)
	need, refused, err := c.estimate(ctx, msg)
	switch {
	case err != nil && earlier.gas > 0:
		return earlier.gas, nil // a replacement must not wait for an estimate
	case err != nil:
		return 0, err
	case refused && !msg.token:
		return max(min(least+refusedGas, most), earlier.gas), nil
	case refused:
		return max(most, earlier.gas), nil
	}
	return max(min(max(withMargin(need), least), most), earlier.gas), nil
}

// withMargin adds a quarter, for a state that is another when the transaction is mined. A plain payment runs no code and needs none.
func withMargin(gas uint64) uint64 {
	if gas == minGas {
		return gas
	}
	return gas + gas/4
}

// gasBounds are the least that a transaction of this size costs and the most that it may use.
func (c *Chain) gasBounds(msg message) (least, most uint64) {
	data := gasPerByte * uint64(len(msg.data))
	least, most = minGas+data, c.config.MaxNativeGas+data
	if msg.token {
		most = c.config.MaxGas
	}
	return least, max(least, most)
}

// estimate asks all nodes. refused means that a majority sees the message fail.
func (c *Chain) estimate(ctx context.Context, msg message) (gas uint64, refused bool, err error) {
	question := func(ctx context.Context, n *node) (estimate, error) { return estimateOn(ctx, n, msg) }
	same := quorum.Same[*node](c.majority(), func(e estimate) estimate { return e })
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	votes := make(map[verdict]int)
	for _, a := range good {
		votes[a.Value.verdict]++
		gas = max(gas, a.Value.gas)
	}
	switch {
	case votes[verdictReverted] >= c.majority():
		return c.refusal(ctx, msg)
	case votes[verdictUnfunded] >= c.majority():
		return 0, false, fmt.Errorf("%w: the account holds too few coins", chain.ErrNotNow)
	case len(good) < c.majority() || gas == 0:
		return 0, false, fmt.Errorf("estimating gas: %w", unavailable(faults))
	}
	return min(gas, maxGasBound), false, nil
}

// refusal tells a token payment that the account cannot afford from one that the token or the receiver refuses.
func (c *Chain) refusal(ctx context.Context, msg message) (gas uint64, refused bool, err error) {
	if !msg.token {
		return 0, true, nil
	}
	balance, err := c.Balance(ctx, msg.from.Hex(), msg.asked.Asset)
	if err != nil {
		return 0, false, err
	}
	if balance.Less(msg.asked.Amount) {
		return 0, false, fmt.Errorf("%w: the account holds %s of the token, %s are to be paid", chain.ErrNotNow, balance, msg.asked.Amount)
	}
	return 0, true, nil
}

// estimateOn asks one node. A refusal by the chain's rules is an answer.
func estimateOn(ctx context.Context, n *node, msg message) (estimate, error) {
	var gas hexutil.Uint64
	err := n.call(ctx, &gas, "eth_estimateGas", map[string]any{
		"from": msg.from, "to": msg.to, "value": hexutil.EncodeBig(msg.value.ToBig()), "input": hexutil.Bytes(msg.data),
	})
	if err == nil {
		return estimate{gas: uint64(gas)}, nil
	}
	if v := classify(err); v == verdictReverted || v == verdictUnfunded {
		return estimate{verdict: v}, nil
	}
	return estimate{}, err
}
