package records

import (
	"errors"
	"fmt"
	"time"
)

// Names of channel states, worst last (spec: channel states).
const (
	ChannelOpen     = "OPEN"
	ChannelMaintain = "MAINTAIN"
	ChannelClosed   = "CLOSED"
)

// Channel is whether a token may go one way on a network. What operators say and what the daemon found are kept apart: neither overwrites
// the other (facts/gateway.md 5.4).
type Channel struct {
	Network   string
	Token     string
	Direction Direction
	Operator  string
	Automatic string
	Why       string // of the last change
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
	Network   string `db:"network"`
	Token     string `db:"token"`
	Direction string `db:"direction"`
	Operator  string `db:"operator"`
	Automatic string `db:"automatic"`
	Why       string `db:"why"`
	ChangedAt int64  `db:"changed_at"`
}

const channelColumns = `network, token, direction, operator, automatic, why, changed_at`

func (r channelRow) channel() Channel {
	return Channel{r.Network, r.Token, Direction(r.Direction), r.Operator, r.Automatic, r.Why, fromMillis(r.ChangedAt)}
}

// Channel answers a channel; one that was never set is open.
func (tx *Tx) Channel(network, token string, d Direction) (Channel, error) {
	var r channelRow
	found, err := tx.get(&r, `SELECT `+channelColumns+` FROM channels WHERE network = ? AND token = ? AND direction = ?`, network, token, string(d))
	if err != nil {
		return Channel{}, fmt.Errorf("reading the channel %s %s %s: %w", network, token, d, err)
	}
	if !found {
		return Channel{Network: network, Token: token, Direction: d, Operator: ChannelOpen, Automatic: ChannelOpen}, nil
	}
	return r.channel(), nil
}

// Channels answers all channels that were ever set.
func (tx *Tx) Channels() ([]Channel, error) {
	var rows []channelRow
	if err := tx.list(&rows, `SELECT `+channelColumns+` FROM channels ORDER BY network, token, direction`); err != nil {
		return nil, fmt.Errorf("reading the channels: %w", err)
	}
	out := make([]Channel, len(rows))
	for i, r := range rows {
		out[i] = r.channel()
	}
	return out, nil
}

// SetChannel stores what an operator says: OPEN, MAINTAIN or CLOSED.
func (tx *Tx) SetChannel(network, token string, d Direction, operator, why, actor string) error {
	if operator != ChannelOpen && operator != ChannelMaintain && operator != ChannelClosed {
		return fmt.Errorf("channel state %q: OPEN, MAINTAIN or CLOSED is wanted", operator)
	}
	return tx.setChannel(network, token, d, actor, why, func(c *Channel) { c.Operator = operator })
}

// SetAutomatic stores what the daemon found: OPEN or MAINTAIN.
func (tx *Tx) SetAutomatic(network, token string, d Direction, state, why string) error {
	if state != ChannelOpen && state != ChannelMaintain {
		return fmt.Errorf("automatic channel state %q: OPEN or MAINTAIN is wanted", state)
	}
	return tx.setChannel(network, token, d, "", why, func(c *Channel) { c.Automatic = state })
}

// setChannel writes a changed channel. Nothing is written when nothing changes, so that a loop may set the same again.
func (tx *Tx) setChannel(network, token string, d Direction, actor, why string, set func(*Channel)) error {
	if d != Deposit && d != Withdrawal {
		return errors.New("channel direction: deposit or withdrawal is wanted")
	}
	c, err := tx.Channel(network, token, d)
	if err != nil {
		return err
	}
	before := c
	set(&c)
	if c == before {
		return nil
	}
	_, err = tx.exec(`INSERT INTO channels (`+channelColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (network, token, direction) DO UPDATE SET operator = excluded.operator, automatic = excluded.automatic,
		why = excluded.why, changed_at = excluded.changed_at`, network, token, string(d), c.Operator, c.Automatic, note(why), tx.millis())
	if err != nil {
		return fmt.Errorf("setting the channel %s %s %s: %w", network, token, d, err)
	}
	return tx.Log(Event{
		Actor: actor, Subject: "channel", SubjectID: fmt.Sprintf("%s/%s/%s", network, token, d), Event: c.State(),
		Detail: fmt.Sprintf("operator %s, automatic %s: %s", c.Operator, c.Automatic, why),
	})
}
