package vite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"

	"gatewayd/chain"
	"gatewayd/vite/core"
	viteledger "gatewayd/vite/ledger"
	embedded "gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

const (
	payerPath = "m/44'/666666'/0'"
	inboxPath = "m/44'/666666'/1'"
	poorPath  = "m/44'/666666'/2'" // has money and no stake

	// depth is the number of confirmations in these tests.
	depth = 5
)

var oneVITE = uint256.MustFromDecimal("1000000000000000000")

// keyOf returns a separate key for each name.
func keyOf(t testing.TB, name string) core.PrivateKey {
	t.Helper()
	seed := blake2b.Sum256([]byte(name))
	key, err := core.NewPrivateKey(seed[:])
	require.NoError(t, err)
	return key
}

// keyring signs with the keys of paths.
type keyring map[string]core.PrivateKey

func (k keyring) Sign(ctx context.Context, path string, digest []byte) (pub, sig []byte, err error) {
	key, ok := k[path]
	if !ok {
		return nil, nil, errors.New("no such key")
	}
	public := key.Public()
	return public[:], key.Sign(digest), ctx.Err()
}

// ownList are our accounts; tests add to it while the adapter reads.
type ownList struct {
	mu   sync.Mutex
	list []string
	err  error
}

func (o *ownList) Accounts(_ context.Context, id chain.ID) ([]string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id != "vite" {
		return nil, fmt.Errorf("asked for %q", id)
	}
	return slices.Clone(o.list), o.err
}

func (o *ownList) add(a core.Address) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, a.String())
}

// ledger is the embedded exchange chain, served over JSON-RPC, with a stranger who has money and
// stake.
type ledger struct {
	*embedded.Node
	url, ws, ipc       string
	keys               keyring
	own                *ownList
	payer, inbox, poor core.Address
	stranger           core.PrivateKey
	strangers          int
	clock              *clock
}

// clock advances by a second at each reading of it that makes a block.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
}

func newLedger(t testing.TB) *ledger {
	t.Helper()
	l := &ledger{
		keys:     keyring{payerPath: keyOf(t, "payer"), inboxPath: keyOf(t, "inbox"), poorPath: keyOf(t, "poor")},
		stranger: keyOf(t, "stranger"),
		clock:    &clock{now: time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)},
		own:      &ownList{},
	}
	l.payer, l.inbox, l.poor = l.keys[payerPath].Address(), l.keys[inboxPath].Address(), l.keys[poorPath].Address()
	for _, a := range []core.Address{l.payer, l.inbox, l.poor} {
		l.own.add(a)
	}
	n, err := embedded.New(embedded.Config{Genesis: l.genesis(), SnapshotInterval: -1, Now: l.clock.Now})
	require.NoError(t, err)
	l.Node = n
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	l.serve(t)
	l.mine(t, 2)
	return l
}

func (l *ledger) genesis() viteledger.Genesis {
	million := new(uint256.Int).Mul(oneVITE, uint256.NewInt(1_000_000))
	g := viteledger.Genesis{Time: l.clock.Now().Add(-time.Hour)}
	g.Tokens = []viteledger.TokenInfo{{
		ID: goldID(), Name: "Gold", Symbol: "GOLD", Decimals: 6, Owner: l.stranger.Address(), ReIssuable: true, MaxSupply: *million,
	}, {
		ID: core.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: l.stranger.Address(),
	}}
	for _, a := range []core.Address{l.payer, l.poor, l.stranger.Address()} {
		g.Accounts = append(g.Accounts, viteledger.GenesisAccount{Address: a, Balances: map[core.TokenID]uint256.Int{core.VITE: *million}})
	}
	for _, a := range []core.Address{l.payer, l.inbox, l.stranger.Address()} {
		g.Stakes = append(g.Stakes, viteledger.GenesisStake{Staker: a, Beneficiary: a, Amount: *new(uint256.Int).Mul(million, uint256.NewInt(3))})
	}
	return g
}

// goldID is a token that the stranger may mint.
func goldID() core.TokenID { return core.TokenID([]byte("GOLD TOKEN")) }

func (l *ledger) serve(t testing.TB) {
	t.Helper()
	l.ipc = filepath.Join(t.TempDir(), "node.ipc")
	server, err := rpc.New(l.Node, rpc.Config{HTTP: "127.0.0.1:0", WS: "127.0.0.1:0", IPC: l.ipc})
	require.NoError(t, err)
	require.NoError(t, server.Listen())
	l.url, l.ws = "http://"+server.HTTPAddr(), "ws://"+server.WSAddr()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-served)
	})
}

// open makes an adapter of the ledger's node over WebSocket, or of the nodes given.
func (l *ledger) open(t testing.TB, nodes ...string) *Chain {
	t.Helper()
	return l.openWith(t, Config{}, nodes...)
}

func (l *ledger) openWith(t testing.TB, cfg Config, nodes ...string) *Chain {
	t.Helper()
	if len(nodes) == 0 {
		nodes = []string{l.ws}
	}
	cfg.ID, cfg.Nodes, cfg.Confirmations = "vite", nodes, depth
	c, err := New(cfg, l.own)
	require.NoError(t, err)
	c.now = l.clock.Now
	t.Cleanup(c.Close)
	return c
}

