package exchangeapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/shopspring/decimal"
	"github.com/sirupsen/logrus"

	"gatewayd/exchangeapi/index"
)

// price is what one coin costs in one currency.
type price struct {
	value decimal.Decimal
	at    time.Time // as the source says
	until time.Time // then it is stale
}

// quote is the prices of one coin, by currency.
type quote map[string]price

// rateAhead is how far a source's clock may be before ours.
const rateAhead = 5 * time.Minute

func (p price) stale(now time.Time) bool { return now.After(p.until) || p.at.Sub(now) > rateAhead }

// from is a price that was reckoned from two: as good as the worse of them.
func (p price) from(value decimal.Decimal, other price) price {
	out := price{value: value, at: p.at, until: p.until}
	if other.at.Before(out.at) {
		out.at = other.at
	}
	if other.until.Before(out.until) {
		out.until = other.until
	}
	return out
}

// rates keeps the newest quotes. None is made up: what no source says is null, and what is old is marked.
type rates struct {
	cfg    RatesConfig
	feeds  feeds
	now    func() time.Time
	log    *logrus.Logger
	client *http.Client

	mu     sync.Mutex
	quotes map[string]quote // of the file or service, by coin
	fed    map[string]quote // of the feeds, by coin
}

func newRates(cfg RatesConfig, feeds feeds, now func() time.Time, log *logrus.Logger) *rates {
	return &rates{
		cfg: cfg.withDefaults(), feeds: feeds, now: now, log: log, client: &http.Client{Timeout: rateTime},
		quotes: map[string]quote{}, fed: map[string]quote{},
	}
}

// Run reads the sources now and by the calendar until ctx ends.
func (r *rates) Run(ctx context.Context) error {
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

func (r *rates) tryRefresh(ctx context.Context) {
	if err := r.refresh(ctx); err != nil && ctx.Err() == nil {
		r.log.WithError(err).Warn("exchange rates: those before stay in use")
	}
}

// refresh asks every source; one that fails takes nothing from the others.
func (r *rates) refresh(ctx context.Context) error {
	return errors.Join(r.refreshQuotes(ctx), r.refreshFeeds(ctx))
}

func (r *rates) refreshQuotes(ctx context.Context) error {
	if r.cfg.File == "" && r.cfg.URL == "" {
		return nil
	}
	text, at, err := r.read(ctx)
	if err != nil {
		return err
	}
	fresh, err := parseRates(text, at, r.cfg.MaxAge)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.quotes, fresh) // a coin that is missing this time keeps its last price and grows old
	return nil
}

// of is the quote of a token; nil when none is known.
func (r *rates) of(t index.Token) quote {
	for _, name := range []string{t.ID, t.Symbol, t.OriginalSymbol} {
		if coin := r.cfg.Coins[name]; coin != "" {
			return r.coin(coin)
		}
	}
	return nil
}

// coin is everything that is known of a coin's price: what feeds say, then what the file or service says, then what follows from the price in
// usd and the feed of a currency.
func (r *rates) coin(name string) quote {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := maps.Clone(r.quotes[name])
	if q == nil {
		q = quote{}
	}
	maps.Copy(q, r.fed[name])
	if name == usd {
		q[usd] = price{value: decimal.NewFromInt(1), at: r.now(), until: r.now().Add(r.cfg.MaxAge)}
	}
	for _, currency := range r.cfg.Currencies {
		_, said := q[currency]
		inUSD, known := q[usd]
		rate, fed := r.fed[currency][usd]
		if !said && known && fed {
			value, _ := inUSD.value.QuoRem(rate.value, crossDecimals)
			q[currency] = inUSD.from(value, rate)
		}
	}
	return q
}

// crossDecimals is how exact a price is that follows from two; it is cut there.
const crossDecimals = 18

// exchangeRates answers the tokens asked for, or all, of those whose rate is known. Besides usdRate and cnyRate, which are null when no source
// says them, there is a member for every further currency.
func (n *network) exchangeRates(_ context.Context, p params) (any, error) {
	symbols, ids := p.list("tokenSymbols"), p.list("tokenIds")
	list := []map[string]any{}
	for _, t := range n.Index.Tokens() {
		if len(symbols)+len(ids) > 0 && !slices.Contains(symbols, t.Symbol) && !slices.Contains(ids, t.ID) {
			continue
		}
		if item := n.rates.item(n.rates.of(t)); item != nil {
			item["tokenId"], item["tokenSymbol"] = t.ID, t.Symbol
			list = append(list, item)
		}
	}
	return list, nil
}

// item is a quote as clients get it, as old as the oldest of its prices; nil when there is none.
func (r *rates) item(q quote) map[string]any {
	item := map[string]any{"usdRate": nil, "cnyRate": nil}
	var oldest time.Time
	stale := false
	for _, currency := range r.cfg.Currencies {
		p, known := q[currency]
		if !known || p.value.IsZero() {
			continue
		}
		item[currency+"Rate"] = json.Number(p.value.String())
		stale = stale || p.stale(r.now())
		if oldest.IsZero() || p.at.Before(oldest) {
			oldest = p.at
		}
	}
	if oldest.IsZero() {
		return nil
	}
	item["stale"], item["updateTime"] = stale, oldest.Unix()
	return item
}

// rateDecimals is how exact the USD-CNY rate is; it is cut there.
const rateDecimals = 6

// usdCNY is the ratio of two prices of one coin. A number cannot be marked: a stale one is refused, with when it was good.
func (n *network) usdCNY(context.Context, params) (any, error) {
	q := n.rates.coin(n.rates.cfg.USDCNY)
	inUSD, inCNY := q[usd], q[cny]
	if inUSD.value.IsZero() || inCNY.value.IsZero() {
		return nil, refuse(codeGeneral, "No USD-CNY rate is known")
	}
	value, _ := inCNY.value.QuoRem(inUSD.value, rateDecimals)
	ratio := inCNY.from(value, inUSD)
	if ratio.stale(n.Now()) {
		return nil, refuse(codeGeneral, "The USD-CNY rate is stale: it was %s at %s", ratio.value, ratio.at.UTC().Format(time.RFC3339))
	}
	return json.Number(ratio.value.String()), nil
}
