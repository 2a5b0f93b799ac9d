package exchangeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/shopspring/decimal"
	"github.com/sirupsen/logrus"

	"gatewayd/exchangeapi/index"
)

// RatesConfig says where exchange rates come from: a file or an HTTP service, both in the format of CoinGecko's simple/price:
// {"<coin>": {"usd": 0.03, "cny": 0.16, "last_updated_at": 1588214534}}. Without either there are no rates.
type RatesConfig struct {
	File string `yaml:"file"`
	URL  string `yaml:"url"` // such as https://api.coingecko.com/api/v3/simple/price; coins and currencies are added to it
	// Coins name the coin of each token, by token id, symbol ("BTC-000") or symbol without suffix ("BTC").
	Coins      map[string]string `yaml:"coins"`
	Currencies []string          `yaml:"currencies"` // asked of the service; default usd and cny, which are always among them
	USDCNY     string            `yaml:"usd_cny"`    // the coin whose cny and usd prices give the USD-CNY rate; default tether
	Refresh    string            `yaml:"refresh"`    // cron; default every five minutes
	MaxAge     time.Duration     `yaml:"max_age"`    // older rates are marked stale; default 1 hour
}

func (c RatesConfig) withDefaults() RatesConfig {
	orString(&c.Refresh, "@every 5m")
	orString(&c.USDCNY, "tether")
	orDuration(&c.MaxAge, time.Hour)
	for _, name := range []string{"cny", "usd"} {
		if !slices.Contains(c.Currencies, name) {
			c.Currencies = append([]string{name}, c.Currencies...)
		}
	}
	return c
}

// Check tells what is wrong with the configuration.
func (c RatesConfig) Check() error {
	c = c.withDefaults()
	if c.File != "" && c.URL != "" {
		return errors.New("file and url exclude each other")
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("url: http(s)://host/path is wanted")
	}
	for _, name := range slices.Concat(c.Currencies, slices.Collect(maps.Values(c.Coins)), []string{c.USDCNY}) {
		if ok, err := regexp.MatchString(`^[a-z0-9-]{1,64}$`, name); err != nil || !ok {
			return fmt.Errorf("%q: names of coins and currencies have small letters, digits and dashes", name)
		}
	}
	_, err := schedule(c.Refresh)
	return err
}

// schedule reads a cron expression; the library panics on some.
func schedule(text string) (s cron.Schedule, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, fmt.Errorf("refresh %q: not a schedule", text)
		}
	}()
	return cron.ParseStandard(text)
}

// quote is the price of one coin.
type quote struct {
	prices map[string]decimal.Decimal // by currency
	at     time.Time                  // as the source says
}

// rates keeps the newest quotes. None is made up: what the source does not say is null, and what is old is marked.
type rates struct {
	cfg    RatesConfig
	now    func() time.Time
	log    *logrus.Logger
	client *http.Client

	mu     sync.Mutex
	quotes map[string]quote // by coin
}

const (
	maxRates = 1 << 20 // bytes of a source's answer
	rateTime = 10 * time.Second
)

func newRates(cfg RatesConfig, now func() time.Time, log *logrus.Logger) *rates {
	return &rates{cfg: cfg.withDefaults(), now: now, log: log, client: &http.Client{Timeout: rateTime}, quotes: map[string]quote{}}
}

// Run reads the source now and by the calendar until ctx ends.
func (r *rates) Run(ctx context.Context) error {
	if r.cfg.File == "" && r.cfg.URL == "" {
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

func (r *rates) refresh(ctx context.Context) error {
	text, at, err := r.read(ctx)
	if err != nil {
		return err
	}
	fresh, err := parseRates(text, at)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.quotes, fresh) // a coin that is missing this time keeps its last price and grows old
	return nil
}

// read answers the source's text and the time that stands for coins without one.
func (r *rates) read(ctx context.Context) ([]byte, time.Time, error) {
	if r.cfg.File == "" {
		text, err := r.download(ctx)
		return text, r.now(), err
	}
	f, err := os.Open(r.cfg.File)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading the rates: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading the rates: %w", err)
	}
	text, err := bounded(f)
	return text, info.ModTime(), err
}

func (r *rates) download(ctx context.Context) ([]byte, error) {
	u, err := url.Parse(r.cfg.URL)
	if err != nil {
		return nil, errors.New("rates url: not a URL")
	}
	coins := slices.Sorted(maps.Values(r.cfg.Coins))
	q := u.Query()
	q.Set("ids", strings.Join(slices.Compact(append(coins, r.cfg.USDCNY)), ","))
	q.Set("vs_currencies", strings.Join(r.cfg.Currencies, ","))
	q.Set("include_last_updated_at", "true")
	u.RawQuery = q.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("rates url: not a URL")
	}
	response, err := r.client.Do(request)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) {
			err = at.Err // without the address, which may hold a key
		}
		return nil, fmt.Errorf("asking for the rates: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking for the rates: HTTP %d", response.StatusCode)
	}
	return bounded(response.Body)
}

