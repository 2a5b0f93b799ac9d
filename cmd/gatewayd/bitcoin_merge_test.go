package main

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/dev/bitcoinnode"
)

// TestLitecoinMergesSmallCoins: 150 deposits become few coins while fees are low. The books stay
// exact.
func TestLitecoinMergesSmallCoins(t *testing.T) {
	t.Parallel()
	w := newBitcoinEnv(t, bitcoinnode.Litecoind)
	ours := []string{w.pool(t)}
	var users []*coinUser
	for n := range uint32(coinUsers) {
		users = append(users, w.newUser(t, n))
		ours = append(ours, users[n].deposit)
	}
	credited := w.depositAll(t, users, 150)
	w.mineUntil(t, "all credits", func() bool { return w.haveAll(t, users, credited) })
	w.mineUntil(t, "few coins", func() bool { return w.books(t, ours...).coins < 75 })
	b := w.books(t, ours...)
	require.Equal(t, []int{1, 55}, []int{b.transactions, b.coins}, "150 deposits and the pool's 4, less 99")
	require.Empty(t, b.payees)
	require.Equal(t, b.deposited-b.fees, b.held)
	at, err := w.node.Height()
	require.NoError(t, err)
	w.awaitBlock(t, at+7)

	nets, left := w.withdrawAll(t, users, credited, coinUsers)
	w.mineUntil(t, "all payouts", func() bool { return len(w.books(t, ours...).payees) == len(nets) && w.allDone(t, users) })
	require.True(t, w.haveAll(t, users, left))
	require.Contains(t, w.command(t, "audit"), "0 differences")
}

// TestLitecoinStuckPayoutLeaves: blocks take no payout at the old fee, and the node replaces none.
// A child brings it into a block, also when the daemon is killed before.
func TestLitecoinStuckPayoutLeaves(t *testing.T) {
	t.Parallel()
	w := newBitcoinEnv(t, bitcoinnode.Litecoind, "-blockmintxfee=0.00015")
	users := []*coinUser{w.newUser(t, 0)}
	ours := []string{w.pool(t), users[0].deposit}
	credited := w.depositAll(t, users, 3)
	w.mineUntil(t, "all credits", func() bool { return w.haveAll(t, users, credited) })
	nets, _ := w.withdrawAll(t, users, credited, 1)
	pool := func() (ids []string) {
		require.NoError(t, w.node.Call(&ids, "getrawmempool"))
		return ids
	}
	w.mineUntil(t, "the payout", func() bool { return len(pool()) == 1 })
	stuck := pool()[0]
	w.mine(t, 3, w.miner)
	require.Equal(t, []string{stuck}, pool(), "no block takes it")

	w.cfg.Bitcoin[0].MinFeeRate = 100
	w.write(t)
	require.NoError(t, w.kill())
	require.NoError(t, w.start())
	require.NoError(t, w.waitUntilServing(t.Context()))
	w.mineUntil(t, "its child", func() bool { return len(w.books(t, ours...).payees) == 1 })
	b := w.books(t, ours...)
	require.Equal(t, 2, b.transactions)
	for script, net := range nets {
		require.Equal(t, []int64{net}, b.payees[script])
	}
	require.Equal(t, b.deposited-b.paid-b.fees, b.held)
	height, err := w.node.Height()
	require.NoError(t, err)
	found := false
	for h := range height {
		block, err := w.node.Block(h + 1)
		require.NoError(t, err)
		found = found || slices.ContainsFunc(block.Transactions, func(tx *wire.MsgTx) bool { return tx.TxHash().String() == stuck })
	}
	require.True(t, found, "it is the first attempt")
	w.mineUntil(t, "the records", func() bool { return w.allDone(t, users) })
	require.Contains(t, w.command(t, "audit"), "0 differences")
}
