package chaintest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func testHeads(t *testing.T, b *bench) {
	require.NotEmpty(t, b.Chain.ID())
	last := b.head(t)
	require.False(t, last.Time.IsZero(), "time of the head")
	for range b.Depth + 3 {
		b.mine(t, 1)
		now := b.head(t)
		require.Greater(t, now.Latest.Height, last.Latest.Height)
		require.GreaterOrEqual(t, now.Final.Height, last.Final.Height)
		require.GreaterOrEqual(t, now.Latest.Height, now.Final.Height)
		last = now
	}
	final, err := b.Chain.Block(b.ctx, last.Final.Height)
	require.NoError(t, err)
	require.Equal(t, last.Final, final.Point)
}

func testLine(t *testing.T, b *bench) {
	b.mine(t, 5)
	head := b.head(t)
	blocks := b.line(t, head.Latest.Height-4)
	for i, block := range blocks {
		require.NotEmpty(t, block.Hash)
		require.False(t, block.Time.IsZero())
		if i > 0 {
			require.Equal(t, blocks[i-1].Height+1, block.Height)
			require.Equal(t, blocks[i-1].Hash, block.Parent)
		}
	}
	require.Equal(t, blocks, b.line(t, head.Latest.Height-4), "a second reading of the same line")
}

func testUnknownHeight(t *testing.T, b *bench) {
	_, err := b.Chain.Block(b.ctx, b.head(t).Latest.Height+1000)
	require.ErrorIs(t, err, chain.ErrNotFound)
}

func testAddresses(t *testing.T, b *bench) {
	require.NotEmpty(t, b.Addresses, "the harness brings no table")
	for _, c := range b.Addresses {
		got, err := b.Chain.CheckAddress(c.Address, c.Label)
		if c.Err != nil {
			require.ErrorIs(t, err, c.Err, "%q %q", c.Address, c.Label)
			require.Empty(t, got)
			continue
		}
		require.NoError(t, err, "%q %q", c.Address, c.Label)
		require.Equal(t, c.Want, got)
		again, err := b.Chain.CheckAddress(got, c.Label)
		require.NoError(t, err, "the canonical form of %q", c.Address)
		require.Equal(t, got, again)
	}
	out := b.Outsider(t)
	got, err := b.Chain.CheckAddress(out, "")
	require.NoError(t, err)
	require.Equal(t, out, got)
}

func testContexts(t *testing.T, b *bench) {
	a := b.sign(t, b.slot(t), b.credit(1, b.Outsider(t), 500))
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	_, headErr := b.Chain.Head(ctx)
	_, blockErr := b.Chain.Block(ctx, 1)
	_, balanceErr := b.Chain.Balance(ctx, b.Payer.Address, b.Asset)
	_, tipErr := b.Chain.AccountHead(ctx, b.Payer.Address)
	sendErr := Send(ctx, b.Chain, a)
	if b.Coins != nil {
		tipErr = balanceErr // it asks no node
	}
	for _, err := range []error{headErr, blockErr, balanceErr, tipErr, sendErr} {
		require.Error(t, err)
		require.False(t, errors.Is(err, chain.ErrNotFound), "an ended context says nothing about the ledger: %v", err)
	}
	b.mine(t, 1)
	require.Empty(t, b.ownTxs(t, b.head(t).Latest.Height, b.Payer.Address))
}

func testTransfer(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	hash := b.Deposit(t, b.Inbox.Address, b.Asset, units(1234))
	b.mine(t, 1)
	found := b.transfers(t, from, hash)
	require.Len(t, found, 1)
	tr := found[0]
	require.NotEmpty(t, tr.Ref)
	require.Equal(t, b.Coins == nil, tr.From != "", "sender")
	require.Equal(t, b.Inbox.Address, tr.To)
	require.Equal(t, b.Asset, tr.Asset)
	require.Equal(t, units(1234), tr.Amount)
	require.False(t, tr.Failed)
	b.requireCoinOf(t, from, tr)
	b.mine(t, b.Depth+1)
	require.Equal(t, found, b.transfers(t, from, hash), "the same transfer, later")
}

// requireCoinOf checks that a transfer is a coin on a ledger of coins.
func (b *bench) requireCoinOf(t *testing.T, from uint64, tr chain.Transfer) {
	t.Helper()
	var coins []chain.Coin
	for _, block := range b.line(t, from) {
		for _, c := range block.Coins {
			if c.Out == tr.Ref {
				coins = append(coins, c)
			}
		}
	}
	if b.Coins == nil {
		require.Empty(t, coins)
		return
	}
	require.Len(t, coins, 1)
	require.NotEmpty(t, coins[0].Made)
	require.Equal(t, chain.Coin{Out: tr.Ref, Address: tr.To, Amount: tr.Amount, Matures: tr.Matures, Made: coins[0].Made}, coins[0])
}

func testEqualTransfers(t *testing.T, b *bench) {
	from := b.head(t).Latest.Height
	hashes := []string{
		b.Deposit(t, b.Inbox.Address, b.Asset, units(7)),
		b.Deposit(t, b.Inbox.Address, b.Asset, units(7)),
		b.Deposit(t, b.Payer.Address, b.Asset, units(7)),
	}
	b.mine(t, 2)
	refs := make(map[string]bool)
	for _, hash := range hashes {
		found := b.transfers(t, from, hash)
		require.Len(t, found, 1)
		refs[found[0].Ref] = true
	}
	require.Len(t, refs, len(hashes))
}

func (b *bench) needReorg(t *testing.T) {
	t.Helper()
	if b.Reorg == nil {
		t.Skip("this ledger cannot be told to re-organise")
	}
}

func testTransferReorg(t *testing.T, b *bench) {
	b.needReorg(t)
	b.mine(t, 2)
	before := b.head(t)
	hash := b.Deposit(t, b.Inbox.Address, b.Asset, units(99))
	b.mine(t, 1)
	old := b.line(t, before.Latest.Height)
	seen := b.transfers(t, before.Latest.Height, hash)
	require.Len(t, seen, 1)

	b.Reorg(t, 1, true)
	b.mine(t, 1)
	blocks := b.line(t, before.Latest.Height)
	require.Equal(t, old[0].Hash, blocks[0].Hash)
	require.NotEqual(t, old[1].Hash, blocks[1].Hash, "the replaced block")
	require.Equal(t, blocks[0].Hash, blocks[1].Parent)
	require.Equal(t, seen, b.transfers(t, before.Latest.Height, hash))
}

func testTransferDropped(t *testing.T, b *bench) {
	b.needReorg(t)
	b.mine(t, 2)
	from := b.head(t).Latest.Height
	hash := b.Deposit(t, b.Inbox.Address, b.Asset, units(99))
	b.mine(t, 1)
	require.Len(t, b.transfers(t, from, hash), 1)
	b.Reorg(t, 1, false)
	b.mine(t, 1)
	require.Empty(t, b.transfers(t, from, hash))
}
