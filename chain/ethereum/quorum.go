package ethereum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"gatewayd/chain"
)

// grace is how long slower nodes are waited for when enough of them have answered already.
const grace = time.Second

// answer is what one node said to a question that all were asked.
type answer[T any] struct {
	node  *node
	value T
	err   error
}

// ask puts a question to all nodes at once. It ends when all have answered, or a moment after enough have; nodes that were too slow are
// missing in the answers. No goroutine outlives it.
func ask[T any](ctx context.Context, nodes []*node, question func(context.Context, *node) (T, error), enough func([]answer[T]) bool) []answer[T] {
	ctx, cancel := context.WithCancel(ctx)
	incoming := make(chan answer[T], len(nodes)) // room for every answer, so that nobody waits for a reader
	for _, n := range nodes {
		go func() {
			value, err := question(ctx, n)
			incoming <- answer[T]{n, value, err}
		}()
	}
	answers := make([]answer[T], 0, len(nodes))
	var slow <-chan time.Time
	running := len(nodes)
	for done := false; running > 0 && !done; {
		select {
		case a := <-incoming:
			running--
			answers = append(answers, a)
			if slow == nil && enough(answers) {
				slow = time.After(grace)
			}
		case <-slow:
			done = true
		}
	}
	cancel()
	for range running {
		<-incoming
	}
	return answers
}

// never waits for every node.
func never[T any]([]answer[T]) bool { return false }

// succeeded keeps the answers without an error, and collects the errors.
func succeeded[T any](answers []answer[T]) (good []answer[T], faults []error) {
	for _, a := range answers {
		if a.err != nil {
			faults = append(faults, a.err)
			continue
		}
		good = append(good, a)
	}
	return good, faults
}

// majority is how many nodes must say the same.
func (c *Chain) majority() int { return len(c.nodes)/2 + 1 }

// answered is true when a majority gave some answer.
func answered[T any](majority int) func([]answer[T]) bool {
	return func(answers []answer[T]) bool {
		good, _ := succeeded(answers)
		return len(good) >= majority
	}
}

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
	if err := n.call(ctx, &ref, "eth_getBlockByNumber", hexutil.EncodeUint64(height), false); err != nil {
		if classify(err) == verdictUnknownBlock {
			return nil, nil
		}
		return nil, err
	}
	if ref == nil {
		return nil, nil
	}
	if err := ref.check(); err != nil {
		return nil, fmt.Errorf("%s: block %d: %w", n.name, height, err)
	}
	if uint64(*ref.Number) != height {
		return nil, fmt.Errorf("%s: block %d: the node answers block %d", n.name, height, uint64(*ref.Number))
	}
	return ref, nil
}

// agreeAt is the block at a height on which a majority agrees, and the nodes that have it. chain.ErrNotFound: so many nodes have no block
// there that no majority can be.
func (c *Chain) agreeAt(ctx context.Context, height uint64) (*headerRef, []*node, error) {
	question := func(ctx context.Context, n *node) (*headerRef, error) { return headerAt(ctx, n, height) }
	decided := func(answers []answer[*headerRef]) bool {
		_, _, err := c.count(height, answers)
		return err == nil || errors.Is(err, chain.ErrNotFound)
	}
	return c.count(height, ask(ctx, c.nodes, question, decided))
}

// count finds the majority in the answers about one height.
func (c *Chain) count(height uint64, answers []answer[*headerRef]) (*headerRef, []*node, error) {
	good, faults := succeeded(answers)
	missing := 0
	having := make(map[common.Hash][]*node)
	for _, a := range good {
		if a.value == nil {
			missing++
			continue
		}
		hash := *a.value.Hash
		having[hash] = append(having[hash], a.node)
	}
	for _, a := range good {
		if a.value != nil && len(having[*a.value.Hash]) >= c.majority() {
			return a.value, having[*a.value.Hash], nil
		}
	}
	if missing > len(c.nodes)-c.majority() {
		return nil, nil, fmt.Errorf("block %d: %w", height, chain.ErrNotFound)
	}
	return nil, nil, unavailable(append(faults, fmt.Errorf("block %d: no majority of the nodes agrees", height)))
}
