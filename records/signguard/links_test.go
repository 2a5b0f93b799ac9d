package signguard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records/signguard"
)

// TestBlocksFollowTheirLine: a final block ends a branch of linked blocks from its number on, so
// that only its successors may be signed in the branch.
func TestBlocksFollowTheirLine(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		block := func(branch, number uint64, prev, hash string) signguard.Signature {
			return signguard.Signature{
				Slot: chain.Slot{Account: "a", Branch: branch, Nonce: number, Prev: prev}, Digest: "receive", PaymentID: 100*branch + number, Hash: hash, Receive: true, Evidence: true,
			}
		}
		allow := func(blocks ...signguard.Signature) error { return g.Allow(t.Context(), "vite", blocks...) }
		require.NoError(t, allow(block(1, 10, "anything", "A10"), block(1, 11, "A10", "A11")), "a line begins anywhere")
		require.NoError(t, g.Close())
		g = open()
		require.NoError(t, allow(block(1, 12, "A11", "A12")))
		for name, b := range map[string]signguard.Signature{
			"another line's block": block(1, 13, "B12", "C13"), "a gap": block(1, 14, "A13", "C14"), "below its beginning": block(1, 9, "anything", "C9"),
			"far below": block(1, 5, "anything", "C5"), "signed before, behind another block": block(1, 12, "B11", "C12"),
		} {
			require.ErrorIs(t, allow(b), signguard.ErrRefused, name)
		}
		require.NoError(t, allow(block(1, 10, "something else", "A10'"), block(1, 11, "A10'", "A11'")), "signed again, with other work")
		require.NoError(t, allow(block(1, 12, "A11'", "A12'"), block(1, 13, "A12", "A13")), "behind either")
		require.NoError(t, allow(block(2, 12, "A11", "B12")), "a new line begins in the middle of another")
		require.NoError(t, allow(block(2, 13, "B12", "B13")))
	})
}

// TestLinesFromBeforeLinks: a branch that was signed by an earlier version, or without nodes,
// continues.
func TestLinesFromBeforeLinks(t *testing.T) {
	onBoth(t, func(t *testing.T, open opener) {
		g := open()
		at := func(number uint64, prev, hash string, evidence bool) signguard.Signature {
			return signguard.Signature{Slot: chain.Slot{Account: "a", Branch: 1, Nonce: number, Prev: prev}, Digest: "receive", PaymentID: number, Hash: hash, Receive: true, Evidence: evidence}
		}
		require.NoError(t, g.Allow(t.Context(), "vite", at(10, "A9", "A10", false)))
		require.ErrorIs(t, g.Allow(t.Context(), "vite", at(12, "A11", "A12", true)), signguard.ErrRefused)
		require.NoError(t, g.Allow(t.Context(), "vite", at(11, "A10", "A11", true)))
		require.ErrorIs(t, g.Allow(t.Context(), "vite", at(12, "B11", "A12", true)), signguard.ErrRefused)
	})
}
