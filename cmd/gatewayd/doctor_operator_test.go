package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/exchangeapi"
	"gatewayd/httpserver"
	"gatewayd/operator/doctor"
	"gatewayd/records"
)

// runDoctor runs `gatewayd doctor` on a configuration. It returns its findings by subject, and an
// error when the exit code requires a fix.
func runDoctor(t *testing.T, path string) (found map[string]doctor.Finding, err error) {
	t.Helper()
	var out bytes.Buffer
	w := testStreams(t)
	w.stdout = &out
	err = run(t.Context(), []string{"doctor", "--json", "-c", path}, w)
	var report doctor.Report
	require.NoError(t, json.Unmarshal(out.Bytes(), &report), out.String())
	found = map[string]doctor.Finding{}
	for _, f := range report.Findings {
		f.Cure = 0 // another test's
		found[f.What] = f
		if !f.OK {
			t.Log("needs fixing: ", f)
		}
	}
	return found, err
}

// A new operator's mistakes with the wallet are reported with the file's name before the daemon is
// started.
func TestDoctorOfTheWallet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://"+freeAddress(t), 1337, "http://"+freeAddress(t))
	good := recoverWallet(t, dir)
	wrong := filepath.Join(dir, "wrong")
	require.NoError(t, os.WriteFile(wrong, []byte("another\n"), 0o600))
	for _, c := range []struct {
		wallet config.Wallet
		ok     bool
		says   string
	}{
		{good, true, good.Store + " unlocks"},
		{config.Wallet{Store: good.Store}, true, "read from the terminal at each start"},
		{config.Wallet{}, false, "wallet.store is not set"},
		{config.Wallet{Store: good.Store + "x", PasswordFile: good.PasswordFile}, false, "missing file " + good.Store + "x"},
		{config.Wallet{Store: good.Store, PasswordFile: good.PasswordFile + "x"}, false, good.PasswordFile + "x"},
		{config.Wallet{Store: good.Store, PasswordFile: wrong}, false, good.Store + ": unlocking the wallet"},
	} {
		cfg.Wallet = c.wallet
		found, err := runDoctor(t, writeConfig(t, dir, cfg))
		require.Error(t, err, "the nodes are down")
		require.Equal(t, c.ok, found["wallet"].OK, c.says)
		require.Contains(t, found["wallet"].Found, c.says)
	}
}

// Warnings need no fix; missing funders are a finding where money is; a node that is down is
// reported as down.
func TestDoctorOfANewGateway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := t.TempDir()
	cfg, err := config.Load(r.Info.Config)
	require.NoError(t, err)
	cfg.Wallet = recoverWallet(t, dir)
	found, _ := runDoctor(t, writeConfig(t, dir, cfg))
	require.Empty(t, findingsToFix(found))
	require.False(t, found["network eth funders"].Warning)

	cfg.Operators.Listen = strings.TrimPrefix(r.Info.Operators, "http://")
	found, _ = runDoctor(t, writeConfig(t, dir, cfg))
	require.Equal(t, "answers at "+r.Info.Operators, found["operators listener"].Found)
	require.False(t, found["operators listener address"].Warning)
	_, port, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	cfg.Operators.Listen, cfg.Operators.Plain = "0.0.0.0:"+port, true
	found, _ = runDoctor(t, writeConfig(t, dir, cfg))
	require.False(t, found["operators listener"].OK, "a daemon runs, and nobody answers")
	require.True(t, found["operators listener address"].Warning)
	cfg.Operators = config.Operators{Config: httpserver.Config{Listen: daemon.AnyPort}}

	cfg.Networks[0].Funders = nil
	cfg.Networks[0].Tokens[0].Fee = records.Fee{Kind: "network", Rate: decimal.NewFromInt(3100)}
	found, _ = runDoctor(t, writeConfig(t, dir, cfg))
	require.Empty(t, findingsToFix(found), "warnings only")
	require.True(t, found["network eth funders"].Warning)
	fee := found["network eth token "+cfg.Networks[0].Tokens[0].Symbol+" fee"]
	require.True(t, fee.OK && fee.Warning)
	require.Contains(t, fee.Found, "3100")

	cfg.Vite[0].Nodes = []string{"http://" + freeAddress(t)}
	found, err = runDoctor(t, writeConfig(t, dir, cfg))
	require.Error(t, err)
	require.Contains(t, found["chain vite"].Found, "no node answers")
	require.Len(t, findingsToFix(found), 2, "the node and that; the same fault is not told of each token and account")
}

