package watcher

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// taxed is a ledger whose token moves less than a transfer says: its transactions succeed and do not keep what they say.
type taxed struct{ chain.Chain }

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
