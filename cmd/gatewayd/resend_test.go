package main

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/operator"
	"gatewayd/vite/core"
)

// withdrawToPayee withdraws to a new account, as soon as the gateway takes withdrawals, and returns
// the account and the withdrawal's hash.
func (u *testUser) withdrawToPayee(t *testing.T, amount chain.Amount) (to, sent string) {
	t.Helper()
	fresh, err := dev.NewPayee()
	require.NoError(t, err)
	waitFor(t, "an open channel", func() bool {
		query := map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}
		return u.Gateway.Get(t.Context(), "/withdraw-info", query, &dev.WithdrawInfo{}) == nil
	})
	hash, err := u.Withdraw(t.Context(), fresh.Hex(), amount)
	require.NoError(t, err)
	return fresh.Hex(), hash.String()
}

// waitingPayout is the one payout that waits in the source node's pool.
func (r *rig) waitingPayout(t *testing.T) common.Hash {
	t.Helper()
	waitFor(t, "a payout in the pool", func() bool { return len(r.Source.Pending()) == 1 })
	return r.Source.Pending()[0]
}

// TestPayoutDropped makes the source node forget a payout that waits: it is sent again and paid
// once.
func TestPayoutDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newCustomer(t, "ETH")
	drops := map[string]func(common.Hash){
		"this one": func(h common.Hash) {
			dropped, err := r.Source.Drop(h)
			require.NoError(t, err)
			require.True(t, dropped)
		},
		"everything": func(common.Hash) { r.Source.DropAll() },
	}
	for name, drop := range drops {
		t.Run(name, func(t *testing.T) {
			r.Source.StopMining()
			to, sent := u.withdrawToPayee(t, u.Times(5))
			hash := r.waitingPayout(t)
			drop(hash)
			require.Empty(t, r.Source.Pending())
			r.Source.StartMining()
			u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
			u.requirePaid(t, to, u.Times(5))
			r.requireOneNonce(t, sent)
		})
	}
	r.waitUntilSettled(t)
}

// TestPayoutDroppedByAnvil is the same on a real node.
func TestPayoutDroppedByAnvil(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source = n.URL() })
	stop := mineOn(t, n)
	u := r.newCustomer(t, "ETH")
	stop()
	require.NoError(t, n.SetMining(false))
	to, sent := u.withdrawToPayee(t, u.Times(5))
	var hash string
	waitFor(t, "the payout", func() bool {
		for _, row := range r.listRecords(t, "--hash", sent) {
			hash = row.OutTx
		}
		if hash == "" {
			return false
		}
		_, pending, err := n.Client().TransactionByHash(t.Context(), common.HexToHash(hash))
		return err == nil && pending
	})
	require.NoError(t, n.Drop(common.HexToHash(hash)))
	_, _, err := n.Client().TransactionByHash(t.Context(), common.HexToHash(hash))
	require.Error(t, err, "forgotten")
	mineOn(t, n)
	u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	u.requirePaid(t, to, u.Times(5))
	r.waitUntilSettled(t)
}

func startAnvil(t *testing.T, period time.Duration) *ethtest.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Anvil, Period: period})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	var rich []string // anvil's own accounts, whose coin would be found at users' addresses
	require.NoError(t, n.Client().Client().CallContext(ctx, &rich, "eth_accounts"))
	for _, account := range rich {
		coinOf(t, n, account, new(big.Int))
	}
	return n
}

// mineOn makes five blocks a second until stop, which waits for the last one.
func mineOn(t *testing.T, n *ethtest.Node) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1) // room for the one answer
	go func() {
		ended <- dev.Poll(ctx, func() (bool, error) { return ctx.Err() != nil, n.Mine(1) })
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(cancel)
	return stop
}

