// Package bridge has the cases of the bridge: reads of wallets, catching up, a signer apart and starting.
package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/gateway"
	"gatewayd/gateway/view"
	"gatewayd/records"
)

// Cases are all of this package, in the order in which they are shown.
func Cases() []bench.Case {
	return []bench.Case{getCase(), catchUpCase(), signerCase(), startCase()}
}

// getCase is a wallet's reads from a store of a million records.
func getCase() bench.Case {
	pages := depositPages(1)
	return bench.Case{
		Name: "gateway-get", Unit: "request", Prepare: fillStore, Helpers: bench.ClientHelpers(),
		About: "a wallet reads one and twenty of its deposits, of a million in SQLite; yardstick: sqlx, encoding/json and echo, on the same file",
		Ours:  getDeposits, Yardsticks: []bench.Side{{Name: "sqlx", Part: getDepositsPlainly}},
		Goals: []bench.Goal{{Of: pages[0].Name, Budget: 0.8, Limit: 0.6}, {Of: pages[1].Name, Budget: 0.5, Limit: 0.4}},
		Same:  []string{pages[0].Answer(), pages[1].Answer()},
	}
}

const depositsPath = "/gateway/eth/deposit-records"

// depositPages are the two requests, each for many wallets in turn.
func depositPages(wallets int) []bench.Page {
	pages := []bench.Page{{Name: "one row", Requests: 20_000}, {Name: "20 rows", Requests: 5_000}}
	for i := range wallets {
		if i/2%storeAsked != 0 {
			continue
		}
		p := &pages[1]
		if storeDeposits(i) == 1 {
			p = &pages[0]
		}
		query := url.Values{"tokenId": {storeToken}, "walletAddress": {storeWallet(i)}, "pageNum": {"1"}, "pageSize": {strconv.Itoa(storePage)}}
		p.URLs = append(p.URLs, depositsPath+"?"+query.Encode())
	}
	return pages
}

// storedNetwork is the network of the filled store.
func storedNetwork() records.Network {
	return records.Network{
		Name: storeNetwork, Source: "eth", Exchange: "vite", SourceExplorer: "https://etherscan.io/tx/{$tx}", ExchangeExplorer: "https://vitescan.io/tx/{$tx}",
		Tokens: []records.Token{{TokenID: storeToken, Symbol: "ETH-000", Decimals: 18, Asset: chain.Native, AssetDecimals: 18, Policy: storePolicy()}},
	}
}

