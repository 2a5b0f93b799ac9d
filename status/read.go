package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

const (
	// Role is the lease and the heartbeat of the daemon that leads.
	Role = "daemon"
	// chainRole begins those of the work on one chain.
	chainRole = "chain:"
	// beatEvery is the time between two signs of life of the daemon.
	beatEvery = time.Second
	// alive is the maximum age of the last heartbeat.
	alive = 5 * beatEvery
)

// ChainRole is the lease and the heartbeat of the work on a chain.
func ChainRole(id chain.ID) string { return chainRole + string(id) }

// ChainOf is the chain of a role; false for others.
func ChainOf(role string) (chain.ID, bool) {
	id, is := strings.CutPrefix(role, chainRole)
	return chain.ID(id), is
}

// Read returns the state of all networks, at the transaction's moment.
func Read(tx *records.Tx, networks []records.Network) (r Report, err error) {
	for _, n := range networks {
		found, err := blocking(tx, n)
		if err != nil {
			return Report{}, err
		}
		r.add(found...)
		channels, err := channelsOf(tx, n, found)
		if err != nil {
			return Report{}, err
		}
		r.Channels = append(r.Channels, channels...)
	}
	for _, c := range r.Channels {
		r.add(flags(c)...)
	}
	overdue, err := late(tx, networks)
	r.add(overdue...)
	slices.SortStableFunc(r.Conditions, func(a, b Condition) int { return rank(a) - rank(b) })
	return r, err
}

func rank(c Condition) int {
	if c.Stops {
		return 0
	}
	return 1
}

// add leaves out conditions that are in the report already: networks share chains.
func (r *Report) add(all ...Condition) {
	for _, c := range all {
		if !slices.Contains(r.Conditions, c) {
			r.Conditions = append(r.Conditions, c)
		}
	}
}

// ReadChannel returns the state of one channel, at the cost of a few rows.
func ReadChannel(tx *records.Tx, n records.Network, token string, d records.Direction) (Channel, error) {
	found, err := blocking(tx, n)
	if err != nil {
		return Channel{}, err
	}
	return channelOf(tx, n, token, d, found)
}

func channelsOf(tx *records.Tx, n records.Network, found []Condition) (list []Channel, err error) {
	for _, t := range n.Tokens {
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			c, err := channelOf(tx, n, t.TokenID, d, found)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
		}
	}
	return list, nil
}

func channelOf(tx *records.Tx, n records.Network, token string, d records.Direction, found []Condition) (Channel, error) {
	set, err := records.ChannelOf(tx, n.Name, token, d)
	if err != nil {
		return Channel{}, err
	}
	c := Channel{Channel: set, network: n}
	for _, x := range found {
		if x.Stops && x.hits(n, token, d) {
			c.Conditions = append(c.Conditions, x)
		}
	}
	return c, nil
}

// flags turns the stored flags of a channel into conditions: the daemon's own stops money, an
// operator's is known to him.
func flags(c Channel) []Condition {
	one := Condition{Network: c.Network, Token: c.Token, Direction: c.Direction, Detail: c.Channel.Why, Since: c.ChangedAt}
	switch {
	case c.Channel.Automatic != records.ChannelOpen:
		one.Kind, one.Stops = ChannelStopped, true
	case c.Operator != records.ChannelOpen:
		one.Kind, one.Detail = ChannelClosed, "an operator has set it to "+c.Operator
		if c.Channel.Why != "" {
			one.Detail += ": " + c.Channel.Why
		}
	default:
		return nil
	}
	return []Condition{one}
}

