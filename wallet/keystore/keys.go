package keystore

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"gatewayd/vite/core"
)

// node is a private key with its chain code.
type node struct {
	key   [32]byte
	chain [32]byte
}

// split is the step that BIP-32 and SLIP-10 share: HMAC-SHA512, cut in two.
func split(hmacKey []byte, parts ...[]byte) node {
	h := hmac.New(sha512.New, hmacKey)
	for _, p := range parts {
		h.Write(p)
	}
	sum := h.Sum(nil)
	return node{key: [32]byte(sum[:32]), chain: [32]byte(sum[32:])}
}

// viteMaster begins SLIP-10 with the exchange chain's own key text.
func viteMaster(seed []byte) node { return split([]byte("ed25519 blake2b seed"), seed) }

// viteChild derives hardened children, the only ones that Ed25519 has.
func (n node) viteChild(index uint32) node {
	return split(n.chain[:], []byte{0}, n.key[:], binary.BigEndian.AppendUint32(nil, index|hardened))
}

// Keys derives the exchange chain's keys of one seed. It prints as a fixed text.
type Keys struct {
	secret func() *viteNodes // a function, so that no way of printing reaches the secret
}

type viteNodes struct {
	master  node
	account node // m/44'/666666', kept because every account hangs below it
	wiped   bool
}

// ErrWiped means that keys were used after Wipe.
var ErrWiped = errors.New("keys are wiped")

// NewKeys takes a seed, usually Seed's result.
func NewKeys(seed []byte) Keys {
	master := viteMaster(seed)
	nodes := &viteNodes{master: master, account: master.viteChild(44).viteChild(666666)}
	return Keys{func() *viteNodes { return nodes }}
}

// KeysOf takes stored entropy. A wrong length is ErrSize.
func KeysOf(entropy []byte) (Keys, error) {
	seed, err := seedOf(entropy)
	if err != nil {
		return Keys{}, err
	}
	defer clear(seed)
	return NewKeys(seed), nil
}

// ByIndex returns the key of account index, at IndexPath. From 2^31 it is ErrNotHardened.
func (k Keys) ByIndex(index uint32) (core.PrivateKey, error) {
	if index >= hardened {
		return core.PrivateKey{}, ErrNotHardened
	}
	nodes := k.secret()
	if nodes.wiped {
		return core.PrivateKey{}, ErrWiped
	}
	child := nodes.account.viteChild(index)
	return core.NewPrivateKey(child.key[:])
}

// ByPath returns the key at a path of hardened levels, of any depth. Errors are ErrPath and
// ErrNotHardened.
func (k Keys) ByPath(path string) (core.PrivateKey, error) {
	levels, err := parseHardened(path)
	if err != nil {
		return core.PrivateKey{}, err
	}
	nodes := k.secret()
	if nodes.wiped {
		return core.PrivateKey{}, ErrWiped
	}
	n := nodes.master
	for _, level := range levels {
		n = n.viteChild(level)
	}
	return core.NewPrivateKey(n.key[:])
}

// PrimaryAddress returns the address of account 0, which names a store.
func (k Keys) PrimaryAddress() core.Address {
	key, err := k.ByIndex(0)
	if err != nil {
		panic("keystore: account 0: " + err.Error())
	}
	return key.Address()
}

// Wipe overwrites the secret here and in every copy of k; keys that were derived before are not
// affected. The caller prevents concurrent derivations.
func (k Keys) Wipe() { *k.secret() = viteNodes{wiped: true} }

// String returns a fixed text, so that keys never reach a log.
func (k Keys) String() string { return "keys" }
