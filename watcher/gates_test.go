package watcher

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// The checks below are each the last thing between a doubtful account and a payment: every test
// leaves one of them alone in its way.

// ahead is a ledger whose nodes know one more transaction of an account than its blocks show:
// somebody else has just sent it.
type ahead struct {
	chain.Chain
	account string
}

func (c ahead) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	tip, err := c.Chain.AccountHead(ctx, account)
	if account == c.account {
		tip.Next++
	}
	return tip, err
}

func TestLedgerAheadOfTheRecordsBindsNothing(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	first := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.rest()
	require.Equal(t, records.Paid, r.payment(first).State)
	r.parts.Chains["eth"] = ahead{r.eth, r.net.Hot}
	r.restart()
	next := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.rest()
	require.Equal(t, records.Queued, r.payment(next).State)
	a := r.account("eth", r.net.Hot)
	require.Equal(t, records.AccountRecovering, a.State)
	require.Contains(t, a.Why, "the ledger is at")
}

func TestUnknownTransactionInABlockBindsNothing(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	first := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.rest()
	require.Equal(t, records.Paid, r.payment(first).State)
	next := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.run(finality - 1)
	r.eth.SendUnknownTx("hot", r.eth.Address("thief"), usdEth, units(1))
	r.eth.Lie(chaintest.Always(chaintest.Stale, chaintest.CallAccountHead)) // only the block tells
	r.run(2)
	require.Equal(t, records.Queued, r.payment(next).State)
	a := r.account("eth", r.net.Hot)
	require.Equal(t, records.AccountRecovering, a.State, "before the block is final")
	require.Contains(t, a.Why, "was not signed by this daemon")
}

// interrupted is a ledger on which something happens while it is asked for a balance: between the
// choice of payments and their binding.
type interrupted struct {
	chain.Chain
	do func()
}

func (c *interrupted) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	if do := c.do; do != nil {
		c.do = nil
		do()
	}
	return c.Chain.Balance(ctx, account, asset)
}

func TestChannelClosedWhileBalancesAreAsked(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 300)
	set := func(state string) func() {
		return func() {
			r.update(func(tx *records.Tx) error {
				return records.SetChannel(tx, r.net.Name, usd, records.Withdrawal, state, "a test", "operator:test")
			})
		}
	}
	r.parts.Chains["eth"] = &interrupted{r.eth, set("MAINTAIN")}
	r.restart()
	r.rest()
	p := r.payment(hash)
	require.Equal(t, records.Queued, p.State)
	require.Zero(t, p.Gen, "it never had a slot")
	set("OPEN")()
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireSound()
}

// limitedBalance is a ledger on which an account has a set balance of one asset.
type limitedBalance struct {
	chain.Chain
	account string
	asset   chain.Asset
	has     uint64
}

func (c limitedBalance) Balance(ctx context.Context, account string, asset chain.Asset) (chain.Amount, error) {
	if account == c.account && asset == c.asset {
		return units(c.has), nil
	}
	return c.Chain.Balance(ctx, account, asset)
}

func TestWhatIsBoundIsNotSpentAgain(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	const paid = (300 - fee) * 100
	r.parts.Chains["eth"] = limitedBalance{r.eth, r.net.Hot, usdEth, 2*paid - 1}
	r.restart()
	r.eth.Hold(r.net.Hot, true) // what is sent gets into no block, so no balance shows it
	first := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.rest()
	require.Equal(t, records.Bound, r.payment(first).State)
	second := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.rest()
	require.Equal(t, records.Queued, r.payment(second).State)
}

func TestRefusedWithdrawalIsTakenInBeforeItGoesBack(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	hash := r.withdraw(owner, "nowhere", 700)
	r.rest()
	r.requireHolding(r.vite, owner, usd, 700)
	r.requireHolding(r.vite, r.net.Gateway, usd, stock)
	r.view(func(tx *records.Tx) error {
		all, err := tx.Payments().Of(r.transfer(hash).ID)
		require.Len(t, all, 2)
		require.Equal(t, chain.Receive, all[0].Purpose)
		require.Equal(t, chain.Refund, all[1].Purpose)
		return err
	})
	r.requireSound()
}

func TestWhatIsChosenIsNotSpentAgain(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Chains["eth"] = limitedBalance{r.eth, r.net.Hot, usdEth, 2*(300-fee)*100 - 1}
	r.restart()
	first, second := r.withdraw(owner, r.eth.Address("payee"), 300), r.withdraw(owner, r.eth.Address("payee"), 300)
	r.vite.Mine(finality + 1)
	r.step() // both are queued together
	require.Equal(t, records.Bound, r.payment(first).State)
	require.Equal(t, records.Queued, r.payment(second).State)
}

