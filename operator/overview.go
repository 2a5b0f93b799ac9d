package operator

import (
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/signer/limits"
	"gatewayd/status"
	"gatewayd/view"
)

const (
	patience = 5 * time.Second // for the nodes; what they do not answer in it is not known
	flowSpan = 24 * time.Hour  // what the runway is reckoned by
	rateSpan = 10 * time.Minute
)

// Overview is `status --json`. Amounts are in smallest units: of the gateway token for deposits, of
// the source chain's asset for withdrawals.
type Overview struct {
	At            time.Time              `json:"at"`
	State         status.State           `json:"state"`
	Headline      string                 `json:"headline"` // the state as a sentence
	Flows         bool                   `json:"flows"`    // nothing blocks payments that operators allow
	Conditions    []status.Condition     `json:"conditions"`
	Blocked       []status.BlockedToken  `json:"blocked"`       // tokens with payments that conditions block
	NeedsOperator uint64                 `json:"needsOperator"` // records that wait for a decision of an operator
	Chains        []Chain                `json:"chains"`
	Leases        []Lease                `json:"leases"` // of the processes that work now
	Channels      []Channel              `json:"channels"`
	Limits        []limits.Line          `json:"limits"`   // of the signer; empty without limits or without a daemon's report
	Dust          int                    `json:"dust"`     // withdrawals too small for a refund, which need no operator: at most 100
	Coverage      []status.TokenCoverage `json:"coverage"` // of each token

	report   status.Report
	settings []status.Condition
}

// Chain is the followed position of a chain, and its nodes' answers.
type Chain struct {
	ID       chain.ID   `json:"chain"`
	State    string     `json:"state"`           // following, halted, not started, or unknown: no process follows it
	Since    *time.Time `json:"since,omitempty"` // of an unknown state, where it was known before
	Read     uint64     `json:"read"`            // last block in the records
	Final    uint64     `json:"final"`           // last final block in the records
	Head     uint64     `json:"head"`            // newest block of the nodes; 0 where they do not answer
	HeadTime *time.Time `json:"headTime,omitempty"`
	Nodes    int        `json:"nodes"`
	NodesUp  int        `json:"nodesUp"`
	Fault    string     `json:"fault,omitempty"` // why the nodes gave no head
}

// Lease names the process that works on a chain. Without a chain it is the leading process, which
// works on all chains that have no lease of their own.
type Lease struct {
	Chain  chain.ID `json:"chain,omitempty"`
	Holder string   `json:"holder"` // its host and process id
	Epoch  uint64   `json:"epoch"`
}

// Leases returns the leases of the processes that work now.
func Leases(tx *records.Tx) (list []Lease, err error) {
	all, err := records.Leases(tx)
	for _, l := range all {
		if id, isChain := status.ChainOf(l.Role); l.Held && (isChain || l.Role == status.Role) {
			list = append(list, Lease{id, hostOf(l.Holder), l.Epoch})
		}
	}
	return append([]Lease{}, list...), err
}

