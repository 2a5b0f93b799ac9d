package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// Balance returns an account's balance in the latest block, in wei or the token's units. Of several
// nodes' answers it takes that of a majority, else the median, the lower of two: one node alone
// cannot raise or lower it. chain.ErrUnavailable: also while the nodes agree on no block.
func (c *Chain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	c = c.current()
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
		question = func(ctx context.Context, n *node) (*uint256.Int, error) {
			return tokenWord(ctx, n, "latest", token, balanceCall(owner))
		}
	}
	if err := c.checkCommonBlock(ctx); err != nil {
		return chain.Amount{}, fmt.Errorf("reading the balance of %s: %w", account, err)
	}
	balance, err := c.middle(ctx, question)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading the balance of %s: %w", account, err)
	}
	return chain.AmountOf(balance), nil
}

// middle asks for a number. It returns the answer of a majority. When all nodes answered and
// differ, it returns the median of the answers, of which there must be a majority.
func (c *Chain) middle(ctx context.Context, question func(context.Context, *node) (*uint256.Int, error)) (*uint256.Int, error) {
	same := quorum.Same[*node](c.majority(), func(n *uint256.Int) uint256.Int { return *n })
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	if len(good) < c.majority() {
		return nil, unavailable(faults)
	}
	numbers := make([]*uint256.Int, len(good))
	for i, a := range good {
		numbers[i] = a.Value
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
	return wireWord(balance), nil
}

// tokenWord calls a token on the state after a block. A contract that answers anything but one word
// is none.
func tokenWord(ctx context.Context, n *node, at string, token common.Address, data []byte) (*uint256.Int, error) {
	var result hexutil.Bytes
	call := map[string]any{"to": token, "input": hexutil.Bytes(data)}
	if err := n.call(ctx, &result, "eth_call", call, at); err != nil {
		return nil, err
	}
	if len(result) != wordSize {
		return nil, fmt.Errorf("%s: token %s answers %d bytes, not %d", n.name, token, len(result), wordSize)
	}
	return new(uint256.Int).SetBytes(result), nil
}

// nonces is one node's view of an account.
type nonces struct {
	latest, final uint64 // as of the blocks that were asked for
	settled       bool   // its pool has nothing of the account, and both are equal
}

// tip is the part of the nonces on which nodes must agree.
func (n nonces) tip() chain.AccountHead { return chain.AccountHead{Next: n.latest, Settled: n.settled} }

// AccountHead returns an account's nonce as of the agreed latest block. A majority of the nodes
// must agree on it, and on whether transactions are pending, else Settled is false.
// chain.ErrUnavailable: there is no majority, so nothing is known; one node that lies or is late
// cannot decide.
func (c *Chain) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	c = c.current()
	owner, err := parseAddress(account)
	if err != nil {
		return chain.AccountHead{}, fmt.Errorf("tip of %q: %w", account, err)
	}
	head, err := c.Head(ctx)
	if err != nil {
		return chain.AccountHead{}, fmt.Errorf("tip of %s: %w", account, err)
	}
	question := func(ctx context.Context, n *node) (nonces, error) { return noncesOf(ctx, n, owner, head) }
	answers := quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), nonces.tip))
	tip, err := c.tipOf(answers)
	if err != nil {
		return chain.AccountHead{}, fmt.Errorf("tip of %s: %w", account, err)
	}
	return tip, nil
}

func (c *Chain) tipOf(answers []answer[nonces]) (chain.AccountHead, error) {
	latest, found := quorum.Agreed(answers, c.majority(), func(n nonces) uint64 { return n.latest })
	if !found {
		_, faults := quorum.Good(answers)
		return chain.AccountHead{}, unavailable(append(faults, errors.New("no majority of the nodes agrees on its nonce")))
	}
	for _, a := range answers {
		if a.Err == nil && a.Value.latest != latest.latest {
			a.Node.RecordWrong("nonce", fmt.Errorf("it reports nonce %d of an account, a majority %d", a.Value.latest, latest.latest))
		}
	}
	if tip, found := quorum.Agreed(answers, c.majority(), nonces.tip); found {
		return tip.tip(), nil
	}
	return chain.AccountHead{Next: latest.latest}, nil
}

func noncesOf(ctx context.Context, n *node, owner common.Address, head chain.Head) (nonces, error) {
	var latest, pending, final hexutil.Uint64
	elems := []rpc.BatchElem{
		{Args: []any{owner, hexutil.EncodeUint64(head.Latest.Height)}, Result: &latest},
		{Args: []any{owner, "pending"}, Result: &pending},
		{Args: []any{owner, hexutil.EncodeUint64(head.Final.Height)}, Result: &final},
	}
	for i := range elems {
		elems[i].Method = "eth_getTransactionCount"
	}
	if err := n.batch(ctx, elems); err != nil {
		return nonces{}, err
	}
	settled := true
	if elems[2].Error != nil && classify(elems[2].Error) == verdictNoState {
		// Finality is so far behind that the node dropped the state: the account cannot be called
		// settled.
		elems[2].Error, settled = nil, false
	}
	if err := errors.Join(elems[0].Error, elems[1].Error, elems[2].Error); err != nil {
		return nonces{}, err
	}
	return nonces{uint64(latest), uint64(final), settled && latest == pending && latest == final}, nil
}
