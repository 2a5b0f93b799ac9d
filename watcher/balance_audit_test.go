package watcher

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/transfers"
	"gatewayd/watcher/reconcile"
)

// requireCoin checks that the books of every account's coin are what the ledger has at the final
// block.
func (r *rig) requireCoin() {
	r.t.Helper()
	if !r.eth.AuditsBalances() { // its coins are in blocks
		return
	}
	_, found, err := reconcile.CompareBalances(r.t.Context(), r.store, r.parts.Chains["eth"])
	require.NoError(r.t, err)
	require.Empty(r.t, found)
}

// coinRig is a gateway whose native coin has own addresses, with an auditor that lasts as in the
// daemon.
type coinRig struct {
	*rig
	auditor *reconcile.Auditor
}

func newCoinRig(t *testing.T) *coinRig {
	r := &coinRig{rig: sweepRig(t)}
	r.vite.Deposit(r.vite.Address("treasury"), r.net.Gateway, "tti_native", units(1_000_000), chain.Memo{Type: -1})
	r.rest()
	r.restartDaemon()
	return r
}

// restartDaemon restarts the daemon with a new auditor.
func (r *coinRig) restartDaemon() {
	r.restart()
	r.auditor = r.w.balanceAuditor("eth")
	r.audit()
}

func (r *coinRig) audit() {
	r.t.Helper()
	require.NoError(r.t, r.auditor.Round(r.t.Context()))
}

// passHour lets an audit period pass.
func (r *coinRig) passHour() { r.now = r.now.Add(time.Hour) }

// settle lets blocks pass, with the auditor looking at each.
func (r *coinRig) settle(blocks int) {
	r.t.Helper()
	for range blocks {
		r.run(1)
		r.audit()
	}
}

func (r *coinRig) findings() (list []books.Finding) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		list, err = books.Findings(tx, "eth")
		return err
	})
	return list
}

// found are the transfers that only balances show, oldest first.
func (r *coinRig) found() (list []records.Transfer) {
	r.t.Helper()
	for _, x := range r.allTransfers() {
		if x.FoundByAudit() {
			list = append([]records.Transfer{x.Transfer}, list...)
		}
	}
	return list
}

func (r *coinRig) head() uint64 {
	r.t.Helper()
	h, err := r.eth.Head(r.t.Context())
	require.NoError(r.t, err)
	return h.Latest.Height
}

func (r *coinRig) channel(d records.Direction) (c records.Channel) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		c, err = records.ChannelOf(tx, r.net.Name, "tti_native", d)
		return err
	})
	return c
}

func TestHiddenCoinIsCredited(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.Hide(address, units(3000))
	r.settle(1)
	height := r.head()
	r.settle(finality)
	require.Empty(t, r.findings(), "only once in a period")
	r.passHour()
	r.settle(1)
	require.Len(t, r.findings(), 1)
	require.Empty(t, r.found(), "one audit is not enough")
	r.settle(1)
	require.Empty(t, r.findings())
	found := r.found()
	require.Len(t, found, 1)
	require.Equal(t, records.AuditRef(address, chain.Native, height), found[0].Ref)
	require.Equal(t, height, found[0].Height)
	require.Equal(t, found[0].BlockHash, found[0].Tx, "what stands for a transaction that nobody knows")
	require.Equal(t, owner, found[0].Owner)
	r.settle(3*finality + 6)
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	for range 5 {
		r.passHour()
		r.settle(2)
	}
	require.Len(t, r.found(), 1, "once")
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	r.requireSound()
	r.sweep()
	r.settle(3*finality + 6)
	require.True(t, r.eth.Holding(address, chain.Native).Less(units(sweepCost)), "it is swept like any deposit")
	r.passHour()
	r.settle(2)
	require.Empty(t, r.findings())
	r.requireSound()
}

