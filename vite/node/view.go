package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// View reads one moment of the chain. It is valid inside the function that Read calls.
type View struct {
	n        *Node
	s        *ledger.State
	unsigned []func(core.PrivateKey) // signatures of the producer to make after the lock is given back
	err      error                   // of reading the history
}

// Read calls f with a view of one moment of the chain. Several reads inside f are consistent,
// except that the chain may continue while one of them reads old blocks from the disk. The view
// must not be used after f. Its results may be kept, and are complete (producer's signatures) once
// Read has returned nil. f must not call the node. A view may show changes that are still being
// written to the disk; events never do. An error is a fault of the disk, or ErrClosed.
func (n *Node) Read(f func(v *View)) error {
	v := n.read(f)
	if v.err != nil {
		return v.err
	}
	for _, sign := range v.unsigned {
		sign(n.rules.Producer)
	}
	return nil
}

// Flush returns once everything that views have shown so far is on disk.
func (n *Node) Flush() error { return n.log.Flush() }

func (n *Node) read(f func(v *View)) *View {
	n.mu.RLock()
	defer n.mu.RUnlock()
	v := &View{n: n, s: n.state}
	f(v)
	return v
}

// past reads the history, while the chain continues.
func (v *View) past(f func(h *store.History) error) {
	if v.err == nil {
		v.err = v.unlocked(func() error { return v.n.history.Read(f) })
	}
}

// maxRecalls is more often than a block can be overtaken.
const maxRecalls = 3

// recall reads blocks from the history, again if one of them was overtaken meanwhile: unreceived
// there, and no longer in memory as the unreceived are, because its receive has left memory.
func (v *View) recall(read func(h *store.History) ([]*ledger.Entry, error)) []*ledger.Entry {
	for range maxRecalls {
		var list []*ledger.Entry
		v.past(func(h *store.History) (err error) { list, err = read(h); return err })
		if v.err != nil {
			return nil
		}
		if !slices.ContainsFunc(list, v.overtaken) {
			return list
		}
	}
	v.err = fmt.Errorf("%w: the history lacks who received a send", ledger.ErrCorrupt)
	return nil
}

func (v *View) overtaken(e *ledger.Entry) bool {
	if e == nil {
		return false
	}
	return e.Block.IsSend() && e.Receive == nil && v.s.Blocks[e.Block.Hash] == nil || slices.ContainsFunc(e.Triggered, v.overtaken)
}

func (v *View) unlocked(f func() error) error {
	v.n.mu.RUnlock()
	defer func() {
		v.n.mu.RLock()
		v.s = v.n.state
	}()
	return f()
}

// Head is the latest snapshot block.
func (v *View) Head() ledger.Point { return v.s.Latest().Point }

// HeadID is the height and hash of the account's newest block, in a snapshot or not; zero if it has
// none.
func (v *View) HeadID(a core.Address) ledger.BlockID { return v.s.Accounts[a].Head() }

// AccountHead is the newest block of the account, in a snapshot or not; nil if it has none.
func (v *View) AccountHead(a core.Address) *Block { return v.BlockByHeight(a, v.HeadID(a).Height) }

// BlockByHash is any account block, sends inside contract receives included; nil if unknown.
func (v *View) BlockByHash(h core.Hash) *Block {
	if e := v.s.Blocks[h]; e != nil {
		return v.block(e)
	}
	found := v.recall(func(p *store.History) ([]*ledger.Entry, error) {
		e, err := p.Block(h)
		return []*ledger.Entry{e}, err
	})
	if len(found) == 0 {
		return nil
	}
	return v.block(found[0])
}

// BlockByHeight is nil beyond the end and for 0.
func (v *View) BlockByHeight(a core.Address, height uint64) *Block {
	if height < 1 || height > v.HeadID(a).Height {
		return nil
	}
	if list := v.down(context.Background(), a, height, nil, 1); len(list) > 0 {
		return list[0]
	}
	return nil
}

// HostByHash is BlockByHash, but for a send inside a contract receive that receive.
func (v *View) HostByHash(h core.Hash) *Block {
	b := v.BlockByHash(h)
	if b == nil || b.Height > 0 {
		return b
	}
	return v.BlockByHeight(b.Address, v.hostHeight(h))
}

