package watcher

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

// pooling is a ledger that shows what waits for its blocks.
type pooling struct {
	*chaintest.Chain
	waiting []chain.Transfer
	fault   error
}

func (p *pooling) Pooled(context.Context) ([]chain.Transfer, error) { return p.waiting, p.fault }

func (p *pooling) wait(n int, to string, asset chain.Asset, amount uint64) {
	hash := fmt.Sprintf("waiting%d", n)
	p.waiting = append(p.waiting, chain.Transfer{Ref: hash + ":0", Tx: hash, To: to, Asset: asset, Amount: units(amount), Memo: chain.Memo{Type: -1}})
}

// TestPooledDeposits: users' deposits are listed while they wait for a block, newest first, and
// nothing is booked.
func TestPooledDeposits(t *testing.T) {
	r := setup(t)
	ledger := &pooling{Chain: r.eth}
	r.parts.Chains["eth"] = ledger
	r.restart()
	owner, address := r.user()
	other, _ := r.user()
	look := func() {
		t.Helper()
		require.NoError(t, r.w.pools["eth"].Round(t.Context()))
	}
	listed := func(owner, token string) (list []records.Pooled) {
		t.Helper()
		r.view(func(tx *records.Tx) (err error) {
			list, err = tx.Transfers().PooledOf("eth", "main", token, owner)
			return err
		})
		return list
	}
	ledger.wait(1, address, usdEth, 12_345)
	ledger.wait(2, address, "scam", 5)
	ledger.wait(3, r.net.Hot, usdEth, 70_000)
	ledger.wait(4, r.eth.Address("stranger"), usdEth, 70_000)
	look()
	first := records.Pooled{Network: "main", Token: usd, Owner: owner, Ref: "waiting1:0", Tx: "waiting1", Net: units(123), SeenAt: r.now}
	require.Equal(t, []records.Pooled{first}, listed(owner, usd))
	require.Empty(t, append(listed(other, usd), listed(owner, coin)...))
	require.Empty(t, listed("", ""), "of no user")

	r.now = r.now.Add(time.Second)
	ledger.wait(5, address, usdEth, 100)
	look()
	require.Equal(t, []any{"waiting5", first}, []any{listed(owner, usd)[0].Tx, listed(owner, usd)[1]}, "even below the minimum")
	ledger.fault = errors.New("no node answers")
	require.Error(t, r.w.pools["eth"].Round(t.Context()))
	require.Len(t, listed(owner, usd), 2)
	ledger.fault = nil

	// The same transfer in a block is a record.
	r.update(func(tx *records.Tx) error {
		row, _, err := r.w.classify(tx, "eth", ledger.waiting[0])
		if err == nil {
			row.Height, row.BlockHash = 1, "block"
			_, _, err = tx.Transfers().See(row)
		}
		return err
	})
	require.Len(t, listed(owner, usd), 1)

	ledger.waiting = ledger.waiting[4:]
	for range 5 {
		r.now = r.now.Add(time.Minute)
		look()
		require.Len(t, listed(owner, usd), 1, "it waits for long")
	}
	r.now = r.now.Add(5 * time.Minute)
	require.Empty(t, listed(owner, usd), "an old list")
	ledger.waiting = nil
	look()
	require.Empty(t, listed(owner, usd))
	require.Empty(t, r.payments("waiting1"))
	require.Nil(t, r.w.pools["vite"], "a ledger without pools")

	// Run looks by itself.
	ledger.wait(6, address, usdEth, 50_000)
	r.restart()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1) // one answer
	go func() { ended <- r.w.Run(ctx) }()
	require.Eventually(t, func() bool { return len(listed(owner, usd)) == 1 }, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
}
