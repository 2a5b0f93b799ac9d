package ethereum

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"gatewayd/chain"
)

// Broadcast hands the bytes of an attempt to all nodes. Nil means that one of them says it has the transaction, now or already; an error
// tells what each said. Neither decides anything: a node may forget, lie, or be cut off after it took the bytes.
func (c *Chain) Broadcast(ctx context.Context, a chain.Attempt) error {
	tx, err := readAttempt(a)
	if err != nil {
		return fmt.Errorf("broadcasting: %w", err)
	}
	if tx.ChainId().Uint64() != c.config.ChainID {
		return fmt.Errorf("broadcasting %s: it is of chain %s", a.Hash, tx.ChainId())
	}
	question := func(ctx context.Context, n *node) (struct{}, error) {
		return struct{}{}, send(ctx, n, a.Raw, tx.Hash())
	}
	good, faults := succeeded(ask(ctx, c.nodes, question, never))
	if len(good) > 0 {
		return nil
	}
	return fmt.Errorf("broadcasting %s: %w", a.Hash, unavailable(faults))
}

// send hands bytes to one node.
func send(ctx context.Context, n *node, raw []byte, want common.Hash) error {
	var got common.Hash
	err := n.call(ctx, &got, "eth_sendRawTransaction", hexutil.Bytes(raw))
	if err == nil && got != want {
		return fmt.Errorf("%s: %w: it answers the hash %s", n.name, errors.New("took other bytes"), got)
	}
	if err == nil {
		return nil
	}
	switch v := classify(err); v {
	case verdictKnown:
		return nil
	case verdictTransport, verdictOther:
		return err
	default:
		return fmt.Errorf("%s: %w", v, err)
	}
}
