package node

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/holiman/uint256"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// busy makes a bit of everything.
func (l *testChain) busy() {
	id := l.issue(l.rich, gtt)
	l.quotas()
	b := l.transfer(l.rich, l.staked.addr, 10)
	b.TokenID = id
	l.do(l.rich, b)
	l.receiveAll(l.staked)
	l.called(l.rich, l.stakeCall(core.StakeForQuota, l.poor.addr, 1000))
	l.called(l.rich, l.creation(l.rich))
	work := l.transfer(l.rich, l.staked.addr, 1)
	easyWork(work, 1000)
	l.do(l.rich, work)
	l.snapshot()
	dropped := l.do(l.rich, l.transfer(l.rich, l.poor.addr, 5))
	require.NoError(l.t, l.DropUnconfirmed(dropped))
	l.snapshot()
	height := l.snapshot().Height
	require.NoError(l.t, l.Rollback(height-1))
	l.do(l.rich, l.call(l.rich, core.AssetContract, core.DisableReIssue, id)) // stays pending
	l.do(l.rich, l.transfer(l.rich, l.poor.addr, 6))
}

func TestReplay(t *testing.T) {
	dir := t.TempDir()
	config := Config{Dir: dir, Genesis: testGenesis(t), SnapshotInterval: -1}
	l := open(t, config)
	l.busy()
	want := l.digest()
	checkBooks(t, l.state, uint256.Int{})
	checkLinks(t, l.state)
	require.NoError(t, l.Close())
	again := open(t, config)
	require.Equal(t, want, again.digest())
	require.NotEmpty(t, again.state.Pending)
	select {
	case <-again.woken:
	default:
		require.Fail(t, "a node with pending calls must wake Run")
	}
	again.do(again.rich, again.transfer(again.rich, again.staked.addr, 1))
}

// TestStateFiles: a start from a state file leads to where a replay of everything leads; damaged
// files are passed over.
func TestStateFiles(t *testing.T) {
	dir := t.TempDir()
	config := Config{Dir: dir, Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 1}
	l := open(t, config)
	l.busy()
	l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	want := l.digest()
	require.NoError(t, l.Close())

	names, err := stateFiles(dir)
	require.NoError(t, err)
	require.Len(t, names, keepStates)
	for range len(names) + 1 {
		again := open(t, config)
		require.Equal(t, want, again.digest())
		require.NoError(t, again.Close())
		if len(names) > 0 {
			data, err := os.ReadFile(names[0])
			require.NoError(t, err)
			data[len(data)/2] ^= 1
			require.NoError(t, os.WriteFile(names[0], data, 0o600))
			names = names[1:]
		}
	}
}

// TestCutStateFile: a truncated state file is ignored, wherever it ends.
func TestCutStateFile(t *testing.T) {
	l := setup(t)
	data := encodeFile(l.state, store.Place{Offset: 100, Frame: 3})
	path := filepath.Join(t.TempDir(), "state-64-1")
	for size := 0; size < len(data); size += 11 {
		require.NoError(t, os.WriteFile(path, data[:size], 0o600))
		s, _ := readState(path, l.rules)
		require.Nil(t, s, "%d of %d bytes", size, len(data))
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s, at := readState(path, l.rules)
	require.Equal(t, stateHash(l.state), stateHash(s))
	require.Equal(t, store.Place{Offset: 100, Frame: 3}, at)
}

// TestIdleChainIsSmall: an empty snapshot block, of which there is one a second, takes next to
// nothing.
func TestIdleChainIsSmall(t *testing.T) {
	l := setupIn(t, t.TempDir())
	l.snapshot()
	before := l.log.Here().Offset
	const n = 200
	for range n {
		l.snapshot()
	}
	require.LessOrEqual(t, l.log.Here().Offset-before, int64(n*18))
	w := &ledger.Writer{}
	w.Run(l.state.Chain[1:])
	require.LessOrEqual(t, len(w.Data), core.HashSize+20+3*n)
}

// TestRollbackBehindAStateFile goes back further than the state file from which the node started.
func TestRollbackBehindAStateFile(t *testing.T) {
	dir := t.TempDir()
	config := Config{Dir: dir, Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 1}
	l := open(t, config)
	h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	for range 4 {
		l.do(l.rich, l.transfer(l.rich, l.staked.addr, 2))
		l.snapshot()
	}
	require.NoError(t, l.Close())

	l = open(t, config)
	require.Greater(t, l.state.Floor, uint64(2), "the start was from a state file")
	require.NoError(t, l.Rollback(2))
	require.Equal(t, h, l.head(l.rich.addr).Hash)
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 3))
	l.snapshot()
	want := l.digest()
	require.NoError(t, l.Close())
	l = open(t, config)
	require.Equal(t, want, l.digest())
	require.Equal(t, uint64(3), l.state.Height())
}

