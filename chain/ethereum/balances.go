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

const (
	// balancePage is the number of addresses per call. Each costs some 3,000 gas (2,600 for the
	// balance of an untouched account, the rest for its calldata), so that they fit into the 50
	// million gas that most nodes give a call. A node that gives less gets smaller pages.
	balancePage = 14_000
	// leastPage is the page size at which a node's refusal is no longer attributed to the size.
	leastPage = 250
)

// balanceReader is the address of the program below in the state override of one call. Its key is
// unknown.
const balanceReader = "0x676174657761792d62616c616e63652d4c6f6f6b"

// balanceProgram reads addresses of 20 bytes from the calldata and answers a word with the balance
// of each. The stack holds where it reads and where it writes:
//
//	        3d 3d             RETURNDATASIZE twice: zero, on forks before PUSH0 too
//	loop:   5b 81 35 6060 1c  JUMPDEST DUP2 CALLDATALOAD PUSH 96 SHR    the next address
//	        31 81 52          BALANCE DUP2 MSTORE
//	        6020 01 90        PUSH 32 ADD SWAP1                         where to write next
//	        6014 01 90        PUSH 20 ADD SWAP1                         where to read next
//	        36 82 10 6002 57  CALLDATASIZE DUP3 LT PUSH loop JUMPI
//	        3d f3             RETURNDATASIZE RETURN                     all that was written
const balanceProgram = "0x3d3d5b813560601c31815260200190601401903682106002573df3"

// errNoOverride is a node that does not lay the program where it is asked to.
var errNoOverride = errors.New("the node does not override state")

// AuditsBalances reports whether the coin of our accounts is to be compared with the books.
func (c *Chain) AuditsBalances() bool { return c.config.Balances != balancesOff }

// BalancePage returns the best number of accounts per call of BalancesAt.
func (c *Chain) BalancePage() int { return balancePage }

// BalancesAt returns the native coin of some accounts, in wei and in their order, after the block
// at a final height. A majority of the nodes must agree on each account. chain.ErrUnavailable: they
// do not, keep no state of that block, or agree on no block.
func (c *Chain) BalancesAt(ctx context.Context, height uint64, accounts []string) ([]chain.Amount, error) {
	c = c.current()
	all, answers, err := c.electBalances(ctx, "balances", height, accounts, func(ctx context.Context, n *node, owners []common.Address) ([]uint256.Int, error) {
		return n.balances(ctx, height, owners)
	})
	if err == nil {
		blameBalances(height, all, answers)
	}
	return all, err
}

// electBalances asks the nodes for balances at a height, and returns the majority's answer for each
// account. what is the balances' name in errors.
func (c *Chain) electBalances(ctx context.Context, what string, height uint64, accounts []string,
	ask func(context.Context, *node, []common.Address) ([]uint256.Int, error),
) (all []chain.Amount, answers []answer[[]uint256.Int], err error) {
	owners := make([]common.Address, len(accounts))
	for i, account := range accounts {
		if owners[i], err = parseAddress(account); err != nil {
			return nil, nil, fmt.Errorf("balance of %q: %w", account, err)
		}
	}
	if err := c.checkCommonBlock(ctx); err != nil {
		return nil, nil, fmt.Errorf("reading %s at block %d: %w", what, height, err)
	}
	question := func(ctx context.Context, n *node) ([]uint256.Int, error) { return ask(ctx, n, owners) }
	enough := func(answers []answer[[]uint256.Int]) bool {
		_, err := c.elected(answers, len(owners))
		return err == nil
	}
	answers = quorum.Ask(ctx, c.nodes, question, enough)
	if all, err = c.elected(answers, len(owners)); err != nil {
		_, faults := quorum.Good(answers)
		return nil, nil, fmt.Errorf("reading %s at block %d: %w", what, height, unavailable(append(faults, err)))
	}
	return all, answers, nil
}

