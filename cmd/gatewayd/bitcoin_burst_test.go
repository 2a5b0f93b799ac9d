package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/vite/core"
)

// The bursts have GATEWAYD_BURST deposits and withdrawals, and kill the daemon GATEWAYD_KILLS
// times; the defaults suit every run of all tests.
const (
	coinBurst = 30
	coinKills = 3
	coinUsers = 6
)

func TestLitecoinBurst(t *testing.T) {
	t.Parallel()
	burstOfCoins(t, bitcoinnode.Litecoind)
}

func TestLitecoinBurstWithReplacement(t *testing.T) {
	t.Parallel()
	burstOfCoins(t, bitcoinnode.Litecoind, "-mempoolreplacement=1")
}

func TestBitcoinBurst(t *testing.T) {
	t.Parallel()
	burstOfCoins(t, bitcoinnode.Btcd)
}

// burstOfCoins has users deposit and withdraw at once while the daemon is killed and blocks of
// payouts leave the chain. What the chain alone shows must be exact.
func burstOfCoins(t *testing.T, kind bitcoinnode.Kind, args ...string) {
	t.Helper()
	w := newBitcoinEnv(t, kind, args...)
	size, kills := numberFrom(t, "GATEWAYD_BURST", coinBurst), numberFrom(t, "GATEWAYD_KILLS", coinKills)
	var users []*coinUser
	for n := range uint32(coinUsers) {
		users = append(users, w.newUser(t, n))
	}
	credited := w.depositAll(t, users, size)
	w.mineUntil(t, "all credits", func() bool { return w.haveAll(t, users, credited) })

	nets, left := w.withdrawAll(t, users, credited, size)
	var killing errgroup.Group
	seed := seedOf(t)
	killing.Go(func() error { return w.killRepeatedly(t.Context(), kills, seed) })
	t.Cleanup(func() { _ = killing.Wait() }) // reported below, unless the test has failed before
	ours := []string{w.pool(t)}
	for _, u := range users {
		ours = append(ours, u.deposit)
	}
	depths := []uint64{1, 3, 5}
	w.mineUntil(t, "all payouts", func() bool {
		b := w.books(t, ours...)
		if len(depths) > 0 && len(b.payees) > 0 {
			w.reorganize(t, depths[0])
			depths = depths[1:]
			return false
		}
		return len(b.payees) == size && w.allDone(t, users)
	})
	require.NoError(t, killing.Wait())
	require.NoError(t, w.waitUntilServing(t.Context()))
	w.mineUntil(t, "the records", func() bool { return w.allDone(t, users) })

	b := w.books(t, ours...)
	require.Len(t, b.payees, size)
	for script, net := range nets {
		require.Equal(t, []int64{net}, b.payees[script], "payee %s", script)
	}
	require.Equal(t, b.deposited-b.paid-b.fees, b.held)
	require.True(t, w.haveAll(t, users, left))
	t.Logf("%d withdrawals in %d transactions, for %d satoshi of fees", size, b.transactions, b.fees)
	require.Less(t, b.transactions, size)
	t.Log(w.command(t, "audit"))
}

// command runs a command of the program with the daemon's configuration and returns its output.
func (w *bitcoinEnv) command(t *testing.T, args ...string) string {
	t.Helper()
	out, text := testStreams(t), new(bytes.Buffer)
	out.stdout = text
	require.NoError(t, run(t.Context(), append(args, "-c", w.info.Config), out), "%s", text)
	return text.String()
}

