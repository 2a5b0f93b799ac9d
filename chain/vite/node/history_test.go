package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// allMemory never gives anything to the history.
var allMemory = memory{depth: 1 << 40, changes: 1 << 40, snapshots: 1 << 40, blocks: 1 << 40}

// remade opens a copy of a node's log and nothing else, with everything in memory: what it answers, the node must answer.
func remade(t testing.TB, config Config) *Node {
	data, err := os.ReadFile(filepath.Join(config.Dir, logName))
	require.NoError(t, err)
	config.Dir, config.memory, config.disk = t.TempDir(), allMemory, nil
	require.NoError(t, os.WriteFile(filepath.Join(config.Dir, logName), data, 0o600))
	return open(t, config).Node
}

// view reads one value.
func view[T any](t require.TestingT, n *Node, f func(v *View) T) (result T) {
	require.NoError(t, n.Read(func(v *View) { result = f(v) }))
	return result
}

// both asks two nodes the same.
func both[T any](t require.TestingT, a, b *Node, question string, f func(v *View) T) {
	require.Equal(t, view(t, b, f), view(t, a, f), question)
}

// requireSameAnswers compares all that two nodes can be asked about blocks.
func requireSameAnswers(t require.TestingT, a, all *Node) {
	both(t, a, all, "head", func(v *View) Point { return v.Head() })
	requireSameSnapshots(t, a, all)
	for _, address := range all.state.addresses() {
		requireSameAccount(t, a, all, address)
	}
	for h := range all.state.blocks {
		both(t, a, all, "block by hash", func(v *View) *Block { return v.BlockByHash(h) })
		both(t, a, all, "host by hash", func(v *View) *Block { return v.HostByHash(h) })
		both(t, a, all, "logs", func(v *View) []VMLog { l, _ := v.Logs(h); return l })
	}
	requireSameLogs(t, a, all)
	both(t, a, all, "chunks", func(v *View) []Chunk { return v.Chunks(1, ^uint64(0)) })
	requireWhole(t, chunks(t, a, 1, ^uint64(0)))
}

func requireSameSnapshots(t require.TestingT, a, all *Node) {
	for h := range all.state.height() + 2 {
		both(t, a, all, "snapshot by height", func(v *View) *SnapshotBlock { return v.SnapshotByHeight(h) })
	}
	for h, n := range all.state.snapshots {
		both(t, a, all, "snapshot by hash", func(v *View) *SnapshotBlock { return v.SnapshotByHash(h) })
		for _, address := range all.state.addresses() {
			both(t, a, all, "balance", func(v *View) map[core.TokenID]uint256.Int {
				m, err := v.ConfirmedBalances(h, address, sortedTokens(v.s.tokens))
				require.NoError(t, err)
				return m
			})
		}
		for _, seconds := range []time.Duration{-1, 0, 1} {
			at := n.Time.Add(seconds * time.Second)
			both(t, a, all, "snapshot before", func(v *View) *SnapshotBlock { return v.SnapshotBefore(at) })
		}
		for _, count := range []int{1, 3, 100} {
			both(t, a, all, "snapshots", func(v *View) []*SnapshotBlock { return v.Snapshots(n.Height+1, count) })
		}
	}
}

func requireSameAccount(t require.TestingT, a, all *Node, address core.Address) {
	tip := all.state.accounts[address].tip()
	both(t, a, all, "tip", func(v *View) BlockID { return v.Tip(address) })
	both(t, a, all, "account head", func(v *View) *Block { return v.AccountHead(address) })
	both(t, a, all, "unreceived", func(v *View) []*Block { return v.Unreceived(address, 0, 1000) })
	both(t, a, all, "summary", func(v *View) AccountInfo { return v.UnreceivedSummary(address) })
	for h := range tip.Height + 2 {
		both(t, a, all, "block by height", func(v *View) *Block { return v.BlockByHeight(address, h) })
	}
	for h := range tip.Height + 2 {
		both(t, a, all, "blocks between", func(v *View) []*Block { return v.BlocksBetween(address, h, h+3) })
	}
	for page := range int(tip.Height)/3 + 2 {
		both(t, a, all, "page", func(v *View) []*Block { return v.BlockPage(address, page, 3) })
	}
	for i := range all.state.accounts[address].blocks.recent {
		origin := all.state.accounts[address].blocks.recent[i].block.Hash
		for _, token := range append(sortedTokens(all.state.tokens), core.TokenID{1}) {
			both(t, a, all, "blocks of a token", func(v *View) []*Block {
				list, err := v.Blocks(address, &origin, &token, 4)
				require.NoError(t, err)
				return list
			})
		}
	}
}

func requireSameLogs(t require.TestingT, a, all *Node) {
	ranges := map[core.Address]HeightRange{}
	for c := range builtins {
		ranges[c] = HeightRange{}
	}
	topics := map[core.Hash]bool{}
	for _, e := range all.state.blocks {
		for _, l := range e.logs {
			topics[l.Topics[0]] = true
		}
	}
	filters := []LogFilter{{Ranges: ranges}, {Ranges: ranges, Size: 2}, {Ranges: ranges, Size: 2, Page: 1}, {Ranges: ranges, Size: 3, Page: 2}}
	for topic := range topics {
		filters = append(filters, LogFilter{Ranges: ranges, Topics: [][]core.Hash{{topic}}})
	}
	for c := range builtins {
		tip := all.state.accounts[c].tip().Height
		for from := range min(tip, 12) {
			filters = append(filters, LogFilter{Ranges: map[core.Address]HeightRange{c: {from, from + 4}}},
				LogFilter{Ranges: map[core.Address]HeightRange{c: {From: from}}})
		}
	}
	for _, f := range filters {
		both(t, a, all, "logs", func(v *View) []LogEntry { l, err := v.FindLogs(f); require.NoError(t, err); return l })
	}
}

