package node

import (
	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// View reads one moment of the chain. It is valid inside the function that Read calls.
type View struct {
	s        *state
	unsigned []func(core.PrivateKey) // signatures of the producer to make after the lock is given back
}

// Read calls f with a view of one moment of the chain; several reads inside f fit each other. The view must not be used
// after f; what it returned may be kept, and is complete (producer's signatures) once Read has returned. f must not call
// the node. A view may show changes that are still on their way to the disk; events never do.
func (n *Node) Read(f func(v *View)) {
	v := n.read(f)
	for _, sign := range v.unsigned {
		sign(n.rules.producer)
	}
}

func (n *Node) read(f func(v *View)) *View {
	n.mu.RLock()
	defer n.mu.RUnlock()
	v := &View{s: n.state}
	f(v)
	return v
}

// Head is the latest snapshot block.
func (v *View) Head() Point { return v.s.latest().Point }

// AccountHead is the newest block of the account, in a snapshot or not; nil if it has none.
func (v *View) AccountHead(a core.Address) *Block { return v.block(v.s.accounts[a].head()) }

// BlockByHash is any account block, sends inside contract receives included; nil if unknown.
func (v *View) BlockByHash(h core.Hash) *Block { return v.block(v.s.blocks[h]) }

// BlockByHeight is nil beyond the end and for 0.
func (v *View) BlockByHeight(a core.Address, height uint64) *Block {
	acc := v.s.accounts[a]
	if acc == nil || height < 1 || height > uint64(len(acc.blocks)) {
		return nil
	}
	return v.block(acc.blocks[height-1])
}

// Blocks lists up to count blocks newest first, from the origin (included; nil: the newest) on, only those that move
// token unless that is nil. Empty if there are none; an origin that is not a block of the account's chain is ErrNoBlock.
func (v *View) Blocks(a core.Address, origin *core.Hash, token *core.TokenID, count int) ([]*Block, error) {
	acc := v.s.accounts[a]
	from := acc.tip().Height
	if origin != nil {
		e := v.s.blocks[*origin]
		if e == nil || e.block.Address != a || e.block.Height == 0 {
			return nil, ErrNoBlock
		}
		from = e.block.Height
	}
	var list []*Block
	for h := from; h > 0 && len(list) < count; h-- {
		e := acc.blocks[h-1]
		if token == nil || acc.concerns(e, *token) {
			list = append(list, v.block(e))
		}
	}
	return list, nil
}

// concerns tells whether the block moves the token. A genesis receive concerns each token that it credits.
func (a *account) concerns(e *entry, token core.TokenID) bool {
	if e.block.BlockType == core.GenesisReceive {
		_, had := a.balanceAt(token, 1)
		return had
	}
	return e.moves().Token == token
}

// BlockPage lists one page (from 0) of the blocks newest first; empty beyond the end.
func (v *View) BlockPage(a core.Address, page, size int) []*Block {
	acc := v.s.accounts[a]
	if acc == nil {
		return nil
	}
	from, to := pageOf(page, size, len(acc.blocks))
	var list []*Block
	for i := from; i < to; i++ {
		list = append(list, v.block(acc.blocks[len(acc.blocks)-1-i]))
	}
	return list
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
	n := v.s.snapshots[snapshot]
	if n == nil {
		return nil, ErrNoSnapshot
	}
	found := map[core.TokenID]uint256.Int{}
	acc := v.s.accounts[a]
	if acc == nil {
		return found, nil
	}
	for _, id := range tokens {
		if past, had := acc.balanceAt(id, n.Height); had {
			found[id] = past.amount
		}
	}
	return found, nil
}
