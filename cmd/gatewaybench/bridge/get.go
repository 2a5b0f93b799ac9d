package bridge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/gateway"
	"gatewayd/records"
)

// getCases are a wallet's reads from a store of a million records.
func getCases() []bench.Case {
	return []bench.Case{{
		Name: "gateway-get", Group: bench.Bridge, Unit: "request",
		About:   "a wallet reads one and twenty of its deposits, of a million in SQLite; yardstick: an echo handler that has the same answer in memory",
		Prepare: fillStore, Ours: gatewayGet, Yardsticks: []bench.Yardstick{{Name: "bare echo", Part: gatewayBare}}, Helpers: bench.PageHelpers(),
		Goals:  append(bench.PageGoals(2, 1.5, "one row"), bench.PageGoals(5, 4, "20 rows")...),
		Same:   []string{"one row body", "20 rows body"},
		Scales: []float64{1},
	}}
}

// depositPages are the two requests, each for many wallets by turns.
func depositPages(wallets int) []bench.Page {
	pages := []bench.Page{{Name: "one row", Requests: 20_000}, {Name: "20 rows", Requests: 5_000}}
	for i := range wallets {
		if i/2%storeAsked != 0 {
			continue
		}
		which := 1
		if storeDeposits(i) == 1 {
			which = 0
		}
		query := url.Values{"tokenId": {storeToken}, "walletAddress": {storeWallet(i)}, "pageNum": {"1"}, "pageSize": {fmt.Sprint(storePage)}}
		pages[which].URLs = append(pages[which].URLs, fmt.Sprintf("/gateway/eth-%d/deposit-records?%s", which, query.Encode()))
	}
	return pages
}

func gatewayGet(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	store, h, err := gatewayOn(ctx, r)
	if err != nil {
		return bench.Figure{}, err
	}
	f, err := bench.ServePages(ctx, r, h, depositPages(storeWallets(r.N(storeRows))))
	return f, errors.Join(err, store.Close())
}

// depositAnswer is the gateway's answer as the yardstick encodes it.
type depositAnswer struct {
	Code    int     `json:"code"`
	SubCode int     `json:"subCode"`
	Msg     *string `json:"msg"`
	Data    struct {
		TotalCount     int `json:"totalCount"`
		DepositRecords []struct {
			InTxHash              string `json:"inTxHash"`
			InTxConfirmedCount    uint64 `json:"inTxConfirmedCount"`
			InTxConfirmationCount uint64 `json:"inTxConfirmationCount"`
			OutTxHash             string `json:"outTxHash"`
			Amount                string `json:"amount"`
			Fee                   string `json:"fee"`
			State                 string `json:"state"`
			DateTime              string `json:"dateTime"`
		} `json:"depositRecords"`
		InTxExplorerFormat  string `json:"inTxExplorerFormat"`
		OutTxExplorerFormat string `json:"outTxExplorerFormat"`
	} `json:"data"`
}

func gatewayBare(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	store, h, err := gatewayOn(ctx, r)
	if err != nil {
		return bench.Figure{}, err
	}
	pages := depositPages(storeWallets(r.N(storeRows)))
	bare, err := bench.BareEcho[depositAnswer](h, pages)
	if err = errors.Join(err, store.Close()); err != nil {
		return bench.Figure{}, err
	}
	return bench.ServePages(ctx, r, bare, pages)
}

// gatewayOn is a gateway over the filled store. Its chains check addresses and are asked for nothing else. The network stands
// under two paths, so that the yardstick has a handler for each page.
func gatewayOn(ctx context.Context, r *bench.Run) (*records.Store, http.Handler, error) {
	source, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1, Nodes: []string{"http://127.0.0.1:1"}}, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	exchange, err := vite.New(vite.Config{ID: "vite", Nodes: []string{"http://127.0.0.1:1"}}, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + storeFile(r.Data)})
	if err != nil {
		return nil, nil, err
	}
	network := records.Network{
		Name: storeNetwork, Source: "eth", Exchange: "vite", SourceExplorer: "https://etherscan.io/tx/{$tx}", ExchangeExplorer: "https://vitescan.io/tx/{$tx}",
		Tokens: []records.Token{{TokenID: storeToken, Symbol: "ETH-000", Decimals: 18, Asset: chain.Native, AssetDecimals: 18, Policy: storePolicy()}},
	}
	noKeys := func(uint32) (string, string, error) { return "", "", errors.New("nobody is new here") }
	parts := gateway.Parts{Store: store, Log: logrus.New()}
	for i := range 2 {
		parts.Routes = append(parts.Routes, gateway.Route{
			BasePath: fmt.Sprintf("/gateway/eth-%d", i), Network: network, Source: source, Exchange: exchange, Derive: noKeys,
		})
	}
	server, err := gateway.New(gateway.Config{}, parts)
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return store, server.Handler(), nil
}
