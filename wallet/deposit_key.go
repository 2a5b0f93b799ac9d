package wallet

import (
	"fmt"

	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/wallet/keystore"
)

// DepositAccount is the BIP-44 account of users' deposit addresses, whose branch 0 has them all.
func (p SourcePaths) DepositAccount() string { return fmt.Sprintf("m/44'/%d'/0'", p) }

// DepositKey derives the deposit addresses of a source chain and signs for none: it is the extended
// public key of their account.
type DepositKey struct {
	Seed               int // which successor's; 0 for the first seed
	account, addresses keystore.ExtendedPublicKey
}

// DepositKey is the public part of the account of deposit addresses.
func (k *Keys) DepositKey(p SourcePaths) (DepositKey, error) {
	account, err := k.source.Derive(p.DepositAccount())
	if err != nil {
		return DepositKey{}, fmt.Errorf("%w: %q: %w", ErrPath, p.DepositAccount(), err)
	}
	return newDepositKey(account.Public())
}

// ParseDepositKey reads what Bytes wrote.
func ParseDepositKey(public, chain []byte) (DepositKey, error) {
	account, err := keystore.ParseExtendedPublicKey(public, chain)
	if err != nil {
		return DepositKey{}, err
	}
	return newDepositKey(account)
}

func newDepositKey(account keystore.ExtendedPublicKey) (DepositKey, error) {
	addresses, err := account.Child(0)
	return DepositKey{account: account, addresses: addresses}, err
}

// AccountKey is the extended public key of their account.
func (k DepositKey) AccountKey() keystore.ExtendedPublicKey { return k.account }

// Bytes are the compressed public key and the chain code.
func (k DepositKey) Bytes() (public, chain []byte) { return k.account.Bytes() }

// Address is the n-th user's deposit address.
func (k DepositKey) Address(n uint32) (string, error) {
	key, err := k.addresses.Child(n)
	if err != nil {
		return "", err
	}
	return crypto.PubkeyToAddress(*key.Key()).Hex(), nil
}
