package ethereum

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// outcome is what one node's receipt says of a transaction.
type outcome struct {
	height, gas uint64
}

// FailedForUs tells whether an attempt of a token payment that failed in a final block failed for want of ours: after the block before, and less
// what our own transactions had moved by then, the account had less of the token than the payment says; or it used up all the gas that it was
// given while the configuration allows more. chain.ErrUnavailable: no majority of the nodes tells, or keeps that state.
func (c *Chain) FailedForUs(ctx context.Context, height uint64, account string, pay chain.Payment, moved chain.Amount, a chain.Attempt) (bool, error) {
	tx, err := readAttempt(a)
	if err != nil {
		return false, err
	}
	held, err := c.HoldingsAt(ctx, height-1, pay.Asset, []string{account})
	if err != nil {
		return false, fmt.Errorf("asking why %s failed: %w", a.Hash, err)
	}
	if left, err := held[0].Sub(moved); err != nil || left.Less(pay.Amount) {
		return true, nil
	}
	question := func(ctx context.Context, n *node) (outcome, error) { return n.outcome(ctx, tx.Hash()) }
	same := quorum.Same[*node](c.majority(), func(o outcome) outcome { return o })
	answers := quorum.Ask(ctx, c.nodes, question, same)
	said, found := quorum.Agreed(answers, c.majority(), func(o outcome) outcome { return o })
	if !found || said.height != height {
		_, faults := quorum.Good(answers)
		return false, fmt.Errorf("asking why %s failed: %w", a.Hash, unavailable(append(faults, errors.New("no majority of the nodes has its receipt"))))
	}
	return said.gas >= tx.Gas() && tx.Gas() < c.config.MaxGas, nil
}

// outcome asks one node.
func (n *node) outcome(ctx context.Context, hash common.Hash) (outcome, error) {
	var receipt *struct {
		Number hexutil.Uint64 `json:"blockNumber"`
		Gas    hexutil.Uint64 `json:"gasUsed"`
	}
	if err := n.call(ctx, &receipt, "eth_getTransactionReceipt", hash); err != nil {
		return outcome{}, err
	}
	if receipt == nil {
		return outcome{}, fmt.Errorf("%s: eth_getTransactionReceipt: no answer", n.name)
	}
	return outcome{uint64(receipt.Number), uint64(receipt.Gas)}, nil
}
