package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi/index"
	"gatewayd/wallet"
)

// TestKeyPageInBrowser uses the page of API keys in Chromium: with mouse and keyboard alone, on a
// phone, dark and light.
func TestKeyPageInBrowser(t *testing.T) {
	t.Parallel()
	dir, store, password := recovered(t)
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	address, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(0))
	require.NoError(t, err)
	url := serveTestExchange(t, func(c *config.Exchange) {
		c.Test = &config.ExchangeTest{Node: c.Node, Index: index.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "test.db")}}
	})
	drive(t, "testdata/keys_browser.mjs", map[string]any{"url": url, "address": address.String(), "store": store, "dir": dir, "password": password})
}

// browserTools finds what drives a browser, installed by our scripts where it is not there yet.
func browserTools(t *testing.T) (node, browser, playwright string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: nothing can drive a browser")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	playwright = filepath.Join(root, "build/npm/node_modules/playwright-core/index.mjs")
	if _, err := os.Stat(playwright); err != nil {
		output, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/npm-install.sh")).CombinedOutput()
		require.NoError(t, err, string(output))
	}
	path, err := exec.CommandContext(t.Context(), filepath.Join(root, "scripts/browser.sh")).Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		require.NoError(t, err, string(failed.Stderr))
	}
	require.NoError(t, err)
	if browser = strings.TrimSpace(string(path)); browser == "" {
		t.Skip("no Chromium or Chrome is installed: scripts/browser.sh installs it for root")
	}
	return node, browser, playwright
}
