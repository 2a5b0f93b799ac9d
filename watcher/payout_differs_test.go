package watcher

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/chaintest"
	"gatewayd/records"
	"gatewayd/signer"
)

// taxed is a ledger whose token moves less than a transfer says: its transactions succeed and do not keep what they say.
type taxed struct{ *chaintest.Chain }

func (c taxed) Block(ctx context.Context, height uint64) (chain.Block, error) {
	b, err := c.Chain.Block(ctx, height)
	for i := range b.OwnTxs {
		b.OwnTxs[i].OK = false
	}
	return b, err
}

// Something moved, so neither a second payout nor a refund may follow by itself.
func TestPayoutThatMovedSomethingElseIsHeld(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	r.parts.Chains["eth"] = taxed{r.eth}
	r.restart()
	payee := r.eth.Address("payee")
	hash := r.withdraw(owner, payee, 1000)
	r.rest()
	r.requireState(hash, records.Final, "")
	p := r.payment(hash)
	require.Equal(t, []any{chain.Credit, records.HeldPayment, records.ReasonPayoutDiffers}, []any{p.Purpose, p.State, p.Reason})
	r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
}

// A signer with nodes of its own keeps what it signed, because no block shows that it pays nothing. The chain's other payments become final all the same.
func TestPayoutThatMovedSomethingElseStopsNoOther(t *testing.T) {
	r := setup(t)
	eth := taxed{r.eth}
	r.parts.Chains["eth"] = eth
	r.parts.Signer = signer.New(signer.Parts{
		Keys: chaintest.NoKeys{}, Guard: r.guard, Rules: rulesOf(r.eth, r.vite), Ledgers: map[chain.ID]signer.Ledger{"eth": eth, "vite": r.vite},
	})
	r.restart()
	owner, _ := r.user()
	hash := r.withdraw(owner, r.eth.Address("payee"), 1000)
	r.rest()
	require.Equal(t, []any{records.HeldPayment, records.ReasonPayoutDiffers}, []any{r.payment(hash).State, r.payment(hash).Reason})

	other, address := r.user()
	deposited := r.deposit(address, minimum*100)
	r.rest()
	require.Equal(t, records.Paid, r.payment(deposited).State)
	r.requireHolding(r.vite, other, usd, minimum)
}
