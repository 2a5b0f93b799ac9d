package exchangedemo

import (
	"context"
	"fmt"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/devnet"
	"gatewayd/devnet/demo"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// trader is one person of the demo: a wallet on both chains, an API key, and what was on the exchange before.
type trader struct {
	*devnet.BridgeUser
	name   string
	log    *demo.Log
	api    *client.Client
	agent  core.Address // the delegation address
	before map[string]client.Balance
}

// trader makes a user of the gateway's dollars and notes what is on the exchange already: the environment may have been used.
func (d *exchangeDemo) trader(ctx context.Context, name string, n uint32) (*trader, error) {
	dollars, err := d.info.Token(devnet.DollarSymbol)
	if err != nil {
		return nil, err
	}
	u, err := devnet.NewBridgeUser(ctx, d.info, dollars, n, d.log)
	if err != nil {
		return nil, err
	}
	t := &trader{BridgeUser: u, name: name, log: d.log, api: &client.Client{Base: d.info.API}}
	d.log.Note("%s is %s", name, t.address())
	t.before, err = t.api.Balance(ctx, t.address())
	return t, err
}

func (t *trader) address() string { return t.Vite.Address().String() }

// wallet is how the account proves itself to the API.
func (t *trader) wallet() client.Wallet {
	public := t.Vite.Key.Public()
	return client.Wallet{
		Address: t.address(), PublicKey: public[:],
		Sign: func(text []byte) ([]byte, error) { return t.Vite.Key.Sign(text), nil },
	}
}

// toExchange deposits whole tokens on the exchange and waits until the API lists it.
func (t *trader) toExchange(ctx context.Context, token core.TokenID, tokens uint64, decimals uint8) error {
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	return t.moves(ctx, listedDeposit, token, decimal.NewFromUint64(tokens), func() error {
		if _, err := t.Vite.Send(ctx, core.DexFundContract, token, devnet.Whole(tokens, decimals).Uint256(), data); err != nil {
			return fmt.Errorf("depositing on the exchange: %w", err)
		}
		return nil
	})
}

// fromExchange takes all of the trader's dollars from the exchange into the wallet.
func (t *trader) fromExchange(ctx context.Context, symbol string) error {
	have, err := t.api.Balance(ctx, t.address())
	if err != nil {
		return err
	}
	all := have[symbol].Available
	units, err := chain.ParseAmount(all.Shift(int32(t.Token.Decimals)).String())
	if err != nil {
		return fmt.Errorf("%s of %s: %w", all, t.name, err)
	}
	before, err := t.Vite.Balance(ctx, t.Token.ID())
	if err != nil {
		return err
	}
	after, err := before.Add(units)
	if err != nil {
		return err
	}
	err = t.moves(ctx, listedWithdrawal, t.Token.ID(), all, func() error { return t.Vite.Call(ctx, dex.FundWithdraw, t.Token.ID(), *units.Uint256()) })
	if err != nil {
		return err
	}
	t.log.Note("%s withdraws %s %s from the exchange", t.name, all, symbol)
	return t.Collect(ctx, after)
}

// The token that the demo issues.
const (
	ownSymbol   = "DEMO"
	ownDecimals = 18
	ownSupply   = 1_000_000
)

// issue makes a token of the trader's own, which costs 1,000 VITE, and takes it in.
func (t *trader) issue(ctx context.Context) (core.TokenID, error) {
	before, err := t.Vite.Node.TokensByOwner(ctx, t.Vite.Address())
	if err != nil {
		return core.TokenID{}, fmt.Errorf("asking for %s's tokens: %w", t.name, err)
	}
	supply := *devnet.Whole(ownSupply, ownDecimals).Uint256()
	data, err := core.IssueToken.Pack(false, "Demo Token", ownSymbol, supply, uint8(ownDecimals), uint256.Int{}, false)
	if err != nil {
		return core.TokenID{}, err
	}
	b := &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.AssetContract, TokenID: core.VITE, Data: data}
	b.Fee = core.RequiredFee(b.BlockType, b.ToAddress, b.Data)
	if _, err := t.Vite.Submit(ctx, b); err != nil {
		return core.TokenID{}, fmt.Errorf("issuing a token: %w", err)
	}
	known := map[core.TokenID]bool{}
	for _, k := range before {
		known[k.ID] = true
	}
	var token core.TokenID
	err = devnet.Within(ctx, devnet.Soon, "the asset contract to issue a token", func() (bool, error) {
		now, err := t.Vite.Node.TokensByOwner(ctx, t.Vite.Address())
		for _, k := range now {
			if !known[k.ID] {
				token = k.ID
			}
		}
		return token != core.TokenID{}, err
	})
	if err != nil {
		return token, err
	}
	return token, t.Vite.Collect(ctx, token, devnet.Whole(ownSupply, ownDecimals))
}

