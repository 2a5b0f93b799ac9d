package ethereum

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// maxFailed bounds the failed token payments of a block that are examined: outsiders can make them
// by the hundred, and they move nothing.
const maxFailed = 20

func (c *Chain) showsFailed() bool { return c.config.ShowFailed == nil || *c.config.ShowFailed }

// failedToken returns the movement that a failed direct call of a bridged token's transfer
// requested.
func (c *Chain) failedToken(t *transaction) (movement, bool) {
	if !c.showsFailed() || t.ok || t.to == nil || !c.isToken(*t.to) {
		return movement{}, false
	}
	m, _, ok := readTransferCall(t.input)
	m.from = t.from
	return m, ok
}

// failure reports a failed transaction that would have paid us: native coin, which its sender
// provably has, or a token that its sender had.
func (s *searcher) failure(t *transaction, i int) {
	if !s.chain.showsFailed() {
		return
	}
	if m, ok := t.movement(); ok && s.incoming(m) {
		s.report(t, "fail", chain.Native, m, readMemo(t.input))
		return
	}
	if m, ok := s.failedTokens[i]; ok {
		s.report(t, "fail", assetOf(*t.to), m, t.tokenMemo(*t.to, m))
	}
}

// attempt is a failed token payment to us.
type attempt struct {
	movement
	tx    int
	token common.Address
}

// attempts are the failed token payments of the block to us; the first ones, if there are many.
func (s *searcher) attempts() (list []attempt) {
	for i := range s.block.txs {
		t := &s.block.txs[i]
		if m, ok := s.chain.failedToken(t); ok && s.incoming(m) && len(list) < maxFailed {
			list = append(list, attempt{m, i, *t.to})
		}
	}
	return list
}

// fundedAttempts returns, by transaction, the failed token payments to us whose senders had the
// amount. Otherwise an outsider could write amounts of any size into a user's list. The result is
// information and moves no money: without a majority of the nodes, nothing is reported.
func (s *searcher) fundedAttempts(ctx context.Context) map[int]movement {
	tries := s.attempts()
	if len(tries) == 0 || s.block.number == 0 {
		return nil
	}
	had := func(answers []answer[[]*uint256.Int], k int) (*uint256.Int, bool) {
		good, _ := quorum.Good(answers)
		return majorityValue(good, s.chain.majority(), func(words []*uint256.Int) *uint256.Int { return words[k] })
	}
	question := func(ctx context.Context, n *node) ([]*uint256.Int, error) {
		return n.heldBefore(ctx, s.block.number, tries)
	}
	answers := quorum.Ask(ctx, s.chain.nodes, question, func(answers []answer[[]*uint256.Int]) bool {
		for k := range tries {
			if _, ok := had(answers, k); !ok {
				return false
			}
		}
		return true
	})
	found := map[int]movement{}
	for k, a := range tries {
		if held, ok := had(answers, k); ok && !held.Lt(&a.amount) {
			found[a.tx] = a.movement
		}
	}
	return found
}

// heldBefore asks one node for the token balances of attempts' senders before a block; nil where
// the token does not answer.
func (n *node) heldBefore(ctx context.Context, height uint64, tries []attempt) ([]*uint256.Int, error) {
	results := make([]hexutil.Bytes, len(tries))
	elems := make([]rpc.BatchElem, len(tries))
	for i, a := range tries {
		call := map[string]any{"to": a.token, "input": hexutil.Bytes(balanceCall(a.from))}
		elems[i] = rpc.BatchElem{Method: "eth_call", Args: []any{call, hexutil.EncodeUint64(height - 1)}, Result: &results[i]}
	}
	if err := n.batch(ctx, elems); err != nil {
		return nil, err
	}
	words := make([]*uint256.Int, len(tries))
	for i := range tries {
		if elems[i].Error == nil && len(results[i]) == wordSize {
			words[i] = new(uint256.Int).SetBytes(results[i])
		}
	}
	return words, nil
}

// outcome is the content of one node's receipt of a transaction.
type outcome struct {
	height, gas uint64
}

// FailedForUs reports whether an attempt of a token payment or a batch that failed in a final block
// failed for our own lack. One case is a balance below the payment's amount, after the block before
// and less our own transactions' movements by then, or an allowance below that of a batch. The
// other is that it used up all its gas while the configuration allows more. chain.ErrUnavailable:
// no majority of the nodes answers, or keeps that state.
func (c *Chain) FailedForUs(ctx context.Context, height uint64, account string, pay chain.Payment, moved chain.Amount, a chain.Attempt) (bool, error) {
	c = c.current()
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
	if pay.Purpose == chain.Batch && pay.Asset != chain.Native {
		if short, err := c.allowedTooLittle(ctx, height, account, pay); err != nil || short {
			return short, err
		}
	}
	question := func(ctx context.Context, n *node) (outcome, error) { return n.outcome(ctx, tx.Hash()) }
	same := quorum.Same[*node](c.majority(), func(o outcome) outcome { return o })
	answers := quorum.Ask(ctx, c.nodes, question, same)
	said, found := quorum.Agreed(answers, c.majority(), func(o outcome) outcome { return o })
	if !found || said.height != height {
		_, faults := quorum.Good(answers)
		return false, fmt.Errorf("asking why %s failed: %w", a.Hash, unavailable(append(faults, errors.New("no majority of the nodes has its receipt"))))
	}
	if call, ok := readBatchCall(tx.Data()); ok && pay.Purpose == chain.Batch {
		return said.gas+call.needed() > tx.Gas(), nil
	}
	return said.gas >= tx.Gas() && tx.Gas() < c.config.MaxGas, nil
}

// allowedTooLittle reports whether the batch contract could not move a batch's sum, before or after
// a block.
func (c *Chain) allowedTooLittle(ctx context.Context, height uint64, account string, pay chain.Payment) (bool, error) {
	for _, at := range []uint64{height - 1, height} {
		allowed, err := c.allowance(ctx, hexutil.EncodeUint64(at), account, pay.Asset)
		if err != nil {
			return false, err
		}
		if allowed.Lt(pay.Amount.Uint256()) {
			return true, nil
		}
	}
	return false, nil
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
