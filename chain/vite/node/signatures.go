package node

import (
	"runtime"
	"sync"

	"gatewayd/chain/vite/core"
)

// maxTogether bounds how many signatures are looked at together: more are hardly cheaper, and a bad one has all of them
// looked at again.
const maxTogether = 64

// perChecker is how many signatures must wait for each caller who checks already, for one more to check: fewer are cheaper to
// leave to the next group.
const perChecker = 8

// signatures checks signatures, those together that come while others are checked. One caller checks what waits, its own among
// it; the others wait for it, and if there are many, a few of them check as well. So a single caller waits for nobody, and
// many at a time cost half.
type signatures struct {
	mu      sync.Mutex
	changed *sync.Cond // of busy, and of what was waiting
	waiting []*signature
	busy    int  // callers who check
	crowded bool // the latest check was of several
	most    int
}

// signature is one of them, and once it is done whether it is good.
type signature struct {
	core.Signed
	done, good bool
}

func newSignatures() *signatures {
	s := &signatures{most: runtime.GOMAXPROCS(0)}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// good tells whether the key's owner has signed the message.
func (s *signatures) good(public, message, sign []byte) bool {
	own := &signature{Signed: core.Signed{Public: public, Message: message, Signature: sign}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, own)
	for !own.done {
		if s.busy == s.most || len(s.waiting) < max(1, s.busy*perChecker) {
			s.changed.Wait()
			continue
		}
		s.check()
	}
	return own.good
}

// check takes what waits, after letting in who is about to wait if there were several of late: alone, that only wakes an
// idle processor. It is called with the lock, and gives it up while it computes.
func (s *signatures) check() {
	s.busy++
	if s.crowded || len(s.waiting) > 1 {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
	}
	n := min(len(s.waiting), maxTogether)
	s.crowded = n > 1
	group := s.waiting[:n:n]
	s.waiting = s.waiting[n:]
	s.mu.Unlock()
	results := verifyTogether(group)
	s.mu.Lock()
	s.busy--
	for i, g := range group {
		g.done, g.good = true, results[i]
	}
	s.changed.Broadcast()
}

// verifyTogether tells of each whether it is good. If not all are, each is looked at alone.
func verifyTogether(group []*signature) []bool {
	results := make([]bool, len(group))
	if len(group) > 1 {
		list := make([]core.Signed, len(group))
		for i, g := range group {
			list[i] = g.Signed
		}
		if core.VerifyAll(list) {
			for i := range results {
				results[i] = true
			}
			return results
		}
	}
	for i, g := range group {
		results[i] = core.Verify(g.Public, g.Message, g.Signature)
	}
	return results
}
