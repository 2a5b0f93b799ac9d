package main

import (
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/operator"
	"gatewayd/records"
)

// withdrawals is the row of `channel list` for a token's withdrawals.
func (r *rig) withdrawals(t *testing.T, u *testUser) (row operator.ChannelRow) {
	t.Helper()
	var rows []operator.ChannelRow
	require.NoError(t, json.Unmarshal([]byte(r.mustCommand(t, "channel", "list", "--json")), &rows))
	for _, c := range rows {
		if c.Token == u.Token.Token && c.Direction == "withdrawal" {
			row = c
		}
	}
	return row
}

// coinOf sets what an account of the source chain holds, and answers what it held.
func coinOf(t *testing.T, n *ethtest.Node, account string, wei *big.Int) (before *big.Int) {
	t.Helper()
	before, err := n.Client().BalanceAt(t.Context(), common.HexToAddress(account), nil)
	require.NoError(t, err)
	require.NoError(t, n.Client().Client().CallContext(t.Context(), nil, "anvil_setBalance", account, hexutil.EncodeBig(wei)))
	return before
}

// TestNoCoinForFees removes the hot account's coin. Waiting payments are not bound, not signed and
// not shown to wallets with a hash, every surface shows the reason, and after a top-up they leave
// at the market's price. An earlier sent transaction that the node lost is not repriced meanwhile.
func TestNoCoinForFees(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source, o.BalanceAudit = n.URL(), time.Hour })
	stop := mineOn(t, n)
	u := r.newCustomer(t, "USDT")
	hot := r.Daemon.Networks[0].Hot

	t.Run("before it is bound", func(t *testing.T) {
		had := coinOf(t, n, hot, new(big.Int))
		to, sent := u.withdrawToPayee(t, u.Times(5))
		waitFor(t, "a channel that says why", func() bool {
			row := r.withdrawals(t, u)
			return row.State == "MAINTAIN" && row.Automatic == "MAINTAIN" && row.Why != ""
		})
		require.Contains(t, r.withdrawals(t, u).Why, hot+" on eth holds too little coin for the fees of its payouts: top it up")
		var meta struct{ WithdrawState string }
		require.Equal(t, 0, getEnvelope(t, u.Gateway.Base+"/meta-info?tokenId="+u.Token.Token, &meta))
		require.Equal(t, "MAINTAIN", meta.WithdrawState)
		r.waitForBlocks(t, 12) // four times replace_after
		waits := paymentOf(t, r.recordDetail(t, sent), chain.Credit)
		require.Equal(t, []string{"queued", "no_coin"}, []string{waits.State, string(waits.Reason)})
		require.Empty(t, waits.Attempts)
		require.Empty(t, u.mustAwait(t, "/withdraw-records", sent, "TOT_CONFIRMED").OutTxHash)

		coinOf(t, n, hot, had)
		u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		u.requirePaid(t, to, u.Times(5))
		require.Len(t, paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts, 1)
		require.Equal(t, "OPEN", r.withdrawals(t, u).State)
	})
	t.Run("after it was sent", func(t *testing.T) {
		stop()
		require.NoError(t, n.SetMining(false))
		to, sent := u.withdrawToPayee(t, u.Times(6))
		waitFor(t, "the payout", func() bool {
			_, pending, err := n.Client().TransactionByHash(t.Context(), common.HexToHash(r.paying(t, sent, chain.Credit)))
			return err == nil && pending
		})
		first := paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts[0]
		require.NoError(t, n.Drop(common.HexToHash(first.Hash)))
		had := coinOf(t, n, hot, new(big.Int))
		mineOn(t, n)
		r.waitForBlocks(t, 12)
		require.Len(t, paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts, 1, "a higher fee is not what it wants")
		coinOf(t, n, hot, had)
		u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
		require.LessOrEqual(t, len(paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts), 2, "a block may have passed it over just when it was back in the pool")
		u.requirePaid(t, to, u.Times(6))
	})
	r.waitUntilSettled(t)
}

// deployed is code that makes a contract with that runtime.
func deployed(runtime ...byte) []byte {
	return append([]byte{0x60, byte(len(runtime)), 0x80, 0x60, 0x0b, 0x60, 0, 0x39, 0x60, 0, 0xf3}, runtime...)
}

