package limits

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
)

// Line is the use of a limit.
type Line struct {
	Window  string   `json:"window"` // hour, day, user, transfer, gateway or fees
	Network string   `json:"network,omitempty"`
	Token   string   `json:"token,omitempty"`
	Chain   chain.ID `json:"chain,omitempty"`
	Limit   string   `json:"limit"` // for people: amount and unit
	Used    string   `json:"used"`
	User    string   `json:"user,omitempty"` // who has used most, of the limit of a user
	Ratio   float64  `json:"ratio"`
}

// Report is all limits, and what keeps one from holding anything.
type Report struct {
	Lines    []Line   `json:"limits"`
	Unpriced []string `json:"unpriced"` // tokens outside the limit of the complete gateway: no fresh price
	Prices   []Price  `json:"prices,omitempty"`
	Fault    string   `json:"fault,omitempty"`
	Clock    string   `json:"clock,omitempty"` // how the system's clock has jumped
}

// Price is a token's price in the limit of the complete gateway.
type Price struct {
	Token string    `json:"token"`
	Worth string    `json:"worth"` // of one token, with the currency
	At    time.Time `json:"at"`
	Fresh bool      `json:"fresh"` // one that is too old does not count
}

// nearly is the share of a limit that counts as nearly used up.
const nearly = 0.9

// Report returns the present use.
func (l *Limits) Report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin()
	r := Report{Lines: []Line{}, Unpriced: []string{}, Clock: l.clock.Jump()}
	for _, a := range l.assets {
		r.Lines = append(r.Lines, l.linesOf(a)...)
	}
	slices.SortFunc(r.Lines, func(a, b Line) int {
		return cmp.Or(strings.Compare(a.Network, b.Network), strings.Compare(a.Token, b.Token), strings.Compare(string(a.Chain), string(b.Chain)), strings.Compare(a.Window, b.Window))
	})
	if l.budget != nil {
		used, unpriced := l.value()
		r.Unpriced, r.Prices = append(r.Unpriced, unpriced...), l.priced()
		r.Lines = append(r.Lines, Line{
			Window: "gateway", Limit: l.budget.FloatString(2) + " " + l.cfg.Currency, Used: used.FloatString(2) + " " + l.cfg.Currency, Ratio: ratio(used, l.budget),
		})
	}
	if l.prices.fault != nil {
		r.Fault = l.prices.fault.Error()
	}
	return r
}

// priced are the prices of the tokens that are paid out, each once.
func (l *Limits) priced() (list []Price) {
	for _, a := range l.assets {
		one, ok := l.prices.known[a.Token]
		if ok && !slices.ContainsFunc(list, func(p Price) bool { return p.Token == a.Token }) {
			_, fresh := l.prices.current(a.Token, l.clock.Wall(), l.cfg.PriceAge)
			list = append(list, Price{Token: a.Token, Worth: decimal(one.worth) + " " + l.cfg.Currency, At: one.at, Fresh: fresh})
		}
	}
	slices.SortFunc(list, func(a, b Price) int { return strings.Compare(a.Token, b.Token) })
	return list
}

// decimal writes a price as its file does, in so many digits as it needs.
func decimal(r *big.Rat) string {
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}

func (l *Limits) linesOf(a *limitedAsset) (list []Line) {
	add := func(name, user string, most, used chain.Amount) {
		if !most.IsZero() {
			list = append(list, Line{
				Window: name, Network: a.Network, Token: a.Token, Chain: a.Chain, Limit: a.Text(most), Used: a.Text(used), User: user,
				Ratio: ratio(new(big.Rat).SetInt(used.Uint256().ToBig()), new(big.Rat).SetInt(most.Uint256().ToBig())),
			})
		}
	}
	add("hour", "", a.most.PerHour, a.hour.sum)
	add("day", "", a.most.PerDay, a.day.sum)
	add("transfer", "", a.most.PerTransfer, chain.Amount{})
	if !a.most.PerUserDay.IsZero() {
		user, used := l.most(assetKey{a.Chain, a.Asset.Asset})
		add("user", user, a.most.PerUserDay, used)
	}
	return list
}

// most is the user who got most of an asset in a day.
func (l *Limits) most(of assetKey) (user string, used chain.Amount) {
	for at, w := range l.users {
		if at.assetKey != of {
			continue
		}
		if w.expire(l.latest); used.Less(w.sum) {
			user, used = at.user, w.sum
		}
	}
	return user, used
}

func ratio(used, most *big.Rat) float64 {
	if most.Sign() == 0 {
		return 1
	}
	f, _ := new(big.Rat).Quo(used, most).Float64()
	return f
}

// Near are the lines of which most is used.
func (r Report) Near() (list []Line) {
	for _, l := range r.Lines {
		if l.Ratio >= nearly {
			list = append(list, l)
		}
	}
	return list
}

// String is a line for people.
func (l Line) String() string {
	what := map[string]string{"hour": "an hour", "day": "a day", "user": "a user and day", "transfer": "a transfer", "gateway": "the gateway in a day", "fees": "fees and day"}[l.Window]
	where := ""
	if l.Chain != "" {
		where = " on " + string(l.Chain)
	}
	return fmt.Sprintf("%s of the limit of %s%s, %s, are used", l.Used, what, where, l.Limit)
}

// Past is the age up to which payments count.
const Past = 24*time.Hour + time.Minute
