package metrics

import (
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// totals counts what happens since the process began, from the history and the blocks: in whichever
// tenure, each event once.
type totals struct {
	begun     bool
	seq       uint64              // line of the history up to which all is counted
	folded    map[chain.ID]uint64 // final height up to which fees are counted
	transfers map[[3]string]uint64
	unknown   map[[2]string]uint64
	payments  map[[4]string]uint64
	attempts  map[[4]string]uint64
	fees      map[chain.ID]chain.Amount

	durations *prometheus.HistogramVec          // of transfers, from sighting to finality
	observers map[[2]string]prometheus.Observer // of durations, by network and direction
	coins     map[string]bool                   // networks of ledgers of coins, whose blocks take longer
}

func newTotals(durations *prometheus.HistogramVec) *totals {
	return &totals{
		durations: durations, observers: map[[2]string]prometheus.Observer{}, coins: map[string]bool{},
		folded: map[chain.ID]uint64{}, transfers: map[[3]string]uint64{}, unknown: map[[2]string]uint64{}, payments: map[[4]string]uint64{}, attempts: map[[4]string]uint64{},
		fees: map[chain.ID]chain.Amount{},
	}
}

// What the history calls the states of payments that are counted, and its word before an attempt's
// kind.
const attemptEvent = "attempt_"

var (
	transferStates = []string{string(records.Seen), string(records.Final), string(records.Orphaned), string(records.Held), string(records.Refused)}
	paymentStates  = []string{string(records.Queued), string(records.Bound), string(records.Paid), string(records.HeldPayment), string(records.VoidPayment)}
	attemptKinds   = []string{records.AttemptPay, records.AttemptReplace, records.AttemptCancel}
	purposes       = []chain.Purpose{chain.Credit, chain.Refund, chain.Receive, chain.Sweep, chain.Gas, chain.Cold}
)

// read counts what is new and shows all. The first reading counts nothing: what was before is no
// event of this process.
func (t *totals) read(tx *records.Tx, p *page, networks []records.Network, decimals map[chain.ID]uint8) error {
	t.know(networks)
	if !t.begun {
		end, err := books.HistoryEnd(tx)
		if err != nil {
			return err
		}
		t.seq, t.begun = end, true
	}
	transfers, payments, upTo, err := books.EventsSince(tx, t.seq)
	if err != nil {
		return err
	}
	unknown, err := books.UnknownTokensBetween(tx, t.seq, upTo)
	if err != nil {
		return err
	}
	times, err := books.CreditTimesBetween(tx, t.seq, upTo)
	if err != nil {
		return err
	}
	fees, err := t.newFees(tx, networks)
	if err != nil {
		return err
	}
	t.seq = upTo
	t.count(transfers, payments)
	for _, c := range times {
		t.observer(c.Network, c.Direction).Observe(max(0, float64(c.Millis)/1000))
	}
	for _, e := range unknown {
		t.unknown[[2]string{e.Network, e.Chain}] += e.Count
	}
	for id, f := range fees {
		t.folded[id] = f.upTo
		if sum, err := t.fees[id].Add(f.sum); err == nil {
			t.fees[id] = sum
		}
	}
	t.show(p, decimals)
	return nil
}

// know makes all series of a network, so that their first event shows as a step.
func (t *totals) know(networks []records.Network) {
	for _, n := range networks {
		t.coins[n.Name] = n.NoSenders
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal, records.Funding} {
			for _, s := range transferStates {
				t.transfers[[3]string{n.Name, string(d), s}] += 0
			}
			if d != records.Funding {
				t.observer(n.Name, d)
			}
		}
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			t.unknown[[2]string{n.Name, string(id)}] += 0
			for _, purpose := range purposes {
				for _, s := range paymentStates {
					t.payments[[4]string{n.Name, string(id), string(purpose), s}] += 0
				}
				for _, k := range attemptKinds {
					t.attempts[[4]string{n.Name, string(id), string(purpose), k}] += 0
				}
			}
		}
	}
}

// observer returns the series of a network's transfers in one direction.
func (t *totals) observer(network string, d records.Direction) prometheus.Observer {
	key := [2]string{network, string(d)}
	o, known := t.observers[key]
	if !known {
		ledger := "accounts"
		if t.coins[network] {
			ledger = "coins"
		}
		o = t.durations.WithLabelValues(network, string(d), ledger)
		t.observers[key] = o
	}
	return o
}

func (t *totals) count(transfers, payments []books.Events) {
	for _, e := range transfers {
		if slices.Contains(transferStates, e.Event) {
			t.transfers[[3]string{e.Network, string(e.Direction), e.Event}] += e.Count
		}
	}
	for _, e := range payments {
		if kind, ok := strings.CutPrefix(e.Event, attemptEvent); ok {
			t.attempts[[4]string{e.Network, e.Chain, e.Purpose, kind}] += e.Count
		} else if slices.Contains(paymentStates, e.Event) {
			t.payments[[4]string{e.Network, e.Chain, e.Purpose, e.Event}] += e.Count
		}
	}
}

// fees are the fees paid up to a final block.
type fees struct {
	sum  chain.Amount
	upTo uint64
}

// newFees sums the fees in the blocks that have become final since the last reading.
func (t *totals) newFees(tx *records.Tx, networks []records.Network) (map[chain.ID]fees, error) {
	found := map[chain.ID]fees{}
	for _, n := range networks {
		cursor, err := tx.Chains().Cursor(n.Source)
		if err != nil {
			return nil, err
		}
		final := cursor.Final.Height
		from, begun := t.folded[n.Source]
		if !begun {
			from = final
		}
		sum, err := books.FeesBetween(tx, n.Source, from, final)
		if err != nil {
			return nil, err
		}
		found[n.Source] = fees{sum, final}
	}
	return found, nil
}

func (t *totals) show(p *page, decimals map[chain.ID]uint8) {
	for labels, n := range t.transfers {
		p.set(transferTotal, float64(n), labels[:]...)
	}
	for labels, n := range t.unknown {
		p.set(unknownTotal, float64(n), labels[:]...)
	}
	for labels, n := range t.payments {
		p.set(paymentTotal, float64(n), labels[:]...)
	}
	for labels, n := range t.attempts {
		p.set(attemptTotal, float64(n), labels[:]...)
	}
	for _, id := range slices.Sorted(maps.Keys(t.fees)) {
		p.set(feeTotal, whole(t.fees[id], decimals[id]), string(id))
	}
}
