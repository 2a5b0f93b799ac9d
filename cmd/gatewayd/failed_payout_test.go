package main

import (
	"encoding/hex"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/records"
)

// onlyTried is the code of a contract that takes coin while it is only tried, and refuses what pays
// for gas.
var onlyTried = []byte{0x3a, 0x60, 5, 0x57, 0, 0x5b, 0x5f, 0x5f, 0xfd} // GASPRICE PUSH1 5 JUMPI STOP JUMPDEST PUSH0 PUSH0 REVERT

// setCode puts code at an address of anvil.
func setCode(t *testing.T, n *ethtest.Node, at common.Address, code []byte) {
	t.Helper()
	require.NoError(t, n.Client().Client().CallContext(t.Context(), nil, "anvil_setCode", at, hexutil.Bytes(code)))
}

// refuseAt makes a token of anvil refuse one payee when it counts, and take him while a payment is
// only tried: code before the token's own, which moves to another address.
func refuseAt(t *testing.T, n *ethtest.Node, token, payee common.Address) {
	t.Helper()
	code, err := n.Client().CodeAt(t.Context(), token, nil)
	require.NoError(t, err)
	moved := common.HexToAddress("0x00000000000000000000000000000000C0de0001")
	setCode(t, n, moved, code)
	before, err := hex.DecodeString("" +
		"600435" + "73" + hex.EncodeToString(payee[:]) + "14" + "3a151516" + "604d57" + // CALLDATALOAD(4) = payee AND GASPRICE > 0: to fail
		"365f5f37" + "5f5f365f" + "73" + hex.EncodeToString(moved[:]) + "5af4" + // else DELEGATECALL with all that came
		"3d5f5f3e" + "604957" + "3d5ffd" + "5b3d5ff3" + "5b5f5ffd")
	require.NoError(t, err)
	require.Equal(t, []byte{0x5b, 0x5b}, []byte{before[0x49], before[0x4d]}, "jumps end on JUMPDEST")
	setCode(t, n, token, before)
}

// TestTokenThatRefusesAPayee: a token payout that fails on chain although everything of ours was
// there is not sent again: the withdrawal goes back less its fee at once. Others are paid as ever.
func TestTokenThatRefusesAPayee(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source = n.URL() })
	mineOn(t, n)
	u := r.newCustomer(t, "USDT")
	payee, err := dev.NewPayee()
	require.NoError(t, err)
	refuseAt(t, n, common.HexToAddress(u.Token.Asset), payee)
	before := u.spendable(t)

	hash, err := u.Withdraw(t.Context(), payee.Hex(), u.Times(5))
	require.NoError(t, err)
	u.mustAwait(t, "/withdraw-records", hash.String(), "FAILED")
	waitFor(t, "the refund", func() bool { return findPayment(r.recordDetail(t, hash.String()), chain.Refund).State == "paid" })
	detail := r.recordDetail(t, hash.String())
	require.Equal(t, records.ReasonPayoutFailed, detail.Record.Reason)
	require.Len(t, paymentOf(t, detail, chain.Credit).Attempts, 1, "sent once")
	require.Equal(t, u.Times(5).String(), paymentOf(t, detail, chain.Refund).Amount, "six less the fee of one")
	left, err := before.Sub(u.Times(1))
	require.NoError(t, err)
	require.NoError(t, u.Collect(t.Context(), left))

	to, sent := u.withdrawToPayee(t, u.Times(5))
	u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	u.requirePaid(t, to, u.Times(5))
	r.waitUntilSettled(t)
}

// TestRefusingPayeesDelayNobody: 64 withdrawals go to contracts that refuse only on execution,
// followed by an honest one. A block includes it two blocks after it was final at the latest.
func TestRefusingPayeesDelayNobody(t *testing.T) {
	t.Parallel()
	const many, per = 64, 16 // of an account in one block
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source, o.BalanceAudit = n.URL(), time.Hour })
	stop := mineOn(t, n)
	u := r.newUser(t, "ETH")
	u.mustDeposit(t, u.Times(200))
	require.NoError(t, u.Collect(t.Context(), u.Times(200)))
	honest := r.newCustomer(t, "USDT")
	stop()
	require.NoError(t, n.SetMining(false))
	hot := common.HexToAddress(r.Daemon.Networks[0].Hot)
	first, err := n.Client().NonceAt(t.Context(), hot, nil)
	require.NoError(t, err)
	for i := range many {
		at := common.BigToAddress(big.NewInt(0xdead0000 + int64(i)))
		setCode(t, n, at, onlyTried)
		_, err := u.Withdraw(t.Context(), at.Hex(), u.Times(1))
		require.NoError(t, err)
	}
	for range many / per {
		r.pooled(t, n, per)
		require.NoError(t, n.Mine(1))
	}
	to, sent := honest.withdrawToPayee(t, honest.Times(5))
	_ = honest.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_PROCESSING") // signed, while the others wait for their final block
	r.pooled(t, n, 1)
	require.NoError(t, n.Mine(1))
	honest.requirePaid(t, to, honest.Times(5))

	mineOn(t, n)
	waitFor(t, "the refunds", func() bool { return len(r.listRecords(t, "--reason", "payout_failed", "--limit", "100")) == many })
	r.waitUntilSettled(t)
	last, err := n.Client().NonceAt(t.Context(), hot, nil)
	require.NoError(t, err)
	require.Equal(t, first+many+1, last, "each was sent once")
}

// pooled waits until so many transactions wait in anvil's pool.
func (r *rig) pooled(t *testing.T, n *ethtest.Node, count uint64) {
	t.Helper()
	waitFor(t, "transactions in the pool", func() bool {
		var pool struct{ Pending hexutil.Uint64 }
		require.NoError(t, n.Client().Client().CallContext(t.Context(), &pool, "txpool_status"))
		return uint64(pool.Pending) >= count
	})
}