// hostOf leaves out of a holder's name what only programs need.
func hostOf(holder string) string {
	parts := strings.SplitN(holder, "/", 3)
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// Channel is one direction of one token.
type Channel struct {
	Network   string            `json:"network"`
	Token     string            `json:"token"`
	Symbol    string            `json:"symbol"`
	Direction records.Direction `json:"direction"`
	Chain     chain.ID          `json:"chain"` // that it is paid on
	Asset     chain.Asset       `json:"asset"` // that it is paid in
	State     string            `json:"state"`
	Why       string            `json:"why,omitempty"`
	Holds     *chain.Amount     `json:"holds,omitempty"` // what the accounts that pay have; left out where the nodes do not answer
	Cold      *chain.Amount     `json:"cold,omitempty"`  // at the cold address; left out where there is none, or the nodes do not answer
	Pending   chain.Amount      `json:"pending"`         // payments to users that no block contains yet
	Waiting   uint64            `json:"waiting"`         // payments that are in no block yet
	Oldest    *time.Time        `json:"oldest,omitempty"`
	OldestID  uint64            `json:"oldestRecord,omitempty"` // the record of the oldest of them
	DayCount  uint64            `json:"dayPayments"`            // signed within the last day
	DayOut    chain.Amount      `json:"dayOut"`
	PerMinute float64           `json:"perMinute"`                   // payments, over the last ten minutes
	Possible  *uint64           `json:"possiblePerMinute,omitempty"` // by the settings, stake and blocks
	Runway    *float64          `json:"runwayHours,omitempty"`       // how long Holds lasts at the last day's flow; left out where more comes than goes
}

// Read asks the database and the nodes once.
func Read(ctx context.Context, d *Session) (Overview, error) {
	networks, err := d.Networks(ctx)
	if err != nil {
		return Overview{}, err
	}
	o := Overview{At: time.Now().UTC()}
	if err := d.Store.View(ctx, func(tx *records.Tx) error { return o.fromRecords(tx, d, networks) }); err != nil {
		return Overview{}, err
	}
	var balances []Balance
	var allowed map[ChannelID]Capacity
	var g errgroup.Group // nodes that do not answer are waited for once
	g.Go(func() (err error) { balances, err = Balances(ctx, d); return err })
	g.Go(func() (err error) { allowed, err = d.Capacities(ctx); return err })
	g.Go(func() error { return o.askNodes(ctx, d) })
	if err := g.Wait(); err != nil {
		return Overview{}, err
	}
	o.judge()
	for i := range o.Channels {
		c := &o.Channels[i]
		c.Holds, c.Cold = held(balances, *c, paying(*c)), held(balances, *c, records.KindCold)
		if a, ok := allowed[ChannelID{Network: c.Network, Token: c.Token, Direction: c.Direction}]; ok {
			c.Possible = a.PerMinute()
		}
	}
	return o, o.addRunways(networks)
}

// judge sets the headline, by what the records contain and by what the nodes have answered just
// now.
func (o *Overview) judge() {
	var pending uint64
	for _, c := range o.Channels {
		pending += c.Waiting
	}
	for _, c := range slices.Backward(o.Chains) { // the first one is the headline
		if c.Fault != "" {
			o.report.AddSilent(c.ID, c.Fault)
		}
	}
	for i := range o.Chains {
		o.Chains[i].doubt(o.report.Conditions)
	}
	o.State, o.Headline, o.Flows = o.report.State(pending), o.report.Headline(pending), o.report.Flows()
	o.Conditions, o.Blocked = append(append([]status.Condition{}, o.report.Conditions...), o.settings...), o.report.Blocked()
}

func (o *Overview) fromRecords(tx *records.Tx, d *Session, networks []records.Network) error {
	report, err := status.Read(tx, networks)
	if err != nil {
		return err
	}
	o.report = report
	if o.NeedsOperator, err = view.CountRecords(tx, view.Filter{NeedsOperator: true}); err != nil {
		return err
	}
	used, _, err := LimitsOf(tx)
	if err != nil {
		return err
	}
	o.Limits = append([]limits.Line{}, used.Lines...)
	if o.settings, err = settingConditions(tx); err != nil {
		return err
	}
	if o.Dust, err = countDust(tx); err != nil {
		return err
	}
	if o.Coverage, err = status.ReadCoverage(tx, networks, report.Conditions, o.At, d.Config.Watcher.ReconcileEvery()); err != nil {
		return err
	}
	for _, id := range d.Config.ChainIDs() {
		cur, err := tx.Chains().Cursor(id)
		if err != nil {
			return err
		}
		o.Chains = append(o.Chains, chainOf(cur))
	}
	if o.Leases, err = Leases(tx); err != nil {
		return err
	}
	queues := map[string]sums{}
	for _, c := range report.Channels {
		row, err := o.channelOf(tx, d, networks, c, queues)
		if err != nil {
			return err
		}
		o.Channels = append(o.Channels, row)
	}
	return nil
}

// countDust counts withdrawals that were too small for a refund and have none. The bound is low:
// strangers can send many.
func countDust(tx *records.Tx) (int, error) {
	refused, _ := choicesOf("refused")
	list, err := view.Records(tx, view.Filter{Reason: records.ReasonDust, Outcomes: refused, Limit: 100})
	return len(list), err
}

func chainOf(cur records.Cursor) Chain {
	c := Chain{ID: cur.Chain, State: "following", Read: cur.Height, Final: cur.Final.Height}
	switch {
	case cur.Missing:
		c.State = "not started"
	case cur.Halted:
		c.State = "halted"
	}
	return c
}

// doubt replaces the last state in the records where no process follows the chain: it may have
// changed since.
func (c *Chain) doubt(conditions []status.Condition) {
	if x := status.Unfollowed(conditions, c.ID); x != nil && c.State == "following" {
		c.State, c.Since = "unknown", timeOrNil(x.Since)
	}
}

// sums contains the pending and the paid amounts of accounts, by asset.
type sums struct {
	waiting, day, recent map[chain.Asset]books.AssetSum
}

func (o *Overview) channelOf(tx *records.Tx, d *Session, networks []records.Network, c status.Channel, known map[string]sums) (Channel, error) {
	row := Channel{Network: c.Network, Token: c.Token, Symbol: d.Config.Symbol(c.Network, c.Token), Direction: c.Direction, State: c.State(), Why: c.Why()}
	n, t := tokenOf(networks, c.Network, c.Token)
	row.Chain, row.Asset = n.Exchange, chain.Asset(t.TokenID)
	if c.Direction == records.Withdrawal {
		row.Chain, row.Asset = n.Source, t.Asset
	}
	key := n.Name + " " + string(row.Chain)
	if _, ok := known[key]; !ok {
		all, err := o.sumsOf(tx, row.Chain, n.Paying(row.Chain))
		if err != nil {
			return Channel{}, err
		}
		known[key] = all
	}
	waiting, day := known[key].waiting[row.Asset], known[key].day[row.Asset]
	row.Pending, row.Waiting, row.DayCount, row.DayOut = waiting.Amount, waiting.Count, day.Count, day.Amount
	if waiting.Count > 0 {
		row.Oldest = &waiting.Oldest
		for _, account := range n.Paying(row.Chain) {
			id, at, err := books.OldestPending(tx, row.Chain, account, row.Asset)
			if err != nil {
				return Channel{}, err
			}
			if id > 0 && at.Equal(waiting.Oldest) {
				row.OldestID = id
			}
		}
	}
	row.PerMinute = float64(known[key].recent[row.Asset].Count) / rateSpan.Minutes()
	return row, nil
}

func tokenOf(networks []records.Network, network, token string) (records.Network, records.Token) {
	for _, n := range networks {
		for _, t := range n.Tokens {
			if n.Name == network && t.TokenID == token {
				return n, t
			}
		}
	}
	return records.Network{}, records.Token{}
}

func (o *Overview) sumsOf(tx *records.Tx, id chain.ID, accounts []string) (s sums, err error) {
	s = sums{map[chain.Asset]books.AssetSum{}, map[chain.Asset]books.AssetSum{}, map[chain.Asset]books.AssetSum{}}
	for _, a := range accounts {
		for _, part := range []struct {
			into map[chain.Asset]books.AssetSum
			read func() ([]books.AssetSum, error)
		}{
			{s.waiting, func() ([]books.AssetSum, error) { return books.Backlog(tx, id, a) }},
			{s.day, func() ([]books.AssetSum, error) { return books.SignedSince(tx, id, a, o.At.Add(-flowSpan)) }},
			{s.recent, func() ([]books.AssetSum, error) { return books.SignedSince(tx, id, a, o.At.Add(-rateSpan)) }},
		} {
			list, err := part.read()
			if err != nil {
				return s, err
			}
			for _, x := range list {
				if part.into[x.Asset], err = joined(part.into[x.Asset], x); err != nil {
					return s, err
				}
			}
		}
	}
	return s, nil
}

func joined(a, b books.AssetSum) (books.AssetSum, error) {
	amount, err := a.Amount.Add(b.Amount)
	if a.Count > 0 && a.Oldest.Before(b.Oldest) {
		b.Oldest = a.Oldest
	}
	return books.AssetSum{Asset: b.Asset, Count: a.Count + b.Count, Amount: amount, Oldest: b.Oldest}, err
}

// askNodes asks all chains concurrently.
func (o *Overview) askNodes(ctx context.Context, d *Session) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var g errgroup.Group
	for i := range o.Chains {
		c := &o.Chains[i]
		configured, _ := d.Config.Chain(c.ID)
		adapter, err := configured.Open(nil, nil)
		if err != nil {
			return err
		}
		g.Go(func() error {
			defer adapter.Close()
			c.read(ctx, adapter)
			return nil
		})
	}
	return g.Wait()
}

func (c *Chain) read(ctx context.Context, adapter chain.Chain) {
	head, err := adapter.Head(ctx)
	if err != nil {
		c.Fault = chain.PlainError(err)
	} else {
		c.Head = head.Latest.Height
		if !head.Time.IsZero() {
			c.HeadTime = &head.Time
		}
	}
	if w := chain.CapabilitiesOf(adapter).Nodes; w != nil {
		for _, n := range w.Nodes() {
			c.Nodes++
			if n.Up {
				c.NodesUp++
			}
		}
	}
}
