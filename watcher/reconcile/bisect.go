package reconcile

import (
	"context"
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
)

// maxParts bounds into how many blocks one surplus is split; what is left is put into the last of
// them.
const maxParts = 16

// maxSearch bounds the blocks that are searched for a surplus of an account whose first block is
// not in the records.
const maxSearch = 50_000

// when reports whether coin came before its address was given to a user.
type when int

const (
	after when = iota
	before
	unknown
)

// arrival is coin that came to an account in a block, according to its balances before and after.
type arrival struct {
	height uint64
	amount chain.Amount
	when   when
}

// span is a range of blocks in which a surplus grew from floor to ceiling: above low, up to high.
// lowUnknown: no node has the balance at low any more; the surplus was floor at some block below
// it.
type span struct {
	low, high      uint64
	floor, ceiling chain.Amount
	lowUnknown     bool
}

// search finds the blocks of the surplus of one account: those where the balance grew by more than
// the books contain.
type search struct {
	proposal
	moves  []records.CoinMove // of the account, above the search's lowest block
	lowest uint64
	begun  bool // the account was given to its user at lowest or before
	dated  bool // what is found above lowest is known to have come after that
	open   []span
	parts  []arrival
	wrong  bool // the balances contradict each other
}

// locateArrivals finds the blocks in which several surpluses came, by halving ranges of blocks. All
// are halved in step, so that each step asks the nodes once. A surplus without arrivals (nil) is
// one that the nodes' past balances contradict.
func (a *Auditor) locateArrivals(ctx context.Context, agreed []proposal) ([][]arrival, error) {
	all := make([]*search, len(agreed))
	for i, p := range agreed {
		all[i] = newSearch(p)
	}
	if err := a.readMoves(ctx, all); err != nil {
		return nil, err
	}
	if err := a.begin(ctx, all); err != nil {
		return nil, err
	}
	for {
		var asked []*search
		var moments []chain.Moment
		for _, s := range all {
			for _, sp := range s.open {
				asked, moments = append(asked, s), append(moments, chain.Moment{Account: s.Account, Height: sp.middle()})
			}
		}
		if len(moments) == 0 {
			return partsOf(all), nil
		}
		have, err := a.chain.PastBalances(ctx, moments)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			s.halve(ownAnswers(s, asked, have))
		}
	}
}

func partsOf(all []*search) [][]arrival {
	out := make([][]arrival, len(all))
	for i, s := range all {
		if !s.wrong {
			out[i] = s.parts
		}
	}
	return out
}

func ownAnswers(s *search, asked []*search, have []*chain.Amount) (own []*chain.Amount) {
	for i := range asked {
		if asked[i] == s {
			own = append(own, have[i])
		}
	}
	return own
}

// newSearch begins where the account is known to have fitted, else where its books begin.
func newSearch(p proposal) *search {
	s := &search{proposal: p}
	switch {
	case p.Clean >= 0:
		s.lowest, s.begun, s.dated = uint64(p.Clean), true, true
	case p.look.Since >= 0:
		s.lowest, s.begun = uint64(p.look.Since), true
	default:
		s.lowest = p.Height - min(p.Height, maxSearch)
	}
	return s
}

// readMoves reads the books of the accounts' pasts, once for all.
func (a *Auditor) readMoves(ctx context.Context, all []*search) error {
	if len(all) == 0 {
		return nil
	}
	of := make(map[string]*search, len(all))
	var accounts []string
	lowest, highest := all[0].lowest, all[0].height
	for _, s := range all {
		of[s.Account] = s
		accounts = append(accounts, s.Account)
		lowest, highest = min(lowest, s.lowest), max(highest, s.height)
	}
	return a.Store.View(ctx, func(tx *records.Tx) error {
		moves, err := tx.Balances().CoinMoves(a.id, lowest, highest, accounts)
		for _, m := range moves {
			if s := of[m.Account]; m.Height <= s.height && int64(m.Height) > s.look.Since {
				s.moves = append(s.moves, m)
			}
		}
		return err
	})
}

// begin asks for the balances at the searches' lowest blocks. An account that fitted there must
// have no surplus there now.
func (a *Auditor) begin(ctx context.Context, all []*search) error {
	if len(all) == 0 {
		return nil
	}
	moments := make([]chain.Moment, len(all))
	for i, s := range all {
		moments[i] = chain.Moment{Account: s.Account, Height: s.lowest}
	}
	have, err := a.chain.PastBalances(ctx, moments)
	if err != nil {
		return fmt.Errorf("reading the balances where accounts began: %w", err)
	}
	for i, s := range all {
		s.begin(have[i])
	}
	return nil
}

func (s *search) begin(have *chain.Amount) {
	first := span{low: s.lowest, high: s.Height, ceiling: s.Amount}
	if have == nil {
		first.lowUnknown = true
		s.add(first)
		return
	}
	floor, ok := s.surplus(s.lowest, *have)
	first.floor, s.wrong = floor, !ok || s.dated && !floor.IsZero()
	switch {
	case s.wrong || floor.IsZero():
	case s.begun:
		s.parts = append(s.parts, arrival{s.lowest, floor, before})
	default:
		s.parts = append(s.parts, arrival{s.lowest, floor, unknown})
	}
	s.add(first)
}

// surplus returns an account's excess after a block over the books of that block.
func (s *search) surplus(height uint64, have chain.Amount) (chain.Amount, bool) {
	books, err := s.look.Holding, error(nil)
	for _, m := range s.moves {
		if m.Height > height && err == nil {
			books, err = books.Without(m)
		}
	}
	if err != nil {
		return chain.Amount{}, false
	}
	surplus, shortage, err := books.Compare(have)
	return surplus, err == nil && shortage.IsZero()
}

func (sp span) middle() uint64 { return sp.low + (sp.high-sp.low)/2 }

// add keeps a range in which something came: as a part if it is one block, or if there are enough
// parts already.
func (s *search) add(sp span) {
	grown, err := sp.ceiling.Sub(sp.floor)
	switch {
	case err != nil:
		s.wrong = true
	case grown.IsZero():
	case sp.high <= sp.low+1 || len(s.parts)+len(s.open) >= maxParts:
		part := arrival{sp.high, grown, unknown}
		if s.dated || s.begun && !sp.lowUnknown {
			part.when = after
		}
		s.parts = append(s.parts, part)
	default:
		s.open = append(s.open, sp)
	}
}

// halve splits each open range at its middle by the balance there.
func (s *search) halve(have []*chain.Amount) {
	spans := s.open
	s.open = nil
	for i, sp := range spans {
		if s.wrong {
			return
		}
		middle := sp.middle()
		if have[i] == nil {
			sp.low, sp.lowUnknown = middle, true
			s.add(sp)
			continue
		}
		there, ok := s.surplus(middle, *have[i])
		if !ok {
			s.wrong = true
			return
		}
		s.add(span{sp.low, middle, sp.floor, there, sp.lowUnknown})
		s.add(span{middle, sp.high, there, sp.ceiling, false})
	}
}
