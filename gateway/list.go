package gateway

import (
	"context"
	"slices"
	"strconv"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/view"
)

// item is one record as wallets read it. Numbers of units and milliseconds are strings, counts are
// numbers. The keys from withdrawAddress on are ours: clients ignore keys they do not know
// (docs/gateway-clients.md 4.4).
type item struct {
	InTxHash              string       `json:"inTxHash"`
	InTxConfirmedCount    uint64       `json:"inTxConfirmedCount"`
	InTxConfirmationCount uint64       `json:"inTxConfirmationCount"`
	OutTxHash             string       `json:"outTxHash,omitempty"`
	Amount                chain.Amount `json:"amount"`
	Fee                   chain.Amount `json:"fee"`
	State                 string       `json:"state"`
	DateTime              string       `json:"dateTime"`
	WithdrawAddress       string       `json:"withdrawAddress,omitempty"`
	Label                 string       `json:"label,omitempty"`
	RefundTxHash          string       `json:"refundTxHash,omitempty"`
	RefundState           string       `json:"refundState,omitempty"`
	RefundAmount          chain.Amount `json:"refundAmount,omitzero"`
	RefundAddress         string       `json:"refundAddress,omitempty"`
	Held                  bool         `json:"held,omitempty"`
}

// States of a refund, under the key refundState.
const (
	refunding = "REFUNDING"
	refunded  = "REFUNDED"
)

// explorers are the URL templates of both chains, with {$tx} for the hash. "In" belongs to the
// record's first transfer.
type explorers struct {
	InTxExplorerFormat  string `json:"inTxExplorerFormat"`
	OutTxExplorerFormat string `json:"outTxExplorerFormat"`
}

// depositRecords is the data of /deposit-records.
type depositRecords struct {
	TotalCount     int    `json:"totalCount"`
	DepositRecords []item `json:"depositRecords"`
	explorers
}

func (n *network) depositRecords(ctx context.Context, q query) (any, error) {
	items, total, err := n.list(ctx, q, records.Deposit)
	return depositRecords{total, items, explorers{n.SourceExplorer, n.ExchangeExplorer}}, err
}

// withdrawRecords is the data of /withdraw-records.
type withdrawRecords struct {
	TotalCount      int    `json:"totalCount"`
	WithdrawRecords []item `json:"withdrawRecords"`
	explorers
}

func (n *network) withdrawRecords(ctx context.Context, q query) (any, error) {
	items, total, err := n.list(ctx, q, records.Withdrawal)
	return withdrawRecords{total, items, explorers{n.ExchangeExplorer, n.SourceExplorer}}, err
}

// list returns one page of a user's records, newest first. An unknown user has none.
func (n *network) list(ctx context.Context, q query, d records.Direction) ([]item, int, error) {
	owner, err := q.wallet(n.exchange)
	if err != nil {
		return nil, 0, err
	}
	offset, limit, err := q.page()
	if err != nil {
		return nil, 0, err
	}
	type page struct {
		items []item
		total int
	}
	p, err := callStore(ctx, n.Server, n.Store.RawRead, func(tx *records.Tx) (page, error) {
		waiting, err := n.waiting(tx, q.token, owner, d)
		if err != nil {
			return page{}, err
		}
		lines, total, err := n.pages.Page(tx, n.Name, q.token.TokenID, owner, d, max(offset-len(waiting), 0), limit)
		items := waiting[min(offset, len(waiting)):]
		items = slices.Grow(items[:min(limit, len(items))], len(lines))
		for _, l := range lines[:min(len(lines), limit-len(items))] {
			item := itemOf(l)
			if d == records.Withdrawal {
				item.WithdrawAddress, item.Label = l.Payee, l.Label
			}
			items = append(items, item)
		}
		return page{items, len(waiting) + total}, err
	})
	return p.items, p.total, err
}

// waiting lists a user's deposits that wait in the pools of the source chain's nodes, newest first.
// Without a block they are confirmed by none, like those whose block left the chain.
func (n *network) waiting(tx *records.Tx, token records.Token, owner string, d records.Direction) ([]item, error) {
	if d != records.Deposit || chain.CapabilitiesOf(n.source).Pool == nil {
		return []item{}, nil
	}
	list, err := tx.Transfers().PooledOf(n.Network.Source, n.Name, token.TokenID, owner)
	items := make([]item, len(list))
	for i, p := range list {
		items[i] = itemOf(view.Line{Tx: p.Tx, Wanted: token.Policy.DepositConfirmations.Count, Net: p.Net, State: view.OppositeProcessing, At: p.SeenAt})
	}
	return items, err
}

func itemOf(l view.Line) item {
	out := item{
		InTxHash: l.Tx, InTxConfirmedCount: l.Confirmed, InTxConfirmationCount: l.Wanted, OutTxHash: l.OutTx,
		Amount: l.Net, Fee: l.Fee, State: l.State, DateTime: strconv.FormatInt(l.At.UnixMilli(), 10), Held: l.Held,
		RefundTxHash: l.RefundTx, RefundAmount: l.RefundSum, RefundAddress: l.RefundTo,
	}
	switch l.Refund {
	case "":
	case records.Paid:
		out.RefundState = refunded
	default:
		out.RefundState = refunding
	}
	return out
}
