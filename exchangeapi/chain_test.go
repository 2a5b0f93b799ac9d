package exchangeapi

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	viteledger "gatewayd/vite/ledger"
	embedded "gatewayd/vite/node"
	"gatewayd/vite/rpc"
)

const pairOnChain = "GOLD-000_VITE" // price 4 and quantity 2 decimals; both tokens have 18

// exchangeChain is the embedded exchange chain behind its JSON-RPC, an index that follows it, and
// the server on both.
type exchangeChain struct {
	*apiEnv
	node              *embedded.Node
	chainClock        *clock // of node and index
	gold, btc         core.TokenID
	admin, user, poor wallet // poor's delegation address has no quota
	traders           []wallet
	indexFile         string
	unfollow          func() // ends the index's following
}

func onChain(t testing.TB, changes ...change) *exchangeChain {
	return onChainIn(t, "", nil, changes...)
}

// onChainIn keeps the chain in a directory, in memory without one, and has more users.
func onChainIn(t testing.TB, dir string, traders []wallet, changes ...change) *exchangeChain {
	c := &exchangeChain{traders: traders, gold: core.TokenID([]byte("gold......")), btc: core.TokenID([]byte("bitcoin...")), admin: walletOf("admin"), user: walletOf("user"), poor: walletOf("poor")}
	clock := &clock{now: time.UnixMilli(1614571200000)}
	c.chainClock, c.indexFile = clock, filepath.Join(t.TempDir(), "index.db")
	var err error
	c.node, err = embedded.New(embedded.Config{Dir: dir, Genesis: c.genesis(), SnapshotInterval: -1, Now: clock.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.node.Close()) })
	socket := filepath.Join(t.TempDir(), "node.ipc")
	server, err := rpc.New(c.node, rpc.Config{IPC: socket, Now: clock.Now})
	require.NoError(t, err)
	require.NoError(t, server.Listen())
	run(t, server.Run)
	link, err := client.Dial(t.Context(), socket, client.Options{})
	require.NoError(t, err)
	t.Cleanup(link.Close)
	x, err := index.New(t.Context(), index.Config{
		URL: "sqlite:" + c.indexFile, Now: clock.Now, Poll: 10 * time.Millisecond,
		Precisions: map[string]index.Precision{pairOnChain: {Price: 4, Quantity: 2}},
	}, link, quiet())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	network := func(_ *Config, p *Parts) {
		p.Networks = []Network{{Name: "main", Index: x, Node: link, Agents: fakeAgents{"main"}}}
	}
	c.apiEnv = setup(t, append([]change{network}, changes...)...)
	c.clock.now = clock.now
	c.openExchange()
	c.unfollow = run(t, x.Run)
	require.Eventually(t, x.Reached, waiting, tick)
	require.Eventually(t, func() bool { return len(c.get(api+"/markets").list(t)) == 1 }, waiting, tick)
	return c
}

// run runs a part until end is called or the test ends, and then it must end well.
func run(t testing.TB, part func(context.Context) error) (end func()) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	end = sync.OnceFunc(func() {
		stop()
		require.NoError(t, <-done)
	})
	t.Cleanup(end)
	return end
}

func (c *exchangeChain) genesis() viteledger.Genesis {
	admin := c.admin.key.Address()
	g := viteledger.Genesis{ExchangeOwner: admin, StakeLock: 5, Tokens: []viteledger.TokenInfo{
		{ID: c.gold, Name: "Gold", Symbol: "GOLD", Decimals: 18, Owner: admin, TotalSupply: whole(1e9)},
		{ID: dex.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: admin, TotalSupply: whole(1e6)},
		{ID: c.btc, Name: "Bitcoin", Symbol: "BTC", Decimals: 8, Owner: admin, TotalSupply: *uint256.NewInt(21e14)},
	}}
	for _, w := range append([]wallet{c.admin, c.user, c.poor}, c.traders...) {
		a := w.key.Address()
		g.Accounts = append(g.Accounts, viteledger.GenesisAccount{Address: a, Balances: map[core.TokenID]uint256.Int{core.VITE: whole(1e7), c.gold: whole(1e7), c.btc: *uint256.NewInt(1e14)}})
		g.Stakes = append(g.Stakes, viteledger.GenesisStake{Staker: admin, Beneficiary: a, Amount: whole(1e6)})
	}
	g.Accounts[0].Balances[dex.VX] = whole(1e6)
	for _, w := range append([]wallet{c.user}, c.traders...) {
		g.Stakes = append(g.Stakes, viteledger.GenesisStake{Staker: admin, Beneficiary: w.agent, Amount: whole(1e6)})
	}
	return g
}

