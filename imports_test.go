package gatewayd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayImport lists, for each package of this module, the others that it may import. All other
// imports are forbidden, so a new package needs a line. No package imports cmd, siblings do not
// import each other, and chain, the vocabulary, imports nothing.
var mayImport = map[string][]string{
	"chain":                        {},
	"internal/testing/chaintest":   {"chain"},
	"chain/quorum":                 {"chain"},
	"chain/ethereum":               {"chain", "chain/quorum", "internal/tracing"},
	"dev/bitcoinnode":              {},
	"chain/bitcoin":                {"chain", "chain/bitcoin/network", "chain/bitcoin/spend", "chain/quorum", "internal/tracing"},
	"chain/bitcoin/network":        {"chain", "wallet/keystore"},
	"chain/bitcoin/spend":          {"chain", "chain/bitcoin/network"},
	"chain/ethereum/contracts":     {},
	"dev/ethnode":                  {"chain/ethereum/contracts"},
	"internal/testing/ethtest":     {"chain/ethereum/contracts", "dev/ethnode"},
	"internal/testing/faults":      {},
	"chain/vite":                   {"chain", "chain/quorum", "vite/client", "vite/core"},
	"vite/core":                    {},
	"vite/dex":                     {"vite/core"},
	"vite/ledger":                  {"vite/core", "vite/dex"},
	"vite/store":                   {"vite/core", "vite/ledger"},
	"vite/node":                    {"chain", "vite/core", "vite/dex", "vite/ledger", "vite/store"},
	"vite/rpc":                     {"httpserver", "httpserver/jsonrpc", "vite/core", "vite/dex", "vite/ledger", "vite/node"},
	"vite/client":                  {"internal/tracing", "vite/core"},
	"internal/database":            {"internal/secretfile"},
	"policy":                       {"chain"},
	"records":                      {"chain", "internal/database", "policy", "records/signguard", "records/sqlstore"},
	"records/signguard":            {"chain", "internal/database", "records/sqlstore"},
	"records/sqlstore":             {"chain", "internal/database"},
	"records/books":                {"chain", "records", "records/sqlstore"},
	"view":                         {"chain", "policy", "records", "records/sqlstore"},
	"internal/testing/recordstest": {"chain", "records", "records/books", "records/signguard", "view"},
	"transfers":                    {"chain", "internal/tracing", "records"},
	"watcher":                      {"chain", "records", "records/signguard", "status", "transfers", "watcher/follow", "watcher/frozen", "watcher/pay", "watcher/reconcile", "watcher/recovery", "watcher/treasury"},
	"signer":                       {"chain", "records/signguard", "signer/checks", "vite/core", "vite/dex"},
	"signer/limits":                {"chain", "policy"},
	"signer/approval":              {"chain", "internal/secretfile", "policy"},
	"signer/checks":                {"chain", "internal/secretfile", "policy", "records/signguard", "signer/approval", "signer/limits"},
	"signer/remote":                {"chain", "httpserver", "httpserver/jsonrpc", "records/signguard", "signer", "signer/checks", "vite/core"},
	"signer/cause":                 {"chain", "policy", "records/signguard"},
	"watcher/reconcile":            {"chain", "records", "records/books", "status"},
	"watcher/recovery":             {"chain", "records", "records/signguard", "transfers"},
	"status":                       {"chain", "records"},
	"gateway":                      {"chain", "httpserver", "records", "status", "view"},
	"wallet":                       {"vite/core", "wallet/keystore"},
	"wallet/hsm":                   {},
	"internal/testing/devices":     {},
	"internal/testing/specs":       {},
	"wallet/keystore":              {"vite/core"},
	"wallet/rpc":                   {"httpserver", "httpserver/jsonrpc", "internal/secretfile", "vite/core", "wallet", "wallet/keystore"},
	"exchangeapi":                  {"exchangeapi/apikey", "exchangeapi/index", "exchangeapi/rates", "httpserver", "vite/client", "vite/core", "vite/dex"},
	"exchangeapi/apikey":           {"internal/database", "vite/core"},
	"exchangeapi/rates":            {},
	"exchangeapi/index":            {"internal/database", "vite/client", "vite/core", "vite/dex"},
	"exchangeapi/ws":               {"exchangeapi/index", "httpserver"},
	"exchangeapi/client":           {},
	"web":                          {},
	"httpserver":                   {"internal/tracing"},
	"httpserver/jsonrpc":           {},
	"internal/budget":              {},
	"daemon":                       {"chain", "chain/bitcoin", "chain/ethereum", "config", "exchangeapi", "exchangeapi/apikey", "exchangeapi/index", "exchangeapi/rates", "exchangeapi/ws", "gateway", "httpserver", "internal/database", "internal/secretfile", "internal/tracing", "metrics", "notify", "operator", "operator/console", "policy", "records", "records/signguard", "signer", "signer/approval", "signer/cause", "signer/checks", "signer/remote", "status", "vite/client", "vite/core", "vite/node", "vite/rpc", "wallet", "wallet/keystore", "wallet/rpc", "watcher", "watcher/recovery", "web"},
	"internal/secretfile":          {},
	"internal/tracing":             {},
	"config":                       {"chain", "chain/bitcoin", "chain/bitcoin/network", "chain/ethereum", "chain/vite", "exchangeapi", "exchangeapi/index", "exchangeapi/ws", "gateway", "httpserver", "internal/tracing", "notify", "records", "signer/approval", "signer/checks", "signer/remote", "status", "vite/core", "wallet", "wallet/hsm", "wallet/keystore", "wallet/rpc", "watcher"},
	"dev":                          {"chain", "chain/bitcoin", "chain/bitcoin/network", "chain/ethereum", "chain/ethereum/contracts", "chain/vite", "config", "daemon", "dev/bitcoinnode", "dev/ethnode", "exchangeapi", "exchangeapi/client", "exchangeapi/rates", "gateway", "httpserver", "operator/console", "records", "signer/limits", "vite/client", "vite/core", "vite/dex", "vite/ledger", "vite/node", "wallet", "wallet/keystore", "watcher"},
	"dev/demo":                     {"chain", "chain/ethereum", "chain/ethereum/contracts", "config", "daemon", "dev", "dev/ethnode", "exchangeapi/client", "internal/testing/ethtest", "records", "records/signguard", "signer/approval", "signer/checks", "signer/limits", "signer/remote", "transfers", "vite/client", "vite/core", "vite/dex", "vite/node", "wallet"},
	"dev/drill":                    {"chain", "chain/ethereum", "config", "daemon", "dev", "dev/demo", "status", "wallet/keystore"},
	"operator":                     {"chain", "chain/bitcoin", "chain/ethereum", "chain/vite", "config", "gateway", "internal/database", "records", "records/books", "records/signguard", "signer/checks", "signer/limits", "signer/remote", "status", "transfers", "view", "vite/core", "watcher", "watcher/reconcile", "watcher/recovery"},
	"operator/backup":              {"chain", "config", "exchangeapi/apikey", "exchangeapi/index", "internal/database", "records", "records/signguard", "status", "vite/ledger", "vite/node", "vite/store"},
	"metrics":                      {"chain", "chain/vite", "exchangeapi/index", "exchangeapi/ws", "httpserver", "records", "records/books", "signer/checks", "status"},
	"notify":                       {"chain", "internal/secretfile", "records", "status"},
	"operator/doctor":              {"chain", "chain/bitcoin", "chain/ethereum", "chain/vite", "config", "daemon", "exchangeapi/index", "exchangeapi/rates", "httpserver", "operator", "records", "records/books", "signer/remote", "status", "vite/client", "vite/core"},
	"operator/console":             {"chain", "config", "httpserver", "operator", "records", "signer/approval", "signer/checks", "status", "transfers", "watcher/recovery"},
	"cmd/gatewayd":                 {"..."},
	"cmd/gatewaydemo":              {"..."},
	"cmd/gatewaybench":             {"..."},
	"scripts/mutate":               {},
	"scripts/reference":            {},
	"scripts/release":              {},
	"":                             {},
	"watcher/treasury":             {"chain", "records", "records/books"},
	"watcher/follow":               {"chain", "records", "records/signguard", "transfers", "watcher/frozen", "watcher/reconcile", "watcher/recovery"},
	"watcher/frozen":               {"chain", "records", "transfers"},
	"watcher/pay":                  {"chain", "internal/tracing", "records", "records/signguard", "status", "transfers", "watcher/frozen"},
}

