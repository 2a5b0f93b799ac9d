package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/wallet"
)

// TestStartIsTold: the log names each step of a start before it runs, and the database only when
// there is work.
func TestStartIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	exchange := freeAddress(t)
	cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1337, "http://"+exchange) // it starts without its source node
	cfg.Log = config.Log{Level: "info", Format: "json"}
	cfg.Wallet = recoverWallet(t, dir)
	cfg.Embedded = &config.Embedded{Dir: filepath.Join(dir, "exchange"), Listen: exchange, Genesis: filepath.Join(dir, "genesis.json")}
	writeGenesis(t, cfg.Embedded.Genesis, genesis)
	path := writeConfig(t, dir, cfg)
	first, again := startLog(t, path), startLog(t, path)
	const unlocking, replaying, making = `"unlocking the wallet"`, `"opening the embedded exchange chain: replaying blocks after`, `"creating the database"`
	for _, told := range []string{first, again} {
		require.Less(t, strings.Index(told, unlocking), strings.Index(told, replaying), told)
		require.Contains(t, told, unlocking)
	}
	require.Equal(t, 1, strings.Count(first, making))
	require.Contains(t, findLine(first, making), `"from":0,"level":"info"`)
	require.NotContains(t, again, making)
	require.NotContains(t, again, "upgrading the database")
}

// startLog returns the daemon's log until it runs.
func startLog(t *testing.T, config string) string {
	t.Helper()
	log, err := os.CreateTemp(t.TempDir(), "log")
	require.NoError(t, err)
	defer log.Close()
	c := exec.Command("gatewayd", "run", "-c", config)
	c.Stderr = log
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() }) // in vain once it has ended
	var text []byte
	waitFor(t, "a daemon that runs", func() bool {
		text, err = os.ReadFile(log.Name())
		return err == nil && strings.Contains(string(text), `"gatewayd runs"`)
	})
	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Wait())
	return string(text)
}

// TestLastErrorIsInTheLog: the error that ends a daemon or a signer is a JSON line, if the log is.
func TestLastErrorIsInTheLog(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"run", "signer"} {
		for name, fault := range map[string]func(*config.Config){
			"no such wallet":   func(c *config.Config) { c.Wallet.Store += "0" },
			"wrong":            func(c *config.Config) { c.Networks[0].Name = "" },
			"people's listing": func(c *config.Config) { c.Wallet.Store, c.Log.Format = c.Wallet.Store+"0", "text" },
		} {
			dir := t.TempDir()
			cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1337, "http://127.0.0.1:1")
			cfg.Wallet, cfg.Log.Format = recoverWallet(t, dir), "json"
			fault(&cfg)
			c := exec.Command("gatewayd", command, "-c", writeConfig(t, dir, cfg))
			var log bytes.Buffer
			c.Stderr = &log
			require.Error(t, c.Run())
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			last := lines[len(lines)-1]
			if cfg.Log.Format == "text" {
				require.Regexp(t, "^gatewayd: ", last)
				continue
			}
			var line struct{ Level, Msg, Error string }
			require.NoError(t, json.Unmarshal([]byte(last), &line), "%s, %s: %s", command, name, log.String())
			require.Equal(t, "fatal", line.Level)
			require.Equal(t, "gatewayd ends", line.Msg)
			require.NotEmpty(t, line.Error)
		}
	}
}
