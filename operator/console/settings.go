package console

import (
	"net/http"
	"time"

	"gatewayd/chain"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/checks"
)

// token contains the page's data for formatting amounts.
type token struct {
	Network       string       `json:"network"`
	Token         string       `json:"token"`
	Symbol        string       `json:"symbol"`
	Decimals      uint8        `json:"decimals"`
	Source        chain.ID     `json:"source"`
	Exchange      chain.ID     `json:"exchange"`
	SourceName    string       `json:"sourceName"` // of the chains, for people
	ExchangeName  string       `json:"exchangeName"`
	Asset         chain.Asset  `json:"asset"` // on the source chain
	AssetDecimals uint8        `json:"assetDecimals"`
	AssetSymbol   string       `json:"assetSymbol"`
	CoinDecimals  uint8        `json:"coinDecimals"` // of the source chain's coin
	MinDeposit    chain.Amount `json:"minDeposit"`
	MinWithdraw   chain.Amount `json:"minWithdraw"`
	MaxWithdraw   chain.Amount `json:"maxWithdraw"`
	HotMin        chain.Amount `json:"hotMin"`
	HotMax        chain.Amount `json:"hotMax"`
	Cold          string       `json:"cold"`
	Fee           records.Fee  `json:"fee"`            // of withdrawals, in the token's units
	Ceiling       uint64       `json:"ceilingTimes"`   // how many times its fee a payout may cost; 0: as the chain's ceiling allows
	ChainCeiling  string       `json:"chainCeiling"`   // of the source chain, with its unit; empty where there are no fees
	SourceTx      string       `json:"sourceExplorer"` // templates of explorers' pages
	ExchangeTx    string       `json:"exchangeExplorer"`
}

func (c *Console) tokens(r request) error {
	list := []token{}
	for _, n := range r.Session.Config.Networks {
		source, _ := r.Session.Config.Chain(n.Source) // Check has found it
		network := r.Session.Config.NetworkRecord(n)
		for i, t := range n.Tokens {
			of := network.Tokens[i]
			list = append(list, token{
				n.Name, t.Token, t.Symbol, t.Decimals, n.Source, n.Exchange, network.SourceName, network.ExchangeName, t.Asset, t.AssetDecimals, of.SourceSymbol(), source.Decimals,
				t.MinDeposit, t.MinWithdraw, t.MaxWithdraw, t.HotMin, t.HotMax, t.Cold, t.Fee, of.CeilingTimes(), operator.ChainCeiling(source), n.SourceExplorer, n.ExchangeExplorer,
			})
		}
	}
	return r.JSON(http.StatusOK, list)
}

// quote is the present cost of a token's payout, in its smallest unit.
type quote struct {
	Network string       `json:"network"`
	Token   string       `json:"token"`
	Cost    chain.Amount `json:"cost"`
}

// limits are the signer's, with the used parts, from the daemon's last report, and the costs of
// payouts.
type limits struct {
	checks.Report
	At     *time.Time `json:"at,omitempty"` // left out without a daemon's report
	Quotes []quote    `json:"quotes"`
}

func (c *Console) limits(r request) error {
	out := limits{Quotes: []quote{}}
	err := r.Session.Store.View(r.Request().Context(), func(tx *records.Tx) error {
		report, at, err := operator.LimitsOf(tx)
		if err != nil {
			return err
		}
		if out.Report = report; !at.IsZero() {
			out.At = &at
		}
		for _, n := range r.Session.Config.Networks {
			for _, t := range n.Tokens {
				_, cost, found, err := records.QuotesSince(tx, n.Name, t.Token, c.Now())
				if err != nil {
					return err
				}
				if found {
					out.Quotes = append(out.Quotes, quote{n.Name, t.Token, cost})
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, out)
}

// movePage is a page of payments between our own accounts, newest first. Next is the value of
// `before` for the following page; 0 for none.
type movePage struct {
	Moves []operator.PaymentRow `json:"moves"`
	Next  uint64                `json:"next"`
}

func (c *Console) moves(r request) error {
	before, err := number(r, "before", 0)
	if err != nil {
		return err
	}
	list, err := r.Session.Moves(r.Request().Context(), r.QueryParam("purpose"), before, operator.DefaultLimit)
	if err != nil {
		return err
	}
	page := movePage{Moves: list}
	if len(list) == operator.DefaultLimit {
		page.Next = list[len(list)-1].ID
	}
	return r.JSON(http.StatusOK, page)
}
