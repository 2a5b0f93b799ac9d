package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/records/recordstest"
)

// composeService is what a test wants of a service in ops/compose.yaml.
type composeService struct {
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
}

func composeServices(t *testing.T) map[string]composeService {
	text, err := os.ReadFile("../../ops/compose.yaml")
	require.NoError(t, err)
	var file struct {
		Services map[string]composeService `yaml:"services"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	return file.Services
}

// What the services mount is there.
func TestComposeMounts(t *testing.T) {
	for name, s := range composeServices(t) {
		for _, v := range s.Volumes {
			if from, _, _ := strings.Cut(v, ":"); strings.HasPrefix(from, ".") {
				_, err := os.Stat(filepath.Join("../../ops", from))
				require.NoError(t, err, name)
			}
		}
	}
}

// The services' own commands, as processes of this machine: gatewayd reaches PostgreSQL and geth, and is well.
func TestCompose(t *testing.T) {
	t.Parallel()
	geth := "../../build/bin/geth"
	if _, err := os.Stat(geth); err != nil {
		t.Skip("wants build/bin/geth; make test has it")
	}
	services, dir := composeServices(t), t.TempDir()
	mounts, err := filepath.Abs("../../ops/compose")
	require.NoError(t, err)
	node, listen, exchange, operators := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(node)
	require.NoError(t, err)
	here := strings.NewReplacer("/data", dir, "/etc/gatewayd", mounts, "geth:8545", node, "=8545", "="+port, "http.addr=0.0.0.0", "http.addr=127.0.0.1",
		"0.0.0.0:8080", listen, "0.0.0.0:8070", operators, "127.0.0.1:48132", exchange, "postgres://gatewayd@postgres/gatewayd?sslmode=disable", recordstest.Postgres(t).Database(t))

	text, err := os.ReadFile(filepath.Join(mounts, "config.yaml"))
	require.NoError(t, err)
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(here.Replace(string(text))), 0o600))
	_, err = config.Load(path)
	require.NoError(t, err)

	startService(t, geth, append(replaced(here, services["geth"].Command), "--port=0", "--ipcdisable", "--nodiscover", "--authrpc.port=0"), nil)
	waitFor(t, "geth", func() bool { return answersPOST("http://" + node) })
	said, err := exec.CommandContext(t.Context(), geth, replaced(here, services["fund"].Command)...).CombinedOutput()
	require.NoError(t, err, string(said))
	command := replaced(strings.NewReplacer("/etc/gatewayd/config.yaml", path), services["gatewayd"].Command)
	startService(t, lookUp(t, "gatewayd"), command, services["gatewayd"].Environment)
	waitFor(t, "gatewayd", func() bool { return run(t.Context(), []string{"health", "-c", path}, outside(t)) == nil })

	answer, err := http.Get("http://" + listen + "/gateway/eth/meta-info?tokenId=" + firstToken(t, path)) //nolint:noctx // of a test
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), `"code":0`)
	waitFor(t, "metrics where ops/prometheus.yml asks for them", func() bool {
		answer, err := http.Get("http://" + operators + "/metrics") //nolint:noctx // of a test
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return err == nil && strings.Contains(string(body), "gatewayd_chain_height{")
	})
}

func replaced(by *strings.Replacer, list []string) (out []string) {
	for _, s := range list {
		out = append(out, by.Replace(s))
	}
	return out
}

// startService runs a program until the test ends.
func startService(t *testing.T, name string, args []string, env map[string]string) {
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = os.Environ()
	for k, v := range env {
		c.Env = append(c.Env, k+"="+v)
	}
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Wait() // killed with the test's context
		if t.Failed() {
			t.Log(name, out.String())
		}
	})
}

func answersPOST(url string) bool {
	answer, err := http.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`)) //nolint:noctx // of a test
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func firstToken(t *testing.T, path string) string {
	cfg, err := config.Load(path)
	require.NoError(t, err)
	return cfg.Networks[0].Tokens[0].Token
}

func lookUp(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	return path
}
