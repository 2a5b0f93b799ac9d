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
	"chain":                     {},
	"chain/chaintest":           {"chain"},
	"chain/quorum":              {"chain"},
	"chain/ethereum":            {"chain", "chain/quorum", "chain/ethereum/contracts", "chain/ethereum/wire", "internal/tracing"},
	"chain/ethereum/contracts":  {},
	"chain/ethereum/wire":       {},
	"chain/ethereum/devnode":    {"chain/ethereum/contracts"},
	"internal/ethtest":          {"chain/ethereum/contracts", "chain/ethereum/devnode"},
	"internal/smalldisk":        {},
	"chain/vite":                {"chain", "chain/quorum", "vite/core", "vite/client"},
	"vite/core":                 {},
	"vite/dex":                  {"vite/core"},
	"vite/ledger":               {"vite/core", "vite/dex"},
	"vite/blocklog":             {"vite/core"},
	"vite/history":              {"vite/core", "vite/ledger"},
	"vite/node":                 {"vite/core", "vite/dex", "vite/ledger", "vite/blocklog", "vite/history"},
	"vite/rpc":                  {"vite/core", "vite/dex", "vite/ledger", "vite/node", "httpserver", "httpserver/jsonrpc"},
	"vite/client":               {"vite/core", "internal/tracing"},
	"internal/database":         {"internal/secretfile"},
	"policy":                    {"chain"},
	"records":                   {"chain", "policy", "records/sqlstore", "records/signguard", "internal/database"},
	"records/signguard":         {"chain", "internal/database", "records/sqlstore"},
	"records/sqlstore":          {"chain", "internal/database"},
	"records/balances":          {"chain", "records", "records/sqlstore"},
	"records/books":             {"chain", "policy", "records", "records/sqlstore"},
	"records/control":           {"chain", "records", "records/sqlstore"},
	"records/access":            {"records", "records/sqlstore"},
	"records/quotes":            {"chain", "records", "records/sqlstore"},
	"records/search":            {"chain", "records", "records/sqlstore"},
	"records/watch":             {"chain", "records", "records/sqlstore"},
	"gateway/view":              {"chain", "policy", "records", "records/sqlstore"},
	"records/recordstest":       {"chain", "gateway/view", "records", "records/access", "records/balances", "records/books", "records/quotes", "records/control", "records/search", "records/signguard", "records/watch"},
	"records/recordstest/seed":  {"chain", "records"},
	"transfers":                 {"chain", "policy", "records", "records/quotes"},
	"watcher":                   {"chain", "internal/tracing", "operator/status", "records", "records/books", "records/quotes", "records/control", "records/signguard", "transfers", "watcher/reconcile", "watcher/recovery"},
	"signer":                    {"chain", "records/signguard", "signer/checks", "signer/delegation", "vite/core"},
	"signer/limits":             {"chain", "policy"},
	"signer/approval":           {"chain", "policy", "internal/secretfile", "internal/passkey"},
	"signer/checks":             {"chain", "policy", "records/signguard", "signer/approval", "signer/blocklist", "signer/limits"},
	"signer/blocklist":          {"internal/secretfile"},
	"signer/delegation":         {"vite/core", "vite/dex"},
	"signer/remote":             {"chain", "httpserver/jsonrpc", "records/signguard", "signer", "signer/checks", "signer/delegation", "vite/core", "vite/dex"},
	"signer/cause":              {"chain", "policy", "records/signguard"},
	"watcher/reconcile":         {"chain", "operator/status", "records", "records/balances", "records/books", "records/control"},
	"watcher/recovery":          {"chain", "records", "records/signguard", "transfers"},
	"operator/status":           {"chain", "records", "records/control"},
	"gateway":                   {"chain", "gateway/view", "operator/status", "records", "records/quotes", "records/control", "httpserver", "httpserver/apidocs"},
	"admin":                     {"chain", "records"},
	"wallet":                    {"vite/core", "wallet/keystore"},
	"wallet/hsm":                {},
	"wallet/hsm/hsmtest":        {"wallet/hsm"},
	"wallet/keystore":           {"vite/core"},
	"wallet/rpc":                {"vite/core", "httpserver", "httpserver/jsonrpc", "internal/secretfile", "wallet", "wallet/keystore"},
	"exchangeapi":               {"vite/core", "vite/dex", "vite/client", "exchangeapi/apikey", "exchangeapi/index", "exchangeapi/rates", "httpserver", "httpserver/apidocs"},
	"exchangeapi/apikey":        {"vite/core", "internal/database"},
	"exchangeapi/rates":         {},
	"exchangeapi/index":         {"vite/core", "vite/dex", "vite/client", "exchangeapi/index/judge", "exchangeapi/index/notices", "exchangeapi/index/numbers", "exchangeapi/index/query", "exchangeapi/index/rolling", "internal/database"},
	"exchangeapi/index/judge":   {},
	"exchangeapi/index/notices": {"vite/core", "vite/client"},
	"exchangeapi/index/numbers": {"vite/dex"},
	"exchangeapi/index/query":   {},
	"exchangeapi/index/rolling": {"vite/dex"},
	"exchangeapi/ws":            {"exchangeapi/index", "httpserver"},
	"exchangeapi/client":        {},
	"web":                       {},
	"httpserver":                {"internal/tracing"},
	"httpserver/jsonrpc":        {},
	"httpserver/apidocs":        {},
	"internal/budget":           {},
	"internal/buildinfo":        {},
	"internal/passkey":          {},
	"internal/passkeytest":      {},
	"internal/secretfile":       {},
	"internal/tracing":          {},
	"config":                    {"chain", "chain/ethereum", "chain/vite", "exchangeapi", "exchangeapi/index", "exchangeapi/ws", "gateway", "httpserver", "operator/notify", "operator/status", "operator/traces", "records", "signer/approval", "signer/checks", "signer/limits", "signer/remote", "vite/core", "wallet", "wallet/hsm", "wallet/rpc", "watcher", "internal/passkey"},
	"vite/genesis":              {"chain", "vite/core", "vite/ledger"},
	"daemon":                    {"chain", "chain/ethereum", "config", "exchangeapi", "exchangeapi/apikey", "exchangeapi/rates", "exchangeapi/index", "exchangeapi/ws", "gateway", "httpserver", "internal/buildinfo", "internal/database", "internal/secretfile", "operator", "operator/console", "operator/metrics", "operator/notify", "operator/status", "operator/traces", "policy", "records", "records/control", "records/signguard", "records/watch", "signer", "signer/cause", "signer/checks", "signer/remote", "vite/client", "vite/core", "vite/genesis", "vite/ledger", "vite/node", "vite/rpc", "wallet", "wallet/rpc", "watcher", "web", "internal/passkey", "watcher/recovery"},
	"devnet":                    {"chain", "chain/ethereum", "chain/ethereum/contracts", "chain/ethereum/devnode", "chain/vite", "config", "daemon", "exchangeapi", "exchangeapi/rates", "gateway", "httpserver", "operator/console", "records", "records/access", "vite/client", "vite/core", "vite/dex", "vite/genesis", "vite/ledger", "vite/node", "wallet", "wallet/keystore", "watcher"},
	"devnet/faultynode":         {},
	"devnet/demo":               {"devnet", "exchangeapi/client", "internal/ethtest"},
	"devnet/custody":            {"chain", "chain/ethereum", "chain/ethereum/devnode", "config", "daemon", "devnet", "devnet/demo", "internal/ethtest", "records", "records/signguard", "signer/approval", "signer/blocklist", "signer/limits", "signer/remote", "transfers", "vite/node", "wallet"},
	"devnet/burst":              {"chain", "chain/ethereum/contracts", "devnet", "devnet/demo", "vite/client", "vite/core"},
	"devnet/drill":              {"chain/ethereum", "chain", "config", "daemon", "devnet", "devnet/demo", "devnet/faultynode", "internal/ethtest", "internal/smalldisk", "operator/status", "vite/client", "vite/core", "vite/ledger", "vite/node", "wallet", "wallet/keystore"},
	"operator":                  {"chain", "chain/vite", "config", "gateway", "operator/status", "gateway/view", "records", "records/control", "records/search", "records/signguard", "records/watch", "transfers", "vite/core", "watcher", "watcher/recovery", "signer/checks", "signer/remote"},
	"devnet/trader":             {"devnet", "exchangeapi/client", "vite/core", "vite/dex"},
	"devnet/demouser":           {"chain", "config", "daemon", "devnet", "devnet/trader", "exchangeapi/client", "vite/core", "vite/dex"},
	"devnet/exchangedemo":       {"chain", "devnet", "devnet/demo", "devnet/trader", "exchangeapi/client", "vite/core", "vite/dex"},
	"operator/audit":            {"chain", "config", "operator", "operator/status", "records", "records/balances", "records/books", "watcher/reconcile"},
	"operator/backup":           {"chain", "config", "exchangeapi/apikey", "exchangeapi/index", "internal/database", "operator/status", "records", "records/signguard", "vite/blocklog", "vite/ledger", "vite/node"},
	"operator/metrics":          {"chain", "chain/vite", "exchangeapi/index", "exchangeapi/ws", "httpserver", "operator/status", "records", "records/books", "records/control", "signer/checks"},
	"operator/move":             {"chain", "operator", "records", "records/books"},
	"operator/notify":           {"chain", "internal/secretfile", "operator/status", "records", "records/control"},
	"operator/overview":         {"chain", "operator", "operator/status", "records", "records/books", "records/control", "records/search", "signer/limits"},
	"operator/doctor":           {"chain", "chain/ethereum", "chain/vite", "config", "daemon", "exchangeapi", "exchangeapi/apikey", "exchangeapi/index", "exchangeapi/rates", "httpserver", "operator", "operator/status", "records", "records/books", "signer/remote", "vite/client", "vite/core"},
	"operator/traces":           {"internal/tracing"},
	"operator/console":          {"chain", "config", "httpserver", "internal/passkey", "operator", "operator/overview", "operator/status", "records", "records/access", "records/quotes", "records/control", "signer/approval", "signer/checks", "transfers", "watcher/recovery"},
	"operator/setup":            {"chain", "chain/ethereum", "chain/vite"},
	"cmd/gatewayd":              {"..."},
	"cmd/gatewaybench":          {"cmd/gatewaybench/bench", "cmd/gatewaybench/bridge", "cmd/gatewaybench/exchange"},
	"cmd/gatewaybench/bench":    {},
	"cmd/gatewaybench/bridge":   {"..."},
	"cmd/gatewaybench/exchange": {"..."},
	"scripts/mutate":            {},
	"scripts/reference":         {},
	"scripts/release":           {},
	"":                          {},
}

// testsMayImport are packages that exist for tests, and the exchange chain, on which the clients of
// it are tested. The tests of a package may import them besides what the package itself may.
var testsMayImport = []string{
	"chain/chaintest", "records/balances", "records/books", "records/control", "records/recordstest", "records/quotes", "records/recordstest/seed", "records/search", "records/watch", "signer", "wallet",
	"signer/approval", "signer/blocklist", "signer/checks", "signer/limits",
	"chain/ethereum/contracts", "chain/ethereum/devnode", "internal/budget", "internal/ethtest", "internal/passkey", "internal/passkeytest", "devnet/faultynode",
	"vite/core", "vite/client", "vite/dex", "vite/ledger", "vite/node", "vite/rpc",
}

// pure are packages whose results depend on their arguments alone.
var pure = []string{"policy", "exchangeapi/index/numbers", "exchangeapi/index/query", "exchangeapi/index/rolling", "vite/core", "vite/dex", "vite/ledger"}

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