// findingsToFix lists the findings that need a fix, except the clock of a test's source chain,
// whose blocks with full seconds come ten times a second.
func findingsToFix(found map[string]doctor.Finding) (list []string) {
	for what, f := range found {
		if !f.OK && !strings.HasSuffix(what, " clock") {
			list = append(list, what+": "+f.Found)
		}
	}
	return list
}

func TestDoctorAsksForMoneyFromFunders(t *testing.T) {
	d := &doctor.Doctor{}
	d.Warn(false, "a", "b", "c")
	d.Warn(true, "d", "e", "f")
	require.NoError(t, printDoctor(testStreams(t), format{}, doctor.Report{Findings: d.Findings}), "warnings need no fixing")
	require.Equal(t, []doctor.Finding{{What: "a", OK: true, Warning: true, Found: "b", Advice: "c"}, {What: "d", OK: true, Found: "e"}}, d.Findings)
	text, err := os.ReadFile("../../operator/doctor/doctor.go")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"send some`) || strings.Contains(line, `issue or send`) {
			require.Contains(t, line, "fromFunder")
		}
	}
	require.Equal(t, "start", doctor.NodeFirst(chain.ErrNotFound, "start"))
}

// A mistyped token id is refused when the configuration is read, not when the first user asks.
func TestTokenIDsAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://127.0.0.1:1", 1337, "http://127.0.0.1:1")
	id := []byte(cfg.Networks[0].Tokens[0].Token)
	id[10] ^= 1
	cfg.Networks[0].Tokens[0].Token = string(id)
	_, err := config.Load(writeConfig(t, dir, cfg))
	require.ErrorContains(t, err, string(id)+": token: must be tti_")
}

// `gatewayd health -c` asks the listener of the configuration.
func TestHealthOfAConfiguration(t *testing.T) {
	t.Parallel()
	network := []config.Network{{}}
	gateway := func(c httpserver.Config) config.Config {
		cfg := config.Config{Networks: network}
		cfg.Gateway.Config = c
		return cfg
	}
	for want, cfg := range map[string]config.Config{
		"http://127.0.0.1:8080/health":  gateway(httpserver.Config{}),
		"http://127.0.0.1:9000/health":  gateway(httpserver.Config{Listen: "0.0.0.0:9000"}),
		"http://127.0.0.1:9001/health":  gateway(httpserver.Config{Listen: ":9001"}),
		"http://[::1]:9002/health":      gateway(httpserver.Config{Listen: "[::1]:9002"}),
		"https://127.0.0.1:443/health":  gateway(httpserver.Config{Listen: ":443", TLS: httpserver.TLS{Cert: "c", Key: "k"}}),
		"http://127.0.0.1:8095/health":  {Exchange: &config.Exchange{Config: exchangeapi.Config{Config: httpserver.Config{Listen: "127.0.0.1:8095"}}}},
		"http://127.0.0.1:8090/health":  {Exchange: &config.Exchange{}},
		"http://192.0.2.1:8080/health":  gateway(httpserver.Config{Listen: "192.0.2.1:8080"}),
		"https://192.0.2.1:8443/health": gateway(httpserver.Config{Listen: "192.0.2.1:8443", ACME: httpserver.ACME{Domains: []string{"x.example"}}}),
	} {
		require.Equal(t, want, daemon.HealthURL(cfg))
	}
	config, p := startProgramOnDeadNodes(t)
	if err := run(t.Context(), []string{"health", "-c", config}, testStreams(t)); err != nil {
		require.ErrorContains(t, err, "/health answers 5", "it is asked, and may tell already that its nodes are down")
	}
	p.stop(t)
	require.ErrorContains(t, run(t.Context(), []string{"health", "-c", config}, testStreams(t)), "asking for health")
}

// startProgramOnDeadNodes runs a daemon whose nodes are down, on its own port, and returns its
// configuration once it listens.
func startProgramOnDeadNodes(t *testing.T) (path string, p *program) {
	t.Helper()
	dir := t.TempDir()
	cfg := dev.Config(quickOptions(dir), "http://"+freeAddress(t), 1337, "http://"+freeAddress(t))
	cfg.Log, cfg.Wallet, cfg.Gateway.Listen = config.Log{Level: "info"}, recoverWallet(t, dir), freeAddress(t)
	path = writeConfig(t, dir, cfg)
	p = startProgram(t, "run", "-c", path)
	p.waitForLog(t, "listening server=gateway")
	return path, p
}
