package gatewayd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mayImport says, for each package of this module, which others of it the package may import. What is not here is
// forbidden, so a new package needs a line. Nobody imports cmd, siblings do not import each other, and chain, the
// vocabulary, stands on nothing.
var mayImport = map[string][]string{
	"chain":                           {},
	"chain/chaintest":                 {"chain"},
	"chain/quorum":                    {"chain"},
	"chain/ethereum":                  {"chain", "chain/quorum", "chain/ethereum/contracts"},
	"chain/ethereum/contracts":        {},
	"chain/ethereum/devnode":          {"chain/ethereum/contracts"},
	"chain/ethereum/devnode/external": {"chain/ethereum/contracts", "chain/ethereum/devnode"},
	"chain/vite":                      {"chain", "chain/quorum", "chain/vite/core", "chain/vite/client"},
	"chain/vite/core":                 {},
	"chain/vite/dex":                  {"chain/vite/core"},
	"chain/vite/node":                 {"chain/vite/core", "chain/vite/dex"},
	"chain/vite/node/crowd":           {"chain/vite/core", "chain/vite/dex", "chain/vite/node"},
	"chain/vite/rpc":                  {"chain/vite/core", "chain/vite/dex", "chain/vite/node", "serve"},
	"chain/vite/client":               {"chain/vite/core"},
	"records":                         {"chain", "records/migrations", "secretfile"},
	"records/migrations":              {},
	"records/recordstest":             {"chain", "records"},
	"records/seed":                    {"chain", "records"},
	"watcher":                         {"chain", "operator/status", "records"},
	"operator/status":                 {"chain", "records"},
	"gateway":                         {"chain", "operator/status", "records", "serve"},
	"admin":                           {"chain", "records"},
	"wallet":                          {"chain/vite/core", "wallet/entropy"},
	"wallet/entropy":                  {"chain/vite/core"},
	"wallet/rpc":                      {"chain/vite/core", "secretfile", "wallet", "wallet/entropy"},
	"exchangeapi":                     {"chain/vite/core", "chain/vite/dex", "chain/vite/client", "exchangeapi/index", "serve"},
	"exchangeapi/index":               {"chain/vite/core", "chain/vite/dex", "chain/vite/client"},
	"exchangeapi/ws":                  {"exchangeapi/index", "serve"},
	"exchangeapi/client":              {},
	"web":                             {},
	"serve":                           {},
	"secretfile":                      {},
	"bench":                           {"..."},
	"bench/ladder":                    {},
	"cmd/gatewayd":                    {"..."},
	"scripts/mutate":                  {},
	"scripts/testsum":                 {},
	"":                                {},
}

// testsMayImport are packages that exist for tests, and the exchange chain, on which the clients of it are tested. The
// tests of a package may import them besides what the package itself may.
var testsMayImport = []string{
	"chain/chaintest", "records/recordstest", "records/seed",
	"chain/ethereum/contracts", "chain/ethereum/devnode", "chain/ethereum/devnode/external",
	"chain/vite/core", "chain/vite/client", "chain/vite/node", "chain/vite/rpc",
}

// pure are packages whose results depend on their arguments alone.
var pure = []string{"chain/vite/core", "chain/vite/dex"}

// impure are libraries that bring in a clock, chance, the machine, other goroutines, or a log. A name stands for what is
// below it, too.
var impure = []string{
	"context", "crypto/rand", "database/sql", "embed", "io/fs", "io/ioutil", "log", "math/rand", "net", "os", "path/filepath",
	"plugin", "runtime", "sync", "syscall", "testing", "time", "unique", "weak", "C",
	"github.com/sirupsen/logrus", "github.com/ethereum/go-ethereum", "golang.org/x/sync", "golang.org/x/time",
}

const module = "gatewayd"

// source is what go list tells about a package.
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
			for _, bad := range impure {
				if to == bad || strings.HasPrefix(to, bad+"/") {
					t.Errorf("%s may not import %s: it is pure", from.name(), to)
				}
			}
		}
	}
}

// TestRulesAreAcyclic: a table that allowed a circle would say nothing.
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