// apply gets an API key; one that an earlier demo has left is removed first, because nobody can read its secret again.
func (t *trader) apply(ctx context.Context) error {
	info, err := t.api.Agent(ctx, t.address())
	if err != nil {
		return err
	}
	if info.Key != "" {
		t.log.Note("%s has the API key %s from before: removing it", t.name, info.Key)
		if err := t.api.RemoveKey(ctx, t.wallet()); err != nil {
			return fmt.Errorf("removing the old key: %w", err)
		}
	}
	issued, err := t.api.Apply(ctx, t.wallet())
	if err != nil {
		return err
	}
	t.api.Key, t.api.Secret = issued.Key, issued.Secret
	if t.agent, err = core.ParseAddress(issued.AgentAddress); err != nil {
		return fmt.Errorf("agentAddress: %w", err)
	}
	t.log.Note("%s %s: API key %s, delegation address %s", t.name, t.address(), issued.Key, issued.AgentAddress)
	return nil
}

// agentStake is what the demo stakes for a delegation address, in VITE: quota for some fifty orders in 75 seconds.
const agentStake = 10_000

// equip sends the delegation address its first transfer, which puts it on the chain, and stakes for its quota.
func (t *trader) equip(ctx context.Context) error {
	latest, err := t.Vite.Node.LatestAccountBlock(ctx, t.agent)
	if err != nil {
		return fmt.Errorf("asking for the delegation address: %w", err)
	}
	if latest == nil {
		if _, err := t.Vite.Send(ctx, t.agent, core.VITE, uint256.NewInt(1), nil); err != nil {
			return fmt.Errorf("sending the first transfer: %w", err)
		}
		t.log.Note("%s sends it a first transfer", t.name)
	}
	quota, err := t.Vite.Node.Quota(ctx, t.agent)
	if err != nil {
		return fmt.Errorf("asking for the quota: %w", err)
	}
	stake := devnet.Whole(agentStake, 18).Uint256()
	if !quota.Stake.Lt(stake) {
		return nil
	}
	data, err := core.StakeForQuota.Pack(t.agent)
	if err != nil {
		return err
	}
	if _, err := t.Vite.Send(ctx, core.QuotaContract, core.VITE, stake, data); err != nil {
		return fmt.Errorf("staking: %w", err)
	}
	t.log.Note("%s stakes %d VITE for its quota", t.name, agentStake)
	return nil
}

// The actions of ConfigMarketAgents.
const (
	grantPair  = 1
	revokePair = 2
)

// configAgent grants a pair to the delegation address, or revokes it, and waits until the chain says so.
func (t *trader) configAgent(ctx context.Context, action uint8, trade, quote core.TokenID) error {
	err := t.Vite.Call(ctx, dex.FundConfigAgents, action, t.agent, []core.TokenID{trade}, []core.TokenID{quote})
	if err != nil {
		return err
	}
	return devnet.Within(ctx, devnet.Soon, "the permission to change", func() (bool, error) {
		granted, err := t.Vite.Node.IsAgent(ctx, t.Vite.Address(), t.agent, trade, quote)
		return granted == (action == grantPair), err
	})
}

// hasQuota waits until the delegation address can pay for orders.
func (t *trader) hasQuota(ctx context.Context) error {
	return devnet.Within(ctx, devnet.Soon, "quota of "+t.name+"'s delegation address", func() (bool, error) {
		info, err := t.api.Agent(ctx, t.address())
		return info.Quota >= 10*orderQuota, err
	})
}

// orderQuota is a little more than placing an order takes.
const orderQuota = 31_000

// The kinds of entries in the list of deposits and withdrawals.
const (
	listedDeposit    = 1
	listedWithdrawal = 2
)

// moves does something that deposits or withdraws an amount of a token, and waits until that is the list's next entry. By then the API knows
// all that the contract did before.
func (t *trader) moves(ctx context.Context, kind int, token core.TokenID, amount decimal.Decimal, do func() error) error {
	list := func() (client.Transfers, error) {
		return t.api.Transfers(ctx, t.address(), token.String(), client.Page{Limit: 1, Total: true})
	}
	before, err := list()
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return devnet.Within(ctx, devnet.Soon, "the list of deposits and withdrawals", func() (bool, error) {
		now, err := list()
		if err != nil || now.Total == before.Total {
			return false, err
		}
		if r := now.Record[0]; now.Total != before.Total+1 || r.Type != kind || !r.Amount.Equal(amount) {
			return false, fmt.Errorf("the newest of %d is %s, type %d, not %s, type %d", now.Total, r.Amount, r.Type, amount, kind)
		}
		return true, nil
	})
}
