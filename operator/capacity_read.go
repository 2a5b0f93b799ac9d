package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/vite"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/vite/core"
	"gatewayd/watcher"
)

// known treats a time between blocks that cannot be measured yet as unknown.
func known(interval time.Duration, err error) (time.Duration, error) {
	if errors.Is(err, chain.ErrNotFound) {
		return 0, nil
	}
	return interval, err
}

// feePayer is a chain on which payments cost coin, coinPayer one on which coins pay, quotaPayer one
// on which payments cost quota.
type (
	feePayer interface {
		chain.Chain
		BlockInterval(ctx context.Context) (time.Duration, error)
		PayoutCost(ctx context.Context, asset chain.Asset) (chain.Amount, error)
	}
	coinPayer interface {
		chain.Batcher
		Turnover(ctx context.Context, account string) (coins int, blocks uint64, err error)
	}
	quotaPayer interface {
		chain.Chain
		BlockInterval(ctx context.Context) (time.Duration, error)
		Quota(ctx context.Context, account string) (vite.Quota, error)
		PoW() bool // payments that the quota does not pay for are worked for
	}
)

// WithdrawalCapacity asks what the hot accounts can pay of a token.
func WithdrawalCapacity(ctx context.Context, c feePayer, n records.Network, t records.Token, inclusion Inclusion) (Capacity, error) {
	interval, err := known(c.BlockInterval(ctx))
	if err != nil {
		return Capacity{}, err
	}
	accounts := n.Paying(n.Source)
	p := payer{unmined: len(accounts) * c.MaxUnmined(), interval: interval, inclusion: inclusion, same: t.Asset == chain.Native}
	if p.least, _, err = t.Policy.MinWithdraw.Rescale(t.Decimals, t.AssetDecimals); err != nil {
		return Capacity{}, fmt.Errorf("minimum of %s: %w", t.Symbol, err)
	}
	if p.holds, err = sumOfBalances(ctx, c, accounts, t.Asset); err != nil {
		return Capacity{}, err
	}
	if p.coin, err = sumOfBalances(ctx, c, accounts, chain.Native); err != nil {
		return Capacity{}, err
	}
	if p.cost, err = c.PayoutCost(ctx, t.Asset); err != nil {
		return Capacity{}, err
	}
	if pool, ok := c.(coinPayer); ok {
		most := pool.MaxBatch(t.Asset)
		p.unmined = 0 // its number of coins is the narrower bound
		for _, a := range accounts {
			coins, blocks, err := pool.Turnover(ctx, a)
			if err != nil {
				return Capacity{}, err
			}
			p.coins, p.blocks = p.coins+coins*most, blocks
		}
	}
	return capacityOf(p), nil
}

// DepositCapacity asks what the gateway's accounts on the exchange chain can pay of a token.
func DepositCapacity(ctx context.Context, c quotaPayer, n records.Network, t records.Token, inclusion Inclusion) (Capacity, error) {
	interval, err := known(c.BlockInterval(ctx))
	if err != nil {
		return Capacity{}, err
	}
	accounts, each := n.Paying(n.Exchange), uint64(0)
	for _, a := range accounts {
		quota, err := c.Quota(ctx, a)
		if err != nil {
			return Capacity{}, err
		}
		each += core.QuotaForStake(*quota.Stake.Uint256())
	}
	held, err := sumOfBalances(ctx, c, accounts, chain.Asset(t.TokenID))
	if err != nil {
		return Capacity{}, err
	}
	return capacityOf(payer{
		unmined: len(accounts) * c.MaxUnmined(), interval: interval, inclusion: inclusion, quota: &each, pow: c.PoW(), holds: held, least: t.Policy.MinDeposit,
	}), nil
}

// sumOfBalances adds up what accounts hold.
func sumOfBalances(ctx context.Context, c chain.Chain, accounts []string, asset chain.Asset) (sum chain.Amount, err error) {
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

// capacityTimeout bounds how long a list of channels waits for nodes.
const capacityTimeout = 5 * time.Second

// ChannelID is a channel's token and direction on a network.
type ChannelID struct {
	Network, Token string
	Direction      records.Direction
}

// Capacities computes all channels. It leaves out values that nodes do not return in time, and
// those without accounts because the daemon has never run.
func (d *Session) Capacities(ctx context.Context) (map[ChannelID]Capacity, error) {
	asking, cancel := context.WithTimeout(ctx, capacityTimeout)
	defer cancel()
	networks, err := d.Networks(ctx)
	if err != nil {
		return nil, err
	}
	open, err := d.Opener(ctx)
	if err != nil {
		return nil, err
	}
	all := map[ChannelID]Capacity{}
	for _, c := range d.Config.Chains() {
		adapter, err := open(c)
		if err != nil {
			return nil, err
		}
		for _, n := range networks {
			if err := d.addCapacities(ctx, asking, all, adapter, n); err != nil {
				adapter.Close()
				return nil, err
			}
		}
		adapter.Close()
	}
	return all, nil
}

// addCapacities adds a chain's answers about a network's channels that are paid on it. asking
// bounds the nodes alone: nodes that hang must not keep the database from being read.
func (d *Session) addCapacities(ctx, asking context.Context, all map[ChannelID]Capacity, adapter config.Adapter, n records.Network) error {
	inclusion, err := d.Inclusion(ctx, n, adapter.ID())
	if err != nil {
		return err
	}
	for _, t := range n.Tokens {
		id, c, err := ChannelID{n.Name, t.TokenID, records.Withdrawal}, Capacity{}, chain.ErrNotFound
		switch a := adapter.(type) {
		case feePayer:
			if n.Source == a.ID() && n.Hot != "" {
				c, err = WithdrawalCapacity(asking, a, n, t, inclusion)
			}
		case quotaPayer:
			if id.Direction = records.Deposit; n.Exchange == a.ID() && n.Gateway != "" {
				c, err = DepositCapacity(asking, a, n, t, inclusion)
			}
		}
		if err == nil {
			all[id] = c
		}
	}
	return nil
}

// inclusionSpan is the age up to which a payment counts for the inclusion.
const inclusionSpan = time.Hour

// Inclusion returns the inclusion of a network's payments on one of its chains.
func (d *Session) Inclusion(ctx context.Context, n records.Network, id chain.ID) (Inclusion, error) {
	p := Inclusion{Poll: cmp.Or(d.Config.Watcher.Poll, watcher.DefaultPoll)}
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		p.Seen, err = tx.OwnTxs().Inclusion(id, n.Paying(id), time.Now().Add(-inclusionSpan))
		return err
	})
	return p, err
}
