package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/signer/approval"
	"gatewayd/signer/limits"
	"gatewayd/signer/remote"
	"gatewayd/wallet/hsm"
)

// TestKeysAreInOnePlace: a daemon that asks a signer names no keys, and nothing that only who has
// them can hold or serve.
func TestKeysAreInOnePlace(t *testing.T) {
	daemon := Config{Wallet: Wallet{Signer: "unix:/run/gatewayd-signer.sock"}}
	faults := func(c Config) string {
		var told []string
		c.checkSigner(func(what string, err error) {
			if err != nil {
				told = append(told, fmt.Sprintf("%s: %s", what, err))
			}
		})
		return strings.Join(told, "\n")
	}
	require.Empty(t, faults(daemon))
	require.Empty(t, faults(Config{}))
	written := daemon // as a file reads that was written with all its keys
	written.Signer.Limits.Tokens, written.Signer.Approvals.Needed = []limits.Token{}, 1
	require.Empty(t, faults(written))
	for rule, change := range map[string]func(*Config){
		"wallet.store: the signer has the keys":         func(c *Config) { c.Wallet.Store = "data/wallet/store" },
		"wallet.password_file: the signer has the keys": func(c *Config) { c.Wallet.PasswordFile = "/etc/gatewayd/password" },
		"wallet.password_env: the signer has the keys":  func(c *Config) { c.Wallet.PasswordEnv = "PASSWORD" },
		"wallet.pkcs11: ":               func(c *Config) { c.Wallet.PKCS11 = hsm.Config{Module: "/lib/m.so"} },
		"wallet.rpc: the signer serves": func(c *Config) { c.Wallet.RPC.IPC = "data/wallet.ipc" },
		"signer.listen: ":               func(c *Config) { c.Signer.Place = remote.Config{Listen: "unix:/run/other.sock"} },
		"signer: limits, approvals and block_list belong in the signer's configuration": func(c *Config) {
			c.Signer.Approvals.Approvers = []approval.Approver{{Name: "anna"}}
		},
		"wallet: ": func(c *Config) { c.Wallet.Signer = "http://signer" },
	} {
		c := daemon
		change(&c)
		require.Contains(t, faults(c), rule)
	}
	signer := Config{Signer: Signer{Place: remote.Config{Listen: "unix:/run/gatewayd-signer.sock"}, Guard: "postgres://signer@guard/guard"}}
	require.Empty(t, faults(signer))
	require.Contains(t, faults(Config{Signer: Signer{Guard: signer.Signer.Guard}}), "signer.guard: only allowed in the configuration of `gatewayd signer`")
	require.Contains(t, faults(Config{Signer: Signer{Metrics: "127.0.0.1:8071"}}), "signer.metrics: only allowed in the configuration of `gatewayd signer`")
	signer.Signer.Metrics = "8071"
	require.Contains(t, faults(signer), `signer.metrics: "8071": must be host:port`)
	signer.Database.URL = signer.Signer.Guard
	require.Contains(t, faults(signer), "signer.guard: must not be database.url")
	signer.Signer.Guard = "sqlite:guard.db"
	require.Contains(t, faults(signer), "signer.guard: must be postgres://")
	require.Contains(t, faults(Config{Wallet: Wallet{SignerTLS: remote.TLS{Cert: "a"}}}), "wallet.signer_tls: only allowed with wallet.signer")
}
