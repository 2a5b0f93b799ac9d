package node

import (
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// TestFullSnapshotsComeEarly: whatever comes between two ticks of the clock, no snapshot block
// weighs more than clients read at once, and a replay makes the same ones.
func TestFullSnapshotsComeEarly(t *testing.T) {
	const senders, size, most = 200, 20 << 10, 3 << 20
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1}
	supply := *vite(100_000)
	users := make([]user, senders)
	for i := range users {
		users[i] = newUser(t, uint64(100+i))
		a := users[i].addr
		config.Genesis.Accounts = append(config.Genesis.Accounts, ledger.GenesisAccount{Address: a, Balances: map[core.TokenID]uint256.Int{core.VITE: supply}})
		config.Genesis.Stakes = append(config.Genesis.Stakes, ledger.GenesisStake{Staker: a, Beneficiary: a, Amount: *vite(1_000_000)})
	}
	l := open(t, config)
	l.quotas()
	began := l.state.Height()
	for _, u := range users {
		b := l.transfer(u, l.poor.addr, 1)
		b.Data = make([]byte, size)
		l.do(u, b)
	}
	require.Greater(t, l.state.Height(), began)
	l.snapshot()
	blocks := 0
	for height := began + 1; height <= l.state.Height(); height++ {
		p, known := l.state.Confirmed(height)
		require.True(t, known)
		require.LessOrEqual(t, p.Weight(), most)
		for _, own := range p.Accounts {
			blocks += len(own)
		}
	}
	require.Equal(t, senders, blocks)
	want := l.digest()
	require.NoError(t, l.Close())
	require.Equal(t, want, open(t, config).digest())
}
