package main

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/operator"
)

// orderRig is an environment with a user of a token that is deposited by label and one of coin, who
// has an address.
type orderRig struct {
	*rig
	eth, dai *testUser
	shared   dev.DepositInfo
	amount   chain.Amount // of a stray of the label's token
}

func newOrderRig(t *testing.T, adjust ...func(*dev.Options)) orderRig {
	t.Helper()
	r := orderRig{rig: newRig(t, adjust...)}
	r.eth, r.dai = r.newCustomer(t, "ETH"), r.newCustomer(t, "DAI")
	query := map[string]string{"tokenId": r.dai.Token.Token, "walletAddress": r.wallet(r.dai)}
	require.NoError(t, r.dai.Gateway.Get(t.Context(), "/deposit-info", query, &r.shared))
	r.amount = units(r.dai.Token, 2000)
	return r
}

func (r orderRig) wallet(u *testUser) string { return u.Vite.Address().String() }

// newHeldRecord sends the label's token to an address with calldata after it, and waits until the
// record is on the operators' list.
func (r orderRig) newHeldRecord(t *testing.T, to, data string) operator.RecordRow {
	t.Helper()
	hash := r.dai.pay(t, r.dai.Token.Asset, to, r.amount, data)
	waitFor(t, "a held deposit", func() bool { return r.needingOperator(t)[hash].InTx != "" })
	return r.needingOperator(t)[hash]
}

// runCommands runs commands as processes of their own, all at once, and returns those that
// succeeded.
func (r orderRig) runCommands(t *testing.T, commands ...[]string) (done []string) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, args := range commands {
		all.Go(func() {
			out, err := exec.Command("gatewayd", append(args, "-c", r.Info.Config)...).CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done = append(done, strings.Join(args, " "))
			} else if !strings.Contains(string(out), "nothing to do: ") {
				t.Errorf("%s: %s", strings.Join(args, " "), out)
			}
		})
	}
	all.Wait()
	return done
}

// livePayments returns the payments of a record that are not void.
func (r orderRig) livePayments(t *testing.T, record operator.RecordRow) (list []operator.PaymentRow) {
	t.Helper()
	for _, p := range r.recordDetail(t, recordName(record)).Payments {
		if p.State != "void" && p.Purpose != string(chain.Receive) {
			list = append(list, p)
		}
	}
	return list
}

func (r orderRig) waitForPaid(t *testing.T, record operator.RecordRow) operator.PaymentRow {
	t.Helper()
	waitFor(t, "the payment", func() bool { list := r.livePayments(t, record); return len(list) == 1 && list[0].State == "paid" })
	return r.livePayments(t, record)[0]
}

// TestHeldDeposits shows the known data of deposits without an owner, and credits or refunds each
// once, despite concurrent orders.
func TestHeldDeposits(t *testing.T) {
	t.Parallel()
	r := newOrderRig(t)
	to, wallet := r.shared.DepositAddress, r.wallet(r.dai)
	none, unknown := r.newHeldRecord(t, to, ""), r.newHeldRecord(t, to, "NOBODY99")
	broken, long := r.newHeldRecord(t, to, "\xff\xfeME"), r.newHeldRecord(t, to, strings.Repeat("x", 65))

	t.Run("what is known", func(t *testing.T) {
		for _, c := range []struct {
			row  operator.RecordRow
			says string
		}{
			{none, "note     no label came with it"},
			{unknown, `note     "NOBODY99", hex 4e4f424f44593939, no user has this label`},
			{broken, "note     hex fffe4d45, cannot be read: not utf8"},
			{long, "hex " + strings.Repeat("78", 65) + ", cannot be read: too long"},
		} {
			out := r.mustCommand(t, "records", "show", recordName(c.row))
			require.Contains(t, out, c.says)
			require.Contains(t, out, "  to       "+to+"\n")
			require.Contains(t, out, "`gatewayd records credit "+recordName(c.row)+" --wallet ADDR")
			require.Equal(t, to, r.recordDetail(t, recordName(c.row)).Record.To)
		}
	})
	t.Run("orders that do not fit", func(t *testing.T) {
		for _, c := range []struct {
			args []string
			says string
		}{
			{[]string{"credit", recordName(none), "--wallet", wallet}, "--why is required"},
			{[]string{"credit", recordName(none), "--why", "x"}, "the owner of record"},
			{[]string{"credit", recordName(none), "--why", "x", "--wallet", "vite_nobody"}, "not a payable address"},
			{[]string{"credit", recordName(none), "--why", "x", "--wallet", gatewayOf(t, r.dai)}, "one of our own"},
			{[]string{"credit", "999999", "--why", "x", "--wallet", wallet}, "there is no record 999999"},
			{[]string{"refund", recordName(none), "--to", to}, "one of our own"},
			{[]string{"refund", recordName(none), "--to", "0x12"}, "not a payable address"},
		} {
			_, err := r.command(t, append([]string{"records"}, c.args...)...)
			require.ErrorContains(t, err, c.says)
		}
		require.Empty(t, r.livePayments(t, none))
	})
	t.Run("credit", func(t *testing.T) {
		r.mustCommand(t, "records", "credit", recordName(unknown), "--wallet", wallet, "--why", "ticket 4711")
		p := r.waitForPaid(t, unknown)
		require.Equal(t, []string{"credit", wallet, r.amount.String()}, []string{p.Purpose, p.Payee, p.Amount})
		s := r.recordDetail(t, recordName(unknown))
		require.Equal(t, []string{wallet, r.dai.Token.Token, "TOT_CONFIRMED"}, []string{s.Record.Wallet, s.Record.Token, s.Record.Public})
		require.Contains(t, r.mustCommand(t, "records", "show", recordName(unknown)), "ordered credit to "+wallet+": ticket 4711")
		require.Regexp(t, `operator:\w+`, actorOf(s, "ordered"))
		for _, order := range []string{"credit", "refund"} {
			_, err := r.command(t, "records", order, recordName(unknown), "--why", "again")
			require.ErrorContains(t, err, "nothing to do")
		}
		r.dai.mustAwait(t, "/deposit-records", unknown.InTx, "TOT_CONFIRMED")
	})
	t.Run("two operators at once", func(t *testing.T) {
		done := r.runCommands(t,
			[]string{"records", "credit", recordName(none), "--wallet", wallet, "--why", "a"}, []string{"records", "refund", recordName(none), "--why", "b"},
			[]string{"records", "credit", recordName(none), "--wallet", r.wallet(r.eth), "--why", "c"}, []string{"records", "refund", recordName(none), "--to", goodPayee},
		)
		require.NotEmpty(t, done)
		credits := 0
		for _, d := range done {
			if strings.Contains(d, "credit") {
				credits++
			}
		}
		require.LessOrEqual(t, credits, 1, "a refund may still take the place of a credit that is not bound; nothing takes that of a refund")
		require.LessOrEqual(t, len(done)-credits, 1)
		r.waitForPaid(t, none)
	})
	t.Run("killed in between", func(t *testing.T) {
		for delay := 5 * time.Millisecond; len(r.livePayments(t, broken)) == 0 && delay < time.Second; delay += delay / 4 {
			cmd := exec.Command("gatewayd", "records", "credit", recordName(broken), "--wallet", wallet, "--why", "killed", "-c", r.Info.Config)
			require.NoError(t, cmd.Start())
			killed := time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait() // whatever it has done, or not
			killed.Stop()
		}
		_, err := r.command(t, "records", "credit", recordName(broken), "--wallet", wallet, "--why", "after all")
		require.True(t, err == nil || strings.Contains(err.Error(), "nothing to do"), err)
		require.Equal(t, wallet, r.waitForPaid(t, broken).Payee)
	})
	r.waitUntilSettled(t)
}

