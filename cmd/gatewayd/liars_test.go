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

	"gatewayd/chain/ethereum/devnode"
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

// farAhead says that the chain stands at a height that it has not reached, and has blocks up to there.
func farAhead(height uint64) lie {
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

// lines is what a process writes, read while it runs.
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

// TestLyingNodes runs the daemon on three nodes. One that adds five to each nonce changes nothing while another is slow by two seconds: users
// are served, no account stops, and the log names it. When two claim blocks far ahead for a while, it goes on afterwards without a restart.
func TestLyingNodes(t *testing.T) {
	t.Parallel()
	n, err := devnode.Start(devnode.Config{Period: 200 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	liar, slow := faulty(t, n.URL()), faulty(t, n.URL())
	dir := t.TempDir()
	keys, err := wallet.FromMnemonic(devMnemonic)
	require.NoError(t, err)
	genesis, err := devGenesis(keys)
	require.NoError(t, err)
	exchange := freeAddress(t)
	cfg := devConfig(quick(dir), n.URL(), n.ChainID(), "http://"+exchange)
	cfg.Ethereum[0].Nodes = append(cfg.Ethereum[0].Nodes, liar.URL, slow.URL)
	cfg.Log = LogConfig{Level: "info", Format: "json"}
	cfg.Wallet = recoverWallet(t, dir)
	cfg.Gateway.Listen = freeAddress(t)
	cfg.Embedded = &EmbeddedConfig{Dir: filepath.Join(dir, "exchange"), Listen: exchange, Genesis: filepath.Join(dir, "genesis.json")}
	writeGenesis(t, cfg.Embedded.Genesis, genesis)
	path := writeConfig(t, dir, cfg)
	info := newDevInfo(cfg, path, "")
	require.NoError(t, fundSource(t.Context(), info, keys, nil))
	require.NoError(t, info.write(filepath.Join(dir, "dev.json")))
	liar.fail(nodeFault{lie: nonceTooHigh})
	slow.fail(nodeFault{delay: 2 * time.Second})

	log := new(lines)
	cmd := exec.Command("gatewayd", "run", "-c", path)
	cmd.Stderr = io.MultiWriter(log, t.Output())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	u, err := newBridgeUser(t.Context(), awaited(t, dir), info.Tokens[0], 0, t.Output())
	require.NoError(t, err)
	defer u.close()
	require.NoError(t, u.walk(t.Context()))
	store, err := records.OpenExisting(t.Context(), cfg.Database)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	require.Empty(t, stopped(t, store, cfg))
	require.Contains(t, log.String(), "the node is wrong: it says that an account's nonce")
	for !strings.Contains(log.String(), "the node is left out for 1m0s") { // at the third lie
		require.NoError(t, u.walk(t.Context()))
	}
	require.Contains(t, log.String(), strings.TrimPrefix(liar.URL, "http://"))

	head, err := n.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	far := farAhead(head + 1000)
	liar.fail(nodeFault{lie: far})
	slow.fail(nodeFault{lie: far})
	waitFor(t, "the claimed head", func() bool {
		var seen uint64
		require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
			cur, err := tx.Cursor("eth")
			seen = cur.Head
			return err
		}))
		return seen >= head+900
	})
	liar.fail(nodeFault{})
	slow.fail(nodeFault{})
	waitFor(t, "open channels, without a restart", func() bool { return askHealth(t.Context(), rootOf(info.Gateway)+"/health") == nil })
	require.NoError(t, u.walk(t.Context()))
	require.Empty(t, stopped(t, store, cfg))
}