func TestRefundsWaitForTheBooks(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	automatic := func(state string) {
		r.update(func(tx *records.Tx) error {
			return records.SetAutomatic(tx, r.net.Name, usd, records.Withdrawal, state, "a test")
		})
	}
	automatic("MAINTAIN")
	hash := r.withdraw(owner, "nowhere", 700)
	r.rest()
	require.Equal(t, records.Queued, r.payment(hash).State)
	automatic("OPEN")
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
}

// noCancels is a signer that lets no cancellation pass.
type noCancels struct{ Signer }

func (g noCancels) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	for _, o := range orders {
		if o.Payment.Purpose == chain.Cancel {
			return nil, signguard.ErrRefused
		}
	}
	return g.Signer.Sign(ctx, id, orders...)
}

func TestCancellationsAskTheSigner(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	next := r.account("eth", r.net.Hot).Next
	slot := chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: next}
	require.NoError(t, r.guard.Allow(t.Context(), "eth", signguard.Signature{Slot: slot, Digest: "pay somebody", PaymentID: 77, Receive: true}))
	r.parts.Signer = noCancels{r.parts.Signer}
	r.restart()
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	for range 2 * finality {
		r.eth.Mine(1)
		r.vite.Mine(1)
		_ = r.w.Step(t.Context()) // it is refused
	}
	require.Equal(t, records.AccountRecovering, r.account("eth", r.net.Hot).State)
	tip, err := r.eth.AccountHead(t.Context(), r.net.Hot)
	require.NoError(t, err)
	require.Equal(t, next, tip.Next, "nothing was cancelled")
}

func TestNothingIsCancelledBesideAnUnknownTransaction(t *testing.T) {
	r := setup(t)
	owner := r.paidBefore()
	next := r.account("eth", r.net.Hot).Next
	slot := chain.Slot{Account: r.net.Hot, Key: "hot", Nonce: next + 1}
	require.NoError(t, r.guard.Allow(t.Context(), "eth", signguard.Signature{Slot: slot, Digest: "pay somebody", PaymentID: 77, Receive: true}))
	r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.eth.SendUnknownTx("hot", r.eth.Address("thief"), usdEth, units(1))
	r.eth.Mine(1)
	r.vite.Mine(finality + 1)
	r.step()
	r.step()
	require.Equal(t, records.AccountRecovering, r.account("eth", r.net.Hot).State)
	require.Empty(t, r.eth.Waiting(), "number %d is not used up while nobody has explained number %d", next+1, next)
}

// otherPast is a ledger of which one node, the one that is asked for blocks, stands on another
// past.
type otherPast struct{ chain.Chain }

func (c otherPast) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := c.Chain.Block(ctx, height)
	b.Parent = "another past"
	return b, err
}

func TestAnotherPastIsProvenBeforeItHalts(t *testing.T) {
	r := setup(t)
	r.run(10)
	honest := r.parts.Chains["eth"]
	r.parts.Chains["eth"] = otherPast{honest}
	r.restart()
	r.eth.Rollback(1, true) // the final block stays the same one
	r.eth.Mine(1)
	for range 3 {
		_ = r.w.Step(t.Context()) // it complains
	}
	require.Equal(t, r.cursor("eth").Final.Height, r.cursor("eth").Height, "it went back as far as it may")
	require.False(t, r.cursor("eth").Halted, "the final block is what all nodes say it is")
	r.parts.Chains["eth"] = honest
	r.restart()
	r.run(2)
	head, err := r.eth.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, head.Latest.Height, r.cursor("eth").Height)
}

// lagging is a ledger whose nodes agree on an earlier head, as after they were set up anew.
type lagging struct {
	*chaintest.Chain
	head chain.Head
}

func (c lagging) Head(context.Context) (chain.Head, error) { return c.head, nil }

// While the nodes' line ends below what was settled, nothing new is signed: it may be another line.
func TestNothingIsSignedOnAShorterLine(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	early, err := r.eth.Head(t.Context())
	require.NoError(t, err)
	r.run(finality + 6)
	hash := r.withdraw(owner, r.eth.Address("payee"), 300)
	r.vite.Mine(finality + 2)
	r.parts.Chains["eth"] = lagging{r.eth, early}
	r.restart()
	require.ErrorIs(t, r.w.followers["eth"].Round(t.Context()), chain.ErrUnavailable)
	require.NoError(t, r.w.followers["vite"].Round(t.Context()))
	require.ErrorIs(t, r.w.payers.Round(t.Context(), "eth"), chain.ErrUnavailable)
	require.Equal(t, records.Queued, r.payment(hash).State)
	r.parts.Chains["eth"] = r.eth
	r.restart()
	r.rest()
	require.Equal(t, records.Paid, r.payment(hash).State)
	r.requireSound()
}
