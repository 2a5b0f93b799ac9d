// Package crowd fills an embedded exchange chain with orders, for tests and benchmarks: many traders with accounts, stakes
// and deposits in one market, whose blocks are signed and submitted as anybody's.
//
//	c, err := crowd.New(64)
//	n, err := node.New(node.Config{Dir: dir, Genesis: c.Genesis(), SnapshotInterval: -1})
//	err = c.Open(ctx, n)           // the market, and what everybody has in it
//	err = c.Rest(ctx, n, 100_000)  // orders that stay
//	err = c.Trade(ctx, n, 900_000) // orders that are filled or cancelled
//
// It owns no rules and no measuring.
package crowd

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/chain/vite/node"
)

// Coin is the token that is traded, for VITE. It has 8 decimals.
var Coin = core.TokenID([]byte("coin......"))

// Crowd is the traders. The first of them owns the exchange and the coin.
type Crowd struct {
	traders []*trader
	resting int // orders placed by Rest
}

// trader knows the chain of his account, so that he need not ask for it.
type trader struct {
	key   core.PrivateKey
	addr  core.Address
	tip   node.BlockID
	trial core.Hash // the order that he will cancel
}

// Each trader has as much of both tokens, in whole units, and deposits half of it.
const (
	wealth     = 1_000_000_000
	coinUnit   = 1e8
	fullStake  = 2_500_000 // gives as much quota as there is
	dexRoles   = 55        // all roles at once
	quoteToken = 2         // what dexFund's TradeAdminConfig is to set
	firstTime  = 1_700_000_000
)

// changeAt is the order of a turn that is cancelled in the next turn.
const changeAt = 10

// batch is how many blocks a trader adds between two snapshot blocks: what the quota of one pays for.
const batch = 30

// New makes traders with keys of their own; at least two.
func New(traders int) (*Crowd, error) {
	if traders < 2 {
		return nil, fmt.Errorf("a crowd of %d is none", traders)
	}
	c := &Crowd{}
	for i := range traders {
		var seed [core.SeedSize]byte
		binary.BigEndian.PutUint64(seed[:], uint64(i)+1)
		key, err := core.NewPrivateKey(seed[:])
		if err != nil {
			return nil, fmt.Errorf("making the key of trader %d: %w", i, err)
		}
		c.traders = append(c.traders, &trader{key: key, addr: key.Address()})
	}
	return c, nil
}

// Genesis gives every trader his wealth and a stake.
func (c *Crowd) Genesis() node.Genesis {
	owner := c.traders[0].addr
	g := node.Genesis{ExchangeOwner: owner, Tokens: []node.TokenInfo{{
		ID: Coin, Name: "Coin", Symbol: "COIN", Decimals: 8, Owner: owner, TotalSupply: times(uint64(len(c.traders)), coins(wealth)),
	}}}
	for _, t := range c.traders {
		g.Accounts = append(g.Accounts, node.GenesisAccount{
			Address: t.addr, Balances: map[core.TokenID]uint256.Int{core.VITE: vite(wealth), Coin: coins(wealth)},
		})
		g.Stakes = append(g.Stakes, node.GenesisStake{Staker: t.addr, Beneficiary: t.addr, Amount: vite(fullStake)})
	}
	return g
}

func coins(n uint64) uint256.Int { return times(n, *uint256.NewInt(coinUnit)) }
func vite(n uint64) uint256.Int  { return times(n, *uint256.NewInt(1e18)) }

func times(n uint64, unit uint256.Int) uint256.Int { return *unit.Mul(&unit, uint256.NewInt(n)) }

// Open lets the traders find their place in the chain, and on a new chain opens the market and deposits.
func (c *Crowd) Open(ctx context.Context, n *node.Node) error {
	open := false
	err := n.Read(func(v *node.View) {
		open = v.Market(Coin, core.VITE) != nil
		for _, t := range c.traders {
			t.tip = v.Tip(t.addr)
		}
	})
	if err != nil || open {
		return err
	}
	owner := c.traders[0]
	for range core.QuotaWindow {
		if _, err := n.Snapshot(); err != nil {
			return err
		}
	}
	for _, call := range []call{
		{dex.FundDexAdmin, []any{uint8(dexRoles), owner.addr, owner.addr, owner.addr, false, owner.addr, owner.addr}},
		{dex.FundNotifyTime, []any{int64(firstTime)}},
		{dex.FundTradeAdmin, []any{
			uint8(quoteToken), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0,
		}},
	} {
		if err := owner.calls(ctx, n, core.DexFundContract, call); err != nil {
			return err
		}
	}
	if err := settle(n); err != nil {
		return err
	}
	if err := c.each(ctx, n, deposits); err != nil {
		return err
	}
	if err := owner.calls(ctx, n, core.DexFundContract, call{dex.FundOpenMarket, []any{Coin, core.VITE}}); err != nil {
		return err
	}
	return settle(n)
}