// blocking returns what keeps money of a network from moving, but for the channels' own flags.
func blocking(tx *records.Tx, n records.Network) ([]Condition, error) {
	beats, err := records.LastBeats(tx, Role, ChainRole(n.Source), ChainRole(n.Exchange))
	if err != nil {
		return nil, err
	}
	beat, ever := beats[Role]
	found, running := daemonDown(beat, ever)
	if running { // the conditions of a dead daemon are out of date
		if found, err = told(tx, n); err != nil {
			return nil, err
		}
	}
	for _, id := range []chain.ID{n.Source, n.Exchange} {
		if running {
			beat, ever := beats[ChainRole(id)]
			found = append(found, chainDown(id, beat, ever)...)
		}
		more, err := stored(tx, n, id)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	for _, id := range []chain.ID{n.Source, n.Exchange} {
		waits, err := waiting(tx, n, id)
		if err != nil {
			return nil, err
		}
		found = append(found, unless(found, NoCoin, waits)...)
	}
	return found, nil
}

// unless removes from more the conditions that found already covers for complete networks.
func unless(found []Condition, k Kind, more []Condition) []Condition {
	if !slices.ContainsFunc(found, func(c Condition) bool { return c.Kind == k }) {
		return more
	}
	return slices.DeleteFunc(more, func(c Condition) bool { return c.Kind == k })
}

// waiting returns the payers' notes on payments that they tried and delay. The account cannot pay
// the fee of the next one, fees are too high, the signer is behind, or nodes cannot answer for one
// asset. They retry automatically.
func waiting(tx *records.Tx, n records.Network, id chain.ID) (found []Condition, err error) {
	direction := records.Withdrawal
	if id == n.Exchange {
		direction = records.Deposit
	}
	all, err := records.Waits(tx, n.Name, id)
	for _, w := range all {
		c := Condition{Chain: id, Network: n.Name, Token: w.Token, Direction: direction, Subject: w.Account, Stops: true}
		switch {
		case w.Reason == records.WaitsSigner:
			c.Kind, c.Stops = PaymentsLate, false
			c.Detail = fmt.Sprintf("%d payments of %s on %s wait for the signer, which cannot verify them yet; the history of each shows the reason", w.Count, w.Account, id)
		case w.Reason == records.WaitsAsset:
			c.Kind, c.Stops = PaymentsLate, false
			c.Detail = fmt.Sprintf("payments of %s on %s wait: the nodes do not report the balance of account %s or the cost, or it is no longer configured; the history of each shows the reason", w.Token, id, w.Account)
		case w.Reason == records.WaitsTokenLimit:
			c.Kind, c.Stops = PaymentsLate, false
			c.Detail = fmt.Sprintf("the token of %d payments of %s on %s refuses their amounts from account %s to any payee: lower max_withdraw, and wait or refund them (`gatewayd records reject ID --why …`)", w.Count, w.Token, id, w.Account)
		case w.Reason == records.WaitsNoCoin:
			c.Kind = NoCoin
			c.Detail = fmt.Sprintf("account %s on %s holds too little coin for the fees of its payouts: top it up", w.Account, id)
		case w.All:
			c.Kind = FeesTooHigh
			c.Detail = fmt.Sprintf("fees on %s are above the limits of payouts (fee.ceiling, max_fee_gwei or max_fee_rate): payouts continue when fees fall", id)
		default:
			c.Kind, c.Stops = FeesHigh, false
			c.Detail = fmt.Sprintf("fees on %s are above the limits of %d payouts (fee.ceiling): they are sent when fees fall", id, w.Count)
		}
		found = append(found, c)
	}
	return found, err
}

func daemonDown(beat records.Heartbeat, ever bool) (found []Condition, running bool) {
	switch {
	case !ever:
		return []Condition{{Kind: DaemonDown, Detail: "the daemon has never run with this database", Stops: true}}, false
	case beat.Age > alive:
		return []Condition{{Kind: DaemonDown, Detail: "the daemon does not answer", Since: beat.At.Truncate(time.Second), Stops: true}}, false
	}
	return nil, true
}

// chainDown reports a chain that no process works on, while another one leads. A version that led
// before there were leases of chains has stored no heartbeat of them.
func chainDown(id chain.ID, beat records.Heartbeat, ever bool) []Condition {
	if !ever || beat.Age <= alive {
		return nil
	}
	return []Condition{{
		Kind: DaemonDown, Chain: id, Since: beat.At.Truncate(time.Second), Stops: true,
		Detail: fmt.Sprintf("no process follows and pays on chain %s: start one that may, see --chains", id),
	}}
}

// told returns the running daemon's conditions of a network.
func told(tx *records.Tx, n records.Network) (found []Condition, err error) {
	all, err := records.Conditions(tx)
	for _, c := range all {
		if (c.Chain == "" || c.Chain == n.Source || c.Chain == n.Exchange) && (c.Network == "" || c.Network == n.Name) {
			found = append(found, conditionOf(c))
		}
	}
	return found, err
}

func conditionOf(c records.Condition) Condition {
	return Condition{
		Kind: Kind(c.Kind), Chain: c.Chain, Network: c.Network, Token: c.Token, Direction: c.Direction, Subject: c.Subject, Detail: c.Detail, Since: c.Since, Stops: c.Stops,
	}
}

// stored returns the rows' conditions of a chain of a network: whether it is halted, and which of
// its paying accounts are.
func stored(tx *records.Tx, n records.Network, id chain.ID) (found []Condition, err error) {
	cur, err := tx.Chains().Cursor(id)
	if err != nil {
		return nil, err
	}
	if cur.Halted {
		halted, err := haltedChain(tx, cur)
		if err != nil {
			return nil, err
		}
		found = append(found, halted)
	}
	stopped, err := tx.Accounts().StoppedOwn(id)
	for _, a := range stopped {
		if a.Network == n.Name {
			found = append(found, stoppedAccount(a, n.Pays(id, a.Account)))
		}
	}
	return found, err
}

// haltedChain has our final block even where an older version halted the chain without storing
// blocks.
func haltedChain(tx *records.Tx, cur records.Cursor) (c Condition, err error) {
	c = Condition{Kind: ChainHalted, Chain: cur.Chain, Detail: fmt.Sprintf("chain %s is halted: %s", cur.Chain, cur.Why), Stops: true}
	c.Halt, c.Since, err = tx.Chains().LastHalt(cur.Chain)
	if c.Halt.Ours == "" {
		c.Halt.Height, c.Halt.Ours = cur.Final.Height, cur.Final.Hash
	}
	return c, err
}

// stoppedAccount blocks the account's payments. One of several does too: it is unknown beforehand
// which user's payment falls to it. A retired one gets none.
func stoppedAccount(a records.Account, pays bool) Condition {
	c := Condition{
		Kind: AccountStopped, Chain: a.Chain, Network: a.Network, Subject: a.Account, Stops: true,
		Detail: fmt.Sprintf("%s account %s on %s is %s: %s", a.Kind, a.Account, a.Chain, a.State, a.Why),
	}
	switch {
	case a.Kind == records.KindHot && pays:
		c.Direction = records.Withdrawal
	case a.Kind == records.KindGateway && pays:
		c.Direction = records.Deposit
	default:
		c.Kind, c.Stops = AccountIdle, false
	}
	return c
}
