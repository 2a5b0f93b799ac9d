package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/exchangeapi/client"
)

// traderSession is the output of testdata/trader.js for a maker and a taker. Amounts are in the
// smallest unit.
type traderSession struct {
	Failed           []string // calls that the exchange refused
	Symbol           string
	Sell, Buy        string // orders' hashes
	Resting, Rest    struct{ ID, Quantity, ExecutedQuantity, ExecutedAmount, ExecutedBaseFee, Address, SendHash string }
	Settled          struct{ Available, Locked string } // the token of the maker after his cancel
	Bought, Left     struct{ Available, Locked string } // the token of the taker after his buy, and in the end
	Granted, Revoked bool
	Inviter          bool // the taker has the maker's code
	Refusal          struct{ Message string }
	History          []string // the maker's calls, newest first, as the library names them
}

// The public client library, unchanged, trades in a development environment, and the exchange API
// shows the trade.
func TestTraderOnVitejs(t *testing.T) {
	t.Parallel()
	library := vitejsLibrary(t)
	r := newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" })
	told := trade(t, library, r.Info)
	require.Empty(t, told.Failed)
	require.Equal(t, "TRAD-000_VITE", told.Symbol)
	require.Equal(t, told.Sell, told.Resting.SendHash)
	require.Equal(t, []string{"60000000000000000000", "150000000000000000000", "300000000000000000"},
		[]string{told.Rest.ExecutedQuantity, told.Rest.ExecutedAmount, told.Rest.ExecutedBaseFee}, "at the maker's price")
	require.Equal(t, []string{"940000000000000000000", "60000000000000000000", "0"},
		[]string{told.Settled.Available, told.Bought.Available, told.Left.Available})
	require.Equal(t, []bool{true, true, true}, []bool{told.Granted, told.Revoked, told.Inviter})
	require.Equal(t, "invalid order price format", told.Refusal.Message)
	require.Equal(t, []string{"DexAssignedWithdraw", "DexAgentDeposit", "DexTransfer", "DexCreateNewInviter", "DexConfigMarketAgents",
		"DexConfigMarketAgents", "DexCancelOrder", "DexPlaceOrder", "DexOpenNewMarket", "DexDeposit", "DexDeposit"}, told.History[:11])

	api := client.Client{Base: r.Info.API}
	require.Eventually(t, func() bool {
		order, err := api.Order(t.Context(), told.Resting.Address, told.Sell)
		require.NoError(t, err)
		return order != nil && order.Status == client.PartiallyCancelled && order.ExecutedQuantity.String() == "60"
	}, time.Minute, 10*time.Millisecond)
	trades, err := api.TradeRecords(t.Context(), client.TradeFilter{Symbol: told.Symbol, OrderID: told.Buy}, client.Page{Total: true})
	require.NoError(t, err)
	require.Equal(t, 1, trades.Total)
	require.Equal(t, "150", trades.Trade[0].Amount.String())
}

func trade(t *testing.T, library string, info dev.Info) (told traderSession) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	session := exec.CommandContext(ctx, "node", "testdata/trader.js", library, info.Exchange, info.Mnemonic,
		strconv.Itoa(dev.UserBase), strconv.Itoa(dev.UserBase+1))
	var out, faults bytes.Buffer
	session.Stdout, session.Stderr = &out, &faults
	require.NoError(t, session.Run(), faults.String())
	require.NoError(t, json.Unmarshal(out.Bytes(), &told), out.String())
	return told
}

// vitejsLibrary finds the public client library, installed by our script where it is not there yet.
func vitejsLibrary(t *testing.T) string {
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the trader's session needs %s, which is not on this machine", program)
		}
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	library := filepath.Join(root, "build/npm/node_modules/@vite/vitejs")
	if _, err := os.Stat(library); err != nil {
		output, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/npm-install.sh")).CombinedOutput()
		require.NoError(t, err, string(output))
	}
	return library
}