// hostHeight returns the height of the receive that made a send.
func (v *View) hostHeight(h core.Hash) (height uint64) {
	if e := v.s.Blocks[h]; e != nil {
		return e.At.Height
	}
	v.past(func(p *store.History) error {
		at, err := p.Location(h)
		if at != nil {
			height = at.At.Height
		}
		return err
	})
	return height
}

// BlocksBetween lists the blocks from one height to another, both included, newest first; empty
// beyond the end.
func (v *View) BlocksBetween(a core.Address, from, to uint64) []*Block {
	from, to = max(from, 1), min(to, v.HeadID(a).Height)
	if from > to {
		return nil
	}
	return v.down(context.Background(), a, to, nil, int(to-from)+1)
}

// Blocks lists up to count blocks newest first, from the origin (included; nil: the newest) on,
// only those that move token unless that is nil. Empty if there are none; an origin that is not a
// block of the account's chain is ErrNoBlock. It may scan all blocks of the account; once ctx ends,
// Read returns its error.
func (v *View) Blocks(ctx context.Context, a core.Address, origin *core.Hash, token *core.TokenID, count int) ([]*Block, error) {
	from := v.HeadID(a).Height
	if origin != nil {
		b := v.BlockByHash(*origin)
		if b == nil || b.Address != a || b.Height == 0 {
			return nil, ledger.ErrNoBlock
		}
		from = b.Height
	}
	return v.down(ctx, a, from, token, count), nil
}

// down lists up to count blocks of an account from a height downwards, only those that move token
// unless that is nil.
func (v *View) down(ctx context.Context, a core.Address, from uint64, token *core.TokenID, count int) []*Block {
	var list []*Block
	for from > 0 && len(list) < count && v.goesOn(ctx) {
		acc := v.s.Accounts[a]
		if from = min(from, acc.Head().Height); from == 0 {
			break // taken back meanwhile
		}
		if e := acc.Blocks.At(from); e != nil {
			if token == nil || v.concerns(e, *token) {
				list = append(list, v.block(e))
			}
			from--
			continue
		}
		list, from = v.older(ctx, list, a, from, token, count)
	}
	return list
}

// goesOn is false once ctx or the reading has failed.
func (v *View) goesOn(ctx context.Context) bool {
	if v.err == nil {
		v.err = ctx.Err()
	}
	return v.err == nil
}

// older continues a list from the history, and returns the next height.
func (v *View) older(
	ctx context.Context, list []*Block, a core.Address, from uint64, token *core.TokenID, count int,
) ([]*Block, uint64) {
	next := from
	found := v.recall(func(h *store.History) (found []*ledger.Entry, err error) {
		next = from
		err = h.Down(a, from, func(e *ledger.Entry) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			if e.Block.Height != next {
				return false, fmt.Errorf("%w: block %d of %s is missing", ledger.ErrCorrupt, next, a)
			}
			next--
			if token != nil {
				if wanted, err := h.Concerns(e, *token); !wanted || err != nil {
					return true, err
				}
			}
			found = append(found, e)
			return len(list)+len(found) < count, h.Link(e)
		})
		return found, err
	})
	if v.err == nil && next == from {
		v.err = fmt.Errorf("%w: block %d of %s is missing", ledger.ErrCorrupt, from, a)
	}
	for _, e := range found {
		list = append(list, v.block(e))
	}
	return list, next
}

// concerns reports whether a block in memory moves the token. A genesis receive concerns each token
// that it credits.
func (v *View) concerns(e *ledger.Entry, token core.TokenID) bool {
	if e.Block.BlockType == core.GenesisReceive {
		_, had := v.balanceAt(e.Block.Address, token, 1)
		return had
	}
	return e.Transfer().Token == token
}

// BlockPage lists one page (from 0) of the blocks newest first; empty beyond the end.
func (v *View) BlockPage(a core.Address, page, size int) []*Block {
	tip := v.HeadID(a).Height
	from, to := pageOf(page, size, int(tip))
	return v.down(context.Background(), a, tip-uint64(from), nil, to-from)
}

// pageOf is the range of a page among n items, empty for a page that does not exist.
func pageOf(page, size, n int) (from, to int) {
	if page < 0 || size <= 0 || page > n/size {
		return 0, 0
	}
	return page * size, min((page+1)*size, n)
}

