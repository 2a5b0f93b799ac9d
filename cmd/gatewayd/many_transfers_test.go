package main

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/books"
)

// spender is the code of a contract that calls transfer of its own tokens repeatedly: with a count,
// a receiver and an amount from its caller.
func spender(t *testing.T, token common.Address) []byte {
	t.Helper()
	code, err := hex.DecodeString("" +
		"63a9059cbb60e01b5f52" + "602035600452" + "604035602452" + "5f35" + // the call in memory, the count on the stack
		"5b" + "5f5f60445f5f73" + hex.EncodeToString(token[:]) + "5af1" + "156043" + "57" + // again: transfer, or fail
		"60019003" + "80601857" + "00" + "5b5f5ffd") // one less, until none is left
	require.NoError(t, err)
	require.Equal(t, []byte{0x5b, 0x5b}, []byte{code[0x18], code[0x43]}, "jumps end on JUMPDEST")
	return code
}

// spend has the spender make so many transfers in one transaction, without waiting for a block.
func (u *testUser) spend(t *testing.T, at common.Address, count uint32, to common.Address, amount *big.Int) common.Hash {
	t.Helper()
	call := binary.BigEndian.AppendUint32(make([]byte, 28), count)
	call = append(call, common.LeftPadBytes(to[:], 32)...)
	call = append(call, common.LeftPadBytes(amount.Bytes(), 32)...)
	nonce, err := u.Eth.Client.PendingNonceAt(t.Context(), u.Eth.Address())
	require.NoError(t, err)
	tx, err := types.SignNewTx(u.Eth.Key, types.LatestSignerForChainID(u.Eth.Chain), &types.DynamicFeeTx{
		ChainID: u.Eth.Chain, Nonce: nonce, To: &at, Gas: 14_000_000, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11), Data: call,
	})
	require.NoError(t, err)
	require.NoError(t, u.Eth.Client.SendTransaction(t.Context(), tx))
	return tx.Hash()
}

// TestManyTransfersInOneBlock: one transaction with 520 transfers to a user's address, each of them
// credited, and a block with 5,000 more, as many in a transaction as its gas permits, each of them
// below the minimum. All are booked, audited and paged.
func TestManyTransfersInOneBlock(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source = n.URL() })
	stop := mineOn(t, n)
	u := r.newUser(t, "USDT")
	token, to := common.HexToAddress(u.Token.Asset), common.HexToAddress(depositAddress(t, u))
	at := common.BigToAddress(big.NewInt(0x5be4de4))
	setCode(t, n, at, spender(t, token))
	_, err := u.Faucet.Pay(t.Context(), u.Token.Asset, at, u.Times(1000).Uint256().ToBig(), nil)
	require.NoError(t, err)

	const credited, small, per = 520, 5000, 2500
	hash := u.spend(t, at, credited, to, u.Times(1).Uint256().ToBig())
	require.NoError(t, u.Eth.Mined(t.Context(), hash))
	stop()
	require.NoError(t, n.SetMining(false))
	for range small / per {
		hash = u.spend(t, at, per, to, big.NewInt(1))
	}
	r.pooled(t, n, small/per)
	require.NoError(t, n.Mine(1))
	inOneBlock(t, n, hash, small/per)
	mineOn(t, n)
	waitFor(t, "the last transfer", func() bool {
		return r.deposits(t, u, records.Refused) == small && r.deposits(t, u, records.Final) == credited
	})
	require.Len(t, r.listRecords(t, "--reason", "below_minimum", "--limit", "1000"), 1000)
	require.NoError(t, u.Collect(t.Context(), u.Times(credited)))
	r.waitUntilSettled(t)

	var page struct {
		TotalCount     int
		DepositRecords []dev.PublicRecord
	}
	for _, number := range []int{1, (credited + small) / 50} {
		query := map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String(), "pageNum": strconv.Itoa(number), "pageSize": "50"}
		require.NoError(t, u.Gateway.Get(t.Context(), "/deposit-records", query, &page))
		require.Equal(t, credited+small, page.TotalCount)
		require.Len(t, page.DepositRecords, 50, "page %d", number)
	}
	require.Equal(t, u.Times(1).String(), page.DepositRecords[0].Amount, "the last page has the first ones")
	require.Equal(t, u.Times(credited), u.spendable(t))
}

// inOneBlock checks the number of transactions in a transaction's block.
func inOneBlock(t *testing.T, n *ethtest.Node, hash common.Hash, count int) {
	t.Helper()
	receipt, err := n.Client().TransactionReceipt(t.Context(), hash)
	require.NoError(t, err)
	require.EqualValues(t, 1, receipt.Status, "gas used %d", receipt.GasUsed)
	block, err := n.Client().BlockByHash(t.Context(), receipt.BlockHash)
	require.NoError(t, err)
	require.Len(t, block.Transactions(), count)
}

// deposits counts the deposits of the user's token in a state.
func (r *rig) deposits(t *testing.T, u *testUser, state records.TransferState) uint64 {
	t.Helper()
	var totals books.Totals
	require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) (err error) {
		totals, err = books.TotalsOf(tx, r.Daemon.Config.Networks[0].Name, u.Token.Token)
		return err
	}))
	sum, err := recordstest.Moved(totals, records.Deposit, state)
	require.NoError(t, err)
	return sum.Count
}
