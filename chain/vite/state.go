package vite

import (
	"context"
	"fmt"
	"strconv"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// Balance answers what the account has received and not spent, confirmed or not; what waits to be received does not count.
func (c *Chain) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	owner, err := core.ParseAddress(account)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading a balance: %w", err)
	}
	token, err := core.ParseTokenID(string(asset))
	if err != nil {
		return chain.Amount{}, fmt.Errorf("reading a balance: %w", err)
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

// Tip answers where the account's own chain ends, blocks that no snapshot has confirmed yet included. Settled means that its
// newest block is final, or that there is none. Hash is all zeros for an account without a block.
func (c *Chain) Tip(ctx context.Context, account string) (chain.Tip, error) {
	owner, err := core.ParseAddress(account)
	if err != nil {
		return chain.Tip{}, fmt.Errorf("reading the tip of an account: %w", err)
	}
	tip, err := agreed(ctx, c,
		func(t chain.Tip) string {
			return strconv.FormatUint(t.Next, 10) + t.Hash + strconv.FormatBool(t.Settled)
		},
		func(ctx context.Context, _ *node, nc *client.Client) (chain.Tip, error) { return c.tip(ctx, nc, owner) })
	if err != nil {
		return chain.Tip{}, fmt.Errorf("reading the tip of %s: %w", account, err)
	}
	return tip, nil
}

func (c *Chain) tip(ctx context.Context, nc *client.Client, account core.Address) (chain.Tip, error) {
	b, err := nc.LatestAccountBlock(ctx, account)
	switch {
	case err != nil:
		return chain.Tip{}, err
	case b == nil:
		return chain.Tip{Next: 1, Hash: core.Hash{}.String(), Settled: true}, nil
	case b.Height == 0:
		return chain.Tip{}, fmt.Errorf("latest block of %s: has height 0", account)
	}
	if err := checkOwn(b, account, b.Height, b.Hash); err != nil {
		return chain.Tip{}, err
	}
	return chain.Tip{Next: b.Height + 1, Hash: b.Hash.String(), Settled: b.Confirmations >= c.cfg.Confirmations}, nil
}

// Token describes a token.
type Token struct {
	ID       core.TokenID
	Symbol   string // as wallets show it: symbol and three-digit index ("ETH-000"), VITE itself without
	Decimals uint8
}

// TokenInfo answers what the ledger says about an asset, ErrNotFound for an unknown one.
func (c *Chain) TokenInfo(ctx context.Context, asset chain.Asset) (Token, error) {
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
	if id != core.VITE {
		t.Symbol = fmt.Sprintf("%s-%03d", info.Symbol, info.Index)
	}
	return t, nil
}

// Quota is what an account may spend on blocks; a transfer with our data costs 21448, a receive 21000 (docs/exchange-chain-wire.md 4.6).
type Quota struct {
	Current uint64       // now
	Max     uint64       // after 75 idle snapshot blocks
	Stake   chain.Amount // VITE staked for the account, smallest unit
}

// Quota answers the quota that the account has by stake, from the first node that answers: it changes with every snapshot block.
func (c *Chain) Quota(ctx context.Context, account string) (Quota, error) {
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

// CreditQuota answers the quota that an account's stake can give it, and what one payment takes of it: nothing where proof of work is done.
func (c *Chain) CreditQuota(ctx context.Context, account string) (has, takes uint64, err error) {
	if c.cfg.PoW {
		return 0, 0, nil
	}
	if takes, err = core.RequiredQuota(core.SendCall, core.Address{}, make([]byte, dataSize), 0); err != nil {
		return 0, 0, err
	}
	q, err := c.Quota(ctx, account)
	return max(q.Current, q.Max), takes, err
}
