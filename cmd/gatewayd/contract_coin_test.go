package main

import (
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum/contracts"
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/config"
	"gatewayd/devnet"
	"gatewayd/devnet/burst"
)

// newContractPayers is a daemon and its signer, each a process, on a source node that does not trace.
func newContractPayers(t *testing.T, adjust func(*signerProcess, *config.Config)) (*faultyEnv, *daemonProcess) {
	t.Helper()
	v := &daemonProcess{}
	w := prepareFaultyEnvOn(t, devnode.Config{Public: true}, startRichExchange, func(_ *faultyEnv, c *config.Config) {
		c.Watcher.BalanceAudit = time.Second
		v.signer = splitSigner(t, c)
		if adjust != nil {
			adjust(v.signer, c)
		}
	})
	require.NoError(t, devnet.FundSource(t.Context(), w.info, w.keys, nil))
	v.dir, v.args = w.cfg.Data, []string{"run", "-c", w.info.Config}
	v.signer.start(t)
	v.start(t)
	t.Cleanup(func() { v.kill(t) })
	waitForInfo(t, v.dir)
	return w, v
}

// contractPayer pays an address in a way that no transaction's own value shows, and returns how much.
type contractPayer struct {
	name string
	pay  func(t *testing.T, w *faultyEnv, u *testUser, to common.Address) *big.Int
}

// tenths of a coin, in wei.
func tenths(n int64) *big.Int { return new(big.Int).Div(ether(n), big.NewInt(10)) }

// call sends coin to a contract with a call, and requires that it succeeds.
func (u *testUser) call(t *testing.T, at common.Address, value *big.Int, data []byte) {
	t.Helper()
	hash, err := u.Eth.Send(t.Context(), at, value, data)
	require.NoError(t, err)
	require.NoError(t, u.Eth.Mined(t.Context(), hash))
}

var contractPayers = []contractPayer{
	{"forwarder", func(t *testing.T, _ *faultyEnv, u *testUser, to common.Address) *big.Int {
		u.forward(t, u.forwarder(t), to.Hex(), tenths(1))
		return tenths(1)
	}},
	{"selfdestruct", func(t *testing.T, _ *faultyEnv, u *testUser, to common.Address) *big.Int {
		u.call(t, u.forwarder(t), tenths(2), contracts.NewForwarder().PackForwardByDestruction(to))
		return tenths(2)
	}},
	{"withdrawal of a validator", func(t *testing.T, w *faultyEnv, _ *testUser, to common.Address) *big.Int {
		require.NoError(t, w.source.Withdraw(&types.Withdrawal{Index: 7, Validator: 9, Address: to, Amount: 300_000_000})) // gwei
		return tenths(3)
	}},
	{"tips of a block", func(t *testing.T, w *faultyEnv, u *testUser, to common.Address) *big.Int {
		w.source.StopMining()
		defer w.source.StartMining()
		before, err := u.Eth.Client.BalanceAt(t.Context(), to, nil)
		require.NoError(t, err)
		tip := new(big.Int).Div(ether(4), big.NewInt(210_000)) // 0.4 of a coin in all
		nonce, err := u.Eth.Client.PendingNonceAt(t.Context(), u.Eth.Address())
		require.NoError(t, err)
		self := u.Eth.Address()
		tx, err := types.SignNewTx(u.Eth.Key, types.LatestSignerForChainID(u.Eth.Chain), &types.DynamicFeeTx{
			ChainID: u.Eth.Chain, Nonce: nonce, GasTipCap: tip, GasFeeCap: new(big.Int).Lsh(tip, 1), Gas: 21_000, To: &self,
		})
		require.NoError(t, err)
		require.NoError(t, u.Eth.Client.SendTransaction(t.Context(), tx))
		w.source.PayTips(to)
		_, err = w.source.Mine(1)
		require.NoError(t, err)
		w.source.PayTips(common.Address{})
		after, err := u.Eth.Client.BalanceAt(t.Context(), to, nil)
		require.NoError(t, err)
		return after.Sub(after, before)
	}},
	{"loop of calls", func(t *testing.T, w *faultyEnv, u *testUser, to common.Address) *big.Int {
		receivers, amounts := make([]common.Address, 10), make([]*big.Int, 10)
		for i := range receivers {
			receivers[i], amounts[i] = to, new(big.Int).Div(tenths(5), big.NewInt(10))
		}
		u.call(t, w.source.Contracts().BatchPayer, tenths(5), contracts.NewBatchPayer().PackPayNative(receivers, amounts))
		return tenths(5)
	}},
	{"account with code (EIP-7702)", func(t *testing.T, _ *faultyEnv, u *testUser, to common.Address) *big.Int {
		code := u.forwarder(t)
		nonce, err := u.Eth.Client.PendingNonceAt(t.Context(), u.Eth.Address())
		require.NoError(t, err)
		id := uint256.MustFromBig(u.Eth.Chain)
		allowed, err := types.SignSetCode(u.Eth.Key, types.SetCodeAuthorization{ChainID: *id, Address: code, Nonce: nonce + 1})
		require.NoError(t, err)
		cap := uint256.NewInt(1_000_000_000_000)
		tx, err := types.SignNewTx(u.Eth.Key, types.LatestSignerForChainID(u.Eth.Chain), &types.SetCodeTx{
			ChainID: id, Nonce: nonce, GasTipCap: uint256.NewInt(1_000_000_000), GasFeeCap: cap, Gas: 300_000, To: u.Eth.Address(),
			Value: uint256.MustFromBig(tenths(6)), Data: contracts.NewForwarder().PackForward(to), AuthList: []types.SetCodeAuthorization{allowed},
		})
		require.NoError(t, err)
		require.NoError(t, u.Eth.Client.SendTransaction(t.Context(), tx))
		require.NoError(t, u.Eth.Mined(t.Context(), tx.Hash()))
		return tenths(6)
	}},
}

// TestCoinOfContractsIsProven: users of exchanges, smart wallets and validators pay on a node that does not trace, with a signer in a process of its own. The
// signer proves what arrived, and everything is credited without a person: twice, with an ordinary deposit between.
func TestCoinOfContractsIsProven(t *testing.T) {
	t.Parallel()
	w, v := newContractPayers(t, nil)
	users, due := make([]*testUser, len(contractPayers)), make([]*big.Int, len(contractPayers))
	for i := range contractPayers {
		u, err := newTestUser(t.Context(), w.info, w.token(t, "ETH"), uint32(i), t.Output())
		require.NoError(t, err)
		t.Cleanup(u.Close)
		users[i] = u
	}
	collect := func() {
		t.Helper()
		for i, u := range users {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			require.NoError(t, u.Collect(ctx, burst.AmountOf(due[i])), contractPayers[i].name)
		}
	}
	for i, p := range contractPayers {
		due[i] = p.pay(t, w, users[i], common.HexToAddress(depositAddress(t, users[i])))
	}
	collect()
	for i, u := range users {
		u.mustDeposit(t, u.Times(3))
		paid := contractPayers[i].pay(t, w, u, common.HexToAddress(depositAddress(t, u)))
		due[i] = new(big.Int).Add(new(big.Int).Add(due[i], paid), u.Times(3).Uint256().ToBig())
	}
	collect()
	out, err := v.runCommand(t, "doctor")
	t.Log(err)
	require.Contains(t, out, "coin sent by contracts")
}
