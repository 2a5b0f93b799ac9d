package backup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gatewayd/config"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/vite/node"
)

// kind selects how a part is copied, checked and restored.
type kind int

const (
	plain    kind = iota
	derived       // a database that follows from a chain: it may be missing on either side
	stored        // a database that follows from nothing else
	guarded       // the sign-guard
	chainLog      // the log of the embedded exchange chain
)

// part is one file of a gateway.
type part struct {
	name   string // in a backup
	kind   kind
	schema func() database.Schema // of databases
	path   string                 // where the configuration has it
	server string                 // of a sign-guard: the address of its database; path is then the file of its export
}

func noSchema() database.Schema { return database.Schema{} }

// known lists all parts, in the order of copying. Each may be newer than those before it and not
// older. The sign-guard contains every signature of the records, the exchange chain every block
// that records and index have followed. In the other order a restore would look like a fork, or
// like a lost signature.
func known() []part {
	list := []part{
		{name: recordsName, kind: stored, schema: records.Schema},
		{name: guardName, kind: guarded, schema: noSchema},
		{name: indexName, kind: derived, schema: index.Schema},
		{name: testName, kind: derived, schema: index.Schema},
		{name: keysName, kind: stored, schema: apikey.Schema},
		{name: logName, kind: chainLog},
		{name: genesisName, kind: plain},
		{name: configName, kind: plain},
	}
	for i := range config.MaxIncluded {
		list = append(list, part{name: includedName(i), kind: plain})
	}
	return list
}

// includedName is the name of a file that the configuration includes, by its place in the list.
func includedName(i int) string { return fmt.Sprintf("included/%d.yaml", i+1) }

// ofConfig reports whether a part is a file of the configuration.
func (p part) ofConfig() bool { return p.name == configName || strings.HasPrefix(p.name, "included/") }

func find(name string) (part, bool) {
	all := known()
	i := slices.IndexFunc(all, func(p part) bool { return p.name == name })
	if i < 0 {
		return part{}, false
	}
	return all[i], true
}

func (k kind) database() bool { return k == derived || k == stored || k == guarded }

// parts are the files of a configuration, and what is on a server instead, by the keys that name
// it.
func parts(cfg config.Config) (list []part, servers []string) {
	paths := map[string]string{configName: cfg.Path}
	for i, path := range cfg.Included {
		paths[includedName(i)] = path
	}
	if cfg.Signs() {
		paths[guardName] = filepath.Join(cfg.Data, "guard.db")
		list = listed(paths)
		list[0].server = cfg.Signer.Guard // it is the first
		return list, nil
	}
	add := func(name, key, url string) {
		path, file := database.Path(url)
		if !file {
			servers = append(servers, key)
			return
		}
		for _, other := range paths {
			if filepath.Clean(other) == filepath.Clean(path) { // one database of several owners
				return
			}
		}
		paths[name] = path
	}
	if len(cfg.Networks) > 0 {
		add(recordsName, "database.url", cfg.Database.URL)
		if !cfg.Wallet.Remote() {
			paths[guardName] = filepath.Join(cfg.Data, "guard.db")
		}
	}
	if x := cfg.Exchange; x != nil {
		add(indexName, "exchange.index.url", x.Index.URL)
		if x.Test != nil {
			add(testName, "exchange.test.index.url", x.Test.Index.URL)
		}
		add(keysName, "exchange.keys", x.Keys)
	}
	if e := cfg.Embedded; e != nil {
		paths[logName], paths[genesisName] = filepath.Join(e.Dir, node.LogName), e.Genesis
	}
	return listed(paths), servers
}

// listed are the parts that have a place, in order.
func listed(paths map[string]string) (list []part) {
	for _, p := range known() {
		if p.path = paths[p.name]; p.path != "" {
			list = append(list, p)
		}
	}
	return list
}

// absent lists the data that a backup of a configuration lacks, with the reasons.
func absent(cfg config.Config, servers []string) (list []Absent) {
	add := func(why string, what ...string) {
		for _, w := range what {
			if w != "" {
				list = append(list, Absent{w, why})
			}
		}
	}
	const secret = "keys and secrets are never in a backup: keep them separately"
	if cfg.Wallet.Remote() {
		add("it belongs to the signer: run `gatewayd signer backup` on its machine after this", "sign-guard")
	}
	if cfg.Wallet.Store != "" {
		add(secret, "wallet.store "+cfg.Wallet.Store)
	}
	if f := cfg.Wallet.PasswordFile; f != "" {
		add(secret, "wallet.password_file "+f)
	}
	for _, s := range cfg.Wallet.Successors {
		add(secret, "wallet.successors "+s.Store)
	}
	if x := cfg.Exchange; x != nil && x.SecretEnv == "" && !cfg.Signs() {
		add(secret, "exchange.secret_file "+x.SecretFile)
	}
	for _, key := range servers {
		add("it is on a PostgreSQL server: back it up there, before this", key)
	}
	return list
}

// needs is true for a part that a restore cannot do without.
func (p part) needs() bool { return p.kind == guarded || p.kind == chainLog || p.name == recordsName }

func (p part) String() string { return fmt.Sprintf("%s (%s)", p.name, p.place()) }

// place names where a part is, without a password.
func (p part) place() string {
	if p.server == "" {
		return p.path
	}
	return "signer.guard " + config.PlainURL(p.server)
}
