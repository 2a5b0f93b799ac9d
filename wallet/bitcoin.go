package wallet

import (
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/wallet/keystore"
)

// The purposes of the paths of Bitcoin and its kin, whatever the coin type.
const (
	segwitPrefix  = "m/84'/" // BIP-84: P2WPKH
	taprootPrefix = "m/86'/" // BIP-86: P2TR without a script path
)

// CoinPaths are the paths below an account of Bitcoin or its kin, such as m/84'/0'/0'.
type CoinPaths string

// Pool is the address that pays and gets the change.
func (p CoinPaths) Pool() string { return string(p) + "/1/0" }

// Deposit is the n-th user's deposit address.
func (p CoinPaths) Deposit(n uint32) string { return fmt.Sprintf("%s/0/%d", p, n) }

// Parse reads a path below the account.
func (p CoinPaths) Parse(path string) (branch, index uint32, err error) {
	if rest, ok := strings.CutPrefix(path, string(p)+"/"); ok {
		if n, err := fmt.Sscanf(rest, "%d/%d", &branch, &index); n == 2 && err == nil && path == fmt.Sprintf("%s/%d/%d", p, branch, index) {
			return branch, index, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: %q is not below the account %s", ErrPath, path, p)
}

func isBitcoin(path string) bool {
	return strings.HasPrefix(path, segwitPrefix) || strings.HasPrefix(path, taprootPrefix)
}

// AccountKey is the public part of an account of Bitcoin or its kin, such as m/84'/0'/0'. The
// adapter derives its addresses.
func (k *Keys) AccountKey(path string) (keystore.ExtendedPublicKey, error) {
	if !isBitcoin(path) {
		return keystore.ExtendedPublicKey{}, fmt.Errorf("%w: %q", ErrPath, path)
	}
	account, err := k.source.Derive(path)
	if err != nil {
		return keystore.ExtendedPublicKey{}, fmt.Errorf("%w: %q: %w", ErrPath, path, err)
	}
	return account.Public(), nil
}

// signBitcoin signs with ECDSA (R and S, S in the lower half) at BIP-84's paths and returns the
// compressed key. At BIP-86's paths it signs with BIP-340, and the key is BIP-341's output key.
func (k *Keys) signBitcoin(path string, digest []byte) (public, signature []byte, err error) {
	key, err := k.deriveSigner(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %q: %w", ErrPath, path, err)
	}
	if strings.HasPrefix(path, segwitPrefix) {
		if signature, err = crypto.Sign(digest, key.Private()); err != nil {
			return nil, nil, err
		}
		return crypto.CompressPubkey(&key.Private().PublicKey), signature[:crypto.RecoveryIDOffset], nil
	}
	private, _ := btcec.PrivKeyFromBytes(crypto.FromECDSA(key.Private()))
	private = txscript.TweakTaprootPrivKey(*private, nil)
	sig, err := schnorr.Sign(private, digest)
	if err != nil {
		return nil, nil, err
	}
	return schnorr.SerializePubKey(private.PubKey()), sig.Serialize(), nil
}
