package rates

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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"
)

const (
	maxAnswer     = 1 << 20 // bytes of a source's answer
	sourceTimeout = 10 * time.Second
)

// read returns the source's text and the time for coins without one.
func (r *Rates) read(ctx context.Context) ([]byte, time.Time, error) {
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

func (r *Rates) download(ctx context.Context) ([]byte, error) {
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
	text, err := io.ReadAll(io.LimitReader(from, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("more than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the rates: %w", err)
	}
	return text, nil
}

const updatedMember = "last_updated_at"

// parseQuotes parses quotes by coin. A price that is not a number above zero of sensible size
// rejects the complete text. at is the time of coins without one, life the validity of a price.
func parseQuotes(text []byte, at time.Time, life time.Duration) (map[string]Quote, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var wire map[string]map[string]*json.Number
	if err := d.Decode(&wire); err != nil {
		return nil, fmt.Errorf("reading the rates: %w", err)
	}
	out := make(map[string]Quote, len(wire))
	for coin, members := range wire {
		q, err := parseQuote(members, at, life)
		if err != nil {
			return nil, fmt.Errorf("rates of %.40s: %w", coin, err)
		}
		out[coin] = q
	}
	return out, nil
}

func parseQuote(members map[string]*json.Number, at time.Time, life time.Duration) (Quote, error) {
	if n := members[updatedMember]; n != nil {
		value, err := parsePrice(*n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", updatedMember, err)
		}
		at = time.Unix(value.IntPart(), 0)
	}
	q := Quote{}
	for currency, n := range members {
		if n == nil || currency == updatedMember {
			continue
		}
		value, err := parsePrice(*n)
		if err != nil {
			return nil, fmt.Errorf("%.40s: %w", currency, err)
		}
		q[currency] = Price{Value: value, At: at, until: at.Add(life)}
	}
	return q, nil
}

func parsePrice(n json.Number) (decimal.Decimal, error) {
	if len(n) > 40 {
		return decimal.Decimal{}, errors.New("the number is too long")
	}
	value, err := decimal.NewFromString(n.String())
	if err != nil {
		return decimal.Decimal{}, err
	}
	return value, checkPrice(value)
}

// checkPrice refuses what is not above zero, or of no sensible size.
func checkPrice(value decimal.Decimal) error {
	if value.Exponent() < -36 || value.Exponent() > 30 || !value.IsPositive() {
		return errors.New("not above zero, or of no sensible size")
	}
	return nil
}

// Feeds reads price feeds on source chains.
type Feeds interface {
	// Feed returns the price in the contract at an address of a chain, and the time of its last
	// update there.
	Feed(ctx context.Context, chain, address string) (value decimal.Decimal, at time.Time, err error)
}

// feedsAtOnce bounds the questions that the source chains' nodes have to answer together.
const feedsAtOnce = 8

// refreshFeeds asks every feed. One that does not answer keeps its last price, which grows old.
func (r *Rates) refreshFeeds(ctx context.Context) error {
	var mu sync.Mutex
	var faults []error
	var g errgroup.Group
	g.SetLimit(feedsAtOnce)
	for _, f := range r.cfg.Feeds {
		g.Go(func() error {
			if err := r.refreshFeed(ctx, f); err != nil {
				mu.Lock()
				defer mu.Unlock()
				faults = append(faults, fmt.Errorf("the price of %s in %s: %w", f.Coin, f.Currency, err))
			}
			return nil
		})
	}
	_ = g.Wait() // the faults contain the errors
	return errors.Join(faults...)
}

func (r *Rates) refreshFeed(ctx context.Context, f FeedConfig) error {
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	value, at, err := r.feeds.Feed(ctx, f.Chain, f.Address)
	if err != nil {
		return err
	}
	if err := checkPrice(value); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fed[f.Coin] == nil {
		r.fed[f.Coin] = Quote{}
	}
	r.fed[f.Coin][f.Currency] = Price{Value: value, At: at, until: at.Add(f.Heartbeat)}
	return nil
}
