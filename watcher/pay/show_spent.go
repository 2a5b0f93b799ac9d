package pay

import (
	"context"
	"fmt"
	"sync"

	"gatewayd/chain"
	"gatewayd/records"
)

// maxSpentBlocks bounds how many blocks are shown to the signer for one address at a time. The rest
// follows when it is asked again.
const maxSpentBlocks = 64

// spentShown is the signer's progress in reading the payments of deposit addresses.
type spentShown struct {
	mu   sync.Mutex
	next map[depositAddress]uint64 // number of the first transaction that it has not read
}

type depositAddress struct {
	chain   chain.ID
	address string
}

// showSpent lets the signer read the blocks in which deposit addresses have paid, for payments that
// it holds as unproven, and returns the indexes of those with new reads. The balance of an address
// alone does not show the arrivals when some of it was swept.
func (ps *Payers) showSpent(ctx context.Context, causes map[int]records.Transfer) (read []int, err error) {
	tried := map[depositAddress]bool{}
	for i, t := range causes {
		at := depositAddress{t.Chain, t.To}
		if t.Direction != records.Deposit || t.Asset != chain.Native {
			continue
		}
		if shown, asked := tried[at]; asked {
			if shown {
				read = append(read, i)
			}
			continue
		}
		if tried[at], err = ps.showSpentAt(ctx, at); err != nil {
			return nil, err
		}
		if tried[at] {
			read = append(read, i)
		}
	}
	return read, nil
}

// showSpentAt reports whether the signer has read any block. One that its nodes do not have yet is
// shown again later.
func (ps *Payers) showSpentAt(ctx context.Context, at depositAddress) (read bool, err error) {
	ps.spent.mu.Lock()
	next := ps.spent.next[at]
	ps.spent.mu.Unlock()
	var list []records.OwnTx
	err = ps.deps.Store.View(ctx, func(tx *records.Tx) (err error) {
		list, err = tx.OwnTxs().Of(at.chain, at.address, next, maxSpentBlocks)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("reading what %s has paid: %w", at.address, err)
	}
	for _, own := range list {
		if err := ps.deps.Signer.ReadOutcomes(ctx, at.chain, own.Height); err != nil {
			if ctx.Err() != nil {
				return false, err
			}
			ps.deps.Log.WithField("chain", at.chain).WithField("height", own.Height).WithError(err).Warn("showing the signer what a deposit address has paid")
			break
		}
		next, read = own.Number+1, true
	}
	ps.spent.mu.Lock()
	defer ps.spent.mu.Unlock()
	if ps.spent.next == nil {
		ps.spent.next = map[depositAddress]uint64{}
	}
	ps.spent.next[at] = max(ps.spent.next[at], next)
	return read, nil
}
