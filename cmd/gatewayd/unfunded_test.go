package main

import (
	"net/http"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/vite/core"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// treasury is the wallet's key that has what a new gateway lacks, as a user's number.
const treasury = 1

// startPoorExchange gives the treasury the gateway's tokens and its stake.
func startPoorExchange(t *testing.T, keys *wallet.Keys) *daemon.Embedded {
	t.Helper()
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	rich, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(dev.UserBase+treasury))
	require.NoError(t, err)
	gateway := genesis.Accounts[0].Address
	for i, a := range genesis.Accounts {
		if a.Address == rich {
			genesis.Accounts[i].Balances = genesis.Accounts[0].Balances
		}
	}
	genesis.Accounts[0].Balances = map[core.TokenID]uint256.Int{}
	for i, s := range genesis.Stakes {
		if s.Beneficiary == gateway {
			genesis.Stakes[i].Beneficiary = rich
		}
	}
	return startExchangeOf(t, genesis)
}

// TestNewGatewayWithoutMoney starts a gateway without funds: it never shows a channel OPEN that it
// could not serve, every surface shows the reason, and each direction opens automatically when it
// has the funds of one payment.
func TestNewGatewayWithoutMoney(t *testing.T) {
	t.Parallel()
	var funder *dev.ViteUser
	w := prepareFaultyEnv(t, startPoorExchange, func(w *faultyEnv, c *config.Config) {
		key, err := keystore.NewKeys(keystore.Seed(dev.Mnemonic, "")).ByIndex(dev.UserBase + treasury)
		require.NoError(t, err)
		funder, err = dev.NewViteUser(t.Context(), w.rich.URL(), key)
		require.NoError(t, err)
		t.Cleanup(funder.Node.Close)
		w.alerts = newReceiver(t)
		c.Alerts = w.alerts.config()
		c.Networks[0].Tokens = c.Networks[0].Tokens[1:2]
		c.Networks[0].Funders = append(c.Networks[0].Funders, funder.Address().String())
	})
	w.startDaemon(t)
	first := health{}
	waitFor(t, "the first answer", func() bool {
		first = w.readHealth(t)
		return first.code != 0
	})
	require.Equal(t, http.StatusServiceUnavailable, first.code)
	require.Contains(t, first.kinds(), string(status.NoFunds))
	require.Contains(t, first.kinds(), string(status.NoCoin))
	require.Contains(t, first.kinds(), string(status.NoQuota))
	w.addUser(t)
	const open, maintain = records.ChannelOpen, records.ChannelMaintain
	w.checkSurfaces(t, cell{kind: status.NoFunds, deposit: maintain, withdraw: maintain, names: "the smallest payment needs 1 USDT"})

	require.NoError(t, dev.FundSource(t.Context(), w.info, w.keys, nil)) // tokens for the hot account, coin for the gas account
	waitFor(t, "coin as the last lack of withdrawals", func() bool {
		out, _ := w.runCommand(t, "channel", "list")
		row := findLine(out, "USDT-000", "withdrawal")
		return findLine(row, "too little coin for the fees") != "" && findLine(row, "the smallest payment needs") == ""
	})
	w.checkSurfaces(t, cell{kind: status.NoCoin, chain: "eth", deposit: maintain, withdraw: maintain, names: "too little coin for the fees", besides: "deposit"})
	hash, err := w.user.Faucet.Pay(t.Context(), "native", common.HexToAddress(w.hot(t)), ether(1), nil)
	require.NoError(t, err)
	require.NoError(t, w.user.Faucet.Mined(t.Context(), hash))
	waitFor(t, "withdrawals that open", func() bool { return findLine(w.mustCommand(t, "channel", "list"), "withdrawal", maintain) == "" })
	w.checkSurfaces(t, cell{kind: status.NoQuota, chain: "vite", deposit: maintain, withdraw: open, names: "has a stake for at most 0 quota, and a credit needs 21448"})

	gateway, err := daemon.ExchangeAddress(w.keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	stake, err := core.StakeForQuota.Pack(gateway)
	require.NoError(t, err)
	_, err = funder.Send(t.Context(), core.QuotaContract, core.VITE, scaled(dev.UserStake, 18), stake)
	require.NoError(t, err)
	usdt := dev.Tokens()[1].ID
	_, err = funder.Send(t.Context(), gateway, usdt, scaled(1_000_000, 6), nil)
	require.NoError(t, err)
	w.waitUntilWell(t)
	require.NotContains(t, w.mustCommand(t, "channel", "list"), maintain)
	require.NoError(t, demo.Walk(t.Context(), w.user.BridgeUser))
}

func (a health) kinds() (list []string) {
	for _, r := range a.Reasons {
		list = append(list, r.Kind)
	}
	return list
}

// scaled converts tokens to the smallest unit.
func scaled(whole, decimals uint64) *uint256.Int {
	unit := new(uint256.Int).Exp(uint256.NewInt(10), uint256.NewInt(decimals))
	return unit.Mul(unit, uint256.NewInt(whole))
}
