package vite

import (
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

func TestDepositSeenOnceAcrossReceive(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	comment, err := core.Comment{Type: 1, Address: "rDEST", Label: "42"}.Encode()
	require.NoError(t, err)

	waiting := l.deposit(t, l.inbox, 1, string(comment)) // received after its snapshot
	atOnce := l.deposit(t, l.inbox, 2, "thanks")         // received before its snapshot
	l.receive(t, l.keys[inboxPath], atOnce)
	l.mine(t, 1)
	at := l.height()
	never := l.deposit(t, l.inbox, 3, "")
	l.mine(t, 1)

	first := line(t, c, 1)
	require.ElementsMatch(t, []string{waiting.String(), atOnce.String(), never.String()}, transfersIn(first))
	l.receive(t, l.keys[inboxPath], waiting)
	require.Equal(t, first, line(t, c, 1), "received, not in a snapshot yet")
	l.mine(t, 1)
	require.Equal(t, first, line(t, c, 1)[:len(first)], "received and confirmed")
	require.Equal(t, first, line(t, l.open(t), 1)[:len(first)], "read by a new process")

	b, err := c.Block(t.Context(), at)
	require.NoError(t, err)
	require.Len(t, b.Transfers, 2)
	for _, tr := range b.Transfers {
		if tr.Ref != waiting.String() {
			continue
		}
		require.Equal(t, chain.Transfer{
			Ref: waiting.String(), Tx: waiting.String(), From: l.stranger.Address().String(), To: l.inbox.String(),
			Asset: chain.Asset(core.VITE.String()), Amount: chain.NewAmount(1),
			Memo: chain.Memo{Raw: comment, Type: 1, Address: "rDEST", Label: "42"},
		}, tr)
	}
	require.Len(t, b.OwnTxs, 1)
	require.Equal(t, l.inbox.String(), b.OwnTxs[0].Account)
	require.Equal(t, uint64(1), b.OwnTxs[0].Number)
}

func TestUnconfirmedIsInNoBlock(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	send := l.deposit(t, l.inbox, 1, "")
	require.Empty(t, transfersIn(line(t, c, 1)))
	_, err := c.Block(t.Context(), l.height()+1)
	require.ErrorIs(t, err, chain.ErrNotFound)
	require.NoError(t, l.DropUnconfirmed(send))
	l.mine(t, 2)
	require.Empty(t, transfersIn(line(t, c, 1)))
	_, err = c.Block(t.Context(), 0)
	require.ErrorIs(t, err, chain.ErrNotFound)
}

func TestNothingMovedIsNoTransfer(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	zero := l.deposit(t, l.inbox, 0, "hello")
	own := l.send(t, l.keys[payerPath], l.inbox, core.VITE, 5, nil)
	l.mine(t, 1)
	taken := l.receive(t, l.keys[inboxPath], zero)
	back := l.receive(t, l.keys[inboxPath], own)
	l.mine(t, 1)
	blocks := line(t, c, 1)
	require.Equal(t, []string{own.String()}, transfersIn(blocks), "what one of our accounts sends another has to be received too")
	require.Equal(t, []string{own.String(), taken.String(), back.String()}, ownTxsIn(blocks), "genesis is no effect")
}

// TestContractSends has the asset contract mint to an account of ours: its sends have no height, no
// key and no signature.
func TestContractSends(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	mint, err := core.ReIssue.Pack(goldID(), big.NewInt(77), l.inbox)
	require.NoError(t, err)
	l.send(t, l.stranger, core.AssetContract, core.VITE, 0, mint)
	l.mine(t, 2)
	var found []chain.Transfer
	for _, b := range line(t, c, 1) {
		found = append(found, b.Transfers...)
	}
	require.Len(t, found, 1)
	require.Equal(t, core.AssetContract.String(), found[0].From)
	require.Equal(t, goldID().String(), string(found[0].Asset))
	require.Equal(t, chain.NewAmount(77), found[0].Amount)

	source, err := core.ParseHash(found[0].Ref)
	require.NoError(t, err)
	l.receive(t, l.keys[inboxPath], source)
	l.mine(t, 1)
	require.Equal(t, []string{found[0].Ref}, transfersIn(line(t, l.open(t), 1)))
	held, err := c.Balance(t.Context(), l.inbox.String(), found[0].Asset)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(77), held)
}

func TestNewAccountCountsAtOnce(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	late := l.newUser(t)
	send := l.deposit(t, late, 9, "")
	l.mine(t, 1)
	require.Empty(t, transfersIn(line(t, c, 1)))
	l.own.add(late)
	require.Equal(t, []string{send.String()}, transfersIn(line(t, c, 1)))
}

func TestAccountListFails(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	l.own.err = errors.New("database is closed")
	_, err := c.Block(t.Context(), 1)
	require.ErrorIs(t, err, l.own.err)
	l.own.err, l.own.list = nil, []string{"nonsense"}
	_, err = c.Block(t.Context(), 1)
	require.ErrorContains(t, err, "listing our accounts")
}
