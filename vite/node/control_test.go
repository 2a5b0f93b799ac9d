package node

import (
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func TestSnapshotContent(t *testing.T) {
	l := setup(t)
	first := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	second := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	received := l.do(l.staked, l.receive(l.staked, first))
	p := l.snapshot()
	empty := l.snapshot()
	l.Read(func(v *View) {
		require.Equal(t, empty, v.Head())
		n := v.SnapshotByHeight(p.Height)
		require.Equal(t, map[core.Address]ledger.BlockID{l.rich.addr: {Height: 3, Hash: second}, l.staked.addr: {Height: 1, Hash: received}}, n.Content)
		require.Equal(t, n.Hash, v.SnapshotByHash(p.Hash).Hash)
		require.Equal(t, v.SnapshotByHeight(1).Hash, n.Previous)
		last := v.SnapshotByHeight(3)
		require.Equal(t, map[core.Address]ledger.BlockID{}, last.Content)
		require.Nil(t, v.SnapshotByHeight(0))
		require.Nil(t, v.SnapshotByHeight(4))
		require.Nil(t, v.SnapshotByHash(core.Hash{1}))
		list := v.Snapshots(9, 2)
		require.Equal(t, []uint64{3, 2}, []uint64{list[0].Height, list[1].Height})
		require.Equal(t, uint64(2), v.BlockByHash(first).Confirmations)
	})
	var n *SnapshotBlock
	l.Read(func(v *View) { n = v.SnapshotByHeight(2) })
	require.True(t, core.Verify(n.PublicKey, n.Hash[:], n.Signature))
	require.Equal(t, core.UserAddress(core.PublicKey(n.PublicKey)), n.Producer)
}

func TestDropTakesWhatDependsOnIt(t *testing.T) {
	l := setup(t)
	kept := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	before := l.digest()
	dropped := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 2))
	after := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 3))
	r1 := l.do(l.staked, l.receive(l.staked, kept))
	r2 := l.do(l.staked, l.receive(l.staked, dropped))

	sub := l.Subscribe(8)
	require.NoError(t, l.DropUnconfirmed(dropped))
	for _, h := range []core.Hash{dropped, after, r2} {
		require.Nil(t, l.block(h))
	}
	require.Equal(t, r1, l.head(l.staked.addr).Hash, "it does not depend on the lost block")
	require.Equal(t, "1", l.balance(l.staked.addr, core.VITE))
	var gone []core.Hash
	for _, e := range <-sub.Changes() {
		require.True(t, e.Removed)
		if e.Kind == EventBlock {
			gone = append(gone, e.Block.Hash)
		}
	}
	require.Equal(t, []core.Hash{r2, after, dropped}, gone, "newest first")

	require.NoError(t, l.DropAccount(l.staked.addr))
	require.Equal(t, before, l.digest())
	require.NoError(t, l.DropAccount(l.poor.addr))
	require.Equal(t, error(ledger.ErrConfirmed), l.DropUnconfirmed(kept))
	require.Equal(t, error(ledger.ErrNoBlock), l.DropUnconfirmed(dropped))
}

// TestDropOfAContractBlock: the contract does it again, at the next tick.
func TestDropOfAContractBlock(t *testing.T) {
	l := setup(t)
	received := l.called(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...))
	require.NoError(t, l.DropUnconfirmed(received.Triggered[0].Hash))
	require.Nil(t, l.block(received.Hash))
	require.Empty(t, l.unreceived(l.rich.addr))
	require.NoError(t, l.Tick())
	require.Equal(t, received.Hash, l.block(received.Hash).Hash)
	require.Len(t, l.unreceived(l.rich.addr), 1)
}

// TestDropMovesContractBlocks: a lost call changes the height of the contract's later receives, so
// a receive of what they sent is lost too.
func TestDropMovesContractBlocks(t *testing.T) {
	l := setup(t)
	l.do(l.staked, l.receive(l.staked, l.incoming(l.staked)))
	l.quotas()
	lost := l.do(l.rich, l.call(l.rich, core.AssetContract, core.DisableReIssue, core.TokenID{9}))
	refundable := l.call(l.staked, core.AssetContract, core.Burn)
	refundable.TokenID, refundable.Amount = core.VITE, *uint256.NewInt(1)
	received := l.called(l.staked, refundable)
	require.Equal(t, byte(ledger.StatusOK), received.Data[32])
	height := received.Height
	require.NoError(t, l.DropUnconfirmed(lost))
	again := l.block(refundable.Hash).Received
	require.Equal(t, height-1, again.Height)
	require.Nil(t, l.block(received.Hash))
}

func TestRollback(t *testing.T) {
	l := setup(t)
	h1 := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot() // 2
	before := l.digest()
	h2 := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 2))
	l.called(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...))
	l.do(l.staked, l.receive(l.staked, h1))
	p3 := l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 3))
	p4 := l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 4))

	sub := l.Subscribe(8)
	for _, height := range []uint64{0, 4, 5} {
		require.Equal(t, error(ledger.ErrTooDeep), l.Rollback(height))
	}
	require.NoError(t, l.Rollback(2))
	require.Nil(t, l.block(h2))
	require.Equal(t, h1, l.head(l.rich.addr).Hash)
	require.Empty(t, l.stateWithoutRollbacks(before))
	events := <-sub.Changes()
	var snapshots []uint64
	for _, e := range events {
		require.True(t, e.Removed)
		if e.Kind == EventSnapshot {
			snapshots = append(snapshots, e.Block.Height)
		}
	}
	require.Equal(t, []uint64{4, 3}, snapshots)
	require.Equal(t, EventUnreceived, events[0].Kind, "the newest block first")

	again := l.snapshot()
	require.Equal(t, uint64(3), again.Height)
	require.NotEqual(t, p3.Hash, again.Hash)
	require.NotEqual(t, p4.Hash, again.Hash)
}

// stateWithoutRollbacks compares the state with an earlier one, but for the counter that a rollback
// moves.
func (l *testChain) stateWithoutRollbacks(want core.Hash) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := l.state.Rollbacks
	l.state.Rollbacks = 0
	defer func() { l.state.Rollbacks = count }()
	if stateHash(l.state) != want {
		return "the state differs"
	}
	return ""
}

func TestSnapshotAfterRollbackHasAnotherHash(t *testing.T) {
	frozen := &clock{}
	l := open(t, Config{Genesis: testGenesis(t), SnapshotInterval: -1, Now: func() time.Time { return frozen.now }})
	first := l.snapshot()
	require.Equal(t, first.Time, l.snapshot().Time, "time stands, it does not go back")
	require.NoError(t, l.Rollback(1))
	second := l.snapshot()
	require.Equal(t, first.Time, second.Time)
	require.NotEqual(t, first.Hash, second.Hash)
}

func TestRollbackIsBounded(t *testing.T) {
	l := setup(t)
	for range ledger.MaxRollback + 5 {
		l.snapshot()
	}
	latest := uint64(ledger.MaxRollback + 6)
	require.Equal(t, error(ledger.ErrTooDeep), l.Rollback(latest-ledger.MaxRollback-1))
	require.NoError(t, l.Rollback(latest-ledger.MaxRollback))
	require.Less(t, l.state.Changes(), 100)
}