// TestHistoryAnswersAsMemory: whatever happens, a node that keeps next to nothing in memory answers as one that keeps all;
// also after a start.
func TestHistoryAnswersAsMemory(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Dir: outer.TempDir(), Genesis: walkGenesis(outer), SnapshotInterval: -1, StateEvery: 3000, disk: vfs.NewMem()}
		config.memory = memory{
			depth: rapid.Uint64Range(1, 4).Draw(t, "depth"), changes: rapid.IntRange(20, 400).Draw(t, "changes"),
			snapshots: rapid.Uint64Range(1, 3).Draw(t, "snapshots"), blocks: rapid.IntRange(1, 9).Draw(t, "blocks"),
		}
		l := open(outer, config)
		w := &walk{l, []user{l.rich, l.staked, l.poor}}
		digests := map[uint64]core.Hash{1: w.plainDigest()}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.step(t, digests)
		}
		w.state.checkLinks(t)
		want := w.digest()
		all := remade(outer, config)
		require.Equal(t, want, all.state.hash())
		requireSameAnswers(t, l.Node, all)
		require.NoError(t, l.Close())
		again := open(outer, config)
		require.Equal(t, want, again.digest())
		requireSameAnswers(t, again.Node, all)
		require.NoError(t, again.Close())
		require.NoError(t, all.Close())
	})
}

// TestExchangeHistory does the same with orders.
func TestExchangeHistory(t *testing.T) {
	config := Config{Dir: t.TempDir(), StateEvery: 10_000, memory: smallMemory}
	l := openExchange(t, config)
	l.deposit(l.staked, coin, whole(10_000))
	l.deposit(l.rich, core.VITE, *vite(100_000))
	for i := range 20 {
		l.order(l.staked, dex.Sell, "10", 50)
		l.order(l.rich, dex.Buy, "10", uint64(20+i))
		l.snapshot()
	}
	config.Genesis, config.SnapshotInterval = l.genesis, -1
	all := remade(t, config)
	require.Equal(t, l.digest(), all.state.hash())
	requireSameAnswers(t, l.Node, all)
	require.Less(t, len(l.state.blocks), 40, "most blocks have left memory")
}

// TestMemoryIsBounded: whatever has been settled leaves memory but for what rules need.
func TestMemoryIsBounded(t *testing.T) {
	l := open(t, Config{Genesis: testGenesis(t), SnapshotInterval: -1, memory: memory{depth: 10, changes: 1 << 30, snapshots: 4, blocks: 10}})
	var unreceived core.Hash
	for i := range 200 {
		h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
		if i == 0 {
			unreceived = h
		} else {
			l.do(l.staked, l.receive(l.staked, h))
		}
		l.snapshot()
		require.LessOrEqual(t, len(l.state.chain), 16)
		require.LessOrEqual(t, len(l.state.snapshots), 16)
		require.LessOrEqual(t, len(l.state.blocks), 40)
		for _, a := range l.state.accounts {
			require.LessOrEqual(t, len(a.blocks.recent), 16)
			for _, list := range a.past {
				require.LessOrEqual(t, len(list), 16)
			}
		}
	}
	require.Contains(t, l.state.blocks, unreceived)
	require.Nil(t, l.block(unreceived).Received)
	late := l.do(l.staked, l.receive(l.staked, unreceived))
	require.Equal(t, late, l.block(unreceived).Received.Hash, "received while only memory knows")
	require.Equal(t, error(ErrReceived), l.try(l.staked, l.receive(l.staked, unreceived)))
	for range 20 {
		l.snapshot()
	}
	require.NotContains(t, l.state.blocks, unreceived)
	require.Equal(t, late, l.block(unreceived).Received.Hash, "and when only the history does")
	require.Equal(t, error(ErrReceived), l.try(l.staked, l.receive(l.staked, unreceived)))
	require.Equal(t, error(ErrProducer), l.try(l.poor, l.receive(l.poor, unreceived)))
	require.Equal(t, error(ErrProducer), l.try(l.staked, l.receive(l.staked, late)), "a receive is for no one")
	require.Equal(t, error(ErrConfirmed), l.DropUnconfirmed(unreceived))
}

// TestStartIsShort: however long the log, a start reads no more of it than may lie behind the newest state file, and none of
// the old blocks.
func TestStartIsShort(t *testing.T) {
	const every = 20_000
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: every, memory: smallMemory, disk: vfs.NewMem()}
	l := open(t, config)
	for range 3 {
		l.sendAndReceive(60)
		size := l.log.here().offset
		require.NoError(t, l.Close())
		l = open(t, config)
		require.Less(t, size-l.lastState.offset, int64(every))
		require.Less(t, len(l.state.blocks), 100)
	}
	require.Greater(t, l.log.here().offset, int64(3*every))
}
