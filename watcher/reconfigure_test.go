package watcher

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/records"
)

// stricter is the network with another minimum, another funder and one token.
func (r *rig) stricter() records.Network {
	n := r.net
	n.Funders = append(slices.Clone(n.Funders), r.eth.Address("new treasury"))
	n.Tokens = slices.Clone(n.Tokens[:1])
	n.Tokens[0].Policy.MinDeposit = units(10 * minimum)
	return n
}

// TestReconfigure: what is seen afterwards is judged by the new configuration, what was seen before
// by its own.
func TestReconfigure(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	before := r.deposit(address, minimum*100)
	_, label := r.labelled()
	stray := r.eth.Deposit(r.eth.Address("new treasury"), r.net.Hot, usdEth, units(50_000), chain.Memo{Type: -1})
	gone := r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: label})
	r.run(1)
	r.w.Reconfigure([]records.Network{r.stricter()})
	after := r.deposit(address, minimum*100)
	funding := r.eth.Deposit(r.eth.Address("new treasury"), r.net.Hot, usdEth, units(50_000), chain.Memo{Type: -1})
	r.rest()
	r.requireState(before, records.Final, "")
	r.requireState(after, records.Refused, records.ReasonBelowMinimum)
	r.requireState(stray, records.Held, records.ReasonUnbound)
	r.requireState(funding, records.Final, "")
	r.requireState(gone, records.Held, records.ReasonUnknownToken)
	r.requireHolding(r.vite, owner, usd, minimum)
	r.requireSound()
}

// TestReconfigureUnderWay exchanges the configuration again and again while deposits are followed,
// decided and paid.
func TestReconfigureUnderWay(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	other := r.net
	other.Tokens = slices.Clone(other.Tokens)
	other.Tokens[0].Policy.Fee.Ceiling = 7
	var g errgroup.Group
	done := make(chan struct{})
	g.Go(func() error {
		for {
			select {
			case <-done:
				return nil
			default:
				r.w.Reconfigure([]records.Network{other})
				r.w.Reconfigure([]records.Network{r.net})
			}
		}
	})
	for range 5 {
		r.deposit(address, minimum*100)
		r.run(1)
	}
	r.rest()
	close(done)
	require.NoError(t, g.Wait())
	r.requireHolding(r.vite, owner, usd, 5*minimum)
	r.requireSound()
}
