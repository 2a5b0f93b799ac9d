package quorum

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
)

const (
	// restAfter failed calls in a row a node is not called at all for firstRest, twice as long
	// after each further failure, at most lastRest.
	restAfter = 3
	firstRest = 5 * time.Second
	lastRest  = 30 * time.Second

	// leaveOutAfter wrong answers a node is left out for firstLeave, twice as long each time it is
	// wrong again, at most lastLeave. Once it was right for pardonAfter, all is forgotten but the
	// count.
	leaveOutAfter = 3
	firstLeave    = time.Minute
	lastLeave     = time.Hour
	pardonAfter   = 10 * time.Minute

	// maxText bounds the stored text of an error.
	maxText = 300
)

// ErrResting is a node that is not called because it did not answer lately.
var ErrResting = errors.New("excluded after repeated failures")

// ErrClosed is a node that is no longer configured.
var ErrClosed = errors.New("no longer configured")

// Node is the known state of one node. It is safe for concurrent use. Create one with New.
type Node struct {
	name string
	only bool               // the only node is never skipped: no other could answer
	log  logrus.FieldLogger // may be nil

	behind sync.WaitGroup // the call that was left behind

	mu       sync.Mutex
	state    chain.NodeState // Name and LeftOut are set in State
	failures int             // calls in a row that were not answered
	rest     time.Duration
	restTill time.Time
	down     bool // it was logged that it does not answer

	strikes   int // wrong answers since it was right for long
	struckAt  time.Time
	leave     time.Duration
	leaveTill time.Time
	left      bool   // it was logged that it is left out
	logged    string // kind of the fault that was logged last
	side      string // the last block of its own that the others did not have

	late   context.CancelFunc // ends the call that was left behind; nil: there is none
	closed bool
}

// New returns a node without known state. name is shown to people and must contain no secret; only
// means that no other node is configured.
func New(name string, only bool, log logrus.FieldLogger) *Node {
	return &Node{name: name, only: only, log: log}
}

// Watched is the node itself: what embeds it is a Member.
func (n *Node) Watched() *Node { return n }

// Close ends the call that was left behind, if there is one, and waits for it.
func (n *Node) Close() {
	n.mu.Lock()
	n.closed = true
	if n.late != nil {
		n.late()
	}
	n.mu.Unlock()
	n.behind.Wait()
}

// State returns the present state.
func (n *Node) State() chain.NodeState {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.state
	s.Name, s.LeftOut = n.name, !n.only && time.Now().Before(n.leaveTill)
	return s
}

// Willing reports whether the node is asked first: it answers, it was not wrong lately, and it does
// not still work on an earlier question.
func (n *Node) Willing() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	return n.only || n.late == nil && !now.Before(n.leaveTill) && !now.Before(n.restTill)
}

// Ready is ErrResting while the node is not to be called, and ErrClosed after Close.
func (n *Node) Ready() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return fmt.Errorf("%s: %w", n.name, ErrClosed)
	}
	if !n.only && time.Now().Before(n.restTill) {
		return fmt.Errorf("%s: %w", n.name, ErrResting)
	}
	return nil
}

// RecordCall records the end of a call: nil when the node answered, even with a refusal; else the
// reason for the missing answer. A call whose ctx was canceled does not count.
func (n *Node) RecordCall(ctx context.Context, failure error) {
	if failure != nil && errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed { // what its last calls came to is of no interest
		return
	}
	n.state.AskedAt = time.Now()
	if failure == nil {
		n.recordAnswer()
		return
	}
	n.state.Up, n.state.Why = false, cutText(chain.PlainError(failure))
	n.failures++
	if n.failures < restAfter {
		return
	}
	n.rest = min(max(2*n.rest, firstRest), lastRest)
	n.restTill = time.Now().Add(n.rest)
	if !n.down {
		n.down = true
		n.warn("the node does not answer: "+n.state.Why, failure)
	}
}

// recordAnswer is called with mu held.
func (n *Node) recordAnswer() {
	n.state.Up, n.state.Why, n.failures, n.rest = true, "", 0, 0
	if n.down {
		n.down = false
		n.info("the node answers again")
	}
	if n.left && !time.Now().Before(n.leaveTill) {
		n.left, n.logged = false, ""
		n.info("the node is used again")
	}
}

// RecordHead records the newest block that the node names.
func (n *Node) RecordHead(height uint64, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.state.Head, n.state.HeadTime = height, at
}

// RecordWrong counts an answer that was proven wrong or that a majority contradicts, and returns
// err. kind is a word for its subject: the log receives changes only, not each answer.
func (n *Node) RecordWrong(kind string, err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addStrike(kind, err)
	return err
}

// RecordMinorityBlock counts a block of the node's own that a majority does not have, once for each
// such block: nodes that are honest may show a block that the others leave for as long as it takes
// them to leave it too. It answers err.
func (n *Node) RecordMinorityBlock(block string, err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.side != block {
		n.side = block
		n.addStrike("block", err)
	}
	return err
}

// addStrike is called with mu held.
func (n *Node) addStrike(kind string, err error) {
	now := time.Now()
	n.state.Faults++
	n.state.LastFault = cutText(chain.PlainError(err))
	if n.state.Up {
		n.state.Why = n.state.LastFault
	}
	if n.logged != kind {
		n.logged = kind
		n.warn("the node is wrong: "+n.state.LastFault, err)
	}
	if now.Sub(n.struckAt) > max(pardonAfter, n.leave) {
		n.strikes, n.leave = 0, 0
	}
	n.struckAt = now
	if n.strikes++; n.strikes < leaveOutAfter || n.only || now.Before(n.leaveTill) {
		return
	}
	n.strikes = leaveOutAfter - 1 // one more, and it is skipped again
	n.leave = min(max(2*n.leave, firstLeave), lastLeave)
	n.leaveTill, n.left = now.Add(n.leave), true
	n.warn(fmt.Sprintf("the node is excluded for %s: wrong %d times, last: %s", n.leave, n.state.Faults, n.state.LastFault), err)
}

// warn logs in words; a technical term is added as a field where it differs.
func (n *Node) warn(text string, err error) {
	if n.log == nil {
		return
	}
	log := n.log.WithField("node", n.name)
	if raw := err.Error(); !strings.HasSuffix(text, cutText(raw)) {
		log = log.WithField("error", cutText(raw))
	}
	log.Warn(text)
}

func (n *Node) info(text string) {
	if n.log != nil {
		n.log.WithField("node", n.name).Info(text)
	}
}

// cutText is a text cut to what a log line bears.
func cutText(text string) string { return text[:min(len(text), maxText)] }
