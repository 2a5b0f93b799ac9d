package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// maxWalk bounds the depth of a disagreement of the nodes below the top, beyond which there is no
// head.
const maxWalk = 32

// view is one node's position.
type view struct {
	latest *headerRef
	final  *headerRef // by the node's tag; nil when it has no such block yet: then the first block of the chain is final
}

func (v view) latestHeight() uint64 { return uint64(*v.latest.Number) }

func (v view) finalHeight() uint64 {
	if v.final == nil {
		return 0
	}
	return uint64(*v.final.Number)
}

// at is the block that a view has at a height, if it is one of its two.
func (v view) at(height uint64) *headerRef {
	if v.latestHeight() == height {
		return v.latest
	}
	if v.final != nil && v.finalHeight() == height {
		return v.final
	}
	return nil
}

// key is equal for nodes at the same position.
func (v view) key() (key struct{ latest, final common.Hash }) {
	key.latest = *v.latest.Hash
	if v.final != nil {
		key.final = *v.final.Hash
	}
	return key
}

// Head returns the highest block that a majority of the nodes has and agrees on, and the highest
// final one likewise. With a count of confirmations the final block is counted down from the agreed
// latest one. Nothing is remembered: a final point that the nodes take back is gone from the next
// answer, and whether that contradicts what was settled the records know.
func (c *Chain) Head(ctx context.Context) (chain.Head, error) {
	c = c.current()
	answers := quorum.Ask(ctx, c.nodes, c.viewOf, quorum.Same[*node](c.majority(), view.key))
	views, faults := quorum.Good(answers)
	if len(views) < c.majority() {
		return chain.Head{}, fmt.Errorf("reading the head: %w", unavailable(faults))
	}
	latest, final, err := c.agreedHead(ctx, views)
	if ctx.Err() == nil {
		c.united.Store(err == nil)
	}
	if err != nil {
		return chain.Head{}, err
	}
	blameMinority(views, latest, final)
	c.verifyPayouts(ctx, uint64(*final.Number))
	return chain.Head{Latest: latest.point(), Final: final.point(), Time: time.Unix(int64(latest.Time), 0).UTC()}, nil
}

func (c *Chain) agreedHead(ctx context.Context, views []answer[view]) (latest, final *headerRef, err error) {
	if latest, err = c.agreedBelow(ctx, views, nthHighest(views, c.majority(), view.latestHeight)); err != nil {
		return nil, nil, fmt.Errorf("agreeing on the head: %w", err)
	}
	if final, err = c.finalBlock(ctx, views, uint64(*latest.Number)); err != nil {
		return nil, nil, fmt.Errorf("agreeing on the final block: %w", err)
	}
	return latest, final, nil
}

// checkCommonBlock returns an error unless the nodes agree on a block. On different branches, two
// nodes may report the same balance by chance, and a majority's answer then belongs to no block. It
// uses the last Head. If that found no common block, and before the first, it asks the nodes.
func (c *Chain) checkCommonBlock(ctx context.Context) error {
	if len(c.nodes) == 1 || c.united.Load() {
		return nil
	}
	_, err := c.Head(ctx)
	return err
}

// farAhead is the lead in blocks over a majority from which a node counts as wrong rather than
// fast.
const farAhead = 256

// blameMinority counts the answers of single nodes that differ from the majority's.
func blameMinority(views []answer[view], latest, final *headerRef) {
	for _, a := range views {
		for _, agreed := range []*headerRef{latest, final} {
			blameBeside(agreed, []answer[*headerRef]{{Node: a.Node, Value: a.Value.at(uint64(*agreed.Number))}})
		}
		if top := a.Value.latestHeight(); top > uint64(*latest.Number)+farAhead {
			a.Node.RecordWrong("head", fmt.Errorf("it reports latest block %d, a majority %d", top, uint64(*latest.Number)))
		}
		if top := a.Value.finalHeight(); top > uint64(*final.Number)+farAhead {
			a.Node.RecordWrong("final", fmt.Errorf("it reports final block %d, a majority %d", top, uint64(*final.Number)))
		}
	}
}

// viewOf asks for a node's position. A node that has shown a latest and a final block before is
// asked again while one of them is missing.
func (c *Chain) viewOf(ctx context.Context, n *node) (v view, err error) {
	once := func() error {
		v, err = c.viewOnce(ctx, n)
		if err == nil && v.final == nil && n.hasFinal.Load() {
			return chain.ErrNotFound
		}
		return err
	}
	if n.announced(1) {
		_ = n.again(ctx, once) // v and err are those of the last try
	} else {
		_ = once()
	}
	if errors.Is(err, errNoLatest) {
		return view{}, n.RecordWrong("head", err)
	}
	return v, err
}

var errNoLatest = errors.New("no latest block")

