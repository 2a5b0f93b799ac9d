package ethnode_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"

	"gatewayd/dev/ethnode"
)

func inDir(dir string) func(*ethnode.Config) {
	return func(c *ethnode.Config) { c.Dir = dir }
}

// line reads the hashes of the complete chain.
func (b bundle) line() []common.Hash {
	b.Helper()
	var hashes []common.Hash
	for number := range b.number(rpc.LatestBlockNumber) + 1 {
		header, err := b.Client().HeaderByNumber(b.Context(), bigNumber(number))
		require.NoError(b, err)
		hashes = append(hashes, header.Hash())
	}
	return hashes
}

func TestChainComesBackAsItWas(t *testing.T) {
	dir := t.TempDir()
	b := setup(t, inDir(dir))
	tx := b.sendETH(someone(1), 5)
	b.mine(6)
	_, err := b.Reorg(2, ethnode.Keep)
	require.NoError(t, err)
	require.NoError(t, b.Fork(b.header(rpc.LatestBlockNumber).ParentHash, false))
	line, final, contracts := b.line(), b.number(rpc.FinalizedBlockNumber), b.Contracts()
	require.NoError(t, b.Close())

	again := setup(t, inDir(dir))
	require.Equal(t, line, again.line())
	require.Equal(t, final, again.number(rpc.FinalizedBlockNumber), "finality does not go back")
	require.Equal(t, contracts, again.Contracts())
	require.True(t, again.has(tx))
	require.EqualValues(t, 5, again.balance(someone(1)))
	next := again.sendETH(someone(1), 1)
	again.mine(1)
	require.True(t, again.has(next))
}

func TestLogOfAnotherChainIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, setup(t, inDir(dir)).Close())
	for name, other := range map[string]ethnode.Config{
		"chain id": {Dir: dir, ChainID: 9},
		"genesis":  {Dir: dir, Alloc: alloc(someone(1), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ethnode.Start(other)
			require.ErrorIs(t, err, ethnode.ErrOtherChain)
		})
	}
}

func TestLogIsOpenOnce(t *testing.T) {
	dir := t.TempDir()
	setup(t, inDir(dir))
	_, err := ethnode.Start(ethnode.Config{Dir: dir})
	require.ErrorContains(t, err, "another process has it open")
}

// TestTornLog cuts the log at many places and expects the longest chain that was complete there.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	b := setup(t, inDir(dir))
	b.mine(3)
	line := b.line()
	require.NoError(t, b.Close())
	whole, err := os.ReadFile(filepath.Join(dir, "blocks.log"))
	require.NoError(t, err)

	last := 0
	for _, size := range []int{0, 1, 47, 48, 49, len(whole) / 2, len(whole) - 700, len(whole) - 1, len(whole)} {
		torn := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(torn, "blocks.log"), whole[:size], 0o600))
		again := setup(t, inDir(torn))
		length := sharedLength(line, again.line())
		require.GreaterOrEqual(t, length, last)
		last = length
		again.mine(1)
		after := again.line()
		require.NoError(t, again.Close())
		require.Equal(t, after, setup(t, inDir(torn)).line(), "what follows a cut is kept")
	}
	require.Len(t, line, last)
}

// sharedLength counts the blocks that both lines begin with.
func sharedLength(a, b []common.Hash) int {
	count := 0
	for count < len(a) && count < len(b) && a[count] == b[count] {
		count++
	}
	return count
}

func TestDamagedLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	b := setup(t, inDir(dir))
	b.mine(5)
	require.NoError(t, b.Close())
	path := filepath.Join(dir, "blocks.log")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	content[len(content)/2] ^= 1
	require.NoError(t, os.WriteFile(path, content, 0o600))
	_, err = ethnode.Start(ethnode.Config{Dir: dir})
	require.ErrorIs(t, err, ethnode.ErrDamaged)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, content, after, "a damaged log is left for people to look at")
}

// TestKilledChain kills the process that makes blocks as fast as it can, and expects every head
// that it showed.
func TestKilledChain(t *testing.T) {
	dir := t.TempDir()
	var shown []common.Hash
	for range 3 {
		shown = append(shown, killAfterSomeBlocks(t, dir)...)
		b := setup(t, inDir(dir))
		for _, hash := range shown {
			header, err := b.web.HeaderByHash(t.Context(), hash)
			require.NoError(t, err)
			require.LessOrEqual(t, header.Number.Uint64(), b.number(rpc.LatestBlockNumber))
		}
		require.NoError(t, b.Close())
	}
}

// killAfterSomeBlocks runs TestHelperProcess and returns the heads that it printed before its
// death.
func killAfterSomeBlocks(t *testing.T, dir string) []common.Hash {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestHelperProcess$")
	child.Env = append(os.Environ(), "DEVNODE_TEST_DIR="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	var heads []common.Hash
	var line []byte
	for one := make([]byte, 1); len(heads) < 10; {
		_, err := out.Read(one)
		require.NoError(t, err)
		if line = append(line, one[0]); one[0] != '\n' {
			continue
		}
		if hash, ok := strings.CutPrefix(string(bytes.TrimSpace(line)), "head "); ok {
			heads = append(heads, common.HexToHash(hash))
		}
		line = nil
	}
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	return heads
}

// TestHelperProcess is the child of TestKilledChain; alone it has nothing to do.
func TestHelperProcess(t *testing.T) {
	dir := os.Getenv("DEVNODE_TEST_DIR")
	if dir == "" {
		return
	}
	node, err := ethnode.Start(ethnode.Config{Dir: dir})
	require.NoError(t, err)
	for {
		hash, err := node.Mine(1)
		require.NoError(t, err)
		os.Stdout.WriteString("head " + hash.Hex() + "\n")
	}
}
