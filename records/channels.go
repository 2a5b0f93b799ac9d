package records

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gatewayd/records/sqlstore"
)

// Names of channel states, worst last.
const (
	ChannelOpen     = "OPEN"
	ChannelMaintain = "MAINTAIN"
	ChannelClosed   = "CLOSED"
)

// Channel is the state of a token in one direction on a network. The operators' state and the
// daemon's are stored separately: neither overwrites the other
// (docs/gateway-api.md#channel-states).
type Channel struct {
	Network   string    `db:"network"`
	Token     string    `db:"token"`
	Direction Direction `db:"direction"`
	Operator  string    `db:"operator"`
	Automatic string    `db:"automatic"`
	Why       string    // of the automatic flag while that is not OPEN, else the operator's
	ChangedAt time.Time
}

// State is the worse of both.
func (c Channel) State() string {
	switch {
	case c.Operator == ChannelClosed:
		return ChannelClosed
	case c.Operator == ChannelMaintain || c.Automatic == ChannelMaintain:
		return ChannelMaintain
	}
	return ChannelOpen
}

type channelRow struct {
	Channel
	OperatorWhy  string `db:"operator_why"`
	AutomaticWhy string `db:"automatic_why"`
	ChangedAt    int64  `db:"changed_at"`
}

const channelColumns = `network, token, direction, operator, automatic, operator_why, automatic_why, changed_at`

func (r channelRow) channel() Channel {
	c := r.Channel
	c.Why, c.ChangedAt = r.OperatorWhy, sqlstore.TimeOrZero(r.ChangedAt)
	if r.Automatic != ChannelOpen {
		c.Why = r.AutomaticWhy
	}
	return c
}

// ChannelOf returns a channel; one that was never set is open.
func ChannelOf(tx *Tx, network, token string, d Direction) (Channel, error) {
	r, err := readChannel(tx, network, token, d)
	return r.channel(), sqlstore.Doing(err, "reading the channel %s %s %s", network, token, d)
}

func readChannel(tx *Tx, network, token string, d Direction) (channelRow, error) {
	r := channelRow{Channel: Channel{Network: network, Token: token, Direction: d, Operator: ChannelOpen, Automatic: ChannelOpen}}
	_, err := tx.SQL().Get(&r, `SELECT `+channelColumns+` FROM channels WHERE network = ? AND token = ? AND direction = ?`, network, token, string(d))
	return r, err
}

// SetChannel stores an operator's setting: OPEN, MAINTAIN or CLOSED. An empty actor is the
// transaction's.
func SetChannel(tx *Tx, network, token string, d Direction, operator, why, actor string) error {
	if operator != ChannelOpen && operator != ChannelMaintain && operator != ChannelClosed {
		return fmt.Errorf("channel state %q: must be OPEN, MAINTAIN or CLOSED", operator)
	}
	return setChannel(tx, network, token, d, actor, func(r *channelRow) { r.Operator, r.OperatorWhy = operator, sqlstore.Note(why) })
}

// SetAutomatic stores what the daemon found: OPEN or MAINTAIN.
func SetAutomatic(tx *Tx, network, token string, d Direction, state, why string) error {
	if state != ChannelOpen && state != ChannelMaintain {
		return fmt.Errorf("automatic channel state %q: must be OPEN or MAINTAIN", state)
	}
	return setChannel(tx, network, token, d, "", func(r *channelRow) {
		if r.Automatic != state { // the first cause is the one to show
			r.Automatic, r.AutomaticWhy = state, sqlstore.Note(why)
		}
	})
}

// SetByCheck sets the automatic state of a channel as a check has found it. The check's causes
// begin with prefix: a state that another check or an operator has set stays. changed reports
// whether the channel was in the other state before.
func SetByCheck(tx *Tx, network, token string, d Direction, prefix, want, why string) (changed bool, err error) {
	c, err := ChannelOf(tx, network, token, d)
	ours := c.Automatic == ChannelOpen || strings.HasPrefix(c.Why, prefix)
	if err != nil || !ours || c.Automatic == want {
		return false, err
	}
	return true, SetAutomatic(tx, network, token, d, want, why)
}

// StopChannel stops a channel for a cause that only an operator can end. It replaces a cause that
// would end automatically.
func StopChannel(tx *Tx, network, token string, d Direction, why string) error {
	return setChannel(tx, network, token, d, "", func(r *channelRow) { r.Automatic, r.AutomaticWhy = ChannelMaintain, sqlstore.Note(why) })
}

// setChannel writes a changed channel. Nothing is written when nothing changes, so that a loop may
// set the same again.
func setChannel(tx *Tx, network, token string, d Direction, actor string, set func(*channelRow)) error {
	if d != Deposit && d != Withdrawal {
		return errors.New("channel direction: must be deposit or withdrawal")
	}
	r, err := readChannel(tx, network, token, d)
	if err != nil {
		return fmt.Errorf("reading the channel %s %s %s: %w", network, token, d, err)
	}
	before := r
	set(&r)
	if r == before {
		return nil
	}
	r.ChangedAt = tx.millis()
	_, err = tx.execNamed(`INSERT INTO channels (`+channelColumns+`) `+sqlstore.NamedValues(channelColumns)+`
		ON CONFLICT (network, token, direction) DO UPDATE SET operator = excluded.operator, automatic = excluded.automatic,
		operator_why = excluded.operator_why, automatic_why = excluded.automatic_why, changed_at = excluded.changed_at`, r)
	if err != nil {
		return fmt.Errorf("setting the channel %s %s %s: %w", network, token, d, err)
	}
	return tx.Log(Event{
		Actor: actor, Subject: "channel", SubjectID: fmt.Sprintf("%s/%s/%s", network, token, d), Event: r.channel().State(),
		Detail: "operator " + because(r.Operator, r.OperatorWhy) + ", automatic " + because(r.Automatic, r.AutomaticWhy),
	})
}

// because is a state with its reason, if it has one.
func because(state, why string) string {
	if why == "" {
		return state
	}
	return state + " (" + why + ")"
}
