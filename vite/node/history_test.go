package node

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// keepAll never gives anything to the history.
var keepAll = ledger.Retention{Depth: 1 << 40, Changes: 1 << 40, Snapshots: 1 << 40, Blocks: 1 << 40}

// remade opens a copy of a node's log and nothing else, with everything in memory: what it answers,
// the node must answer.
func remade(t testing.TB, config Config) *Node {
	data, err := os.ReadFile(filepath.Join(config.Dir, LogName))
	require.NoError(t, err)
	config.Dir, config.retention, config.disk = t.TempDir(), keepAll, nil
	require.NoError(t, os.WriteFile(filepath.Join(config.Dir, LogName), data, 0o600))
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
	both(t, a, all, "head", func(v *View) ledger.Point { return v.Head() })
	requireSameSnapshots(t, a, all)
	for _, address := range all.state.Addresses() {
		requireSameAccount(t, a, all, address)
	}
	for h := range all.state.Blocks {
		both(t, a, all, "block by hash", func(v *View) *Block { return v.BlockByHash(h) })
		both(t, a, all, "host by hash", func(v *View) *Block { return v.HostByHash(h) })
		both(t, a, all, "logs", func(v *View) []ledger.VMLog { l, _ := v.Logs(h); return l })
	}
	requireSameLogs(t, a, all)
	both(t, a, all, "chunks", func(v *View) []Chunk { return v.Chunks(1, ^uint64(0)) })
	requireWhole(t, chunks(t, a, 1, ^uint64(0)))
}