// TestStuckPayout raises what blocks ask for, by tip and by base fee, once a payout waits: it is
// replaced at the same nonce with both fees higher, and paid once.
func TestStuckPayout(t *testing.T) {
	t.Parallel()
	dear := map[string]func(t *testing.T, r *rig, first operator.AttemptRow){
		"tip": func(t *testing.T, r *rig, first operator.AttemptRow) {
			tip, ok := new(big.Int).SetString(first.Tip, 10)
			require.True(t, ok)
			require.NoError(t, r.Source.SetMinTip(tip.Add(tip.Div(tip.Mul(tip, big.NewInt(6)), big.NewInt(5)), big.NewInt(1))))
		},
		"base fee": func(t *testing.T, r *rig, first operator.AttemptRow) {
			limit, ok := new(big.Int).SetString(first.Cap, 10)
			require.True(t, ok)
			require.NoError(t, r.Source.SetBaseFee(limit.Mul(limit, big.NewInt(3))))
		},
	}
	for name, raise := range dear {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			u := r.newCustomer(t, "USDT")
			r.Source.StopMining()
			to, sent := u.withdrawToPayee(t, u.Times(5))
			r.waitingPayout(t)
			raise(t, r, paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts[0])
			r.Source.StartMining()
			shown := u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
			u.requirePaid(t, to, u.Times(5))

			attempts := paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts
			require.Greater(t, len(attempts), 1, "replaced")
			for i, a := range attempts[1:] {
				require.Equal(t, attempts[0].Number, a.Number, "the same nonce")
				require.Equal(t, "replace", a.Kind)
				require.True(t, isRaised(t, attempts[i].Tip, a.Tip), "tip %s after %s", a.Tip, attempts[i].Tip)
				require.True(t, isRaised(t, attempts[i].Cap, a.Cap), "cap %s after %s", a.Cap, attempts[i].Cap)
			}
			if name == "tip" { // a base fee falls with each block, so that the first one may be mined in the end
				require.NotEqual(t, attempts[0].Hash, shown.OutTxHash)
			}
			r.waitUntilSettled(t)
		})
	}
}

// isRaised is true for a fee that is an eighth higher at least, as nodes require.
func isRaised(t *testing.T, before, after string) bool {
	t.Helper()
	b, ok := new(big.Int).SetString(before, 10)
	require.True(t, ok)
	a, ok := new(big.Int).SetString(after, 10)
	require.True(t, ok)
	return a.Mul(a, big.NewInt(8)).Cmp(b.Mul(b, big.NewInt(9))) >= 0
}

// TestExchangeLosesBlocks makes the exchange node lose a credit and a receive that are in no
// snapshot yet: the same blocks are sent again.
func TestExchangeLosesBlocks(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Interval = -1 })
	stop := r.snapshots(t)
	u := r.newCustomer(t, "ETH")
	stop()

	t.Run("payment", func(t *testing.T) {
		hash, err := u.Deposit(t.Context(), u.Times(7))
		require.NoError(t, err)
		lost := r.dropBlock(t, func() string { return r.paying(t, hash, chain.Credit) })
		stop := r.snapshots(t)
		defer stop()
		shown := u.mustAwait(t, "/deposit-records", hash, "TOT_CONFIRMED")
		require.Equal(t, lost.String(), shown.OutTxHash)
		require.NoError(t, u.Collect(t.Context(), u.Times(57)))
		require.Equal(t, u.Times(57).String(), u.spendable(t).String())
	})
	t.Run("receive", func(t *testing.T) {
		to, sent := u.withdrawToPayee(t, u.Times(5))
		lost := r.dropBlock(t, func() string {
			if list := r.listRecords(t, "--hash", sent); len(list) == 0 || list[0].State == "seen" { // not deep enough
				_, err := r.Exchange.Node.Snapshot()
				require.NoError(t, err)
			}
			return r.paying(t, sent, chain.Receive)
		})
		stop := r.snapshots(t)
		defer stop()
		u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		u.requirePaid(t, to, u.Times(5))
		waitFor(t, "the receive", func() bool { return findPayment(r.recordDetail(t, sent), chain.Receive).State == "paid" })
		require.Equal(t, lost.String(), paymentOf(t, r.recordDetail(t, sent), chain.Receive).Tx)
		r.waitUntilSettled(t)
	})
}

