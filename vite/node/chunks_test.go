package node

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func chunks(t require.TestingT, n *Node, from, to uint64) []Chunk {
	return view(t, n, func(v *View) []Chunk { return v.Chunks(from, to) })
}

// requireWhole checks the chain without trust: each chunk equals the content of its snapshot block,
// each account's blocks are linked, hashes and signatures hold, and each receive follows its send.
func requireWhole(t require.TestingT, list []Chunk) {
	heads, sent := map[core.Address]ledger.BlockID{}, map[core.Hash]bool{}
	for i, c := range list {
		require.Equal(t, uint64(i+1), c.Snapshot.Height)
		if i > 0 {
			require.Equal(t, list[i-1].Snapshot.Hash, c.Snapshot.Previous)
			requireSeal(t, c.Snapshot)
			require.True(t, core.Verify(c.Snapshot.PublicKey, c.Snapshot.Hash[:], c.Snapshot.Signature))
		}
		content := map[core.Address]ledger.BlockID{}
		for _, b := range c.Blocks {
			require.Equal(t, heads[b.Address].Height+1, b.Height)
			require.Equal(t, heads[b.Address].Hash, b.PreviousHash)
			heads[b.Address] = ledger.BlockID{Height: b.Height, Hash: b.Hash}
			content[b.Address] = heads[b.Address]
			requireHashes(t, b)
			if b.BlockType != core.GenesisReceive && !b.IsSend() {
				require.True(t, sent[b.SendBlockHash], "a receive before its send")
			}
			if b.IsSend() {
				sent[b.Hash] = true
			}
			for _, s := range b.Triggered {
				sent[s.Hash] = true
			}
		}
		require.Equal(t, c.Snapshot.Content, content)
	}
}

// requireSeal recomputes the hash of a snapshot block from what is served of it.
func requireSeal(t require.TestingT, n *SnapshotBlock) {
	seal := core.Seal{
		PreviousHash: n.Previous, Height: n.Height, Time: n.Time.Unix(), Seed: n.Seed, Content: map[core.Address]core.HashHeight{},
		Upgrade: ledger.UpgradeName(int(n.Version)), Version: n.Version,
	}
	for a, id := range n.Content {
		seal.Content[a] = core.HashHeight{Hash: id.Hash, Height: id.Height}
	}
	require.Equal(t, n.Hash, seal.ComputeHash())
}

// requireHashes recomputes what a client can: a contract's receive covers the sends in it, and they
// name their place in it.
func requireHashes(t require.TestingT, b *Block) {
	own := *b.AccountBlock
	own.Triggered = nil
	for i, s := range b.Triggered {
		require.Equal(t, s.Hash, s.AccountBlock.ComputeTriggeredHash(b.AccountBlock, uint8(i)))
		own.Triggered = append(own.Triggered, s.AccountBlock)
	}
	require.Equal(t, b.Hash, own.ComputeHash())
	if b.BlockType == core.GenesisReceive {
		return
	}
	require.True(t, core.Verify(b.PublicKey, b.Hash[:], b.Signature))
	if !b.Address.IsContract() {
		require.Equal(t, b.Address, core.UserAddress(core.PublicKey(b.PublicKey)))
	}
}

// tradingLine makes a chain with transfers, contracts that send to each other and to users, empty
// snapshot blocks, and receives and sends of one transfer in one snapshot block.
func tradingLine(t testing.TB, l *testChain) {
	l.snapshot()
	for range 3 {
		h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 7))
		l.do(l.staked, l.receive(l.staked, h))
		back := l.do(l.staked, l.transfer(l.staked, l.rich.addr, 3))
		l.do(l.rich, l.receive(l.rich, back))
	}
	issued := l.called(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...))
	require.Len(t, issued.Triggered, 1)
	l.snapshot()
	for _, b := range l.unreceived(l.rich.addr) {
		l.do(l.rich, l.receive(l.rich, b.Hash))
	}
	burn := l.call(l.rich, core.AssetContract, core.Burn)
	burn.Amount = *vite(1)
	l.called(l.rich, burn)
	l.snapshot()
	l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
}

func TestChunksAreWholeAndInOrder(t *testing.T) {
	l := setup(t)
	tradingLine(t, l)
	list := chunks(t, l.Node, 1, 100)
	require.Len(t, list, int(l.state.Height()))
	requireWhole(t, list)
	require.Len(t, list[2].Blocks, 14)
	require.Len(t, list[5].Blocks, 1)
	require.Empty(t, list[1].Blocks)
}

func TestChunksEndAtTheHead(t *testing.T) {
	l := setup(t)
	tradingLine(t, l)
	all := chunks(t, l.Node, 1, 100)
	require.Equal(t, all, chunks(t, l.Node, 0, ^uint64(0)))
	require.Equal(t, all[2:4], chunks(t, l.Node, 3, 4))
	require.Equal(t, all[3:4], chunks(t, l.Node, 4, 4))
	require.Empty(t, chunks(t, l.Node, l.state.Height()+1, 100))
	require.Empty(t, chunks(t, l.Node, 4, 3))
}

// TestChunksOfTheHistory: what has left memory is served as before, also after a start, which
// leaves the latest snapshot block in memory without its account blocks.
func TestChunksOfTheHistory(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 1, disk: vfs.NewMem()}
	config.retention = ledger.Retention{Depth: 1, Changes: 1, Snapshots: 1, Blocks: 1}
	l := open(t, config)
	tradingLine(t, l)
	require.Greater(t, l.state.Oldest(), uint64(3))
	require.NotEmpty(t, l.state.Latest().Content)
	list := chunks(t, l.Node, 1, 100)
	requireWhole(t, list)

	require.NoError(t, l.Close())
	l = open(t, config)
	_, inMemory := l.state.Confirmed(l.state.Height())
	require.False(t, inMemory)
	require.Equal(t, list, chunks(t, l.Node, 1, 100))
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	requireWhole(t, chunks(t, l.Node, 1, 100))
}

// TestChunksAreBounded: a list ends with the chunk in which the bound is reached.
func TestChunksAreBounded(t *testing.T) {
	l := setup(t)
	for range 4 {
		for range 3 {
			l.do(l.rich, l.transfer(l.rich, l.rich.addr, 1))
		}
		l.snapshot()
	}
	q := &chunkQuery{next: 2, weightLeft: 4 * ledger.BlockWeight}
	l.Read(func(v *View) { v.collect(q, 5) })
	require.Len(t, q.parts, 2)
	require.Equal(t, uint64(4), q.next)
}

// TestChunksWhileTheChainGoesOn: results are complete, although blocks leave memory or are rolled
// back during the read.
func TestChunksWhileTheChainGoesOn(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 2000, disk: vfs.NewMem()}
	config.retention = ledger.Retention{Depth: 2, Changes: 50, Snapshots: 1, Blocks: 1}
	l := open(t, config)
	done := make(chan struct{})
	var seen [][]Chunk
	var reader errgroup.Group
	reader.Go(func() error {
		for {
			var list []Chunk
			if err := l.Read(func(v *View) { list = v.Chunks(1, 1000) }); err != nil {
				return err
			}
			if n := len(seen); n == 0 || list[len(list)-1].Snapshot.Hash != seen[n-1][len(seen[n-1])-1].Snapshot.Hash {
				seen = append(seen, list)
			}
			select {
			case <-done:
				return nil
			default:
			}
		}
	})
	for range 10 {
		l.sendAndReceive(5)
		require.NoError(t, l.Rollback(l.state.Height()-1))
	}
	close(done)
	require.NoError(t, reader.Wait())
	for _, list := range seen {
		requireWhole(t, list)
	}
}