// TestRefusingContracts withdraws to contracts that take no coin. Estimates detect those that
// refuse or burn all gas, at no cost. One that refuses only on execution costs one fee, which its
// user pays.
func TestRefusingContracts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newCustomer(t, "ETH")
	for _, c := range []struct {
		name   string
		code   []byte
		reason records.Reason
		sent   int
		back   uint64 // of six times the minimum
	}{
		{"refuses", common.FromHex(contracts.RejectorMetaData.Bin), "payee_refuses", 0, 6},
		{"burns all gas", deployed(0x5b, 0x60, 0, 0x56), "payee_gas", 0, 6},                                            // JUMPDEST PUSH1 0 JUMP
		{"refuses what pays for gas", deployed(0x3a, 0x60, 5, 0x57, 0, 0x5b, 0x5f, 0x5f, 0xfd), "payout_failed", 1, 5}, // GASPRICE PUSH1 5 JUMPI STOP JUMPDEST PUSH0 PUSH0 REVERT
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := r.Source.Deploy(c.code)
			require.NoError(t, err)
			waitFor(t, "the contract", func() bool {
				code, err := r.Source.Client().CodeAt(t.Context(), at, nil)
				return err == nil && len(code) > 0
			})
			before := u.spendable(t)
			hash, err := u.Withdraw(t.Context(), at.Hex(), u.Times(5))
			require.NoError(t, err)
			shown := u.mustAwait(t, "/withdraw-records", hash.String(), "FAILED")
			require.Empty(t, shown.OutTxHash)
			detail := r.recordDetail(t, hash.String())
			require.Equal(t, c.reason, detail.Record.Reason)
			require.Len(t, paymentOf(t, detail, chain.Credit).Attempts, c.sent)
			require.Equal(t, u.Times(c.back).String(), paymentOf(t, detail, chain.Refund).Amount)
			lost, err := u.Times(6).Sub(u.Times(c.back))
			require.NoError(t, err)
			left, err := before.Sub(lost)
			require.NoError(t, err)
			require.NoError(t, u.Collect(t.Context(), left))
			require.Equal(t, left.String(), u.spendable(t).String())
		})
	}
	r.waitUntilSettled(t)
}

// TestCeilingOfAPayout raises fees above the ceiling of one token's payouts: it waits and its
// channel shows the reason, another token's payout leaves, and the first leaves when fees fall.
func TestCeilingOfAPayout(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.CoinPrice = decimal.NewFromInt(3000) }) // five times a dollar buys some 20 gwei for each gas
	poor, rich := r.newCustomer(t, "USDT"), r.newCustomer(t, "ETH")
	r.Source.StopMining()
	require.NoError(t, r.Source.SetBaseFee(big.NewInt(60_000_000_000)))
	to, sent := poor.withdrawToPayee(t, poor.Times(5))
	waitFor(t, "a channel that says why", func() bool {
		return len(r.listRecords(t, "--hash", sent)) > 0 && r.withdrawals(t, poor).State == "MAINTAIN" && findPayment(r.recordDetail(t, sent), chain.Credit).Reason == "fee_ceiling"
	})
	require.Contains(t, r.withdrawals(t, poor).Why, "fees on eth are above the limits of payouts (fee.ceiling, max_fee_gwei or max_fee_rate)")
	require.NotContains(t, r.withdrawals(t, rich).Why, "fees on eth")
	require.Empty(t, paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts)
	_, other := rich.withdrawToPayee(t, rich.Times(5))
	overtakes := r.waitingPayout(t)
	require.EqualValues(t, types.DynamicFeeTxType, r.kind(t, overtakes.Hex()))
	r.Source.StartMining() // empty blocks, in which the base fee falls
	rich.mustAwait(t, "/withdraw-records", other, "OPPOSITE_CONFIRMED")
	poor.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	poor.requirePaid(t, to, poor.Times(5))
	waitFor(t, "an open channel", func() bool { return r.withdrawals(t, poor).State == "OPEN" })
	r.waitUntilSettled(t)
}
