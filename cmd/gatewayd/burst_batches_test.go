package main

import (
	"encoding/hex"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
)

// TestBurstInBatches is TestBurstKilled with payouts that share transactions: the contract is
// deployed by the command, the account allows its tokens, and all of it is exact.
func TestBurstInBatches(t *testing.T) {
	t.Parallel()
	w := newBurstEnv(t)
	before := w.holdings(t, nil) // the allowances cost fees
	w.startBatches(t, 50)
	size := numberFrom(t, "GATEWAYD_BURST", 100)
	watch := killBurst(t, w, before, size, numberFrom(t, "GATEWAYD_KILLS", 3))
	shared, payouts := 0, 0 // those with labels are alone
	for _, n := range watch.Payouts {
		if n > 1 {
			shared, payouts = shared+1, payouts+n
		}
	}
	t.Logf("%d payouts in %d transactions, %d of them in %d", size, len(watch.Payouts), payouts, shared)
	require.Greater(t, payouts, size/2)
	require.Less(t, shared*4, payouts)
}

// TestBurstOfOneAsset has many users withdraw one asset, all final at once. One account pays
// them in some twenty transactions within twelve source blocks, and the chains agree to the unit.
// GATEWAYD_BURST is the number; default 100.
func TestBurstOfOneAsset(t *testing.T) {
	for _, asset := range []string{"USDT-000", "ETH-000"} {
		t.Run(asset, func(t *testing.T) {
			const transactions, blocks, small = 20, 12, 100
			size := numberFrom(t, "GATEWAYD_BURST", small)
			if size <= small {
				t.Parallel()
			}
			w := newBurstEnv(t)
			w.asset = asset
			before := w.holdings(t, nil)
			w.startBatches(t, size/transactions)
			b, watch := w.prepareAndSend(t, size)
			w.follow(t, watch, func() {})
			require.Equal(t, slices.Min(watch.Withdrawals.In), slices.Max(watch.Withdrawals.In), "all of them are final at once")
			senders, paid := map[common.Address]bool{}, 0
			for hash, count := range watch.Payouts {
				tx, _, err := b.Payer.Client.TransactionByHash(t.Context(), hash)
				require.NoError(t, err)
				from, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx)
				require.NoError(t, err)
				senders[from] = true
				paid += count
			}
			result := watch.Result().Withdrawals
			t.Logf("%d payouts of %s in %d transactions and %d blocks, the first paid after %d", paid, asset, len(watch.Payouts), result.Took, result.FirstPaid-result.Begin)
			require.Len(t, senders, 1)
			require.Equal(t, size, paid)
			require.LessOrEqual(t, len(watch.Payouts), transactions*5/4) // not all are queued at once
			require.LessOrEqual(t, result.Took, uint64(blocks))
			require.NoError(t, b.Count(t.Context()))
			require.NoError(t, b.Published(t.Context()))
			w.checkBooks(t, b, before)
		})
	}
}

// startBatches deploys the contract and starts the daemon with batches of so many payouts.
func (w *burstEnv) startBatches(t *testing.T, most int) {
	t.Helper()
	w.deployBatches(t)
	w.cfg.Ethereum[0].Batch = ethereum.Batch{Most: most, Wait: time.Second, Coin: true}
	text, err := yaml.Marshal(w.cfg)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.info.Config, text, 0o600))
	require.NoError(t, w.kill())
	require.NoError(t, w.start())
	require.NoError(t, w.waitUntilServing(t.Context()))
	waitFor(t, "the batch contract", func() bool {
		text, err := os.ReadFile(w.log.Name())
		require.NoError(t, err)
		return strings.Contains(string(text), "the batch contract is verified")
	})
}

// deployBatches runs the command with the key of a new account.
func (w *burstEnv) deployBatches(t *testing.T) {
	t.Helper()
	deployer, err := crypto.GenerateKey()
	require.NoError(t, err)
	faucet, err := dev.NewEthUser(t.Context(), w.info.Source, ethnode.FaucetKey())
	require.NoError(t, err)
	defer faucet.Client.Close()
	_, err = faucet.Send(t.Context(), crypto.PubkeyToAddress(deployer.PublicKey), big.NewInt(1e18), nil)
	require.NoError(t, err)
	key := filepath.Join(w.dir, "deployer.key")
	require.NoError(t, os.WriteFile(key, []byte(hex.EncodeToString(crypto.FromECDSA(deployer))), 0o600))
	out, err := exec.Command("gatewayd", "chain", "deploy-batch", "eth", "-c", w.info.Config, "--key-file", key).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Set ethereum.batch.most")
	deployed, err := faucet.Client.BlockNumber(t.Context())
	require.NoError(t, err)
	waitFor(t, "its final block", func() bool {
		final, err := faucet.Client.HeaderByNumber(t.Context(), big.NewInt(int64(rpc.FinalizedBlockNumber)))
		return err == nil && final.Number.Uint64() > deployed
	})
}