// blameBalances counts the answers that differ from the agreed one anywhere.
func blameBalances(height uint64, agreed []chain.Amount, answers []answer[[]uint256.Int]) {
	for _, a := range answers {
		if a.Err != nil {
			continue
		}
		for i := range agreed {
			if said := chain.AmountOf(&a.Value[i]); said != agreed[i] {
				a.Node.RecordWrong("balance", fmt.Errorf("it reports balance %s of an account at block %d, a majority %s", said, height, agreed[i]))
				break
			}
		}
	}
}

// elected returns the majority's answer for each account.
func (c *Chain) elected(answers []answer[[]uint256.Int], count int) ([]chain.Amount, error) {
	good, _ := quorum.Good(answers)
	if len(good) < c.majority() {
		return nil, errors.New("no majority of the nodes answers")
	}
	all := make([]chain.Amount, count)
	for i := range all {
		value, ok := majorityValue(good, c.majority(), func(a []uint256.Int) *uint256.Int { return &a[i] })
		if !ok {
			return nil, errors.New("no majority of the nodes agrees on a balance")
		}
		all[i] = chain.AmountOf(value)
	}
	return all, nil
}

// majorityValue finds the number that enough answers have; nil is no number.
func majorityValue[T any](answers []answer[T], need int, of func(T) *uint256.Int) (*uint256.Int, bool) {
	for _, a := range answers {
		mine, same := of(a.Value), 0
		if mine == nil {
			continue
		}
		for _, b := range answers {
			if other := of(b.Value); other != nil && other.Eq(mine) {
				same++
			}
		}
		if same >= need {
			return mine, true
		}
	}
	return nil, false
}

// balances asks one node, in as few calls as it takes.
func (n *node) balances(ctx context.Context, height uint64, owners []common.Address) ([]uint256.Int, error) {
	found := make([]uint256.Int, 0, len(owners))
	for len(owners) > 0 {
		size := min(len(owners), int(n.perCall.Load()))
		if size == 0 {
			return n.singleBalances(ctx, found, height, owners)
		}
		var err error
		before := len(found)
		found, err = n.runProgram(ctx, found, height, balanceReader, balanceProgram, nil, owners[:size])
		switch {
		case err == nil:
			owners = owners[size:]
		case ctx.Err() != nil || !n.askFewer(size, err):
			return nil, err
		default:
			found = found[:before]
		}
	}
	return found, nil
}

// askFewer decides after a fault whether to ask again, for fewer at once or without overriding
// state.
func (n *node) askFewer(size int, err error) bool {
	var remote rpc.Error
	switch v := classify(err); {
	case v == verdictNoState || v == verdictUnknownBlock || v == verdictLimited:
		return false
	case errors.Is(err, errNoOverride) || v == verdictNoMethod:
		n.perCall.Store(0)
	case !errors.As(err, &remote) && !errors.Is(err, context.DeadlineExceeded) && v != verdictBatchSize:
		return false // it does not answer at all
	case size <= leastPage:
		n.perCall.Store(0)
	default:
		n.perCall.Store(int32(size / 2))
	}
	return true
}

// runProgram lets the node run a program that returns one word for each owner, placed at an address
// by a state override for this one call. The words are added to found; arguments precede the
// owners.
func (n *node) runProgram(ctx context.Context, found []uint256.Int, height uint64, reader, program string, input []byte, owners []common.Address) ([]uint256.Int, error) {
	for _, owner := range owners {
		input = append(input, owner[:]...)
	}
	call := map[string]any{"to": reader, "input": hexutil.Bytes(input)}
	override := map[string]any{reader: map[string]any{"code": program}}
	var words []byte
	if err := n.scan(ctx, func(s *scanner) { words = s.Bytes() }, "eth_call", call, hexutil.EncodeUint64(height), override); err != nil {
		return found, err
	}
	if len(words) != len(owners)*wordSize {
		return found, fmt.Errorf("%s: %w: %d bytes for %d accounts", n.name, errNoOverride, len(words), len(owners))
	}
	for word := range slices.Chunk(words, wordSize) {
		found = append(found, *new(uint256.Int).SetBytes(word))
	}
	return found, nil
}

