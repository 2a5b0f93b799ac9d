package ethereum

import (
	"context"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// gasOf is the key of a message's gas in a group of payments.
type gasOf struct {
	*Chain
	from, to common.Address
	value    uint256.Int
	data     string
}

func (c *Chain) gasOf(msg message) gasOf {
	return gasOf{c, msg.from, msg.to, *msg.value, string(msg.data)}
}

// EstimateGroup asks each node in one batch for the gas of several payments of an account.
// Estimate and Prepare use the answers as long as they work under the same group (chain.InGroup).
// They ask separately for a payment that the nodes do not estimate here.
func (c *Chain) EstimateGroup(ctx context.Context, account string, pays []chain.Payment) {
	c = c.current()
	var msgs []message
	for _, pay := range pays {
		if msg, err := c.message(chain.Slot{Account: account}, pay); err == nil && msg.batch == nil {
			msgs = append(msgs, msg)
		}
	}
	if len(msgs) < 2 {
		return
	}
	question := func(ctx context.Context, n *node) ([]uint64, error) { return c.estimatesOn(ctx, n, msgs) }
	same := quorum.Same[*node](c.majority(), func(list []uint64) string { return fmt.Sprint(list) })
	good, _ := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	for i, msg := range msgs {
		var estimates []uint64
		for _, a := range good {
			if gas := a.Value[i]; gas > 0 {
				estimates = append(estimates, gas)
			}
		}
		if len(estimates) < c.majority() {
			continue
		}
		_, _ = chain.Once(ctx, c.gasOf(msg), func(context.Context) (uint64, error) { return middleGas(estimates), nil })
	}
}

// estimatesOn lets one node try messages. It returns zero for those that it does not estimate.
func (c *Chain) estimatesOn(ctx context.Context, n *node, msgs []message) ([]uint64, error) {
	gas, elems := make([]hexutil.Uint64, len(msgs)), make([]rpc.BatchElem, len(msgs))
	for i, msg := range msgs {
		_, most := c.gasBounds(msg)
		elems[i] = rpc.BatchElem{Method: "eth_estimateGas", Args: estimateArgs(msg, most), Result: &gas[i]}
	}
	if err := n.batch(ctx, elems); err != nil {
		return nil, err
	}
	list := make([]uint64, len(msgs))
	for i := range elems {
		if elems[i].Error == nil {
			list[i] = uint64(gas[i])
		}
	}
	return list, nil
}

// middleGas returns the median of estimates, of two the higher one, at most maxGasBound.
func middleGas(estimates []uint64) uint64 {
	slices.Sort(estimates)
	return min(estimates[len(estimates)/2], maxGasBound)
}