func (c *exchangeChain) openExchange() {
	admin := c.admin.key.Address()
	c.do(c.admin, dex.FundDexAdmin, uint8(55), admin, admin, admin, false, admin, admin)
	c.do(c.admin, dex.FundNotifyTime, c.clock.Now().Unix())
	c.do(c.admin, dex.FundTradeAdmin, uint8(2), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
	c.snapshot()
	for _, w := range append([]wallet{c.admin, c.user, c.poor}, c.traders...) {
		c.send(w, core.DexFundContract, core.VITE, whole(100_000), dex.FundDeposit)
		c.send(w, core.DexFundContract, c.gold, whole(100_000), dex.FundDeposit)
	}
	c.snapshot()
	c.do(c.admin, dex.FundOpenMarket, c.gold, core.VITE)
	c.snapshot()
}

func (c *exchangeChain) snapshot() {
	_, err := c.node.Snapshot()
	require.NoError(c.t, err)
}

// do calls dexFund and lets the contracts work.
func (c *exchangeChain) do(w wallet, m core.Method, args ...any) core.Hash {
	return c.send(w, core.DexFundContract, core.VITE, uint256.Int{}, m, args...)
}

func (c *exchangeChain) send(w wallet, to core.Address, token core.TokenID, amount uint256.Int, m core.Method, args ...any) core.Hash {
	c.t.Helper()
	data, err := m.Pack(args...)
	require.NoError(c.t, err)
	return c.submit(w, &core.AccountBlock{BlockType: core.SendCall, ToAddress: to, TokenID: token, Amount: amount, Data: data})
}

func (c *exchangeChain) submit(w wallet, b *core.AccountBlock) core.Hash {
	c.t.Helper()
	b.Address, b.Height = w.key.Address(), 1
	c.node.Read(func(v *embedded.View) {
		if head := v.AccountHead(b.Address); head != nil {
			b.Height, b.PreviousHash = head.Height+1, head.Hash
		}
	})
	b.SignWith(w.key)
	require.NoError(c.t, c.node.Submit(c.t.Context(), b))
	require.NoError(c.t, c.node.Tick())
	return b.Hash
}

// join gives a wallet an API key over HTTP, its delegation address something to receive, and the
// pair's permission.
func (c *exchangeChain) join(w wallet) {
	issued := c.form("POST", api+"/agent/key", w.proof("", c.clock.Now().Unix())).object(c.t)
	c.key.Key, c.secret, c.owner = issued["apiKey"].(string), issued["apiSecret"].(string), w.key.Address()
	c.submit(w, &core.AccountBlock{BlockType: core.SendCall, ToAddress: w.agent, TokenID: core.VITE, Amount: *uint256.NewInt(1)})
	c.do(w, dex.FundConfigAgents, uint8(1), w.agent, []core.TokenID{c.gold}, []core.TokenID{core.VITE})
	c.snapshot()
	require.Eventually(c.t, func() bool { // until the index has seen it
		granted, err := c.server.Networks[0].Index.Granted(c.t.Context(), c.owner, w.agent, pairOnChain)
		return granted && err == nil
	}, waiting, tick)
}

func (c *exchangeChain) place(side, amount, price string) reply {
	c.t.Helper()
	c.clock.pass(time.Millisecond)
	return c.form("POST", api+"/order", c.sign("symbol", pairOnChain, "amount", amount, "price", price, "side", side))
}

// becomes waits for an order's status and checks that the list of orders has it.
func (c *exchangeChain) becomes(id string, status index.Status) map[string]any {
	c.t.Helper()
	var order map[string]any
	target := api + "/order?address=" + c.owner.String() + "&orderId=" + id
	require.Eventually(c.t, func() bool {
		order, _ = c.get(target).Data.(map[string]any)
		return order != nil && order["status"] == json.Number(strconv.Itoa(int(status)))
	}, waiting, tick, "status %d", status)
	return order
}

func (c *exchangeChain) work() {
	c.t.Helper()
	require.NoError(c.t, c.node.Tick())
}

// An order's life over signed REST on the real chain: behaviours 10, 11, 17, 26 to 28, 31 and 60.
func TestOnTheChain(t *testing.T) {
	c := onChain(t)
	c.join(c.user)
	placed := c.place("0", "200.5", "1.5").object(t)
	id := placed["orderId"].(string)
	require.Equal(t, json.Number("1"), placed["status"])
	c.becomes(id, index.PendingRequest)
	c.work()
	order := c.becomes(id, index.Open)
	require.Equal(t, []any{"1.5000", "200.50", "300.75000000", pairOnChain, c.owner.String()},
		[]any{order["price"], order["quantity"], order["amount"], order["symbol"], order["address"]})

	c.do(c.admin, dex.FundPlaceOrder, c.gold, core.VITE, true, uint8(dex.Limit), "1.5", whole(100))
	order = c.becomes(id, index.PartiallyFilled)
	require.Equal(t, []any{"100.00", "150.0000", "0.4987"}, []any{order["executedQuantity"], order["executedAmount"], order["executedPercent"]})
	require.Len(t, c.get(api+"/trades?symbol="+pairOnChain).list(t), 1)

	c.clock.pass(time.Millisecond)
	c.form("DELETE", api+"/order", c.sign("symbol", pairOnChain, "orderId", id)).object(t)
	c.becomes(id, index.PendingCancel)
	c.work()
	c.becomes(id, index.PartiallyCancelled)
	c.clock.pass(time.Millisecond)
	c.form("DELETE", api+"/order", c.sign("symbol", pairOnChain, "orderId", id)).refused(t, codeFailed, textTerminated)

	own := c.do(c.user, dex.FundPlaceOrder, c.gold, core.VITE, false, uint8(dex.Limit), "1", whole(100)) // by the owner's own hand
	c.becomes(own.String(), index.Open)
	soon := c.place("0", "100", "1").object(t)["orderId"].(string) // and one that no contract has taken yet
	c.clock.pass(time.Millisecond)
	require.Len(t, c.form("DELETE", api+"/orders", c.sign("symbol", pairOnChain)).list(t), 2)
	c.work()
	c.becomes(own.String(), index.Cancelled)
	c.becomes(soon, index.Cancelled)

	c.do(c.user, dex.FundConfigAgents, uint8(2), c.user.agent, []core.TokenID{c.gold}, []core.TokenID{core.VITE})
	c.snapshot()
	require.Eventually(t, func() bool { return c.place("0", "100", "1").Code == codeParameter }, waiting, tick)
	c.place("0", "100", "1").refused(t, codeParameter, "No permission for "+pairOnChain)
}

func TestFundsOnTheChain(t *testing.T) { // behaviours 11, 17 and 60
	c := onChain(t)
	c.join(c.user)
	balance := func() map[string]any { return c.get(api + "/balance?address=" + c.owner.String()).object(t) }
	require.Equal(t, map[string]any{"available": "100000.00000000", "locked": "0.00000000"}, balance()["VITE"])
	c.place("0", "99800.40", "1").refused(t, codeFunds, textFunds) // 99,800.40 and 0.2 % of it are 100,000.0008
	first := c.place("0", "99800.39", "1").object(t)["orderId"].(string)
	// No contract has taken the first order: the funds seem free, so the second order is sent as
	// well and fails.
	second := c.place("0", "99800.39", "1").object(t)["orderId"].(string)
	c.becomes(second, index.PendingRequest)
	c.work()
	c.becomes(first, index.Open)
	c.becomes(second, index.Failed)
	open := c.get(api + "/orders/open?address=" + c.owner.String()).object(t)["order"].([]any)
	require.Len(t, open, 1)
	require.Equal(t, first, open[0].(map[string]any)["orderId"])

	moved := c.get(api + "/deposit-withdraw?address=" + c.owner.String() + "&tokenId=" + c.gold.String()).object(t)
	require.Equal(t, "GOLD", moved["record"].([]any)[0].(map[string]any)["tokenSymbol"], "without the suffix of GOLD-000, as the service's live answers have it")

	c.join(c.poor)
	c.place("0", "100", "1").refused(t, codeNetwork, textQuota)
	require.Empty(t, c.get(api + "/orders?address=" + c.owner.String()).object(t)["order"])
}
