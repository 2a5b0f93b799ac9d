package config

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/signer/checks"
	"gatewayd/signer/remote"
)

// Signs reports whether the configuration is that of `gatewayd signer`.
func (c Config) Signs() bool { return c.Signer.Place.Listen != "" }

// Remote reports whether another process signs.
func (w Wallet) Remote() bool { return w.Signer != "" }

// Target returns the signer's address.
func (w Wallet) Target() remote.Target { return remote.Target{URL: w.Signer, TLS: w.SignerTLS} }

// checkSigner refuses keys of a daemon with a separate signer, and services that need keys in the
// daemon.
func (c Config) checkSigner(add func(what string, err error)) {
	add("signer", c.Signer.Place.Check())
	add("signer.guard", c.checkGuard())
	add("signer.metrics", c.checkSignerMetrics())
	if !c.Wallet.Remote() {
		if c.Wallet.SignerTLS != (remote.TLS{}) {
			add("wallet.signer_tls", errors.New("only allowed with wallet.signer"))
		}
		return
	}
	add("wallet", c.Wallet.Target().Check())
	const theirs = "the signer has the keys: set this in its configuration"
	for _, f := range []struct {
		set      bool
		key, why string
	}{
		{c.Wallet.Store != "", "wallet.store", theirs + ", not with wallet.signer"},
		{c.Wallet.PasswordFile != "", "wallet.password_file", theirs + ", not with wallet.signer"},
		{c.Wallet.PasswordEnv != "", "wallet.password_env", theirs + ", not with wallet.signer"},
		{len(c.Wallet.Successors) > 0, "wallet.successors", theirs},
		{c.Wallet.PKCS11.Enabled(), "wallet.pkcs11", "the signer has the keys: set the module in its configuration"},
		{c.Wallet.RPC.Enabled(), "wallet.rpc", "the signer serves it: set it in its configuration"},
		{c.Signer.Config.Holds(), "signer", "limits, approvals and block_list belong in the signer's configuration"},
		{c.Signs(), "signer.listen", "only allowed in the configuration of `gatewayd signer`"},
	} {
		if f.set {
			add(f.key, errors.New(f.why))
		}
	}
}

// checkGuard requires a separate server for a sign-guard that is not a file: on the records'
// server, it would be restored with them.
func (c Config) checkGuard() error {
	url := c.Signer.Guard
	switch {
	case url == "":
		return nil
	case !c.Signs():
		return errors.New("only allowed in the configuration of `gatewayd signer`: a daemon with its own keys stores the sign-guard in its data directory")
	case !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://"):
		return errors.New("must be postgres://user@host/name, or empty for a file in the data directory")
	case url == c.Database.URL:
		return errors.New("must not be database.url: the sign-guard needs its own server, or it would be restored together with the records")
	}
	return nil
}

// checkSignerMetrics requires an address, of `gatewayd signer`.
func (c Config) checkSignerMetrics() error {
	address := c.Signer.Metrics
	if address == "" {
		return nil
	}
	if !c.Signs() {
		return errors.New("only allowed in the configuration of `gatewayd signer`: a daemon's metrics are at operators.listen")
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%q: must be host:port", address)
	}
	return nil
}

// Rules returns the signing rules of the chain, without asking a node.
func (c Chain) Rules() (chain.Rules, error) {
	switch s := c.Settings.(type) {
	case ethereum.Config:
		return ethereum.NewSigningRules(s.Signing())
	case bitcoin.Config:
		return bitcoin.NewSigningRules(s), nil
	case vite.Config:
		return vite.NewSigningRules(s.Signing()), nil
	}
	return nil, fmt.Errorf("chain %s: a separate signer does not support chains of kind %s", c.ID, c.Kind)
}

// Signer is the signer's section: the checks of payments, and the address of `gatewayd signer` for
// the daemon. A daemon whose wallet names no signer signs itself.
type Signer struct {
	checks.Config `yaml:",inline"`
	Place         remote.Config `yaml:",inline"`
	// Guard is the PostgreSQL database of the sign-guard, which several signers share; empty: it is
	// a file with the signer's data.
	Guard string `yaml:"guard"`
	// Metrics is the host:port of /metrics, /health and /ready over plain HTTP; empty: there is none.
	// It shows counts and durations of calls.
	Metrics string `yaml:"metrics"`
}
