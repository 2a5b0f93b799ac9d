package watcher

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
)

// crashes is how many deaths TestKilledAnywhere goes through; GATEWAYD_CRASHES asks for more, for
// the nightly run.
func crashes(t *testing.T) int {
	t.Helper()
	if n := number(t, "GATEWAYD_CRASHES"); n > 0 {
		return n
	}
	switch {
	case raced:
		return 60
	case testing.Short():
		return 200
	}
	return 2000
}

// deathsInSchedule and deathsOfModel are the deaths of a model: few of each seed for
// GATEWAYD_SCHEDULES, which is a number of seeds, and else many.
const deathsInSchedule, deathsOfModel = 20, 120

// number is that of a variable; 0: it is not set.
func number(t *testing.T, variable string) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return n
}

// shortRun reports whether simulations take a few of their steps only.
func shortRun() bool { return raced || testing.Short() }

// seed is the model's seed: GATEWAYD_SEED to repeat a run, else the time.
func seed(t *testing.T) uint64 {
	t.Helper()
	if text := os.Getenv("GATEWAYD_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		return n
	}
	return uint64(time.Now().UnixNano())
}

// TestKilledAnywhere is a daemon that dies thousands of times, under re-orgs, dropped transactions
// and lying nodes. No payee may ever have more than is due, and in the end everybody has all of it.
func TestKilledAnywhere(t *testing.T) {
	killedAnywhere(t, crashes(t), pools(1), false)
}

// TestCoinsKilledAnywhere is the same on a ledger of coins.
func TestCoinsKilledAnywhere(t *testing.T) {
	killedAnywhere(t, crashes(t), newCoinsModel, false)
}

// TestPoolKilledAnywhere is the same with three paying accounts on each chain, which share what
// they have meanwhile.
func TestPoolKilledAnywhere(t *testing.T) {
	killedAnywhere(t, crashes(t)/3, pools(3), false)
}

// TestKilledOnOneChain is the same with a process for each chain, of which one dies at a time: the
// other one works on with what it remembers.
func TestKilledOnOneChain(t *testing.T) {
	killedAnywhere(t, crashes(t)/3, pools(2), true)
}

// modelMaker makes a model at rest.
type modelMaker = func(t *testing.T, seed uint64, census map[string]int) *model

// pools makes models with as many paying accounts on each chain.
func pools(accounts int) modelMaker {
	return func(t *testing.T, seed uint64, census map[string]int) *model {
		t.Helper()
		return newPoolModel(t, seed, census, accounts)
	}
}

func killedAnywhere(t *testing.T, most int, fresh modelMaker, apart bool) {
	t.Helper()
	first := seed(t)
	census := map[string]int{}
	deaths, lives := 0, deathsOfModel
	if n := number(t, "GATEWAYD_SCHEDULES"); n > 0 {
		most, lives = n*deathsInSchedule, deathsInSchedule
	}
	s := first
	for ; deaths < most; s++ {
		one := func(t *testing.T) { // its files go when it ends
			m := fresh(t, s, census)
			if apart {
				m.apart = map[chain.ID]*Watcher{}
			}
			deaths += m.runWithCrashes(t, s, min(lives, most-deaths))
			m.finish(t, s)
			merges, children := m.eth.Merges()
			census["merges"] += merges
			census["children"] += children
		}
		if !t.Run("", one) {
			return
		}
	}
	t.Logf("GATEWAYD_SEED=%d: %d schedules, %d deaths: %v", first, s-first, deaths, census)
	if deaths < 1000 {
		return // too few to be sure of each step
	}
	if census["batches on btc"] > 0 {
		require.Positive(t, census["children"])
		require.Greater(t, census["merges"], census["children"])
	} else {
		require.Positive(t, census["batches on eth"])
		require.Positive(t, census["failed in batches on eth"])
	}
	require.Positive(t, census["batches on vite"])
	for _, step := range steps {
		if census["batches on btc"] > 0 && strings.HasSuffix(step, "freeing the guard") {
			continue // a number is void only if a transaction of another spends its coin
		}
		require.Positive(t, census[step], "no death %s", step)
	}
}

// finish has the daemon finish its work, and checks that everybody has what is due.
func (m *model) finish(t *testing.T, s uint64) {
	t.Helper()
	require.NoError(t, m.check(), "GATEWAYD_SEED=%d", s)
	err := m.settle()
	if err != nil {
		m.dump()
	}
	require.NoError(t, err, "GATEWAYD_SEED=%d", s)
	for _, c := range []*chaintest.Chain{m.eth, m.vite} {
		batches, made, failed := c.Batches()
		m.fuse.census["batches on "+string(c.ID())] += batches
		m.fuse.census["payments in batches on "+string(c.ID())] += made
		m.fuse.census["failed in batches on "+string(c.ID())] += failed
	}
}

