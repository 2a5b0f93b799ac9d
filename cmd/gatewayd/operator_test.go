package main

import (
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/vite/core"
)

// needingOperator are the records on the operators' list, by hash of the incoming transaction.
func (r *rig) needingOperator(t *testing.T) map[string]operator.RecordRow {
	t.Helper()
	list := map[string]operator.RecordRow{}
	for _, row := range r.listRecords(t, "--needs-operator") {
		list[row.InTx] = row
	}
	return list
}

// pay sends an asset from the user's own account on the source chain.
func (u *testUser) pay(t *testing.T, asset, to string, amount chain.Amount, data string) string {
	t.Helper()
	hash, err := u.Eth.Pay(t.Context(), asset, common.HexToAddress(to), amount.Uint256().ToBig(), []byte(data))
	require.NoError(t, err)
	return hash.Hex()
}

// TestDepositBelowMinimum ends BELOW_MINIMUM and is credited by an operator's order.
func TestDepositBelowMinimum(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newUser(t, "ETH")
	amount := units(u.Token, 9)
	hash, err := u.Deposit(t.Context(), amount)
	require.NoError(t, err)
	u.mustAwait(t, "/deposit-records", hash, "BELOW_MINIMUM")
	u.mustDeposit(t, units(u.Token, 10))
	require.Equal(t, units(u.Token, 10).String(), u.spendable(t).String())

	record := r.recordDetail(t, hash).Record
	require.Equal(t, records.ReasonBelowMinimum, record.Reason)
	r.mustCommand(t, "records", "retry", recordName(record))
	_, err = r.command(t, "records", "retry", recordName(record))
	require.ErrorContains(t, err, "nothing to do")
	waitFor(t, "the credit", func() bool {
		row := r.recordDetail(t, hash).Record
		return row.Public == "TOT_CONFIRMED"
	})
	require.NoError(t, u.Collect(t.Context(), units(u.Token, 19)))
	require.Equal(t, units(u.Token, 19).String(), u.spendable(t).String())
	r.waitUntilSettled(t)
}

// TestTypedLabel has a user type the label of a shared address in small letters.
func TestTypedLabel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newUser(t, "DAI")
	var shared dev.DepositInfo
	query := map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}
	require.NoError(t, u.Gateway.Get(t.Context(), "/deposit-info", query, &shared))
	typed := strings.ToLower(shared.Label)
	require.NotEqual(t, shared.Label, typed)
	hash := u.pay(t, u.Token.Asset, shared.DepositAddress, u.Times(3), typed)
	u.mustAwait(t, "/deposit-records", hash, "TOT_CONFIRMED")
	require.NoError(t, u.Collect(t.Context(), u.Times(3)))
	r.waitUntilSettled(t)
}

