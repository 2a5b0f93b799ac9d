// Package limits bounds the gateway's outflow. Limits apply to a token by transfer, by payee and
// day, by hour and by day, and to all tokens together by day in a currency. A budget bounds the
// coin for fees. It counts the sign-guard's permanent records, so that no action of a daemon resets
// a limit.
//
//	authorizations of the last day ─Load─▶ windows ─Check─▶ passes, or is held with a time
//	                                          ▲──Count── authorized payments
//
// A window is the last hour or day, not one of the calendar. It uses a Clock: setting it back or
// ahead frees nothing.
package limits

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"gatewayd/chain"
	"gatewayd/policy"
)

// Use is a payment that was authorized, or is to be.
type Use struct {
	At     time.Time
	Chain  chain.ID
	Asset  chain.Asset
	Users  []string // who gets it: the user and the payee, each once
	Amount chain.Amount
	Was    *Use // as what it was counted before: it counts once, as of the last time; nil: never
}

// assetKey is an asset of a chain.
type assetKey struct {
	chain chain.ID
	asset chain.Asset
}

// limitedAsset is an asset with its limits, in its own units, and what was counted of it.
type limitedAsset struct {
	policy.Asset
	most      Token
	hour, day window
}

type userKey struct {
	assetKey
	user string
}

// Limits is safe for concurrent use.
type Limits struct {
	cfg    Config
	budget *big.Rat // gateway_day; nil for none
	clock  *Clock

	mu           sync.Mutex
	latest       time.Time // of what was counted last
	assets       map[assetKey]*limitedAsset
	users        map[userKey]*window
	usersExpired int64 // minute in which users were looked through last
	prices       prices
}

// New has counted nothing yet. The configuration was checked; an amount that the asset's units
// cannot count is an error.
func New(cfg Config, assets []policy.Asset, now func() time.Time) (*Limits, error) {
	return NewOn(NewClock(now), cfg, assets)
}

// NewOn is New with a clock that others count by too.
func NewOn(clock *Clock, cfg Config, assets []policy.Asset) (*Limits, error) {
	cfg = cfg.WithDefaults()
	l := &Limits{cfg: cfg, clock: clock, assets: map[assetKey]*limitedAsset{}, users: map[userKey]*window{}, prices: prices{path: cfg.Prices}}
	if cfg.GatewayDay != "" {
		var err error
		if l.budget, err = parseValue(cfg.GatewayDay); err != nil {
			return nil, fmt.Errorf("gateway_day: %w", err)
		}
	}
	for _, a := range assets {
		one, err := cfg.limited(a)
		if err != nil {
			return nil, err
		}
		at := assetKey{a.Chain, a.Asset}
		if known, ok := l.assets[at]; ok && !known.most.limits() {
			*known = *one // two tokens of one asset have one count
		} else if !ok {
			l.assets[at] = one
		}
	}
	l.prices.refresh()
	return l, nil
}

func (t Token) limits() bool { return t.Token != "" }

// limited finds the limits of an asset, in its units.
func (c Config) limited(a policy.Asset) (*limitedAsset, error) {
	one := &limitedAsset{Asset: a, hour: window{length: time.Hour}, day: window{length: 24 * time.Hour}}
	at := slices.IndexFunc(c.Tokens, func(t Token) bool { return t.Network == a.Network && t.Token == a.Token })
	if at < 0 {
		return one, nil
	}
	one.most = c.Tokens[at]
	for _, amount := range []*chain.Amount{&one.most.PerTransfer, &one.most.PerUserDay, &one.most.PerHour, &one.most.PerDay} {
		scaled, _, err := amount.Rescale(a.TokenDecimals, a.Decimals)
		if err == nil && scaled.IsZero() && !amount.IsZero() {
			err = fmt.Errorf("%w: less than the smallest unit", chain.ErrAmount)
		}
		if err != nil {
			return nil, fmt.Errorf("limits of %s on %s: %w", a.Token, a.Chain, err)
		}
		*amount = scaled
	}
	return one, nil
}

// Load counts what was authorized before, the oldest first.
func (l *Limits) Load(past []Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, u := range past {
		if l.latest.Before(u.At) {
			l.latest = u.At
			l.clock.Restore(u.At)
		}
		_ = l.count(u) // more than an amount can be has no place in any limit
	}
	l.expire()
}

// Now is the time by which is counted.
func (l *Limits) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = l.clock.Now()
	return l.latest
}

// Check returns for each payment why it is held, or an empty text. Payments that pass count for
// those after them in the same call only; Count counts them for good once they are authorized.
func (l *Limits) Check(uses []Use) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin()
	why, undo := make([]string, len(uses)), []func(){}
	for i, u := range uses {
		back := l.takeOut(u.Was)
		if why[i] = l.exceeds(u); why[i] == "" {
			if err := l.count(u); err != nil {
				why[i] = err.Error()
			}
		}
		if why[i] != "" {
			back()
			continue
		}
		undo = append(undo, back, func() { l.uncount(u) })
	}
	for _, f := range slices.Backward(undo) {
		f()
	}
	return why
}

