//go:build pkcs11

package main

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/devices"
	"gatewayd/wallet"
	"gatewayd/wallet/hsm"
)

// TestHotKeyInAModule has a user deposit and withdraw with the daemon's hot key in a hardware
// security module.
func TestHotKeyInAModule(t *testing.T) {
	path := wallet.SourcePaths(ethereum.CoinType).Hot(0)
	module := devices.Token(t, "daemon", "secp256k1", path)
	w := prepareFaultyEnv(t, startRichExchange, func(_ *faultyEnv, c *config.Config) { c.Wallet.PKCS11 = module })
	keys, err := hsm.Open(module, devices.PIN, w.keys)
	require.NoError(t, err)
	hot, err := keys.Address(path)
	require.NoError(t, err)
	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil)) // all but the hot account, whose key is another one
	faucet, err := dev.NewEthUser(t.Context(), w.info.Source, ethnode.FaucetKey())
	require.NoError(t, err)
	t.Cleanup(faucet.Client.Close)
	for _, token := range w.info.Tokens {
		has, err := faucet.Balance(t.Context(), token.Asset, faucet.Address())
		require.NoError(t, err)
		_, err = faucet.Pay(t.Context(), token.Asset, common.HexToAddress(hot), has.Div(has, big.NewInt(1000)), nil)
		require.NoError(t, err)
	}
	w.start(t)
	w.addUser(t)
	out, err := w.user.SendToGateway(t.Context(), gatewayOf(t, w.user), w.user.Times(6), comment(0, goodPayee))
	require.NoError(t, err)
	w.user.mustAwait(t, "/withdraw-records", out.String(), "OPPOSITE_CONFIRMED")
	w.user.requirePaid(t, goodPayee, w.user.Times(5))
	nonce, err := faucet.Client.NonceAt(t.Context(), common.HexToAddress(hot), nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, nonce, "the module's account paid")
}