func TestDirectoryHasOneNode(t *testing.T) {
	dir := t.TempDir()
	setupIn(t, dir)
	_, err := New(Config{Dir: dir, Genesis: testGenesis(t)})
	require.ErrorContains(t, err, "in use")
}

func TestOtherGenesisIsRefused(t *testing.T) {
	dir := t.TempDir()
	l := setupIn(t, dir)
	require.NoError(t, l.Close())
	g := testGenesis(t)
	g.StakeLock++
	_, err := New(Config{Dir: dir, Genesis: g})
	require.ErrorIs(t, err, ErrOtherGenesis)
	g = testGenesis(t)
	again := open(t, Config{Dir: dir, Genesis: g})
	require.NoError(t, again.Close())
}

// TestReplayThatGoesAnotherWay: rules that changed since the log was written are found by the
// snapshot hashes.
func TestReplayThatGoesAnotherWay(t *testing.T) {
	dir := t.TempDir()
	l := setupIn(t, dir)
	l.snapshot()
	l.state.Rollbacks = 9 // as a fault would
	l.snapshot()
	require.NoError(t, l.Close())
	_, err := New(Config{Dir: dir, Genesis: testGenesis(t)})
	require.ErrorIs(t, err, ledger.ErrCorrupt)
	require.ErrorContains(t, err, "snapshot block 3")
}

func TestBadRecords(t *testing.T) {
	good := setup(t)
	b := signed(good.rich, good.transfer(good.rich, good.staked.addr, 1))
	b.PreviousHash = core.Hash{1}
	poorSend := good.transfer(good.rich, good.staked.addr, 1)
	poorSend.Amount = *vite(99_000_000)
	for name, record := range map[string][]byte{
		"empty": {}, "unknown": {'?'}, "cut block": ledger.BlockRecord(b)[:50], "misplaced block": ledger.BlockRecord(b),
		"block beyond the balance": ledger.BlockRecord(signed(good.rich, poorSend)),
		"cut snapshot":             {ledger.RecordSnapshot}, "cut drop": {ledger.RecordDrop, 5}, "rollback to 0": ledger.RollbackRecord(0),
		"rollback to the latest": ledger.RollbackRecord(1), "cut rollback": {ledger.RecordRollback},
		"another snapshot":       append([]byte{ledger.RecordSnapshot, 1}, make([]byte, core.HashSize)...),
		"another empty snapshot": {ledger.RecordEmpty, 1, 0, 0, 0, 0}, "a snapshot in 2000 years": snapshotIn(1 << 36),
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, setup(t).state.Replay(record), ledger.ErrCorrupt)
		})
	}
}

func snapshotIn(seconds uint64) []byte {
	return append(binary.AppendUvarint([]byte{ledger.RecordEmpty}, seconds), 0, 0, 0, 0)
}

