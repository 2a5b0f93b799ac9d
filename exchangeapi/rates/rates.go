// Package rates knows what tokens cost in ordinary money: from a file, from an HTTP service, and
// from price feeds on source chains, which go before them.
package rates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/shopspring/decimal"
	"github.com/sirupsen/logrus"
)

// Price is the price of one coin in one currency.
type Price struct {
	Value decimal.Decimal
	At    time.Time // the source's time
	until time.Time // then it is stale
}

// Quote is the prices of one coin, by currency.
type Quote map[string]Price

// maxAhead bounds how far a source's clock may be ahead of ours.
const maxAhead = 5 * time.Minute

// Stale reports whether it is too old, or of the future.
func (p Price) Stale(now time.Time) bool { return now.After(p.until) || p.At.Sub(now) > maxAhead }

// from is a price that was reckoned from two: as good as the worse of them.
func (p Price) from(value decimal.Decimal, other Price) Price {
	out := Price{Value: value, At: p.At, until: p.until}
	if other.At.Before(out.At) {
		out.At = other.At
	}
	if other.until.Before(out.until) {
		out.until = other.until
	}
	return out
}

// Rates stores the newest quotes. A missing price is null, and an old price is marked.
type Rates struct {
	cfg    Config
	feeds  Feeds
	now    func() time.Time
	log    *logrus.Logger
	client *http.Client

	mu     sync.Mutex
	quotes map[string]Quote // of the file or service, by coin
	fed    map[string]Quote // of the feeds, by coin
}

// New asks nothing yet; Run does. feeds may be nil where the configuration names none.
func New(cfg Config, feeds Feeds, now func() time.Time, log *logrus.Logger) *Rates {
	return &Rates{
		cfg: cfg.withDefaults(), feeds: feeds, now: now, log: log, client: &http.Client{Timeout: sourceTimeout},
		quotes: map[string]Quote{}, fed: map[string]Quote{},
	}
}

// Run reads the sources now and by the calendar until ctx ends.
func (r *Rates) Run(ctx context.Context) error {
	if r.cfg.File == "" && r.cfg.URL == "" && len(r.cfg.Feeds) == 0 {
		return nil
	}
	defer r.client.CloseIdleConnections()
	when, err := schedule(r.cfg.Refresh)
	if err != nil {
		return err
	}
	c := cron.New(cron.WithLocation(time.UTC), cron.WithChain(cron.SkipIfStillRunning(cron.DiscardLogger)))
	c.Schedule(when, cron.FuncJob(func() { r.tryRefresh(ctx) }))
	r.tryRefresh(ctx)
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done()
	return nil
}

func (r *Rates) tryRefresh(ctx context.Context) {
	if err := r.Refresh(ctx); err != nil && ctx.Err() == nil {
		r.log.WithError(err).Warn("exchange rates: the previous ones stay in use")
	}
}

// Refresh asks every source; one that fails takes nothing from the others.
func (r *Rates) Refresh(ctx context.Context) error {
	return errors.Join(r.refreshQuotes(ctx), r.refreshFeeds(ctx))
}

func (r *Rates) refreshQuotes(ctx context.Context) error {
	if r.cfg.File == "" && r.cfg.URL == "" {
		return nil
	}
	text, at, err := r.read(ctx)
	if err != nil {
		return err
	}
	fresh, err := parseQuotes(text, at, r.cfg.MaxAge)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.quotes, fresh) // a coin that is missing this time keeps its last price and grows old
	return nil
}

// Of is the quote, in the configured currencies, of the thing that the configuration knows by the
// first of these names; empty when none is known.
func (r *Rates) Of(names ...string) Quote {
	for _, name := range names {
		if coin := r.cfg.Coins[name]; coin != "" {
			q := r.coin(coin)
			maps.DeleteFunc(q, func(currency string, p Price) bool {
				return p.Value.IsZero() || !slices.Contains(r.cfg.Currencies, currency)
			})
			return q
		}
	}
	return nil
}

// usdCNYDecimals is the number of decimals of the USD-CNY rate, which is truncated.
const usdCNYDecimals = 6

// USDCNY is the ratio of two prices of one coin.
func (r *Rates) USDCNY() (ratio Price, known bool) {
	q := r.coin(r.cfg.USDCNY)
	inUSD, inCNY := q[usd], q[cny]
	if inUSD.Value.IsZero() || inCNY.Value.IsZero() {
		return Price{}, false
	}
	value, _ := inCNY.Value.QuoRem(inUSD.Value, usdCNYDecimals)
	return inCNY.from(value, inUSD), true
}

// coin returns every known price of a coin. Feeds take precedence over the file or service, and
// these over the price derived from usd and a currency's feed.
func (r *Rates) coin(name string) Quote {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := maps.Clone(r.quotes[name])
	if q == nil {
		q = Quote{}
	}
	maps.Copy(q, r.fed[name])
	if name == usd {
		q[usd] = Price{Value: decimal.NewFromInt(1), At: r.now(), until: r.now().Add(r.cfg.MaxAge)}
	}
	for _, currency := range r.cfg.Currencies {
		_, said := q[currency]
		inUSD, known := q[usd]
		rate, fed := r.fed[currency][usd]
		if !said && known && fed {
			value, _ := inUSD.Value.QuoRem(rate.Value, crossDecimals)
			q[currency] = inUSD.from(value, rate)
		}
	}
	return q
}

// crossDecimals is the number of decimals of a derived price, which is truncated.
const crossDecimals = 18

// Report is the present result of the sources for one configured item. Err is set if a source
// cannot be used or lacks the item.
type Report struct {
	What  string // "price feed ethereum in usd", "rate of ETH", "rates of the file or service"
	Found string
	Stale bool
	Err   error
}

// Probe asks every source of a configuration once, for an operator who wants to know whether it
// works. Nothing is kept.
func Probe(ctx context.Context, cfg Config, from Feeds, now func() time.Time) []Report {
	r := New(cfg, from, now, logrus.New())
	defer r.client.CloseIdleConnections()
	var reports []Report
	if r.cfg.File != "" || r.cfg.URL != "" {
		report := Report{What: "rates of the file or service", Err: r.refreshQuotes(ctx)}
		report.Found = fmt.Sprintf("%d coins", len(r.quotes))
		reports = append(reports, report)
	}
	for _, f := range r.cfg.Feeds {
		report := Report{What: "price feed " + f.Coin + " in " + f.Currency, Err: r.refreshFeed(ctx, f)}
		if report.Err == nil {
			p := r.fed[f.Coin][f.Currency]
			report.Found, report.Stale = p.Value.String()+", "+age(now(), p.At), p.Stale(now())
		}
		reports = append(reports, report)
	}
	for _, token := range slices.Sorted(maps.Keys(r.cfg.Coins)) {
		reports = append(reports, r.report(token))
	}
	return reports
}

// report returns the sources' result for a token.
func (r *Rates) report(token string) Report {
	out := Report{What: "rate of " + token}
	p, known := r.coin(r.cfg.Coins[token])[usd]
	if !known {
		out.Err = fmt.Errorf("no source has the price of %s in usd", r.cfg.Coins[token])
		return out
	}
	out.Found, out.Stale = p.Value.String()+" usd, "+age(r.now(), p.At), p.Stale(r.now())
	return out
}

func age(now, at time.Time) string { return now.Sub(at).Truncate(time.Second).String() + " old" }
