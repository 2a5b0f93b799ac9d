package gateway

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"gatewayd/httpserver"
	"gatewayd/internal/budget"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/view"
)

// BenchmarkBudgetGet reads one and twenty deposits of a wallet, from 200,000 past payments in
// SQLite, half of them deposits. The budget is 0.8 and 0.5 of the CPU of ordinary code with sqlx,
// encoding/json and echo on the same file, which gives the same answer byte for byte.
func BenchmarkBudgetGet(b *testing.B) {
	payments, requests := 200_000, 5_000
	if testing.Short() {
		payments, requests = payments/100, requests/100
	}
	file := filepath.Join(b.TempDir(), "records.db")
	n := networkOf(recordstest.Network, recordstest.Source)
	n.Gas, n.Tokens = "0xgas", n.Tokens[:1]
	_, err := recordstest.Fill(b.Context(), "sqlite:"+file, recordstest.Plan{Network: n, Payments: payments, At: time.UnixMilli(1_790_000_000_000)})
	require.NoError(b, err)
	store, err := records.Open(b.Context(), records.Config{URL: "sqlite:" + file})
	require.NoError(b, err)
	defer store.Close()
	db := sqlx.MustOpen("sqlite3", file+"?_query_only=true")
	defer db.Close()
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8) // as many as our own

	route := Route{BasePath: eth, Network: n, Source: anyAddress{}, Exchange: anyAddress{}, Derive: routeOf(eth, n.Name, n.Source).Derive}
	own := setup(b, func(c *Config, p *Parts) {
		c.Config = httpserver.Config{Listen: c.Listen, RatePerSecond: 1e9, Burst: 1e9}
		p.Store, p.Routes = store, []Route{route}
	})
	var owners []string
	require.NoError(b, db.Select(&owners, `SELECT owner FROM bindings ORDER BY id LIMIT 1000`))
	plain := plainDeposits(db, n)
	for name, page := range map[string]struct {
		size   int
		budget float64
	}{"one row": {1, 0.8}, "20 rows": {20, 0.5}} {
		b.Run(name, func(b *testing.B) {
			at := func(i int) string { return list("/deposit-records", owners[i%len(owners)], 1, page.size) }
			budget.CompareHandlers(b, page.budget, requests, at, own.server.Handler(), plain)
		})
	}
}

// anyAddress takes every address as it is.
type anyAddress struct{}

func (anyAddress) CheckAddress(address, _ string) (string, error) { return address, nil }

// plainDeposits is the yardstick. It answers for what is settled: nothing else is in the filled
// store.
func plainDeposits(db *sqlx.DB, n records.Network) http.Handler {
	type stored struct {
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
	type shown struct {
		InTxHash              string `json:"inTxHash"`
		InTxConfirmedCount    uint64 `json:"inTxConfirmedCount"`
		InTxConfirmationCount uint64 `json:"inTxConfirmationCount"`
		OutTxHash             string `json:"outTxHash,omitempty"`
		Amount                string `json:"amount"`
		Fee                   string `json:"fee"`
		State                 string `json:"state"`
		DateTime              string `json:"dateTime"`
	}
	type answer struct {
		Code    int     `json:"code"`
		SubCode int     `json:"subCode"`
		Msg     *string `json:"msg"`
		Data    struct {
			TotalCount          int     `json:"totalCount"`
			DepositRecords      []shown `json:"depositRecords"`
			InTxExplorerFormat  string  `json:"inTxExplorerFormat"`
			OutTxExplorerFormat string  `json:"outTxExplorerFormat"`
		} `json:"data"`
	}
	const where = ` WHERE t.network = ? AND t.token = ? AND t.owner = ? AND t.direction = 'deposit'`
	e := echo.New()
	e.GET(eth+"/deposit-records", func(c echo.Context) error {
		limit, err := strconv.Atoi(c.QueryParam("pageSize"))
		if err != nil {
			return err
		}
		args, found := []any{n.Name, c.QueryParam("tokenId"), c.QueryParam("walletAddress")}, []stored(nil)
		err = db.SelectContext(c.Request().Context(), &found, `SELECT t.tx, t.net, t.fee, t.policy, t.state, t.block_at, p.state AS paid, p.tx AS pay_tx, p.purpose
			FROM transfers t LEFT JOIN payments p ON p.transfer_id = t.id AND p.purpose <> 'receive' AND p.state <> 'void'`+where+` ORDER BY t.id DESC LIMIT ?`, append(args, limit)...)
		if err != nil {
			return err
		}
		out := answer{}
		if err := db.GetContext(c.Request().Context(), &out.Data.TotalCount, `SELECT COUNT(*) FROM transfers t`+where, args...); err != nil {
			return err
		}
		out.Data.InTxExplorerFormat, out.Data.OutTxExplorerFormat = n.SourceExplorer, n.ExchangeExplorer
		out.Data.DepositRecords = make([]shown, len(found))
		for i, d := range found {
			var policy records.Policy
			if err := json.Unmarshal([]byte(d.Policy), &policy); err != nil {
				return err
			}
			if d.State != "final" || d.Paid == nil || *d.Paid != "paid" || *d.Purpose != "credit" {
				return echo.NewHTTPError(http.StatusInternalServerError, "not settled: "+d.Tx)
			}
			want := policy.DepositConfirmations.Count
			out.Data.DepositRecords[i] = shown{d.Tx, want, want, *d.PayTx, d.Net, d.Fee, view.TotConfirmed, strconv.FormatInt(d.At, 10)}
		}
		return c.JSON(http.StatusOK, out)
	})
	return e
}
