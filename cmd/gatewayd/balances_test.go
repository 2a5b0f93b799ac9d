package main

import (
	"database/sql"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev"
	"gatewayd/dev/demo"
)

// publicNodes is an environment whose nodes have the methods of public nodes: no tracing.
func publicNodes(o *dev.Options) { o.Public = true }

// forwarder puts a contract on the source chain that hands on what it is sent.
func (u *testUser) forwarder(t *testing.T) common.Address {
	t.Helper()
	ctx := t.Context()
	nonce, err := u.Eth.Client.PendingNonceAt(ctx, u.Eth.Address())
	require.NoError(t, err)
	head, err := u.Eth.Client.HeaderByNumber(ctx, nil)
	require.NoError(t, err)
	tip := big.NewInt(1_000_000_000)
	tx, err := types.SignNewTx(u.Eth.Key, types.LatestSignerForChainID(u.Eth.Chain), &types.DynamicFeeTx{
		ChainID: u.Eth.Chain, Nonce: nonce, GasTipCap: tip, GasFeeCap: new(big.Int).Add(new(big.Int).Lsh(head.BaseFee, 1), tip), Gas: 1_000_000,
		Data: common.FromHex(contracts.ForwarderMetaData.Bin),
	})
	require.NoError(t, err)
	require.NoError(t, u.Eth.Client.SendTransaction(ctx, tx))
	require.NoError(t, u.Eth.Mined(ctx, tx.Hash()))
	return crypto.CreateAddress(u.Eth.Address(), nonce)
}

// forward lets a contract send coin to an address, and answers the block.
func (u *testUser) forward(t *testing.T, by common.Address, to string, amount *big.Int) *types.Receipt {
	t.Helper()
	hash, err := u.Eth.Send(t.Context(), by, amount, contracts.NewForwarder().PackForward(common.HexToAddress(to)))
	require.NoError(t, err)
	receipt, err := u.Eth.Client.TransactionReceipt(t.Context(), hash)
	require.NoError(t, err)
	return receipt
}

func ether(n int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil))
}

// TestCoinSentByAContract: no node traces, and a contract forwards a coin to a user's deposit
// address. Balances show it, twice, and it is credited and listed like any deposit.
func TestCoinSentByAContract(t *testing.T) {
	t.Parallel()
	r := newRig(t, publicNodes)
	u := r.newUser(t, "ETH")
	address := depositAddress(t, u)
	forwarder := u.forwarder(t)
	in := u.forward(t, forwarder, address, ether(1))
	later := u.forward(t, forwarder, address, ether(2))

	waitFor(t, "the credit", func() bool {
		// in addition to the daemon's own, which finds it within a period
		require.NoError(t, r.Daemon.Watcher.AuditBalances(t.Context()))
		record, ok, err := u.Gateway.Record(t.Context(), "/deposit-records", u.Token.Token, u.Vite.Address().String(), later.BlockHash.Hex())
		return err == nil && ok && record.State == "TOT_CONFIRMED"
	})
	for receipt, amount := range map[*types.Receipt]*big.Int{in: ether(1), later: ether(2)} {
		record := u.mustAwait(t, "/deposit-records", receipt.BlockHash.Hex(), "TOT_CONFIRMED")
		require.Equal(t, amount.String(), record.Amount)
	}
	require.NoError(t, u.Collect(t.Context(), demo.AmountOf(ether(3))))
	r.waitUntilSettled(t)

	rows := r.listRecords(t, "--direction", "deposit")
	require.Len(t, rows, 2)
	require.Contains(t, r.mustCommand(t, "records", "show", in.BlockHash.Hex()), "only balances show it")
	doctor := r.mustCommand(t, "doctor")
	require.Contains(t, doctor, "coin sent by contracts: found by balances within 1m0s")
}

// TestShortageIsAnIncident removes coin from the hot account's books: the channels of the coin
// close, and `audit` names the account, until an operator accepts the loss.
func TestShortageIsAnIncident(t *testing.T) {
	t.Parallel()
	r := newRig(t, publicNodes)
	u := r.newCustomer(t, "ETH")
	r.waitUntilSettled(t)
	require.NoError(t, r.Daemon.Watcher.AuditBalances(t.Context()))
	hot := r.Daemon.Networks[0].Hot
	short := func() bool {
		require.NoError(t, r.Daemon.Watcher.AuditBalances(t.Context()))
		return strings.Contains(r.mustCommand(t, "channel", "list"), hot+" on eth holds 0.000000000000000005 ETH less than the books show")
	}
	r.addToBooks(t, hot, 5)
	waitFor(t, "closed channels", short)
	out, err := r.command(t, "audit")
	require.Error(t, err)
	require.Contains(t, out, "DIFFERS "+hot+" on eth holds 0.000000000000000005 ETH less than the books show at block")
	_, err = r.command(t, "audit", "--accept", hot)
	require.ErrorContains(t, err, "--why")
	require.Contains(t, r.mustCommand(t, "audit", "--accept", hot, "--why", "a test"), "are 0.000000000000000005 ETH lower now")
	waitFor(t, "open channels", func() bool { return !short() })
	_, err = r.command(t, "audit", "--accept", hot, "--why", "again")
	require.ErrorContains(t, err, "the daemon has confirmed no shortage of "+hot)
	r.waitUntilSettled(t)
	u.mustDeposit(t, u.Times(1))
}

// addToBooks raises what the books have of an account above what it holds, as when coin left
// without a transaction of ours.
func (r *rig) addToBooks(t *testing.T, account string, wei int64) {
	t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(r.Daemon.Config.Database.URL, "sqlite:")+"?_busy_timeout=5000&_txlock=immediate")
	require.NoError(t, err)
	defer db.Close()
	tx, err := db.Begin()
	require.NoError(t, err)
	var came string
	require.NoError(t, tx.QueryRow(`SELECT came FROM holdings WHERE account = ?`, account).Scan(&came))
	sum, ok := new(big.Int).SetString(came, 10)
	require.True(t, ok)
	_, err = tx.Exec(`UPDATE holdings SET came = ? WHERE account = ?`, sum.Add(sum, big.NewInt(wei)).String(), account)
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
}