// TestStrays sends transfers without an owner: they go to the operators' list, never to a user, and
// delay no payment.
func TestStrays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	eth, dai := r.newCustomer(t, "ETH"), r.newCustomer(t, "DAI")
	var shared dev.DepositInfo
	query := map[string]string{"tokenId": dai.Token.Token, "walletAddress": dai.Vite.Address().String()}
	require.NoError(t, dai.Gateway.Get(t.Context(), "/deposit-info", query, &shared))
	amount := units(dai.Token, 2000)

	stray := dai.pay(t, dai.Token.Asset, depositAddress(t, eth), amount, "")
	unlabelled := dai.pay(t, dai.Token.Asset, shared.DepositAddress, amount, "")
	unknown := dai.pay(t, dai.Token.Asset, shared.DepositAddress, amount, "NOBODY99")
	coins := eth.pay(t, "native", shared.DepositAddress, units(eth.Token, 20), shared.Label)
	gateway, err := core.ParseAddress(gatewayOf(t, eth))
	require.NoError(t, err)
	vite, err := eth.Vite.Send(t.Context(), gateway, core.VITE, units(eth.Token, 1000).Uint256(), comment(0, goodPayee))
	require.NoError(t, err)

	want := map[string]records.Reason{
		stray: "wrong_type", unlabelled: "unknown_label", unknown: "unknown_label", coins: "wrong_type",
	}
	owners := map[string]string{stray: eth.Vite.Address().String(), coins: dai.Vite.Address().String()}
	waitFor(t, "four strays", func() bool { return len(r.needingOperator(t)) == len(want) })
	list := r.needingOperator(t)
	for hash, reason := range want {
		require.Equal(t, reason, list[hash].Reason, hash)
		require.Equal(t, "held", list[hash].State, hash)
		require.Equal(t, owners[hash], list[hash].Wallet, hash)
	}
	waitFor(t, "a transfer of an unknown token", func() bool { return len(r.listRecords(t, "--unknown-tokens", "--state", "held")) == 1 })
	list[vite.String()] = r.listRecords(t, "--unknown-tokens")[0]
	require.Equal(t, records.ReasonUnknownToken, list[vite.String()].Reason)
	eth.mustDeposit(t, eth.Times(3))
	dai.mustDeposit(t, dai.Times(3))

	t.Run("refunds", func(t *testing.T) {
		before, err := dai.Eth.Balance(t.Context(), dai.Token.Asset, dai.Eth.Address())
		require.NoError(t, err)
		for _, hash := range []string{unlabelled, unknown, vite.String()} {
			r.mustCommand(t, "records", "refund", recordName(list[hash]))
			_, err := r.command(t, "records", "refund", recordName(list[hash]))
			require.ErrorContains(t, err, "nothing to do", "twice")
		}
		_, err = r.command(t, "records", "refund", "999999")
		require.EqualError(t, err, "there is no record 999999")
		for _, hash := range []string{unlabelled, unknown, vite.String()} {
			waitFor(t, "the refund", func() bool { return findPayment(r.recordDetail(t, hash), chain.Refund).State == "paid" })
		}
		after, err := dai.Eth.Balance(t.Context(), dai.Token.Asset, dai.Eth.Address())
		require.NoError(t, err)
		require.Equal(t, new(big.Int).Add(before, new(big.Int).Mul(amount.Uint256().ToBig(), big.NewInt(2))).String(), after.String())
		back := eth.block(t, paymentOf(t, r.recordDetail(t, vite.String()), chain.Refund).Tx)
		require.Equal(t, eth.Vite.Address(), back.ToAddress)
		require.Equal(t, core.VITE, back.TokenID)
	})
	require.Len(t, r.needingOperator(t), 2, "what was not refunded stays on the list")
	require.NoError(t, eth.Collect(t.Context(), eth.Times(53)))
	require.Equal(t, eth.Times(53).String(), eth.spendable(t).String())
	require.NoError(t, dai.Collect(t.Context(), dai.Times(53)))
	require.Equal(t, dai.Times(53).String(), dai.spendable(t).String())
	r.waitUntilSettled(t)
}

// channelAnswers is docs/gateway-api.md#channel-states: the gateway's answers in each state. Codes
// are those of the envelope.
var channelAnswers = []struct {
	direction, state  string
	deposit, withdraw int
	notice            bool
	meta              [2]string // depositState, withdrawState
}{
	{"deposit", "MAINTAIN", 0, 0, true, [2]string{"MAINTAIN", "OPEN"}},
	{"deposit", "CLOSED", 2, 0, false, [2]string{"CLOSED", "OPEN"}},
	{"deposit", "OPEN", 0, 0, false, [2]string{"OPEN", "OPEN"}},
	{"withdrawal", "MAINTAIN", 0, 2, false, [2]string{"OPEN", "MAINTAIN"}},
	{"withdrawal", "CLOSED", 0, 2, false, [2]string{"OPEN", "CLOSED"}},
	{"withdrawal", "OPEN", 0, 0, false, [2]string{"OPEN", "OPEN"}},
}