// Rest places orders that stay open: purchases at some 5000 prices far below what Trade trades at.
func (c *Crowd) Rest(ctx context.Context, n *node.Node, orders int) error {
	for done := 0; done < orders; {
		per := min(batch, (orders-done+len(c.traders)-1)/len(c.traders))
		first := c.resting
		err := c.each(ctx, n, func(ctx context.Context, n *node.Node, t *trader, number int) error {
			for i := range per {
				if err := t.rests(ctx, n, first+number*per+i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		c.resting += per * len(c.traders)
		done += per * len(c.traders)
	}
	return nil
}

// Trade places orders that do not stay: half of the traders sell to the other half, and everybody cancels
// one order in a turn.
func (c *Crowd) Trade(ctx context.Context, n *node.Node, orders int) error {
	for done := 0; done < orders; {
		per := min(batch-1, (orders-done+len(c.traders)-1)/len(c.traders))
		err := c.each(ctx, n, func(ctx context.Context, n *node.Node, t *trader, number int) error {
			for i := range per {
				if err := t.trades(ctx, n, number, i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done += per * len(c.traders)
	}
	return nil
}

// each lets all traders do something at the same time, and then the contracts and the snapshot chain.
func (c *Crowd) each(ctx context.Context, n *node.Node, f func(context.Context, *node.Node, *trader, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for i, t := range c.traders {
		g.Go(func() error { return f(ctx, n, t, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return settle(n)
}

// settle lets the contracts receive all that they send each other, and makes a snapshot block.
func settle(n *node.Node) error {
	if err := n.Tick(); err != nil {
		return err
	}
	_, err := n.Snapshot()
	return err
}

func deposits(ctx context.Context, n *node.Node, t *trader, _ int) error {
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	for token, amount := range map[core.TokenID]uint256.Int{core.VITE: vite(wealth / 2), Coin: coins(wealth / 2)} {
		if err := t.sends(ctx, n, &core.AccountBlock{ToAddress: core.DexFundContract, TokenID: token, Amount: amount, Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// call is a method with its arguments.
type call struct {
	method core.Method
	args   []any
}

func (t *trader) calls(ctx context.Context, n *node.Node, contract core.Address, c call) error {
	data, err := c.method.Pack(c.args...)
	if err != nil {
		return fmt.Errorf("calling a contract: %w", err)
	}
	return t.sends(ctx, n, &core.AccountBlock{ToAddress: contract, TokenID: core.VITE, Data: data})
}

func (t *trader) sends(ctx context.Context, n *node.Node, b *core.AccountBlock) error {
	b.BlockType, b.Address = core.SendCall, t.addr
	b.Height, b.PreviousHash = t.tip.Height+1, t.tip.Hash
	b.SignWith(t.key)
	if err := n.Submit(ctx, b); err != nil {
		return fmt.Errorf("submitting block %d of %s: %w", b.Height, t.addr, err)
	}
	t.tip = node.BlockID{Height: b.Height, Hash: b.Hash}
	return nil
}

func (t *trader) orders(ctx context.Context, n *node.Node, side dex.Side, price string, quantity uint256.Int) error {
	return t.calls(ctx, n, core.DexFundContract, call{
		dex.FundPlaceOrder, []any{Coin, core.VITE, bool(side), uint8(dex.Limit), price, quantity},
	})
}

func (t *trader) rests(ctx context.Context, n *node.Node, number int) error {
	return t.orders(ctx, n, dex.Buy, fmt.Sprintf("1.%04d", number%5000), coins(100))
}

// trades places the i-th order of a turn. The one that is to be cancelled is cancelled in the next turn.
func (t *trader) trades(ctx context.Context, n *node.Node, number, i int) error {
	if i == changeAt {
		return t.changesMind(ctx, n)
	}
	side := dex.Buy
	if number%2 == 1 {
		side = dex.Sell
	}
	return t.orders(ctx, n, side, "10", coins(20))
}

func (t *trader) changesMind(ctx context.Context, n *node.Node) error {
	if !t.trial.IsZero() {
		if err := t.calls(ctx, n, core.DexTradeContract, call{dex.TradeCancelByHash, []any{t.trial}}); err != nil {
			return err
		}
	}
	if err := t.orders(ctx, n, dex.Buy, "2", coins(100)); err != nil {
		return err
	}
	t.trial = t.tip.Hash
	return nil
}