// TestHiddenCoinOutcomes takes what only balances show through the same decisions as any deposit.
func TestHiddenCoinOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		to     func(r *coinRig, address string) string
		amount uint64
		state  records.TransferState
		reason records.Reason
		paid   uint64
	}{
		{"minimum", func(_ *coinRig, a string) string { return a }, minimum, records.Final, "", minimum},
		{"dust", func(_ *coinRig, a string) string { return a }, minimum - 1, records.Refused, records.ReasonBelowMinimum, 0},
		{"shared address", func(r *coinRig, _ string) string { return r.net.Shared }, 5000, records.Held, records.ReasonUnknownLabel, 0},
		{"hot account", func(r *coinRig, _ string) string { return r.net.Hot }, 5000, records.Held, records.ReasonUnbound, 0},
		{"gas account", func(r *coinRig, _ string) string { return r.net.Gas }, 5000, records.Held, records.ReasonUnbound, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newCoinRig(t)
			owner, address := r.user()
			r.settle(finality + 2)
			r.eth.Hide(c.to(r, address), units(c.amount))
			r.settle(finality + 1)
			r.passHour()
			r.settle(3*finality + 8)
			found := r.found()
			require.Len(t, found, 1)
			require.Equal(t, c.state, found[0].State)
			require.Equal(t, c.reason, found[0].Reason)
			r.requireHolding(r.vite, owner, "tti_native", c.paid)
			require.Empty(t, r.findings())
			r.requireSound()
		})
	}
}

// TestSeveralHiddenCoins tells coins of several blocks apart, among deposits that blocks show and
// sweeps.
func TestSeveralHiddenCoins(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	var heights []uint64
	for i := range 6 {
		r.eth.Hide(address, units(uint64(1000+i)))
		r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(2500), chain.Memo{Type: -1})
		r.settle(1)
		heights = append(heights, r.head())
		if i == 3 {
			r.settle(2 * finality)
			r.sweep()
			r.settle(2 * finality)
		}
	}
	r.settle(finality)
	r.passHour()
	r.settle(2)
	var got []uint64
	for _, f := range r.found() {
		got = append(got, f.Height)
	}
	require.ElementsMatch(t, heights, got)
	r.settle(3*finality + 6)
	r.requireHolding(r.vite, owner, "tti_native", 6*2500+6*1000+15)
	r.requireSound()
}

// TestHundredHiddenCoins finds a hundred in one round, on as many addresses.
func TestHundredHiddenCoins(t *testing.T) {
	r := newCoinRig(t)
	r.eth.SetBalancePage(30)
	owners := map[string]uint64{}
	for i := range 100 {
		owner, address := r.user()
		if i%10 == 0 {
			r.settle(1)
		}
		r.eth.Hide(address, units(uint64(1000+i)))
		owners[owner] = uint64(1000 + i)
	}
	r.settle(finality + 2)
	r.passHour()
	r.settle(2)
	require.Len(t, r.found(), 100)
	r.rest()
	r.rest()
	for owner, amount := range owners {
		r.requireHolding(r.vite, owner, "tti_native", amount)
	}
	r.requireSound()
}

// TestCoinFromBeforeTheAddressIsNobodys: an address that is given out again by a new database may
// hold what somebody sent to it before.
func TestCoinFromBeforeTheAddressIsNobodys(t *testing.T) {
	r := newCoinRig(t)
	early := r.eth.Address("deposit/0")
	r.eth.Hide(early, units(7000))
	r.settle(2)
	owner, address := r.user()
	require.Equal(t, early, address)
	r.settle(1)
	r.eth.Hide(address, units(900))
	r.settle(2*finality + 2)
	r.passHour()
	r.settle(3*finality + 8)
	found := r.found()
	require.Len(t, found, 2)
	require.Equal(t, units(7000), found[0].Amount)
	require.Equal(t, records.ReasonBeforeAddress, found[0].Reason)
	require.Equal(t, records.Held, found[0].State)
	require.Empty(t, found[0].Owner)
	require.Equal(t, units(900), found[1].Amount)
	r.requireHolding(r.vite, owner, "tti_native", 900)
	r.requireSound()
}

