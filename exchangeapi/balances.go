package exchangeapi

import (
	"context"

	"gatewayd/exchangeapi/index"
	"gatewayd/vite/core"
)

// accounts reads the balances of accounts on the exchange and their delegations.
type accounts interface {
	Balances(ctx context.Context, owner core.Address) ([]index.Balance, error)
	Granted(ctx context.Context, principal, agent core.Address, symbol string) (bool, error)
	Grants(ctx context.Context, principal, agent core.Address) ([]string, error)
}

type balance struct {
	Available string `json:"available"`
	Locked    string `json:"locked"` // by open orders
}

// balance answers by token symbol; an account that never was on the exchange has none.
func (n *network) balance(ctx context.Context, p params) (any, error) {
	owner, err := p.address()
	if err != nil {
		return nil, err
	}
	found, err := n.Index.Balances(ctx, owner)
	if err != nil {
		return nil, nodeError(err)
	}
	out := map[string]balance{}
	for _, b := range found {
		out[b.Symbol] = balance{b.Available, b.Locked}
	}
	return out, nil
}

type transfer struct {
	Time        int64  `json:"time"` // Unix seconds
	TokenSymbol string `json:"tokenSymbol"`
	Amount      string `json:"amount"`
	Type        int    `json:"type"` // 1 deposit to the exchange, 2 withdrawal from it
}

type transferPage struct {
	Record []transfer `json:"record"`
	Total  int        `json:"total"`
}

// transfers always counts: the public sample's total is a real one.
func (n *network) transfers(ctx context.Context, p params) (any, error) {
	owner, err := p.address()
	if err != nil {
		return nil, err
	}
	text, err := p.required("tokenId")
	if err != nil {
		return nil, err
	}
	token, err := core.ParseTokenID(text)
	if err != nil {
		return nil, reject(codeParameter, "Invalid tokenId")
	}
	offset, limit, err := p.window(100, 100)
	if err != nil {
		return nil, err
	}
	found, err := n.Index.Transfers(ctx, owner, token, index.Page{Offset: offset, Limit: limit, Total: true})
	if err != nil {
		return nil, err
	}
	out := transferPage{[]transfer{}, found.Total}
	for _, t := range found.List {
		out.Record = append(out.Record, transfer{t.Time, t.TokenSymbol, t.Amount, t.Type})
	}
	return out, nil
}
