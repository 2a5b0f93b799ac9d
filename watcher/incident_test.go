package watcher

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/transfers"
)

// hastyRig is a gateway whose operators credit deposits two blocks deep, below the ledger's own
// finality.
func hastyRig(t *testing.T) *rig {
	r := setup(t)
	r.net.Tokens[0].Policy.DepositConfirmations = records.Depth{Count: 2}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	r.run(3)
	return r
}

func (r *rig) setChannel(d records.Direction, state string) {
	r.t.Helper()
	r.update(func(tx *records.Tx) error {
		return records.SetChannel(tx, "main", usd, d, state, "test", "operator:test")
	})
}

func TestCreditedDepositThatLeavesTheLineClosesItsChannels(t *testing.T) {
	r := hastyRig(t)
	owner, address := r.user()
	hash := r.deposit(address, 50_000)
	r.run(3)
	require.Equal(t, records.Bound, r.payment(hash).State, "two blocks are enough")
	r.eth.Reorg(3, false)
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State, "what was signed cannot be taken back")
	r.requireHolding(r.vite, owner, usd, 500)
	for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
		c := r.channel(d)
		require.Equal(t, "MAINTAIN", c.Automatic)
		require.NotEmpty(t, c.Why)
	}
	require.NoError(t, r.w.books().Round(t.Context()))
	require.Equal(t, "MAINTAIN", r.channel(records.Deposit).Automatic, "only an operator opens it again")
}

func TestHeldCreditIsPaidOnlyOnceItsDepositIsBack(t *testing.T) {
	r := hastyRig(t)
	owner, address := r.user()
	r.setChannel(records.Deposit, "MAINTAIN")
	hash := r.deposit(address, 50_000)
	r.run(3)
	require.Equal(t, records.Queued, r.payment(hash).State)
	r.eth.Reorg(3, false)
	r.run(1)
	require.Equal(t, records.HeldPayment, r.payment(hash).State)

	r.setChannel(records.Deposit, "OPEN")
	r.update(func(tx *records.Tx) error { return records.SetAutomatic(tx, "main", usd, records.Deposit, "OPEN", "") })
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
	})
	other, otherAddress := r.user()
	r.deposit(otherAddress, 70_000)
	r.rest()
	r.requireHolding(r.vite, owner, usd, 0)   // its deposit is not on the line
	r.requireHolding(r.vite, other, usd, 700) // and keeps nobody else waiting
	require.NotEqual(t, records.Paid, r.payment(hash).State)

	r.eth.Gossip()
	r.rest()
	if r.payment(hash).State == records.HeldPayment {
		r.update(func(tx *records.Tx) error {
			return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
		})
		r.rest()
	}
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireHolding(r.vite, owner, usd, 500)
	r.requireSound()
}

// TestPayoutOfALostWithdrawalFails: it is not refunded by itself, because nothing has come in for
// it, and keeps nobody else waiting.
func TestPayoutOfALostWithdrawalFails(t *testing.T) {
	r := setup(t)
	r.net.Tokens[0].Policy.WithdrawConfirmations = records.Depth{Count: 2}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	r.run(3)
	owner, _ := r.user()
	payee := r.eth.Address("a contract that takes nothing when it counts")
	r.eth.RejectUnseen(payee, true)
	hash := r.withdraw(owner, payee, 1000)
	r.run(3)
	require.Equal(t, records.Bound, r.payment(hash).State, "two blocks are enough")
	r.vite.Reorg(3, false)
	r.rest()
	require.NotEmpty(t, r.transfer(hash).Incident)
	require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutFailed}, []any{r.payment(hash).State, r.payment(hash).Reason})

	r.update(func(tx *records.Tx) error {
		return records.SetAutomatic(tx, "main", usd, records.Withdrawal, "OPEN", "")
	})
	other := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, records.Paid, r.payment(other).State)

	r.vite.Gossip()
	r.rest()
	require.Empty(t, r.transfer(hash).Incident)
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(hash).ID})
	})
	r.rest()
	r.requireHolding(r.vite, owner, usd, 1000)
	r.requireSound()
}