func TestChannelAnswers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newUser(t, "USDT")
	query := "?tokenId=" + u.Token.Token + "&walletAddress=" + u.Vite.Address().String()
	for _, c := range channelAnswers {
		t.Run(c.direction+" "+c.state, func(t *testing.T) {
			r.mustCommand(t, "channel", "set", "eth", u.Token.Symbol, c.direction, c.state, "--why", "a test")
			var meta struct{ DepositState, WithdrawState string }
			require.Equal(t, 0, getEnvelope(t, u.Gateway.Base+"/meta-info"+query, &meta))
			require.Equal(t, c.meta, [2]string{meta.DepositState, meta.WithdrawState})
			var info struct{ NoticeMsg string }
			require.Equal(t, c.deposit, getEnvelope(t, u.Gateway.Base+"/deposit-info"+query, &info))
			require.Equal(t, c.notice, info.NoticeMsg != "")
			require.Equal(t, c.withdraw, getEnvelope(t, u.Gateway.Base+"/withdraw-info"+query, nil))
			for _, path := range []string{"/withdraw-fee" + query + "&amount=5000000&containsFee=false", "/deposit-records" + query + "&pageNum=1&pageSize=10"} {
				require.Equal(t, 0, getEnvelope(t, u.Gateway.Base+path, nil), "answered in every state: %s", path)
			}
		})
	}
}

// getEnvelope requests a URL, returns the envelope's code and decodes its data, if any.
func getEnvelope(t *testing.T, url string, data any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	var envelope struct {
		Code int
		Msg  string
		Data json.RawMessage
	}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&envelope))
	if envelope.Code != 0 {
		require.NotEmpty(t, envelope.Msg)
	} else if data != nil {
		require.NoError(t, json.Unmarshal(envelope.Data, data))
	}
	return envelope.Code
}

// TestMaintenanceHoldsPayouts sets both channels to MAINTAIN: money comes in and is confirmed,
// nothing goes out until they are OPEN.
func TestMaintenanceHoldsPayouts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newCustomer(t, "ETH")
	to := gatewayOf(t, u)
	for _, direction := range []string{"deposit", "withdrawal"} {
		r.mustCommand(t, "channel", "set", "eth", u.Token.Symbol, direction, "MAINTAIN", "--why", "a test")
	}
	in, err := u.Deposit(t.Context(), u.Times(7))
	require.NoError(t, err)
	out, err := u.SendToGateway(t.Context(), to, u.Times(6), comment(0, goodPayee))
	require.NoError(t, err)
	u.mustAwait(t, "/deposit-records", in, "OPPOSITE_CONFIRMED")
	u.mustAwait(t, "/withdraw-records", out.String(), "TOT_CONFIRMED")
	r.waitForBlocks(t, 5)
	for _, hash := range []string{in, out.String()} {
		credit := paymentOf(t, r.recordDetail(t, hash), chain.Credit)
		require.Equal(t, "queued", credit.State)
		require.Empty(t, credit.Attempts)
	}
	for _, direction := range []string{"deposit", "withdrawal"} {
		r.mustCommand(t, "channel", "set", "eth", u.Token.Token, direction, "OPEN")
	}
	u.mustAwait(t, "/deposit-records", in, "TOT_CONFIRMED")
	u.mustAwait(t, "/withdraw-records", out.String(), "OPPOSITE_CONFIRMED")
	u.requirePaid(t, goodPayee, u.Times(5))
	r.waitUntilSettled(t)
}

// waitForBlocks waits until the daemon has followed both chains for n more blocks and its payers
// have seen them.
func (r *rig) waitForBlocks(t *testing.T, n uint64) {
	t.Helper()
	heights := func() (source, exchange uint64) {
		require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) error {
			a, err := tx.Chains().Cursor("eth")
			require.NoError(t, err)
			b, err := tx.Chains().Cursor("vite")
			source, exchange = a.Height, b.Height
			return err
		}))
		return source, exchange
	}
	source, exchange := heights()
	waitFor(t, "blocks", func() bool {
		a, b := heights()
		return a >= source+n && b >= exchange+n
	})
}
