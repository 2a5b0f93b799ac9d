package operator

import (
	"context"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/records/books"
)

// seriesPayments bounds the payments that one reading of figures visits. A busier gateway gets a
// shorter time.
const seriesPayments = 200_000

// SeriesSteps are the lengths of time that figures are read for, and the steps between them.
var SeriesSteps = map[time.Duration]time.Duration{time.Hour: time.Minute, 24 * time.Hour: time.Hour, 7 * 24 * time.Hour: 6 * time.Hour}

// Series contains figures of payments to users over time, in steps of the same length. A payment
// counts in the step in which its transfer was final.
type Series struct {
	From    time.Time     `json:"from"` // the begin of the first step
	Step    float64       `json:"step"` // seconds
	Steps   int           `json:"steps"`
	Since   time.Time     `json:"since"` // the figures are complete from this moment on
	Flows   []FlowSeries  `json:"flows"`
	Latency []TimesSeries `json:"latency"`
}

// FlowSeries is the number and the sum of a channel's payments in each step.
type FlowSeries struct {
	Network   string            `json:"network"`
	Token     string            `json:"token"`
	Symbol    string            `json:"symbol"`
	Direction records.Direction `json:"direction"`
	Asset     chain.Asset       `json:"asset"` // that it is paid in
	Count     []uint64          `json:"count"`
	Amount    []chain.Amount    `json:"amount"`
}

// TimesSeries has the seconds from final to paid of a direction's payments in each step: the median
// and the longest; null without a payment.
type TimesSeries struct {
	Direction records.Direction `json:"direction"`
	Median    []*float64        `json:"median"`
	Longest   []*float64        `json:"longest"`

	times [][]float64
}

// SeriesOf reads the figures of a length of time that ends now.
func (d *Session) SeriesOf(ctx context.Context, span time.Duration, now time.Time) (s Series, err error) {
	step, known := SeriesSteps[span]
	if !known {
		return s, Usagef("hours: must be 1, 24 or 168")
	}
	s.Step, s.Steps = step.Seconds(), int(span/step)+1
	s.From = now.UTC().Truncate(step).Add(-span)
	s.Flows = []FlowSeries{}
	for _, direction := range []records.Direction{records.Deposit, records.Withdrawal} {
		s.Latency = append(s.Latency, TimesSeries{Direction: direction, times: make([][]float64, s.Steps)})
	}
	err = d.Store.View(ctx, func(tx *records.Tx) (err error) {
		var failed error
		s.Since, err = books.CreditsSince(tx, s.From, seriesPayments, func(c books.Credit) {
			if failed == nil {
				failed = s.add(d, c)
			}
		})
		if err == nil {
			err = failed
		}
		return err
	})
	for i := range s.Latency {
		s.Latency[i].summarise()
	}
	return s, err
}

// add counts a payment.
func (s *Series) add(d *Session, c books.Credit) error {
	at := int(c.Queued.Sub(s.From).Seconds() / s.Step)
	if at < 0 || at >= s.Steps {
		return nil
	}
	direction := records.Withdrawal
	if slices.ContainsFunc(d.Config.Networks, func(n config.Network) bool { return n.Name == c.Network && n.Exchange == c.Chain }) {
		direction = records.Deposit
	}
	i := slices.IndexFunc(s.Flows, func(f FlowSeries) bool {
		return f.Network == c.Network && f.Direction == direction && f.Asset == c.Asset
	})
	if i < 0 {
		i = len(s.Flows)
		s.Flows = append(s.Flows, FlowSeries{
			Network: c.Network, Token: c.Token, Symbol: d.Config.Symbol(c.Network, c.Token), Direction: direction, Asset: c.Asset,
			Count: make([]uint64, s.Steps), Amount: make([]chain.Amount, s.Steps),
		})
	}
	f := &s.Flows[i]
	f.Count[at]++
	var err error
	if f.Amount[at], err = f.Amount[at].Add(c.Amount); err != nil {
		return err
	}
	if !c.Paid.IsZero() {
		times := s.Latency[slices.IndexFunc(s.Latency, func(l TimesSeries) bool { return l.Direction == direction })].times
		times[at] = append(times[at], c.Paid.Sub(c.Queued).Seconds())
	}
	return nil
}

// summarise computes the median and the longest of each step.
func (l *TimesSeries) summarise() {
	l.Median, l.Longest = make([]*float64, len(l.times)), make([]*float64, len(l.times))
	for i, times := range l.times {
		if len(times) > 0 {
			slices.Sort(times)
			l.Median[i], l.Longest[i] = &times[len(times)/2], &times[len(times)-1]
		}
	}
}
