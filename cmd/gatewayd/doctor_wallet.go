package main

import (
	"errors"
	"io/fs"
	"os"
)

// wallet checks that the daemon will get its keys: the store and the password's file are there, and the one opens with the other. Without a store only
// `gatewayd dev` can have run.
func (d *doctor) wallet(w world, ran bool) {
	const what = "wallet"
	cfg := d.cfg.Wallet
	switch {
	case cfg.Store == "" && ran:
		d.warn(false, what, "wallet.store is not set: a development world", "`gatewayd run` wants one")
		return
	case cfg.Store == "":
		d.add(false, what, "wallet.store is not set", "make one with `gatewayd wallet new` and name it")
		return
	}
	if _, err := os.Stat(cfg.Store); err != nil {
		d.add(false, what, plainFileFault(cfg.Store, err), "correct wallet.store, or make one with `gatewayd wallet new`; a bare name is looked for in the data directory's folder wallet")
		return
	}
	if cfg.PasswordFile == "" && cfg.PasswordEnv == "" {
		d.warn(false, what, cfg.Store+" is there; its password is asked for at each start", "with wallet.password_file or password_env the daemon starts by itself")
		return
	}
	if _, err := unlock(cfg, w); err != nil {
		d.add(false, what, cfg.Store+": "+err.Error(), "wallet.password_file or password_env must hold the password that the store was made with")
		return
	}
	d.add(true, what, cfg.Store+" unlocks", "")
}

// plainFileFault says for people why a file cannot be looked at.
func plainFileFault(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no file " + path
	}
	return err.Error()
}
