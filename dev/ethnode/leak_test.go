package ethnode_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"gatewayd/dev/ethnode"
)

func TestCloseLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	node, err := ethnode.Start(ethnode.Config{Period: ethnode.DefaultPeriod, Dir: t.TempDir()})
	require.NoError(t, err)
	require.NoError(t, node.Close())
	// Two of the libraries' own: one for the life of the process, one that ends some seconds after
	// its database.
	goleak.VerifyNone(t, before,
		goleak.IgnoreAnyFunction("github.com/ethereum/go-ethereum/core.(*txSenderCacher).cache"),
		goleak.IgnoreAnyFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"))
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		node, err := ethnode.Start(ethnode.Config{})
		require.NoError(b, err)
		require.NoError(b, node.Close())
	}
}