func requireSameSnapshots(t require.TestingT, a, all *Node) {
	for h := range all.state.Height() + 2 {
		both(t, a, all, "snapshot by height", func(v *View) *SnapshotBlock { return v.SnapshotByHeight(h) })
	}
	for h, n := range all.state.Snapshots {
		both(t, a, all, "snapshot by hash", func(v *View) *SnapshotBlock { return v.SnapshotByHash(h) })
		for _, address := range all.state.Addresses() {
			both(t, a, all, "balance", func(v *View) map[core.TokenID]uint256.Int {
				m, err := v.ConfirmedBalances(h, address, ledger.SortedTokens(v.s.Tokens))
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
	tip := all.state.Accounts[address].Head()
	both(t, a, all, "tip", func(v *View) ledger.BlockID { return v.HeadID(address) })
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
	for i := range all.state.Accounts[address].Blocks.Recent {
		origin := all.state.Accounts[address].Blocks.Recent[i].Block.Hash
		for _, token := range append(ledger.SortedTokens(all.state.Tokens), core.TokenID{1}) {
			both(t, a, all, "blocks of a token", func(v *View) []*Block {
				list, err := v.Blocks(context.Background(), address, &origin, &token, 4)
				require.NoError(t, err)
				return list
			})
		}
	}
}

func requireSameLogs(t require.TestingT, a, all *Node) {
	ranges := map[core.Address]HeightRange{}
	for c := range builtinContracts {
		ranges[c] = HeightRange{}
	}
	topics := map[core.Hash]bool{}
	for _, e := range all.state.Blocks {
		for _, l := range e.Logs {
			topics[l.Topics[0]] = true
		}
	}
	filters := []LogFilter{{Ranges: ranges}, {Ranges: ranges, Size: 2}, {Ranges: ranges, Size: 2, Page: 1}, {Ranges: ranges, Size: 3, Page: 2}}
	for topic := range topics {
		filters = append(filters, LogFilter{Ranges: ranges, Topics: [][]core.Hash{{topic}}})
	}
	for c := range builtinContracts {
		tip := all.state.Accounts[c].Head().Height
		for from := range min(tip, 12) {
			filters = append(filters, LogFilter{Ranges: map[core.Address]HeightRange{c: {from, from + 4}}},
				LogFilter{Ranges: map[core.Address]HeightRange{c: {From: from}}})
		}
	}
	for _, f := range filters {
		both(t, a, all, "logs", func(v *View) []LogEntry {
			l, err := v.FindLogs(context.Background(), f)
			require.NoError(t, err)
			return l
		})
	}
}

// TestHistoryAnswersAsMemory: whatever happens, a node that keeps next to nothing in memory answers
// as one that keeps all; also after a start.
func TestHistoryAnswersAsMemory(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Dir: outer.TempDir(), Genesis: walkGenesis(outer), SnapshotInterval: -1, StateEvery: 3000, disk: vfs.NewMem()}
		config.retention = ledger.Retention{
			Depth: rapid.Uint64Range(1, 4).Draw(t, "depth"), Changes: rapid.IntRange(20, 400).Draw(t, "changes"),
			Snapshots: rapid.Uint64Range(1, 3).Draw(t, "snapshots"), Blocks: rapid.IntRange(1, 9).Draw(t, "blocks"),
		}
		l := open(outer, config)
		w := &walk{l, []user{l.rich, l.staked, l.poor}}
		digests := map[uint64]core.Hash{1: w.plainDigest()}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.step(t, digests)
		}
		checkLinks(t, w.state)
		want := w.digest()
		all := remade(outer, config)
		require.Equal(t, want, stateHash(all.state))
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
	config := Config{Dir: t.TempDir(), StateEvery: 10_000, retention: smallMemory}
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
	require.Equal(t, l.digest(), stateHash(all.state))
	requireSameAnswers(t, l.Node, all)
	require.Less(t, len(l.state.Blocks), 40, "most blocks have left memory")
}

// endsAfter is a context that ends once it has been asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestSearchesEnd: a scan of an account's blocks ends with its caller.
func TestSearchesEnd(t *testing.T) {
	l := open(t, Config{Genesis: testGenesis(t), SnapshotInterval: -1, retention: smallMemory})
	for range 100 {
		l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
		l.snapshot()
	}
	searches := map[string]func(ctx context.Context, v *View){
		"blocks of a token": func(ctx context.Context, v *View) { _, _ = v.Blocks(ctx, l.rich.addr, nil, &core.VX, 1) },
		"logs": func(ctx context.Context, v *View) {
			_, _ = v.FindLogs(ctx, LogFilter{Ranges: map[core.Address]HeightRange{l.rich.addr: {}}})
		},
	}
	for name, search := range searches {
		t.Run(name, func(t *testing.T) {
			for _, left := range []int{0, 1, 5, 60} {
				ctx := &endsAfter{t.Context(), left}
				require.ErrorIs(t, l.Node.Read(func(v *View) { search(ctx, v) }), context.DeadlineExceeded)
				require.Equal(t, -1, ctx.left, "it is asked no more")
			}
			require.NoError(t, l.Node.Read(func(v *View) { search(t.Context(), v) }))
		})
	}
}

// TestMemoryIsBounded: whatever has been settled leaves memory but for what rules need.
func TestMemoryIsBounded(t *testing.T) {
	l := open(t, Config{Genesis: testGenesis(t), SnapshotInterval: -1, retention: ledger.Retention{Depth: 10, Changes: 1 << 30, Snapshots: 4, Blocks: 10}})
	var unreceived core.Hash
	for i := range 200 {
		h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
		if i == 0 {
			unreceived = h
		} else {
			l.do(l.staked, l.receive(l.staked, h))
		}
		l.snapshot()
		require.LessOrEqual(t, len(l.state.Chain), 16)
		require.LessOrEqual(t, len(l.state.Snapshots), 16)
		require.LessOrEqual(t, len(l.state.Blocks), 40)
		for _, a := range l.state.Accounts {
			require.LessOrEqual(t, len(a.Blocks.Recent), 16)
			for _, list := range a.Past {
				require.LessOrEqual(t, len(list), 16)
			}
		}
	}
	require.Contains(t, l.state.Blocks, unreceived)
	require.Nil(t, l.block(unreceived).Received)
	late := l.do(l.staked, l.receive(l.staked, unreceived))
	require.Equal(t, late, l.block(unreceived).Received.Hash, "received while only memory knows")
	require.Equal(t, error(ledger.ErrReceived), l.try(l.staked, l.receive(l.staked, unreceived)))
	for range 20 {
		l.snapshot()
	}
	require.NotContains(t, l.state.Blocks, unreceived)
	require.Equal(t, late, l.block(unreceived).Received.Hash, "and when only the history does")
	require.Equal(t, error(ledger.ErrReceived), l.try(l.staked, l.receive(l.staked, unreceived)))
	require.Equal(t, error(ledger.ErrProducer), l.try(l.poor, l.receive(l.poor, unreceived)))
	require.Equal(t, error(ledger.ErrProducer), l.try(l.staked, l.receive(l.staked, late)), "a receive is for no one")
	require.Equal(t, error(ledger.ErrConfirmed), l.DropUnconfirmed(unreceived))
}

// TestStartIsShort: however long the log, a start reads no more of it than may lie behind the
// newest state file, and none of the old blocks.
func TestStartIsShort(t *testing.T) {
	const every = 20_000
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: every, retention: smallMemory, disk: vfs.NewMem()}
	l := open(t, config)
	for range 3 {
		l.sendAndReceive(60)
		size := l.log.Here().Offset
		require.NoError(t, l.Close())
		l = open(t, config)
		require.Less(t, size-l.lastState.Offset, int64(every))
		require.Less(t, len(l.state.Blocks), 100)
	}
	require.Greater(t, l.log.Here().Offset, int64(3*every))
}

var builtinContracts = map[core.Address]bool{
	core.AssetContract: true, core.QuotaContract: true, core.DexFundContract: true, core.DexTradeContract: true,
}
