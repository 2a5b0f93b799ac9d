package operator

import (
	"fmt"
	"strings"
	"time"

	"gatewayd/config"
	"gatewayd/gateway"
	"gatewayd/records"
	"gatewayd/status"
)

// ChannelRow is one line of `channel list --json`.
type ChannelRow struct {
	Network   string `json:"network"`
	Token     string `json:"token"`
	Symbol    string `json:"symbol"`
	Direction string `json:"direction"`
	State     string `json:"state"`
	Operator  string `json:"operator"`
	Automatic string `json:"automatic"`
	Why       string `json:"why"`
	Changed   string `json:"changed,omitempty"`

	Allows *Capacity `json:"allows,omitempty"` // left out where the nodes do not answer
}

// AllowsText is the column.
func (r ChannelRow) AllowsText() string {
	if r.Allows == nil {
		return "unknown"
	}
	return r.Allows.String()
}

func ChannelRows(tx *records.Tx, cfg config.Config) (list []ChannelRow, err error) {
	full, err := bindingsFull(tx, cfg)
	if err != nil {
		return nil, err
	}
	networks, err := Networks(tx, cfg)
	if err != nil {
		return nil, err
	}
	report, err := status.Read(tx, networks)
	if err != nil {
		return nil, err
	}
	for _, c := range report.Channels {
		row := ChannelRow{
			Network: c.Network, Token: c.Token, Symbol: cfg.Symbol(c.Network, c.Token), Direction: string(c.Direction),
			State: c.State(), Operator: c.Operator, Automatic: c.Automatic(), Why: c.Why(),
		}
		for _, x := range report.Conditions {
			if some := x.Kind == status.FeesHigh && x.Network == c.Network && x.Token == c.Token && x.Direction == c.Direction; some && row.Why == "" {
				row.Why = x.Detail
			}
		}
		if !c.ChangedAt.IsZero() {
			row.Changed = c.ChangedAt.UTC().Format(time.RFC3339)
		}
		if c.Direction == records.Deposit {
			row.Why = alsoBecause(row.Why, full)
		}
		list = append(list, row)
	}
	return list, nil
}

// bindingsFull returns the reason why no new user may deposit at the moment; empty without one.
// Known users are served, so the channel does not change.
func bindingsFull(tx *records.Tx, cfg config.Config) (string, error) {
	most := cfg.Gateway.BindingsPerDay()
	next, err := tx.Bindings().Next(most, gateway.BindingsSpan)
	if err != nil || !next.After(time.Now()) {
		return "", err
	}
	return fmt.Sprintf("no new users until %s: %d deposit addresses were created within a day, the limit gateway.new_bindings_per_day",
		next.UTC().Format(time.RFC3339), most), nil
}

// alsoBecause adds a reason to another.
func alsoBecause(why, also string) string {
	if why == "" || also == "" {
		return why + also
	}
	return why + "; " + also
}

// FindToken finds a token of a network by id or symbol.
func FindToken(c config.Config, network, name string) (string, error) {
	for _, n := range c.Networks {
		if n.Name != network {
			continue
		}
		for _, t := range n.Tokens {
			if t.Token == name || t.Symbol == name {
				return t.Token, nil
			}
		}
		return "", Usagef("network %s has no token %q: `gatewayd channel list` shows them", network, name)
	}
	return "", Usagef("there is no network %q: must be one of %s", network, strings.Join(c.NetworkNames(), ", "))
}

// ChannelChange sets the operator's state of a channel.
type ChannelChange struct {
	Network, Token string // a token id
	Direction      records.Direction
	State          string
	Why            string
	Clear          bool // the automatic state too
}

// Check names what is wrong.
func (c ChannelChange) Check() error {
	if c.Direction != records.Deposit && c.Direction != records.Withdrawal {
		return Usagef("direction %q: must be deposit or withdrawal", c.Direction)
	}
	if c.State != "OPEN" && c.State != "MAINTAIN" && c.State != "CLOSED" {
		return Usagef("state %q: must be OPEN, MAINTAIN or CLOSED", c.State)
	}
	return nil
}

// Apply sets it and answers how the channel is then.
func (c ChannelChange) Apply(tx *records.Tx) (records.Channel, error) {
	if err := records.SetChannel(tx, c.Network, c.Token, c.Direction, c.State, c.Why, ""); err != nil {
		return records.Channel{}, err
	}
	if c.Clear {
		if err := records.SetAutomatic(tx, c.Network, c.Token, c.Direction, "OPEN", ""); err != nil {
			return records.Channel{}, err
		}
	}
	return records.ChannelOf(tx, c.Network, c.Token, c.Direction)
}
