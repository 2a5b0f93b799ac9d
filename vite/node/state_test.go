package node

import (
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// stateHash commits to the complete state.
func stateHash(s *ledger.State) core.Hash {
	return blake2b.Sum256(ledger.EncodeState(s))
}

func (l *testChain) digest() core.Hash {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return stateHash(l.state)
}

// checkBooks proves that no token appears or vanishes: balances and pending sends equal the issued
// amount, less burns and, for VITE, less fees.
func checkBooks(t require.TestingT, s *ledger.State, unallocated uint256.Int) {
	sums := map[core.TokenID]*uint256.Int{}
	add := func(id core.TokenID, amount uint256.Int) {
		if sums[id] == nil {
			sums[id] = new(uint256.Int)
		}
		sums[id].Add(sums[id], &amount)
	}
	for _, a := range s.Accounts {
		for id, amount := range a.Balances {
			add(id, amount)
		}
		a.Unreceived.Scan(func(e *ledger.Entry) bool {
			add(e.Block.TokenID, e.Block.Amount)
			// A fee is burnt with the send and comes back if the contract refuses.
			return true
		})
	}
	add(core.VITE, s.Fees)
	add(core.VITE, unallocated)
	for id, token := range s.Tokens {
		sum := sums[id]
		if sum == nil {
			sum = new(uint256.Int)
		}
		require.Equal(t, token.TotalSupply.Dec(), sum.Dec(), "books of %s", token.Symbol)
	}
}

// checkLinks proves that the derived data of the state follows from the state file.
func checkLinks(t require.TestingT, s *ledger.State) {
	again := ledger.DecodeState(ledger.EncodeState(s), s.Rules)
	require.NotNil(t, again)
	require.Equal(t, stateHash(s), stateHash(again))
	require.Equal(t, s.Symbols, again.Symbols)
	require.Equal(t, s.Latest().Point, again.Latest().Point)
	require.Equal(t, s.Latest().Content, again.Latest().Content)
	for address, a := range s.Accounts {
		require.Equal(t, a.Staked, again.Accounts[address].Staked)
		require.Equal(t, hashesOf(a), hashesOf(again.Accounts[address]))
		require.Equal(t, a.Head(), again.Accounts[address].Head())
		a.Unreceived.Scan(func(e *ledger.Entry) bool {
			require.Nil(t, e.Receive)
			require.Same(t, e, s.Blocks[e.Block.Hash])
			require.Equal(t, e.At, again.Blocks[e.Block.Hash].At)
			return true
		})
		for i, e := range a.Blocks.Recent {
			require.Equal(t, a.Blocks.Oldest()+uint64(i), e.Block.Height)
		}
	}
}

func hashesOf(a *ledger.Account) (list []core.Hash) {
	a.Unreceived.Scan(func(e *ledger.Entry) bool {
		list = append(list, e.Block.Hash)
		return true
	})
	return list
}
