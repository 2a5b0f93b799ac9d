package exchangeapi

import (
	"context"

	"gatewayd/chain/vite/core"
	"gatewayd/exchangeapi/index"
)

// accounts are what accounts have on the exchange and whom they trust.
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
		return nil, refusalOfNode(err)
	}
	out := map[string]balance{}
	for _, b := range found {
		out[b.Symbol] = balance{b.Available, b.Locked}
	}
	return out, nil
}

// time is the server's, in milliseconds.
func (n *network) time(context.Context, params) (any, error) { return n.Now().UnixMilli(), nil }

// ping is probed by a bot connector, though no document has it.
func (n *network) ping(context.Context, params) (any, error) { return nil, nil }
