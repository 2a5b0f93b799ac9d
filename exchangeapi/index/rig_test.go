package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	viteledger "gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

// startTime is the exchange's time at the beginning of the tests.
const startTime = 1_700_000_000

// Tokens of the test exchange.
var (
	coin = core.TokenID([]byte("coin......"))
	gold = core.TokenID([]byte("gold......"))
)

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

// rig is an exchange chain behind its JSON-RPC, with two markets: COIN-000_VITE (8 and 18 decimals)
// and GOLD-000_VITE.
type rig struct {
	t                    testing.TB
	chain                *node.Node
	client               *client.Client
	owner, alice, bob    user
	clock                atomic.Int64 // Unix seconds, of the exchange and of the index
	log                  *logrus.Logger
	logged               *logtest.Hook
	poll                 time.Duration // of its indexes, and the others, too
	readURL              string
	span, retainedBlocks uint64 // 0: as usual
}

func vite(n uint64) uint256.Int {
	return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18))
}

func coins(n uint64) uint256.Int { return *uint256.NewInt(n * 1e8) }

func genesis(t testing.TB) viteledger.Genesis {
	owner := newUser(t, 1).addr
	g := viteledger.Genesis{ExchangeOwner: owner, StakeLock: 5}
	for id, symbol := range map[core.TokenID]string{coin: "COIN", gold: "GOLD"} {
		g.Tokens = append(g.Tokens, viteledger.TokenInfo{
			ID: id, Name: symbol + " Token", Symbol: symbol, Decimals: 8, Owner: owner, TotalSupply: *uint256.NewInt(3e15),
		})
	}
	for i := uint64(1); i <= 3; i++ {
		u := newUser(t, i).addr
		g.Accounts = append(g.Accounts, viteledger.GenesisAccount{Address: u, Balances: map[core.TokenID]uint256.Int{
			core.VITE: vite(10_000_000), coin: *uint256.NewInt(1e15), gold: *uint256.NewInt(1e15),
		}})
		g.Stakes = append(g.Stakes, viteledger.GenesisStake{Staker: owner, Beneficiary: u, Amount: vite(1_000_000)})
	}
	return g
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, owner: newUser(t, 1), alice: newUser(t, 2), bob: newUser(t, 3)}
	r.clock.Store(startTime)
	r.log, r.logged = logtest.NewNullLogger()
	var err error
	r.chain, err = node.New(node.Config{Genesis: genesis(t), SnapshotInterval: -1, Now: r.now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.chain.Close()) })
	r.serve()
	owner := r.owner.addr
	r.do(r.owner, dex.FundDexAdmin, uint8(55), owner, owner, owner, false, owner, owner)
	r.setClock(startTime)
	r.do(r.owner, dex.FundTradeAdmin, uint8(2), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
	r.snapshot()
	r.deposit(r.owner, core.VITE, vite(100_000))
	for _, token := range []core.TokenID{coin, gold} {
		r.do(r.owner, dex.FundOpenMarket, token, core.VITE)
	}
	r.snapshot()
	for _, u := range []user{r.alice, r.bob} {
		r.deposit(u, core.VITE, vite(1_000_000))
		r.deposit(u, coin, coins(100_000))
		r.deposit(u, gold, coins(100_000))
	}
	r.snapshot()
	return r
}

func (r *rig) now() time.Time { return time.Unix(r.clock.Load(), 0) }