func TestGenesisIsChecked(t *testing.T) {
	u := newUser(t, 1)
	holding := func(id core.TokenID, n uint64) []ledger.GenesisAccount {
		return []ledger.GenesisAccount{{Address: u.addr, Balances: map[core.TokenID]uint256.Int{id: *uint256.NewInt(n)}}}
	}
	id := core.TokenID{1}
	all := *new(uint256.Int).SetAllOne()
	for name, g := range map[string]ledger.Genesis{
		"unknown token":     {Accounts: holding(id, 1)},
		"over the supply":   {Accounts: holding(id, 2), Tokens: []ledger.TokenInfo{{ID: id, TotalSupply: *uint256.NewInt(1)}}},
		"token twice":       {Tokens: []ledger.TokenInfo{{ID: id}, {ID: id}}},
		"zero token":        {Tokens: []ledger.TokenInfo{{}}},
		"index of 1000":     {Tokens: []ledger.TokenInfo{{ID: id, Index: 1000}}},
		"account twice":     {Accounts: append(holding(core.VITE, 1), holding(core.VITE, 1)...)},
		"contract":          {Accounts: []ledger.GenesisAccount{{Address: core.AssetContract}}},
		"zero account":      {Accounts: []ledger.GenesisAccount{{}}},
		"small stake":       {Stakes: []ledger.GenesisStake{{Staker: u.addr, Beneficiary: u.addr, Amount: *vite(133)}}},
		"more than 2^256":   {Accounts: []ledger.GenesisAccount{{Address: u.addr, Balances: map[core.TokenID]uint256.Int{core.VITE: all}}, holding(core.VITE, 1)[0]}},
		"stakes over 2^256": {Stakes: []ledger.GenesisStake{{Staker: u.addr, Beneficiary: u.addr, Amount: all}, {Staker: u.addr, Beneficiary: u.addr, Amount: all}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Genesis: g})
			require.ErrorIs(t, err, ledger.ErrGenesis)
		})
	}
}

func TestGenesisIsDeterministic(t *testing.T) {
	a, b := setup(t), setup(t)
	require.Equal(t, a.digest(), b.digest())
	require.Equal(t, a.state.Latest().Hash, b.state.Latest().Hash)
	l := open(t, Config{Genesis: ledger.Genesis{Time: time.Unix(5, 999)}, SnapshotInterval: -1})
	l.Read(func(v *View) {
		require.Equal(t, int64(5), v.Head().Time.Unix())
		require.Equal(t, "0", v.Token(core.VITE).TotalSupply.Dec())
		block := v.AccountHead(core.AssetContract)
		require.Equal(t, core.GenesisReceive, block.BlockType)
		require.Equal(t, block.ComputeHash(), block.Hash)
		logs, err := v.Logs(block.Hash)
		require.NoError(t, err)
		require.Equal(t, core.MintEvent.Topic(), logs[0].Topics[0])
		require.Equal(t, uint64(1), block.Confirmations)
	})
}

func TestStateFileNames(t *testing.T) {
	require.Equal(t, uint64(77), heightOf(filepath.Join("x", "state-00000000000000ff-77")))
	require.Equal(t, ^uint64(0), heightOf("state-zz"))
}

func FuzzParseState(f *testing.F) {
	l := openExchange(f, Config{})
	l.deposit(l.staked, coin, whole(100))
	l.order(l.staked, dex.Sell, "10", 50)
	l.busy()
	body := func(s *ledger.State, at store.Place) []byte {
		data := encodeFile(s, at)
		return data[:len(data)-4] // without the checksum, which would stop every mutation
	}
	f.Add(body(l.state, store.Place{Offset: 100, Frame: 3}))
	rules := l.state.Rules
	f.Fuzz(func(t *testing.T, data []byte) {
		s, at := parseFile(data, rules)
		if s == nil {
			return
		}
		again, there := parseFile(body(s, at), rules)
		require.NotNil(t, again)
		require.Equal(t, at, there)
	})
}

func FuzzRecord(f *testing.F) {
	l := setup(f)
	f.Add(ledger.BlockRecord(signed(l.rich, l.transfer(l.rich, l.staked.addr, 1))))
	l.snapshot()
	f.Add(l.state.SnapshotRecord())
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	f.Add(l.state.SnapshotRecord())
	f.Add(ledger.DropRecord([]core.Hash{{1}}))
	f.Add(ledger.RollbackRecord(3))
	f.Add([]byte{ledger.RecordStep})
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := setup(t).state.Replay(data); err != nil {
			require.ErrorIs(t, err, ledger.ErrCorrupt)
		}
	})
}

// TestCopyOfARunningChain: what is copied while blocks come opens, and has every block that was
// acknowledged before.
func TestCopyOfARunningChain(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1}
	l := open(t, config)
	for range 10 {
		acknowledged := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
		l.snapshot()
		var writer sync.WaitGroup
		writer.Go(func() {
			for range 5 {
				l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
			}
		})
		copied := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1}
		copyLog(t, config.Dir, copied.Dir)
		writer.Wait()
		require.NotNil(t, open(t, copied).block(acknowledged))
	}
}

