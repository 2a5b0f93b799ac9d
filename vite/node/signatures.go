package node

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gatewayd/vite/core"
)

// maxSigBatch bounds how many signatures are looked at together: more are hardly cheaper, and a bad
// one has all of them looked at again.
const maxSigBatch = 64

// perChecker is the number of pending signatures per active checker from which another one starts:
// fewer are cheaper in the next group.
const perChecker = 8

// signatures checks signatures, and joins those that arrive during a check. They gather in groups,
// and one caller of each group checks it for all. So a single caller does not wait, and many at a
// time cost half.
type signatures struct {
	mu      sync.Mutex
	waiting []*sigBatch // groups that are open to more, oldest first; all but the last are full
	busy    int         // callers who check, or are about to
	most    int
	callers *callers
	points  map[core.PublicKey]*core.PublicPoint // of keys that have signed of late; never changed in place
}

// sigBatch is a group of signatures.
type sigBatch struct {
	list []core.Signed
	good []bool        // once done
	led  bool          // a caller of the group checks it, or has been asked to
	lead chan struct{} // asks one of the group to check it; buffers the request until he reads it
	done chan struct{} // closed when all of the group may read good
}

func newSignatures(c *callers) *signatures {
	return &signatures{
		most: runtime.GOMAXPROCS(0), callers: c, points: map[core.PublicKey]*core.PublicPoint{},
	}
}

// good reports whether the key's owner has signed the message.
func (s *signatures) good(public, message, sign []byte) bool {
	s.mu.Lock()
	g := s.join(core.Signed{Public: public, Message: message, Signature: sign})
	own := len(g.list) - 1
	s.checkNext()
	s.mu.Unlock()
	select {
	case <-g.done:
	case <-g.lead:
		s.check(g)
	}
	return g.good[own]
}

// join puts a signature into the last group, or into a new one.
func (s *signatures) join(one core.Signed) *sigBatch {
	n := len(s.waiting)
	if n == 0 || len(s.waiting[n-1].list) == maxSigBatch {
		s.waiting = append(s.waiting, &sigBatch{lead: make(chan struct{}, 1), done: make(chan struct{})})
		n++
	}
	g := s.waiting[n-1]
	g.list = append(g.list, one)
	return g
}

// checkNext has the oldest group checked that no one checks yet, if that is worth while now.
func (s *signatures) checkNext() {
	at := slices.IndexFunc(s.waiting, func(g *sigBatch) bool { return !g.led })
	if at < 0 || s.busy == s.most || len(s.waiting[at].list) < s.busy*perChecker {
		return
	}
	s.busy++
	s.waiting[at].led = true
	s.waiting[at].lead <- struct{}{}
}

// check lets in who is about to come, closes the group and checks it.
func (s *signatures) check(g *sigBatch) {
	s.callers.yieldToOthers()
	s.mu.Lock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *sigBatch) bool { return w == g })
	s.loadPoints(g.list)
	s.mu.Unlock()

	g.good = verifyBatch(g.list)
	close(g.done)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	s.storePoints(g)
	s.checkNext()
}

// maxPoints bounds the memory of keys: a megabyte.
const maxPoints = 4096

// loadPoints fills in the points of keys that have signed of late.
func (s *signatures) loadPoints(list []core.Signed) {
	for i := range list {
		if len(list[i].Public) == core.PublicKeySize {
			list[i].Point = s.points[core.PublicKey(list[i].Public)]
		}
	}
}

// storePoints caches the points of keys that have just signed; when there are too many, it clears
// the cache.
func (s *signatures) storePoints(g *sigBatch) {
	for i := range g.list {
		one := &g.list[i]
		if one.Point == nil || !g.good[i] {
			continue
		}
		key := core.PublicKey(one.Public)
		if _, known := s.points[key]; known {
			continue
		}
		if len(s.points) == maxPoints {
			clear(s.points)
		}
		s.points[key] = one.Point
	}
}

// verifyBatch reports for each signature whether it is good. If not all are, each is checked alone.
func verifyBatch(list []core.Signed) []bool {
	results := make([]bool, len(list))
	if len(list) > 1 && verifyAll(list) {
		for i := range results {
			results[i] = true
		}
		return results
	}
	for i, g := range list {
		results[i] = core.Verify(g.Public, g.Message, g.Signature)
	}
	return results
}

// verifyAll reads the points that are not known yet; one that is none stays nil and fails.
func verifyAll(list []core.Signed) bool {
	for i := range list {
		if list[i].Point == nil {
			list[i].Point = core.ReadPoint(list[i].Public)
		}
	}
	return core.VerifyAll(list)
}

// callers counts those inside Submit. What is cheaper to do for many together (signatures, writes
// to the disk) lets the others come before it begins.
type callers struct{ inside atomic.Int32 }

// yieldToOthers yields to runnable goroutines. A single caller does not yield: that would only wake
// an idle processor.
func (c *callers) yieldToOthers() {
	if c.inside.Load() > 1 {
		runtime.Gosched()
	}
}