// testsMayImport are packages that exist for tests, and the exchange chain, on which the clients of
// it are tested. The tests of a package may import them besides what the package itself may.
var testsMayImport = []string{
	"internal/testing/chaintest", "records/books", "records", "internal/testing/recordstest", "view", "signer", "wallet", "signer/approval", "signer/checks", "signer/limits", "chain/ethereum/contracts", "dev/ethnode", "internal/budget", "dev/bitcoinnode", "internal/testing/ethtest", "internal/testing/devices", "internal/testing/faults", "internal/testing/specs", "vite/core", "vite/client", "vite/dex", "vite/ledger", "vite/node", "vite/rpc",
}

// pure are packages whose results depend on their arguments alone.
var pure = []string{"policy", "vite/core", "vite/dex", "vite/ledger"}

// datesOnly are pure packages that name moments, but have no clock.
var datesOnly = []string{"vite/ledger"}

// clocks are the functions of package time that they may not use.
var clocks = regexp.MustCompile(`\btime\.(Now|Since|Until|After|AfterFunc|Tick|Sleep|NewTimer|NewTicker|Local)\b`)

// impure are libraries with a clock, randomness, the machine, other goroutines, or a log. A name
// includes the packages below it.
var impure = []string{
	"context", "crypto/rand", "database/sql", "embed", "io/fs", "io/ioutil", "log", "math/rand", "net", "os", "path/filepath",
	"plugin", "runtime", "sync", "syscall", "testing", "time", "unique", "weak", "C",
	"github.com/sirupsen/logrus", "github.com/ethereum/go-ethereum", "golang.org/x/sync", "golang.org/x/time",
}

