package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
	"gatewayd/exchangeapi/client"
)

// demoTrader is one person of the demo: a wallet on both chains, an API key, and what should be on the exchange.
type demoTrader struct {
	*bridgeUser
	name  string
	log   *demoLog
	api   *client.Client
	agent core.Address // the delegation address
	purse purse
}

// wallet is how the account proves itself to the API.
func (t *demoTrader) wallet() client.Wallet {
	public := t.vite.key.Public()
	return client.Wallet{
		Address: t.vite.address().String(), PublicKey: public[:],
		Sign: func(text []byte) ([]byte, error) { return t.vite.key.Sign(text), nil },
	}
}

// whole is an amount of whole tokens in the smallest unit.
func whole(tokens uint64, decimals uint8) chain.Amount {
	a, _, _ := chain.NewAmount(tokens).Rescale(0, decimals)
	return a
}

// toExchange deposits whole tokens on the exchange and waits until the API lists it.
func (t *demoTrader) toExchange(ctx context.Context, token core.TokenID, tokens uint64, decimals uint8) error {
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	return t.moves(ctx, listedDeposit, token, decimal.NewFromUint64(tokens), func() error {
		if _, err := t.vite.send(ctx, core.DexFundContract, token, whole(tokens, decimals).Uint256(), data); err != nil {
			return fmt.Errorf("depositing on the exchange: %w", err)
		}
		return nil
	})
}

// The token that the demo issues.
const (
	demoSymbol   = "DEMO"
	demoDecimals = 18
	demoSupply   = 1_000_000
)

// issue makes a token of the trader's own, which costs 1,000 VITE, and takes it in.
func (t *demoTrader) issue(ctx context.Context) (core.TokenID, error) {
	before, err := t.vite.node.TokensByOwner(ctx, t.vite.address())
	if err != nil {
		return core.TokenID{}, fmt.Errorf("asking for %s's tokens: %w", t.name, err)
	}
	supply := *whole(demoSupply, demoDecimals).Uint256()
	data, err := core.IssueToken.Pack(false, "Demo Token", demoSymbol, supply, uint8(demoDecimals), uint256.Int{}, false)
	if err != nil {
		return core.TokenID{}, err
	}
	b := &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.AssetContract, TokenID: core.VITE, Data: data}
	b.Fee = core.RequiredFee(b.BlockType, b.ToAddress, b.Data)
	if _, err := t.vite.submit(ctx, b); err != nil {
		return core.TokenID{}, fmt.Errorf("issuing a token: %w", err)
	}
	known := map[core.TokenID]bool{}
	for _, k := range before {
		known[k.ID] = true
	}
	var token core.TokenID
	err = within(ctx, soon, "the asset contract to issue a token", func() (bool, error) {
		now, err := t.vite.node.TokensByOwner(ctx, t.vite.address())
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
	return token, t.takeIn(ctx, token, whole(demoSupply, demoDecimals))
}

// takeIn receives until the wallet has an amount of a token. It has that amount or more then.
func (t *demoTrader) takeIn(ctx context.Context, token core.TokenID, amount chain.Amount) error {
	return within(ctx, soon, "the tokens to arrive in "+t.name+"'s wallet", func() (bool, error) {
		if err := t.vite.receiveAll(ctx); err != nil {
			return false, err
		}
		have, err := t.vite.balance(ctx, token)
		return !have.Less(amount), err
	})
}

// apply gets an API key; one that an earlier demo has left is removed first, because nobody can read its secret again.
func (t *demoTrader) apply(ctx context.Context) error {
	info, err := t.api.Agent(ctx, t.vite.address().String())
	if err != nil {
		return err
	}
	if info.Key != "" {
		t.log.note("%s has the API key %s from before: removing it", t.name, info.Key)
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
	t.log.note("%s %s: API key %s, delegation address %s", t.name, t.vite.address(), issued.Key, issued.AgentAddress)
	return nil
}

// agentStake is what the demo stakes for a delegation address, in VITE: quota for some fifty orders in 75 seconds.
const agentStake = 10_000

// equip sends the delegation address its first transfer, which puts it on the chain, and stakes for its quota.
func (t *demoTrader) equip(ctx context.Context) error {
	latest, err := t.vite.node.LatestAccountBlock(ctx, t.agent)
	if err != nil {
		return fmt.Errorf("asking for the delegation address: %w", err)
	}
	if latest == nil {
		if _, err := t.vite.send(ctx, t.agent, core.VITE, uint256.NewInt(1), nil); err != nil {
			return fmt.Errorf("sending the first transfer: %w", err)
		}
		t.log.note("%s sends it a first transfer", t.name)
	}
	quota, err := t.vite.node.Quota(ctx, t.agent)
	if err != nil {
		return fmt.Errorf("asking for the quota: %w", err)
	}
	stake := whole(agentStake, 18).Uint256()
	if !quota.Stake.Lt(stake) {
		return nil
	}
	data, err := core.StakeForQuota.Pack(t.agent)
	if err != nil {
		return err
	}
	if _, err := t.vite.send(ctx, core.QuotaContract, core.VITE, stake, data); err != nil {
		return fmt.Errorf("staking: %w", err)
	}
	t.log.note("%s stakes %d VITE for its quota", t.name, agentStake)
	return nil
}

// The actions of ConfigMarketAgents.
const (
	grantPair  = 1
	revokePair = 2
)

// configAgent grants a pair to the delegation address, or revokes it, and waits until the chain says so.
func (t *demoTrader) configAgent(ctx context.Context, action uint8, trade, quote core.TokenID) error {
	err := t.vite.call(ctx, dex.FundConfigAgents, action, t.agent, []core.TokenID{trade}, []core.TokenID{quote})
	if err != nil {
		return err
	}
	return within(ctx, soon, "the permission to change", func() (bool, error) {
		granted, err := t.vite.node.IsAgent(ctx, t.vite.address(), t.agent, trade, quote)
		return granted == (action == grantPair), err
	})
}

// hasQuota waits until the delegation address can pay for orders.
func (t *demoTrader) hasQuota(ctx context.Context) error {
	return within(ctx, soon, "quota of "+t.name+"'s delegation address", func() (bool, error) {
		info, err := t.api.Agent(ctx, t.vite.address().String())
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
func (t *demoTrader) moves(ctx context.Context, kind int, token core.TokenID, amount decimal.Decimal, do func() error) error {
	list := func() (client.Transfers, error) {
		return t.api.Transfers(ctx, t.vite.address().String(), token.String(), client.Page{Limit: 1, Total: true})
	}
	before, err := list()
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return within(ctx, soon, "the list of deposits and withdrawals", func() (bool, error) {
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

// balances waits until the API's balances are those of the purse: they follow a fill when it is settled.
func (t *demoTrader) balances(ctx context.Context) error {
	differs := ""
	err := within(ctx, soon, "balances", func() (bool, error) {
		have, err := t.api.Balance(ctx, t.vite.address().String())
		differs = t.purse.differs(have)
		return differs == "", err
	})
	if errors.Is(err, errLate) {
		return fmt.Errorf("%s's balance: %s", t.name, differs)
	}
	return err
}
