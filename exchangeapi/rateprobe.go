package exchangeapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sirupsen/logrus"
)

// RateReport is what the sources say now of one thing that the configuration names. Err is a source that cannot be used, or says nothing of it.
type RateReport struct {
	What  string // "price feed ethereum in usd", "rate of ETH", "rates of the file or service"
	Found string
	Stale bool
	Err   error
}

// ProbeRates asks every source of a configuration once, for an operator who wants to know whether it works. Nothing is kept.
func ProbeRates(ctx context.Context, cfg RatesConfig, from feeds, now func() time.Time) []RateReport {
	r := newRates(cfg, from, now, logrus.New())
	defer r.client.CloseIdleConnections()
	var reports []RateReport
	if r.cfg.File != "" || r.cfg.URL != "" {
		report := RateReport{What: "rates of the file or service", Err: r.refreshQuotes(ctx)}
		report.Found = fmt.Sprintf("%d coins", len(r.quotes))
		reports = append(reports, report)
	}
	for _, f := range r.cfg.Feeds {
		report := RateReport{What: "price feed " + f.Coin + " in " + f.Currency, Err: r.refreshFeed(ctx, f)}
		if report.Err == nil {
			p := r.fed[f.Coin][f.Currency]
			report.Found, report.Stale = p.value.String()+", "+age(now(), p.at), p.stale(now())
		}
		reports = append(reports, report)
	}
	for _, token := range slices.Sorted(maps.Keys(r.cfg.Coins)) {
		reports = append(reports, r.report(token))
	}
	return reports
}

// report tells what the sources give for a token.
func (r *rates) report(token string) RateReport {
	out := RateReport{What: "rate of " + token}
	p, known := r.coin(r.cfg.Coins[token])[usd]
	if !known {
		out.Err = fmt.Errorf("no source says the price of %s in usd", r.cfg.Coins[token])
		return out
	}
	out.Found, out.Stale = p.value.String()+" usd, "+age(r.now(), p.at), p.stale(r.now())
	return out
}

func age(now, at time.Time) string { return now.Sub(at).Truncate(time.Second).String() + " old" }
