package node

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func TestWorkIsScaled(t *testing.T) {
	d, err := core.RequiredDifficulty(core.QuotaPerUT)
	require.NoError(t, err)
	require.Equal(t, uint64(ledger.MainDifficulty), d.Uint64())
	for _, difficulty := range []uint64{1, 3, 1000, ledger.MainDifficulty - 1, ledger.MainDifficulty, ledger.MainDifficulty + 1, ledger.MaxDifficulty} {
		r := &ledger.Rules{Difficulty: difficulty}
		transfer, err := r.Work(core.QuotaPerUT)
		require.NoError(t, err)
		require.Equal(t, difficulty, transfer.Uint64())
		for quota := uint64(0); quota <= core.MaxStakeQuota; quota += 7777 {
			need, err := r.Work(quota)
			require.NoError(t, err)
			require.GreaterOrEqual(t, r.QuotaForWork(need), quota)
			if need.Sign() > 0 {
				require.Less(t, r.QuotaForWork(need.Sub(need, big.NewInt(1))), quota)
			}
		}
	}
	main := &ledger.Rules{Difficulty: ledger.MainDifficulty}
	for quota := uint64(0); quota <= core.MaxStakeQuota; quota += 280 {
		want, err := core.RequiredDifficulty(quota)
		require.NoError(t, err)
		got, err := main.Work(quota)
		require.NoError(t, err)
		require.Zero(t, want.Cmp(got))
	}
}

// TestWorkOfTheGenesis: a chain whose genesis asks for little work lets an account without a stake
// live by it.
func TestWorkOfTheGenesis(t *testing.T) {
	genesis := testGenesis(t)
	plain, err := genesis.Normalised()
	require.NoError(t, err)
	genesis.PoWDifficulty = ledger.MainDifficulty
	same, err := genesis.Normalised()
	require.NoError(t, err)
	require.Equal(t, plain.Digest(), same.Digest(), "the usual difficulty makes no other chain")
	genesis.PoWDifficulty = 100
	l := open(t, Config{Genesis: genesis, SnapshotInterval: -1})
	require.NotEqual(t, plain.Digest(), l.rules.Digest)

	h := l.do(l.rich, l.transfer(l.rich, l.poor.addr, 5))
	l.Read(func(v *View) {
		need, err := v.PoWDifficulty(Call{Address: l.poor.addr, BlockType: 4}, core.Hash{})
		require.NoError(t, err)
		require.Equal(t, PoWNeed{21000, big.NewInt(100)}, need)
	})
	b := l.receive(l.poor, h)
	easyWork(b, 99)
	require.Equal(t, error(ledger.ErrQuota), l.try(l.poor, b))
	easyWork(b, 100)
	l.do(l.poor, b)

	genesis.PoWDifficulty = ledger.MaxDifficulty + 1
	require.ErrorIs(t, genesis.Check(), ledger.ErrGenesis)
}
