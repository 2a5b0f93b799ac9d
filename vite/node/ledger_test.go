package node

import (
	"context"
	"encoding/binary"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// clock is a time that tests set. Each reading advances it by a second.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// testChain is a node with some users.
type testChain struct {
	*Node
	t testing.TB
	// rich has 10,000,000 VITE and a stake of 1,000,000; staked has the same stake and nothing
	// else; poor has neither.
	rich, staked, poor user
}

// user is an account with its key.
type user struct {
	key  core.PrivateKey
	addr core.Address
}

func newUser(t testing.TB, n uint64) user {
	var seed [core.SeedSize]byte
	binary.BigEndian.PutUint64(seed[:], n)
	key, err := core.NewPrivateKey(seed[:])
	require.NoError(t, err)
	return user{key, key.Address()}
}

func testGenesis(t testing.TB) ledger.Genesis {
	rich, staked := newUser(t, 1), newUser(t, 2)
	return ledger.Genesis{
		Accounts: []ledger.GenesisAccount{{Address: rich.addr, Balances: map[core.TokenID]uint256.Int{core.VITE: *vite(10_000_000)}}},
		Stakes: []ledger.GenesisStake{
			{Staker: rich.addr, Beneficiary: rich.addr, Amount: *vite(1_000_000)},
			{Staker: rich.addr, Beneficiary: staked.addr, Amount: *vite(1_000_000)},
		},
		StakeLock: 5,
	}
}

func setup(t testing.TB) *testChain { return setupIn(t, "") }

func setupIn(t testing.TB, dir string) *testChain {
	return open(t, Config{Dir: dir, Genesis: testGenesis(t), SnapshotInterval: -1})
}

func open(t testing.TB, config Config) *testChain {
	if config.Now == nil {
		config.Now = (&clock{now: time.Unix(1_700_000_000, 0)}).Now
	}
	n, err := New(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return &testChain{n, t, newUser(t, 1), newUser(t, 2), newUser(t, 3)}
}

// next is the frame of u's next block.
func (l *testChain) next(u user) *core.AccountBlock {
	tip := view(l.t, l.Node, func(v *View) ledger.BlockID { return v.HeadID(u.addr) })
	return &core.AccountBlock{Address: u.addr, Height: tip.Height + 1, PreviousHash: tip.Hash}
}

func (l *testChain) head(a core.Address) (b *Block) {
	l.Read(func(v *View) { b = v.AccountHead(a) })
	return b
}

func (l *testChain) block(h core.Hash) (b *Block) {
	l.Read(func(v *View) { b = v.BlockByHash(h) })
	return b
}

func (l *testChain) unreceived(a core.Address) (list []*Block) {
	l.Read(func(v *View) { list = v.Unreceived(a, 0, 1000) })
	return list
}

func (l *testChain) balance(a core.Address, token core.TokenID) string {
	amount := new(uint256.Int)
	l.Read(func(v *View) {
		for _, b := range v.AccountInfo(a).Balances {
			if b.Token.ID == token {
				amount = &b.Amount
			}
		}
	})
	return amount.Dec()
}

// transfer is an unsigned send of VITE's smallest units.
func (l *testChain) transfer(from user, to core.Address, amount uint64) *core.AccountBlock {
	b := l.next(from)
	b.BlockType, b.ToAddress, b.TokenID, b.Amount = core.SendCall, to, core.VITE, *uint256.NewInt(amount)
	return b
}

// receive is an unsigned receive.
func (l *testChain) receive(u user, send core.Hash) *core.AccountBlock {
	b := l.next(u)
	b.BlockType, b.SendBlockHash = core.Receive, send
	return b
}

// call is an unsigned call of a built-in contract, with the fee that it needs.
func (l *testChain) call(u user, contract core.Address, m core.Method, args ...any) *core.AccountBlock {
	data, err := m.Pack(args...)
	require.NoError(l.t, err)
	b := l.next(u)
	b.BlockType, b.ToAddress, b.TokenID, b.Data = core.SendCall, contract, core.VITE, data
	b.Fee = core.RequiredFee(b.BlockType, contract, data)
	return b
}

// try signs and submits.
func (l *testChain) try(u user, b *core.AccountBlock) error {
	b.SignWith(u.key)
	return l.Submit(context.Background(), b)
}

// do is try for blocks that must be taken.
func (l *testChain) do(u user, b *core.AccountBlock) core.Hash {
	l.t.Helper()
	require.NoError(l.t, l.try(u, b))
	return b.Hash
}

// called does a call, lets the contract receive, and answers the receive block.
func (l *testChain) called(u user, b *core.AccountBlock) *Block {
	l.t.Helper()
	h := l.do(u, b)
	require.NoError(l.t, l.Tick())
	send := l.block(h)
	require.NotNil(l.t, send.Received)
	return l.block(send.Received.Hash)
}

func (l *testChain) snapshot() ledger.Point {
	l.t.Helper()
	p, err := l.Snapshot()
	require.NoError(l.t, err)
	return p
}

// easyWork attaches a proof of work that is quick to find, and worth accordingly little.
func easyWork(b *core.AccountBlock, difficulty int64) {
	b.Difficulty = big.NewInt(difficulty)
	nonce, ok := core.Grind(core.PoWDataHash(b.Address, b.PreviousHash), b.Difficulty, 0, 1<<30)
	if !ok {
		panic("no nonce found")
	}
	b.Nonce = nonce[:]
}

func TestTransferAndReceive(t *testing.T) {
	l := setup(t)
	h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 70))
	sent := l.block(h)
	require.Nil(t, sent.Snapshot)
	require.Zero(t, sent.Confirmations)
	require.Equal(t, uint64(2), sent.Height)
	require.Equal(t, uint64(21000), sent.QuotaByStake)
	require.Equal(t, l.rich.addr, sent.Producer)
	require.Equal(t, "VITE", sent.TokenInfo.Symbol)
	require.Equal(t, "9999999999999999999999930", l.balance(l.rich.addr, core.VITE))
	require.Len(t, l.unreceived(l.staked.addr), 1)

	p := l.snapshot()
	require.Equal(t, uint64(2), p.Height)
	l.snapshot()
	sent = l.block(h)
	require.Equal(t, p, *sent.Snapshot)
	require.Equal(t, uint64(2), sent.Confirmations)

	r := l.do(l.staked, l.receive(l.staked, h))
	require.Equal(t, ledger.BlockID{Height: 1, Hash: r}, *l.block(h).Received)
	require.Equal(t, "70", l.balance(l.staked.addr, core.VITE))
	require.Empty(t, l.unreceived(l.staked.addr))
	got := l.block(r)
	require.Equal(t, ledger.Transfer{From: l.rich.addr, To: l.staked.addr, Token: core.VITE, Amount: *uint256.NewInt(70)}, got.Transfer)
	require.True(t, got.Amount.IsZero(), "the amount is not part of the receive block")
}

