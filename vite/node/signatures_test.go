package node

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

func signedBy(t testing.TB, n uint64, message byte) core.Signed {
	u := newUser(t, n)
	public := u.key.Public()
	return core.Signed{Public: public[:], Message: []byte{message}, Signature: u.key.Sign([]byte{message})}
}

// TestSignaturesTogether has many callers ask at a time, one in seven of them with a bad signature:
// each gets its own answer.
func TestSignaturesTogether(t *testing.T) {
	for _, most := range []int{1, 2} {
		s := newSignatures(&callers{})
		s.most = most
		var callers sync.WaitGroup
		var wrong atomic.Int32
		for caller := range 150 {
			callers.Go(func() {
				for i := range 4 {
					g := signedBy(t, uint64(caller), byte(i))
					bad := (caller+i)%7 == 0
					if bad {
						g.Signature[i] ^= 1
					}
					if s.good(g.Public, g.Message, g.Signature) == bad {
						wrong.Add(1)
					}
				}
			})
		}
		callers.Wait()
		require.Zero(t, wrong.Load())
		require.Zero(t, s.busy)
		require.Empty(t, s.waiting)
	}
}

// TestVerifyTogether: what waits while others are busy is checked in groups of at most maxSigBatch.
func TestVerifyTogether(t *testing.T) {
	s := newSignatures(&callers{})
	s.most = 1
	s.busy = 1 // a check is in progress
	const n = maxSigBatch + 10
	var callers sync.WaitGroup
	answers := make([]bool, n)
	for i := range n {
		g := signedBy(t, uint64(i), 1)
		callers.Go(func() { answers[i] = s.good(g.Public, g.Message, g.Signature) })
	}
	require.Eventually(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.waiting) == 2 && len(s.waiting[1].list) == n-maxSigBatch
	}, time.Minute, time.Millisecond)
	s.mu.Lock()
	require.Len(t, s.waiting[0].list, maxSigBatch)
	s.busy = 0
	s.checkNext() // one of the first group checks it, and has the other checked
	s.mu.Unlock()
	callers.Wait()
	for _, good := range answers {
		require.True(t, good)
	}
	require.Empty(t, s.waiting)
}

// TestKeysAreRemembered: a key that has signed well is read once, one that has not is not kept, and
// memory is bounded.
func TestKeysAreRemembered(t *testing.T) {
	s := newSignatures(&callers{})
	point := new(core.PublicPoint)
	group := func(n int, good bool) *sigBatch {
		public := core.PublicKey{byte(n), byte(n >> 8)}
		return &sigBatch{list: []core.Signed{{Public: public[:], Point: point}}, good: []bool{good}}
	}
	s.storePoints(group(1, false))
	require.Empty(t, s.points)
	s.storePoints(group(1, true))
	again := group(1, true).list
	again[0].Point = nil
	s.loadPoints(again)
	require.Same(t, point, again[0].Point)
	for n := range maxPoints {
		s.storePoints(group(n, true))
	}
	require.LessOrEqual(t, len(s.points), maxPoints)
	for n := range 10 {
		s.storePoints(group(maxPoints+n, true))
		require.LessOrEqual(t, len(s.points), maxPoints)
	}
}
