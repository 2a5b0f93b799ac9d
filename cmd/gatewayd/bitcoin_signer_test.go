package main

import (
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/bitcointest"
)

// TestLitecoinSigner: with a separate signer, which reads the chain from its own node, a deposit is
// credited and a withdrawal is paid exactly.
func TestLitecoinSigner(t *testing.T) {
	t.Parallel()
	w := prepareBitcoinEnv(t, bitcointest.Litecoind)
	splitSigner(t, &w.cfg).start(t)
	w.begin(t)
	u := w.newUser(t, 0)
	const deposit, net = 5_000_000, 2_000_000
	w.pay(t, wire.NewTxOut(deposit, w.script(t, u.deposit)))
	have := []chain.Amount{w.units(t, deposit)}
	w.mineUntil(t, "the credit", func() bool { return w.haveAll(t, []*coinUser{u}, have) })

	payee := w.payees(t, 1)[0]
	w.withdraw(t, u, payee, net)
	w.mineUntil(t, "the payout", func() bool { return len(w.books(t, w.pool(t), u.deposit).payees) == 1 && w.allDone(t, []*coinUser{u}) })
	b := w.books(t, w.pool(t), u.deposit)
	require.Equal(t, map[string][]int64{hex.EncodeToString(w.script(t, payee)): {net}}, b.payees)
	require.Equal(t, b.deposited-b.paid-b.fees, b.held)
}
