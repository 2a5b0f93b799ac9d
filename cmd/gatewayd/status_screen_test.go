package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
)

// TestStatusScreens compares screens with testdata/screens.
func TestStatusScreens(t *testing.T) {
	cfg, err := config.Load("../../config.example.yaml")
	require.NoError(t, err)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for name, o := range map[string]operator.Overview{
		"new":      newGateway(cfg, now),
		"well":     wellGateway(cfg, now),
		"stopped":  stoppedGateway(cfg, now),
		"degraded": degradedGateway(cfg, now),
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, printStatus(&b, cfg, o))
			for l := range strings.Lines(b.String()) {
				require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(l, "\n")), columns, l)
			}
			checkScreen(t, "status_"+name, b.String())
		})
	}
}

// newGateway has never run, and its nodes were never asked.
func newGateway(cfg config.Config, now time.Time) operator.Overview {
	o := operator.Overview{At: now}
	show(&o, 0, status.Condition{Kind: status.DaemonDown, Detail: "the daemon has never run with this database", Stops: true})
	for _, id := range cfg.ChainIDs() {
		o.Chains = append(o.Chains, operator.Chain{ID: id, State: "not started", Fault: "no connection"})
	}
	for _, t := range cfg.Networks[0].Tokens {
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			c := operator.Channel{Network: cfg.Networks[0].Name, Token: t.Token, Symbol: t.Symbol, Direction: d, State: "MAINTAIN"}
			if c.Chain, c.Asset = cfg.Networks[0].Exchange, chain.Asset(t.Token); d == records.Withdrawal {
				c.Chain, c.Asset = cfg.Networks[0].Source, t.Asset
			}
			o.Channels = append(o.Channels, c)
		}
	}
	return o
}

// wellGateway is at work on large figures.
func wellGateway(cfg config.Config, now time.Time) operator.Overview {
	o := newGateway(cfg, now)
	show(&o, 1)
	seen, queued := now.Add(-7*time.Second), now.Add(-2*time.Minute-5*time.Second)
	for i := range o.Chains {
		c := &o.Chains[i]
		c.State, c.Read, c.Final, c.Head, c.HeadTime, c.Nodes, c.NodesUp, c.Fault = "following", 123_456_789, 123_456_600, 123_456_790, &seen, 3, 3, ""
	}
	for i := range o.Channels {
		c := &o.Channels[i]
		holds := mustAmount("123456789012345678901234567890")
		possible, runway := uint64(2835), 77.5+2000*float64(i)
		c.State, c.Holds, c.Pending, c.Waiting, c.Oldest = "OPEN", &holds, mustAmount("1234567890123456789"), 12_345, &queued
		c.DayCount, c.DayOut, c.PerMinute, c.Possible, c.Runway = 86_400, mustAmount("98765432109876543210987"), 181.25, &possible, &runway
	}
	return o
}

// stoppedGateway has a halted account, a node that is away and records that wait for an operator.
func stoppedGateway(cfg config.Config, now time.Time) operator.Overview {
	o := wellGateway(cfg, now)
	o.NeedsOperator = 3
	o.Chains[0].NodesUp, o.Chains[0].Head, o.Chains[0].HeadTime, o.Chains[0].Fault = 0, 0, nil, "no answer in time"
	o.Channels[1].State, o.Channels[1].Holds, o.Channels[1].Runway, o.Channels[1].Possible = "MAINTAIN", nil, nil, nil
	show(&o, 1,
		status.Condition{
			Kind: status.AccountStopped, Chain: o.Chains[0].ID, Since: now.Add(-90 * time.Minute), Stops: true,
			Detail: "hot account 0x52908400098527886E0F7030069857D2E4169EE7 on eth is halted: transaction " +
				"0x83d1b85cb2ab0e5a4e7d3e6e0ac6b0d7c5e9e2d4f1a0b9c8d7e6f5a4b3c2d1e0 was not signed by this daemon: it moved 50000000000000000000 native",
		},
		status.Condition{Kind: status.NodeFaulty, Chain: o.Chains[0].ID, Detail: "node eth.example.com does not answer: no answer in time"})
	return o
}

// degradedGateway has two tokens of many without funds.
func degradedGateway(cfg config.Config, now time.Time) operator.Overview {
	o := wellGateway(cfg, now)
	show(&o, 1)
	o.State, o.Flows, o.Headline = status.Degraded, false, "Payments of 2 of 21 tokens are blocked. All others are possible."
	for _, t := range cfg.Networks[0].Tokens[:2] {
		o.Blocked = append(o.Blocked, status.BlockedToken{
			Network: cfg.Networks[0].Name, Token: t.Token, Symbol: t.Symbol, Directions: []records.Direction{records.Withdrawal}, Reasons: []status.Kind{status.NoFunds},
		})
	}
	return o
}

// show sets the conditions and what follows from them.
func show(o *operator.Overview, pending uint64, found ...status.Condition) {
	r := status.Report{Conditions: found}
	o.State, o.Headline, o.Flows, o.Conditions = r.State(pending), r.Headline(pending), r.Flows(), found
}

func mustAmount(text string) chain.Amount {
	a, err := chain.ParseAmount(text)
	if err != nil {
		panic(err)
	}
	return a
}

func TestBrief(t *testing.T) {
	for amount, want := range map[string]string{
		"0 ETH":                         "0",
		"0.000000000000000001 ETH":      "<0.000001",
		"0.1234567 ETH":                 "0.123456",
		"12.5 ETH":                      "12.5",
		"123456.987654 ETH":             "123456.98",
		"123456789.9 ETH":               "123456789",
		"1234567890 ETH":                "1.234B",
		"12345678901234 ETH":            "12.345T",
		"999999999000000 ETH":           "999.999T",
		"1234567890123456 ETH":          "1.234e15",
		"999999999000000000001 ETH":     "9.999e20",
		"1234567890123456789012345 ETH": "1.234e24",
		"5 units of 0x12":               "5",
	} {
		require.Equal(t, want, shortAmount(amount), amount)
	}
}
