package cause

import (
	"context"
	"errors"
	"sync"

	"github.com/ethereum/go-ethereum/common/lru"

	"gatewayd/chain"
)

// How many final blocks are kept, and how many transfers of all of them.
const (
	maxBlocks    = 512
	maxTransfers = 100_000
)

// errAbsent says that a block has no such transfer.
var errAbsent = errors.New("no such transfer")

type blockKey struct {
	chain  chain.ID
	height uint64
}

// blocks keeps the transfers of final blocks, which do not change.
type blocks struct {
	mu     sync.Mutex
	kept   lru.BasicLRU[blockKey, map[string]chain.Transfer]
	amount int
}

func newBlocks() *blocks {
	return &blocks{kept: lru.NewBasicLRU[blockKey, map[string]chain.Transfer](maxBlocks)}
}

func (b *blocks) get(k blockKey) (map[string]chain.Transfer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.Get(k)
}

func (b *blocks) put(k blockKey, transfers map[string]chain.Transfer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.kept.Peek(k); ok {
		b.amount -= len(old)
		b.kept.Remove(k)
	}
	for b.kept.Len() > 0 && (b.kept.Len() >= maxBlocks || b.amount+len(transfers) > maxTransfers) {
		_, old, _ := b.kept.RemoveOldest()
		b.amount -= len(old)
	}
	b.kept.Add(k, transfers)
	b.amount += len(transfers)
}

// look is what one group of claims has read: heads once, and each block at most once anew.
type look struct {
	*blocks
	heads map[chain.ID]chain.Head
	away  map[chain.ID]error
	fresh map[blockKey]map[string]chain.Transfer
}

func (c *Checker) look() *look {
	return &look{c.blocks, map[chain.ID]chain.Head{}, map[chain.ID]error{}, map[blockKey]map[string]chain.Transfer{}}
}

func (l *look) head(ctx context.Context, id chain.ID, r Reader) (chain.Head, error) {
	if err := l.away[id]; err != nil {
		return chain.Head{}, err
	}
	if h, ok := l.heads[id]; ok {
		return h, nil
	}
	h, err := r.Head(ctx)
	l.heads[id], l.away[id] = h, err
	return h, err
}

// find answers a transfer of a block. A block that was kept is read again for one that it lacks: it may go to an address that was given out since.
func (l *look) find(ctx context.Context, id chain.ID, r Reader, head chain.Head, height uint64, ref string) (chain.Transfer, error) {
	k := blockKey{id, height}
	transfers, fresh := l.fresh[k]
	if !fresh {
		if kept, ok := l.get(k); ok {
			if t, ok := kept[ref]; ok {
				return t, nil
			}
		}
		var err error
		if transfers, err = l.read(ctx, r, k, head); err != nil {
			return chain.Transfer{}, err
		}
	}
	t, ok := transfers[ref]
	if !ok {
		return t, errAbsent
	}
	return t, nil
}

func (l *look) read(ctx context.Context, r Reader, k blockKey, head chain.Head) (map[string]chain.Transfer, error) {
	if err := l.away[k.chain]; err != nil {
		return nil, err
	}
	block, err := r.Block(ctx, k.height)
	if err != nil {
		l.away[k.chain] = err
		return nil, err
	}
	transfers := make(map[string]chain.Transfer, len(block.Transfers))
	for _, t := range block.Transfers {
		t.Memo.Raw = nil
		transfers[t.Ref] = t
	}
	l.fresh[k] = transfers
	if k.height <= head.Final.Height {
		l.put(k, transfers)
	}
	return transfers, nil
}
