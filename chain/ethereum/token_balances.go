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

// tokenPage addresses are asked for in one call: balanceOf of a token behind a proxy takes some 10,000 gas, of the 50 million that most nodes give.
const tokenPage = 4_000

// tokenReader is tokenProgram's place in one call; see balanceReader.
const tokenReader = "0x676174657761792d746f6b656e732d2d4c6f6f6b"

// tokenProgram reads a token's address (a word) and addresses of 20 bytes from the calldata and answers a word with what the token says of
// each. It reverts when an answer is not one word. The stack holds where it writes and where it reads:
//
//	        63 70a08231 60e0 1b 6000 52   balanceOf's selector to the start of the memory
//	        6040 6020                     where to write first, where to read first
//	loop:   5b 80 35 6060 1c 6004 52      JUMPDEST DUP1 CALLDATALOAD PUSH 96 SHR PUSH 4 MSTORE     the next address behind the selector
//	        6020 82 6024 6000             room for a word, where to write; 36 bytes from 0
//	        6000 35 5a fa                 PUSH 0 CALLDATALOAD GAS STATICCALL                       the token is asked
//	        3d 6020 14 16 15 6043 57      RETURNDATASIZE PUSH 32 EQ AND ISZERO PUSH fail JUMPI
//	        90 6020 01 90                 where to write next
//	        6014 01                       where to read next
//	        36 81 10 600f 57              CALLDATASIZE DUP2 LT PUSH loop JUMPI
//	        50 6040 90 03 6040 f3         POP PUSH 64 SWAP1 SUB PUSH 64 RETURN                     all that was written
//	fail:   5b 6000 6000 fd               REVERT
const tokenProgram = "0x6370a0823160e01b600052604060205b803560601c60045260208260246000600035" +
	"5afa3d60201416156043579060200190601401368110600f5750604090036040f35b60006000fd"

// HoldingsAt answers what accounts hold of an asset after the block at a final height, in the asset's smallest unit and in their order. A
// majority of the nodes must say the same of each. chain.ErrUnavailable: they do not, or keep no state of that block.
func (c *Chain) HoldingsAt(ctx context.Context, height uint64, asset chain.Asset, accounts []string) ([]chain.Amount, error) {
	if asset == chain.Native {
		return c.BalancesAt(ctx, height, accounts)
	}
	token, err := parseAddress(string(asset))
	if err != nil {
		return nil, fmt.Errorf("balances of asset %q: %w", asset, err)
	}
	owners := make([]common.Address, len(accounts))
	for i, account := range accounts {
		if owners[i], err = parseAddress(account); err != nil {
			return nil, fmt.Errorf("balance of %q: %w", account, err)
		}
	}
	question := func(ctx context.Context, n *node) ([]uint256.Int, error) {
		return n.tokenBalances(ctx, height, token, owners)
	}
	enough := func(answers []answer[[]uint256.Int]) bool {
		_, err := c.elected(answers, len(owners))
		return err == nil
	}
	answers := quorum.Ask(ctx, c.nodes, question, enough)
	all, err := c.elected(answers, len(owners))
	if err != nil {
		_, faults := quorum.Good(answers)
		return nil, fmt.Errorf("reading balances of %s at block %d: %w", asset, height, unavailable(append(faults, err)))
	}
	return all, nil
}

// tokenBalances asks one node, in as few calls as it takes. Where the program cannot run, each account is asked for by itself.
func (n *node) tokenBalances(ctx context.Context, height uint64, token common.Address, owners []common.Address) ([]uint256.Int, error) {
	found := make([]uint256.Int, 0, len(owners))
	for page := range slices.Chunk(owners, tokenPage) {
		words, err := n.tokenWords(ctx, height, token, page)
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

// tokenWords lets the node run tokenProgram.
func (n *node) tokenWords(ctx context.Context, height uint64, token common.Address, owners []common.Address) ([]uint256.Int, error) {
	input := common.LeftPadBytes(token[:], wordSize)
	for _, owner := range owners {
		input = append(input, owner[:]...)
	}
	call := map[string]any{"to": tokenReader, "input": hexutil.Bytes(input)}
	override := map[string]any{tokenReader: map[string]any{"code": tokenProgram}}
	var words []byte
	if err := n.scan(ctx, func(s *scanner) { words = s.bytes() }, "eth_call", call, hexutil.EncodeUint64(height), override); err != nil {
		return nil, err
	}
	if len(words) != len(owners)*wordSize {
		return nil, fmt.Errorf("%s: %w: %d bytes for %d accounts", n.name, errNoOverride, len(words), len(owners))
	}
	found := make([]uint256.Int, 0, len(owners))
	for word := range slices.Chunk(words, wordSize) {
		found = append(found, *new(uint256.Int).SetBytes(word))
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