// viewOnce asks for chain id, latest and final block in one request, so that the three belong
// together.
func (c *Chain) viewOnce(ctx context.Context, n *node) (view, error) {
	var id hexutil.Uint64
	var latest, final *headerRef
	elems := []rpc.BatchElem{
		{Method: "eth_chainId", Result: &id},
		{Method: "eth_getBlockByNumber", Args: []any{"latest", false}, Result: &latest},
	}
	if c.tag != "" {
		elems = append(elems, rpc.BatchElem{Method: "eth_getBlockByNumber", Args: []any{c.tag, false}, Result: &final})
	}
	if err := n.batch(ctx, elems); err != nil {
		return view{}, err
	}
	if err := errors.Join(elems[0].Error, elems[1].Error); err != nil {
		return view{}, err
	}
	if err := n.checkChain(uint64(id)); err != nil {
		return view{}, err
	}
	return c.readView(n, elems, latest, final)
}

func (c *Chain) readView(n *node, elems []rpc.BatchElem, latest, final *headerRef) (view, error) {
	if latest == nil {
		return view{}, fmt.Errorf("%s: %w", n.name, errNoLatest)
	}
	if err := latest.check(); err != nil {
		return view{}, n.RecordWrong("head", fmt.Errorf("%s: latest: %w", n.name, err))
	}
	n.RecordHead(uint64(*latest.Number), time.Unix(int64(latest.Time), 0).UTC())
	v := view{latest: latest}
	if c.tag == "" {
		return v, nil
	}
	if err := elems[2].Error; err != nil && classify(err) != verdictUnknownBlock {
		return view{}, err
	}
	if final == nil {
		return v, nil
	}
	if err := final.check(); err != nil {
		return view{}, n.RecordWrong("final", fmt.Errorf("%s: %s: %w", n.name, c.tag, err))
	}
	if *final.Number > *latest.Number {
		return view{}, n.RecordWrong("final", fmt.Errorf("%s: its %s block %d is above its latest block %d", n.name, c.tag, uint64(*final.Number), uint64(*latest.Number)))
	}
	v.final = final
	n.hasFinal.Store(true)
	return v, nil
}

// nthHighest is the highest number that n of the views reach.
func nthHighest(views []answer[view], n int, of func(view) uint64) uint64 {
	numbers := make([]uint64, len(views))
	for i, v := range views {
		numbers[i] = of(v.Value)
	}
	slices.Sort(numbers)
	return numbers[len(numbers)-n]
}

// agreedBelow descends from a height, further with each step, to a block on which a majority
// agrees: at the top of a chain nodes differ for a moment. Where they differ for long, each check
// of the head asks them a few times only.
func (c *Chain) agreedBelow(ctx context.Context, views []answer[view], height uint64) (*headerRef, error) {
	for step := uint64(0); ; step = max(1, 2*step) {
		ref, err := c.agreed(ctx, views, height-step)
		if err == nil || len(c.nodes) == 1 || ctx.Err() != nil || max(1, 2*step) > min(maxWalk, height) {
			return ref, err
		}
	}
}

// agreed returns the block at a height on which a majority agrees, from the views if they suffice,
// else by asking. A block that is missing now is chain.ErrUnavailable: the nodes have just reported
// it.
func (c *Chain) agreed(ctx context.Context, views []answer[view], height uint64) (*headerRef, error) {
	known := make([]answer[*headerRef], 0, len(views))
	for _, v := range views {
		if ref := v.Value.at(height); ref != nil {
			known = append(known, answer[*headerRef]{Node: v.Node, Value: ref})
		}
	}
	if ref, _, err := c.count(height, known); err == nil {
		return ref, nil
	}
	ref, _, err := c.agreeAt(ctx, height)
	if errors.Is(err, chain.ErrNotFound) {
		return nil, unavailable([]error{err})
	}
	return ref, err
}

// finalBlock is the agreed final block.
func (c *Chain) finalBlock(ctx context.Context, views []answer[view], latest uint64) (*headerRef, error) {
	height := uint64(0)
	if c.tag != "" {
		height = min(latest, nthHighest(views, c.majority(), view.finalHeight))
	} else if latest+1 > c.confirmations {
		height = latest + 1 - c.confirmations
	}
	return c.agreed(ctx, views, height)
}

// BlockInterval returns the usual time between two blocks, from the newest ones. The first block's
// time is artificial and does not count. chain.ErrNotFound: there are too few blocks.
func (c *Chain) BlockInterval(ctx context.Context) (time.Duration, error) {
	c = c.current()
	head, err := c.Head(ctx)
	if err != nil {
		return 0, fmt.Errorf("time between blocks: %w", err)
	}
	return chain.UsualInterval(1, head.Latest.Height, func(height uint64) (time.Time, error) {
		if height == head.Latest.Height {
			return head.Time, nil
		}
		ref, _, err := c.agreeAt(ctx, height)
		if err != nil {
			return time.Time{}, err
		}
		return time.Unix(int64(ref.Time), 0), nil
	})
}