// Unreceived lists one page (from 0) of the sends to the account that it has not received, ordered
// by hash.
func (v *View) Unreceived(a core.Address, page, size int) []*Block {
	acc := v.s.Accounts[a]
	if acc == nil {
		return nil
	}
	from, to := pageOf(page, size, acc.Unreceived.Len())
	var list []*Block
	for i := from; i < to; i++ {
		if e, ok := acc.Unreceived.GetAt(i); ok {
			list = append(list, v.block(e))
		}
	}
	return list
}

// UnreceivedSummary counts and sums the sends to the account that it has not received. A send
// without a token counts, but sums nowhere.
func (v *View) UnreceivedSummary(a core.Address) AccountInfo {
	info := AccountInfo{Address: a}
	acc := v.s.Accounts[a]
	if acc == nil {
		return info
	}
	sums := map[core.TokenID]Balance{}
	acc.Unreceived.Scan(func(e *ledger.Entry) bool {
		info.BlockCount++
		if id := e.Block.TokenID; !id.IsZero() {
			sum, known := sums[id]
			if !known {
				sum.Token = v.Token(id)
			}
			sum.Amount.Add(&sum.Amount, &e.Block.Amount)
			sum.Transactions++
			sums[id] = sum
		}
		return true
	})
	for _, id := range ledger.SortedTokens(sums) {
		info.Balances = append(info.Balances, sums[id])
	}
	return info
}

// AccountInfo is the account's height and balances.
func (v *View) AccountInfo(a core.Address) AccountInfo {
	info := AccountInfo{Address: a}
	acc := v.s.Accounts[a]
	if acc == nil {
		return info
	}
	info.BlockCount = acc.Head().Height
	for _, id := range ledger.SortedTokens(acc.Balances) {
		info.Balances = append(info.Balances, Balance{Token: v.Token(id), Amount: acc.Balances[id]})
	}
	return info
}

// ConfirmedBalances are the balances of an account as of a snapshot block, tokens it never had left
// out. ErrNoSnapshot for an unknown hash.
func (v *View) ConfirmedBalances(
	snapshot core.Hash, a core.Address, tokens []core.TokenID,
) (map[core.TokenID]uint256.Int, error) {
	n := v.sealed(snapshot)
	if n == nil {
		return nil, ledger.ErrNoSnapshot
	}
	found := map[core.TokenID]uint256.Int{}
	for _, id := range tokens {
		if past, had := v.balanceAt(a, id, n.Height); had {
			found[id] = past.Amount
		}
	}
	return found, nil
}

func (v *View) balanceAt(a core.Address, token core.TokenID, height uint64) (past ledger.PastBalance, had bool) {
	acc := v.s.Accounts[a]
	if acc == nil {
		return past, false
	}
	if past, had = acc.BalanceAt(token, height); !had {
		v.past(func(h *store.History) (err error) { past, had, err = h.Balance(a, token, height); return err })
	}
	return past, had
}

// block returns the chain's data of an entry, nil for nil. Memory has more than the history: recent
// receives.
func (v *View) block(e *ledger.Entry) *Block {
	if e == nil {
		return nil
	}
	if newer := v.s.Blocks[e.Block.Hash]; newer != nil {
		e = newer
	}
	own := *e.Block
	b := &Block{
		AccountBlock: &own, Producer: ledger.ProducerOf(&own), Transfer: e.Transfer(),
		QuotaByStake: e.ByStake, TotalQuota: e.Total,
	}
	b.TokenInfo = v.Token(b.Transfer.Token)
	if n := e.Snapshot; n != nil {
		point := n.Point
		b.Snapshot, b.Confirmations = &point, v.s.Height()-n.Height+1
	}
	if e.Receive != nil {
		id := e.Receive.Id()
		b.Received = &id
	}
	own.Triggered = nil
	for _, t := range e.Triggered {
		shown := v.block(t)
		b.Triggered = append(b.Triggered, shown)
		own.Triggered = append(own.Triggered, shown.AccountBlock)
	}
	if own.Signature == nil && own.PublicKey != nil {
		v.unsigned = append(v.unsigned, func(key core.PrivateKey) { own.Signature = key.Sign(own.Hash[:]) })
	}
	return b
}
