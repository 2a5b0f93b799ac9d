package gateway

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// routePages serves the pages for people, and data for them that the wallets' endpoints lack:
// wallets learn a gateway's networks and tokens from a registry of their own.
func (s *Server) routePages() {
	if len(s.Pages) > 0 {
		s.get("/networks.json", s.listNetworks)
	}
	for path, page := range s.Pages {
		s.get(path, echo.WrapHandler(page))
	}
	if s.Demo != nil {
		s.echo.Any("/demo/*", echo.WrapHandler(s.Demo))
	}
}

// listedNetwork is one network as the pages begin with it; everything else they ask the network's
// endpoints.
type listedNetwork struct {
	Name             string        `json:"name"`
	Path             string        `json:"path"` // of its endpoints
	SourceName       string        `json:"sourceName"`
	ExchangeName     string        `json:"exchangeName"`
	ChainID          uint64        `json:"chainId,omitempty"` // of EIP-155, of the source chain
	SourceExplorer   string        `json:"sourceExplorer"`    // URL templates with {$tx} for the hash
	ExchangeExplorer string        `json:"exchangeExplorer"`
	SourceBlock      float64       `json:"sourceBlockSeconds,omitempty"` // measured; absent if not known
	ExchangeBlock    float64       `json:"exchangeBlockSeconds,omitempty"`
	Tokens           []listedToken `json:"tokens"`
}

type listedToken struct {
	TokenID       string       `json:"tokenId"`
	Symbol        string       `json:"symbol"`
	Decimals      uint8        `json:"decimals"`
	Asset         chain.Asset  `json:"asset"` // native, or the contract's address on the source chain
	AssetDecimals uint8        `json:"assetDecimals"`
	Type          int          `json:"type"`
	LabelName     string       `json:"labelName,omitempty"` // of type 1
	MinDeposit    chain.Amount `json:"minimumDepositAmount"`
	MinWithdraw   chain.Amount `json:"minimumWithdrawAmount"`
	MaxWithdraw   chain.Amount `json:"maximumWithdrawAmount"` // 0: there is none
	Fee           listedFee    `json:"fee"`                   // of withdrawals
	DepositState  string       `json:"depositState"`
	WithdrawState string       `json:"withdrawState"`
	DepositSince  int64        `json:"depositSince,omitempty"` // when the state changed, in milliseconds; absent while it is OPEN
	WithdrawSince int64        `json:"withdrawSince,omitempty"`
	// Expected from the first sight of a transfer to its final payment, in seconds. Absent if the
	// blocks of a chain are too few to measure.
	DepositTime  int `json:"depositSeconds,omitempty"`
	WithdrawTime int `json:"withdrawSeconds,omitempty"`
}

// listedFee is a fee rule in words for people; /withdraw-fee computes the fee of an amount.
type listedFee struct {
	Kind   string       `json:"kind"`            // flat, percent, or network: the cost of the payout
	Amount chain.Amount `json:"amount,omitzero"` // of flat
	PPM    uint64       `json:"ppm,omitempty"`   // of percent, in millionths
	Min    chain.Amount `json:"min,omitzero"`
	Max    chain.Amount `json:"max,omitzero"`
}

// listedFor is the time for which a list is served again: reading it takes hundreds of rows.
const listedFor = 2 * time.Second

// newestList is a list about all networks as it was read last.
type newestList[T any] struct {
	mu     sync.Mutex // also while the list is read: only one request does so
	served *[]*network
	at     time.Time
	list   T
}

func (s *Server) listNetworks(c echo.Context) error {
	list, err := s.listed.newest(c.Request().Context(), s, s.readNetworks)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, list)
}

func (l *newestList[T]) newest(ctx context.Context, s *Server, read func(context.Context, []*network) (T, error)) (T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if served := s.served.Load(); l.served != served || s.Now().Sub(l.at) >= listedFor {
		list, err := read(ctx, *served)
		if err != nil || ctx.Err() != nil { // the client has gone, and the list may lack the records
			return list, err
		}
		l.list, l.served, l.at = list, served, s.Now()
	}
	return l.list, nil
}

