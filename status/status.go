// Package status decides whether payouts and credits flow, and if not why. Every surface asks it:
// the gateway's pages and its health, the operators' commands, metrics, alerts and the console.
//
// Conditions in rows (halted chains, stopped accounts, channels, late payments) are read on
// request. The Monitor of the running daemon writes down its own knowledge (nodes, loops) every ten
// seconds, together with a heartbeat, so that commands and other processes report the same. Nothing
// is cached: a condition ends as soon as its cause does.
//
//	nodes, cursors ──Monitor──▶ conditions, heartbeat ─┐
//	halted chains, accounts, channels, payments ───────┴─Read──▶ Report ──▶ every surface
package status

import (
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// Kind names a condition. The names are the same in JSON, logs and docs/operations/alerts.md, which
// has the instructions for each; outsiders may see them.
type Kind string

// What keeps money from moving.
const (
	StoreDown      Kind = "store_down"        // the database does not answer
	DaemonDown     Kind = "daemon_down"       // no daemon has worked on the database for some seconds
	SignerAway     Kind = "signer_away"       // the signer does not answer, or is another one than the records go with
	ChainHalted    Kind = "chain_halted"      // the chain changed below a final block
	NodesDown      Kind = "nodes_unreachable" // too few of the nodes answer
	NodesDisagree  Kind = "nodes_disagree"    // they answer, and no majority agrees
	NodesStale     Kind = "nodes_stale"       // the latest block is too old
	FollowerStuck  Kind = "follower_stuck"    // the nodes advance and the records do not
	FollowerBehind Kind = "follower_behind"   // the records are behind the nodes, and catch up
	AccountStopped Kind = "account_stopped"   // an account that pays is halted or recovering
	NoFunds        Kind = "no_funds"          // the accounts that pay a token hold less than its smallest payment
	NoCoin         Kind = "no_coin"           // a paying account holds too little coin for the fees of its payouts
	NoQuota        Kind = "no_quota"          // no account of the gateway has a stake that pays for a credit
	PaymentRefused Kind = "payment_refused"   // the nodes refuse a signed transaction; it stops money if it is the next of a paying account
	FeesTooHigh    Kind = "fees_too_high"     // every payout would cost more than it may
	ChannelStopped Kind = "channel_stopped"   // the daemon found a reason to stop the channel: a shortage, books that do not fit
)

// What an operator should know before it does.
const (
	NodeFaulty    Kind = "node_faulty"    // one of several nodes is down, lies or is left out
	NodeMended    Kind = "node_mended"    // one of several nodes was wrong not long ago, and is right again
	TracingLost   Kind = "tracing_lost"   // no node traces blocks any more; with traces "on" that stops the chain
	FundsUnswept  Kind = "funds_unswept"  // payments wait for deposits to be swept
	FeesHigh      Kind = "fees_high"      // some payouts would cost more than they may, and wait
	PaymentsLate  Kind = "payments_late"  // a payment has waited for longer than it should
	AccountIdle   Kind = "account_idle"   // an account that pays no user is halted or recovering
	ChannelClosed Kind = "channel_closed" // an operator has set the channel to MAINTAIN or CLOSED
	NotTold       Kind = "not_told"       // a receiver of conditions or records does not accept them
	ConfigRefused Kind = "config_refused" // the configuration was to be read again and is wrong: the one before stays

	LimitReached    Kind = "limit_reached"    // a limit of the signer is used up or nearly so, or holds payments
	ApprovalsWanted Kind = "approvals_wanted" // payments wait for people to approve them
	PaymentsListed  Kind = "payments_listed"  // payments are held because of a list of addresses
	PaymentsHeld    Kind = "payments_held"    // the signer holds payments that nothing proves, or has refused some
	HotBelow        Kind = "hot_below"        // the hot accounts have less of a token than hot_min
	HotAbove        Kind = "hot_above"        // the hot accounts have more of a token than hot_max
	// a list, the screening service or a price that the signer checks by is not there, or balances
	// cannot be compared
	ChecksFail Kind = "checks_fail"
)

// Kinds are all that a condition can be, those that stop money first.
func Kinds() []Kind {
	return []Kind{
		StoreDown, DaemonDown, SignerAway, ChainHalted, NodesDown, NodesDisagree, NodesStale, FollowerStuck, FollowerBehind, AccountStopped,
		NoFunds, NoCoin, NoQuota, PaymentRefused, FeesTooHigh, ChannelStopped,
		NodeFaulty, NodeMended, TracingLost, FundsUnswept, FeesHigh, PaymentsLate, AccountIdle, ChannelClosed, NotTold, ConfigRefused,
		LimitReached, ApprovalsWanted, PaymentsListed, PaymentsHeld, HotBelow, HotAbove, ChecksFail,
	}
}

// Condition is one deviation from the normal state. Empty fields mean all: every network on the
// chain, every token of the network, both directions.
type Condition struct {
	Kind      Kind              `json:"kind"`
	Chain     chain.ID          `json:"chain,omitempty"`
	Network   string            `json:"network,omitempty"`
	Token     string            `json:"token,omitempty"`
	Direction records.Direction `json:"direction,omitempty"`
	Subject   string            `json:"subject,omitempty"` // account or node
	Detail    string            `json:"detail"`            // a sentence for operators; not for strangers
	Since     time.Time         `json:"since,omitzero"`
	Stops     bool              `json:"stops"` // money does not move because of it
}

// hits reports whether the condition is about a channel.
func (c Condition) hits(n records.Network, token string, d records.Direction) bool {
	return (c.Chain == "" || c.Chain == n.Source || c.Chain == n.Exchange) && (c.Network == "" || c.Network == n.Name) &&
		(c.Token == "" || c.Token == token) && (c.Direction == "" || c.Direction == d)
}

// Channel is the combined state of a token in one direction on a network: the operators' state, the
// daemon's, and the present obstacles.
type Channel struct {
	records.Channel
	Conditions []Condition // that stop it, and are not its own flag
}

// Automatic is the state required by the daemon's flag and the conditions alone.
func (c Channel) Automatic() string {
	if len(c.Conditions) > 0 {
		return records.ChannelMaintain
	}
	return c.Channel.Automatic
}

// State is the worst of all.
func (c Channel) State() string {
	if s := c.Channel.State(); s != records.ChannelOpen || len(c.Conditions) == 0 {
		return s
	}
	return records.ChannelMaintain
}

// Why returns the reasons of the state for operators, the daemon's own flag or the operator's
// reason first.
func (c Channel) Why() string {
	var all []string
	if c.Channel.Why != "" {
		all = append(all, c.Channel.Why)
	}
	for _, x := range c.Conditions {
		all = append(all, x.Detail)
	}
	return strings.Join(all, "; ")
}

// Report is the state of the gateway.
type Report struct {
	Conditions []Condition `json:"conditions"` // those that stop something first
	Channels   []Channel   `json:"-"`
}

// Flows is true when all money moves that operators let move.
func (r Report) Flows() bool { return !slices.ContainsFunc(r.Conditions, stops) }

func stops(c Condition) bool { return c.Stops }

// Down is the report where the store does not answer, or not in time.
func Down() Report {
	return Report{Conditions: []Condition{{Kind: StoreDown, Detail: "the database does not answer", Stops: true}}}
}