// serve makes the node answer on a Unix socket.
func (r *rig) serve() {
	socket := filepath.Join(r.t.TempDir(), "node.ipc")
	server, err := rpc.New(r.chain, rpc.Config{IPC: socket, Now: r.now})
	require.NoError(r.t, err)
	require.NoError(r.t, server.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // Run's one result
	go func() { ended <- server.Run(ctx) }()
	r.t.Cleanup(func() { cancel(); require.NoError(r.t, <-ended) })
	r.client, err = client.Dial(r.t.Context(), socket, client.Options{})
	require.NoError(r.t, err)
	r.t.Cleanup(r.client.Close)
}

// send submits a call and answers its hash; no contract has received it yet.
func (r *rig) send(u user, to core.Address, token core.TokenID, amount uint256.Int, m core.Method, args ...any) core.Hash {
	r.t.Helper()
	data, err := m.Pack(args...)
	require.NoError(r.t, err)
	b := &core.AccountBlock{
		BlockType: core.SendCall, Address: u.addr, Height: 1, ToAddress: to, TokenID: token, Amount: amount, Data: data,
	}
	r.chain.Read(func(v *node.View) {
		if head := v.AccountHead(u.addr); head != nil {
			b.Height, b.PreviousHash = head.Height+1, head.Hash
		}
	})
	b.Fee = core.RequiredFee(b.BlockType, to, data)
	b.SignWith(u.key)
	require.NoError(r.t, r.chain.Submit(r.t.Context(), b))
	return b.Hash
}

// do calls dexFund and lets the contracts receive.
func (r *rig) do(u user, m core.Method, args ...any) core.Hash {
	r.t.Helper()
	h := r.send(u, core.DexFundContract, core.VITE, uint256.Int{}, m, args...)
	r.tick()
	return h
}

func (r *rig) tick() {
	r.t.Helper()
	require.NoError(r.t, r.chain.Tick())
}

func (r *rig) snapshot() {
	r.t.Helper()
	_, err := r.chain.Snapshot()
	require.NoError(r.t, err)
}

func (r *rig) setClock(at int64) {
	r.t.Helper()
	r.clock.Store(at)
	r.do(r.owner, dex.FundNotifyTime, at)
}

func (r *rig) deposit(u user, token core.TokenID, amount uint256.Int) core.Hash {
	r.t.Helper()
	h := r.send(u, core.DexFundContract, token, amount, dex.FundDeposit)
	r.tick()
	return h
}

// sendOrder sends an order of coins; no contract has received it yet.
func (r *rig) sendOrder(u user, side dex.Side, price string, quantity uint256.Int) core.Hash {
	r.t.Helper()
	return r.send(u, core.DexFundContract, core.VITE, uint256.Int{}, dex.FundPlaceOrder, coin, core.VITE, bool(side), uint8(dex.Limit), price, quantity)
}

// order places an order of coins and lets everything happen.
func (r *rig) order(u user, side dex.Side, price string, quantity uint256.Int) core.Hash {
	r.t.Helper()
	h := r.sendOrder(u, side, price, quantity)
	r.tick()
	return h
}

func (r *rig) cancel(u user, order core.Hash) core.Hash {
	r.t.Helper()
	return r.do(u, dex.FundCancelBySendHash, order, core.Address{}, coin, core.VITE)
}

// open opens an index of the chain.
func (r *rig) open(url string) *Index { return r.openOn(url, r.client) }

func (r *rig) openOn(url string, n Node) *Index {
	r.t.Helper()
	x, err := New(r.t.Context(), Config{
		URL: url, ReadURL: r.readURL, Now: r.now, Poll: r.poll, Precisions: map[string]Precision{"COIN-000_VITE": {Price: 4, Quantity: 2}},
	}, n, r.log)
	require.NoError(r.t, err)
	x.follower.span, x.retainedBlocks = cmp.Or(r.span, x.follower.span), cmp.Or(r.retainedBlocks, x.retainedBlocks)
	r.t.Cleanup(func() { _ = x.Close() }) // tests of restarts have closed it already
	return x
}

// caught opens an index and brings it up to date.
func (r *rig) caught(url string) *Index {
	r.t.Helper()
	x := r.open(url)
	r.catchUp(x)
	return x
}

// catchUp has the node's word where it took blocks back, as Run hears it.
func (r *rig) catchUp(x *Index) {
	r.t.Helper()
	for _, shorter := range x.follower.shorter {
		shorter.Removed(r.now())
	}
	require.NoError(r.t, x.follower.catchUp(r.t.Context()))
}

func quiet() logrus.FieldLogger {
	log, _ := logtest.NewNullLogger()
	return log
}

func sqliteURL(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "index.db") }

// find reads an order.
func (r *rig) find(x *Index, u user, id core.Hash) Order {
	r.t.Helper()
	o, err := x.Order(r.t.Context(), u.addr, id)
	require.NoError(r.t, err)
	require.NotNil(r.t, o)
	return *o
}

// queuedUpdates takes all updates that are queued.
func queuedUpdates(s *Subscription) (list []Update) {
	for {
		select {
		case u := <-s.updates:
			list = append(list, u)
		default:
			return list
		}
	}
}