func bounded(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxRates+1))
	if err == nil && len(text) > maxRates {
		err = fmt.Errorf("more than %d bytes", maxRates)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the rates: %w", err)
	}
	return text, nil
}

const updatedMember = "last_updated_at"

// parseRates reads quotes by coin. A price that is no number above zero of sensible size refuses the whole text.
func parseRates(text []byte, at time.Time) (map[string]quote, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var wire map[string]map[string]*json.Number
	if err := d.Decode(&wire); err != nil {
		return nil, fmt.Errorf("reading the rates: %w", err)
	}
	out := make(map[string]quote, len(wire))
	for coin, members := range wire {
		q := quote{prices: map[string]decimal.Decimal{}, at: at}
		for name, number := range members {
			if number == nil {
				continue
			}
			value, err := parsePrice(*number)
			if err != nil {
				return nil, fmt.Errorf("rate %.40s of %.40s: %w", name, coin, err)
			}
			if name == updatedMember {
				q.at = time.Unix(value.IntPart(), 0)
				continue
			}
			q.prices[name] = value
		}
		out[coin] = q
	}
	return out, nil
}

func parsePrice(n json.Number) (decimal.Decimal, error) {
	if len(n) > 40 {
		return decimal.Decimal{}, errors.New("the number is too long")
	}
	value, err := decimal.NewFromString(n.String())
	if err != nil {
		return decimal.Decimal{}, err
	}
	if value.Exponent() < -30 || value.Exponent() > 30 || !value.IsPositive() {
		return decimal.Decimal{}, fmt.Errorf("%s is no price", n)
	}
	return value, nil
}

// of is the quote of a token and whether it is stale.
func (r *rates) of(t index.Token) (q quote, stale, ok bool) {
	for _, name := range []string{t.ID, t.Symbol, t.OriginalSymbol} {
		if coin := r.cfg.Coins[name]; coin != "" {
			return r.coin(coin)
		}
	}
	return quote{}, false, false
}

func (r *rates) coin(name string) (q quote, stale, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q, ok = r.quotes[name]
	return q, r.now().Sub(q.at) > r.cfg.MaxAge, ok
}

// exchangeRates answers the tokens asked for, or all, of those whose rate is known. Besides usdRate and cnyRate, which are null when the source
// does not say them, there is a member for every further currency.
func (n *network) exchangeRates(_ context.Context, p params) (any, error) {
	symbols, ids := p.list("tokenSymbols"), p.list("tokenIds")
	list := []map[string]any{}
	for _, t := range n.Index.Tokens() {
		if len(symbols)+len(ids) > 0 && !slices.Contains(symbols, t.Symbol) && !slices.Contains(ids, t.ID) {
			continue
		}
		q, stale, ok := n.rates.of(t)
		if !ok {
			continue
		}
		item := map[string]any{
			"tokenId": t.ID, "tokenSymbol": t.Symbol, "usdRate": nil, "cnyRate": nil, "stale": stale, "updateTime": q.at.Unix(),
		}
		for _, currency := range n.rates.cfg.Currencies {
			if price, known := q.prices[currency]; known {
				item[currency+"Rate"] = json.Number(price.String())
			}
		}
		list = append(list, item)
	}
	return list, nil
}

// rateDecimals is how exact the USD-CNY rate is; it is cut there.
const rateDecimals = 6

// usdCNY is the ratio of two prices of one coin. A number cannot be marked: a stale one is refused, with when it was good.
func (n *network) usdCNY(context.Context, params) (any, error) {
	q, stale, ok := n.rates.coin(n.rates.cfg.USDCNY)
	usd, cny := q.prices["usd"], q.prices["cny"]
	switch {
	case !ok || usd.IsZero() || cny.IsZero():
		return nil, refuse(codeGeneral, "No USD-CNY rate is known")
	case stale:
		return nil, refuse(codeGeneral, "The USD-CNY rate is stale: it was %s at %s", ratio(cny, usd), q.at.UTC().Format(time.RFC3339))
	}
	return json.Number(ratio(cny, usd)), nil
}

func ratio(a, b decimal.Decimal) string {
	quotient, _ := a.QuoRem(b, rateDecimals)
	return quotient.String()
}
