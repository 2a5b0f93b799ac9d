package main

import (
	"encoding/hex"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/operator"
	"gatewayd/records"
)

// TestDeployBatch prints the deployment of the batch contract, refuses an account of the gateway, and
// deploys the contract from another account next to a running daemon.
func TestDeployBatch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	contract, err := ethereum.PayoutsContract()
	require.NoError(t, err)
	out := r.mustCommand(t, "chain", "deploy-batch", "eth")
	require.Contains(t, out, "to     "+contract.Deployer)
	require.Contains(t, out, "data   0x"+hex.EncodeToString(contract.Input))
	require.Contains(t, out, "at "+contract.Address)

	keyFile := func(name string) (common.Address, string) {
		key, err := crypto.ToECDSA(crypto.Keccak256([]byte(name)))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(hex.EncodeToString(crypto.FromECDSA(key))+"\n"), 0o600))
		return crypto.PubkeyToAddress(key.PublicKey), path
	}
	ours, path := keyFile("ours")
	require.NoError(t, r.Daemon.Store.Update(t.Context(), func(tx *records.Tx) error {
		return tx.Accounts().Ensure(records.Account{Chain: "eth", Account: ours.Hex(), Kind: records.KindDeposit, Network: r.Daemon.Networks[0].Name, KeyPath: "m/44'/60'/9'/9/9"})
	}))
	_, err = r.command(t, "chain", "deploy-batch", "eth", "--key-file", path)
	require.ErrorContains(t, err, "is an account of the gateway")
	require.Equal(t, exitUsage, exitCode(err))

	deployer, path := keyFile("deployer")
	_, err = r.command(t, "chain", "deploy-batch", "eth", "--key-file", path)
	require.ErrorContains(t, err, "send it coin first")
	_, err = r.Source.SendETH(deployer, big.NewInt(1e18))
	require.NoError(t, err)
	waitFor(t, "the deployer's coin", func() bool {
		out, err = r.command(t, "chain", "deploy-batch", "eth", "--key-file", path)
		return err == nil
	})
	require.Regexp(t, `Sent 0x[0-9a-f]{64}`, out)
	require.Contains(t, out, "The batch contract is on eth: "+contract.Address)
	require.Equal(t, "The batch contract is on eth: "+contract.Address+"\n", r.mustCommand(t, "chain", "deploy-batch", "eth"))

	_, err = r.command(t, "chain", "deploy-batch", "vite")
	require.ErrorAs(t, err, new(operator.UsageError))
	require.NoError(t, os.WriteFile(path, []byte("not a key"), 0o600))
	_, err = r.command(t, "chain", "deploy-batch", "nowhere", "--key-file", path)
	require.ErrorAs(t, err, new(operator.UsageError))
}
