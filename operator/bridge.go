package operator

import (
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/recovery"
)

// Bridge is what operators' orders and repairs work with: the chains, which sign nothing, and the
// networks in force.
type Bridge struct {
	Chains   map[chain.ID]chain.Chain
	Networks func() []records.Network
}

// transfers are the terms in force for transfers.
func (b *Bridge) transfers() transfers.Rules {
	return transfers.Rules{Networks: b.Networks(), Payable: b.payable, Now: time.Now}
}

func (b *Bridge) payable(id chain.ID, address, label string) (string, bool) {
	canonical, err := b.Chains[id].CheckAddress(address, label)
	return canonical, err == nil
}

// Recovery returns the repairs of stopped chains and accounts, with the daemon's sign-guard.
func (b *Bridge) Recovery(store *records.Store, g recovery.Guard) *recovery.Recovery {
	return recovery.New(recovery.Parts{Store: store, Chains: b.Chains, Rules: b.transfers, Guard: g})
}
