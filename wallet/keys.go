package wallet

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

// The ledgers whose addresses Keys can make, by their paths' beginnings.
const (
	exchangePrefix = "m/44'/666666'/"
	ethereumPrefix = "m/44'/60'/"
)

// SourcePaths are the paths of the gateway's accounts on a kind of source chain, named by its coin
// type (SLIP-44). Users' deposit addresses and the operators' accounts are different BIP-44
// accounts.
type SourcePaths uint32

// Hot is the n-th account that pays.
func (p SourcePaths) Hot(n int) string {
	if n == 0 {
		return fmt.Sprintf("m/44'/%d'/1'/0/0", p)
	}
	return fmt.Sprintf("m/44'/%d'/1'/1/%d", p, n)
}

// Gas is the account that pays the fees of sweeps.
func (p SourcePaths) Gas() string { return fmt.Sprintf("m/44'/%d'/1'/0/1", p) }

// Deposit is the n-th user's deposit address.
func (p SourcePaths) Deposit(n uint32) string { return fmt.Sprintf("m/44'/%d'/0'/0/%d", p, n) }

// GatewayPath is the derivation path of the gateway's n-th address on the exchange chain.
func GatewayPath(n uint32) string { return keystore.IndexPath(n) }

// GatewayPathOf is the derivation path of the n-th paying account on the exchange chain for the
// gateway's address of an index: GatewayPath for 0.
func GatewayPathOf(index uint32, n int) string {
	if n == 0 {
		return GatewayPath(index)
	}
	return fmt.Sprintf("%s/%d'", GatewayPath(index), n)
}

// ErrPath means that a derivation path belongs to neither ledger.
var ErrPath = errors.New("not a path of the gateway's keys")

// Keys derives and signs. It is safe for concurrent use and prints as a fixed text.
type Keys struct {
	exchange keystore.Keys
	source   keystore.ExtendedKey
	signers  *lru.Cache[string, core.PrivateKey] // of the exchange chain, by path: deriving one takes twice as long as signing

	// sources are the same of the source chains, where deriving takes ten times as long as signing.
	// Parents are in it as well: from its parent a deposit address takes one level instead of five.
	sources *lru.Cache[string, keystore.ExtendedKey]
}

// maxSigners bounds the derived keys of each cache, 300 bytes each. The caches live as long as the
// seed's own keys in Keys.
const maxSigners = 4096

// FromMnemonic takes a BIP-39 mnemonic with an empty passphrase, as the exchange chain's nodes do.
func FromMnemonic(mnemonic string) (*Keys, error) {
	secret, err := keystore.ParseMnemonic(mnemonic)
	if err != nil {
		return nil, err
	}
	return fromEntropy(secret)
}

// Unlock opens an entropy store file. A wrong password gives an error without details.
func Unlock(path, password string) (*Keys, error) {
	store, err := keystore.ReadFile(path)
	if err != nil {
		return nil, err
	}
	secret, err := store.Open(password)
	if err != nil {
		return nil, err
	}
	defer clear(secret)
	return fromEntropy(secret)
}

func fromEntropy(secret []byte) (*Keys, error) {
	words, err := keystore.Mnemonic(secret)
	if err != nil {
		return nil, err
	}
	seed := keystore.Seed(words, "")
	defer clear(seed)
	source, err := keystore.NewExtendedKey(seed)
	if err != nil {
		return nil, err
	}
	return &Keys{
		exchange: keystore.NewKeys(seed), source: source,
		signers: lru.NewCache[string, core.PrivateKey](maxSigners), sources: lru.NewCache[string, keystore.ExtendedKey](maxSigners),
	}, nil
}

// Address is the canonical address of the key at a path, on the ledger that the path's coin type
// names. Errors are ErrPath.
func (k *Keys) Address(path string) (string, error) {
	if strings.HasPrefix(path, exchangePrefix) {
		key, err := k.exchangeKey(path)
		if err != nil {
			return "", err
		}
		return key.Address().String(), nil
	}
	key, err := k.sourceKey(path, k.source.Derive)
	if err != nil {
		return "", err
	}
	return crypto.PubkeyToAddress(key.PublicKey).Hex(), nil
}

// Sign signs a 32-byte hash with the key at a path, on the ledger of the path's coin type. For the
// exchange chain it returns public key and Ed25519-BLAKE2b signature. For a source chain it returns
// the 65 bytes R, S, V with V 0 or 1, from which the public key is recovered; for Bitcoin and its
// kin the 64 bytes of BIP-84's and BIP-86's signatures with their key.
func (k *Keys) Sign(_ context.Context, path string, digest []byte) (public, signature []byte, err error) {
	if isBitcoin(path) {
		return k.signBitcoin(path, digest)
	}
	if !strings.HasPrefix(path, exchangePrefix) {
		key, err := k.sourceKey(path, k.deriveSigner)
		if err != nil {
			return nil, nil, err
		}
		signature, err = crypto.Sign(digest, key)
		return nil, signature, err
	}
	key, known := k.signers.Get(path)
	if !known {
		if key, err = k.exchangeKey(path); err != nil {
			return nil, nil, err
		}
		k.signers.Add(path, key)
	}
	of := key.Public()
	return of[:], key.Sign(digest), nil
}

// String keeps keys out of logs.
func (k *Keys) String() string { return "keys" }

func (k *Keys) exchangeKey(path string) (core.PrivateKey, error) {
	if !strings.HasPrefix(path, exchangePrefix) {
		return core.PrivateKey{}, fmt.Errorf("%w: %q", ErrPath, path)
	}
	key, err := k.exchange.ByPath(path)
	if err != nil {
		return core.PrivateKey{}, fmt.Errorf("%w: %q: %w", ErrPath, path, err)
	}
	return key, nil
}

func (k *Keys) sourceKey(path string, derive func(string) (keystore.ExtendedKey, error)) (*ecdsa.PrivateKey, error) {
	if !strings.HasPrefix(path, ethereumPrefix) {
		return nil, fmt.Errorf("%w: %q", ErrPath, path)
	}
	key, err := derive(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrPath, path, err)
	}
	return key.Private(), nil
}

// deriveSigner derives a key of a source chain that signs, and keeps it and its parent.
func (k *Keys) deriveSigner(path string) (keystore.ExtendedKey, error) {
	if key, known := k.sources.Get(path); known {
		return key, nil
	}
	parent, index, err := keystore.ParentPath(path)
	if err != nil {
		return keystore.ExtendedKey{}, err
	}
	above, known := k.sources.Get(parent)
	if !known {
		if above, err = k.source.Derive(parent); err != nil {
			return keystore.ExtendedKey{}, err
		}
		k.sources.Add(parent, above)
	}
	key, err := above.Child(index)
	if err == nil {
		k.sources.Add(path, key)
	}
	return key, err
}
