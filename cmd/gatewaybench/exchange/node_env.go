package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// nodeEnv is an embedded exchange chain with one market, of gold against VITE, and traders who have all they need for it.
type nodeEnv struct {
	node    *node.Node
	owner   *Signer
	traders []*Signer
	gold    core.TokenID
}

// envSymbol is the market's; both tokens have 18 decimals.
const envSymbol = "GOLD-000_VITE"

// nodeEnvConfig says what an exchange is made of. The same config opens it again.
type nodeEnvConfig struct {
	dir     string // "" keeps nothing
	traders int
	staked  []core.Address // who has quota besides
	now     func() time.Time
}

// perTrader is what each trader has of either token, and half of it on the exchange.
const perTrader = 2_000_000_000

// openNodeEnv opens the chain; a new one gets its market and the traders' funds.
func openNodeEnv(ctx context.Context, c nodeEnvConfig) (*nodeEnv, error) {
	signers, err := newSigners(c.traders + 1)
	if err != nil {
		return nil, err
	}
	v := &nodeEnv{owner: signers[0], traders: signers[1:], gold: core.TokenID([]byte("gold......"))}
	v.node, err = node.New(node.Config{Dir: c.dir, Genesis: v.genesis(c.staked), SnapshotInterval: -1, Now: c.now})
	if err != nil {
		return nil, err
	}
	for _, s := range signers {
		if err := s.Find(v.node); err != nil {
			return nil, errors.Join(err, v.node.Close())
		}
	}
	if v.owner.height > 1 {
		return v, nil
	}
	if err := v.found(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the exchange: %w", err), v.node.Close())
	}
	return v, nil
}

// Genesis is that of a small exchange chain of one rich account.
func Genesis(owner *Signer) ledger.Genesis {
	return (&nodeEnv{owner: owner, gold: core.TokenID([]byte("gold......"))}).genesis(nil)
}

func (v *nodeEnv) genesis(staked []core.Address) ledger.Genesis {
	owner := v.owner.address
	g := ledger.Genesis{ExchangeOwner: owner, Tokens: []ledger.TokenInfo{
		{ID: v.gold, Name: "Gold", Symbol: "GOLD", Decimals: 18, Owner: owner, TotalSupply: viteUnits(1e18)},
	}}
	stake := func(a core.Address) {
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: owner, Beneficiary: a, Amount: viteUnits(fullStake)})
	}
	for _, s := range append([]*Signer{v.owner}, v.traders...) {
		funds := map[core.TokenID]uint256.Int{core.VITE: viteUnits(perTrader), v.gold: viteUnits(perTrader)}
		g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: s.address, Balances: funds})
		stake(s.address)
	}
	for _, a := range staked {
		stake(a)
	}
	return g
}

// found makes the market and pays the traders' funds in.
func (v *nodeEnv) found(ctx context.Context) error {
	if err := fillWindow(v.node); err != nil {
		return err
	}
	owner := v.owner.address
	calls := []func() error{
		func() error {
			return v.call(ctx, v.owner, dex.FundDexAdmin, uint8(55), owner, owner, owner, false, owner, owner)
		},
		func() error { return v.call(ctx, v.owner, dex.FundNotifyTime, time.Now().Unix()) },
		func() error {
			return v.call(ctx, v.owner, dex.FundTradeAdmin,
				uint8(2), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0)
		},
		func() error { return v.deposit(ctx, v.owner, core.VITE) },
		func() error { return v.call(ctx, v.owner, dex.FundOpenMarket, v.gold, core.VITE) },
	}
	for _, call := range calls {
		if err := errors.Join(call(), v.settle()); err != nil {
			return err
		}
	}
	for _, t := range v.traders {
		if err := errors.Join(v.deposit(ctx, t, core.VITE), v.deposit(ctx, t, v.gold)); err != nil {
			return err
		}
	}
	return v.settle()
}

// settle lets the contracts do what waits for them, and makes a snapshot block.
func (v *nodeEnv) settle() error {
	_, err := v.node.Snapshot()
	return err
}

func (v *nodeEnv) deposit(ctx context.Context, s *Signer, token core.TokenID) error {
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	b := &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.DexFundContract, TokenID: token, Amount: viteUnits(perTrader / 2), Data: data}
	return v.node.Submit(ctx, s.next(b))
}

// call calls the exchange. It does not wait for the contract.
func (v *nodeEnv) call(ctx context.Context, s *Signer, m core.Method, args ...any) error {
	b, err := exchangeCall(m, args...)
	if err != nil {
		return err
	}
	return v.node.Submit(ctx, s.next(b))
}

// exchangeCall is the call as a block that is not signed yet.
func exchangeCall(m core.Method, args ...any) (*core.AccountBlock, error) {
	data, err := m.Pack(args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name(), err)
	}
	return &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data}, nil
}

// send pays a little to somebody.
func (v *nodeEnv) send(ctx context.Context, from *Signer, to core.Address) error {
	b := &core.AccountBlock{BlockType: core.SendCall, ToAddress: to, TokenID: core.VITE, Amount: *uint256.NewInt(1)}
	return v.node.Submit(ctx, from.next(b))
}

// envOrder is the n-th order of the usual stream: two in three rest, every third meets what rests on the other side.
func envOrder(n int) (sell bool, price string, quantity uint64) {
	sell, away := n%2 == 1, 1+n*7%500
	if n%3 == 2 {
		away = -away % 10
	}
	if !sell {
		away = -away
	}
	return sell, fmt.Sprintf("1.%04d", 5000+away), uint64(200 + n%100)
}
