package watcher

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/transfers"
	"gatewayd/watcher/recovery"
)

// TestRecoveryEndsWhole restores backups at random and has an operator who follows
// docs/operations/recovery.md to the letter, or one who accepts whatever the program lets him:
// everybody has in the end exactly what is due to him, and the books fit (docs/payment-rules.md 5).
func TestRecoveryEndsWhole(t *testing.T) {
	recoveryEndsWhole(t, crashes(t)/100+4, pools(1))
}

// TestCoinsRecoveryEndsWhole is the same on a ledger of coins.
func TestCoinsRecoveryEndsWhole(t *testing.T) {
	recoveryEndsWhole(t, crashes(t)/100+4, newCoinsModel)
}

// TestPoolRecoveryEndsWhole is the same with three paying accounts on each chain.
func TestPoolRecoveryEndsWhole(t *testing.T) {
	recoveryEndsWhole(t, crashes(t)/200+2, pools(3))
}

func recoveryEndsWhole(t *testing.T, rounds int, fresh modelMaker) {
	first := seed(t)
	resumed, cancels := 0, 0
	for s := first; s < first+uint64(rounds); s++ {
		m := fresh(t, s, map[string]int{})
		m.restart(neverCrashes, "")
		m.runAtRandom(t, 10+m.rng.IntN(60))
		m.bind()
		m.closed = true // a user whose binding the backup does not have is another story
		backup := m.backup(t)
		for range 1 + m.rng.IntN(2) { // the same backup may be wanted again
			m.runAtRandom(t, 1+m.rng.IntN(40))
			m.restore(t, backup)
			for _, c := range m.chains {
				c.sent = map[string]bool{} // the backup does not have them
			}
			m.restart(neverCrashes, "")
			m.runAtRandom(t, m.rng.IntN(30))
			resumed += m.recover(t, s)
		}
		err := m.settle()
		if err != nil {
			m.dump()
		}
		require.NoError(t, err, "GATEWAYD_SEED=%d", s)
		cancels += m.cancelled(t)
	}
	t.Logf("GATEWAYD_SEED=%d: %d worlds, %d accounts resumed, %d numbers cancelled", first, rounds, resumed, cancels)
	require.True(t, resumed > 0 || raced, "no account was resumed") // so few worlds may need nobody
}

// recover is the operator's work, until everybody is paid and no account has been stopped for a
// while. It answers how often an account was resumed.
func (m *model) recover(t *testing.T, s uint64) (resumed int) {
	t.Helper()
	m.eth.Lie(chaintest.Honest)
	m.vite.Lie(chaintest.Honest)
	m.eth.SetBaseFee(10)
	if m.rng.IntN(2) == 0 {
		m.eth.LoseDropped() // then only a cancellation fills the numbers that the records forgot
		m.vite.LoseDropped()
	}
	hasty := m.rng.IntN(3) == 0
	m.restart(neverCrashes, "")
	ops, quiet := m.operatorRecovery(t), 0
	for i := range 400 {
		require.NoError(t, m.level(i))
		m.eth.Gossip()
		m.vite.Gossip()
		m.eth.Mine(1)
		m.vite.Mine(1)
		require.NoError(t, m.w.Step(t.Context()), "GATEWAYD_SEED=%d", s)
		require.NoError(t, m.check(), "GATEWAYD_SEED=%d", s)
		stopped := m.stopped(t)
		for _, a := range stopped {
			if m.resume(t, ops, a, hasty) {
				resumed++
			}
		}
		quiet++
		if len(stopped) > 0 || m.checkPayees() != nil {
			quiet = 0
		}
		if quiet > 3*finality {
			return resumed
		}
	}
	m.dump()
	for _, a := range m.stopped(t) {
		t.Log(a.Account, a.State, a.Why, ops.Resume(t.Context(), a.Chain, a.Account, 0))
	}
	require.Fail(t, "not whole", "GATEWAYD_SEED=%d: %v", s, m.checkPayees())
	return 0
}

// operatorRecovery is the operator's program: its own Watcher on the same database and nodes,
// without keys in use.
func (m *model) operatorRecovery(t *testing.T) *recovery.Recovery {
	t.Helper()
	parts := m.parts
	parts.Store, parts.Chains = m.inner, map[chain.ID]chain.Chain{m.eth.ID(): m.eth, "vite": m.vite}
	if m.coins {
		parts.Chains[m.eth.ID()] = chaintest.CoinLedger{Chain: m.eth}
	}
	return recoveryWith(t, parts, m.parts.Signer.(*crashSigner).guard)
}

func (m *model) stopped(t *testing.T) (list []records.Account) {
	t.Helper()
	require.NoError(t, m.inner.View(t.Context(), func(tx *records.Tx) error {
		for _, id := range []chain.ID{m.eth.ID(), "vite"} {
			accounts, err := tx.Recovery().StoppedAccounts(id)
			if err != nil {
				return err
			}
			list = append(list, accounts...)
		}
		return nil
	}))
	return list
}

// resume is one look of the operator at a stopped account. It tells whether the account goes on.
func (m *model) resume(t *testing.T, ops *recovery.Recovery, a records.Account, hasty bool) bool {
	t.Helper()
	wait := func(err error) bool {
		if err != nil && !errors.Is(err, recovery.ErrBehind) && !errors.Is(err, recovery.ErrNotAtRest) && !errors.Is(err, transfers.ErrNothingToDo) && !errors.Is(err, records.ErrConflict) {
			require.NoError(t, err)
		}
		return err != nil
	}
	if hasty {
		list, err := ops.UnknownTxs(t.Context(), a.Chain, a.Account, 0)
		wait(err)
		for _, f := range list {
			wait(ops.Accept(t.Context(), a.Chain, a.Account, f.Tx, "whatever", 0))
		}
	}
	if _, err := ops.SettleAll(t.Context(), a.Chain, a.Account, 0); wait(err) {
		return false
	}
	unknown, err := ops.UnknownTxs(t.Context(), a.Chain, a.Account, 0)
	if wait(err) {
		return false
	}
	for _, f := range unknown {
		if len(f.Refunds) > 0 && wait(ops.Settle(t.Context(), f.Refunds[0], f.Tx)) {
			return false
		}
	}
	return !wait(ops.Resume(t.Context(), a.Chain, a.Account, 0))
}

// cancelled counts the numbers of the source chain that a cancellation has used up.
func (m *model) cancelled(t *testing.T) (n int) {
	t.Helper()
	require.NoError(t, m.inner.View(t.Context(), func(tx *records.Tx) error {
		list, err := tx.OwnTxs().From(m.eth.ID(), records.OwnTx{}, 100_000)
		for _, e := range list {
			cancel, err := tx.Recovery().IsCancel(m.eth.ID(), e.Tx)
			if err != nil {
				return err
			}
			if cancel {
				n++
			}
		}
		return err
	}))
	return n
}
