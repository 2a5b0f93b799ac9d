package status

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// threeNetworks has 21 tokens on three source networks that share the exchange chain.
func threeNetworks() (list []records.Network) {
	for _, name := range []string{"eth", "bsc", "base"} {
		n := records.Network{Name: name, Source: chain.ID(name), Exchange: recordstest.Exchange}
		for i := range 7 {
			n.Tokens = append(n.Tokens, records.Token{TokenID: fmt.Sprintf("tti_%s%d", name, i), Symbol: fmt.Sprintf("T%d-000", i)})
		}
		list = append(list, n)
	}
	return list
}

// unfunded is a token whose hot account is empty.
func unfunded(n records.Network, t records.Token) records.Condition {
	return records.Condition{
		Kind: string(NoFunds), Chain: n.Source, Network: n.Name, Token: t.TokenID, Direction: records.Withdrawal, Subject: "hot/" + t.TokenID,
		Stops: true, Detail: "account hot holds 0 " + t.Symbol + ", and the smallest payment needs 1: top it up",
	}
}

// allUnfunded are the conditions of all hot accounts of all networks.
func allUnfunded(networks []records.Network) (list []records.Condition) {
	for _, n := range networks {
		for _, t := range n.Tokens {
			list = append(list, unfunded(n, t))
		}
	}
	return list
}

// TestOneOfManyTokensIsBlocked: a condition of a token or a network affects that one. The gateway
// is not well when no withdrawal or no deposit is possible.
func TestOneOfManyTokensIsBlocked(t *testing.T) {
	networks := threeNetworks()
	eth := networks[0]
	all := allUnfunded(networks)
	closed := func(tx *records.Tx) error { // by an operator: all withdrawals but those of the first token
		for i, n := range networks {
			for j, token := range n.Tokens {
				if i+j == 0 {
					continue
				}
				if err := records.SetChannel(tx, n.Name, token.TokenID, records.Withdrawal, records.ChannelClosed, "a test", "ann"); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for name, c := range map[string]struct {
		found    []records.Condition
		cause    func(*records.Tx) error
		state    State
		headline string
		health   string
		blocked  int
	}{
		"nothing":              {nil, nil, Idle, "No pending payments.", "ok", 0},
		"one token":            {all[:1], nil, Degraded, "Payments of 1 of 21 tokens are blocked. All others are possible.", "degraded", 1},
		"all tokens but one":   {all[1:], nil, Degraded, "Payments of 20 of 21 tokens are blocked. All others are possible.", "degraded", 20},
		"withdrawals":          {all, nil, Blocked, "All withdrawals are blocked.", "stopped", 21},
		"the nodes of one":     {[]records.Condition{{Kind: string(NodesDown), Chain: eth.Source, Stops: true}}, nil, Degraded, "Payments of 7 of 21 tokens are blocked. All others are possible.", "degraded", 7},
		"the exchange's nodes": {[]records.Condition{{Kind: string(NodesDown), Chain: eth.Exchange, Stops: true}}, nil, Unknown, "Unknown: the nodes of chain vite do not answer since 2026-11-21 10:00:00 UTC.", "unknown", 21},
		"the signer":           {[]records.Condition{{Kind: string(SignerAway), Stops: true}}, nil, Blocked, "All payments are blocked.", "stopped", 21},
		"one halted chain": {nil, func(tx *records.Tx) error { return tx.Chains().Halt(eth.Source, "a test") }, Degraded,
			"Payments of 7 of 21 tokens are blocked. All others are possible.", "degraded", 7},
		"the exchange chain":                     {nil, func(tx *records.Tx) error { return tx.Chains().Halt(eth.Exchange, "a test") }, Blocked, "All payments are blocked.", "halted", 21},
		"the only token that operators let move": {all[:1], closed, Blocked, "All withdrawals are blocked.", "stopped", 1},
		"one that they have closed":              {all[1:2], closed, Idle, "No pending payments.", "ok", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := recordstest.NewRig(t)
			r.Do(func(tx *records.Tx) error { return records.BeatAt(tx, Role, 0) })
			r.Do(func(tx *records.Tx) error { // a source's conditions are at most a hundred
				for _, x := range c.found {
					if err := records.NoteConditions(tx, "test "+x.Subject, []records.Condition{x}); err != nil {
						return err
					}
				}
				return nil
			})
			for _, n := range networks[1:] {
				r.Do(func(tx *records.Tx) error { return tx.Chains().Start(n.Source, chain.Point{Height: 1, Hash: "h"}) })
			}
			if c.cause != nil {
				r.Do(c.cause)
			}
			var report Report
			var health Health
			r.See(func(tx *records.Tx) (err error) {
				if report, err = Read(tx, networks); err == nil {
					health, err = ReadHealth(tx, networks)
				}
				return err
			})
			require.Equal(t, []any{c.state, c.headline}, []any{report.State(0), report.Headline(0)})
			require.Equal(t, []any{c.health, c.state == Idle || c.state == Degraded}, []any{health.Status, health.Well()})
			require.Equal(t, c.state == Idle, report.Flows())
			require.Len(t, health.Blocked, c.blocked)
			require.Equal(t, health.Blocked, report.Blocked())
		})
	}
}