// TestRefusedPayoutOfALostWithdrawalWaits: an operator lets it go although its withdrawal has left
// the line, and its payee refuses. It is refunded when the withdrawal is back, not before, and not
// lost.
func TestRefusedPayoutOfALostWithdrawalWaits(t *testing.T) {
	r := setup(t)
	r.net.Tokens[0].Policy.WithdrawConfirmations = records.Depth{Count: 2}
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	r.run(3)
	r.setChannel(records.Withdrawal, "MAINTAIN")
	owner, _ := r.user()
	payee := r.eth.Address("a contract that takes nothing")
	r.eth.Reject(payee, true)
	hash := r.withdraw(owner, payee, 1000)
	r.run(3)
	r.vite.Reorg(3, false)
	r.run(1)
	require.Equal(t, records.HeldPayment, r.payment(hash).State)

	r.setChannel(records.Withdrawal, "OPEN")
	r.update(func(tx *records.Tx) error {
		err := records.SetAutomatic(tx, "main", usd, records.Withdrawal, "OPEN", "")
		return errors.Join(err, r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID}))
	})
	r.rest()
	r.requireState(hash, records.Final, "")
	require.Equal(t, records.Queued, r.payment(hash).State)

	r.vite.Gossip()
	r.rest()
	r.requireState(hash, records.Refused, records.ReasonPayeeRefuses)
	r.requireHolding(r.vite, owner, usd, 1000)
	r.requireSound()
}

// TestHeldCreditIsGivenUp: a credit that is held because its deposit left the line ends by an
// operator's word. Nobody is paid, unless the deposit comes back: then its owner is paid once.
func TestHeldCreditIsGivenUp(t *testing.T) {
	r := hastyRig(t)
	owner, address := r.user()
	r.setChannel(records.Deposit, "MAINTAIN")
	hash := r.deposit(address, 50_000)
	r.run(3)
	r.eth.Reorg(3, false)
	r.run(1)
	held := r.payment(hash)
	require.Equal(t, records.HeldPayment, held.State)
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
	}) // the operator hopes
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderWriteOff, transfers.Order{Record: r.transfer(hash).ID, Why: "gone"})
	})
	require.Equal(t, records.Orphaned, r.transfer(hash).State)
	r.update(func(tx *records.Tx) error {
		require.ErrorIs(t, r.w.rules().Order(tx, transfers.OrderWriteOff, transfers.Order{Record: r.transfer(hash).ID}), transfers.ErrNothingToDo, "once")
		return nil
	})
	r.setChannel(records.Deposit, "OPEN")
	r.update(func(tx *records.Tx) error { return records.SetAutomatic(tx, "main", usd, records.Deposit, "OPEN", "") })
	r.rest()
	r.requireHolding(r.vite, owner, usd, 0)
	require.Equal(t, []records.PaymentState{records.VoidPayment}, states(r.payments(hash)))

	r.eth.Gossip()
	r.rest()
	r.requireHolding(r.vite, owner, usd, 500)
	require.Equal(t, []records.PaymentState{records.VoidPayment, records.Paid}, states(r.payments(hash)))
	r.requireSound()
}

func states(payments []records.Payment) (list []records.PaymentState) {
	for _, p := range payments {
		list = append(list, p.State)
	}
	return list
}

func TestRemovedTokenDoesNotStopTheOthers(t *testing.T) {
	r := setup(t)
	_, address := r.user()
	_, label := r.labelled()
	gone := r.deposit(address, 50_000)
	r.run(2)
	r.net.Tokens = r.net.Tokens[1:] // the operators remove usd while a deposit of it is under way
	r.parts.Networks = []records.Network{r.net}
	r.restart()
	stays := r.eth.Deposit(r.eth.Address("x"), r.net.Shared, chain.Native, units(1000), chain.Memo{Type: -1, Label: label})
	r.rest()
	require.Equal(t, records.Paid, r.payment(stays).State)
	require.NotEqual(t, records.Seen, r.transfer(gone).State)
	require.Empty(t, r.payments(gone))
}