// steps is where the daemon can die.
var steps = [...]string{
	"begin", "before the commit", "after the commit", "reading a block",
	"before the guard", "after the guard", "before freeing the guard", "after freeing the guard",
	"before preparing", "after the signature", "before sending", "after sending",
}

// runWithCrashes runs one model through so many crashes and returns how many there were.
func (m *model) runWithCrashes(t *testing.T, s uint64, lives int) (deaths int) {
	t.Helper()
	for deaths < lives {
		if m.rng.IntN(20) == 0 {
			m.reopen()
		}
		if m.rng.IntN(3) == 0 {
			m.restart(m.rng.IntN(100), "")
		} else {
			m.restart(m.rng.IntN(3), steps[m.rng.IntN(len(steps))])
		}
		if m.runUntilCrash() {
			deaths++
		}
		require.NoError(t, m.check(), "GATEWAYD_SEED=%d, died %s", s, m.fuse.where)
	}
	return deaths
}

// runUntilCrash runs until the daemon crashes, or for a bounded number of rounds.
func (m *model) runUntilCrash() (died bool) {
	for range 12 {
		m.randomEvents()
		if m.step() {
			return true
		}
	}
	return false
}

// randomEvents is what happens on the chains between two steps of the daemon.
func (m *model) randomEvents() {
	m.now = m.now.Add(10 * time.Second)
	c := m.eth
	if m.rng.IntN(2) == 0 {
		c = m.vite
	}
	switch m.rng.IntN(16) {
	case 0, 1:
		m.randomTransfer()
	case 2:
		c.Reorg(1+m.rng.IntN(finality), m.rng.IntN(2) == 0)
	case 3:
		if waiting := c.Waiting(); len(waiting) > 0 {
			c.Drop(waiting[m.rng.IntN(len(waiting))])
		}
	case 4:
		c.Gossip()
	case 5:
		m.eth.SetBaseFee(10 + m.rng.Uint64N(60))
		m.eth.KeepFirst(m.rng.IntN(4) == 0)
	case 6:
		c.Lie(m.randomFaults())
	case 7:
		c.MineEmpty(1 + m.rng.IntN(3))
	default:
		c.Mine(1)
	}
}

// randomTransfer makes one more transfer to us, up to what the paying accounts can serve.
func (m *model) randomTransfer() {
	if len(m.claims) >= 120 {
		return
	}
	amount := minimum + fee + m.rng.Uint64N(3000)
	switch m.rng.IntN(10) {
	case 0:
		m.bounced(amount)
	case 1:
		m.refused(amount)
	case 2: // several that may share a transaction
		for range m.rng.IntN(5) {
			m.withdraw(amount)
		}
		m.bounced(amount)
	case 3, 4, 5:
		m.withdraw(amount)
	case 6:
		m.fund(10_000_000 + amount)
	default:
		if len(m.owners) == 0 || (m.rng.IntN(2) == 0 && !m.closed) {
			m.bind()
		}
		i := m.rng.IntN(len(m.owners))
		if m.coins && m.rng.IntN(4) == 0 {
			m.mined(m.owners[i], m.deposits[i], 5000+m.rng.Uint64N(100_000))
			return
		}
		m.deposit(m.owners[i], m.deposits[i], 5000+m.rng.Uint64N(100_000))
	}
}

// randomFaults makes a node misbehave in about one call of six for a while.
func (m *model) randomFaults() chaintest.Lie {
	rng := m.rng
	return func(call chaintest.Call, _ int) chaintest.Fault {
		n := rng.IntN(100)
		switch call {
		case chaintest.CallBroadcast:
			return pickFault(n, 15, chaintest.Refuse, chaintest.Cut, chaintest.Fake)
		case chaintest.CallHead:
			return pickFault(n, 5, chaintest.Refuse, chaintest.Stale)
		case chaintest.CallBlock:
			return pickFault(n, 2, chaintest.Refuse, chaintest.Missing, chaintest.Orphan)
		case chaintest.CallAccountHead, chaintest.CallBalance:
			return pickFault(n, 5, chaintest.Refuse, chaintest.Stale)
		}
		return pickFault(n, 3, chaintest.Refuse)
	}
}

