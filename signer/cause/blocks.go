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

// errAbsent means that a block has no such transfer.
var errAbsent = errors.New("no such transfer")

type blockKey struct {
	chain  chain.ID
	height uint64
}

// blockCache keeps the transfers of final blocks, which do not change.
type blockCache struct {
	mu     sync.Mutex
	cache  lru.BasicLRU[blockKey, map[string]chain.Transfer]
	amount int
}

func newBlockCache() *blockCache {
	return &blockCache{cache: lru.NewBasicLRU[blockKey, map[string]chain.Transfer](maxBlocks)}
}

func (b *blockCache) get(k blockKey) (map[string]chain.Transfer, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cache.Get(k)
}

func (b *blockCache) put(k blockKey, transfers map[string]chain.Transfer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old, ok := b.cache.Peek(k); ok {
		b.amount -= len(old)
		b.cache.Remove(k)
	}
	for b.cache.Len() > 0 && (b.cache.Len() >= maxBlocks || b.amount+len(transfers) > maxTransfers) {
		_, old, _ := b.cache.RemoveOldest()
		b.amount -= len(old)
	}
	b.cache.Add(k, transfers)
	b.amount += len(transfers)
}

// blockReads caches the reads of one group of claims: each chain's head once, and each block at
// most once.
type blockReads struct {
	*blockCache
	heads       map[chain.ID]chain.Head
	unreachable map[chain.ID]error
	readNow     map[blockKey]map[string]chain.Transfer
	balances    map[chain.ID]map[chain.Moment]chain.Amount
}

func (c *Checker) newReads() *blockReads {
	return &blockReads{c.blocks, map[chain.ID]chain.Head{}, map[chain.ID]error{}, map[blockKey]map[string]chain.Transfer{}, map[chain.ID]map[chain.Moment]chain.Amount{}}
}

func (l *blockReads) head(ctx context.Context, id chain.ID, r Reader) (chain.Head, error) {
	if err := l.unreachable[id]; err != nil {
		return chain.Head{}, err
	}
	if h, ok := l.heads[id]; ok {
		return h, nil
	}
	h, err := r.Head(ctx)
	l.heads[id], l.unreachable[id] = h, err
	return h, err
}

// find returns a transfer of a block. A cached block that lacks it is read again: the transfer may
// go to an address that was given out since.
func (l *blockReads) find(ctx context.Context, id chain.ID, r Reader, head chain.Head, height uint64, ref string) (chain.Transfer, error) {
	k := blockKey{id, height}
	transfers, known := l.readNow[k]
	if !known {
		if cached, ok := l.get(k); ok {
			if t, ok := cached[ref]; ok {
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

func (l *blockReads) read(ctx context.Context, r Reader, k blockKey, head chain.Head) (map[string]chain.Transfer, error) {
	if err := l.unreachable[k.chain]; err != nil {
		return nil, err
	}
	block, err := r.Block(ctx, k.height)
	if err != nil {
		l.unreachable[k.chain] = err
		return nil, err
	}
	transfers := make(map[string]chain.Transfer, len(block.Transfers))
	for _, t := range block.Transfers {
		t.Memo.Raw = nil
		transfers[t.Ref] = t
	}
	l.readNow[k] = transfers
	if k.height <= head.Final.Height {
		l.put(k, transfers)
	}
	return transfers, nil
}

// balance reads the balance of an account once for a group.
func (l *blockReads) balance(ctx context.Context, r chain.ProvenBalanceReader, at chain.Moment, id chain.ID) (chain.Amount, error) {
	if err := l.unreachable[id]; err != nil {
		return chain.Amount{}, err
	}
	if known, ok := l.balances[id][at]; ok {
		return known, nil
	}
	balance, err := r.ProvenBalance(ctx, at.Height, at.Account)
	if err != nil {
		if !errors.Is(err, chain.ErrNotFound) {
			l.unreachable[id] = err
		}
		return balance, err
	}
	if l.balances[id] == nil {
		l.balances[id] = map[chain.Moment]chain.Amount{}
	}
	l.balances[id][at] = balance
	return balance, nil
}
