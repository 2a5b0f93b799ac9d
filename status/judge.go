package status

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

const (
	// stillBlocks is the number of missing blocks from which the head counts as stalled, stillMined
	// that on ledgers of coins, where the time between blocks is random: once in centuries by
	// chance.
	stillBlocks, stillMined = 8, 20
	// fewBlocks are no distance, whatever their time: they may have come a moment ago.
	fewBlocks = 2
	// behindAtMost bounds the follower's distance from the nodes' head for a short time, in blocks'
	// time, and farBehind the distance that is reported without delay.
	behindAtMost = 30 * time.Second
	farBehind    = 10 * time.Minute
	// leastInterval replaces an unknown time between blocks, or one that a test node made up.
	leastInterval = 100 * time.Millisecond
	// faultFor is the time for which a node's wrong answer is a condition, and rightAfter the time
	// without another one after which the node counts as right again.
	faultFor   = 10 * time.Minute
	rightAfter = time.Minute
)

// maxFailing is the time for which nodes may fail to answer before that is a condition: one lost
// answer is none.
func (w *watched) maxFailing() time.Duration { return w.every * 3 / 2 }

// limitedFor is the time for which nodes may refuse requests as too frequent before that is a
// condition. They work, and most limits of providers count seconds.
const limitedFor = 45 * time.Second

// maxUnread is the time for which no head may be read before that is a condition.
func (w *watched) maxUnread(err error) time.Duration {
	if errors.Is(err, chain.ErrLimited) {
		return max(w.maxFailing(), limitedFor)
	}
	return w.maxFailing()
}

// maxStill is the time for which the head may stay unchanged: three checks, or the time of
// stillBlocks blocks.
func (w *watched) maxStill() time.Duration {
	if w.mined {
		return max(3*w.every, stillMined*w.interval)
	}
	return max(3*w.every, stillBlocks*w.interval)
}

// maxAge is the maximum age of the newest block by the clock, as clocks differ.
func (w *watched) maxAge() time.Duration { return max(12*w.every, 2*w.maxStill()) }

// maxBehind is the time for which the follower may stay unchanged below the nodes' head.
func (w *watched) maxBehind() time.Duration { return 3 * w.every }

// observation is the state of a chain's nodes at one time.
type observation struct {
	id    chain.ID
	head  chain.Head
	err   error
	nodes []chain.NodeState
	loss  chain.TracingLoss
}

// fault is the monitor's memory of a node.
type fault struct {
	count uint64    // wrong answers
	at    time.Time // of the last check that found a new one; zero: none
	down  time.Time // since when it does not answer; zero: it does
}

// after returns the memory after another check.
func (f fault) after(now time.Time, n chain.NodeState) fault {
	if n.Faults > f.count {
		f.at = now
	}
	f.count = n.Faults
	switch {
	case n.Up || n.AskedAt.IsZero():
		f.down = time.Time{}
	case f.down.IsZero():
		f.down = now
	}
	return f
}

// watched is the monitor's state of a chain between two checks. Times are the daemon's own, never
// the blocks'.
type watched struct {
	id       chain.ID
	every    time.Duration // between two checks
	onDemand bool
	mined    bool          // a ledger of coins
	interval time.Duration // between blocks; 0: not known
	measured time.Time

	failing time.Time   // since when the nodes give no usable answer; zero: they do
	head    chain.Point // last seen
	moved   time.Time   // when it was first seen
	aged    time.Time   // since when the latest block is too old; zero: it is not
	cursor  records.Cursor
	waiting time.Time // since when the follower has not moved below the head; zero: it does
	behind  time.Time // since when the follower is more than behindAtMost below the head; zero: it is not
	faults  map[string]fault
}

// judge returns the faults.
func (w *watched) judge(now time.Time, s observation, cur records.Cursor) []records.Condition {
	found := w.judgeNodes(now, s.nodes)
	if s.err != nil {
		if w.failing.IsZero() {
			w.failing = now
		}
		if now.Sub(w.failing) >= w.maxUnread(s.err) {
			found = append(found, w.silent(now, s))
		}
		return found
	}
	w.failing = time.Time{}
	if c, ok := w.stale(now, s.head); ok {
		found = append(found, c)
	}
	if c, ok := w.following(now, s.head, cur); ok {
		found = append(found, c)
	}
	return found
}

func (w *watched) stopping(k Kind, format string, args ...any) records.Condition {
	return records.Condition{Kind: string(k), Chain: w.id, Stops: true, Detail: fmt.Sprintf(format, args...)}
}

// silent distinguishes nodes that do not answer from nodes that contradict each other.
func (w *watched) silent(now time.Time, s observation) records.Condition {
	up, why := 0, []string{}
	for _, n := range s.nodes {
		if n.Up {
			up++
		} else {
			why = append(why, n.Name+": "+n.Why)
		}
	}
	kind, what := NodesDown, "too few nodes of chain %s answer, for %s: %s"
	if up > len(s.nodes)/2 && len(s.nodes) > 1 {
		kind, what, why = NodesDisagree, "the nodes of chain %s disagree, for %s: %s", nil
	}
	if len(why) == 0 {
		why = []string{chain.PlainError(s.err)}
	}
	return w.stopping(kind, what, w.id, now.Sub(w.failing).Truncate(time.Second), strings.Join(why, "; "))
}

