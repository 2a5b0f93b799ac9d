package operator

import (
	"time"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/recovery"
)

// Bridge contains the chains and the present networks for operators' orders and repairs. It signs
// nothing.
type Bridge struct {
	Chains   map[chain.ID]chain.Chain
	Networks func() []records.Network
}

// transfers returns the present rules of transfers.
func (b *Bridge) transfers() transfers.Rules {
	return transfers.Rules{Networks: b.Networks(), Payable: transfers.Payable(b.Chains), Now: time.Now}
}

// Recovery returns the repairs of stopped chains and accounts, with the daemon's sign-guard.
func (b *Bridge) Recovery(store *records.Store, g recovery.Guard) *recovery.Recovery {
	return recovery.New(recovery.Parts{Store: store, Chains: b.Chains, Rules: b.transfers, Guard: g})
}
