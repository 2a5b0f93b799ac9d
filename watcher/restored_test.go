package watcher

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRestoredBackupNeverPaysTwice puts the database back to an earlier moment, with what was signed since still in the nodes' memory.
// The daemon may stop and ask for an operator; it must not pay twice (docs/payment-rules.md 5). The sign-guard is not restored.
func TestRestoredBackupNeverPaysTwice(t *testing.T) {
	restoredNeverPaysTwice(t, crashes(t)/100+4, 1)
}

// TestRestoredPoolNeverPaysTwice is the same with three paying accounts on each chain.
func TestRestoredPoolNeverPaysTwice(t *testing.T) {
	restoredNeverPaysTwice(t, crashes(t)/200+2, 3)
}

func restoredNeverPaysTwice(t *testing.T, rounds, accounts int) {
	if raced {
		rounds = 1
	}
	first := seed(t)
	stopped := 0
	for s := first; s < first+uint64(rounds); s++ {
		m := newPoolModel(t, s, map[string]int{}, accounts)
		m.restart(immortal, "")
		m.wander(t, 20+m.rng.IntN(40))
		m.bind()
		m.closed = true // a user whose binding the backup does not have is another story
		backup := m.backup(t)
		m.wander(t, 1+m.rng.IntN(40))
		m.restore(t, backup)
		m.restart(immortal, "")
		m.wander(t, 60)
		if m.settle() != nil {
			stopped++
		}
		require.NoError(t, m.check(), "GATEWAYD_SEED=%d", s)
	}
	t.Logf("GATEWAYD_SEED=%d: %d of %d restored daemons asked for an operator", first, stopped, rounds)
}

func (m *model) wander(t *testing.T, rounds int) {
	t.Helper()
	for range rounds {
		m.happen()
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
