package node

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// busy makes a bit of everything.
func (l *ledger) busy() {
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
	l.state.checkBooks(t, uint256.Int{})
	l.state.checkLinks(t)
	require.NoError(t, l.Close())
	again := open(t, config)
	require.Equal(t, want, again.digest())
	require.NotEmpty(t, again.state.pending)
	select {
	case <-again.poke:
	default:
		require.Fail(t, "a node with pending calls must wake Run")
	}
	again.do(again.rich, again.transfer(again.rich, again.staked.addr, 1))
}

// TestStateFiles: a start from a state file leads to where a replay of everything leads; damaged files are passed over.
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

// TestCutStateFile: a state file that is not whole is passed over, wherever it ends.
func TestCutStateFile(t *testing.T) {
	l := setup(t)
	data := encodeState(l.state, place{100, 3})
	path := filepath.Join(t.TempDir(), "state-64-1")
	for size := 0; size < len(data); size += 11 {
		require.NoError(t, os.WriteFile(path, data[:size], 0o600))
		s, _ := readState(path, l.rules)
		require.Nil(t, s, "%d of %d bytes", size, len(data))
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))
	s, at := readState(path, l.rules)
	require.Equal(t, l.state.hash(), s.hash())
	require.Equal(t, place{100, 3}, at)
}

// TestIdleChainIsSmall: an empty snapshot block, of which there is one a second, takes next to nothing.
func TestIdleChainIsSmall(t *testing.T) {
	l := setupIn(t, t.TempDir())
	l.snapshot()
	before := l.log.here().offset
	const n = 200
	for range n {
		l.snapshot()
	}
	require.LessOrEqual(t, l.log.here().offset-before, int64(n*18))
	w := &writer{}
	w.run(l.state.chain[1:])
	require.LessOrEqual(t, len(w.data), core.HashSize+20+3*n)
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
	require.Greater(t, l.state.floor, uint64(2), "the start was from a state file")
	require.NoError(t, l.Rollback(2))
	require.Equal(t, h, l.head(l.rich.addr).Hash)
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 3))
	l.snapshot()
	want := l.digest()
	require.NoError(t, l.Close())
	l = open(t, config)
	require.Equal(t, want, l.digest())
	require.Equal(t, uint64(3), l.state.height())
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
	require.ErrorIs(t, err, ErrCorrupt)
	g = testGenesis(t)
	again := open(t, Config{Dir: dir, Genesis: g})
	require.NoError(t, again.Close())
}

// TestReplayThatGoesAnotherWay: rules that changed since the log was written are found by the snapshot hashes.
func TestReplayThatGoesAnotherWay(t *testing.T) {
	dir := t.TempDir()
	l := setupIn(t, dir)
	l.snapshot()
	l.state.rollbacks = 9 // as a fault would
	l.snapshot()
	require.NoError(t, l.Close())
	_, err := New(Config{Dir: dir, Genesis: testGenesis(t)})
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "snapshot block 3")
}

func TestBadRecords(t *testing.T) {
	good := setup(t)
	b := signed(good.rich, good.transfer(good.rich, good.staked.addr, 1))
	b.PreviousHash = core.Hash{1}
	poorSend := good.transfer(good.rich, good.staked.addr, 1)
	poorSend.Amount = *vite(99_000_000)
	for name, record := range map[string][]byte{
		"empty": {}, "unknown": {'?'}, "cut block": blockRecord(b)[:50], "misplaced block": blockRecord(b),
		"block beyond the balance": blockRecord(signed(good.rich, poorSend)),
		"cut snapshot":             {recordSnapshot}, "cut drop": {recordDrop, 5}, "rollback to 0": rollbackRecord(0),
		"rollback to the latest": rollbackRecord(1), "cut rollback": {recordRollback},
		"another snapshot":       append([]byte{recordSnapshot, 1}, make([]byte, core.HashSize)...),
		"another empty snapshot": {recordEmpty, 1, 0, 0, 0, 0}, "a snapshot in 2000 years": snapshotIn(1 << 36),
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, setup(t).state.replay(record), ErrCorrupt)
		})
	}
}

func snapshotIn(seconds uint64) []byte {
	return append(binary.AppendUvarint([]byte{recordEmpty}, seconds), 0, 0, 0, 0)
}

func TestGenesisIsChecked(t *testing.T) {
	u := newUser(t, 1)
	holding := func(id core.TokenID, n uint64) []GenesisAccount {
		return []GenesisAccount{{u.addr, map[core.TokenID]uint256.Int{id: *uint256.NewInt(n)}}}
	}
	id := core.TokenID{1}
	all := *new(uint256.Int).SetAllOne()
	for name, g := range map[string]Genesis{
		"unknown token":     {Accounts: holding(id, 1)},
		"over the supply":   {Accounts: holding(id, 2), Tokens: []TokenInfo{{ID: id, TotalSupply: *uint256.NewInt(1)}}},
		"token twice":       {Tokens: []TokenInfo{{ID: id}, {ID: id}}},
		"zero token":        {Tokens: []TokenInfo{{}}},
		"index of 1000":     {Tokens: []TokenInfo{{ID: id, Index: 1000}}},
		"account twice":     {Accounts: append(holding(core.VITE, 1), holding(core.VITE, 1)...)},
		"contract":          {Accounts: []GenesisAccount{{Address: core.AssetContract}}},
		"zero account":      {Accounts: []GenesisAccount{{}}},
		"small stake":       {Stakes: []GenesisStake{{u.addr, u.addr, *vite(133)}}},
		"more than 2^256":   {Accounts: []GenesisAccount{{u.addr, map[core.TokenID]uint256.Int{core.VITE: all}}, holding(core.VITE, 1)[0]}},
		"stakes over 2^256": {Stakes: []GenesisStake{{u.addr, u.addr, all}, {u.addr, u.addr, all}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(Config{Genesis: g})
			require.ErrorIs(t, err, ErrGenesis)
		})
	}
}

func TestGenesisIsDeterministic(t *testing.T) {
	a, b := setup(t), setup(t)
	require.Equal(t, a.digest(), b.digest())
	require.Equal(t, a.state.latest().Hash, b.state.latest().Hash)
	l := open(t, Config{Genesis: Genesis{Time: time.Unix(5, 999)}, SnapshotInterval: -1})
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
	body := func(s *state, at place) []byte {
		data := encodeState(s, at)
		return data[:len(data)-4] // without the checksum, which would stop every mutation
	}
	f.Add(body(l.state, place{100, 3}))
	rules := l.state.rules
	f.Fuzz(func(t *testing.T, data []byte) {
		s, at := parseState(data, rules)
		if s == nil {
			return
		}
		again, there := parseState(body(s, at), rules)
		require.NotNil(t, again)
		require.Equal(t, at, there)
	})
}

func FuzzRecord(f *testing.F) {
	l := setup(f)
	f.Add(blockRecord(signed(l.rich, l.transfer(l.rich, l.staked.addr, 1))))
	l.snapshot()
	f.Add(l.state.snapshotRecord())
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	l.snapshot()
	f.Add(l.state.snapshotRecord())
	f.Add(dropRecord([]core.Hash{{1}}))
	f.Add(rollbackRecord(3))
	f.Add([]byte{recordStep})
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := setup(t).state.replay(data); err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
		}
	})
}
