package rates

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/robfig/cron/v3"
)

// Config selects the sources of exchange rates. A file or an HTTP service uses the format of
// CoinGecko's simple/price: {"<coin>": {"usd": 0.03, "cny": 0.16, "last_updated_at": 1588214534}}.
// Price feeds on source chains take precedence. Without a source there are no rates.
type Config struct {
	File  string       `yaml:"file"`
	URL   string       `yaml:"url"` // such as https://api.coingecko.com/api/v3/simple/price; coins and currencies are added to it
	Feeds []FeedConfig `yaml:"feeds"`
	// Coins name the coin of each token, by token id, symbol ("BTC-000") or symbol without suffix
	// ("BTC").
	Coins      map[string]string `yaml:"coins"`
	Currencies []string          `yaml:"currencies"` // asked of the service; default usd and cny, which are always among them
	// USDCNY is the coin whose cny and usd prices give the USD-CNY rate; default tether, or usd
	// where a feed has the price of cny.
	USDCNY  string        `yaml:"usd_cny"`
	Refresh string        `yaml:"refresh"` // cron; default every five minutes
	MaxAge  time.Duration `yaml:"max_age"` // older rates are marked stale; default 1 hour. Feeds have their heartbeat instead
}

// FeedConfig is a price feed on a source chain: a contract with Chainlink's AggregatorV3Interface.
// The feed of a currency in usd (coin cny, currency usd) gives the prices in that currency of all
// coins that have one in usd.
type FeedConfig struct {
	Coin     string `yaml:"coin"`
	Currency string `yaml:"currency"` // default usd
	Chain    string `yaml:"chain"`    // id of the source chain, whose configured nodes are asked
	Address  string `yaml:"address"`  // of the contract
	// Heartbeat is the maximum time between two updates of the feed, with some grace; an older
	// price is marked stale. Default 1 hour and 5 minutes.
	Heartbeat time.Duration `yaml:"heartbeat"`
}

const (
	usd = "usd"
	cny = "cny"
	// maxFeeds bounds what one refresh asks the chains.
	maxFeeds = 200
)

func (c Config) withDefaults() Config {
	c.Refresh = cmp.Or(c.Refresh, "@every 5m")
	c.MaxAge = cmp.Or(c.MaxAge, time.Hour)
	for _, name := range []string{cny, usd} {
		if !slices.Contains(c.Currencies, name) {
			c.Currencies = append([]string{name}, c.Currencies...)
		}
	}
	c.Feeds = slices.Clone(c.Feeds)
	for i := range c.Feeds {
		f := &c.Feeds[i]
		f.Currency, f.Heartbeat = cmp.Or(f.Currency, usd), cmp.Or(f.Heartbeat, 65*time.Minute)
		if f.Coin == cny && f.Currency == usd {
			c.USDCNY = cmp.Or(c.USDCNY, usd)
		}
	}
	c.USDCNY = cmp.Or(c.USDCNY, "tether")
	return c
}

// Check reports every fault of the configuration.
func (c Config) Check() error {
	c = c.withDefaults()
	if c.File != "" && c.URL != "" {
		return errors.New("file and url exclude each other")
	}
	if c.MaxAge < 0 {
		return errors.New("max_age must be above zero")
	}
	if u, err := url.Parse(c.URL); c.URL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return errors.New("url: must be http(s)://host/path")
	}
	names := slices.Concat(c.Currencies, slices.Collect(maps.Values(c.Coins)), []string{c.USDCNY})
	for _, f := range c.Feeds {
		names = append(names, f.Coin, f.Currency)
	}
	plain := regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	for _, name := range names {
		if !plain.MatchString(name) {
			return fmt.Errorf("%q: names of coins and currencies have small letters, digits and dashes", name)
		}
	}
	if err := c.checkFeeds(); err != nil {
		return err
	}
	_, err := schedule(c.Refresh)
	return err
}

func (c Config) checkFeeds() error {
	if len(c.Feeds) > maxFeeds {
		return fmt.Errorf("feeds: at most %d", maxFeeds)
	}
	seen := map[[2]string]bool{}
	for i, f := range c.Feeds {
		pair := [2]string{f.Coin, f.Currency}
		switch {
		case seen[pair]:
			return fmt.Errorf("feeds: two of %s in %s", f.Coin, f.Currency)
		case f.Chain == "" || f.Address == "":
			return fmt.Errorf("feed %d: chain and address are required", i+1)
		case f.Heartbeat <= 0:
			return fmt.Errorf("feed %d: heartbeat must be above zero", i+1)
		case f.Coin == f.Currency:
			return fmt.Errorf("feed %d: a coin in itself", i+1)
		case !slices.Contains(c.Currencies, f.Currency):
			return fmt.Errorf("feed %d: currency %s is not among currencies", i+1, f.Currency)
		}
		seen[pair] = true
	}
	return nil
}

// schedule reads a cron expression; the library panics on some.
func schedule(text string) (s cron.Schedule, err error) {
	defer func() {
		if recover() != nil {
			s, err = nil, fmt.Errorf("refresh %q: not a schedule", text)
		}
	}()
	s, err = cron.ParseStandard(text)
	if every, ok := s.(cron.ConstantDelaySchedule); ok {
		s = aligned(every.Delay)
	}
	return s, err
}

// aligned is a schedule by the calendar: processes that started at different times ask the sources
// at the same time, so that they show the same prices.
type aligned time.Duration

func (d aligned) Next(t time.Time) time.Time {
	return t.Truncate(time.Duration(d)).Add(time.Duration(d))
}