// TestLitecoinRefund: a deposit has no sender. One to an address before it was given to a user is
// found again by order, and an operator refunds it to an address that its owner names. One below
// the minimum is credited by order.
func TestLitecoinRefund(t *testing.T) {
	t.Parallel()
	w := newBitcoinEnv(t, bitcoinnode.Litecoind)
	early := w.own(t, network.External, 0)
	amounts := []int64{3_000_000, 4_000_000}
	w.pay(t, wire.NewTxOut(amounts[0], w.script(t, early)), wire.NewTxOut(amounts[1], w.script(t, early)))
	w.mine(t, 1, w.miner)
	at, err := w.node.Height()
	require.NoError(t, err)
	w.awaitBlock(t, at)
	u := w.newUser(t, 0)
	require.Equal(t, early, u.deposit)
	require.Contains(t, w.command(t, "rescan", "coin", fmt.Sprint(at), fmt.Sprint(at), "--book"), "The daemon has booked 1 blocks again")

	const small = 50_000
	w.pay(t, wire.NewTxOut(small, w.script(t, u.deposit)))
	var held, refused map[string]string
	w.mineUntil(t, "the deposits", func() bool {
		held, refused = w.waiting(t, "held", "before_address"), w.waiting(t, "refused", "below_minimum")
		return len(held) == len(amounts) && len(refused) == 1
	})
	w.command(t, "records", "retry", refused[fmt.Sprint(small)])
	payees := w.payees(t, len(amounts))
	want := map[string][]int64{}
	for i, amount := range amounts {
		id := held[fmt.Sprint(amount)]
		require.ErrorContains(t, run(t.Context(), []string{"records", "refund", id, "--why", "test", "-c", w.info.Config}, testStreams(t)), "--to")
		w.command(t, "records", "refund", id, "--to", payees[i], "--why", "test")
		want[hex.EncodeToString(w.script(t, payees[i]))] = []int64{amount}
	}
	w.mineUntil(t, "the refunds", func() bool { return len(w.books(t, w.pool(t), early).payees) == len(want) })
	paid, err := w.node.Height()
	require.NoError(t, err)
	w.awaitBlock(t, paid+7) // they are final and settled
	w.mineUntil(t, "the small deposit", func() bool { return w.haveAll(t, []*coinUser{u}, []chain.Amount{w.units(t, small)}) })
	require.Equal(t, want, w.books(t, w.pool(t), early).payees)

	require.Contains(t, w.command(t, "rescan", "coin", fmt.Sprint(at), fmt.Sprint(paid)), "The records are complete.")
	require.Contains(t, w.command(t, "audit"), "0 differences")
	require.Contains(t, w.command(t, "account", "list"), w.pool(t))
	t.Log(w.command(t, "balances"), w.command(t, "doctor"))
}

// awaitBlock makes blocks until the daemon has read the one at a height.
func (w *bitcoinEnv) awaitBlock(t *testing.T, height uint64) {
	t.Helper()
	text := fmt.Sprint(height)
	w.mineUntil(t, "block "+text, func() bool {
		return run(t.Context(), []string{"rescan", "coin", text, text, "-c", w.info.Config}, testStreams(t)) == nil
	})
}

// waiting returns the records in a state for a reason, by amount.
func (w *bitcoinEnv) waiting(t *testing.T, state, reason string) map[string]string {
	t.Helper()
	var list []struct {
		ID                    json.Number
		State, Reason, Amount string
	}
	require.NoError(t, json.Unmarshal([]byte(w.command(t, "records", "list", "--json")), &list))
	found := map[string]string{}
	for _, r := range list {
		if r.State == state && r.Reason == reason {
			found[r.Amount] = r.ID.String()
		}
	}
	return found
}

// depositAll sends deposits, several in a transaction and several to one user, and returns what
// each user is to get.
func (w *bitcoinEnv) depositAll(t *testing.T, users []*coinUser, count int) []chain.Amount {
	t.Helper()
	const perTransaction = 15
	sums := make([]int64, len(users))
	var outputs []*wire.TxOut
	for i := range count {
		amount := int64(2_000_000 + 1000*i)
		sums[i%len(users)] += amount
		outputs = append(outputs, wire.NewTxOut(amount, w.script(t, users[i%len(users)].deposit)))
		if len(outputs) == perTransaction || i == count-1 {
			w.pay(t, outputs...)
			outputs = nil
		}
	}
	credited := make([]chain.Amount, len(users))
	for i, sum := range sums {
		credited[i] = w.units(t, sum)
	}
	return credited
}

