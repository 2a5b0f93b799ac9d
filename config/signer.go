package config

import (
	"errors"
	"fmt"
	"strings"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
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
	if !c.Wallet.Remote() {
		if c.Wallet.SignerTLS != (remote.TLS{}) {
			add("wallet.signer_tls", errors.New("stands beside wallet.signer only"))
		}
		return
	}
	add("wallet", c.Wallet.Target().Check())
	const theirs = "the keys are the signer's: name them in its configuration"
	for _, f := range []struct {
		set      bool
		key, why string
	}{
		{c.Wallet.Store != "", "wallet.store", theirs + ", not beside wallet.signer"},
		{c.Wallet.PasswordFile != "", "wallet.password_file", theirs + ", not beside wallet.signer"},
		{c.Wallet.PasswordEnv != "", "wallet.password_env", theirs + ", not beside wallet.signer"},
		{len(c.Wallet.Successors) > 0, "wallet.successors", theirs},
		{c.Wallet.PKCS11.Enabled(), "wallet.pkcs11", "the keys are the signer's: name the module in its configuration"},
		{c.Wallet.RPC.Enabled(), "wallet.rpc", "the signer serves it: name it in its configuration"},
		{c.Signer.Config.Holds(), "signer", "limits, approvals and block_list hold where the keys are: name them in the signer's configuration"},
		{c.Signs(), "signer.listen", "is for the configuration of `gatewayd signer`, not of a daemon that asks one"},
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
		return errors.New("is for the configuration of `gatewayd signer`: a daemon that signs by itself keeps the sign-guard in its data directory")
	case !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://"):
		return errors.New("must be postgres://user@host/name, or empty for a file in the data directory")
	case url == c.Database.URL:
		return errors.New("is database.url: the sign-guard wants a server of its own, or what restores the records restores it with them")
	}
	return nil
}

// Rules returns the signing rules of the chain, without asking a node.
func (c Chain) Rules() (chain.Rules, error) {
	switch s := c.Settings.(type) {
	case ethereum.Config:
		return ethereum.NewSigningRules(s.Signing())
	case vite.Config:
		return vite.NewSigningRules(s.Signing()), nil
	}
	return nil, fmt.Errorf("chain %s: nothing is signed for a chain of kind %s in a process of its own", c.ID, c.Kind)
}