// stale checks whether blocks still arrive: whether the head moves by our clock, and whether its
// block is recent.
func (w *watched) stale(now time.Time, head chain.Head) (c records.Condition, is bool) {
	if head.Latest != w.head {
		w.head, w.moved = head.Latest, now
	}
	if w.onDemand {
		return c, false
	}
	still, age := now.Sub(w.moved), now.Sub(head.Time)
	if head.Time.IsZero() || age <= w.maxAge() {
		w.aged = time.Time{}
	} else if w.aged.IsZero() {
		w.aged = now
	}
	switch {
	case still > w.maxStill():
		return w.stopping(NodesStale, "chain %[2]s has had no block after %[1]d for %[3]s", head.Latest.Height, w.id, still.Truncate(time.Second)), true
	case !w.aged.IsZero() && now.Sub(w.aged) >= w.maxFailing(): // the first block of a new chain has any time
		return w.stopping(NodesStale, "the latest block %d of chain %s is %s old", head.Latest.Height, w.id, age.Truncate(time.Second)), true
	}
	return c, false
}

// following holds what is stored against the nodes' own head.
func (w *watched) following(now time.Time, head chain.Head, cur records.Cursor) (c records.Condition, is bool) {
	if cur.Halted { // reported as such
		return c, false
	}
	below := cur.Missing || cur.Height < head.Latest.Height || cur.Final.Height < min(head.Final.Height, cur.Height)
	if moved := cur.Point != w.cursor.Point || cur.Final != w.cursor.Final; !below || moved {
		w.waiting = time.Time{}
	}
	if w.cursor = cur; !below {
		w.behind = time.Time{}
		return c, false
	}
	if w.waiting.IsZero() {
		w.waiting = now
	}
	if stood := now.Sub(w.waiting); stood > w.maxBehind() {
		return w.stopping(FollowerStuck, "chain %s has not been followed for %s: the records are at block %d, the nodes at %d", w.id, stood.Truncate(time.Second), cur.Height, head.Latest.Height), true
	}
	return w.catchingUp(now, head, cur)
}

// catchingUp compares the stored height with the nodes' head. A chain that was not followed before
// is not behind.
func (w *watched) catchingUp(now time.Time, head chain.Head, cur records.Cursor) (c records.Condition, is bool) {
	lag := uint64(0)
	if !cur.Missing && cur.Height < head.Latest.Height {
		lag = head.Latest.Height - cur.Height
	}
	late := time.Duration(lag) * max(w.interval, leastInterval)
	if late <= behindAtMost || lag <= fewBlocks {
		w.behind = time.Time{}
		return c, false
	}
	if w.behind.IsZero() {
		w.behind = now
	}
	if late <= farBehind && now.Sub(w.behind) < w.maxFailing() {
		return c, false
	}
	return w.stopping(FollowerBehind, "chain %s is %[4]s behind: the records are at block %[2]d, the nodes at %[3]d", w.id, cur.Height, head.Latest.Height, late.Truncate(time.Second)), true
}

// tracing reports blocks that no node can trace. A loss that lasts a few seconds is not worth a
// condition.
func (w *watched) tracing(now time.Time, loss chain.TracingLoss, noted records.Tracing) (c records.Condition, is bool) {
	switch {
	case loss.Why == "":
		return c, false
	case loss.Required:
		return w.stopping(TracingLost, "chain %s waits at block %d, because traces is on: %s", w.id, loss.Height, loss.Why), true
	case !noted.Traced, noted.LostAt.IsZero(), now.Sub(noted.LostAt) < w.maxFailing():
		return c, false
	}
	return records.Condition{
		Kind: string(TracingLost), Chain: w.id,
		Detail: fmt.Sprintf("blocks of chain %s have passed untraced since %s, %d so far: %s. Balances show what contracts sent in them",
			w.id, noted.LostAt.UTC().Format("15:04:05 UTC"), noted.Untraced, loss.Why),
	}, true
}

// judgeNodes returns the conditions of single nodes. Whether the others suffice is another
// condition.
func (w *watched) judgeNodes(now time.Time, nodes []chain.NodeState) (found []records.Condition) {
	for _, n := range nodes {
		f := w.faults[n.Name].after(now, n)
		w.faults[n.Name] = f
		kind := NodeFaulty
		var detail string
		switch {
		case n.LeftOut:
			detail = fmt.Sprintf("is excluded for now: %d wrong answers, the last: %s", n.Faults, n.LastFault)
		case !f.down.IsZero() && now.Sub(f.down) >= w.maxFailing(): // one lost answer is no condition
			detail = "does not answer: " + n.Why
		case f.at.IsZero() || now.Sub(f.at) >= faultFor:
			continue
		case now.Sub(f.at) >= rightAfter && n.AskedAt.After(f.at):
			kind, detail = NodeMended, fmt.Sprintf("is correct again: it gave %d wrong answers until %s, the last: %s", n.Faults, f.at.UTC().Format("15:04:05 UTC"), n.LastFault)
		default:
			detail = fmt.Sprintf("has given %d wrong answers, the last: %s", n.Faults, n.LastFault)
		}
		found = append(found, records.Condition{
			Kind: string(kind), Chain: w.id, Subject: n.Name, Detail: fmt.Sprintf("node %s of chain %s %s", n.Name, w.id, detail),
		})
	}
	return found
}
