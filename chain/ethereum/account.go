package ethereum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// Balance answers what the latest block leaves an account, in wei or the token's units. Of several nodes' answers it takes the middle one,
// the lower of two: one node alone cannot raise or lower it.
func (c *Chain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	owner, err := parseAddress(account)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("balance of %q: %w", account, err)
	}
	question := func(ctx context.Context, n *node) (*uint256.Int, error) { return nativeBalance(ctx, n, owner) }
	if asset != chain.Native {
		token, err := parseAddress(string(asset))
		if err != nil {
			return chain.Amount{}, fmt.Errorf("balance of asset %q: %w", asset, err)
		}
		question = func(ctx context.Context, n *node) (*uint256.Int, error) { return tokenBalance(ctx, n, token, owner) }
	}
	balance, err := c.middle(ctx, question)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading the balance of %s: %w", account, err)
	}
	return chain.AmountOf(balance), nil
}

// middle asks all nodes for a number and takes the middle one of the answers, of which there must be a majority.
func (c *Chain) middle(ctx context.Context, question func(context.Context, *node) (*uint256.Int, error)) (*uint256.Int, error) {
	good, faults := succeeded(ask(ctx, c.nodes, question, answered[*uint256.Int](c.majority())))
	if len(good) < c.majority() {
		return nil, unavailable(faults)
	}
	numbers := make([]*uint256.Int, len(good))
	for i, a := range good {
		numbers[i] = a.value
	}
	return median(numbers), nil
}

// median is the middle of some numbers, of an even count the lower one.
func median(numbers []*uint256.Int) *uint256.Int {
	slices.SortFunc(numbers, (*uint256.Int).Cmp)
	return numbers[(len(numbers)-1)/2]
}

func nativeBalance(ctx context.Context, n *node, owner common.Address) (*uint256.Int, error) {
	var balance *hexutil.Big
	if err := n.call(ctx, &balance, "eth_getBalance", owner, "latest"); err != nil {
		return nil, err
	}
	if balance == nil {
		return nil, fmt.Errorf("%s: eth_getBalance: no answer", n.name)
	}
	return word(balance), nil
}

// tokenBalance is balanceOf(owner). A contract that answers anything but one word is no token.
func tokenBalance(ctx context.Context, n *node, token, owner common.Address) (*uint256.Int, error) {
	return tokenWord(ctx, n, token, balanceCall(owner))
}

func tokenWord(ctx context.Context, n *node, token common.Address, data []byte) (*uint256.Int, error) {
	var result hexutil.Bytes
	call := map[string]any{"to": token, "input": hexutil.Bytes(data)}
	if err := n.call(ctx, &result, "eth_call", call, "latest"); err != nil {
		return nil, err
	}
	if len(result) != wordSize {
		return nil, fmt.Errorf("%s: token %s answers %d bytes, not %d", n.name, token, len(result), wordSize)
	}
	return new(uint256.Int).SetBytes(result), nil
}

// nonces is where one node sees an account.
type nonces struct{ latest, pending, final uint64 }

// Tip answers where an account's nonce stands. Settled needs a majority of nodes to say the same three numbers, and the numbers to be
// equal; when the nodes differ, Next is the highest that any of them says.
func (c *Chain) Tip(ctx context.Context, account string) (chain.Tip, error) {
	owner, err := parseAddress(account)
	if err != nil {
		return chain.Tip{}, fmt.Errorf("tip of %q: %w", account, err)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.Tip{}, fmt.Errorf("tip of %s: %w", account, err)
	}
	question := func(ctx context.Context, n *node) (nonces, error) { return noncesOf(ctx, n, owner, head.Final.Height) }
	good, faults := succeeded(ask(ctx, c.nodes, question, answered[nonces](c.majority())))
	if len(good) < c.majority() {
		return chain.Tip{}, fmt.Errorf("tip of %s: %w", account, unavailable(faults))
	}
	return c.tipOf(good), nil
}

func (c *Chain) tipOf(answers []answer[nonces]) chain.Tip {
	votes := make(map[nonces]int)
	highest := uint64(0)
	for _, a := range answers {
		highest = max(highest, a.value.latest)
		votes[a.value]++
	}
	for n, count := range votes {
		if count >= c.majority() {
			return chain.Tip{Next: n.latest, Settled: n.latest == n.pending && n.latest == n.final}
		}
	}
	return chain.Tip{Next: highest}
}

func noncesOf(ctx context.Context, n *node, owner common.Address, final uint64) (nonces, error) {
	var counts [3]hexutil.Uint64
	elems := make([]rpc.BatchElem, len(counts))
	for i, at := range []string{"latest", "pending", hexutil.EncodeUint64(final)} {
		elems[i] = rpc.BatchElem{Method: "eth_getTransactionCount", Args: []any{owner, at}, Result: &counts[i]}
	}
	if err := n.batch(ctx, elems); err != nil {
		return nonces{}, err
	}
	if elems[2].Error != nil && classify(elems[2].Error) == verdictNoState {
		// Finality stands so far behind that the node dropped the state: nothing of the account can be called settled.
		elems[2].Error, counts[2] = nil, math.MaxUint64
	}
	if err := errors.Join(elems[0].Error, elems[1].Error, elems[2].Error); err != nil {
		return nonces{}, err
	}
	return nonces{uint64(counts[0]), uint64(counts[1]), uint64(counts[2])}, nil
}
