package recordstest

import (
	"gatewayd/chain"
	"gatewayd/records"
)

// BindAddress returns an owner's inbound address on a network, as the gateway makes it, in one
// transaction: give answers at once.
func BindAddress(tx *records.Tx, network string, id chain.ID, owner string, give func(index uint32) (address, keyPath string, err error)) (records.Binding, error) {
	b, found, err := tx.Bindings().ByOwner(network, records.TypeAddress, owner)
	if err != nil || found {
		return b, err
	}
	free, err := tx.Bindings().FreeIndexes(id, owner)
	if err != nil {
		return b, err
	}
	given, err := free.Give(give)
	if err != nil {
		return b, err
	}
	return tx.Bindings().AddAddress(network, id, owner, given)
}

// BindLabel returns an owner's label on a network, as BindAddress.
func BindLabel(tx *records.Tx, network string, id chain.ID, owner, shared string, makeLabel func() string) (records.Binding, error) {
	b, found, err := tx.Bindings().ByOwner(network, records.TypeLabel, owner)
	if err != nil || found {
		return b, err
	}
	label, err := tx.Bindings().FreeLabel(network, makeLabel)
	if err != nil {
		return b, err
	}
	return tx.Bindings().AddLabel(network, id, owner, shared, label)
}
