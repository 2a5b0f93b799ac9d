package status

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/records"
)

// measureEvery is the interval at which the time between blocks is measured.
const measureEvery = 10 * time.Minute

// maxEvery keeps the promise of a minute.
const maxEvery = 15 * time.Second

// store is the records as the monitor uses them.
type store interface {
	Update(ctx context.Context, fn func(*records.Tx) error) error
	View(ctx context.Context, fn func(*records.Tx) error) error
}

// Parts are a Monitor's dependencies.
type Parts struct {
	Config Config
	Store  store // fenced by the lease of what is watched: only its holder reports
	Chains map[chain.ID]chain.Chain
	// ChainsOnly leaves the signer and the alerts to the process that leads.
	ChainsOnly bool
	// OnDemand are chains that make blocks only when there are transactions, so that an old block
	// means nothing.
	OnDemand []chain.ID
	Networks []records.Network
	// Guard asks the signer for its sign-guard; nil without a signer.
	Guard  func(context.Context) (records.Guard, error)
	Alerts *Alerts
	Log    logrus.FieldLogger
	Now    func() time.Time // nil means time.Now
}

// Monitor is the part of a running daemon that watches the nodes and the followers independently:
// it asks the nodes itself, so that a part that hangs cannot hide it.
type Monitor struct {
	Parts
	watched map[chain.ID]*watched
	signer  signerSight
	served  atomic.Pointer[[]records.Network] // replaced as one value, never modified
}

// NewMonitor starts nothing.
func NewMonitor(p Parts) *Monitor {
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Config.Every = cmp.Or(p.Config.Every, 10*time.Second)
	if p.Alerts == nil {
		p.Alerts = NewAlerts(p.Log)
	}
	m := &Monitor{Parts: p, watched: map[chain.ID]*watched{}}
	m.Reconfigure(p.Networks)
	for id := range p.Chains {
		m.watched[id] = &watched{id: id, every: p.Config.Every, onDemand: slices.Contains(p.OnDemand, id), faults: map[string]fault{}}
	}
	return m
}

// Reconfigure sets the networks for the next checks.
func (m *Monitor) Reconfigure(networks []records.Network) { m.served.Store(&networks) }

// Networks returns the checked networks.
func (m *Monitor) Networks() []records.Network { return *m.served.Load() }

// Run watches until ctx ends. It never fails: a store that refuses its findings is a condition of
// its own.
func (m *Monitor) Run(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return m.beat(ctx) })
	g.Go(func() error { return m.watch(ctx) })
	return g.Wait()
}

// beat stores a sign of life every second, also while nodes do not answer. The store's errors are
// conditions, which watch reports.
func (m *Monitor) beat(ctx context.Context) error {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		m.beatOnce(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (m *Monitor) beatOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	_ = m.Store.Update(ctx, m.beats)
}

// beats stores a sign of life of all that this monitor watches.
func (m *Monitor) beats(tx *records.Tx) error {
	ids := slices.Sorted(maps.Keys(m.Chains))
	if m.ChainsOnly {
		return BeatChains(tx, ids)
	}
	return errors.Join(records.Beat(tx, Role), BeatChains(tx, ids))
}

// BeatChains stores that the work on chains is under way.
func BeatChains(tx *records.Tx, ids []chain.ID) error {
	for _, id := range ids {
		if err := records.Beat(tx, ChainRole(id)); err != nil {
			return err
		}
	}
	return nil
}

func (m *Monitor) watch(ctx context.Context) error {
	tick := time.NewTicker(m.Config.Every)
	defer tick.Stop()
	for {
		if err := m.Look(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, records.ErrFenced) {
			m.reportStoreDown(err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (m *Monitor) reportStoreDown(err error) {
	if !m.ChainsOnly {
		m.Alerts.reportStoreDown(m.Now(), err)
	}
}

// storeTime bounds the store's time to note the results, before it counts as down.
const storeTime = 30 * time.Second

// Look checks every chain once, stores the faults, and alerts of all faults, whatever part found
// them.
func (m *Monitor) Look(ctx context.Context) error {
	seen := make(map[chain.ID]observation, len(m.Chains))
	views := make(chan observation, len(m.Chains)) // room for all, so that none waits
	var g errgroup.Group
	for id, c := range m.Chains {
		g.Go(func() error {
			views <- m.see(ctx, id, c)
			return nil
		})
	}
	_ = g.Wait() // what fails is part of what is seen
	close(views)
	for v := range views {
		seen[v.id] = v
	}
	guard, away := m.seeSigner(ctx)
	noting, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	if m.ChainsOnly {
		return m.Store.Update(noting, func(tx *records.Tx) error { return m.note(tx, seen) })
	}
	var report Report
	err := m.Store.Update(noting, func(tx *records.Tx) (err error) {
		if err := m.note(tx, seen); err != nil {
			return err
		}
		if err := m.noteSigner(tx, guard, away); err != nil {
			return err
		}
		if report, err = Read(tx, *m.served.Load()); err != nil {
			return err
		}
		return records.AnnounceConditions(tx, alertable(report.Conditions), report.Alerts)
	})
	if err == nil {
		m.Alerts.Update(m.Now(), report)
	}
	return err
}

// note writes down a sign of life and what is wrong with each chain.
func (m *Monitor) note(tx *records.Tx, seen map[chain.ID]observation) error {
	if err := m.beats(tx); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		cur, err := tx.Chains().Cursor(id)
		if err != nil {
			return err
		}
		noted, err := tx.Chains().Tracing(id)
		if err != nil {
			return err
		}
		w := m.watched[id]
		found := w.judge(m.Now(), seen[id], cur)
		if c, ok := w.tracing(m.Now(), seen[id].loss, noted); ok {
			found = append(found, c)
		}
		if err := records.NoteConditions(tx, "chain:"+string(id), found); err != nil {
			return err
		}
	}
	return nil
}

// see asks a chain's nodes, within the time of a check.
func (m *Monitor) see(ctx context.Context, id chain.ID, c chain.Chain) observation {
	ctx, cancel := context.WithTimeout(ctx, m.Config.Every)
	defer cancel()
	s, w := observation{id: id}, m.watched[id]
	s.head, s.err = c.Head(ctx)
	has := chain.CapabilitiesOf(c)
	w.mined = has.Coins != nil
	if i := has.Interval; i != nil && s.err == nil && m.Now().After(w.measured.Add(measureEvery)) {
		if interval, err := i.BlockInterval(ctx); err == nil {
			w.interval, w.measured = interval, m.Now()
		}
	}
	if has.Nodes != nil {
		s.nodes = has.Nodes.Nodes()
	}
	if has.Tracing != nil {
		s.loss = has.Tracing.TracingLoss()
	}
	return s
}