// takeOut removes what was counted before, as far as it has not expired, and answers how to put it
// back.
func (l *Limits) takeOut(was *Use) (back func()) {
	if was == nil {
		return func() {}
	}
	a, ok := l.assets[assetKey{was.Chain, was.Asset}]
	if !ok {
		return func() {}
	}
	var out []*window
	windows := []*window{&a.day, &a.hour}
	for _, user := range was.Users {
		windows = append(windows, l.user(*was, user))
	}
	for _, w := range windows {
		if w.takeOut(was.At, was.Amount) {
			out = append(out, w)
		}
	}
	return func() {
		for _, w := range out {
			w.putBack(was.At, was.Amount)
		}
	}
}

// Count keeps what was authorized, as of now.
func (l *Limits) Count(uses []Use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin()
	for _, u := range uses {
		l.takeOut(u.Was)
		_ = l.count(u)
	}
}

// begin brings all windows to now.
func (l *Limits) begin() {
	l.latest = l.clock.Now()
	l.prices.refresh()
	l.expire()
}

func (l *Limits) expire() {
	for _, a := range l.assets {
		a.hour.expire(l.latest)
		a.day.expire(l.latest)
	}
	if minute := minuteOf(l.latest); minute != l.usersExpired {
		l.usersExpired = minute
		for at, w := range l.users {
			if w.expire(l.latest); len(w.parts) == 0 {
				delete(l.users, at)
			}
		}
	}
}

// count adds a payment to its windows. An asset without a token is not counted.
func (l *Limits) count(u Use) error {
	a, ok := l.assets[assetKey{u.Chain, u.Asset}]
	if !ok {
		return nil
	}
	if err := a.day.add(l.latest, u.Amount); err != nil {
		return err
	}
	_ = a.hour.add(l.latest, u.Amount) // no more than the day
	for _, user := range u.Users {
		_ = l.user(u, user).add(l.latest, u.Amount)
	}
	return nil
}

func (l *Limits) uncount(u Use) {
	if a, ok := l.assets[assetKey{u.Chain, u.Asset}]; ok {
		a.day.giveBack(u.Amount)
		a.hour.giveBack(u.Amount)
		for _, user := range u.Users {
			l.user(u, user).giveBack(u.Amount)
		}
	}
}

func (l *Limits) user(u Use, name string) *window {
	at := userKey{assetKey{u.Chain, u.Asset}, name}
	w, ok := l.users[at]
	if !ok {
		w = &window{length: 24 * time.Hour}
		l.users[at] = w
	}
	return w
}

// bound is a limit of a window.
type bound struct {
	what string
	w    *window
	most chain.Amount
}

// exceeds names the first limit that a payment is over.
func (l *Limits) exceeds(u Use) string {
	a, ok := l.assets[assetKey{u.Chain, u.Asset}]
	if !ok {
		return ""
	}
	if most := a.most.PerTransfer; !most.IsZero() && most.Less(u.Amount) {
		return fmt.Sprintf("the limit of a transfer is %s: %s are over it", a.Text(most), a.Text(u.Amount))
	}
	bounds := []bound{}
	for _, user := range u.Users {
		bounds = append(bounds, bound{"a user and day", l.user(u, user), a.most.PerUserDay})
	}
	for _, bound := range append(bounds, bound{"an hour", &a.hour, a.most.PerHour}, bound{"a day", &a.day, a.most.PerDay}) {
		if bound.w.over(bound.most, u.Amount) {
			return fmt.Sprintf("the limit of %s is %s, of which %s are used: %s more %s", bound.what, a.Text(bound.most), a.Text(bound.w.sum), a.Text(u.Amount),
				whenAllowed(l.clock.Shown(bound.w.allowedAt(bound.most, u.Amount))))
		}
	}
	return l.exceedsAll(u, a)
}

func whenAllowed(at time.Time) string {
	if at.IsZero() {
		return "never pass it"
	}
	return "pass from " + at.UTC().Format("2006-01-02 15:04 UTC") + " on"
}

// exceedsAll checks a payment against the limit of the complete gateway, as far as prices are
// fresh.
func (l *Limits) exceedsAll(u Use, a *limitedAsset) string {
	if l.budget == nil {
		return ""
	}
	worth, ok := l.prices.current(a.Token, l.clock.Wall(), l.cfg.PriceAge)
	if !ok { // Report shows it
		return ""
	}
	used, _ := l.value()
	sum := new(big.Rat).Add(used, valueOf(u.Amount, a.Decimals, worth))
	if sum.Cmp(l.budget) <= 0 {
		return ""
	}
	return fmt.Sprintf("the daily limit of the gateway is %s %s, of which %s are used: %s more exceed it",
		l.budget.FloatString(2), l.cfg.Currency, used.FloatString(2), a.Text(u.Amount))
}

// value returns the day's payments at present prices, and the tokens without one.
func (l *Limits) value() (sum *big.Rat, unpriced []string) {
	sum = new(big.Rat)
	for _, a := range l.assets {
		worth, ok := l.prices.current(a.Token, l.clock.Wall(), l.cfg.PriceAge)
		switch {
		case ok:
			sum.Add(sum, valueOf(a.day.sum, a.Decimals, worth))
		case !slices.Contains(unpriced, cmp.Or(a.Symbol, a.Token)):
			unpriced = append(unpriced, cmp.Or(a.Symbol, a.Token))
		}
	}
	slices.Sort(unpriced)
	return sum, unpriced
}
