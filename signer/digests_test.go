package signer_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/signer"
)

// coinRules are rules of a ledger whose transactions take a signature of each coin.
type coinRules struct {
	chain.Rules
	keys   []string
	sealed []chain.Signature
}

func (r *coinRules) Digests(o chain.Order) (list []chain.Digest, err error) {
	if _, err := r.Rules.Digests(o); err != nil {
		return nil, err
	}
	for _, key := range r.keys {
		list = append(list, chain.Digest{Key: key, Hash: []byte("hash of " + key)})
	}
	return list, nil
}

func (r *coinRules) Seal(o chain.Order, signatures ...chain.Signature) (chain.SignedTx, error) {
	r.sealed = signatures
	return r.Rules.Seal(o, signatures...)
}

// echoKeys sign with the path and the hash that they were given.
type echoKeys struct{}

func (echoKeys) Sign(_ context.Context, path string, digest []byte) (public, signature []byte, err error) {
	return []byte(path), append([]byte("signature of the "), digest...), nil
}

// TestEachCoinIsSigned: every digest of an order is signed by the key of its own path, in order.
func TestEachCoinIsSigned(t *testing.T) {
	w := setup(t)
	rules := &coinRules{Rules: w.eth.Rules(), keys: []string{"m/84'/2'/0'/0/5", "m/86'/2'/0'/1/1"}}
	w.Signer = signer.New(signer.Parts{Keys: echoKeys{}, Guard: w.guard, Rules: map[chain.ID]chain.Rules{"eth": rules}})
	_, err := w.sign(w.order(w.eth, 0, "", w.pay(1, "payee", 5)))
	require.NoError(t, err)
	require.Equal(t, []chain.Signature{
		{Public: []byte("m/84'/2'/0'/0/5"), Bytes: []byte("signature of the hash of m/84'/2'/0'/0/5")},
		{Public: []byte("m/86'/2'/0'/1/1"), Bytes: []byte("signature of the hash of m/86'/2'/0'/1/1")},
	}, rules.sealed)
}
