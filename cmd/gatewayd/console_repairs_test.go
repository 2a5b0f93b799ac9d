package main

import (
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/wallet"
)

// TestConsoleRepairsInBrowser: a halted chain, a deposit missing in the records, an unknown refund
// with its stopped account, deposits below the minimum with and without an owner, and a changed
// configuration, first with an error. An operator repairs all of it in the console.
func TestConsoleRepairsInBrowser(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, func(_ *faultyEnv, c *config.Config) { c.Watcher.Reconcile = time.Hour }) // the lost deposit is not found by balances
	w.user.withdrawToPayee(t, units(w.user.Token, 5000))                                           // the hot account's past begins
	lost, height := w.loseDeposit(t)
	head := w.haltSource(t)
	require.NoError(t, w.source.Fork(common.HexToHash(head), true))
	stray, err := w.user.Eth.Pay(t.Context(), "native", common.HexToAddress(w.hot(t)), ether(3), nil)
	require.NoError(t, err)
	minimum := w.cfg.Networks[0].Tokens[0].MinDeposit
	small, err := w.user.Eth.Pay(t.Context(), "native", common.HexToAddress(w.hot(t)), new(big.Int).Rsh(minimum.Uint256().ToBig(), 1), nil)
	require.NoError(t, err)
	usdt := w.cfg.Networks[0].Tokens[1]
	half := new(big.Int).Rsh(usdt.MinDeposit.Uint256().ToBig(), 1)
	below, err := w.user.Eth.Pay(t.Context(), w.user.Token.Asset, common.HexToAddress(depositAddress(t, w.user)), half, nil)
	require.NoError(t, err)
	refund := w.sendWith(t, wallet.SourcePaths(ethereum.CoinType).Hot(0), ether(3)) // to goodPayee
	w.writeConfig(t, w.info.Config, func(c *config.Config) {
		c.Networks[0].Tokens[1].MinDeposit = multiple(c.Networks[0].Tokens[1].MinDeposit, 2)
	})

	drive(t, "testdata/console_repairs_browser.mjs", map[string]any{
		"operators": w.info.Operators, "config": w.info.Config, "height": height, "lost": lost, "stray": stray.Hex(), "settles": refund,
		"below": below.Hex(), "belowAmount": chain.MustAmount(half.String()).Whole(usdt.Decimals), "small": small.Hex(), "owner": w.user.Vite.Address().String(),
		"users": map[string]any{"anna": w.consoleLogin(t, "anna", records.Operator)},
	})
	w.user.mustAwait(t, "/deposit-records", lost, "TOT_CONFIRMED")
	require.Equal(t, refund, w.recordDetail(t, stray.Hex()).Record.RefundTx)
	require.Equal(t, w.user.Vite.Address().String(), w.recordDetail(t, small.Hex()).Record.Wallet)
	said := w.mustCommand(t, "history", "list", "--limit", "200")
	for _, want := range []string{
		"chain eth ordered resume: the nodes agree again", "settle by " + refund + ": the refund of Monday", "account " + w.hot(t) + " ordered resume on eth: its refund is explained",
		"rescan of blocks " + strconv.FormatUint(height, 10) + " to " + strconv.FormatUint(height, 10) + ": a user asks", "reload: a wrong file", "reload: a new minimum",
	} {
		require.Contains(t, strings.Join(strings.Fields(said), " "), want)
	}
	w.waitUntilWell(t)
	w.settledBooks(t)
}

// loseDeposit has the user deposit, and takes the record away.
func (w *faultyEnv) loseDeposit(t *testing.T) (hash string, height uint64) {
	t.Helper()
	db := openDatabase(t, w.cfg)
	_, err := db.Exec(`DROP TRIGGER transfers_no_delete`)
	require.NoError(t, err)
	w.source.StopMining() // it is seen, and not decided
	target, value, call := dev.TransferOf(w.user.Token.Asset, common.HexToAddress(depositAddress(t, w.user)), w.user.Times(7).Uint256().ToBig(), nil)
	sent, err := w.user.Eth.Submit(t.Context(), target, value, call)
	require.NoError(t, err)
	_, err = w.source.Mine(1)
	require.NoError(t, err)
	hash = sent.Hex()
	deleteRow(t, db, loseTransfer, hash)
	w.source.StartMining()
	mined, err := w.source.Client().TransactionReceipt(t.Context(), sent)
	require.NoError(t, err)
	height = mined.BlockNumber.Uint64()
	waitFor(t, "its block to be final", func() bool { return w.cursor(t, "eth").Final.Height >= height })
	return hash, height
}

// haltSource replaces final blocks of the source chain, and answers the head that was.
func (w *faultyEnv) haltSource(t *testing.T) (hash string) {
	t.Helper()
	from := w.cursor(t, "eth").Final.Height
	waitFor(t, "more final blocks", func() bool { return w.cursor(t, "eth").Final.Height >= from+2 })
	w.source.StopMining()
	number := w.cursor(t, "eth").Final.Height - 1 // below what is final, above all that was paid
	head, err := w.source.Client().BlockByNumber(t.Context(), nil)
	require.NoError(t, err)
	depth := new(big.Int).Sub(head.Number(), new(big.Int).SetUint64(number)).Int64()
	_, err = w.source.Reorg(int(depth), ethnode.Lose)
	require.NoError(t, err)
	w.source.StartMining()
	w.waitForCondition(t, status.ChainHalted)
	return head.Hash().Hex()
}