// snapshots makes ten snapshot blocks a second until stop, on a chain without automatic ones.
func (r *rig) snapshots(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if _, err := r.Exchange.Node.Snapshot(); err != nil {
					t.Errorf("making a snapshot: %v", err)
					return
				}
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// paying is the hash of the block that a record's payment is sent with; empty before it is signed.
func (r *rig) paying(t *testing.T, hash string, purpose chain.Purpose) string {
	t.Helper()
	if len(r.listRecords(t, "--hash", hash)) == 0 {
		return ""
	}
	for _, p := range r.recordDetail(t, hash).Payments {
		if p.Purpose == string(purpose) && len(p.Attempts) > 0 {
			return p.Attempts[0].Hash
		}
	}
	return ""
}

// dropBlock drops a block of ours as soon as the exchange node has it, before any snapshot does.
func (r *rig) dropBlock(t *testing.T, which func() string) core.Hash {
	t.Helper()
	var lost core.Hash
	waitFor(t, "a block to lose", func() bool {
		text := which()
		if text == "" {
			return false
		}
		hash, err := core.ParseHash(text)
		require.NoError(t, err)
		lost = hash
		return r.Exchange.Node.DropUnconfirmed(hash) == nil
	})
	return lost
}

// TestSourceReorg removes the blocks of an unfinal deposit or payout. Whether the transaction
// returns automatically or must be sent again, it counts once.
func TestSourceReorg(t *testing.T) {
	t.Parallel()
	for name, fate := range map[string]ethnode.Fate{"kept": ethnode.Keep, "returned": ethnode.Return, "lost": ethnode.Lose} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			u := r.newCustomer(t, "ETH")
			t.Run("deposit", func(t *testing.T) { r.reorgDeposit(t, u, fate) })
			t.Run("payout", func(t *testing.T) { r.reorgPayout(t, u, fate) })
			r.waitUntilSettled(t)
		})
	}
}

func (r *rig) reorgDeposit(t *testing.T, u *testUser, fate ethnode.Fate) {
	before := u.spendable(t)
	to := common.HexToAddress(depositAddress(t, u))
	r.Source.StopMining()
	defer r.Source.StartMining()
	hash, err := r.Source.SendETH(to, u.Times(7).Uint256().ToBig())
	require.NoError(t, err)
	_, err = r.Source.Mine(2)
	require.NoError(t, err)
	tx, _, err := r.Source.Client().TransactionByHash(t.Context(), hash)
	require.NoError(t, err)
	u.awaitCount(t, hash.Hex(), 2)
	_, err = r.Source.Reorg(2, fate)
	require.NoError(t, err)
	switch fate {
	case ethnode.Keep:
		u.awaitCount(t, hash.Hex(), 2)
	case ethnode.Return:
		u.awaitCount(t, hash.Hex(), 0)
	case ethnode.Lose:
		u.awaitCount(t, hash.Hex(), 0)
		require.NoError(t, r.Source.Client().SendTransaction(t.Context(), tx))
	}
	r.Source.StartMining()
	u.mustAwait(t, "/deposit-records", hash.Hex(), "TOT_CONFIRMED")
	after, err := before.Add(u.Times(7))
	require.NoError(t, err)
	require.NoError(t, u.Collect(t.Context(), after))
	r.waitForBlocks(t, 5)
	require.Equal(t, after.String(), u.spendable(t).String())
}

// awaitCount waits until a deposit shows a number of confirmations.
func (u *testUser) awaitCount(t *testing.T, hash string, n int) {
	t.Helper()
	waitFor(t, "confirmations", func() bool {
		r, ok, err := u.Gateway.Record(t.Context(), "/deposit-records", u.Token.Token, u.Vite.Address().String(), hash)
		return err == nil && ok && r.InTxConfirmedCount == n
	})
}

func (r *rig) reorgPayout(t *testing.T, u *testUser, fate ethnode.Fate) {
	r.Source.StopMining()
	defer r.Source.StartMining()
	to, sent := u.withdrawToPayee(t, u.Times(5))
	r.waitingPayout(t)
	_, err := r.Source.Mine(2)
	require.NoError(t, err)
	u.requirePaid(t, to, u.Times(5))
	_, err = r.Source.Reorg(2, fate)
	require.NoError(t, err)
	if fate != ethnode.Keep {
		u.requirePaid(t, to, chain.Amount{})
	}
	r.Source.StartMining()
	u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	r.waitForBlocks(t, 5)
	u.requirePaid(t, to, u.Times(5))
	r.requireOneNonce(t, sent)
}

// requireOneNonce requires that whatever was signed for a payout can only be mined once: the same
// transaction, or one that replaces it because the blocks were quicker than the daemon.
func (r *rig) requireOneNonce(t *testing.T, sent string) {
	t.Helper()
	attempts := paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts
	require.NotEmpty(t, attempts)
	for _, a := range attempts {
		require.Equal(t, attempts[0].Number, a.Number)
	}
}