// TestRemovedNetworkStopsNoChain: what is under way when the operators remove a network waits for
// them, and is refunded when it is back.
func TestRemovedNetworkStopsNoChain(t *testing.T) {
	r := setup(t)
	payee, contract := r.eth.Address("payee"), r.eth.Address("a contract that takes nothing when it counts")
	r.eth.RejectUnseen(contract, true)
	r.eth.Hold(r.net.Hot, true)
	owner, _ := r.user()
	sent := r.withdraw(owner, contract, 1000)
	r.run(finality + 2)
	require.Equal(t, records.Bound, r.payment(sent).State)
	r.setChannel(records.Withdrawal, "MAINTAIN")
	waits := r.withdraw(owner, payee, 1000)
	r.run(finality + 2)
	require.Equal(t, records.Queued, r.payment(waits).State)
	refused := r.order(owner, usd, 1000, chain.Memo{Type: -1})
	r.run(1)
	require.Equal(t, records.Seen, r.transfer(refused).State)
	r.setChannel(records.Withdrawal, "OPEN")
	r.eth.Reject(payee, true)

	r.parts.Networks = nil
	r.restart()
	r.eth.Hold(r.net.Hot, false)
	r.rest()
	r.requireState(refused, records.Held, records.ReasonUnknownToken)
	require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutFailed}, []any{r.payment(sent).State, r.payment(sent).Reason})
	require.Equal(t, records.Queued, r.payment(waits).State)

	r.parts.Networks = []records.Network{r.net}
	r.restart()
	for _, hash := range []string{sent, refused} {
		r.update(func(tx *records.Tx) error {
			return r.w.rules().Order(tx, transfers.OrderRefund, transfers.Order{Record: r.transfer(hash).ID})
		})
	}
	r.rest()
	r.requireHolding(r.vite, owner, usd, 3000)
	r.requireSound()
}

// Two daemons on one database without any lease: constraints alone keep every payment single.
func TestTwoDaemonsPayOnce(t *testing.T) {
	r := setup(t)
	owner, address := r.user()
	second, err := New(Config{FetchAhead: 1}, r.parts)
	require.NoError(t, err)
	const n = 30
	for i := range n {
		r.deposit(address, 20_000)
		r.withdraw(owner, r.eth.Address("payee"), 300)
		r.eth.Mine(1)
		r.vite.Mine(1)
		if i%5 == 4 {
			r.eth.Reorg(2, i%2 == 0)
			r.vite.Reorg(2, i%2 == 0)
		}
		stepAtOnce(t, r.w, second)
	}
	for range 30 {
		r.eth.Gossip()
		r.vite.Gossip()
		stepAtOnce(t, r.w, second)
		r.eth.Mine(1)
		r.vite.Mine(1)
	}
	r.restAll()
	r.requireHolding(r.vite, owner, usd, n*200)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, n*(300-fee)*100)
	r.requireSound()
}

// restAll lets everything go on until no transfer waits and no payment is under way. How far two
// daemons come in a round is theirs to decide: each takes work from the other.
func (r *rig) restAll() {
	r.t.Helper()
	for range 20 {
		r.rest()
		if r.underWay() == 0 {
			return
		}
	}
	require.Fail(r.t, "it does not come to rest")
}

// underWay counts the transfers that wait for a decision and the payments that wait for theirs.
func (r *rig) underWay() (n uint64) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		totals, err := books.TotalsOf(tx, r.net.Name, usd)
		for _, p := range totals.Payments {
			if p.State == records.Queued || p.State == records.Bound {
				n += p.Count
			}
		}
		for _, in := range totals.Transfers {
			if in.State == records.Seen || in.State == records.Orphaned {
				n += in.Count
			}
		}
		return err
	})
	return n
}