// TestUndatedCoinWaitsForAnOperator: where no node knows whether it came before the address was
// given out, nobody is credited by guess.
func TestUndatedCoinWaitsForAnOperator(t *testing.T) {
	r := newCoinRig(t)
	r.eth.KeepBalances(finality + 1)
	owner, address := r.user()
	r.eth.Hide(address, units(900))
	r.run(3 * finality) // nobody looks meanwhile
	r.settle(3)
	found := r.found()
	require.Len(t, found, 1)
	require.Equal(t, records.Held, found[0].State)
	require.Equal(t, records.ReasonUnproven, found[0].Reason)
	r.settle(finality)
	r.requireHolding(r.vite, owner, "tti_native", 0)
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: found[0].ID})
	})
	r.settle(3*finality + 6)
	r.requireHolding(r.vite, owner, "tti_native", 900)
	err := r.store.Update(t.Context(), func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: found[0].ID})
	})
	require.ErrorIs(t, err, transfers.ErrNothingToDo)
	r.requireSound()
}

// TestPrunedNodesPlaceCoinLater: an address that was compared once is credited whatever the nodes
// forget; the block is the oldest they know.
func TestPrunedNodesPlaceCoinLater(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.KeepBalances(finality + 4)
	r.eth.Hide(address, units(900))
	r.settle(30)
	r.passHour()
	r.settle(3*finality + 8)
	found := r.found()
	require.Len(t, found, 1)
	require.Equal(t, records.Final, found[0].State)
	r.requireHolding(r.vite, owner, "tti_native", 900)
	r.requireSound()
}

// TestShortageClosesTheChannels: coin that left without a transaction of ours stops deposits and
// withdrawals of it until an operator has accepted the loss.
func TestShortageClosesTheChannels(t *testing.T) {
	r := newCoinRig(t)
	r.settle(2)
	r.eth.Take(r.net.Hot, units(12))
	r.settle(finality + 1)
	r.passHour()
	r.settle(1)
	require.Equal(t, records.ChannelOpen, r.channel(records.Deposit).State(), "one block is not enough")
	r.settle(1)
	for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
		c := r.channel(d)
		require.Equal(t, records.ChannelMaintain, c.State())
		require.Contains(t, c.Why, r.net.Hot+" on eth holds 0.12 COIN less than the books show")
	}
	r.restartDaemon()
	r.settle(2)
	require.Equal(t, records.ChannelMaintain, r.channel(records.Deposit).State(), "also after a restart")
	r.update(func(tx *records.Tx) error {
		_, err := books.AcceptShortage(tx, "eth", r.net.Gas, "looked at")
		require.ErrorIs(t, err, records.ErrNotFound)
		lost, err := books.AcceptShortage(tx, "eth", r.net.Hot, "looked at")
		require.Equal(t, units(12), lost)
		return err
	})
	r.settle(2)
	require.Equal(t, records.ChannelOpen, r.channel(records.Deposit).State())
	require.Equal(t, records.ChannelOpen, r.channel(records.Withdrawal).State())
	r.requireSound()
}

// TestLaterTracesCreditNothingAgain: blocks that were searched are searched again by a node that
// traces.
func TestLaterTracesCreditNothingAgain(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.Hide(address, units(3000))
	r.settle(1)
	height := r.head()
	r.settle(finality + 1)
	r.passHour()
	r.settle(3*finality + 8)
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	b, err := r.eth.Block(t.Context(), height)
	require.NoError(t, err)
	traced := func(ref string, amount uint64) {
		r.update(func(tx *records.Tx) error {
			return r.w.followers["eth"].StoreTransfer(tx, chain.Transfer{
				Ref: ref, Tx: "0xforwarded", From: r.eth.Address("contract"), To: address, Asset: chain.Native, Amount: units(amount), Memo: chain.Memo{Type: -1},
			}, b)
		})
		r.settle(3*finality + 6)
	}
	traced("0xforwarded:call:0", 3000)
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	again := r.transfer("0xforwarded")
	require.Equal(t, records.Held, again.State)
	require.Equal(t, records.ReasonFoundByAudit, again.Reason)
	require.Empty(t, again.Owner)
	for _, order := range []transfers.OrderName{transfers.OrderCredit, transfers.OrderRefund} {
		err := r.store.Update(t.Context(), func(tx *records.Tx) error {
			return r.w.rules().Order(tx, order, transfers.Order{Record: again.ID, To: owner, Why: "a test"})
		})
		require.ErrorContains(t, err, "was credited before")
	}
	traced("0xforwarded:call:0", 3000)
	r.passHour()
	r.settle(3)
	require.Empty(t, r.findings())
	require.Len(t, r.found(), 1)
	r.requireSound()
}

