package main

import (
	"fmt"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/wallet"
)

// maxAccounts bounds how many accounts pay on a chain.
const maxAccounts = 64

func checkAccounts(n int) error {
	if n < 0 || n > maxAccounts {
		return fmt.Errorf("accounts: must be from 1 to %d", maxAccounts)
	}
	return nil
}

// accounts is how many accounts of each network pay on a chain.
func (c Config) accounts(id chain.ID) int {
	for _, e := range c.Ethereum {
		if e.ID == id {
			return max(1, e.Accounts)
		}
	}
	for _, v := range c.Vite {
		if v.ID == id {
			return max(1, v.Accounts)
		}
	}
	return 1
}

// ownAccounts are the configured accounts of a network, without their addresses. Of each kind the published one comes first.
func (c Config) ownAccounts(n NetworkConfig) (list []records.Account) {
	add := func(id chain.ID, kind records.AccountKind, path string) {
		list = append(list, records.Account{Chain: id, Kind: kind, Network: n.Name, KeyPath: path, State: records.AccountNew})
	}
	for i := range c.accounts(n.Source) {
		add(n.Source, records.KindHot, wallet.HotPathOf(i))
	}
	add(n.Source, records.KindGas, wallet.GasPath)
	for i := range c.accounts(n.Exchange) {
		add(n.Exchange, records.KindGateway, wallet.GatewayPathOf(n.Account, i))
	}
	return list
}

// accountKey is what an account is found by where its address is not known.
type accountKey struct {
	chain chain.ID
	path  string
}

func keyOf(a records.Account) accountKey { return accountKey{a.Chain, a.KeyPath} }

// knownAccounts are the accounts that the database has of a network, deposit addresses left out.
func knownAccounts(tx *records.Tx, n NetworkConfig) (map[accountKey]records.Account, error) {
	known := map[accountKey]records.Account{}
	for _, id := range []chain.ID{n.Source, n.Exchange} {
		accounts, err := tx.Accounts(id, records.KindHot, records.KindGas, records.KindGateway)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if a.Network == n.Name {
				known[keyOf(a)] = a
			}
		}
	}
	return known, nil
}

// withAccount adds an account to its network. The first of a kind is the published one.
func withAccount(n records.Network, a records.Account) records.Network {
	switch a.Kind {
	case records.KindHot:
		if n.Hots = append(n.Hots, a.Account); len(n.Hots) == 1 {
			n.Hot, n.Shared = a.Account, a.Account
		}
	case records.KindGas:
		n.Gas = a.Account
	case records.KindGateway:
		if n.Gateways = append(n.Gateways, a.Account); len(n.Gateways) == 1 {
			n.Gateway = a.Account
		}
	}
	return n
}
