package signguard_test

import (
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// TestSlotOfSeveralPayments: a number is signed for exactly the payments of its first transaction,
// in their order, and each of them is free again only when it lost its place.
func TestSlotOfSeveralPayments(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		batch := func(number uint64, payments ...uint64) (list []signguard.Signature) {
			for place, id := range payments {
				list = append(list, signguard.Signature{
					Slot: chain.Slot{Account: "0xhot", Nonce: number}, Place: place, Digest: "pay", PaymentID: id, Receive: true,
				})
			}
			return list
		}
		allow := func(list []signguard.Signature, more ...signguard.Signature) error {
			return g.Allow(t.Context(), "eth", append(list, more...)...)
		}
		require.NoError(t, allow(batch(7, 1, 2, 3)))
		require.NoError(t, allow(batch(7, 1, 2, 3)), "a replacement")
		require.NoError(t, allow(batch(7, 1, 2, 3), batch(7, 1, 2, 3)...), "twice in one call")
		for name, payments := range map[string][]uint64{"one less": {1, 2}, "one more": {1, 2, 3, 4}, "another": {1, 2, 4}, "another order": {2, 1, 3}, "one alone": {1}} {
			require.ErrorIs(t, allow(batch(7, payments...)), signguard.ErrRefused, name)
		}
		other := batch(7, 1, 2, 3)
		other[1].Digest = "pay more"
		require.ErrorIs(t, allow(other), signguard.ErrRefused)
		require.ErrorIs(t, allow(batch(8, 3)), signguard.ErrRefused, "it has a slot")
		require.ErrorIs(t, allow(batch(8, 4, 2, 5)), signguard.ErrRefused, "one of them has a slot")
		require.ErrorIs(t, allow(batch(8, 9), batch(9, 4, 9, 5)...), signguard.ErrRefused, "one of them is in the same call twice")
		require.NoError(t, allow(batch(8, 4, 5)), "nothing of what was refused is stored")

		require.NoError(t, g.Decide(t.Context(), []signguard.Outcome{
			{Chain: "eth", Account: "0xhot", Number: 7, Place: 1, Member: true},
			{Chain: "eth", Account: "0xhot", Number: 7, Place: 2, Member: true, Paid: true, Receive: true},
		}))
		for payment, undecided := range map[uint64]bool{1: true, 2: false, 3: false, 4: true} {
			is, err := g.Undecided(t.Context(), payment)
			require.NoError(t, err)
			require.Equal(t, undecided, is, payment)
		}
		require.NoError(t, allow(batch(9, 2)), "it lost its place, and is signed alone")
		require.ErrorIs(t, allow(batch(10, 1)), signguard.ErrRefused)
		require.NoError(t, g.Free(t.Context(), 1))
		require.NoError(t, allow(batch(10, 1)))
		require.NoError(t, allow(batch(7, 1, 2, 3)), "the bytes that were signed may be signed again: at most one can stand in the chain")

		linked := func(number, payment uint64, place int) signguard.Signature {
			return signguard.Signature{Slot: chain.Slot{Account: "linked", Branch: 1, Nonce: number}, Place: place, Digest: "pay", PaymentID: payment, Receive: true}
		}
		require.NoError(t, g.Allow(t.Context(), "vite", linked(1, 21, 0), linked(1, 22, 1), linked(2, 23, 0)))
		require.NoError(t, g.Decide(t.Context(), []signguard.Outcome{{Chain: "vite", Account: "linked", Branch: 1, Number: 1, Member: true}}))
		for payment, undecided := range map[uint64]bool{21: false, 22: true, 23: true} {
			is, err := g.Undecided(t.Context(), payment)
			require.NoError(t, err)
			require.Equal(t, undecided, is, "what follows a payment of a batch has its own outcome: %d", payment)
		}

		signed, err := g.SignedAt(t.Context(), "eth", "0xhot", 7)
		require.NoError(t, err)
		require.Equal(t, []signguard.Signed{{Digest: "pay", PaymentID: 1}, {Place: 1, Digest: "pay", PaymentID: 2}, {Place: 2, Digest: "pay", PaymentID: 3}}, signed)
	})
}

// TestPlacesOfEarlierVersions: what was signed when a number had one payment stays signed.
func TestPlacesOfEarlierVersions(t *testing.T) {
	test := func(t *testing.T, driver, at string, open func() *signguard.Guard) {
		db, err := sqlx.Open(driver, at)
		require.NoError(t, err)
		for _, line := range []string{
			`CREATE TABLE guard (chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL,
				digest TEXT NOT NULL, payment_id BIGINT NOT NULL, live INT NOT NULL CHECK (live IN (0,1)), cause TEXT NOT NULL DEFAULT '',
				PRIMARY KEY (chain, account, lineage, number))`,
			`CREATE UNIQUE INDEX guard_live_payment ON guard (payment_id, chain, account, lineage) WHERE live = 1`,
			`CREATE INDEX guard_number ON guard (chain, account, number, lineage)`,
			`INSERT INTO guard (chain, account, lineage, number, digest, payment_id, live, cause) VALUES ('eth', '0xhot', 0, 7, 'pay bob 5', 1, 1, 'a'), ('eth', '0xhot', 0, 8, 'pay dan 5', 2, 0, '')`,
		} {
			_, err := db.Exec(line)
			require.NoError(t, err)
		}
		require.NoError(t, db.Close())
		for range 2 {
			g := open()
			require.NoError(t, g.Allow(t.Context(), "eth", signature(7, "pay bob 5", 1)))
			require.ErrorIs(t, g.Allow(t.Context(), "eth", signature(7, "pay eve 5", 1)), signguard.ErrRefused)
			for number, want := range map[uint64]signguard.Signed{7: {Digest: "pay bob 5", PaymentID: 1, Cause: "a", Live: true}, 8: {Digest: "pay dan 5", PaymentID: 2}} {
				signed, err := g.SignedAt(t.Context(), "eth", "0xhot", number)
				require.NoError(t, err)
				require.Equal(t, []signguard.Signed{want}, signed)
			}
		}
	}
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "guard.db")
		test(t, "sqlite3", path, func() *signguard.Guard { return openGuard(t, path) })
	})
	t.Run("server", func(t *testing.T) {
		url := emptyDatabase(t)
		test(t, "pgx", url, func() *signguard.Guard { return openServer(t, url) })
	})
}
