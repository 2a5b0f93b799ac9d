package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gatewayd/chain/vite"
	"gatewayd/exchangeapi/index"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

const serveModules = "enable these modules on the configured port of the node (PublicModules in its configuration; for subscriptions also SubscribeEnabled), " +
	"or use another node"

// BridgeCalls sends the bridge's calls to every node of an exchange chain. Unreachable nodes are
// already reported by the connection check.
func (d *Doctor) BridgeCalls(ctx context.Context, c vite.Config, adapter *vite.Chain, answers map[int]bool) {
	for _, n := range adapter.ProbeCalls(ctx) {
		what := fmt.Sprintf("chain %s node %d methods", c.ID, n.Number)
		switch {
		case !answers[n.Number]:
		case n.Err != nil:
			d.add(false, what, n.Err.Error(), "start the node or correct its URL")
		case len(n.Missing) > 0:
			d.add(false, what, "missing: "+strings.Join(n.Missing, ", "), serveModules)
		default:
			d.add(true, what, fmt.Sprintf("all %d methods of the bridge answer", n.Asked), "")
		}
	}
}

// exchangeCall is something that the exchange API asks a node.
type exchangeCall struct {
	purpose string // what does not work without it
	exact   bool   // a refusal is no answer: what is asked is there
	ask     func(ctx context.Context, node *client.Client) error
}

func exchangeCalls() []exchangeCall {
	nobody := core.Address{}
	return []exchangeCall{
		{"following the exchange", true, func(ctx context.Context, node *client.Client) error { return index.Probe(ctx, node) }},
		{"following the exchange", true, func(ctx context.Context, node *client.Client) error {
			_, err := node.AccountBlocksByHash(ctx, make([]core.Hash, largeBatch))
			return err
		}},
		{"placing orders", false, func(ctx context.Context, node *client.Client) error {
			_, err := node.PlaceOrderInfo(ctx, nobody, core.VITE, core.VITE, true)
			return err
		}},
		{"placing orders", false, func(ctx context.Context, node *client.Client) error {
			_, err := node.Quota(ctx, nobody)
			return err
		}},
		{"placing orders", false, func(ctx context.Context, node *client.Client) error {
			_, err := node.UnreceivedBlocks(ctx, nobody, 0, 1)
			return err
		}},
		{"placing orders", false, func(ctx context.Context, node *client.Client) error {
			return node.Call(ctx, nil, "ledger_sendRawTransaction", map[string]any{}) // refused as what it is: no block
		}},
		{"trade_fee_info", false, func(ctx context.Context, node *client.Client) error {
			_, err := node.TradeMining(ctx)
			return err
		}},
	}
}

// largeBatch is the largest batch of hashes that the client sends, 14 KB: some proxies end a
// WebSocket at it.
const largeBatch = 100

// exchangeCalls asks a node what the exchange API will ask it.
func (d *Doctor) exchangeCalls(ctx context.Context, what string, node *client.Client) {
	var lacking []string
	calls := exchangeCalls()
	for _, c := range calls {
		err := c.ask(ctx, node)
		var refused *client.Error
		if err == nil || !c.exact && errors.As(err, &refused) && !errors.Is(err, client.ErrMethod) {
			continue
		}
		lacking = append(lacking, c.purpose+": "+err.Error())
	}
	if len(lacking) > 0 {
		d.add(false, what+" methods", strings.Join(lacking, "; "), serveModules+"; without events of the exchange's contracts set VmLogAll")
		return
	}
	d.add(true, what+" methods", "all methods of the exchange API answer", "")
}

// announcements checks whether the node announces new blocks by subscription. The exchange API
// works either way.
func (d *Doctor) announcements(ctx context.Context, what string, node *client.Client) {
	sub, err := node.SubscribeAccount(ctx, core.DexFundContract, make(chan []client.BlockEvent, 1))
	if err != nil {
		d.add(true, what+" announcements", "no subscription, so the node is polled (exchange.index.poll): use ws:// and the node's module subscribe for immediate updates", "")
		return
	}
	sub.Close()
	d.add(true, what+" announcements", "the node announces new blocks", "")
}
