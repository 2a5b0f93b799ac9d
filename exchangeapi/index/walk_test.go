package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// What an index holds: what happened, and what is needed to take it back.
var (
	history = []string{
		`SELECT id, inner_id, owner, market, side, type, price, quantity, amount, created, serial, received, received_at, refused,
			placed, state, reason, executed, executed_amount, base_fee, operator_fee, cancel, status FROM ex_orders ORDER BY id`,
		"SELECT * FROM ex_trades ORDER BY height, pos", "SELECT * FROM ex_bars ORDER BY market, span, start",
		"SELECT * FROM ex_transfers ORDER BY height, pos", "SELECT * FROM ex_markets ORDER BY height, pos",
		"SELECT * FROM ex_tokens ORDER BY height, pos", "SELECT * FROM ex_grants ORDER BY height, pos",
	}
	retractable = []string{"SELECT * FROM ex_undo ORDER BY height, pos", "SELECT * FROM ex_blocks ORDER BY contract, height"}
)

// dump is everything that an index of the same chain must hold too.
func dump(t testing.TB, x *Index) []string {
	return append(dumpOf(t, x, history), dumpOf(t, x, retractable)...)
}

func dumpOf(t testing.TB, x *Index, queries []string) []string {
	var lines []string
	err := x.store.view(t.Context(), func(tx *tx) error {
		for _, query := range queries {
			rows, err := tx.tx.(*sqlx.Tx).Queryx(query)
			if err != nil {
				return err
			}
			for rows.Next() {
				values, err := rows.SliceScan()
				if err != nil {
					return err
				}
				lines = append(lines, strings.Trim(fmt.Sprint(values), "[]"))
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	require.NoError(t, err)
	return lines
}

// same proves that an index equals one rebuilt from the chain, on disk and in memory.
func (r *rig) same(x *Index) {
	r.t.Helper()
	span := r.span
	r.span = 0 // all at once
	fresh := r.caught(sqliteURL(r.t))
	r.span = span
	require.Equal(r.t, dump(r.t, fresh), dump(r.t, x))
	require.Equal(r.t, fresh.Markets(), x.Markets())
	require.Equal(r.t, fresh.Tickers(), x.Tickers())
	for _, m := range fresh.Markets() {
		want, err := fresh.Depth(m.Symbol, MaxDepth, nil)
		require.NoError(r.t, err)
		got, err := x.Depth(m.Symbol, MaxDepth, nil)
		require.NoError(r.t, err)
		require.Equal(r.t, want, got)
	}
	require.NoError(r.t, fresh.Close())
}

// matchesNode proves that the open orders are those of the node's books.
func (r *rig) matchesNode(x *Index) {
	r.t.Helper()
	for _, sell := range []bool{false, true} {
		var page struct {
			Orders []struct{ ID, ExecutedQuantity, ExecutedAmount, ExecutedBaseFee string }
		}
		require.NoError(r.t, r.client.Call(r.t.Context(), &page, "dextrade_getOrdersFromMarket", coin, core.VITE, sell, 0, 1000))
		var want, got []string
		for _, o := range page.Orders {
			want = append(want, o.ID+" "+cmp.Or(o.ExecutedQuantity, "0")+" "+cmp.Or(o.ExecutedAmount, "0")+" "+cmp.Or(o.ExecutedBaseFee, "0"))
		}
		var rows []orderRow
		require.NoError(r.t, x.store.view(r.t.Context(), func(tx *tx) error {
			side := map[bool]int{true: 1}[sell]
			return tx.list(&rows, "SELECT "+orderColumns+" FROM ex_orders WHERE side = ? AND status IN (3,5) ORDER BY inner_id", side)
		}))
		for i := range rows {
			got = append(got, rows[i].InnerID+" "+rows[i].Executed.Dec()+" "+rows[i].ExecutedAmount.Dec()+" "+rows[i].BaseFee.Dec())
		}
		require.Equal(r.t, want, got)
	}
}

func testRollback(t *testing.T, url string) {
	r := newRig(t)
	first := r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(10))
	r.snapshot()
	x := r.caught(url)
	before := dump(t, x)
	height := r.head()
	updates := x.Subscribe(100)
	r.order(r.bob, dex.Buy, "11", coins(10))
	r.cancel(r.alice, r.order(r.alice, dex.Sell, "12", coins(20)))
	r.do(r.owner, dex.FundMarketAdmin, uint8(2), coin, core.VITE, r.owner.addr, 100, 0, false)
	r.do(r.alice, dex.FundWithdraw, coin, coins(1))
	r.snapshot()
	r.catchUp(x)
	require.Equal(t, Filled, r.find(x, r.alice, first).Status)
	require.NotEqual(t, before, dump(t, x))
	queuedUpdates(updates)
	require.NoError(t, r.chain.Rollback(height))
	r.catchUp(x)
	require.Equal(t, before, dump(t, x))
	require.Equal(t, PartiallyFilled, r.find(x, r.alice, first).Status)
	list := queuedUpdates(updates)
	require.NotEmpty(t, list)
	for _, u := range list {
		require.True(t, u.Undone)
	}
	r.same(x)

	// Blocks without a snapshot are dropped, and others replace them.
	waiting := r.order(r.bob, dex.Buy, "9", coins(50))
	r.catchUp(x)
	require.Equal(t, Open, r.find(x, r.bob, waiting).Status)
	require.NoError(t, r.chain.DropAccount(r.bob.addr))
	r.order(r.alice, dex.Sell, "10.5", coins(50))
	r.catchUp(x)
	gone, err := x.Order(t.Context(), r.bob.addr, waiting)
	require.NoError(t, err)
	require.Nil(t, gone)
	r.same(x)
	r.matchesNode(x)
}

func (r *rig) head() uint64 {
	h, err := r.client.SnapshotHeight(r.t.Context())
	require.NoError(r.t, err)
	return h
}

// breaking is a node whose events come, and then the process is killed: the n-th read of events is
// answered, and the context ends before what was read is stored; or the reading breaks off.
type breaking struct {
	*client.Client
	kill func()
	left int
}

var errKilled = errors.New("killed")

func (b *breaking) Call(ctx context.Context, result any, method string, params ...any) error {
	if method != "ledger_getVmLogsByFilter" {
		return b.Client.Call(ctx, result, method, params...)
	}
	if b.left--; b.left < 0 {
		b.kill()
		return errKilled
	}
	return b.Client.Call(ctx, result, method, params...)
}

// testRestart: a block with many events is stored as one or not at all, wherever it is cut
// (behaviour 57).
func testRestart(t *testing.T, url string) {
	r := newRig(t)
	for i := range 5 {
		r.order(r.alice, dex.Sell, fmt.Sprintf("1%d", i), coins(20))
	}
	x := r.caught(url)
	r.order(r.bob, dex.Buy, "20", coins(100))
	before := dump(t, x)
	// The last event of the block cannot be stored: nothing of it is.
	p, err := x.follower.reader(trade).next(t.Context(), x.at(trade), math.MaxUint64)
	require.NoError(t, err)
	require.Len(t, p.blocks, 1)
	require.Len(t, p.blocks[0].logs, 11)
	broken := p.blocks[0]
	broken.logs = append(broken.logs[:10:10], client.VMLog{Topics: broken.logs[10].Topics, Data: []byte{0xff}})
	require.ErrorIs(t, broken.decode(), dex.ErrWire)
	broken.logs[10] = broken.logs[9] // the same fill twice: what is read before it, is read from the transaction
	broken.logs = append(broken.logs, p.blocks[0].logs[0])
	require.NoError(t, broken.decode())
	err = x.write(t.Context(), nil, func(a *applier) error { return a.blocks(trade, []block{broken}) })
	require.ErrorIs(t, err, errHistory)
	require.Equal(t, before, dump(t, x))
	require.NoError(t, x.Close())

	// Reading breaks off after the block of dexFund.
	x = r.openOn(url, &breaking{r.client, func() {}, 1})
	require.ErrorIs(t, x.follower.catchUp(t.Context()), errKilled)
	require.NoError(t, x.Close())
	x = r.caught(url)
	r.catchUp(x)
	require.Len(t, mustTrades(t, x), 5)
	r.same(x)
}

func mustTrades(t *testing.T, x *Index) []Trade {
	list, err := x.Trades(t.Context(), TradeFilter{Symbol: "COIN-000_VITE"}, Page{Limit: 1000})
	require.NoError(t, err)
	return list.List
}

// testWalk: users trade at random while the chain removes blocks and the index is killed and opened
// again; it then equals a rebuilt one.
func testWalk(t *testing.T, url string) { walk(t, url, 0) }

// testWalkInTurns is the same with turns of few blocks, which must not make a difference.
func testWalkInTurns(t *testing.T, url string) { walk(t, url, 3) }

func walk(t *testing.T, url string, span uint64) {
	r := newRig(t)
	r.span = span
	random := rand.New(rand.NewPCG(1, 2+span))
	x := r.open(url)
	var orders []core.Hash
	for range 250 {
		u := []user{r.alice, r.bob}[random.IntN(2)]
		switch n := random.IntN(20); {
		case n < 11:
			side, price := dex.Side(random.IntN(2) == 1), fmt.Sprintf("%d.%d", 9+random.IntN(3), random.IntN(10))
			orders = append(orders, r.sendOrder(u, side, price, coins(uint64(15+random.IntN(40)))))
		case n < 14 && len(orders) > 0:
			id := orders[random.IntN(len(orders))]
			r.send(u, core.DexFundContract, core.VITE, coins(0), dex.FundCancelBySendHash, id, core.Address{}, coin, core.VITE)
		case n == 14:
			r.setClock(r.clock.Load() + int64(random.IntN(4000)))
		case n == 15:
			r.do(u, dex.FundWithdraw, coin, coins(1))
		case n == 16:
			r.snapshot()
		case n == 17:
			which := []core.Address{u.addr, core.DexFundContract, core.DexTradeContract}[random.IntN(3)]
			require.NoError(t, r.chain.DropAccount(which))
		case n == 18 && r.head() > 6:
			require.NoError(t, r.chain.Rollback(r.head()-1))
		default:
			x = r.killed(x, url, random.IntN(6))
		}
		if random.IntN(2) == 0 {
			r.tick()
		}
		if random.IntN(3) == 0 {
			r.catchUp(x)
		}
	}
	r.setClock(r.clock.Load() + 1)
	r.catchUp(x)
	require.NotEmpty(t, mustTrades(t, x))
	undone := 0
	for _, e := range r.logged.AllEntries() {
		if e.Message == tookBackMessage {
			undone++
		}
	}
	require.Greater(t, undone, 2, "the walk went back")
	r.same(x)
	r.matchesNode(x)
}

// killed follows the chain for a few reads, is killed, and opened again.
func (r *rig) killed(x *Index, url string, reads int) *Index {
	r.t.Helper()
	require.NoError(r.t, x.Close())
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	x = r.openOn(url, &breaking{r.client, cancel, reads})
	if err := x.follower.catchUp(ctx); err != nil {
		require.True(r.t, errors.Is(err, errKilled) || errors.Is(err, context.Canceled), err)
	}
	require.NoError(r.t, x.Close())
	return r.open(url)
}
