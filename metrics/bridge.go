package metrics

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/signer/checks"
	"gatewayd/status"
)

// Default interval of reading the records, and its timeout; the same of balances, quota and the
// size of the database.
const (
	readEvery = 10 * time.Second
	readTime  = 5 * time.Second
	slowEvery = time.Minute
	slowTime  = 30 * time.Second
)

// Bridge contains the sources of a leading daemon's figures.
type Bridge struct {
	Store interface {
		View(ctx context.Context, f func(*records.Tx) error) error
		Size(ctx context.Context) (bytes int64, err error)
	}
	Chains       map[chain.ID]chain.Chain
	CoinDecimals map[chain.ID]uint8
	Networks     func() []records.Network // as they are served now
	Every        time.Duration            // how often records and nodes are read; 0: every ten seconds
}

// Follow reads the bridge's figures until ctx ends; then they are no longer exported.
func (m *Metrics) Follow(ctx context.Context, b Bridge) error {
	defer m.page.Store(nil)
	f := &follower{Bridge: b, totals: m.totals}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return every(ctx, slowEvery, f.readSlow) })
	g.Go(func() error {
		return every(ctx, cmp.Or(b.Every, readEvery), func(ctx context.Context) {
			p := f.read(ctx)
			m.page.Store(&p)
		})
	})
	return g.Wait()
}

// every calls f at once and then again and again until ctx ends.
func every(ctx context.Context, pause time.Duration, f func(context.Context)) error {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		f(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// follower reads the figures of one tenure.
type follower struct {
	Bridge
	totals *totals
	slow   slowFigures
}

// read builds a page of all figures. It leaves out data that the store does not return in time; the
// condition contains the reason.
func (f *follower) read(ctx context.Context) (p page) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	begin := time.Now()
	var stored page
	err := f.Store.View(ctx, func(tx *records.Tx) error {
		stored = nil
		return f.records(tx, &stored)
	})
	if err != nil {
		stored = nil
		setConditions(&stored, status.Down().Conditions)
	}
	p = append(p, stored...)
	f.nodes(&p)
	p.set(readTook, time.Since(begin).Seconds())
	if err == nil {
		p.set(readAt, float64(begin.UnixMilli())/1000)
	}
	return p
}

// records reads the rows' figures, at the cost of the unfinished rows.
func (f *follower) records(tx *records.Tx, p *page) error {
	networks := f.Networks()
	report, err := status.Read(tx, networks)
	if err != nil {
		return err
	}
	setConditions(p, report.Conditions)
	setChannels(p, report.Channels)
	if err := setLimits(tx, p); err != nil {
		return err
	}
	if err := f.transfers(tx, p, networks); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(f.Chains)) {
		if err := f.chain(tx, p, id); err != nil {
			return err
		}
	}
	if err := f.accounts(tx, p, networks); err != nil {
		return err
	}
	return f.totals.read(tx, p, networks, f.CoinDecimals)
}

// setConditions counts conditions by kind, without their subjects, which may be many.
func setConditions(p *page, list []status.Condition) {
	count := map[[6]string]int{}
	for _, c := range list {
		count[[6]string{string(c.Kind), strconv.FormatBool(c.Stops), string(c.Chain), c.Network, c.Token, string(c.Direction)}]++
	}
	for labels, n := range count {
		p.set(conditions, float64(n), labels[:]...)
	}
}

func setChannels(p *page, list []status.Channel) {
	for _, c := range list {
		if c.Allowed() {
			p.set(paymentsBlocked, number(c.Blocked()), c.Network, c.Token, string(c.Direction))
		}
		for _, state := range []string{records.ChannelOpen, records.ChannelMaintain, records.ChannelClosed} {
			p.set(channelState, number(c.State() == state), c.Network, c.Token, string(c.Direction), state)
		}
	}
}

// setLimits shows what the daemon has recorded of the signer's limits.
func setLimits(tx *records.Tx, p *page) error {
	var report checks.Report
	_, _, err := records.ReadReport(tx, "limits", &report)
	for _, l := range report.Lines {
		p.set(limitUsed, l.Ratio, l.Window, l.Network, string(l.Chain), l.Token)
	}
	return err
}