// pickFault returns each fault in so many percent of the cases.
func pickFault(n, each int, faults ...chaintest.Fault) chaintest.Fault {
	if i := n / each; i < len(faults) {
		return faults[i]
	}
	return chaintest.None
}

// scriptedRound makes the events of one round of a fixed script with everything in it: deposits,
// withdrawals, a refund, re-orgs, a stuck payout, dropped ones.
func (m *model) scriptedRound(round int) {
	m.now = m.now.Add(10 * time.Second)
	switch round {
	case 0:
		owner, address := m.bind()
		m.deposit(owner, address, 50_000)
		m.withdraw(1000)
		m.refused(700)
	case 3:
		m.eth.Reorg(2, true)
		m.vite.Reorg(2, true)
	case 6:
		m.withdraw(2000)
		m.eth.SetBaseFee(25)
	case 8:
		m.eth.Reorg(2, false)
		m.vite.Reorg(3, false)
	case 10:
		for _, c := range []*chaintest.Chain{m.eth, m.vite} {
			for _, hash := range c.Waiting() {
				c.Drop(hash)
			}
		}
	case 12:
		m.eth.Gossip()
		m.vite.Gossip()
	}
	if m.coins && !m.stuck && round > 3 && len(m.eth.Waiting()) > 0 { // no node replaces the first payout: a child pays for it
		m.stuck = true
		m.eth.SetBaseFee(40)
		m.eth.KeepFirst(true)
	}
	m.eth.Mine(1)
	m.vite.Mine(1)
}

// runScript runs the script with a crash after so many steps; the restarted daemon goes on where
// the script is.
func (m *model) runScript(t *testing.T, left int) {
	t.Helper()
	m.restart(left, "")
	for round := range 16 {
		m.scriptedRound(round)
		for m.step() {
			require.NoError(t, m.check(), "died %s", m.fuse.where)
			m.restart(neverCrashes, "")
		}
	}
}

// TestKilledAtEachStep tells one story again and again and lets the daemon die at each of its steps
// in turn: at every signature, answer of the guard and broadcast, and at every few of the commits,
// most of which store nothing.
func TestKilledAtEachStep(t *testing.T) { killedAtEachStep(t, newModel) }

// TestCoinsKilledAtEachStep is the same on a ledger of coins.
func TestCoinsKilledAtEachStep(t *testing.T) { killedAtEachStep(t, newCoinsModel) }

func killedAtEachStep(t *testing.T, fresh modelMaker) {
	t.Helper()
	census := map[string]int{}
	whole := fresh(t, 1, census)
	whole.runScript(t, neverCrashes)
	told := slices.Clone(whole.fuse.steps)
	require.NoError(t, whole.settle())
	require.Greater(t, len(told), 200)
	_, children := whole.eth.Merges()
	require.Equal(t, whole.coins, children > 0)
	every := 7
	if shortRun() {
		every = 101
	}
	for left, step := range told {
		if left%every != 0 && (shortRun() || slices.Contains(steps[:4], step)) {
			continue
		}
		m := fresh(t, 1, census)
		m.runScript(t, left)
		require.NoError(t, m.settle(), "died at step %d, %s", left, step)
	}
	t.Logf("deaths: %v", census)
}

// The checks themselves are checked: each broken daemon below must be caught within a few worlds.

// freshNumber is the usual way to send again: at the next free number.
type freshNumber struct{ chain.Chain }

func (c freshNumber) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if len(prev) > 0 {
		tip, err := c.AccountHead(ctx, slot.Account)
		if err != nil {
			return chain.Attempt{}, err
		}
		slot.Nonce = max(tip.Next, slot.Nonce+1)
		a, err := c.Chain.Prepare(ctx, slot, pay, nil)
		a.Seq = len(prev)
		return a, err
	}
	return c.Chain.Prepare(ctx, slot, pay, prev)
}

func (freshNumber) Underpriced(context.Context, chain.Slot, chain.Attempt) (bool, error) {
	return true, nil
}

// hasty takes the newest block for final.
type hasty struct{ chain.Chain }

func (c hasty) Head(ctx context.Context) (chain.Head, error) {
	h, err := c.Chain.Head(ctx)
	h.Final = h.Latest
	return h, err
}

// doubled pays twice what it is told.
type doubled struct{ chain.Chain }

func (c doubled) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	twice, err := pay.Amount.Mul(2)
	if err != nil {
		return chain.Attempt{}, err
	}
	pay.Amount = twice
	return c.Chain.Prepare(ctx, slot, pay, prev)
}

