package node

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// smallMemory has everything leave memory as soon as it can.
var smallMemory = ledger.Retention{Depth: 2, Changes: 1 << 30, Snapshots: 1, Blocks: 1}

// sendAndReceive makes n snapshot blocks with a send and a receive in each.
func (l *testChain) sendAndReceive(n int) {
	for range n {
		if list := l.unreceived(l.staked.addr); len(list) > 2 {
			l.do(l.staked, l.receive(l.staked, list[0].Hash))
		}
		l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
		l.snapshot()
	}
}

func readAll(t *testing.T, fs vfs.FS, path string) []byte {
	file, err := fs.Open(path)
	require.NoError(t, err)
	data, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return data
}

func writeAll(t *testing.T, fs vfs.FS, path string, data []byte) {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = file.Write(data)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// copyDisk copies one folder to a separate disk. It repeats while files appear or vanish, as the
// database compacts in the background.
func copyDisk(t *testing.T, from vfs.FS, path string) vfs.FS {
	for {
		to := vfs.NewMem()
		before := filesOf(t, from, path)
		_, err := vfs.Clone(from, to, path, path, vfs.CloneSkip(func(file string) bool { return filepath.Base(file) == "LOCK" }))
		if after := filesOf(t, from, path); slices.Equal(before, after) {
			require.NoError(t, err)
			return to
		}
	}
}

func filesOf(t *testing.T, disk vfs.FS, path string) []string {
	names, err := disk.List(path)
	require.NoError(t, err)
	slices.Sort(names)
	return names
}

// damages are some ways in which a file may be hurt: cut anywhere, emptied, a bit turned anywhere;
// nil: lost.
func damages(whole []byte) [][]byte {
	list := [][]byte{nil}
	step := max(len(whole)/8, 1)
	for at := 0; at < len(whole); at += step {
		list = append(list, append([]byte{}, whole[:at]...))
		turned := append([]byte{}, whole...)
		turned[at] ^= 0x10
		list = append(list, turned)
	}
	return list
}

// TestDamagedHistoryIsMadeAnew damages each file of a history in turn. A start heals it, or the
// first read reports it and the next start heals it.
func TestDamagedHistoryIsMadeAnew(t *testing.T) {
	disk := vfs.NewMem()
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 2000, retention: smallMemory, disk: disk}
	l := open(t, config)
	l.sendAndReceive(12)
	require.NoError(t, l.Close())
	all := remade(t, config)
	path := filepath.Join(config.Dir, store.DirName)
	names, err := disk.List(path)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		for i, data := range damages(readAll(t, disk, filepath.Join(path, name))) {
			config.disk = copyDisk(t, disk, path)
			if data == nil {
				require.NoError(t, config.disk.RemoveAll(filepath.Join(path, name)))
			} else {
				writeAll(t, config.disk, filepath.Join(path, name), data)
			}
			requireHeals(t, config, all, fmt.Sprintf("damage %d of %s", i, name))
		}
	}
}

func requireHeals(t *testing.T, config Config, all *Node, what string) {
	for range 2 {
		n, err := New(config)
		require.NoError(t, err, what)
		require.Equal(t, stateHash(all.state), stateHash(n.state), what)
		var blocks []*Block
		err = n.Read(func(v *View) {
			for a := range all.state.Accounts {
				blocks = append(blocks, v.BlockPage(a, 0, 1000)...)
			}
			for _, b := range blocks {
				v.BlockByHash(b.Hash)
			}
			v.Snapshots(1000, 1000)
		})
		if err == nil {
			requireSameAnswers(t, n, all)
			require.NoError(t, n.Close())
			return
		}
		require.ErrorContains(t, err, "reading the history", what)
		require.NoError(t, n.Close())
	}
	require.Fail(t, "the history stays damaged", what)
}

// TestHistoryAfterPowerLoss has the disk forget a random part of what the history had not synced,
// at random moments. The log and the state files, which are synced, lose nothing.
func TestHistoryAfterPowerLoss(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	disk := vfs.NewCrashableMem()
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 3000, retention: smallMemory}
	config.disk = disk
	l := open(t, config)
	for range 12 {
		l.sendAndReceive(1 + chance.IntN(8))
		if chance.IntN(3) == 0 {
			require.NoError(t, l.Rollback(l.state.Height()-1))
		}
		disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: chance.IntN(101), RNG: chance})
		saved := t.TempDir()
		require.NoError(t, os.CopyFS(saved, os.DirFS(config.Dir)))
		want := l.digest()
		require.NoError(t, l.Close())
		require.NoError(t, os.RemoveAll(config.Dir))
		require.NoError(t, os.CopyFS(config.Dir, os.DirFS(saved)))
		config.disk = disk
		l = open(t, config)
		require.Equal(t, want, l.digest())
		all := remade(t, config)
		requireSameAnswers(t, l.Node, all)
		require.NoError(t, all.Close())
	}
}

