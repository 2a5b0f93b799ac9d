package config

import (
	"cmp"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/signer/remote"
	"gatewayd/wallet/hsm"
	"gatewayd/wallet/rpc"
)

// Check refuses listeners that other machines can reach, unless the section permits it: the
// development methods are for this machine only.
func (c Embedded) Check() error {
	for name, address := range map[string]string{"listen": c.Listen, "ws": c.WS} {
		if address != "" && !c.Public && !OnThisMachine(address) {
			return fmt.Errorf("%s %s: other machines could reach it; set `public: true` (chain run --public), which offers only the methods of a real node's public port",
				name, address)
		}
	}
	return nil
}

// OnThisMachine reports whether only this machine reaches a listener at an address.
func OnThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// Embedded runs an exchange chain of our own in this process instead of following real nodes.
type Embedded struct {
	Dir     string `yaml:"dir"`     // where the chain is kept
	Listen  string `yaml:"listen"`  // address of its JSON-RPC
	WS      string `yaml:"ws"`      // address of the same over WebSocket; the system chooses a port unless one is given
	Genesis string `yaml:"genesis"` // JSON file; see docs/genesis.md
	// answer only what the public port of a real node answers; without it other machines must not
	// reach listen and ws
	Public bool `yaml:"public"`
}

// WalletRPC serves the stores other than the daemon's own to node tools. Nothing is served unless
// an address is given.
type WalletRPC struct {
	rpc.Config `yaml:",inline"`
	AutoLock   time.Duration `yaml:"auto_lock"` // see wallet.Config
}

// Wallet names the entropy store with the daemon's keys and the source of its password, or the
// signer process that has the keys.
type Wallet struct {
	Signer    string     `yaml:"signer"`     // unix:/path of its socket, or https://host:port, several with commas between; then there is no store here
	SignerTLS remote.TLS `yaml:"signer_tls"` // of https

	Store        string `yaml:"store"`
	PasswordFile string `yaml:"password_file"`
	PasswordEnv  string `yaml:"password_env"`

	Successors []Successor `yaml:"successors"` // later seeds, oldest first: the last one's addresses are given to new users

	PKCS11 hsm.Config `yaml:"pkcs11"` // keys of source chains that are in a hardware security module, not in the store

	RPC WalletRPC `yaml:"rpc"` // JSON-RPC of the stores in the same directory; off unless an address is given
}

// Successor names the entropy store of a later seed, and the paying accounts whose keys are its.
type Successor struct {
	Store        string   `yaml:"store"`
	PasswordFile string   `yaml:"password_file"`
	PasswordEnv  string   `yaml:"password_env"`
	Accounts     []string `yaml:"accounts"` // derivation paths
}

// checkSuccessors refuses repeated seeds, and passwords that a person would have to type: they are
// read while the program runs.
func (w Wallet) checkSuccessors() error {
	stores, paths := map[string]bool{w.Store: true}, map[string]bool{}
	for i, s := range w.Successors {
		switch {
		case s.Store == "" || stores[s.Store]:
			return fmt.Errorf("%d: store %q is empty or listed twice", i+1, s.Store)
		case (s.PasswordFile == "") == (s.PasswordEnv == ""):
			return fmt.Errorf("%d: either password_file or password_env is required", i+1)
		}
		stores[s.Store] = true
		for _, path := range s.Accounts {
			if !strings.HasPrefix(path, "m/") || paths[path] {
				return fmt.Errorf("%d: accounts: %q is not a derivation path, or is listed twice", i+1, path)
			}
			paths[path] = true
		}
	}
	return nil
}

// storeIn is a store's file: a name alone is one in the data directory.
func storeIn(data, store string) string {
	if store == "" || filepath.IsAbs(store) || strings.ContainsRune(store, filepath.Separator) {
		return store
	}
	return filepath.Join(data, "wallet", store)
}

// Log sets the level and the form of the log: text for people, json for programs.
type Log struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// Check refuses levels and formats that do not exist.
func (l Log) Check() error {
	if _, err := logrus.ParseLevel(l.LevelOrInfo()); err != nil {
		return fmt.Errorf("level %q: must be error, warn, info or debug", l.Level)
	}
	if l.Format != "" && l.Format != "text" && l.Format != "json" {
		return fmt.Errorf("format %q: must be text or json", l.Format)
	}
	return nil
}

// LevelOrInfo returns the level, info by default.
func (l Log) LevelOrInfo() string { return cmp.Or(l.Level, "info") }
