package rpc

import (
	"context"
	"encoding/hex"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// The accounts of the recordings: indexes 0 to 2 of the public test mnemonic "abandon ... about".
const (
	aliceSeed = "fbc90287c7c30fa66720d041b2e0d37843aad3f08ab93e271d2e9b50e475495b"
	bobSeed   = "3aca2712c2e6c04b8761b414ff16b3ade0a2cd79ef33a29d62860a720876e002"
	carolSeed = "9d260e7e45064c7e23cfac04782f11b76596948ae8a18520a138946a93e02c86"
)

func key(t testing.TB, seed string) core.PrivateKey {
	raw, err := hex.DecodeString(seed)
	require.NoError(t, err)
	k, err := core.NewPrivateKey(raw)
	require.NoError(t, err)
	return k
}

func vite(n uint64) uint256.Int {
	return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18))
}

// fixture is a node whose genesis mirrors the recorded one, and its server. Snapshot blocks come by
// hand only.
type fixture struct {
	t      *testing.T
	node   *node.Node
	server *Server
	alice  core.PrivateKey
	bob    core.PrivateKey
	carol  core.PrivateKey
	clock  atomic.Int64 // Unix seconds
}

func (f *fixture) now() time.Time { return time.Unix(f.clock.Load(), 0) }

func (f *fixture) wait(d time.Duration) { f.clock.Add(int64(d / time.Second)) }

// recordedGenesis gives alice 10 million VITE and a stake of 10000 more, out of a thousand million.
func recordedGenesis(t testing.TB) ledger.Genesis {
	alice := key(t, aliceSeed).Address()
	rest, err := core.ParseAddress("vite_bb6ad02107a4422d6a324fd2e3707ad53cfed9359378a78792")
	require.NoError(t, err)
	return ledger.Genesis{
		Tokens: []ledger.TokenInfo{{
			ID: core.VITE, Name: "Vite Token", Symbol: "VITE", Decimals: 18, ReIssuable: true, Owner: rest,
			TotalSupply: vite(1e9), MaxSupply: *new(uint256.Int).SetAllOne(),
		}},
		Accounts: []ledger.GenesisAccount{
			{Address: alice, Balances: map[core.TokenID]uint256.Int{core.VITE: vite(1e7)}},
			{Address: rest, Balances: map[core.TokenID]uint256.Int{core.VITE: vite(1e9 - 1e7 - 1e4)}},
		},
		Stakes: []ledger.GenesisStake{{Staker: alice, Beneficiary: alice, Amount: vite(1e4)}},
	}
}

// start runs a fresh chain behind a fresh server on all three transports.
func start(t *testing.T, change func(*Config)) *fixture {
	return serveGenesis(t, recordedGenesis(t), change)
}

// serveGenesis is start with another genesis.
func serveGenesis(t *testing.T, genesis ledger.Genesis, change func(*Config)) *fixture {
	f := &fixture{t: t, alice: key(t, aliceSeed), bob: key(t, bobSeed), carol: key(t, carolSeed)}
	f.clock.Store(1795238719)
	var err error
	f.node, err = node.New(node.Config{Genesis: genesis, SnapshotInterval: -1, Now: f.now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.node.Close()) })
	cfg := Config{
		HTTP: "127.0.0.1:0", WS: "127.0.0.1:0", IPC: filepath.Join(t.TempDir(), "gvite.ipc"),
		VirtualHosts: []string{"evil.example"}, Now: f.now,
	}
	if change != nil {
		change(&cfg)
	}
	f.server, err = New(f.node, cfg)
	require.NoError(t, err)
	require.NoError(t, f.server.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- f.server.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	return f
}

// advance makes snapshot blocks, a second apart, up to a height.
func (f *fixture) advance(height uint64) {
	for f.head().Height < height {
		f.wait(time.Second)
		_, err := f.node.Snapshot()
		require.NoError(f.t, err)
	}
}

func (f *fixture) head() ledger.Point {
	return read(f.node, func(v *node.View) ledger.Point { return v.Head() })
}

// next is the height and the previous hash of the account's next block.
func (f *fixture) next(a core.Address) (uint64, core.Hash) {
	b := read(f.node, func(v *node.View) *node.Block { return v.AccountHead(a) })
	if b == nil {
		return 1, core.Hash{}
	}
	return b.Height + 1, b.Hash
}

// send moves VITE from an account and gives the block's hash.
func (f *fixture) send(from core.PrivateKey, to core.Address, amount uint64, data []byte) core.Hash {
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: from.Address(), ToAddress: to, TokenID: core.VITE,
		Amount: *uint256.NewInt(amount), Data: data,
	}
	b.Height, b.PreviousHash = f.next(from.Address())
	b.SignWith(from)
	require.NoError(f.t, f.node.Submit(f.t.Context(), b))
	return b.Hash
}
