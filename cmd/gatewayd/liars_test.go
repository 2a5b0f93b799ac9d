package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/faults"
	"gatewayd/records"
	"gatewayd/wallet"
)

// nonceTooHigh adds five to every nonce.
func nonceTooHigh(method string, _ []any, result json.RawMessage) any {
	var nonce string
	var n uint64
	if method != "eth_getTransactionCount" || json.Unmarshal(result, &nonce) != nil {
		return result
	}
	if _, err := fmt.Sscanf(nonce, "0x%x", &n); err != nil {
		return result
	}
	return fmt.Sprintf("0x%x", n+5)
}

// farAhead claims a height that the chain has not reached, with blocks up to there.
func farAhead(height uint64) faults.Lie {
	return func(method string, params []any, result json.RawMessage) any {
		if method != "eth_getBlockByNumber" || params[1] == true {
			return result
		}
		at := height
		if params[0] != "latest" {
			if _, err := fmt.Sscanf(fmt.Sprint(params[0]), "0x%x", &at); err != nil || string(result) != "null" || at > height {
				return result
			}
		}
		return map[string]any{"number": fmt.Sprintf("0x%x", at), "hash": fmt.Sprintf("0x%064x", at), "timestamp": "0x1"}
	}
}

// lines is a process's output, read while it runs.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestLyingNodes runs the daemon on three nodes. One that adds five to each nonce changes nothing
// while another is slow by two seconds: users are served, no account stops, and the log names it.
// When two claim blocks far ahead for a while, it continues afterwards without a restart.
func TestLyingNodes(t *testing.T) {
	t.Parallel()
	n, err := ethnode.Start(ethnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	liar, slow := openFaultyNode(t, n.URL()), openFaultyNode(t, n.URL())
	dir := t.TempDir()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	exchange := freeAddress(t)
	cfg := dev.Config(quickOptions(dir), n.URL(), n.ChainID(), "http://"+exchange)
	cfg.Ethereum[0].Nodes = append(cfg.Ethereum[0].Nodes, liar.URL, slow.URL)
	cfg.Log = config.Log{Level: "info", Format: "json"}
	cfg.Wallet = recoverWallet(t, dir)
	cfg.Gateway.Listen = freeAddress(t)
	cfg.Embedded = &config.Embedded{Dir: filepath.Join(dir, "exchange"), Listen: exchange, Genesis: filepath.Join(dir, "genesis.json")}
	writeGenesis(t, cfg.Embedded.Genesis, genesis)
	path := writeConfig(t, dir, cfg)
	info := dev.NewInfo(cfg, path, "")
	require.NoError(t, dev.FundSource(t.Context(), info, keys, nil))
	require.NoError(t, info.Write(filepath.Join(dir, "dev.json")))
	liar.Fail(faults.Fault{Lie: nonceTooHigh})
	slow.Fail(faults.Fault{Delay: 2 * time.Second})

	log := new(lines)
	cmd := exec.Command("gatewayd", "run", "-c", path)
	cmd.Stderr = io.MultiWriter(log, t.Output())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	u, err := newTestUser(t.Context(), waitForInfo(t, dir), info.Tokens[0], 0, t.Output())
	require.NoError(t, err)
	defer u.Close()
	require.NoError(t, demo.Walk(t.Context(), u.BridgeUser))
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.Empty(t, stoppedAccounts(t, store, cfg))
	require.Contains(t, log.String(), "the node is wrong: it reports nonce")
	for !strings.Contains(log.String(), "the node is excluded for 1m0s") { // at the third lie
		require.NoError(t, demo.Walk(t.Context(), u.BridgeUser))
	}
	require.Contains(t, log.String(), strings.TrimPrefix(liar.URL, "http://"))

	head, err := n.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	far := farAhead(head + 1000)
	liar.Fail(faults.Fault{Lie: far})
	slow.Fail(faults.Fault{Lie: far})
	waitFor(t, "the claimed head", func() bool {
		var seen uint64
		require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
			cur, err := tx.Chains().Cursor("eth")
			seen = cur.Head
			return err
		}))
		return seen >= head+900
	})
	liar.Fail(faults.Fault{})
	slow.Fail(faults.Fault{})
	waitFor(t, "open channels, without a restart", func() bool { return daemon.AskWell(t.Context(), dev.RootOf(info.Gateway)+"/health") == nil })
	require.NoError(t, demo.Walk(t.Context(), u.BridgeUser))
	require.Empty(t, stoppedAccounts(t, store, cfg))
}