// copyLog copies the chain's log as cp does, in small pieces.
func copyLog(t *testing.T, from, to string) {
	in, err := os.Open(filepath.Join(from, LogName))
	require.NoError(t, err)
	defer in.Close()
	out, err := os.Create(filepath.Join(to, LogName))
	require.NoError(t, err)
	_, err = io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{in}, make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

// TestCopyOfARunningFolder: the complete folder, copied in any order of its files while blocks and
// state files are written, opens. It gives the same answers as a replay of its log, and has every
// block that was acknowledged before. A state file that is newer than the log is removed, with one
// log line each.
func TestCopyOfARunningFolder(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 2000, retention: smallMemory}
	l := open(t, config)
	l.sendAndReceive(20)
	height := func() uint64 { return view(t, l.Node, func(v *View) ledger.Point { return v.Head() }).Height }
	random := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		const more = 12
		from := height() + random.Uint64N(more)
		var writer sync.WaitGroup
		writer.Go(func() { l.sendAndReceive(more) })
		for height() < from {
			runtime.Gosched()
		}
		acknowledged := view(t, l.Node, func(v *View) ledger.Point { return v.Head() })
		require.NoError(t, l.log.Flush()) // a view shows what is not durable yet
		copied := config
		copied.Dir = t.TempDir()
		copyFolder(t, config.Dir, copied.Dir, random)
		writer.Wait()
		requireSound(t, copied, acknowledged)
	}
}

// requireSound opens a copy, and opens it again after more blocks have come.
func requireSound(t *testing.T, copied Config, acknowledged ledger.Point) {
	log, told := logtest.NewNullLogger()
	copied.Log = log
	names, err := stateFiles(copied.Dir)
	require.NoError(t, err)
	again := open(t, copied)
	kept, err := stateFiles(copied.Dir)
	require.NoError(t, err)
	require.Len(t, told.AllEntries(), len(names)-len(kept))
	require.NotNil(t, view(t, again.Node, func(v *View) *SnapshotBlock { return v.SnapshotByHash(acknowledged.Hash) }))
	requireSameAnswers(t, again.Node, remade(t, copied))
	again.sendAndReceive(10) // past the places of the state files that are gone
	want := again.digest()
	require.NoError(t, again.Close())
	again = open(t, copied)
	require.Equal(t, want, again.digest())
	require.NoError(t, again.Close())
}

// TestStateNewerThanTheLog: a state file goes when the log ends before its place, and an older one
// or the genesis serves.
func TestStateNewerThanTheLog(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: testGenesis(t), SnapshotInterval: -1, StateEvery: 2000, retention: smallMemory}
	l := open(t, config)
	l.sendAndReceive(40)
	require.NoError(t, l.Close())
	names, err := stateFiles(config.Dir)
	require.NoError(t, err)
	require.Len(t, names, keepStates)
	for left, name := range names {
		_, at := readState(name, l.rules)
		cut := config
		cut.Dir = t.TempDir()
		require.NoError(t, os.CopyFS(cut.Dir, os.DirFS(config.Dir)))
		require.NoError(t, os.Truncate(filepath.Join(cut.Dir, LogName), at.Offset-1))
		log, told := logtest.NewNullLogger()
		cut.Log = log
		again := open(t, cut)
		kept, err := stateFiles(cut.Dir)
		require.NoError(t, err)
		require.Len(t, kept, keepStates-1-left)
		require.Len(t, told.AllEntries(), left+1)
		require.Contains(t, told.LastEntry().Message, "older than this state file")
		requireSameAnswers(t, again.Node, remade(t, cut))
		require.NoError(t, again.Close())
	}
}

// copyFolder copies a folder as cp -r does, in an order of chance and without what goes meanwhile.
func copyFolder(t *testing.T, from, to string, random *rand.Rand) {
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	random.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	for _, e := range entries {
		in, out := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if e.IsDir() {
			require.NoError(t, os.Mkdir(out, 0o700))
			copyFolder(t, in, out, random)
			continue
		}
		data, err := os.ReadFile(in)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(out, data, 0o600))
	}
}
