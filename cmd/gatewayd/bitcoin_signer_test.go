package main

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/records"
	"gatewayd/signer/remote"
	"gatewayd/transfers"
)

// TestLitecoinSigner: with a separate signer, which reads the chain from its own node, a deposit is
// credited and a withdrawal is paid exactly, and what a stolen daemon asks for is refused.
func TestLitecoinSigner(t *testing.T) {
	t.Parallel()
	w := prepareBitcoinEnv(t, bitcoinnode.Litecoind)
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
	w.lie(t)
}

// lie asks the signer for payments as a daemon does that is stolen. Its nodes contradict each.
func (w *bitcoinEnv) lie(t *testing.T) {
	t.Helper()
	signer, err := remote.Dial(w.cfg.Wallet.Target())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, signer.Close()) })
	honest := w.payoutClaim(t)
	stranger := w.payees(t, 2)[1]
	for refusal, alter := range map[string]func(*chain.Claim){
		"its cause is signed under another number": func(*chain.Claim) {},
		"another payment is signed for the same":   func(c *chain.Claim) { c.Payment.To = stranger },
		"to us":                                    func(c *chain.Claim) { c.Cause.Ref = strings.Repeat("ab", 32) },
		"a sweep goes to our own accounts only":    func(c *chain.Claim) { c.Payment.Purpose, c.Payment.To, c.Cause.Ref = chain.Sweep, stranger, "" },
	} {
		c := honest
		c.Payment.ID += 1_000_000
		alter(&c)
		verdicts, err := signer.Authorize(t.Context(), "coin", c)
		require.NoError(t, err)
		require.NotEqual(t, chain.Authorized, verdicts[0].State, refusal)
		require.Contains(t, verdicts[0].Text, refusal)
	}
}

// payoutClaim is the daemon's claim for the only withdrawal.
func (w *bitcoinEnv) payoutClaim(t *testing.T) (c chain.Claim) {
	t.Helper()
	store, err := records.OpenExisting(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		list, err := tx.Transfers().From("vite", 0, 0, 10)
		if err != nil {
			return err
		}
		require.Len(t, list, 1)
		payments, err := tx.Payments().Of(list[0].ID)
		for _, p := range payments {
			if p.Chain == "coin" {
				c = transfers.ClaimOf(p, list[0])
			}
		}
		return err
	}))
	return c
}