func TestIssue(t *testing.T) {
	l := setup(t)
	issue := l.call(l.rich, core.AssetContract, core.IssueToken,
		true, "Gateway Test Token", "GTT", *uint256.NewInt(1_000_000), uint8(6), *uint256.NewInt(2_000_000), false)
	received := l.called(l.rich, issue)
	require.Equal(t, uint64(2), received.Height)
	require.Len(t, received.Data, 33)
	require.Equal(t, byte(ledger.StatusOK), received.Data[32])
	require.True(t, core.Verify(received.PublicKey, received.Hash[:], received.Signature))
	require.Equal(t, received.ComputeHash(), received.Hash)
	require.Len(t, received.Triggered, 1)
	mint := received.Triggered[0]
	require.Equal(t, core.SendReissue, mint.BlockType)
	require.Equal(t, ledger.EmptyKeyAddress, mint.Producer)
	id := core.NewTokenID(l.rich.addr, 2, issue.Hash)
	require.Equal(t, id, mint.TokenID)

	l.do(l.rich, l.receive(l.rich, mint.Hash))
	require.Equal(t, "1000000", l.balance(l.rich.addr, id))
	require.Equal(t, "9999000000000000000000000", l.balance(l.rich.addr, core.VITE))
}

// vite converts VITE to its smallest unit.
func vite(n uint64) *uint256.Int {
	return new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18))
}