// TestTraceBeforeTheSecondAudit: what a search of old blocks shows between the two audits is
// credited by it alone.
func TestTraceBeforeTheSecondAudit(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.Hide(address, units(3000))
	r.settle(1)
	height := r.head()
	r.settle(finality)
	r.passHour()
	r.settle(1)
	require.Len(t, r.findings(), 1)
	b, err := r.eth.Block(t.Context(), height)
	require.NoError(t, err)
	r.update(func(tx *records.Tx) error {
		return r.w.followers["eth"].StoreTransfer(tx, chain.Transfer{
			Ref: "0xforwarded:call:0", Tx: "0xforwarded", From: "c", To: address, Asset: chain.Native, Amount: units(3000), Memo: chain.Memo{Type: -1},
		}, b)
	})
	r.settle(3*finality + 8)
	r.passHour()
	r.settle(3)
	require.Empty(t, r.found())
	require.Empty(t, r.findings())
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	r.requireSound()
}

// TestNodesThatIgnoreTheBlock answer the newest balance whatever they are asked for: a deposit that
// is not final looks like a surplus.
func TestNodesThatIgnoreTheBlock(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.BendBalances(func(account string, _ uint64) *chain.Amount {
		if account != address {
			return nil
		}
		have := chain.NewAmount(3000)
		return &have
	})
	r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(3000), chain.Memo{Type: -1})
	r.passHour()
	r.settle(finality + 1)
	r.eth.BendBalances(nil)
	r.settle(3*finality + 8)
	require.Empty(t, r.found())
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	r.requireSound()
}

// TestContradictedSurplusIsLoggedOnce: a surplus that past balances contradict is logged when it
// begins, changes and ends, not at each block.
func TestContradictedSurplusIsLoggedOnce(t *testing.T) {
	r := newCoinRig(t)
	_, address := r.user()
	log, hook := test.NewNullLogger()
	r.parts.Log = log
	r.restartDaemon()
	r.settle(finality + 2)
	lines := func() (got []string) {
		for _, e := range hook.AllEntries() {
			if strings.Contains(e.Message, "past balances") {
				got = append(got, fmt.Sprintf("%s %s %v", e.Level, e.Data["account"], e.Data["amount"]))
			}
		}
		return got
	}
	have := units(3000)
	r.eth.BendBalances(func(account string, _ uint64) *chain.Amount {
		if account != address {
			return nil
		}
		told := have
		return &told
	})
	r.passHour()
	r.settle(12)
	want := []string{"warning " + address + " 3000"}
	require.Equal(t, want, lines())
	have = units(2000)
	r.settle(12)
	want = append(want, "warning "+address+" 2000")
	require.Equal(t, want, lines())
	r.eth.BendBalances(nil)
	r.settle(12)
	want = append(want, "info "+address+" 2000")
	require.Equal(t, want, lines())
	require.Empty(t, r.found())
}

// TestCleanRounds finds nothing over many rounds of deposits, withdrawals that fail, sweeps,
// top-ups, cut-off answers and re-orgs.
func TestCleanRounds(t *testing.T) {
	r := newCoinRig(t)
	r.eth.SetBalancePage(3)
	rounds := 60
	if shortRun() {
		rounds = 15
	}
	owner, address := r.user()
	bad := r.eth.Address("rejects")
	r.eth.Reject(bad, true)
	for i := range rounds {
		switch i % 6 {
		case 0:
			r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(5000), chain.Memo{Type: -1})
		case 1:
			r.deposit(address, 50_000)
		case 2:
			r.withdraw(owner, r.eth.Address("payee"), 300)
			r.order(owner, "tti_native", 400, chain.Memo{Type: 0, Address: bad})
		case 3:
			r.sweep()
		case 4:
			owner, address = r.user()
			r.lieEverywhere(chaintest.Times(3, chaintest.Cut, chaintest.CallBroadcast))
		}
		r.eth.SetBaseFee(uint64(10 + i%7))
		r.settle(1)
		if i%2 == 1 {
			r.settle(2)
			r.eth.Reorg(1+i%(finality-1), i%4 == 1)
			r.eth.Gossip()
		}
		r.passHour()
		r.settle(2)
		require.Empty(t, r.findings(), "round %d", i)
	}
	r.lieEverywhere(chaintest.Honest)
	r.settle(3*finality + 6)
	r.sweep()
	r.settle(3*finality + 6)
	require.Empty(t, r.found())
	r.requireSound()
}

