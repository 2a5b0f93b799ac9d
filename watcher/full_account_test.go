package watcher

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// asked counts how often a chain is asked where an account stands.
type asked struct {
	chain.Chain
	heads *atomic.Int64
}

// AccountHead counts.
func (a asked) AccountHead(ctx context.Context, account string) (chain.AccountHead, error) {
	a.heads.Add(1)
	return a.Chain.AccountHead(ctx, account)
}

// An account with as many unmined payments as it may have asks no node before the next block, and
// goes on with that.
func TestFullAccountWaitsForTheNextBlock(t *testing.T) {
	r := setup(t)
	owner, _ := r.user()
	for range r.eth.MaxUnmined() + 1 {
		r.withdraw(owner, r.eth.Address("payee"), 1000)
	}
	var heads atomic.Int64
	r.parts.Chains["eth"] = asked{r.eth, &heads}
	r.restart()
	r.vite.Mine(finality + 1)
	r.step()
	r.view(func(tx *records.Tx) error {
		full, err := tx.Slots().Open("eth", r.net.Hot)
		require.Len(t, full, r.eth.MaxUnmined())
		return err
	})

	before := heads.Load()
	require.NoError(t, r.w.payers.Round(t.Context(), "eth"))
	require.Equal(t, before, heads.Load(), "the same block: nothing can be done")
	r.eth.Mine(1)
	r.step()
	require.Greater(t, heads.Load(), before)
	r.rest()
	r.requireSound()
}
