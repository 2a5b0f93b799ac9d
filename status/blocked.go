package status

import (
	"slices"

	"gatewayd/records"
)

// BlockedToken is a token with payments that conditions block, although operators let them move.
type BlockedToken struct {
	Network    string              `json:"network"`
	Token      string              `json:"token"`
	Symbol     string              `json:"symbol"`
	Directions []records.Direction `json:"directions"`
	Reasons    []Kind              `json:"reasons"`
}

// Allowed is true while operators let payments of the channel move.
func (c Channel) Allowed() bool { return c.Operator == records.ChannelOpen }

// Blocked is true while conditions block payments that operators let move.
func (c Channel) Blocked() bool { return c.Allowed() && c.Automatic() != records.ChannelOpen }

// reasons are the kinds of the conditions that block the channel, each once.
func (c Channel) reasons() (list []Kind) {
	if c.Channel.Automatic != records.ChannelOpen {
		list = append(list, ChannelStopped)
	}
	for _, x := range c.Conditions {
		if !slices.Contains(list, x.Kind) {
			list = append(list, x.Kind)
		}
	}
	return list
}

// symbol is the name of the channel's token for people.
func (c Channel) symbol() string {
	if t, ok := c.network.Token(c.Token); ok {
		return t.Symbol
	}
	return c.Token
}

// Blocked returns the tokens with blocked payments, in the order of the channels.
func (r Report) Blocked() []BlockedToken {
	list := []BlockedToken{}
	for _, c := range r.Channels {
		if !c.Blocked() {
			continue
		}
		i := slices.IndexFunc(list, func(b BlockedToken) bool { return b.Network == c.Network && b.Token == c.Token })
		if i < 0 {
			i, list = len(list), append(list, BlockedToken{Network: c.Network, Token: c.Token, Symbol: c.symbol()})
		}
		b := &list[i]
		b.Directions = append(b.Directions, c.Direction)
		for _, k := range c.reasons() {
			if !slices.Contains(b.Reasons, k) {
				b.Reasons = append(b.Reasons, k)
			}
		}
	}
	return list
}

// Outage returns the directions in which payments of all tokens are blocked that operators let
// move. Where operators let nothing move, any condition that would block payments blocks both.
func (r Report) Outage() []records.Direction {
	if !slices.ContainsFunc(r.Channels, Channel.Allowed) && !r.Flows() {
		return []records.Direction{records.Deposit, records.Withdrawal}
	}
	return r.outage(Channel.Blocked)
}

// outage returns the directions whose allowed channels are all blocked.
func (r Report) outage(blocked func(Channel) bool) (list []records.Direction) {
	for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
		allowed, moves := false, false
		for _, c := range r.Channels {
			if c.Direction == d && c.Allowed() {
				allowed, moves = true, moves || !blocked(c)
			}
		}
		if allowed && !moves {
			list = append(list, d)
		}
	}
	return list
}