// readNetworks returns the networks of the moment. Without the records it returns what is
// configured, with every channel under maintenance.
func (s *Server) readNetworks(ctx context.Context, served []*network) ([]listedNetwork, error) {
	list, err := callStore(ctx, s, s.Store.RawRead, func(tx *records.Tx) ([]listedNetwork, error) {
		list := s.configured(served)
		for i, n := range served {
			if err := n.measure(tx, &list[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	})
	if err != nil {
		s.faults.Write(s.Log.WithError(err), logrus.ErrorLevel, "gateway networks")
		return s.configured(served), nil
	}
	return list, nil
}

func (s *Server) configured(served []*network) []listedNetwork {
	list := make([]listedNetwork, len(served))
	for i, n := range served {
		list[i] = listedNetwork{
			Name: n.Name, Path: s.bases[i], SourceName: n.SourceName, ExchangeName: n.ExchangeName, ChainID: n.ChainID,
			SourceExplorer: n.SourceExplorer, ExchangeExplorer: n.ExchangeExplorer, Tokens: make([]listedToken, len(n.Tokens)),
		}
		for j, t := range n.Tokens {
			fee := t.Policy.Fee
			list[i].Tokens[j] = listedToken{
				TokenID: t.TokenID, Symbol: t.Symbol, Decimals: t.Decimals, Asset: t.Asset, AssetDecimals: t.AssetDecimals, Type: t.Type, LabelName: t.LabelName,
				MinDeposit: t.Policy.MinDeposit, MinWithdraw: t.Policy.MinWithdraw, MaxWithdraw: t.Policy.MaxWithdraw,
				Fee:          listedFee{Kind: fee.Kind, Amount: fee.Amount, PPM: fee.PPM, Min: fee.Min, Max: fee.Max},
				DepositState: records.ChannelMaintain, WithdrawState: records.ChannelMaintain,
			}
		}
	}
	return list
}

// measure adds the states of the channels, the time between blocks, and the time that a transfer
// takes by them.
func (n *network) measure(tx *records.Tx, to *listedNetwork) error {
	source, err := speedOf(tx, n.Network.Source)
	if err != nil {
		return err
	}
	exchange, err := speedOf(tx, n.Network.Exchange)
	if err != nil {
		return err
	}
	to.SourceBlock, to.ExchangeBlock = source.block.Seconds(), exchange.block.Seconds()
	for i, t := range n.Tokens {
		deposit, err := status.ReadChannel(tx, n.Network, t.TokenID, records.Deposit)
		if err != nil {
			return fmt.Errorf("token %s: %w", t.TokenID, err)
		}
		withdraw, err := status.ReadChannel(tx, n.Network, t.TokenID, records.Withdrawal)
		if err != nil {
			return fmt.Errorf("token %s: %w", t.TokenID, err)
		}
		listed := &to.Tokens[i]
		listed.DepositState, listed.WithdrawState = deposit.State(), withdraw.State()
		listed.DepositSince, listed.WithdrawSince = millis(deposit.Since()), millis(withdraw.Since())
		listed.DepositTime = transferSeconds(source, t.Policy.DepositConfirmations, exchange)
		listed.WithdrawTime = transferSeconds(exchange, t.Policy.WithdrawConfirmations, source)
	}
	return nil
}

// millis is a time for pages; 0 is unknown.
func millis(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixMilli()
}

// speed contains a chain's current block interval and final depth.
type speed struct {
	block time.Duration // between blocks; 0: not known
	final uint64        // blocks from the head to the newest final one, both included
}

// speedWindows are the numbers of newest blocks over which the time between blocks is measured: the
// first for which all of them are known.
var speedWindows = []uint64{100, 20, 5}

func speedOf(tx *records.Tx, id chain.ID) (p speed, err error) {
	at, err := tx.Chains().Cursor(id)
	if err != nil || at.Missing {
		return p, err
	}
	p.final = max(at.Head, at.Height) - min(at.Final.Height, at.Height) + 1
	for _, window := range speedWindows {
		known := at.Height > window
		p.block, _ = chain.UsualInterval(at.Height-min(window, at.Height), at.Height, func(height uint64) (time.Time, error) {
			b, found, lineErr := tx.Balances().LineBlock(id, height)
			known = known && found
			err = lineErr
			return b.Time, lineErr
		})
		if err != nil || known && p.block > 0 {
			return p, err
		}
	}
	p.block = 0
	return p, nil
}

// transferSeconds is the expected time from the sight of a transfer to the final block of its
// payment: the transfer's depth, a block for the payment, and that block's finality.
func transferSeconds(in speed, depth records.Depth, out speed) int {
	if in.block <= 0 || out.block <= 0 {
		return 0
	}
	wait := depth.Count
	if depth.Tag {
		wait = max(wait, in.final)
	}
	total := time.Duration(wait)*in.block + time.Duration(1+out.final)*out.block //nolint:gosec // numbers of recent blocks
	return int(total.Round(time.Second) / time.Second)
}
