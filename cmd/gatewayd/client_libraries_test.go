package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/demo"
)

// clientsEnv is a development environment with two people who may trade, for client libraries to be
// tried in.
type clientsEnv struct {
	*rig
	root       string
	symbol     string
	alice, bob map[string]string // address, key, secret
	payer      *dev.BridgeUser
}

// TestClientLibraries: clients that are generated from the served documents, for Go from OpenAPI 3.0
// and for TypeScript from 3.1, make a deposit and place an order; clients/ccxt and clients/python trade, and keep a book over 20
// connections.
func TestClientLibraries(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"node", "npm", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the clients need %s, which is not on this machine", program)
		}
	}
	e := openClientsEnv(t)
	t.Run("go", e.generatedGo)
	t.Run("typescript", e.generatedTypeScript)
	t.Run("python", func(t *testing.T) {
		e.trade(t, e.alice, "python3", "testdata/clients/trade.py", filepath.Join(e.root, "clients/python"))
	})
	t.Run("ccxt", func(t *testing.T) {
		dir := e.npm(t)
		copyFile(t, filepath.Join(e.root, "clients/ccxt/gatewayd.js"), filepath.Join(dir, "gatewayd.mjs"))
		e.trade(t, e.bob, "node", "testdata/clients/trade.mjs", "file://"+filepath.Join(dir, "gatewayd.mjs"))
	})
}

func openClientsEnv(t *testing.T) *clientsEnv {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	e := &clientsEnv{rig: newRig(t, func(o *dev.Options) { o.API = "127.0.0.1:0" }), root: root}
	var out bytes.Buffer
	o := demo.ExchangeOptions{Info: filepath.Join(filepath.Dir(e.Info.Config), "dev.json"), Keep: true}
	require.NoError(t, demo.RunExchange(t.Context(), o, &out), &out)
	told := regexp.MustCompile(`symbol=(\S+)`).FindStringSubmatch(out.String())
	require.NotNil(t, told, &out)
	e.symbol = told[1]
	person := func(name string) map[string]string {
		found := regexp.MustCompile(name + `: address=(\S+) key=(\S+) secret=(\S+)`).FindStringSubmatch(out.String())
		require.NotNil(t, found, &out)
		code := run(t.Context(), []string{"apikey", "limit", found[2], "10000", "-c", e.Info.Config}, testStreams(t))
		require.Zero(t, code)
		return map[string]string{"address": found[1], "key": found[2], "secret": found[3]}
	}
	e.alice, e.bob = person("Alice"), person("Bob")
	e.payer, err = dev.NewBridgeUser(t.Context(), e.Info, e.token(t, dev.DollarSymbol), 0, io.Discard)
	require.NoError(t, err)
	t.Cleanup(e.payer.Close)
	return e
}

// npm is a folder whose programs find the packages of the clients.
func (e *clientsEnv) npm(t *testing.T) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), filepath.Join(e.root, "scripts/npm-install.sh"), "clients").CombinedOutput()
	require.NoError(t, err, string(output))
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(e.root, "build/clients/node_modules"), filepath.Join(dir, "node_modules")))
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

// document saves a description that a listener serves.
func document(t *testing.T, url, to string) {
	t.Helper()
	answer, err := http.Get(url)
	require.NoError(t, err)
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

// documents saves the descriptions of both APIs in one form.
func (e *clientsEnv) documents(t *testing.T, form, dir string) {
	t.Helper()
	document(t, dev.RootOf(e.Info.Gateway)+form, filepath.Join(dir, "gateway.json"))
	document(t, dev.RootOf(e.Info.API)+form, filepath.Join(dir, "exchange.json"))
}

func must(t *testing.T, dir, program string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", program, arguments, output)
}

func (e *clientsEnv) generatedGo(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), filepath.Join(e.root, "scripts/go-tool.sh"), "oapi-codegen").CombinedOutput()
	require.NoError(t, err, string(output))
	dir := t.TempDir()
	e.documents(t, "/openapi-3.0.json", dir)
	for _, name := range []string{"go.mod", "go.sum", "main.go"} {
		copyFile(t, filepath.Join("testdata/clients/go", name+".txt"), filepath.Join(dir, name))
	}
	for _, name := range []string{"gateway", "exchange"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		must(t, dir, filepath.Join(e.root, "build/bin/oapi-codegen"), "-generate", "types,client", "-package", name, "-o", name+"/"+name+".go", name+".json")
	}
	must(t, dir, "go", "build", "-o", "client", ".")
	e.depositAndOrder(t, e.alice, filepath.Join(dir, "client"))
}

func (e *clientsEnv) generatedTypeScript(t *testing.T) {
	dir := e.npm(t)
	e.documents(t, "/openapi.json", dir)
	for _, name := range []string{"gateway", "exchange"} {
		must(t, dir, "node_modules/.bin/openapi-typescript", name+".json", "-o", name+".d.ts")
	}
	copyFile(t, "testdata/clients/generated.ts", filepath.Join(dir, "generated.ts"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600))
	must(t, dir, "node_modules/.bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "--skipLibCheck", "generated.ts")
	e.depositAndOrder(t, e.alice, "node", filepath.Join(dir, "generated.js"))
}

func (e *clientsEnv) given(t *testing.T, person map[string]string, more map[string]any) string {
	t.Helper()
	all := map[string]any{
		"gateway": e.Info.Gateway, "api": dev.RootOf(e.Info.API), "token": e.payer.Token.Token, "wallet": e.payer.Vite.Address().String(), "symbol": e.symbol,
		"key": person["key"], "secret": person["secret"], "address": person["address"], "connections": 20,
	}
	for name, value := range more {
		all[name] = value
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// depositAndOrder pays to a program's address, and waits for its deposit and its order.
func (e *clientsEnv) depositAndOrder(t *testing.T, person map[string]string, program string, arguments ...string) {
	command := exec.CommandContext(t.Context(), program, append(arguments, e.given(t, person, nil))...)
	var faults bytes.Buffer
	command.Stderr = &faults
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(out)
	next := func(word string) string {
		require.True(t, lines.Scan(), &faults)
		said, rest, _ := strings.Cut(lines.Text(), " ")
		require.Equal(t, word, said, &faults)
		return rest
	}
	amount := e.payer.Times(2)
	paid, err := e.payer.Eth.Pay(t.Context(), e.payer.Token.Asset, common.HexToAddress(next("pay")), amount.Uint256().ToBig(), nil)
	require.NoError(t, err)
	_, err = io.WriteString(in, paid.Hex()+"\n")
	require.NoError(t, err)
	require.Equal(t, amount.String(), next("deposited"))
	require.Regexp(t, "^[0-9a-f]{64}$", next("open"))
	require.NoError(t, command.Wait(), &faults)
}

// trade lets a library's own test trade.
func (e *clientsEnv) trade(t *testing.T, person map[string]string, program, script, library string) {
	given := e.given(t, person, map[string]any{"library": library})
	command := exec.CommandContext(t.Context(), program, script, given)
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	require.Contains(t, string(output), "ok ")
}
