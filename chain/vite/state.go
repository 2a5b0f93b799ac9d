package vite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// Balance returns what the account has received and not spent, confirmed or not; what waits to be
// received does not count. ErrUnavailable: also while the nodes have no block in common.
func (c *Chain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	c = c.current()
	owner, err := core.ParseAddress(account)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading a balance: %w", err)
	}
	token, err := core.ParseTokenID(string(asset))
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading a balance: %w", err)
	}
	if err := c.checkCommonBlock(ctx); err != nil {
		return chain.Amount{}, fmt.Errorf("reading the balance of %s: %w", account, err)
	}
	amount, err := agreed(ctx, c, chain.Amount.String,
		func(ctx context.Context, _ *node, nc *client.Client) (chain.Amount, error) {
			info, err := nc.AccountInfo(ctx, owner)
			held := info.Balances[token].Amount
			return chain.AmountOf(&held), err
		})
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading the balance of %s: %w", account, err)
	}
	return amount, nil
}

// AccountHead returns where the account's own chain ends, blocks that no snapshot has confirmed yet
// included. Settled means that its latest block is final, or that there is none. Hash is all zeros
// for an account without a block.
func (c *Chain) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	c = c.current()
	owner, err := core.ParseAddress(account)
	if err != nil {
		return chain.AccountHead{}, fmt.Errorf("reading the head of an account: %w", err)
	}
	if err := c.checkCommonBlock(ctx); err != nil {
		return chain.AccountHead{}, fmt.Errorf("reading the head of %s: %w", account, err)
	}
	tip, err := agreed(ctx, c,
		func(t chain.AccountHead) string {
			return strconv.FormatUint(t.Next, 10) + t.Hash + strconv.FormatBool(t.Settled)
		},
		func(ctx context.Context, _ *node, nc *client.Client) (chain.AccountHead, error) {
			return c.tip(ctx, nc, owner)
		})
	if err != nil {
		return chain.AccountHead{}, fmt.Errorf("reading the head of %s: %w", account, err)
	}
	return tip, nil
}

func (c *Chain) tip(ctx context.Context, nc *client.Client, account core.Address) (chain.AccountHead, error) {
	b, err := nc.LatestAccountBlock(ctx, account)
	switch {
	case err != nil:
		return chain.AccountHead{}, err
	case b == nil:
		return chain.AccountHead{Next: 1, Hash: core.Hash{}.String(), Settled: true}, nil
	case b.Height == 0:
		return chain.AccountHead{}, fmt.Errorf("latest block of %s: has height 0", account)
	}
	if err := checkOwn(b, account, b.Height, b.Hash); err != nil {
		return chain.AccountHead{}, err
	}
	return chain.AccountHead{Next: b.Height + 1, Hash: b.Hash.String(), Settled: b.Confirmations >= c.cfg.Confirmations}, nil
}

// Token describes a token.
type Token struct {
	ID       core.TokenID
	Symbol   string // as wallets show it: symbol and three-digit index ("ETH-000"); VITE, VCP and VX without
	Decimals uint8
}

// TokenInfo returns the ledger's data of an asset, ErrNotFound for an unknown one.
func (c *Chain) TokenInfo(ctx context.Context, asset chain.Asset) (Token, error) {
	c = c.current()
	id, err := core.ParseTokenID(string(asset))
	if err != nil {
		return Token{}, fmt.Errorf("reading a token: %w", err)
	}
	token, err := agreed(ctx, c,
		func(t Token) string { return fmt.Sprint(t) },
		func(ctx context.Context, _ *node, nc *client.Client) (Token, error) { return token(ctx, nc, id) })
	if err != nil {
		return Token{}, fmt.Errorf("reading token %s: %w", id, err)
	}
	return token, nil
}

func token(ctx context.Context, nc *client.Client, id core.TokenID) (Token, error) {
	info, err := nc.TokenInfo(ctx, id)
	switch {
	case err != nil:
		return Token{}, err
	case info == nil:
		return Token{}, chain.ErrNotFound
	case info.ID != id:
		return Token{}, fmt.Errorf("the node answered token %s", info.ID)
	}
	t := Token{ID: id, Symbol: info.Symbol, Decimals: info.Decimals}
	if !slices.Contains(unique, info.Symbol) {
		t.Symbol = fmt.Sprintf("%s-%03d", info.Symbol, info.Index)
	}
	return t, nil
}

// unique are the symbols that the ledger gives to no second token.
var unique = []string{"VITE", "VCP", "VX"}

