package main

import (
	"encoding/hex"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/records"
)

// TestBurstInBatches is TestBurstKilled with payouts that share transactions: the contract is
// deployed by the command, the account allows its token, and all of it is exact.
func TestBurstInBatches(t *testing.T) {
	t.Parallel()
	w := newBurstEnv(t)
	before := w.holdings(t, nil) // the allowances cost fees
	w.deployBatches(t)
	w.cfg.Ethereum[0].Batch.Most, w.cfg.Ethereum[0].Batch.Wait = 50, time.Second
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
	killBurst(t, w, before, numberFrom(t, "GATEWAYD_BURST", 100), numberFrom(t, "GATEWAYD_KILLS", 3))

	store, err := records.Open(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	payouts, transactions := 0, map[string]bool{} // of tokens, without labels
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		list, err := tx.Transfers().Where(`WHERE direction = 'withdrawal' ORDER BY id`)
		for _, r := range list {
			payments, err := tx.Payments().Of(r.ID)
			if err != nil {
				return err
			}
			for _, p := range payments {
				if p.Purpose == chain.Credit && p.Asset != chain.Native && p.PayeeLabel == "" {
					payouts++
					transactions[p.Tx] = true
				}
			}
		}
		return err
	}))
	t.Logf("%d payouts in %d transactions", payouts, len(transactions))
	require.Less(t, len(transactions)*4, payouts)
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
