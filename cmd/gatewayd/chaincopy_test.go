package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/node"
	"gatewayd/wallet"
)

// What an operator copies of a running chain is the chain as it was then.
func TestChainCopy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	from, dir := filepath.Join(filepath.Dir(r.info.Config), "exchange"), t.TempDir()
	to := filepath.Join(dir, "blocks.log")
	var before node.Point
	require.NoError(t, r.exchange.node.Read(func(v *node.View) { before = v.Head() }))
	require.Regexp(t, `^Copied [1-9][0-9]* bytes\. `, r.mustCommand(t, "chain", "copy", from, to))
	_, err := r.command(t, "chain", "copy", from, to)
	require.ErrorIs(t, err, os.ErrExist)

	keys, err := wallet.FromMnemonic(devMnemonic)
	require.NoError(t, err)
	genesis, err := devGenesis(keys)
	require.NoError(t, err)
	copied, err := node.New(node.Config{Dir: dir, Genesis: genesis})
	require.NoError(t, err)
	require.NoError(t, copied.Read(func(v *node.View) {
		require.GreaterOrEqual(t, v.Head().Height, before.Height)
	}))
	require.NoError(t, copied.Close())
}