const module = "gatewayd"

// source is go list's description of a package.
type source struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
}

func (s source) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(s.ImportPath, module), "/")
}

// ours returns the imports that are packages of this module, by their names here.
func ours(imports []string) []string {
	var names []string
	for _, path := range imports {
		if name, ok := strings.CutPrefix(path, module+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

func list(t *testing.T) []source {
	t.Helper()
	command := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	command.Stderr = new(bytes.Buffer)
	output, err := command.Output()
	require.NoError(t, err, command.Stderr)
	var all []source
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var one source
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, one)
	}
}

func allowed(rule []string, name string) bool {
	return slices.Contains(rule, "...") || slices.Contains(rule, name)
}

func TestImportsGoOneWay(t *testing.T) {
	for _, from := range list(t) {
		rule, known := mayImport[from.name()]
		if !known {
			t.Errorf("package %q has no line in mayImport", from.name())
			continue
		}
		for _, to := range ours(from.Imports) {
			if !allowed(rule, to) {
				t.Errorf("%s may not import %s", from.name(), to)
			}
		}
		for _, to := range ours(append(from.TestImports, from.XTestImports...)) {
			if to != from.name() && !allowed(rule, to) && !slices.Contains(testsMayImport, to) {
				t.Errorf("tests of %s may not import %s", from.name(), to)
			}
		}
	}
}

func TestPurePackagesStayPure(t *testing.T) {
	for _, from := range list(t) {
		if !slices.Contains(pure, from.name()) {
			continue
		}
		for _, to := range from.Imports {
			if to == "time" && slices.Contains(datesOnly, from.name()) {
				requireNoClock(t, from)
				continue
			}
			for _, bad := range impure {
				if to == bad || strings.HasPrefix(to, bad+"/") {
					t.Errorf("%s may not import %s: it is pure", from.name(), to)
				}
			}
		}
	}
}

func requireNoClock(t *testing.T, from source) {
	files, err := filepath.Glob(filepath.Join(from.Dir, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		if use := clocks.Find(data); use != nil && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s uses %s: it is pure", file, use)
		}
	}
}

// TestSQLIsWrittenInFewPackages: a statement of another package would pass by the transitions that
// records checks.
func TestSQLIsWrittenInFewPackages(t *testing.T) {
	for _, from := range list(t) {
		if slices.Contains(mayImport[from.name()], "records/sqlstore") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(from.Dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NotContains(t, string(data), ".SQL"+"()", file)
		}
	}
}

// TestDaemonHasNoTestCode checks that what only demos and tests use is not in the daemon's binary.
func TestDaemonHasNoTestCode(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./cmd/gatewayd").Output()
	require.NoError(t, err)
	for path := range strings.Lines(string(out)) {
		require.NotRegexp(t, `^gatewayd/(dev/demo|dev/drill|internal/testing/.*)\n|^testing\b|/testify\b|^net/http/httptest\b`, path)
	}
}

// TestRulesAreAcyclic: a table with a cycle would permit everything.
func TestRulesAreAcyclic(t *testing.T) {
	var visit func(name string, above []string)
	visit = func(name string, above []string) {
		require.NotContains(t, above, name)
		for _, next := range mayImport[name] {
			visit(next, append(above, name))
		}
	}
	for name := range mayImport {
		visit(name, nil)
	}
}
