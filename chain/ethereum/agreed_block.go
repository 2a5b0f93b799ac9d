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

// answer is one node's answer to a question to several.
type answer[T any] = quorum.Answer[*node, T]

// majority is the number of nodes that must agree.
func (c *Chain) majority() int { return len(c.nodes)/2 + 1 }

// headerRef is a block as a node names it, without proof.
type headerRef struct {
	Number *hexutil.Uint64 `json:"number"`
	Hash   *common.Hash    `json:"hash"`
	Time   hexutil.Uint64  `json:"timestamp"`
}

func (r *headerRef) check() error {
	if r.Number == nil || r.Hash == nil {
		return errors.New("a block without number or hash")
	}
	return nil
}

func (r *headerRef) point() chain.Point {
	return chain.Point{Height: uint64(*r.Number), Hash: r.Hash.Hex()}
}

// headerAt asks one node for its block at a height; nil when it has none.
func headerAt(ctx context.Context, n *node, height uint64) (*headerRef, error) {
	var ref *headerRef
	once := func() error {
		ref = nil
		err := n.call(ctx, &ref, "eth_getBlockByNumber", hexutil.EncodeUint64(height), false)
		if err == nil && ref == nil {
			err = chain.ErrNotFound
		}
		return err
	}
	err := once()
	if missing(err) && n.announced(height) {
		err = n.again(ctx, once)
	}
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err = ref.check(); err == nil && uint64(*ref.Number) != height {
		err = fmt.Errorf("the node answers block %d", uint64(*ref.Number))
	}
	if err != nil {
		return nil, n.RecordWrong("block", fmt.Errorf("%s: block %d: %w", n.name, height, err))
	}
	return ref, nil
}

// agreeAt is the block at a height on which a majority agrees, and the nodes that have it.
// chain.ErrNotFound: so many nodes have no block there that no majority can be.
func (c *Chain) agreeAt(ctx context.Context, height uint64) (*headerRef, []*node, error) {
	question := func(ctx context.Context, n *node) (*headerRef, error) { return headerAt(ctx, n, height) }
	decided := func(answers []answer[*headerRef]) bool {
		_, _, err := c.count(height, answers)
		return err == nil || errors.Is(err, chain.ErrNotFound)
	}
	answers := quorum.Ask(ctx, c.nodes, question, decided)
	ref, having, err := c.count(height, answers)
	if err == nil {
		blameBeside(ref, answers)
	}
	return ref, having, err
}

// blameBeside counts the blocks of single nodes where a majority has another.
func blameBeside(agreed *headerRef, answers []answer[*headerRef]) {
	for _, a := range answers {
		if a.Err == nil && a.Value != nil && *a.Value.Hash != *agreed.Hash {
			a.Node.RecordMinorityBlock(a.Value.Hash.Hex(), fmt.Errorf("it has %s as block %d, a majority has %s", a.Value.Hash, uint64(*agreed.Number), agreed.Hash))
		}
	}
}

// count finds the majority in the answers about one height.
func (c *Chain) count(height uint64, answers []answer[*headerRef]) (*headerRef, []*node, error) {
	good, faults := quorum.Good(answers)
	missing := 0
	having := make(map[common.Hash][]*node)
	for _, a := range good {
		if a.Value == nil {
			missing++
			continue
		}
		hash := *a.Value.Hash
		having[hash] = append(having[hash], a.Node)
	}
	for _, a := range good {
		if a.Value != nil && len(having[*a.Value.Hash]) >= c.majority() {
			return a.Value, having[*a.Value.Hash], nil
		}
	}
	if missing > len(c.nodes)-c.majority() {
		return nil, nil, fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
	}
	return nil, nil, unavailable(append(faults, fmt.Errorf("block %d: no majority of the nodes agrees", height)))
}