func (l *ledger) mine(t testing.TB, blocks int) {
	t.Helper()
	for range blocks {
		l.clock.tick()
		_, err := l.Snapshot()
		require.NoError(t, err)
	}
}

// rest lets all accounts gather the quota that their stake can give.
func (l *ledger) rest(t testing.TB) {
	t.Helper()
	l.mine(t, core.QuotaWindow)
}

func (l *ledger) height() (height uint64) {
	l.Read(func(v *embedded.View) { height = v.Head().Height })
	return height
}

// draft is a block on the tip of an account.
func (l *ledger) draft(a core.Address, kind core.BlockType) *core.AccountBlock {
	b := &core.AccountBlock{BlockType: kind, Address: a, Height: 1}
	l.Read(func(v *embedded.View) {
		if head := v.AccountHead(a); head != nil {
			b.Height, b.PreviousHash = head.Height+1, head.Hash
		}
	})
	return b
}

// send has a key send, past the adapter.
func (l *ledger) send(t testing.TB, key core.PrivateKey, to core.Address, token core.TokenID, amount uint64, data []byte) core.Hash {
	t.Helper()
	b := l.draft(key.Address(), core.SendCall)
	b.ToAddress, b.TokenID, b.Amount, b.Data = to, token, *uint256.NewInt(amount), data
	b.SignWith(key)
	require.NoError(t, l.Submit(t.Context(), b))
	return b.Hash
}

// receive has a key take in a send, past the adapter.
func (l *ledger) receive(t testing.TB, key core.PrivateKey, source core.Hash) core.Hash {
	t.Helper()
	b := l.draft(key.Address(), core.Receive)
	b.SendBlockHash = source
	b.SignWith(key)
	require.NoError(t, l.Submit(t.Context(), b))
	return b.Hash
}

// deposit is a send of the stranger.
func (l *ledger) deposit(t testing.TB, to core.Address, amount uint64, data string) core.Hash {
	t.Helper()
	return l.send(t, l.stranger, to, core.VITE, amount, []byte(data))
}

// reorg replaces the newest snapshot blocks by one more than they were, and with keep submits their
// account blocks again.
func (l *ledger) reorg(t testing.TB, deep int, keep bool) {
	t.Helper()
	floor := l.height() - uint64(deep)
	lost := l.above(floor)
	require.NoError(t, l.Rollback(floor))
	if keep {
		l.resubmit(t, lost)
	}
	l.mine(t, deep+1)
}

// above are the blocks of the known accounts that no snapshot block up to a height holds, each
// account's in its order.
func (l *ledger) above(height uint64) []*core.AccountBlock {
	var lost []*core.AccountBlock
	l.Read(func(v *embedded.View) {
		for _, a := range []core.Address{l.stranger.Address(), l.payer, l.inbox, l.poor} {
			var own []*core.AccountBlock
			for b := v.AccountHead(a); b != nil && (b.Snapshot == nil || b.Snapshot.Height > height); b = v.BlockByHeight(a, b.Height-1) {
				own = append(own, b.AccountBlock)
			}
			slices.Reverse(own)
			lost = append(lost, own...)
		}
	})
	return lost
}

// resubmit goes round until every block found its predecessor and its send.
func (l *ledger) resubmit(t testing.TB, blocks []*core.AccountBlock) {
	t.Helper()
	for len(blocks) > 0 {
		var waiting []*core.AccountBlock
		for _, b := range blocks {
			if l.Submit(t.Context(), b) != nil {
				waiting = append(waiting, b)
			}
		}
		require.Less(t, len(waiting), len(blocks), "blocks that cannot be placed again")
		blocks = waiting
	}
}

// holding is an account's balance, pending receives included.
func (l *ledger) holding(a core.Address, token core.TokenID) uint256.Int {
	var sum uint256.Int
	l.Read(func(v *embedded.View) {
		for _, info := range []embedded.AccountInfo{v.AccountInfo(a), v.UnreceivedSummary(a)} {
			for _, b := range info.Balances {
				if b.Token.ID == token {
					sum.Add(&sum, &b.Amount)
				}
			}
		}
	})
	return sum
}

// newUser returns an unused address.
func (l *ledger) newUser(t testing.TB) core.Address {
	t.Helper()
	l.strangers++
	return keyOf(t, fmt.Sprint("user ", l.strangers)).Address()
}

// line is the blocks from a height up to the head.
func line(t testing.TB, c *Chain, from uint64) []chain.Block {
	t.Helper()
	head, err := c.Head(t.Context())
	require.NoError(t, err)
	var blocks []chain.Block
	for h := from; h <= head.Latest.Height; h++ {
		b, err := c.Block(t.Context(), h)
		require.NoError(t, err)
		blocks = append(blocks, b)
	}
	return blocks
}

// transfersIn are the refs of all transfers in blocks, in their order.
func transfersIn(blocks []chain.Block) []string {
	var refs []string
	for _, b := range blocks {
		for _, tr := range b.Transfers {
			refs = append(refs, tr.Ref)
		}
	}
	return refs
}

func ownTxsIn(blocks []chain.Block) []string {
	var txs []string
	for _, b := range blocks {
		for _, e := range b.OwnTxs {
			txs = append(txs, e.Tx)
		}
	}
	return txs
}
