package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
)

// TestDevWithBitcoin: `gatewayd dev --bitcoin` bridges the coin of a btcd that it starts. The
// bridge page offers it, and its demo user deposits it. The node and its chain end with the
// program.
func TestDevWithBitcoin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, info := startDev(t, dir, "--bitcoin", "--snapshot-interval", "200ms")
	require.Contains(t, textAt(dev.RootOf(info.Gateway)+"/networks.json"), info.Coin.Token.Token)
	u, err := dev.NewBridgeUser(t.Context(), info, info.Coin.Token, 0, t.Output())
	require.NoError(t, err)
	t.Cleanup(u.Close)
	waiting, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err = u.Await(waiting, "/deposit-records", demoPayment(t, info, u, u.Times(100)), "TOT_CONFIRMED")
	require.NoError(t, err)
	require.NoError(t, u.Collect(waiting, u.Times(100)))

	reader, err := info.Coin.User("reader")
	require.NoError(t, err)
	_, err = reader.Balance(reader.Address())
	require.NoError(t, err)
	p.stop(t)
	_, err = reader.Balance(reader.Address())
	require.Error(t, err, "the node has not ended")

	any := "127.0.0.1:0"
	err = run(t.Context(), []string{"dev", "--bitcoin", "--dir", dir, "--listen", any, "--exchange-listen", any, "--api", any, "--operators", any}, testStreams(t))
	require.ErrorContains(t, err, "use a new directory")
}

// demoPayment has the demo user of the bridge page pay to a user's deposit address.
func demoPayment(t *testing.T, info dev.Info, u *dev.BridgeUser, amount chain.Amount) (hash string) {
	t.Helper()
	place, err := u.Gateway.DepositInfo(t.Context(), u.Token.Token, u.Vite.Address().String())
	require.NoError(t, err)
	body := fmt.Sprintf(`{"network":"coin","tokenId":%q,"to":%q,"amount":%q}`, u.Token.Token, place.DepositAddress, amount)
	answer, err := http.Post(dev.RootOf(info.Gateway)+"/demo/pay", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer answer.Body.Close()
	var paid struct{ Hash, Error string }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&paid))
	require.Empty(t, paid.Error)
	return paid.Hash
}
