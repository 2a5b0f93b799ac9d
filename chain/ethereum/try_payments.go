package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// trial is the outcome of one tried token payment.
type trial int

const (
	trialMoves trial = iota
	trialReverts
	trialFalse // it succeeds and answers false, as old tokens do that refuse
	trialShort // the account holds less than the payment asks for
)

// trialErrors are the outcomes as the port names them.
var trialErrors = map[trial]error{trialReverts: chain.ErrRefused, trialFalse: chain.ErrFalse, trialShort: chain.ErrNotNow}

// Try tries token payments of an account on the state after the block at a height, and sends
// nothing. Height 0 is the newest block of each node. Each payment gets nil if it would succeed,
// chain.ErrRefused if it reverts, chain.ErrFalse if the token returns false, and chain.ErrNotNow if
// the account holds less. chain.ErrUnavailable: no majority of the nodes answers, or keeps that
// state.
func (c *Chain) Try(ctx context.Context, height uint64, account string, pays []chain.Payment) ([]error, error) {
	c = c.current()
	msgs := make([]message, len(pays))
	for i, pay := range pays {
		var err error
		if msgs[i], err = c.message(chain.Slot{Account: account}, pay); err != nil {
			return nil, fmt.Errorf("trying payments of %s: %w", account, err)
		}
		if !msgs[i].token {
			return nil, fmt.Errorf("trying payments of %s: only those of tokens can be tried", account)
		}
	}
	at := "latest"
	if height > 0 {
		at = hexutil.EncodeUint64(height)
	}
	question := func(ctx context.Context, n *node) ([]trial, error) { return c.tryOn(ctx, n, at, msgs) }
	same := quorum.Same[*node](c.majority(), trialKey)
	answers := quorum.Ask(ctx, c.nodes, question, same)
	agreed, found := quorum.Agreed(answers, c.majority(), trialKey)
	if !found {
		_, faults := quorum.Good(answers)
		return nil, fmt.Errorf("trying payments of %s: %w", account, unavailable(append(faults, errors.New("no majority of the nodes answers"))))
	}
	results := make([]error, len(agreed))
	for i, t := range agreed {
		results[i] = trialErrors[t]
	}
	return results, nil
}

// trialKey makes equal answers equal.
func trialKey(list []trial) string { return fmt.Sprint(list) }

// tryOn tries messages on one node, together with the balances that they need.
func (c *Chain) tryOn(ctx context.Context, n *node, at string, msgs []message) ([]trial, error) {
	answers, held := make([]hexutil.Bytes, len(msgs)), make([]hexutil.Bytes, len(msgs))
	elems := make([]rpc.BatchElem, 0, 2*len(msgs))
	for i, m := range msgs {
		call := map[string]any{"from": m.from, "to": m.to, "input": hexutil.Bytes(m.data), "gas": hexutil.Uint64(c.maxGas)}
		elems = append(elems, rpc.BatchElem{Method: "eth_call", Args: []any{call, at}, Result: &answers[i]})
	}
	first := make(map[string]int) // of the messages of a token
	for i, m := range msgs {
		if _, asked := first[m.to.Hex()]; !asked {
			first[m.to.Hex()] = i
			call := map[string]any{"to": m.to, "input": hexutil.Bytes(balanceCall(m.from))}
			elems = append(elems, rpc.BatchElem{Method: "eth_call", Args: []any{call, at}, Result: &held[i]})
		}
	}
	if err := n.batch(ctx, elems); err != nil {
		return nil, err
	}
	for _, e := range elems[len(msgs):] { // a paused token may refuse to return balances, too
		if v := classify(e.Error); e.Error != nil && v != verdictReverted && v != verdictGasLimit {
			return nil, e.Error
		}
	}
	list := make([]trial, len(msgs))
	for i, m := range msgs {
		var err error
		if list[i], err = readTrial(elems[i].Error, answers[i], held[first[m.to.Hex()]], m); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readTrial reads what a node answered to a tried message, held being the answer to balanceOf.
func readTrial(err error, answer, held []byte, m message) (trial, error) {
	outcome := trialMoves
	switch v := classify(err); {
	case err != nil && (v == verdictReverted || v == verdictGasLimit):
		outcome = trialReverts
	case err != nil:
		return 0, err
	case len(answer) >= wordSize && bytes.Equal(answer[:wordSize], make([]byte, wordSize)):
		outcome = trialFalse
	}
	if len(held) == wordSize && new(uint256.Int).SetBytes(held).Lt(m.asked.Amount.Uint256()) {
		outcome = trialShort
	}
	return outcome, nil
}
