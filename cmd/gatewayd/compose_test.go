package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/dev/demo"
	"gatewayd/internal/testing/recordstest"
)

// composeService contains the tested fields of a service in ops/compose.yaml.
type composeService struct {
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Networks    []string          `yaml:"networks"`
	Ports       []string          `yaml:"ports"`
	User        string            `yaml:"user"`
	GroupAdd    []string          `yaml:"group_add"`
	ReadOnly    bool              `yaml:"read_only"`
	CapDrop     []string          `yaml:"cap_drop"`
	SecurityOpt []string          `yaml:"security_opt"`
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

// localServices maps the services of a compose file to processes on this machine: volumes to a
// directory, the other services to free ports.
type localServices struct {
	dir, socket                                 string
	node, port                                  string // of geth
	exchange, exchangeWS, gateway, operatorsURL string
	database                                    string
}

func newLocalServices(t *testing.T) localServices {
	h := localServices{
		dir: t.TempDir(), socket: filepath.Join(shortDir(t), "signer.sock"), node: freeAddress(t), exchange: freeAddress(t), exchangeWS: freeAddress(t),
		gateway: freeAddress(t), operatorsURL: freeAddress(t), database: recordstest.Postgres(t).Database(t),
	}
	var err error
	_, h.port, err = net.SplitHostPort(h.node)
	require.NoError(t, err)
	return h
}

// replacer replaces names of other services, paths and the image's user in a service's files and
// commands.
func (h localServices) replacer(service string) *strings.Replacer {
	return strings.NewReplacer("/run/gatewayd-signer/signer.sock", h.socket, "/var/lib/gatewayd-signer", filepath.Join(h.dir, service), "/etc/gatewayd-signer", filepath.Join(h.dir, "etc", service),
		"/etc/gatewayd", filepath.Join(h.dir, "etc", service), "/data", filepath.Join(h.dir, service), "http://geth:8545", "http://"+h.node, "=8545", "="+h.port,
		"http.addr=0.0.0.0", "http.addr=127.0.0.1", "0.0.0.0:8080", h.gateway, "0.0.0.0:8070", h.operatorsURL, "0.0.0.0:48132", h.exchange, "127.0.0.1:48133", h.exchangeWS,
		"exchange:48132", h.exchange, "postgres://gatewayd@postgres/gatewayd?sslmode=disable", h.database, strconv.Itoa(imageUser), strconv.Itoa(os.Getuid()))
}

// imageUser is the user of the image, as which all services run but the signer.
const imageUser = 65532

// mount lays out what a service has of ops/compose, and checks the configuration in it.
func (h localServices) mount(t *testing.T, service, configuration string) (path string) {
	t.Helper()
	from, to := filepath.Join("../../ops/compose", service), filepath.Join(h.dir, "etc", service)
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	if configuration == "" {
		return ""
	}
	path = filepath.Join(to, configuration)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(h.replacer(service).Replace(string(text))), 0o600))
	_, err = config.Load(path)
	require.NoError(t, err)
	return path
}

// The services' own commands, as processes of this machine: gatewayd reaches PostgreSQL, both nodes
// and its signer, and a user deposits and withdraws.
func TestCompose(t *testing.T) {
	t.Parallel()
	geth := "../../build/bin/geth"
	if _, err := os.Stat(geth); err != nil {
		t.Skip("wants build/bin/geth; make test has it")
	}
	services, h := composeServices(t), newLocalServices(t)
	program := lookUp(t, "gatewayd")
	start := func(service string) {
		startService(t, program, replaced(h.replacer(service), services[service].Command), services[service].Environment)
	}
	startService(t, geth, append(replaced(h.replacer("geth"), services["geth"].Command), "--port=0", "--ipcdisable", "--nodiscover", "--authrpc.port=0"), nil)
	waitFor(t, "geth", func() bool { return answersPOST("http://" + h.node) })
	said, err := exec.CommandContext(t.Context(), geth, replaced(h.replacer("fund"), services["fund"].Command)...).CombinedOutput()
	require.NoError(t, err, string(said))
	h.mount(t, "exchange", "")
	start("exchange")
	waitFor(t, "the exchange chain", func() bool { return answersPOST("http://" + h.exchange) })
	signer := h.mount(t, "signer", "signer.yaml")
	start("signer")
	waitFor(t, "the signer", func() bool { return run(t.Context(), []string{"health", "-c", signer}, testStreams(t)) == nil })
	path := h.mount(t, "gatewayd", "config.yaml")
	start("gatewayd")
	waitFor(t, "gatewayd", func() bool { return run(t.Context(), []string{"health", "-c", path}, testStreams(t)) == nil })

	cfg, err := config.Load(path)
	require.NoError(t, err)
	require.NoFileExists(t, filepath.Join(cfg.Data, "guard.db"))
	require.FileExists(t, filepath.Join(h.dir, "signer", "guard.db"))
	info := dev.NewInfo(cfg, path, "")
	info.FaucetKey, info.Mnemonic = gethDevKey, composeMnemonic
	u, err := dev.NewBridgeUser(t.Context(), info, info.Tokens[0], 0, t.Output())
	require.NoError(t, err)
	defer u.Close()
	require.NoError(t, demo.Walk(t.Context(), u))
	waitFor(t, "metrics where ops/prometheus.yml asks for them", func() bool {
		answer, err := http.Get("http://" + h.operatorsURL + "/metrics") //nolint:noctx // of a test
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return err == nil && strings.Contains(string(body), "gatewayd_chain_height{")
	})
}

// composeMnemonic is of the wallet in ops/compose, for which its chain's genesis is.
const composeMnemonic = "test test test test test test test test test test test junk"

// gethDevKey is the public key pair of the account of geth --dev.
const gethDevKey = "b71c71a67e1177ad4e901695e1b4b9ee17ae16c6668d313eac2f96dbcda3f291"

// TestComposeSignerIsApart: the signer's container has another user, writes to its own volumes
// alone, has no capabilities, and is on a network of the nodes without the daemon. The daemon has
// the socket's group, and no key.
func TestComposeSignerIsApart(t *testing.T) {
	services := composeServices(t)
	signer, daemon := services["signer"], services["gatewayd"]
	require.True(t, signer.ReadOnly)
	require.Equal(t, []string{"ALL"}, signer.CapDrop)
	require.Equal(t, []string{"no-new-privileges:true"}, signer.SecurityOpt)
	require.NotEmpty(t, signer.User)
	require.NotEqual(t, daemon.User, signer.User)
	_, group, _ := strings.Cut(signer.User, ":")
	require.Equal(t, []string{group}, daemon.GroupAdd)
	require.Empty(t, signer.Ports)
	require.Len(t, signer.Networks, 1)
	for name, s := range services {
		reached := slices.Contains(s.Networks, signer.Networks[0])
		require.Equal(t, slices.Contains([]string{"signer", "geth", "exchange"}, name), reached, name)
		if name == "signer" || name == "gatewayd" {
			continue
		}
		for _, v := range s.Volumes {
			from, _, _ := strings.Cut(v, ":")
			require.NotContains(t, []string{"signer", "socket", "./compose/signer"}, from, name)
		}
	}
	require.Contains(t, daemon.Volumes, "socket:/run/gatewayd-signer:ro")
	for _, v := range daemon.Volumes {
		require.NotRegexp(t, `^(signer|\./compose|\./compose/signer):`, v)
	}
	require.Empty(t, daemon.Environment)
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

func lookUp(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	require.NoError(t, err)
	return path
}
