package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain/quorum"
)

// party is what one node says of an address.
type party struct {
	contract bool
	sent     uint64
}

// Party tells whether code stands at an address and how many transactions it has sent, as the latest blocks of the nodes have it: the most that
// any of them says, which only ever makes a caller more careful. An account that delegates (EIP-7702) still has its owner's key and is no contract.
func (c *Chain) Party(ctx context.Context, address string) (contract bool, sent uint64, err error) {
	a, err := parseAddress(address)
	if err != nil {
		return false, 0, fmt.Errorf("looking at %q: %w", address, err)
	}
	question := func(ctx context.Context, n *node) (party, error) { return partyAt(ctx, n, a) }
	same := quorum.Same[*node](c.majority(), func(p party) party { return p })
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	if len(good) == 0 {
		return false, 0, fmt.Errorf("looking at %s: %w", address, unavailable(faults))
	}
	for _, g := range good {
		contract, sent = contract || g.Value.contract, max(sent, g.Value.sent)
	}
	return contract, sent, nil
}

func partyAt(ctx context.Context, n *node, a common.Address) (party, error) {
	var code hexutil.Bytes
	var sent hexutil.Uint64
	elems := []rpc.BatchElem{
		{Method: "eth_getCode", Args: []any{a, "latest"}, Result: &code},
		{Method: "eth_getTransactionCount", Args: []any{a, "latest"}, Result: &sent},
	}
	if err := n.batch(ctx, elems); err != nil {
		return party{}, err
	}
	if err := errors.Join(elems[0].Error, elems[1].Error); err != nil {
		return party{}, err
	}
	return party{contract: len(code) > 0 && !bytes.HasPrefix(code, types.DelegationPrefix), sent: uint64(sent)}, nil
}