// transfers shows nothing as 0, for the states that operators watch.
func (f *follower) transfers(tx *records.Tx, p *page, networks []records.Network) error {
	open, err := books.OpenTransfersOf(tx)
	if err != nil {
		return err
	}
	for _, n := range networks {
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			for _, s := range []records.TransferState{records.Seen, records.Held} {
				open = withZero(open, books.OpenTransfers{Network: n.Name, Direction: d, State: s}, func(o books.OpenTransfers) [3]string {
					return [3]string{o.Network, string(o.Direction), string(o.State)}
				})
			}
		}
	}
	for _, o := range open {
		p.set(transfers, float64(o.Count), o.Network, string(o.Direction), string(o.State))
		p.set(transfersAge, o.Oldest.Seconds(), o.Network, string(o.Direction), string(o.State))
	}
	return nil
}

// withZero adds a row of nothing unless there is one of the same key.
func withZero[T any, K comparable](list []T, zero T, key func(T) K) []T {
	if slices.ContainsFunc(list, func(t T) bool { return key(t) == key(zero) }) {
		return list
	}
	return append(list, zero)
}

// chain reads a chain's followed position, and its payments in progress.
func (f *follower) chain(tx *records.Tx, p *page, id chain.ID) error {
	name := string(id)
	cursor, err := tx.Chains().Cursor(id)
	if err != nil {
		return err
	}
	if !cursor.Missing {
		p.set(chainHeight, float64(cursor.Height), name)
		p.set(chainHead, float64(cursor.Head), name)
		p.set(chainFinal, float64(cursor.Final.Height), name)
		p.set(chainHalted, number(cursor.Halted), name)
		if !cursor.HeadAt.IsZero() {
			p.set(chainHeadAge, time.Since(cursor.HeadAt).Seconds(), name)
		}
	}
	open, err := books.OpenPaymentsOf(tx, id)
	if err != nil {
		return err
	}
	for _, o := range f.withoutGaps(open, id) {
		labels := []string{o.Network, name, string(o.Purpose), string(o.State)}
		p.set(payments, float64(o.Count), labels...)
		p.set(paymentsAge, o.Oldest.Seconds(), labels...)
	}
	undecided, err := books.UndecidedSlotsOf(tx, id)
	if err != nil {
		return err
	}
	for _, state := range []string{"unmined", "mined", "forked"} {
		undecided = withZero(undecided, books.UndecidedSlots{State: state}, func(u books.UndecidedSlots) string { return u.State })
	}
	for _, u := range undecided {
		p.set(slots, float64(u.Count), name, u.State)
		p.set(slotsAge, u.Oldest.Seconds(), name, u.State)
	}
	return nil
}

// withoutGaps shows credits and refunds also where there are none.
func (f *follower) withoutGaps(open []books.OpenPayments, id chain.ID) []books.OpenPayments {
	for _, n := range f.Networks() {
		if n.Source != id && n.Exchange != id {
			continue
		}
		for _, purpose := range []chain.Purpose{chain.Credit, chain.Refund} {
			for _, state := range []records.PaymentState{records.Queued, records.Bound, records.HeldPayment} {
				open = withZero(open, books.OpenPayments{Network: n.Name, Chain: id, Purpose: purpose, State: state}, func(o books.OpenPayments) [3]string {
					return [3]string{o.Network, string(o.Purpose), string(o.State)}
				})
			}
		}
	}
	return open
}

// nodes exports the adapters' data of their nodes: hosts, never URLs.
func (f *follower) nodes(p *page) {
	for id, c := range f.Chains {
		watched := chain.CapabilitiesOf(c).Nodes
		if watched == nil {
			continue
		}
		list := watched.Nodes()
		highest := slices.MaxFunc(append(list, chain.NodeState{}), func(a, b chain.NodeState) int { return cmp.Compare(a.Head, b.Head) }).Head
		for _, n := range unlike(list) {
			labels := []string{string(id), n.Name}
			p.set(nodeUp, number(n.Up), labels...)
			p.set(nodeHead, float64(n.Head), labels...)
			p.set(nodeLag, float64(highest-n.Head), labels...)
			p.set(nodeFaults, float64(n.Faults), labels...)
			p.set(nodeLeftOut, number(n.LeftOut), labels...)
		}
	}
}

// unlike gives nodes at one host different names: a series must not be exported twice.
func unlike(list []chain.NodeState) []chain.NodeState {
	seen, out := map[string]int{}, make([]chain.NodeState, len(list))
	for i, n := range list {
		if seen[n.Name]++; seen[n.Name] > 1 {
			n.Name += "#" + strconv.Itoa(seen[n.Name])
		}
		out[i] = n
	}
	return out
}
