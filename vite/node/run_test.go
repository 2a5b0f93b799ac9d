package node

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// TestRun: snapshot blocks come at the interval, contracts receive at once, and Run ends with its
// context.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, Config{Genesis: testGenesis(t), Now: time.Now})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		<-time.After(3*time.Second + time.Millisecond)
		synctest.Wait()
		l.Read(func(v *View) { require.Equal(t, uint64(4), v.Head().Height) })

		h := l.do(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...))
		synctest.Wait()
		require.NotNil(t, l.block(h).Received)
		require.Nil(t, l.block(h).Snapshot)
		<-time.After(time.Second)
		synctest.Wait()
		require.Equal(t, uint64(1), l.block(h).Confirmations)
		require.Equal(t, l.block(h).Snapshot.Height, l.block(l.block(h).Received.Hash).Snapshot.Height)
		cancel()
		require.NoError(t, <-done)
	})
}

func TestEvents(t *testing.T) {
	l := setup(t)
	sub := l.Subscribe(10)
	h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	require.Equal(t, []Event{
		{Kind: EventBlock, Block: ledger.BlockID{Height: 2, Hash: h}, Address: l.rich.addr},
		{Kind: EventUnreceived, Block: ledger.BlockID{Height: 2, Hash: h}, Address: l.staked.addr},
	}, <-sub.Changes())
	r := l.do(l.staked, l.receive(l.staked, h))
	require.Equal(t, []Event{
		{Kind: EventBlock, Block: ledger.BlockID{Height: 1, Hash: r}, Address: l.staked.addr},
		{Kind: EventUnreceived, Block: ledger.BlockID{Height: 2, Hash: h}, Address: l.staked.addr, Received: true},
	}, <-sub.Changes())
	p := l.snapshot()
	require.Equal(t, []Event{{Kind: EventSnapshot, Block: ledger.BlockID{Height: p.Height, Hash: p.Hash}}}, <-sub.Changes())

	received := l.called(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...))
	send := received.SendBlockHash
	mint := ledger.BlockID{Height: 0, Hash: received.Triggered[0].Hash}
	require.Len(t, <-sub.Changes(), 2)
	require.Equal(t, []Event{
		{Kind: EventBlock, Block: ledger.BlockID{Height: 2, Hash: received.Hash}, Address: core.AssetContract},
		{Kind: EventUnreceived, Block: ledger.BlockID{Height: 3, Hash: send}, Address: core.AssetContract, Received: true},
		{Kind: EventLog, Block: ledger.BlockID{Height: 2, Hash: received.Hash}, Address: core.AssetContract, Log: &l.logs(received)[0]},
		{Kind: EventBlock, Block: mint, Address: core.AssetContract},
		{Kind: EventUnreceived, Block: mint, Address: l.rich.addr},
	}, <-sub.Changes())
	sub.Close()
	sub.Close()
	_, open := <-sub.Changes()
	require.False(t, open)
	require.NoError(t, sub.Err())
}

func TestSlowSubscriberIsDropped(t *testing.T) {
	l := setup(t)
	slow, quick := l.Subscribe(1), l.Subscribe(3)
	for range 3 {
		l.snapshot()
	}
	<-slow.Changes()
	_, open := <-slow.Changes()
	require.False(t, open)
	require.ErrorIs(t, slow.Err(), ErrSlow)
	for range 3 {
		require.Len(t, <-quick.Changes(), 1)
	}
	require.NoError(t, l.Close())
	_, open = <-quick.Changes()
	require.False(t, open)
	require.ErrorIs(t, quick.Err(), ErrClosed)
	late := l.Subscribe(1)
	_, open = <-late.Changes()
	require.False(t, open)
	require.ErrorIs(t, late.Err(), ErrClosed)
	require.ErrorIs(t, l.try(l.rich, l.transfer(l.rich, l.staked.addr, 1)), ErrClosed)
	_, err := l.Snapshot()
	require.ErrorIs(t, err, ErrClosed)
}

func TestSubmitHonoursItsContext(t *testing.T) {
	l := setup(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, l.Submit(ctx, signed(l.rich, l.transfer(l.rich, l.staked.addr, 1))), context.Canceled)
	require.Equal(t, uint64(1), l.head(l.rich.addr).Height)
}

// TestBrokenDiskStopsTheNode: after a failed write nothing is taken any more.
func TestBrokenDiskStopsTheNode(t *testing.T) {
	n, err := New(Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1})
	require.NoError(t, err)
	l := &testChain{n, t, newUser(t, 1), newUser(t, 2), newUser(t, 3)}
	require.NoError(t, n.log.Close())
	err = l.try(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	require.ErrorIs(t, err, os.ErrClosed)
	var refusal *ledger.Error
	require.False(t, errors.As(err, &refusal))
	require.ErrorIs(t, l.try(l.rich, l.transfer(l.rich, l.staked.addr, 1)), os.ErrClosed)
	_, err = l.Snapshot()
	require.ErrorIs(t, err, os.ErrClosed)
	l.woken <- struct{}{}
	require.ErrorIs(t, l.Run(t.Context()), os.ErrClosed)
	require.Error(t, n.Close())
}