// Quota is an account's quota for blocks; a transfer with our data costs 21448, a receive 21000
// (docs/exchange-chain-wire.md 4.6).
type Quota struct {
	Current uint64       // now
	Max     uint64       // after 75 idle snapshot blocks
	Stake   chain.Amount // VITE staked for the account, smallest unit
}

// PoW reports whether blocks that the quota does not pay for are worked for.
func (c *Chain) PoW() bool { return c.cfg.PoW }

// Quota returns the quota that the account has by stake, from the first node that answers: it
// changes with every snapshot block.
func (c *Chain) Quota(ctx context.Context, account string) (Quota, error) {
	c = c.current()
	owner, err := core.ParseAddress(account)
	if err != nil {
		return Quota{}, fmt.Errorf("reading a quota: %w", err)
	}
	answers := ask(ctx, c.nodes,
		func(ctx context.Context, _ *node, nc *client.Client) (client.Quota, error) {
			return nc.Quota(ctx, owner)
		},
		func(answers []answer[client.Quota]) bool { return answers[len(answers)-1].Err == nil })
	good, _ := quorum.Good(answers)
	if len(good) == 0 {
		return Quota{}, fmt.Errorf("reading the quota of %s: %w", account, disagreement(answers, c.quorum()))
	}
	first := good[0].Value
	return Quota{first.Current, first.Max, chain.AmountOf(&first.Stake)}, nil
}

// CreditQuota returns the quota that an account's stake can give it, and what one payment takes of
// it: nothing where proof of work is done.
func (c *Chain) CreditQuota(ctx context.Context, account string) (has, takes uint64, err error) {
	c = c.current()
	if c.cfg.PoW {
		return 0, 0, nil
	}
	if takes, err = core.RequiredQuota(core.SendCall, core.Address{}, make([]byte, dataSize), 0); err != nil {
		return 0, 0, err
	}
	q, err := c.Quota(ctx, account)
	return max(q.Current, q.Max), takes, err
}

// supply is one node's data of a token.
type supply struct {
	total, ours chain.Amount
	owned       bool
}

// Circulating returns the amount of an asset outside the given accounts: the supply, less their
// balances and their pending receives. owned reports whether one of them is the token's owner on
// the ledger. chain.ErrNotFound: an unknown token, or a node that does not sum up pending receives.
func (c *Chain) Circulating(ctx context.Context, asset chain.Asset, accounts []string) (amount chain.Amount, owned bool, err error) {
	c = c.current()
	id, err := core.ParseTokenID(string(asset))
	if err != nil {
		return amount, false, fmt.Errorf("reading a supply: %w", err)
	}
	ours := make([]core.Address, len(accounts))
	for i, a := range accounts {
		if ours[i], err = core.ParseAddress(a); err != nil {
			return amount, false, fmt.Errorf("reading the supply of %s: %w", id, err)
		}
	}
	s, err := agreed(ctx, c,
		func(s supply) string { return fmt.Sprint(s.total, s.ours, s.owned) },
		func(ctx context.Context, _ *node, nc *client.Client) (supply, error) {
			return supplyOf(ctx, nc, id, ours)
		})
	if err == nil {
		amount, err = s.total.Sub(s.ours)
	}
	if err != nil {
		return chain.Amount{}, false, fmt.Errorf("reading the supply of %s: %w", id, err)
	}
	return amount, s.owned, nil
}

func supplyOf(ctx context.Context, nc *client.Client, id core.TokenID, ours []core.Address) (s supply, err error) {
	waiting, err := nc.UnreceivedSummaries(ctx, ours)
	if errors.Is(err, client.ErrMethod) {
		return s, chain.ErrNotFound
	}
	if err != nil || len(waiting) != len(ours) {
		return s, errors.Join(err, fmt.Errorf("what waits for %d accounts: %d answers", len(ours), len(waiting)))
	}
	for i, account := range ours {
		has, err := nc.AccountInfo(ctx, account)
		if err != nil {
			return s, err
		}
		held, onTheWay := has.Balances[id].Amount, waiting[i].Balances[id].Amount
		for _, part := range []chain.Amount{chain.AmountOf(&held), chain.AmountOf(&onTheWay)} {
			if s.ours, err = s.ours.Add(part); err != nil {
				return s, err
			}
		}
	}
	info, err := nc.TokenInfo(ctx, id) // last: what moves to us meanwhile is not missing in ours
	if err != nil {
		return s, err
	}
	if info == nil {
		return s, chain.ErrNotFound
	}
	s.total, s.owned = chain.AmountOf(&info.TotalSupply), slices.Contains(ours, info.Owner)
	return s, nil
}