// TestAuditSurvivesDeaths kills the daemon at every commit of finding and crediting, as often as
// there are such steps.
func TestAuditSurvivesDeaths(t *testing.T) {
	each := 1
	if raced {
		each = 5
	}
	for left := 0; ; left += each {
		if !auditDies(t, left) {
			require.Greater(t, left, 6, "steps to die at")
			return
		}
	}
}

// auditDies lets the auditor die at its left-th step; false when it has fewer.
func auditDies(t *testing.T, left int) (died bool) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.Hide(address, units(3000))
	r.settle(1)
	r.eth.Hide(address, units(500))
	r.eth.Hide(r.net.Shared, units(40))
	r.settle(finality + 1)
	r.passHour()

	f := &fuse{census: map[string]int{}}
	f.reset(left, "")
	r.parts.Store = &crashStore{r.store, f}
	r.restart()
	mortal := r.w.balanceAuditor("eth")
	r.parts.Store = r.store
	r.restart()
	for range 4 {
		if err := mortal.Round(t.Context()); err != nil {
			require.ErrorIs(t, err, errCrash)
			break
		}
		r.run(1)
	}
	r.restartDaemon()
	r.settle(2*finality + 8)
	r.passHour()
	r.settle(finality)
	require.Len(t, r.found(), 3, "died at step %d: %s", left, f.where)
	require.Empty(t, r.findings())
	r.requireHolding(r.vite, owner, "tti_native", 3500)
	r.requireSound()
	return f.blown
}

// TestRefusedBalances: nodes that do not answer are asked again, and the audit is late, not wrong.
func TestRefusedBalances(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.Hide(address, units(3000))
	r.settle(finality + 1)
	r.passHour()
	for i := range 12 {
		if i%2 == 0 {
			r.passHour()
			r.eth.Lie(chaintest.Times(1, chaintest.Refuse, chaintest.CallBalances))
			require.ErrorIs(t, r.auditor.Round(t.Context()), chain.ErrUnavailable)
		}
		r.audit()
		r.run(1)
	}
	r.settle(3 * finality)
	r.requireHolding(r.vite, owner, "tti_native", 3000)
	require.Len(t, r.found(), 1)
	r.requireSound()
}

// TestUntracedBlocksMakeTheAuditDue: a block that no node could trace is covered by a comparison of
// all balances as soon as it is final, not after a period, and again by the daemon that comes after
// a crash.
func TestUntracedBlocksMakeTheAuditDue(t *testing.T) {
	r := newCoinRig(t)
	owner, address := r.user()
	r.settle(finality + 2)
	r.eth.SetTracing(chain.Untraced)
	r.eth.Hide(address, units(3000))
	for range finality + 4 {
		r.now = r.now.Add(10 * time.Second)
		r.settle(1)
	}
	require.Len(t, r.found(), 1)
	r.eth.SetTracing(chain.Traced)
	r.settle(3*finality + 6)
	r.requireHolding(r.vite, owner, "tti_native", 3000)

	r.view(func(tx *records.Tx) error {
		state, err := tx.Chains().Tracing("eth")
		require.True(t, state.Traced)
		require.Zero(t, state.LostAt)
		return err
	})
	r.now = r.now.Add(10 * time.Second)
	r.settle(1)
	r.view(func(tx *records.Tx) error {
		state, err := tx.Chains().Tracing("eth")
		require.EqualValues(t, -1, state.First, "every untraced block is covered")
		return err
	})
	r.requireSound()
}
