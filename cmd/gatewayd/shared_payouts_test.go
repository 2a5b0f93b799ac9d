package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/wallet"
)

// TestPayoutsShareATransaction pays withdrawals of a token by the real contract: the account allows
// it by itself, then one transaction pays several payees, each exactly.
func TestPayoutsShareATransaction(t *testing.T) {
	t.Parallel()
	contract, err := ethereum.PayoutsContract()
	require.NoError(t, err)
	w := newFaultyEnv(t, func(w *faultyEnv, c *config.Config) {
		c.Ethereum[0].Batch = ethereum.Batch{Most: 4, Wait: 5 * time.Minute}
		_, err = w.source.SendCall(common.HexToAddress(contract.Deployer), nil, contract.Input)
		require.NoError(t, err)
	})
	waitFor(t, "the contract in a final block", func() bool {
		return strings.Contains(w.log.String(), "the batch contract is verified")
	})
	// pay makes four withdrawals, which fill a transaction, and returns the transactions that paid them.
	pay := func() map[string]bool {
		var payees, sent []string
		for range 4 {
			to, hash := w.user.withdrawToPayee(t, units(w.user.Token, 2_500))
			payees, sent = append(payees, to), append(sent, hash)
		}
		txs := map[string]bool{}
		for i, hash := range sent {
			w.user.mustAwait(t, "/withdraw-records", hash, "OPPOSITE_CONFIRMED")
			row := w.recordDetail(t, hash).Record
			w.user.requirePaid(t, payees[i], chain.MustAmount(row.Net))
			txs[row.OutTx] = true
		}
		return txs
	}
	hot, err := w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	require.NoError(t, err)
	adapter, err := ethereum.New(w.cfg.Ethereum[0], nil)
	require.NoError(t, err)
	t.Cleanup(adapter.Close)
	waitFor(t, "the allowance", func() bool {
		asset := w.cfg.Networks[0].Tokens[1].Asset
		adapter.AddTokens(asset)
		ok, err := adapter.Allowed(t.Context(), hot, asset, chain.NewAmount(1))
		return err == nil && ok
	})
	require.Len(t, pay(), 1)
	w.settledBooks(t)
	w.waitUntilWell(t)
}
