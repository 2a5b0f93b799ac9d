package watcher

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// TestRestoredBackupNeverPaysTwice puts the database back to an earlier moment, with what was
// signed since still in the nodes' memory. The daemon may stop and ask for an operator; it must not
// pay twice (docs/payment-rules.md 5). The sign-guard is not restored.
func TestRestoredBackupNeverPaysTwice(t *testing.T) {
	restoredPaysOnce(t, crashes(t)/100+4, pools(1))
}

// TestRestoredCoinsNeverPayTwice is the same on a ledger of coins.
func TestRestoredCoinsNeverPayTwice(t *testing.T) {
	restoredPaysOnce(t, crashes(t)/100+4, newCoinsModel)
}

// TestRestoredPoolNeverPaysTwice is the same with three paying accounts on each chain.
func TestRestoredPoolNeverPaysTwice(t *testing.T) {
	restoredPaysOnce(t, crashes(t)/200+2, pools(3))
}

func restoredPaysOnce(t *testing.T, rounds int, fresh modelMaker) {
	if raced {
		rounds = 1
	}
	first := seed(t)
	stopped := 0
	for s := first; s < first+uint64(rounds); s++ {
		m := fresh(t, s, map[string]int{})
		m.restart(neverCrashes, "")
		m.runAtRandom(t, 20+m.rng.IntN(40))
		m.bind()
		m.closed = true // a user whose binding the backup does not have is another story
		backup := m.backup(t)
		m.runAtRandom(t, 1+m.rng.IntN(40))
		m.restore(t, backup)
		m.restart(neverCrashes, "")
		m.runAtRandom(t, 60)
		if m.settle() != nil {
			stopped++
		}
		require.NoError(t, m.check(), "GATEWAYD_SEED=%d", s)
	}
	t.Logf("GATEWAYD_SEED=%d: %d of %d restored daemons asked for an operator", first, stopped, rounds)
}

// TestOlderGuardNeverPaysTwice puts the sign-guard back to an earlier moment beside newer records,
// as a daemon does that sees it: every account that pays is halted, and nothing is paid twice.
func TestOlderGuardNeverPaysTwice(t *testing.T) {
	rounds := crashes(t)/400 + 1
	if raced {
		rounds = 1
	}
	first := seed(t)
	for s := first; s < first+uint64(rounds); s++ {
		m := []modelMaker{pools(1), pools(2), pools(3), newCoinsModel}[s%4](t, s, map[string]int{})
		m.restart(neverCrashes, "")
		m.runAtRandom(t, 10+m.rng.IntN(30))
		path := filepath.Join(filepath.Dir(m.path), "guard.db")
		guard := m.parts.Signer.(*crashSigner).guard
		backup := guardFile(t, m, guard, path, nil)
		m.restart(neverCrashes, "")
		m.runAtRandom(t, 1+m.rng.IntN(40))
		guardFile(t, m, m.parts.Signer.(*crashSigner).guard, path, backup)
		require.NoError(t, m.inner.Update(t.Context(), func(tx *records.Tx) error {
			_, err := records.AdoptGuard(tx, records.Guard{ID: "old"}, []chain.ID{m.eth.ID(), "vite"}, "a test")
			return err
		}))
		m.restart(neverCrashes, "")
		m.runAtRandom(t, 60)
		require.NoError(t, m.check(), "GATEWAYD_SEED=%d", s)
	}
	t.Logf("GATEWAYD_SEED=%d: %d sign-guards", first, rounds)
}

// guardFile closes a sign-guard, puts other bytes in the place of its file unless they are nil,
// opens it again for the signer, and answers the bytes that were there.
func guardFile(t *testing.T, m *model, g *signguard.Guard, path string, other []byte) (was []byte) {
	t.Helper()
	require.NoError(t, g.Close())
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	if other != nil {
		require.NoError(t, os.WriteFile(path, other, 0o600))
	}
	again, err := signguard.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, again.Close()) })
	m.parts.Signer = newCrashSigner(m.fuse, again, m.eth, m.vite)
	return was
}

func (m *model) runAtRandom(t *testing.T, rounds int) {
	t.Helper()
	for range rounds {
		m.randomEvents()
		m.step()
		require.NoError(t, m.check())
	}
}

// backup is the bytes of the closed database.
func (m *model) backup(t *testing.T) []byte {
	t.Helper()
	require.NoError(t, m.inner.Close())
	bytes, err := os.ReadFile(m.path)
	require.NoError(t, err)
	m.open()
	return bytes
}

func (m *model) restore(t *testing.T, backup []byte) {
	t.Helper()
	require.NoError(t, m.inner.Close())
	require.NoError(t, os.WriteFile(m.path, backup, 0o600))
	m.open()
	m.restored = true
}