// TestSlowReaderHoldsUpNothing stops the disk in the middle of a query. Blocks and snapshot blocks
// continue.
func TestSlowReaderHoldsUpNothing(t *testing.T) {
	disk := &slowDisk{FS: vfs.NewMem(), reached: make(chan struct{}, 1), release: make(chan struct{})}
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 16, retention: smallMemory, disk: disk}
	l := open(t, config)
	first := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.do(l.staked, l.receive(l.staked, first))
	l.sendAndReceive(100) // so that it takes more than what a start reads
	require.NoError(t, l.Close())
	config.StateEvery = 0
	l = open(t, config)
	disk.slow.Store(true)
	answer := make(chan *Block, 1)
	failed := make(chan error, 1)
	go func() {
		var b *Block
		failed <- l.Node.Read(func(v *View) { b = v.BlockByHash(first) })
		answer <- b
	}()
	<-disk.reached
	height := l.state.Height()
	l.sendAndReceive(20)
	require.Equal(t, height+20, l.state.Height())
	require.Empty(t, answer, "the reader still waits")
	close(disk.release)
	require.NoError(t, <-failed)
	b := <-answer
	require.Equal(t, first, b.Hash)
	require.Equal(t, height+20, b.Confirmations+b.Snapshot.Height-1, "it is told as of the end of the read")
}

// TestCutLogWithHistory cuts the log anywhere behind the place of the newest state file, while the
// history knows more. What the log still has is there; nothing else is.
func TestCutLogWithHistory(t *testing.T) {
	disk := vfs.NewMem()
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 4000, retention: smallMemory, disk: disk}
	l := open(t, config)
	l.sendAndReceive(30)
	for l.lastState.Offset+1000 > l.log.Here().Offset {
		l.sendAndReceive(1)
	}
	require.NoError(t, l.history.Sync())
	path, saved := filepath.Join(config.Dir, store.DirName), t.TempDir()
	require.NoError(t, os.CopyFS(saved, os.DirFS(config.Dir)))
	from, size := l.lastState.Offset, l.log.Here().Offset
	require.Less(t, from, size)
	for at := from; at < size; at += max((size-from)/6, 1) {
		after := config
		after.Dir = t.TempDir()
		require.NoError(t, os.CopyFS(after.Dir, os.DirFS(saved)))
		require.NoError(t, os.Truncate(filepath.Join(after.Dir, LogName), at))
		moved := vfs.NewMem()
		_, err := vfs.Clone(copyDisk(t, disk, path), moved, path, filepath.Join(after.Dir, store.DirName))
		require.NoError(t, err)
		after.disk = moved
		again := open(t, after)
		all := remade(t, after)
		require.Equal(t, stateHash(all.state), again.digest(), "%d of %d bytes", at, size)
		requireSameAnswers(t, again.Node, all)
	}
	config.Dir = saved
	for _, lose := range []func() error{
		func() error { return os.Truncate(filepath.Join(saved, LogName), int64(store.HeaderSize)-1) },
		func() error { return os.Remove(filepath.Join(saved, LogName)) },
	} {
		require.NoError(t, lose())
		_, err := New(config)
		require.ErrorIs(t, err, store.ErrCorrupt, "the log is gone, the state files are not")
	}
}

// TestReadersWhileBlocksLeaveMemory: every acknowledged block stays visible to every reader, and
// received sends stay received, while blocks move from memory to the history during the reads.
func TestReadersWhileBlocksLeaveMemory(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 4000, retention: smallMemory, disk: vfs.NewMem()}
	l := open(t, config)
	var mu sync.Mutex
	var received []core.Hash // sends
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	readers, _ := errgroup.WithContext(ctx)
	for seed := range uint64(3) {
		chance := rand.New(rand.NewPCG(seed, 7))
		readers.Go(func() error {
			for ctx.Err() == nil {
				mu.Lock()
				known := slices.Clone(received)
				mu.Unlock()
				if len(known) == 0 {
					continue
				}
				if err := l.readSome(chance, known); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 150 {
		h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
		l.do(l.staked, l.receive(l.staked, h))
		mu.Lock()
		received = append(received, h)
		mu.Unlock()
		l.snapshot()
	}
	cancel()
	require.NoError(t, readers.Wait())
}

// readSome asks for one of the sends in several ways.
func (l *testChain) readSome(chance *rand.Rand, received []core.Hash) error {
	at := chance.IntN(len(received))
	var b, byHeight *Block
	var page, older []*Block
	err := l.Node.Read(func(v *View) {
		b = v.BlockByHash(received[at])
		byHeight = v.BlockByHeight(l.rich.addr, uint64(at)+2)
		page = v.BlockPage(l.rich.addr, 0, len(received))
		older, _ = v.Blocks(context.Background(), l.rich.addr, &received[at], nil, 5)
	})
	if err != nil {
		return err
	}
	for _, found := range append(append([]*Block{b, byHeight}, page...), older...) {
		if found == nil {
			return fmt.Errorf("send %d of %d is missing", at, len(received))
		}
		if found.Received == nil && slices.Contains(received, found.Hash) {
			return fmt.Errorf("send %s is told as not received", found.Hash)
		}
	}
	if len(page) != len(received) || older[0].Hash != received[at] || byHeight.Hash != received[at] {
		return fmt.Errorf("send %d of %d is not where it should be", at, len(received))
	}
	return nil
}
