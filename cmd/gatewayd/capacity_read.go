package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/chain/vite/core"
	"gatewayd/records"
)

// known takes a time between blocks that cannot be told yet as not known.
func known(interval time.Duration, err error) (time.Duration, error) {
	if errors.Is(err, chain.ErrNotFound) {
		return 0, nil
	}
	return interval, err
}

// withdrawalCapacity asks what the hot accounts can pay of a token.
func withdrawalCapacity(ctx context.Context, c *ethereum.Chain, n records.Network, t records.Token) (capacity, error) {
	interval, err := known(c.BlockInterval(ctx))
	if err != nil {
		return capacity{}, err
	}
	accounts := n.Paying(n.Source)
	p := payer{unmined: len(accounts) * c.MaxUnmined(), interval: interval, same: t.Asset == chain.Native}
	if p.least, _, err = t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals); err != nil {
		return capacity{}, fmt.Errorf("minimum of %s: %w", t.Symbol, err)
	}
	if p.holds, err = balances(ctx, c, accounts, t.Asset); err != nil {
		return capacity{}, err
	}
	if p.coin, err = balances(ctx, c, accounts, chain.Native); err != nil {
		return capacity{}, err
	}
	if p.cost, err = c.PayoutCost(ctx, t.Asset); err != nil {
		return capacity{}, err
	}
	return capacityOf(p), nil
}

// depositCapacity asks what the gateway's accounts on the exchange chain can pay of a token.
func depositCapacity(ctx context.Context, c *vite.Chain, pow bool, n records.Network, t records.Token) (capacity, error) {
	interval, err := known(c.BlockInterval(ctx))
	if err != nil {
		return capacity{}, err
	}
	accounts, each := n.Paying(n.Exchange), uint64(0)
	for _, a := range accounts {
		quota, err := c.Quota(ctx, a)
		if err != nil {
			return capacity{}, err
		}
		each += core.QuotaForStake(*quota.Stake.Uint256())
	}
	held, err := balances(ctx, c, accounts, chain.Asset(t.TokenID))
	if err != nil {
		return capacity{}, err
	}
	return capacityOf(payer{
		unmined: len(accounts) * c.MaxUnmined(), interval: interval, quota: &each, pow: pow, holds: held, least: t.Policy.MinDeposit,
	}), nil
}

// balances adds up what accounts hold.
func balances(ctx context.Context, c chain.Chain, accounts []string, asset chain.Asset) (sum chain.Amount, err error) {
	for _, a := range accounts {
		have, err := c.Balance(ctx, a, asset)
		if err != nil {
			return sum, err
		}
		if sum, err = sum.Add(have); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// capacityPatience bounds how long a list of channels waits for nodes.
const capacityPatience = 5 * time.Second

// channelID is a channel's token and direction on a network.
type channelID struct {
	network, token string
	direction      records.Direction
}

// capacities asks for all channels. What nodes do not answer in time is left out, and so is what a daemon that has never run has no accounts for.
func (d *desk) capacities(ctx context.Context) (map[channelID]capacity, error) {
	ctx, cancel := context.WithTimeout(ctx, capacityPatience)
	defer cancel()
	networks, err := d.networks(ctx)
	if err != nil {
		return nil, err
	}
	all := map[channelID]capacity{}
	for _, c := range d.cfg.Ethereum {
		adapter, err := ethereum.New(d.cfg.withTokens(c), nil, nil)
		if err != nil {
			return nil, err
		}
		addCapacities(all, networks, records.Withdrawal, func(n records.Network, t records.Token) (capacity, error) {
			if n.Source != c.ID || n.Hot == "" {
				return capacity{}, chain.ErrNotFound
			}
			return withdrawalCapacity(ctx, adapter, n, t)
		})
		adapter.Close()
	}
	for _, c := range d.cfg.Vite {
		adapter, err := vite.New(c, nil, nil)
		if err != nil {
			return nil, err
		}
		addCapacities(all, networks, records.Deposit, func(n records.Network, t records.Token) (capacity, error) {
			if n.Exchange != c.ID || n.Gateway == "" {
				return capacity{}, chain.ErrNotFound
			}
			return depositCapacity(ctx, adapter, c.PoW, n, t)
		})
		adapter.Close()
	}
	return all, nil
}

// addCapacities keeps what could be asked.
func addCapacities(all map[channelID]capacity, networks []records.Network, d records.Direction, ask func(records.Network, records.Token) (capacity, error)) {
	for _, n := range networks {
		for _, t := range n.Tokens {
			if c, err := ask(n, t); err == nil {
				all[channelID{n.Name, t.TokenID, d}] = c
			}
		}
	}
}
