package node

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"

	"gatewayd/chain/vite/core"
)

// digest commits to the whole state.
func (s *state) hash() core.Hash {
	w := &writer{}
	w.state(s)
	return blake2b.Sum256(w.data)
}

func (l *ledger) digest() core.Hash {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.state.hash()
}

// checkBooks proves that no token appears or vanishes: what accounts hold and what is on its way is what was issued, less
// what was burnt and, for VITE, less fees.
func (s *state) checkBooks(t require.TestingT, unallocated uint256.Int) {
	sums := map[core.TokenID]*uint256.Int{}
	add := func(id core.TokenID, amount uint256.Int) {
		if sums[id] == nil {
			sums[id] = new(uint256.Int)
		}
		sums[id].Add(sums[id], &amount)
	}
	for _, a := range s.accounts {
		for id, amount := range a.balances {
			add(id, amount)
		}
		a.unreceived.Scan(func(e *entry) bool {
			add(e.block.TokenID, e.block.Amount)
			// A fee is burnt with the send and comes back if the contract refuses.
			return true
		})
	}
	add(core.VITE, s.fees)
	add(core.VITE, unallocated)
	for id, token := range s.tokens {
		sum := sums[id]
		if sum == nil {
			sum = new(uint256.Int)
		}
		require.Equal(t, token.TotalSupply.Dec(), sum.Dec(), "books of %s", token.Symbol)
	}
}

// checkLinks proves that what follows from the state file is what the state keeps.
func (s *state) checkLinks(t require.TestingT) {
	w := &writer{}
	w.state(s)
	r := &reader{data: w.data}
	again := r.state(s.rules)
	require.NoError(t, r.err)
	require.Empty(t, r.data)
	require.Equal(t, s.hash(), again.hash())
	require.Equal(t, s.symbols, again.symbols)
	require.Equal(t, s.latest().Point, again.latest().Point)
	require.Equal(t, s.latest().content, again.latest().content)
	for address, a := range s.accounts {
		require.Equal(t, a.staked, again.accounts[address].staked)
		require.Equal(t, hashesOf(a), hashesOf(again.accounts[address]))
		require.Equal(t, a.tip(), again.accounts[address].tip())
		a.unreceived.Scan(func(e *entry) bool {
			require.Nil(t, e.receive)
			require.Same(t, e, s.blocks[e.block.Hash])
			require.Equal(t, e.at, again.blocks[e.block.Hash].at)
			return true
		})
		for i, e := range a.blocks.recent {
			require.Equal(t, a.blocks.oldest()+uint64(i), e.block.Height)
		}
	}
}

func hashesOf(a *account) (list []core.Hash) {
	a.unreceived.Scan(func(e *entry) bool {
		list = append(list, e.block.Hash)
		return true
	})
	return list
}

func TestJournal(t *testing.T) {
	var j journal
	m, n := map[string]int{"a": 1}, 1
	start := j.mark()
	put(&j, m, "a", 2)
	put(&j, m, "b", 3)
	middle := j.mark()
	set(&j, &n, 5)
	j.forget(start)
	j.revert(middle)
	require.Equal(t, 1, n)
	require.Equal(t, map[string]int{"a": 2, "b": 3}, m)
	j.revert(start)
	require.Equal(t, map[string]int{"a": 1}, m)
	put(&j, m, "a", 9)
	j.forget(j.mark())
	require.False(t, j.reaches(start))
	require.Panics(t, func() { j.revert(start) })
}
