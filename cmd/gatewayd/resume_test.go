package main

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
	"gatewayd/status"
)

// TestResumeWithoutADaemon halts each chain by a fork below its final block, stops the daemon, and
// orders both chains to resume with the command alone. While the nodes have another branch it shows
// the fork. When the source chain's blocks are back the order is stored, and a daemon that is
// started then continues.
func TestResumeWithoutADaemon(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, nil)
	w.user.mustDeposit(t, units(w.user.Token, 30_000))
	w.source.StopMining()
	head, err := w.source.Client().BlockByNumber(t.Context(), nil)
	require.NoError(t, err)
	waitFor(t, "its final block", func() bool { return w.cursor(t, "eth").Final.Height >= head.NumberU64()-3 })
	parent, err := w.source.Client().BlockByNumber(t.Context(), new(big.Int).SetUint64(head.NumberU64()-6))
	require.NoError(t, err)
	_, err = w.source.Reorg(6, ethnode.Lose)
	require.NoError(t, err)
	w.source.StartMining()
	w.waitForCondition(t, status.ChainHalted)
	w.kill(t)

	out, ok := w.runCommand(t, "chain", "resume", "eth")
	require.False(t, ok, out)
	w.forkedAt(t, out, "eth", parent.NumberU64(), parent.Hash().Hex())
	require.NoError(t, w.source.Fork(common.HexToHash(head.Hash().Hex()), true))
	waitFor(t, "the nodes' final block", func() bool {
		out, ok = w.runCommand(t, "chain", "resume", "eth")
		return ok
	})
	w.start(t)
	w.user.mustDeposit(t, units(w.user.Token, 31_000))

	final := w.cursor(t, "vite").Final
	below, err := w.user.Vite.Node.SnapshotBlockByHeight(t.Context(), final.Height-5)
	require.NoError(t, err)
	require.NoError(t, w.rich.Node.Rollback(final.Height-5))
	w.waitForCondition(t, status.ChainHalted)
	w.kill(t)
	out, ok = w.runCommand(t, "chain", "resume", "vite")
	require.False(t, ok, out)
	w.forkedAt(t, out, "vite", final.Height-5, below.Hash.String())
	require.True(t, w.cursor(t, "vite").Halted, "and it stays halted")
}

// forkedAt checks that the command shows the fork: the highest common block, our final one, and the
// other block in its place.
func (w *faultyEnv) forkedAt(t *testing.T, out string, id chain.ID, height uint64, hash string) {
	t.Helper()
	cur := w.cursor(t, id)
	require.Contains(t, out, fmt.Sprintf("Common block   %d %s\n", height, hash))
	require.Contains(t, out, fmt.Sprintf("Our final      %d %s\n", cur.Final.Height, cur.Final.Hash))
	require.Regexp(t, fmt.Sprintf(`(?m)^Nodes' final   %d \S+`, cur.Final.Height), out)
	require.NotContains(t, out, fmt.Sprintf("Nodes' final   %d %s", cur.Final.Height, cur.Final.Hash))
}

// cursor returns the records' position on a chain.
func (w *faultyEnv) cursor(t *testing.T, id chain.ID) (cur records.Cursor) {
	t.Helper()
	store, err := records.OpenExisting(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) (err error) {
		cur, err = tx.Chains().Cursor(id)
		return err
	}))
	return cur
}