// getDeposits asks a gateway over the filled store. Its chains check addresses and are asked for nothing else.
func getDeposits(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	source, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1, Nodes: []string{"http://127.0.0.1:1"}}, nil)
	if err != nil {
		return bench.Figure{}, err
	}
	exchange, err := vite.New(vite.Config{ID: "vite", Nodes: []string{"http://127.0.0.1:1"}}, nil)
	if err != nil {
		return bench.Figure{}, err
	}
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + storeFile(r.Data)})
	if err != nil {
		return bench.Figure{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	noKeys := func(string, uint32) (string, string, error) { return "", "", errors.New("nobody is new here") }
	server, err := gateway.New(gateway.Config{}, gateway.Parts{Store: store, Log: logrus.New(), Routes: []gateway.Route{
		{BasePath: "/gateway/eth", Network: storedNetwork(), Source: source, Exchange: exchange, Derive: noKeys},
	}})
	if err != nil {
		return bench.Figure{}, err
	}
	return bench.Serve(ctx, r, server.Handler(), depositPages(storeWallets(r.N(storeRows))))
}

// storedDeposit is a deposit as the yardstick reads it, shownDeposit as it answers.
type storedDeposit struct {
	Tx      string  `db:"tx"`
	Net     string  `db:"net"`
	Fee     string  `db:"fee"`
	Policy  string  `db:"policy"`
	State   string  `db:"state"`
	At      int64   `db:"block_at"`
	Paid    *string `db:"paid"`
	PayTx   *string `db:"pay_tx"`
	Purpose *string `db:"purpose"`
}

type shownDeposit struct {
	InTxHash              string `json:"inTxHash"`
	InTxConfirmedCount    uint64 `json:"inTxConfirmedCount"`
	InTxConfirmationCount uint64 `json:"inTxConfirmationCount"`
	OutTxHash             string `json:"outTxHash,omitempty"`
	Amount                string `json:"amount"`
	Fee                   string `json:"fee"`
	State                 string `json:"state"`
	DateTime              string `json:"dateTime"`
}

type shownDeposits struct {
	Code    int     `json:"code"`
	SubCode int     `json:"subCode"`
	Msg     *string `json:"msg"`
	Data    struct {
		TotalCount          int            `json:"totalCount"`
		DepositRecords      []shownDeposit `json:"depositRecords"`
		InTxExplorerFormat  string         `json:"inTxExplorerFormat"`
		OutTxExplorerFormat string         `json:"outTxExplorerFormat"`
	} `json:"data"`
}

// show answers for what is settled; nothing else is in the filled store.
func (d *storedDeposit) show() (out shownDeposit, err error) {
	var policy records.Policy
	if err := json.Unmarshal([]byte(d.Policy), &policy); err != nil {
		return out, err
	}
	want := policy.DepositConfirmations.Count
	out = shownDeposit{InTxHash: d.Tx, InTxConfirmedCount: want, InTxConfirmationCount: want, Amount: d.Net, Fee: d.Fee, DateTime: strconv.FormatInt(d.At, 10)}
	if d.State != "final" || d.Paid == nil || *d.Paid != "paid" || *d.Purpose != "credit" {
		return out, fmt.Errorf("deposit %s is not settled", d.Tx)
	}
	out.State, out.OutTxHash = view.TotConfirmed, *d.PayTx
	return out, nil
}

// getDepositsPlainly serves what anybody would write in an afternoon.
func getDepositsPlainly(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	db, err := sqlx.ConnectContext(ctx, "sqlite3", storeFile(r.Data)+"?_query_only=true")
	if err != nil {
		return bench.Figure{}, fmt.Errorf("opening the store: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8) // as many as our own
	const where = ` WHERE t.network = ? AND t.token = ? AND t.owner = ? AND t.direction = 'deposit'`
	n, e := storedNetwork(), echo.New()
	e.GET(depositsPath, func(c echo.Context) error {
		limit, err := strconv.Atoi(c.QueryParam("pageSize"))
		if err != nil {
			return err
		}
		args, list := []any{n.Name, c.QueryParam("tokenId"), c.QueryParam("walletAddress")}, []storedDeposit(nil)
		err = db.SelectContext(c.Request().Context(), &list, `SELECT t.tx, t.net, t.fee, t.policy, t.state, t.block_at, p.state AS paid, p.tx AS pay_tx, p.purpose
			FROM transfers t LEFT JOIN payments p ON p.transfer_id = t.id AND p.purpose <> 'receive' AND p.state <> 'void'`+where+` ORDER BY t.id DESC LIMIT ?`, append(args, limit)...)
		if err != nil {
			return err
		}
		out := shownDeposits{}
		if err := db.GetContext(c.Request().Context(), &out.Data.TotalCount, `SELECT COUNT(*) FROM transfers t`+where, args...); err != nil {
			return err
		}
		out.Data.InTxExplorerFormat, out.Data.OutTxExplorerFormat = n.SourceExplorer, n.ExchangeExplorer
		out.Data.DepositRecords = make([]shownDeposit, len(list))
		for i := range list {
			if out.Data.DepositRecords[i], err = list[i].show(); err != nil {
				return err
			}
		}
		return c.JSON(http.StatusOK, out)
	})
	return bench.Serve(ctx, r, e, depositPages(storeWallets(r.N(storeRows))))
}