// singleBalances asks a node that does not override state for one balance after the other, many in
// a request.
func (n *node) singleBalances(ctx context.Context, found []uint256.Int, height uint64, owners []common.Address) ([]uint256.Int, error) {
	moments := make([]moment, len(owners))
	for i, owner := range owners {
		moments[i] = moment{owner, height}
	}
	balances, err := n.pastBalances(ctx, moments)
	if err != nil {
		return nil, err
	}
	for _, b := range balances {
		if b == nil {
			return nil, fmt.Errorf("%s: no state of block %d", n.name, height)
		}
		found = append(found, *b)
	}
	return found, nil
}

// moment is an account after a block.
type moment struct {
	owner  common.Address
	height uint64
}

// PastBalances returns the native coin of accounts at final heights in wei, in their order: nil
// where no majority of the nodes still knows it.
func (c *Chain) PastBalances(ctx context.Context, of []chain.Moment) ([]*chain.Amount, error) {
	c = c.current()
	moments := make([]moment, len(of))
	for i, m := range of {
		owner, err := parseAddress(m.Account)
		if err != nil {
			return nil, fmt.Errorf("balance of %q: %w", m.Account, err)
		}
		moments[i] = moment{owner, m.Height}
	}
	if err := c.checkCommonBlock(ctx); err != nil {
		return nil, fmt.Errorf("reading past balances: %w", err)
	}
	question := func(ctx context.Context, n *node) ([]*uint256.Int, error) { return n.pastBalances(ctx, moments) }
	good, faults := quorum.Good(quorum.All(ctx, c.nodes, question))
	if len(good) < c.majority() {
		return nil, fmt.Errorf("reading past balances: %w", unavailable(faults))
	}
	all := make([]*chain.Amount, len(of))
	for i := range all {
		if value, ok := majorityValue(good, c.majority(), func(a []*uint256.Int) *uint256.Int { return a[i] }); ok {
			amount := chain.AmountOf(value)
			all[i] = &amount
		}
	}
	return all, nil
}

// pastBalances asks one node for balances at several heights; nil where it refuses.
func (n *node) pastBalances(ctx context.Context, moments []moment) ([]*uint256.Int, error) {
	balances := make([]*hexutil.Big, len(moments))
	elems := make([]rpc.BatchElem, len(moments))
	for i, m := range moments {
		elems[i] = rpc.BatchElem{Method: "eth_getBalance", Args: []any{m.owner, hexutil.EncodeUint64(m.height)}, Result: &balances[i]}
	}
	if err := n.batch(ctx, elems); err != nil {
		return nil, err
	}
	out := make([]*uint256.Int, len(moments))
	for i, elem := range elems {
		switch {
		case elem.Error != nil: // the state is gone, whatever the node's words for it
		case balances[i] == nil:
			return nil, fmt.Errorf("%s: eth_getBalance: no answer", n.name)
		default:
			out[i] = wireWord(balances[i])
		}
	}
	return out, nil
}

// tokenPage addresses are asked for in one call: balanceOf of a token behind a proxy takes some
// 10,000 gas, of the 50 million that most nodes give.
const tokenPage = 4_000

// tokenReader is tokenProgram's place in one call; see balanceReader.
const tokenReader = "0x676174657761792d746f6b656e732d2d4c6f6f6b"

