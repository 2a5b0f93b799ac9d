package dev

import (
	"context"
	"fmt"

	"github.com/holiman/uint256"
	"github.com/shopspring/decimal"

	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// Trader is a wallet on the exchange chain with a client of the exchange API.
type Trader struct {
	*ViteUser
	Name  string
	API   *client.Client
	Agent core.Address                     // the delegation address, once Apply has asked for it
	Note  func(format string, args ...any) // receives a description of each step
}

// Account is the account's address as text.
func (t *Trader) Account() string { return t.Address().String() }

// Wallet returns the account's credentials for the API.
func (t *Trader) Wallet() client.Wallet {
	public := t.Key.Public()
	return client.Wallet{
		Address: t.Account(), PublicKey: public[:],
		Sign: func(text []byte) ([]byte, error) { return t.Key.Sign(text), nil },
	}
}

// ToExchange deposits tokens on the exchange and waits until the API lists the deposit.
func (t *Trader) ToExchange(ctx context.Context, token core.TokenID, tokens uint64, decimals uint8) error {
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	return t.Moves(ctx, ListedDeposit, token, decimal.NewFromUint64(tokens), func() error {
		if _, err := t.Send(ctx, core.DexFundContract, token, Whole(tokens, decimals).Uint256(), data); err != nil {
			return fmt.Errorf("depositing on the exchange: %w", err)
		}
		return nil
	})
}

// Apply gets an API key; one of an earlier demo is removed first, because its secret cannot be read
// again.
func (t *Trader) Apply(ctx context.Context) error {
	info, err := t.API.Agent(ctx, t.Account())
	if err != nil {
		return err
	}
	if info.Key != "" {
		t.Note("%s has the API key %s from before: removing it", t.Name, info.Key)
		if err := t.API.RemoveKey(ctx, t.Wallet()); err != nil {
			return fmt.Errorf("removing the old key: %w", err)
		}
	}
	issued, err := t.API.Apply(ctx, t.Wallet())
	if err != nil {
		return err
	}
	t.API.Key, t.API.Secret = issued.Key, issued.Secret
	if t.Agent, err = core.ParseAddress(issued.AgentAddress); err != nil {
		return fmt.Errorf("agentAddress: %w", err)
	}
	t.Note("%s %s: API key %s, delegation address %s", t.Name, t.Account(), issued.Key, issued.AgentAddress)
	return nil
}

// agentStake is the demo's stake for a delegation address, in VITE: quota for some fifty orders in
// 75 seconds.
const agentStake = 10_000

// Equip sends the delegation address its first transfer, which puts it on the chain, and stakes for
// its quota.
func (t *Trader) Equip(ctx context.Context) error {
	latest, err := t.Node.LatestAccountBlock(ctx, t.Agent)
	if err != nil {
		return fmt.Errorf("asking for the delegation address: %w", err)
	}
	if latest == nil {
		if _, err := t.Send(ctx, t.Agent, core.VITE, uint256.NewInt(1), nil); err != nil {
			return fmt.Errorf("sending the first transfer: %w", err)
		}
		t.Note("%s sends it a first transfer", t.Name)
	}
	quota, err := t.Node.Quota(ctx, t.Agent)
	if err != nil {
		return fmt.Errorf("asking for the quota: %w", err)
	}
	stake := Whole(agentStake, 18).Uint256()
	if !quota.Stake.Lt(stake) {
		return nil
	}
	data, err := core.StakeForQuota.Pack(t.Agent)
	if err != nil {
		return err
	}
	if _, err := t.Send(ctx, core.QuotaContract, core.VITE, stake, data); err != nil {
		return fmt.Errorf("staking: %w", err)
	}
	t.Note("%s stakes %d VITE for its quota", t.Name, agentStake)
	return nil
}

// The actions of ConfigMarketAgents.
const (
	GrantPair  = 1
	RevokePair = 2
)

// ConfigAgent grants a pair to the delegation address, or revokes it, and waits until the chain
// shows it.
func (t *Trader) ConfigAgent(ctx context.Context, action uint8, trade, quote core.TokenID) error {
	err := t.Call(ctx, dex.FundConfigAgents, action, t.Agent, []core.TokenID{trade}, []core.TokenID{quote})
	if err != nil {
		return err
	}
	return Within(ctx, Soon, "the permission to change", func() (bool, error) {
		granted, err := t.Node.IsAgent(ctx, t.Address(), t.Agent, trade, quote)
		return granted == (action == GrantPair), err
	})
}

// HasQuota waits until the delegation address can pay for orders.
func (t *Trader) HasQuota(ctx context.Context) error {
	return Within(ctx, Soon, "quota of "+t.Name+"'s delegation address", func() (bool, error) {
		info, err := t.API.Agent(ctx, t.Account())
		return info.Quota >= 10*orderQuota, err
	})
}

// orderQuota is a little more than placing an order takes.
const orderQuota = 31_000

// The kinds of entries in the list of deposits and withdrawals.
const (
	ListedDeposit    = 1
	ListedWithdrawal = 2
)

// Moves does something that deposits or withdraws an amount of a token, and waits until that is the
// list's next entry. By then the API knows all that the contract did before.
func (t *Trader) Moves(ctx context.Context, kind int, token core.TokenID, amount decimal.Decimal, do func() error) error {
	list := func() (client.Transfers, error) {
		return t.API.Transfers(ctx, t.Account(), token.String(), client.Page{Limit: 1, Total: true})
	}
	before, err := list()
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return Within(ctx, Soon, "the list of deposits and withdrawals", func() (bool, error) {
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
