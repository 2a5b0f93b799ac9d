package signguard_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

func leave(cause, digest string, payment uint64) signguard.Authorization {
	return signguard.Authorization{Key: cause, Digest: digest, Chain: "eth", Account: "0xhot", PaymentID: payment, Amount: chain.NewAmount(5), At: time.Unix(1, 0)}
}

func signature(number uint64, digest string, payment uint64) signguard.Signature {
	return signguard.Signature{Slot: chain.Slot{Account: "0xhot", Nonce: number}, Digest: digest, PaymentID: payment}
}

// TestAuthorizations: what a cause is authorized for outlives the process, and ends only when
// nothing of it can be paid.
func TestAuthorizations(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		ask := func(list ...signguard.Authorization) []signguard.State {
			states, err := g.Authorize(t.Context(), list)
			require.NoError(t, err)
			return states
		}
		known := func(a signguard.Authorization) signguard.State {
			states, err := g.States(t.Context(), []signguard.Authorization{a})
			require.NoError(t, err)
			return states[0]
		}
		require.Equal(t, signguard.Unknown, known(leave("a", "pay bob 5", 1)))
		require.Equal(t, []signguard.State{signguard.Living, signguard.Living}, ask(leave("a", "pay bob 5", 1), leave("b", "pay bob 5", 2)))
		require.Equal(t, signguard.Moved, known(leave("a", "pay bob 5", 9)))
		require.ErrorIs(t, g.Allow(t.Context(), "eth", signature(0, "pay eve 5", 1)), signguard.ErrUnauthorized)
		require.ErrorIs(t, g.Allow(t.Context(), "bsc", signature(0, "pay bob 5", 1)), signguard.ErrUnauthorized)
		require.NoError(t, g.Allow(t.Context(), "eth", signature(0, "pay bob 5", 1)))

		require.NoError(t, g.Close())
		g = open()
		require.Equal(t, []signguard.State{signguard.Living, signguard.Waits, signguard.Taken, signguard.Waits},
			ask(leave("a", "pay bob 5", 1), leave("a", "pay bob 5", 9), leave("a", "pay eve 5", 3), leave("c", "pay bob 5", 1)))
		require.NoError(t, g.Free(t.Context(), 1))
		require.Equal(t, []signguard.State{signguard.Living}, ask(leave("a", "refund 5", 3)))
		require.ErrorIs(t, g.Allow(t.Context(), "eth", signature(1, "pay bob 5", 1)), signguard.ErrUnauthorized)
		_, err := g.Authorize(t.Context(), []signguard.Authorization{leave("", "x", 1)})
		require.ErrorIs(t, err, signguard.ErrRefused)
	})
}

// TestFilesOfEarlierVersions are read on: what they know as signed may be signed again, anything
// else wants an authorization.
func TestFilesOfEarlierVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard.db")
	db, err := sqlx.Open("sqlite3", path)
	require.NoError(t, err)
	for _, line := range []string{
		`CREATE TABLE guard (chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL,
			digest TEXT NOT NULL, payment_id BIGINT NOT NULL, live INT NOT NULL CHECK (live IN (0,1)), PRIMARY KEY (chain, account, lineage, number))`,
		`CREATE TABLE given (chain TEXT NOT NULL, path_index BIGINT NOT NULL, PRIMARY KEY (chain, path_index))`,
		`INSERT INTO guard VALUES ('eth', '0xhot', 0, 7, 'pay bob 5', 1, 1)`,
	} {
		_, err := db.Exec(line)
		require.NoError(t, err)
	}
	require.NoError(t, db.Close())
	newer := openGuard(t, filepath.Join(t.TempDir(), "guard.db"))
	lacks, err := newer.Lacks(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, "the signature eth 0xhot 0/7", lacks)

	g := openGuard(t, path)
	require.NoError(t, g.Allow(t.Context(), "eth", signature(7, "pay bob 5", 1)))
	require.ErrorIs(t, g.Allow(t.Context(), "eth", signature(7, "pay eve 5", 1)), signguard.ErrRefused)
	require.ErrorIs(t, g.Allow(t.Context(), "eth", signature(8, "pay bob 5", 2)), signguard.ErrUnauthorized)
	states, err := g.States(t.Context(), []signguard.Authorization{leave("a", "pay bob 5", 1), leave("a", "pay eve 5", 1)})
	require.NoError(t, err)
	require.Equal(t, []signguard.State{signguard.Unknown, signguard.Waits}, states, "the number may be the same payment's, and is nobody else's")
}

// TestLacksAuthorizations: a backup that contains an authorization is newer than a file that does
// not.
func TestLacksAuthorizations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard.db")
	backup := openGuard(t, path)
	_, err := backup.Authorize(t.Context(), []signguard.Authorization{leave("a", "pay bob 5", 1)})
	require.NoError(t, err)
	require.NoError(t, backup.Close())
	g := openGuard(t, filepath.Join(t.TempDir(), "guard.db"))
	lacks, err := g.Lacks(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, "the authorization for a", lacks)
	_, err = g.Authorize(t.Context(), []signguard.Authorization{leave("a", "refund 5", 2)})
	require.NoError(t, err)
	lacks, err = g.Lacks(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, lacks)
}