// tokenProgram reads a token's address (a word) and addresses of 20 bytes from the calldata and
// returns a word with the token's answer for each. It reverts when an answer is not one word. The
// stack holds the write and the read position:
//
//	        63 70a08231 60e0 1b 6000 52   balanceOf's selector to the start of the memory
//	        6040 6020                     first write position, first read position
//	loop:   5b 80 35 6060 1c 6004 52      JUMPDEST DUP1 CALLDATALOAD PUSH 96 SHR PUSH 4 MSTORE
//	                                      the next address behind the selector
//	        6020 82 6024 6000             room for a word, write position; 36 bytes from 0
//	        6000 35 5a fa                 PUSH 0 CALLDATALOAD GAS STATICCALL    asks the token
//	        3d 6020 14 16 15 6043 57      RETURNDATASIZE PUSH 32 EQ AND ISZERO PUSH fail JUMPI
//	        90 6020 01 90                 next write position
//	        6014 01                       next read position
//	        36 81 10 600f 57              CALLDATASIZE DUP2 LT PUSH loop JUMPI
//	        50 6040 90 03 6040 f3         POP PUSH 64 SWAP1 SUB PUSH 64 RETURN  all words
//	fail:   5b 6000 6000 fd               REVERT
const tokenProgram = "0x6370a0823160e01b600052604060205b803560601c60045260208260246000600035" +
	"5afa3d60201416156043579060200190601401368110600f5750604090036040f35b60006000fd"

// HoldingsAt returns accounts' balances of an asset after the block at a final height, in the
// asset's smallest unit and in their order. A majority of the nodes must agree on each.
// chain.ErrUnavailable: they do not, keep no state of that block, or agree on no block.
func (c *Chain) HoldingsAt(ctx context.Context, height uint64, asset chain.Asset, accounts []string) ([]chain.Amount, error) {
	c = c.current()
	if asset == chain.Native {
		return c.BalancesAt(ctx, height, accounts)
	}
	token, err := parseAddress(string(asset))
	if err != nil {
		return nil, fmt.Errorf("balances of asset %q: %w", asset, err)
	}
	all, _, err := c.electBalances(ctx, "balances of "+string(asset), height, accounts, func(ctx context.Context, n *node, owners []common.Address) ([]uint256.Int, error) {
		return n.tokenBalances(ctx, height, token, owners)
	})
	return all, err
}

// tokenBalances asks one node, in as few calls as possible. Where the program cannot run, each
// account takes one call.
func (n *node) tokenBalances(ctx context.Context, height uint64, token common.Address, owners []common.Address) ([]uint256.Int, error) {
	found := make([]uint256.Int, 0, len(owners))
	for page := range slices.Chunk(owners, tokenPage) {
		words, err := n.runProgram(ctx, nil, height, tokenReader, tokenProgram, common.LeftPadBytes(token[:], wordSize), page)
		var remote rpc.Error
		if err != nil && ctx.Err() == nil && (errors.As(err, &remote) || errors.Is(err, errNoOverride)) {
			words, err = n.singleTokenBalances(ctx, height, token, page)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, words...)
	}
	return found, nil
}

// singleTokenBalances asks for one balance after the other, many in a request.
func (n *node) singleTokenBalances(ctx context.Context, height uint64, token common.Address, owners []common.Address) ([]uint256.Int, error) {
	answers := make([]hexutil.Bytes, len(owners))
	elems := make([]rpc.BatchElem, len(owners))
	for i, owner := range owners {
		call := map[string]any{"to": token, "input": hexutil.Bytes(balanceCall(owner))}
		elems[i] = rpc.BatchElem{Method: "eth_call", Args: []any{call, hexutil.EncodeUint64(height)}, Result: &answers[i]}
	}
	if err := n.batch(ctx, elems); err != nil {
		return nil, err
	}
	found := make([]uint256.Int, len(owners))
	for i, elem := range elems {
		switch {
		case elem.Error != nil:
			return nil, elem.Error
		case len(answers[i]) != wordSize:
			return nil, fmt.Errorf("%s: token %s answers %d bytes, not %d", n.name, token, len(answers[i]), wordSize)
		}
		found[i].SetBytes(answers[i])
	}
	return found, nil
}