// meanwhile is a ledger on which something happens while the first question about an account is on
// its way.
type meanwhile struct {
	chain.Chain
	once func()
}

func (c *meanwhile) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	if do := c.once; do != nil {
		c.once = nil
		do()
	}
	return c.Chain.AccountHead(ctx, account)
}

// What another daemon binds, signs and sends between two reads of a round is no sign of a restored
// database.
func TestAnotherDaemonsSignaturesAreNoIncident(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	second, err := New(Config{FetchAhead: 1}, r.parts)
	require.NoError(t, err)
	hot := &meanwhile{Chain: r.eth}
	r.parts.Chains = map[chain.ID]chain.Chain{"eth": hot, "vite": r.vite}
	r.restart()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.vite.Mine(finality + 1)
	require.NoError(t, second.followers["vite"].Round(t.Context()))
	hot.once = func() {
		require.NoError(t, second.payers.Round(t.Context(), "eth"))
		r.eth.Mine(1)
	}
	require.NoError(t, r.w.payers.Round(t.Context(), "eth"))
	require.Nil(t, hot.once, "the other daemon has paid meanwhile")
	require.Equal(t, records.AccountOK, r.account("eth", r.net.Hot).State)
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireSound()
}

// stepAtOnce lets daemons make one pass at the same time. They disturb each other, which may be an
// error and never a second payment.
func stepAtOnce(t *testing.T, daemons ...*Watcher) {
	t.Helper()
	var g sync.WaitGroup
	for _, w := range daemons {
		g.Go(func() { _ = w.Step(t.Context()) })
	}
	g.Wait()
}

// A payout that the ledger shows no more, after it was shown mined, is sent again by its own bytes.
func TestSameBytesAfterReplacementAndReorg(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.run(finality + 1)
	r.eth.SetBaseFee(30)
	r.run(5)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	r.eth.Reorg(2, false)
	r.eth.SetBaseFee(10) // now the first attempt would do as well
	r.eth.Gossip()
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireHolding(r.eth, r.eth.Address("payee"), usdEth, (1000-fee)*100)
	require.Positive(t, r.eth.Calls(chaintest.CallBroadcast))
	r.requireSound()
}

// What a credit rests on has left the chain for good: neither an operator's retry nor the pruning
// of old blocks pays it or counts it as come.
func TestLostCreditStaysUnpaidWhenItsBlockIsPruned(t *testing.T) {
	r := hastyRig(t)
	owner, address := r.user()
	r.setChannel(records.Deposit, "MAINTAIN")
	hash := r.deposit(address, 50_000)
	r.run(3)
	r.eth.Reorg(3, false)
	r.run(1)
	require.Equal(t, records.HeldPayment, r.payment(hash).State)
	r.setChannel(records.Deposit, "OPEN")
	r.update(func(tx *records.Tx) error { return records.SetAutomatic(tx, "main", usd, records.Deposit, "OPEN", "") })
	r.update(func(tx *records.Tx) error {
		return r.w.rules().Order(tx, transfers.OrderRetry, transfers.Order{Record: r.transfer(hash).ID})
	})
	r.rest()
	r.requireHolding(r.vite, owner, usd, 0)
	came := func() (s books.Sheet) {
		r.view(func(tx *records.Tx) (err error) {
			s, err = books.SheetOf(tx, r.net, r.net.Tokens[0])
			return err
		})
		return s
	}
	before := came().Came
	r.update(func(tx *records.Tx) error {
		_, err := tx.Chains().Prune("eth", 5) // what Books does by itself a million blocks later
		return err
	})
	r.rest()
	require.NotEmpty(t, r.transfer(hash).Incident)
	r.requireHolding(r.vite, owner, usd, 0)
	require.Equal(t, before, came().Came)
}
