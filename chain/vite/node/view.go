package node

import (
	"fmt"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// View reads one moment of the chain. It is valid inside the function that Read calls.
type View struct {
	n        *Node
	s        *state
	unsigned []func(core.PrivateKey) // signatures of the producer to make after the lock is given back
	err      error                   // of reading the history
}

// Read calls f with a view of one moment of the chain; several reads inside f fit each other, but that the chain may go on
// while one of them looks up old blocks on the disk. The view must not be used after f; what it returned may be kept, and
// is complete (producer's signatures) once Read has returned nil. f must not call the node. A view may show changes that
// are still on their way to the disk; events never do. An error is a fault of the disk, or ErrClosed.
func (n *Node) Read(f func(v *View)) error {
	v := n.read(f)
	if v.err != nil {
		return v.err
	}
	for _, sign := range v.unsigned {
		sign(n.rules.producer)
	}
	return nil
}

func (n *Node) read(f func(v *View)) *View {
	n.mu.RLock()
	defer n.mu.RUnlock()
	v := &View{n: n, s: n.state}
	f(v)
	return v
}

// past reads the history, and lets the chain go on meanwhile.
func (v *View) past(f func(h *history) error) {
	if v.err == nil {
		v.err = v.unlocked(func() error { return v.n.history.read(f) })
	}
}

// maxRecalls is more often than a block can be overtaken.
const maxRecalls = 3

// recall reads blocks from the history, again if one of them was overtaken meanwhile: unreceived there, and no longer in
// memory as the unreceived are, because its receive has left memory.
func (v *View) recall(read func(h *history) ([]*entry, error)) []*entry {
	for range maxRecalls {
		var list []*entry
		v.past(func(h *history) (err error) { list, err = read(h); return err })
		if v.err != nil {
			return nil
		}
		if !slices.ContainsFunc(list, v.overtaken) {
			return list
		}
	}
	v.err = fmt.Errorf("%w: the history lacks who received a send", ErrCorrupt)
	return nil
}

func (v *View) overtaken(e *entry) bool {
	if e == nil {
		return false
	}
	return e.block.IsSend() && e.receive == nil && v.s.blocks[e.block.Hash] == nil || slices.ContainsFunc(e.triggered, v.overtaken)
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
func (v *View) Head() Point { return v.s.latest().Point }

// Tip is the height and hash of the account's newest block, in a snapshot or not; zero if it has none.
func (v *View) Tip(a core.Address) BlockID { return v.s.accounts[a].tip() }

// AccountHead is the newest block of the account, in a snapshot or not; nil if it has none.
func (v *View) AccountHead(a core.Address) *Block { return v.BlockByHeight(a, v.Tip(a).Height) }

// BlockByHash is any account block, sends inside contract receives included; nil if unknown.
func (v *View) BlockByHash(h core.Hash) *Block {
	if e := v.s.blocks[h]; e != nil {
		return v.block(e)
	}
	found := v.recall(func(p *history) ([]*entry, error) {
		e, err := p.find(h)
		return []*entry{e}, err
	})
	if len(found) == 0 {
		return nil
	}
	return v.block(found[0])
}

// BlockByHeight is nil beyond the end and for 0.
func (v *View) BlockByHeight(a core.Address, height uint64) *Block {
	if height < 1 || height > v.Tip(a).Height {
		return nil
	}
	if list := v.down(a, height, nil, 1); len(list) > 0 {
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

// hostHeight is where the receive stands that made a send.
func (v *View) hostHeight(h core.Hash) (height uint64) {
	if e := v.s.blocks[h]; e != nil {
		return e.at.height
	}
	v.past(func(p *history) error {
		at, err := p.whereabouts(h)
		if at != nil {
			height = at.at.height
		}
		return err
	})
	return height
}

// BlocksBetween lists the blocks from one height to another, both included, newest first; empty beyond the end.
func (v *View) BlocksBetween(a core.Address, from, to uint64) []*Block {
	from, to = max(from, 1), min(to, v.Tip(a).Height)
	if from > to {
		return nil
	}
	return v.down(a, to, nil, int(to-from)+1)
}

// Blocks lists up to count blocks newest first, from the origin (included; nil: the newest) on, only those that move
// token unless that is nil. Empty if there are none; an origin that is not a block of the account's chain is ErrNoBlock.
func (v *View) Blocks(a core.Address, origin *core.Hash, token *core.TokenID, count int) ([]*Block, error) {
	from := v.Tip(a).Height
	if origin != nil {
		b := v.BlockByHash(*origin)
		if b == nil || b.Address != a || b.Height == 0 {
			return nil, ErrNoBlock
		}
		from = b.Height
	}
	return v.down(a, from, token, count), nil
}

// down lists up to count blocks of an account from a height downwards, only those that move token unless that is nil.
func (v *View) down(a core.Address, from uint64, token *core.TokenID, count int) []*Block {
	var list []*Block
	for from > 0 && len(list) < count && v.err == nil {
		acc := v.s.accounts[a]
		if from = min(from, acc.tip().Height); from == 0 {
			break // taken back meanwhile
		}
		if e := acc.blocks.at(from); e != nil {
			if token == nil || v.concerns(e, *token) {
				list = append(list, v.block(e))
			}
			from--
			continue
		}
		list, from = v.older(list, a, from, token, count)
	}
	return list
}

// older continues a list from the history, and answers the height to go on from.
func (v *View) older(list []*Block, a core.Address, from uint64, token *core.TokenID, count int) ([]*Block, uint64) {
	next := from
	found := v.recall(func(h *history) (found []*entry, err error) {
		next = from
		err = h.down(a, from, func(e *entry) (bool, error) {
			if e.block.Height != next {
				return false, fmt.Errorf("%w: block %d of %s is missing", ErrCorrupt, next, a)
			}
			next--
			if token != nil {
				if wanted, err := h.concerns(e, *token); !wanted || err != nil {
					return true, err
				}
			}
			found = append(found, e)
			return len(list)+len(found) < count, h.link(e)
		})
		return found, err
	})
	if v.err == nil && next == from {
		v.err = fmt.Errorf("%w: block %d of %s is missing", ErrCorrupt, from, a)
	}
	for _, e := range found {
		list = append(list, v.block(e))
	}
	return list, next
}

// concerns tells whether a block in memory moves the token. A genesis receive concerns each token that it credits.
func (v *View) concerns(e *entry, token core.TokenID) bool {
	if e.block.BlockType == core.GenesisReceive {
		_, had := v.balanceAt(e.block.Address, token, 1)
		return had
	}
	return e.moves().Token == token
}

// BlockPage lists one page (from 0) of the blocks newest first; empty beyond the end.
func (v *View) BlockPage(a core.Address, page, size int) []*Block {
	tip := v.Tip(a).Height
	from, to := pageOf(page, size, int(tip))
	return v.down(a, tip-uint64(from), nil, to-from)
}

// pageOf is the range of a page among n items, empty for a page that does not exist.
func pageOf(page, size, n int) (from, to int) {
	if page < 0 || size <= 0 || page > n/size {
		return 0, 0
	}
	return page * size, min((page+1)*size, n)
}

// Unreceived lists one page (from 0) of the sends to the account that it has not received, ordered by hash.
func (v *View) Unreceived(a core.Address, page, size int) []*Block {
	acc := v.s.accounts[a]
	if acc == nil {
		return nil
	}
	from, to := pageOf(page, size, acc.unreceived.Len())
	var list []*Block
	for i := from; i < to; i++ {
		if e, ok := acc.unreceived.GetAt(i); ok {
			list = append(list, v.block(e))
		}
	}
	return list
}

// UnreceivedSummary counts and sums the sends to the account that it has not received. A send without a token counts, but
// sums nowhere.
func (v *View) UnreceivedSummary(a core.Address) AccountInfo {
	info := AccountInfo{Address: a}
	acc := v.s.accounts[a]
	if acc == nil {
		return info
	}
	sums := map[core.TokenID]Balance{}
	acc.unreceived.Scan(func(e *entry) bool {
		info.BlockCount++
		if id := e.block.TokenID; !id.IsZero() {
			sum := sums[id]
			sum.Token = v.Token(id)
			sum.Amount.Add(&sum.Amount, &e.block.Amount)
			sum.Transactions++
			sums[id] = sum
		}
		return true
	})
	for _, id := range sortedTokens(sums) {
		info.Balances = append(info.Balances, sums[id])
	}
	return info
}

// AccountInfo is the account's height and balances.
func (v *View) AccountInfo(a core.Address) AccountInfo {
	info := AccountInfo{Address: a}
	acc := v.s.accounts[a]
	if acc == nil {
		return info
	}
	info.BlockCount = acc.tip().Height
	for _, id := range sortedTokens(acc.balances) {
		info.Balances = append(info.Balances, Balance{Token: v.Token(id), Amount: acc.balances[id]})
	}
	return info
}

// ConfirmedBalances are the balances of an account as of a snapshot block, tokens it never had left out.
// ErrNoSnapshot for an unknown hash.
func (v *View) ConfirmedBalances(
	snapshot core.Hash, a core.Address, tokens []core.TokenID,
) (map[core.TokenID]uint256.Int, error) {
	n := v.sealed(snapshot)
	if n == nil {
		return nil, ErrNoSnapshot
	}
	found := map[core.TokenID]uint256.Int{}
	for _, id := range tokens {
		if past, had := v.balanceAt(a, id, n.Height); had {
			found[id] = past.amount
		}
	}
	return found, nil
}

func (v *View) balanceAt(a core.Address, token core.TokenID, height uint64) (past pastBalance, had bool) {
	acc := v.s.accounts[a]
	if acc == nil {
		return past, false
	}
	if past, had = acc.balanceAt(token, height); !had {
		v.past(func(h *history) (err error) { past, had, err = h.balance(a, token, height); return err })
	}
	return past, had
}