// forgetful drops every fifth payment: it is signed and stored and never reaches a node.
type forgetful struct{ chain.Chain }

func (c forgetful) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	errs := make([]error, len(attempts))
	for i, a := range attempts {
		if a.Hash[0]%5 != 0 {
			errs[i] = chaintest.Send(ctx, c.Chain, a)
		}
	}
	return errs
}

// blindSigner signs whatever it is given, as keys that sign digests do.
type blindSigner struct {
	Signer
	rules map[chain.ID]chain.Rules
}

func (s blindSigner) Sign(_ context.Context, id chain.ID, orders ...chain.Order) (signed []chain.SignedTx, err error) {
	for _, o := range orders {
		tx, err := s.rules[id].Seal(o)
		if err != nil {
			return signed, err
		}
		signed = append(signed, tx)
	}
	return signed, nil
}

// TestSignerStopsBrokenDaemons: what pays another amount or at another number than was ordered is
// never signed.
func TestSignerStopsBrokenDaemons(t *testing.T) {
	for name, mutate := range map[string]func(chain.Chain) chain.Chain{
		"pays another amount":           func(c chain.Chain) chain.Chain { return doubled{c} },
		"sends again at a fresh number": func(c chain.Chain) chain.Chain { return freshNumber{c} },
	} {
		t.Run(name, func(t *testing.T) { signerStops(t, newModel, mutate) })
	}
}

// signerStops runs broken daemons: no payee may have more than is due.
func signerStops(t *testing.T, fresh modelMaker, mutate func(chain.Chain) chain.Chain) {
	t.Helper()
	for s := uint64(1); s <= 3; s++ {
		m := fresh(t, s, map[string]int{})
		m.breakDaemon(mutate)
		for range 60 {
			m.randomEvents()
			if m.step() {
				m.restart(m.rng.IntN(200), "")
			}
			require.NoError(t, m.check())
		}
	}
}

// breakDaemon puts broken chains in the place of the daemon's.
func (m *model) breakDaemon(mutate func(chain.Chain) chain.Chain) {
	for id, inner := range m.chains {
		m.parts.Chains[id] = mutate(inner)
		if m.coins && id == m.eth.ID() {
			m.parts.Chains[id] = brokenCoins{m.parts.Chains[id]}
		}
	}
}

// brokenDaemon breaks what a daemon does to its chains.
type brokenDaemon struct {
	name    string
	mutate  func(chain.Chain) chain.Chain
	blind   bool // the signer signs whatever it is given, or else it would stop this daemon
	reports []string
}

func TestBrokenDaemonsAreCaught(t *testing.T) {
	for _, c := range []brokenDaemon{
		{"sends again at a fresh number", func(c chain.Chain) chain.Chain { return freshNumber{c} }, true, []string{"stands 2 times", "is due", "do not allow it"}},
		{"credits what is not final", func(c chain.Chain) chain.Chain { return hasty{c} }, false, []string{"is due"}},
		{"pays another amount", func(c chain.Chain) chain.Chain { return doubled{c} }, true, []string{"is due"}},
		{"loses a payment", func(c chain.Chain) chain.Chain { return forgetful{c} }, false, []string{"in the end", "the records at"}},
	} {
		t.Run(c.name, func(t *testing.T) { c.isCaught(t, newModel) })
	}
}

// isCaught requires that one of a few worlds reports the daemon.
func (c brokenDaemon) isCaught(t *testing.T, fresh modelMaker) {
	t.Helper()
	for s := uint64(1); s <= 10; s++ {
		m := fresh(t, s, map[string]int{})
		m.breakDaemon(c.mutate)
		if c.blind {
			m.parts.Signer = blindSigner{m.parts.Signer, rulesOf(m.eth, m.vite)}
		}
		if err := m.runToFault(60); err != nil {
			require.True(t, slices.ContainsFunc(c.reports, func(r string) bool { return strings.Contains(err.Error(), r) }), "%v", err)
			return
		}
	}
	t.Fatal("not caught")
}

// runToFault is live and settle, but returns the first broken promise as an error.
func (m *model) runToFault(rounds int) error {
	m.restart(m.rng.IntN(200), "")
	for range rounds {
		m.randomEvents()
		if m.step() {
			m.restart(m.rng.IntN(200), "")
		}
		if err := m.check(); err != nil {
			return err
		}
	}
	return m.settle()
}