func actorOf(s operator.RecordDetail, event string) string {
	for _, e := range s.History {
		if strings.HasSuffix(e.What, event) {
			return e.Actor
		}
	}
	return ""
}

// TestOtherWay: a token that is deposited by label comes to a user's own address, and coin with a
// label. Both are held for their owners, and what lies on the address is swept.
func TestOtherWay(t *testing.T) {
	t.Parallel()
	r := newOrderRig(t)
	address := depositAddress(t, r.eth)
	token := r.newHeldRecord(t, address, "")
	coins := r.eth.pay(t, "native", r.shared.DepositAddress, units(r.eth.Token, 20), r.shared.Label)
	waitFor(t, "the coins", func() bool { return r.needingOperator(t)[coins].InTx != "" })
	require.Equal(t, []string{"wrong_type", r.wallet(r.eth)}, []string{string(token.Reason), token.Wallet})
	require.Equal(t, []string{"wrong_type", r.wallet(r.dai)}, []string{string(r.needingOperator(t)[coins].Reason), r.needingOperator(t)[coins].Wallet})

	_, err := r.command(t, "records", "credit", recordName(token), "--wallet", r.wallet(r.dai), "--why", "somebody else")
	require.ErrorContains(t, err, "only this wallet can be credited")
	r.mustCommand(t, "records", "credit", recordName(token), "--why", "his own address")
	p := r.waitForPaid(t, token)
	require.Equal(t, []string{"credit", r.wallet(r.eth), r.dai.Token.Token, r.amount.String()}, []string{p.Purpose, p.Payee, p.Asset, p.Amount})

	refunded := r.needingOperator(t)[coins]
	r.mustCommand(t, "records", "refund", recordName(refunded), "--to", goodPayee, "--why", "ticket 12")
	require.Equal(t, goodPayee, r.waitForPaid(t, refunded).Payee)
	r.eth.requirePaid(t, goodPayee, units(r.eth.Token, 20))

	waitFor(t, "an empty address", func() bool { // the sweep wants gas first
		require.NoError(t, r.Daemon.Watcher.Treasury().Sweep(t.Context()))
		return r.balanceOn(t, r.dai, address).Sign() == 0
	})
	r.waitUntilSettled(t)
}

// TestRefundOfAContract: what a contract sent is not sent back to it unless the operator names it.
func TestRefundOfAContract(t *testing.T) {
	t.Parallel()
	r := newOrderRig(t)
	var rows [2]operator.RecordRow
	for i := range rows {
		hash := r.batch(t, r.eth, []string{r.shared.DepositAddress}, []uint64{20})
		waitFor(t, "the deposit", func() bool { return r.needingOperator(t)[hash].InTx != "" })
		rows[i] = r.needingOperator(t)[hash]
		require.Equal(t, r.Source.Contracts().BatchPayer.Hex(), rows[i].From)
		_, err := r.command(t, "records", "refund", recordName(rows[i]))
		require.ErrorContains(t, err, "is a contract")
		require.Empty(t, r.livePayments(t, rows[i]))
	}
	to := common.HexToAddress("0x00000000000000000000000000000000000c0ffe").Hex()
	r.mustCommand(t, "records", "refund", recordName(rows[0]), "--to", to)
	r.waitForPaid(t, rows[0])
	r.eth.requirePaid(t, to, r.eth.Times(20))
	require.Contains(t, r.mustCommand(t, "audit"), " 0 differences", "a refund to somebody else was ordered")
	r.mustCommand(t, "records", "refund", recordName(rows[1]), "--to", rows[1].From)
	require.Equal(t, rows[1].From, r.livePayments(t, rows[1])[0].Payee)
}
