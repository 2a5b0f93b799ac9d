package index

import (
	"sync"
	"time"
)

// patience is the time for which a chain that is shorter than the stored one counts as that of a
// lagging node behind one address.
const patience = 30 * time.Second

// shorterChains judges whether a chain that is shorter than what is stored took blocks back. The
// zero value is ready, and safe for concurrent use.
type shorterChains struct {
	mu      sync.Mutex
	since   time.Time // zero: it is not shorter
	removed time.Time // when the node announced the removal itself; zero: never
}

// Removed takes the node's word that blocks were removed.
func (s *shorterChains) Removed(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = now
}

// TookBack records whether an answer is shorter, and reports whether blocks were removed: the node
// has announced it, or the state has lasted.
func (s *shorterChains) TookBack(shorter bool, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !shorter:
		s.since = time.Time{}
		return false
	case s.since.IsZero():
		s.since = now
	}
	return now.Sub(s.since) >= patience || now.Sub(s.removed) < patience
}