// haveAll reports whether each user has exactly an amount.
func (w *bitcoinEnv) haveAll(t *testing.T, users []*coinUser, want []chain.Amount) bool {
	t.Helper()
	for i, u := range users {
		require.NoError(t, u.ReceiveAll(t.Context()))
		have, err := u.Balance(t.Context(), w.token.ID())
		require.NoError(t, err)
		require.False(t, want[i].Less(have), "user %d has %s of %s", i, have, want[i])
		if have != want[i] {
			return false
		}
	}
	return true
}

// withdrawAll sends withdrawals to payees of all kinds, which become final at once. It returns what
// each payee is to get in satoshi, by script, and what the users have left.
func (w *bitcoinEnv) withdrawAll(t *testing.T, users []*coinUser, have []chain.Amount, count int) (nets map[string]int64, left []chain.Amount) {
	t.Helper()
	w.exchange.send(t, "pace 0s")
	nets = map[string]int64{}
	for i, payee := range w.payees(t, count) {
		u, net := users[i%len(users)], int64(1_000_000+100*i)
		gross := w.withdraw(t, u, payee, net)
		var err error
		have[i%len(users)], err = have[i%len(users)].Sub(gross)
		require.NoError(t, err)
		nets[hex.EncodeToString(w.script(t, payee))] = net
	}
	w.exchange.send(t, "pace %s", exchangeFast)
	return nets, have
}

// withdraw does what a wallet does, and returns what the user has sent.
func (w *bitcoinEnv) withdraw(t *testing.T, u *coinUser, payee string, net int64) (gross chain.Amount) {
	t.Helper()
	var info dev.WithdrawInfo
	of := u.Address().String()
	require.NoError(t, u.gateway.Get(t.Context(), "/withdraw-info", map[string]string{"tokenId": w.token.Token, "walletAddress": of}, &info))
	gross, err := u.gateway.Gross(t.Context(), w.token.Token, of, w.units(t, net))
	require.NoError(t, err)
	data, err := core.Comment{Address: payee}.Encode()
	require.NoError(t, err)
	home, err := core.ParseAddress(info.GatewayAddress)
	require.NoError(t, err)
	_, err = u.Send(t.Context(), home, w.token.ID(), gross.Uint256(), data)
	require.NoError(t, err)
	return gross
}

// reorganize replaces the newest blocks by more others. Their transactions go back to the pool.
func (w *bitcoinEnv) reorganize(t *testing.T, depth uint64) {
	t.Helper()
	height, err := w.node.Height()
	require.NoError(t, err)
	other, err := bitcoinnode.NewWallet(time.Now().String()) // the same blocks again are refused
	require.NoError(t, err)
	require.NoError(t, w.node.Leave(height+1-depth))
	w.mine(t, int(depth)+1, other)
	t.Logf("%d blocks below %d were replaced", depth, height+1)
}

// allDone reports whether the gateway shows every record of the users as done.
func (w *bitcoinEnv) allDone(t *testing.T, users []*coinUser) bool {
	t.Helper()
	for _, u := range users {
		for path, state := range map[string]string{"/deposit-records": "TOT_CONFIRMED", "/withdraw-records": "OPPOSITE_CONFIRMED"} {
			var page struct {
				TotalCount      int
				DepositRecords  []dev.PublicRecord
				WithdrawRecords []dev.PublicRecord
			}
			query := map[string]string{"tokenId": w.token.Token, "walletAddress": u.Address().String(), "pageNum": "1", "pageSize": "100"}
			if u.gateway.Get(t.Context(), path, query, &page) != nil {
				return false // it is being restarted
			}
			for _, r := range append(page.DepositRecords, page.WithdrawRecords...) {
				if r.State != state {
					return false
				}
			}
		}
	}
	return true
}
