package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/exchangeapi"
	"gatewayd/httpserver"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// program is `gatewayd` as a process, with what it logs.
type program struct {
	cmd    *exec.Cmd
	exited chan error // its end, once
	log    logText
}

// logText keeps a process's standard error.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (p *program) logged() string { return p.log.String() }

// startProgram runs `gatewayd` until the test ends.
func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{cmd: exec.Command("gatewayd", args...), exited: make(chan error, 1)}
	p.start(t)
	return p
}

// start runs the program until it ends or the test does.
func (p *program) start(t *testing.T) {
	t.Helper()
	p.cmd.Stderr = &p.log
	require.NoError(t, p.cmd.Start())
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		if t.Failed() {
			t.Log(p.logged())
		}
	})
}

// waitForLog waits until the log has a text.
func (p *program) waitForLog(t *testing.T, text string) {
	t.Helper()
	waitFor(t, "the log says "+text, func() bool { return strings.Contains(p.logged(), text) })
}

// stop ends the program politely and sees it end well.
func (p *program) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-p.exited, p.logged())
}

// recoverWallet makes the development keys an operator's wallet in a directory.
func recoverWallet(t *testing.T, dir string) config.Wallet {
	t.Helper()
	password := filepath.Join(dir, "password")
	require.NoError(t, os.WriteFile(password, []byte("correct horse battery staple\n"), 0o600))
	var out bytes.Buffer
	w := testStreams(t)
	w.stdin, w.stdout = strings.NewReader(dev.Mnemonic+"\n"), &out
	require.NoError(t, run(t.Context(), []string{"wallet", "recover", "--dir", filepath.Join(dir, "wallet"), "--password-file", password}, w))
	store := regexp.MustCompile(`(?m)^Store: (.*)$`).FindStringSubmatch(out.String())
	require.Len(t, store, 2, out.String())
	return config.Wallet{Store: store[1], PasswordFile: password}
}

// writeConfig writes a configuration file.
func writeConfig(t *testing.T, dir string, cfg config.Config) (path string) {
	t.Helper()
	text, err := yaml.Marshal(cfg)
	require.NoError(t, err)
	path = filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// embeddedChain serves a development exchange chain until the test ends. ws may be empty.
func embeddedChain(t *testing.T, ws string) *daemon.Embedded {
	t.Helper()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	chain, err := daemon.StartEmbedded(node.Config{Genesis: genesis, SnapshotInterval: 100 * time.Millisecond}, config.Embedded{Listen: "127.0.0.1:0", WS: ws})
	require.NoError(t, err)
	t.Cleanup(chain.Close)
	runUntilEnd(t, chain.Run)
	return chain
}

// envelopeAt returns the exchange API's answer at a URL; the zero value without one.
func envelopeAt(url string) (status int, e struct {
	Code int
	Msg  string
}) {
	answer, err := http.Get(url)
	if err != nil {
		return 0, e
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	_ = json.Unmarshal(text, &e)
	return answer.StatusCode, e
}

// The exchange API's node is down at the start: the bridge serves, the API reports it in its own
// envelope, and the log names the node. Once the node is there the API serves without a restart.
func TestRunWaitsForTheExchangeNode(t *testing.T) {
	t.Parallel()
	source, err := ethnode.Start(ethnode.Config{Period: 100 * time.Millisecond})
	require.NoError(t, err)
	runUntilEnd(t, source.Run)
	dir, later := t.TempDir(), freeAddress(t)
	cfg := dev.Config(quickOptions(dir), source.URL(), source.ChainID(), embeddedChain(t, "").URL())
	cfg.Log, cfg.Wallet, cfg.Gateway.Listen = config.Log{Level: "info"}, recoverWallet(t, dir), freeAddress(t)
	cfg.Exchange = &config.Exchange{Node: "ws://" + later, Config: exchangeapi.Config{Config: httpserver.Config{Listen: freeAddress(t)}}}
	cfg.Fill()
	api := "http://" + cfg.Exchange.Listen + "/api/v2/markets"

	p := startProgram(t, "run", "-c", writeConfig(t, dir, cfg))
	p.waitForLog(t, "waiting for the exchange API's node")
	waitFor(t, "the API's refusal", func() bool {
		status, e := envelopeAt(api)
		return status == http.StatusServiceUnavailable && e.Code == 1005 && strings.HasPrefix(e.Msg, "Service unavailable")
	})
	waitFor(t, "the bridge", func() bool {
		status, _ := envelopeAt("http://" + cfg.Gateway.Listen + "/gateway/eth/meta-info?tokenId=" + cfg.Networks[0].Tokens[0].Token)
		return status == http.StatusOK
	})
	embeddedChain(t, later)
	p.waitForLog(t, "the exchange API's node: available")
	waitFor(t, "the API", func() bool {
		status, e := envelopeAt(api)
		return status == http.StatusOK && e.Code == 0
	})
	p.stop(t)
}

// Nodes that are down at the start are named in the log; the daemon waits for them.
func TestRunTellsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://"+freeAddress(t), 1337, "ws://"+freeAddress(t))
	cfg.Log, cfg.Wallet = config.Log{Level: "info"}, recoverWallet(t, dir)
	p := startProgram(t, "run", "-c", writeConfig(t, dir, cfg))
	p.waitForLog(t, "waiting for the nodes of chain eth")
	p.waitForLog(t, "waiting for the nodes of chain vite")
	p.stop(t)
}

// A configuration without networks serves an exchange API alone, on the embedded chain.
func TestRunServesAnExchangeAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	genesis, err := dev.Genesis(keys)
	require.NoError(t, err)
	cfg := config.Config{
		Data: dir, Wallet: recoverWallet(t, dir),
		Embedded: &config.Embedded{Listen: freeAddress(t), Dir: filepath.Join(dir, "chain"), Genesis: filepath.Join(dir, "genesis.json")},
		Exchange: &config.Exchange{Config: exchangeapi.Config{Config: httpserver.Config{Listen: freeAddress(t)}}},
	}
	writeGenesis(t, cfg.Embedded.Genesis, genesis)
	cfg.Exchange.Node = "http://" + cfg.Embedded.Listen
	cfg.Fill()
	path := writeConfig(t, dir, cfg)
	p := startProgram(t, "run", "-c", path)
	waitFor(t, "the API", func() bool {
		status, e := envelopeAt("http://" + cfg.Exchange.Listen + "/api/v2/limit")
		return status == http.StatusOK && e.Code == 0
	})
	p.stop(t)
	_, err = os.Stat(filepath.Join(dir, "gatewayd.db"))
	require.ErrorIs(t, err, os.ErrNotExist, "there is no bridge to keep records of")

	cfg.Exchange = nil
	_, err = config.Load(writeConfig(t, t.TempDir(), cfg))
	require.ErrorContains(t, err, "or the section exchange, is required")
}
