// Package hsm keeps keys of a source chain in a hardware security module that is reached by
// PKCS#11: it signs, and gives no key away. The program has it when it is built with the tag
// pkcs11, which wants a dynamic loader (docs/operations/keys.md, "Hardware security module").
package hsm

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Config selects the keys of a module. It names the PIN's file or variable, and never contains the
// PIN.
type Config struct {
	Module  string            `yaml:"module"` // path of the module's shared library
	Token   string            `yaml:"token"`  // label of the token
	PINFile string            `yaml:"pin_file"`
	PINEnv  string            `yaml:"pin_env"`
	Keys    map[string]string `yaml:"keys"` // derivation path that the gateway asks for to label of the key pair in the module
}

// sourcePrefix begins the paths of keys on secp256k1.
const sourcePrefix = "m/44'/60'/"

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	switch {
	case c.Module == "" && c.Token == "" && c.PINFile == "" && c.PINEnv == "" && len(c.Keys) == 0:
		return nil
	case c.Module == "":
		return errors.New("module: must be the path of the module's library")
	case c.Token == "":
		return errors.New("token: must be the label of a token")
	case (c.PINFile == "") == (c.PINEnv == ""):
		return errors.New("pin_file: exactly one of pin_file and pin_env is required")
	case len(c.Keys) == 0:
		return errors.New("keys: must have a derivation path with the label of its key")
	}
	for path, label := range c.Keys {
		if !strings.HasPrefix(path, sourcePrefix) {
			return fmt.Errorf("keys: %q: must be a path that begins with %s: modules sign for EVM chains only, and keys of Bitcoin and Litecoin stay in the store", path, sourcePrefix)
		}
		if label == "" {
			return fmt.Errorf("keys: %q: must be the label of a key pair", path)
		}
	}
	return nil
}

// Enabled reports whether any key is in a module.
func (c Config) Enabled() bool { return c.Module != "" }

// Software are the keys that are in no module.
type Software interface {
	Address(path string) (string, error)
	Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error)
}

// ErrModule means that a module cannot be used; its text contains the reason.
var ErrModule = errors.New("PKCS#11")
