package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/internal/secretfile"
	"gatewayd/wallet"
	"gatewayd/wallet/hsm"
)

// unlock opens the configured store with the password from a file, an environment variable or the terminal.
func unlock(cfg config.Wallet, w streams) (*wallet.Keys, error) {
	if cfg.Store == "" {
		return nil, errors.New("wallet.store is not set; make one with `gatewayd wallet new`")
	}
	password, err := readPassword(passwordSource{cfg.PasswordFile, cfg.PasswordEnv, "wallet.password_file"}, w, "Password of "+cfg.Store+": ")
	if err != nil {
		return nil, err
	}
	keys, err := wallet.Unlock(cfg.Store, password)
	if err != nil {
		return nil, fmt.Errorf("unlocking the wallet: %w", err)
	}
	return keys, nil
}

// openKeys unlocks the store, and logs in to the hardware security module if that has some of the keys. Close them.
func openKeys(cfg config.Wallet, w streams) (keys daemon.Keys, close func(), err error) {
	store, err := unlock(cfg, w)
	if err != nil || !cfg.PKCS11.Enabled() {
		return store, func() {}, err
	}
	pin, err := readPassword(passwordSource{cfg.PKCS11.PINFile, cfg.PKCS11.PINEnv, "wallet.pkcs11.pin_file"}, w, "")
	if err != nil {
		return nil, nil, err
	}
	module, err := hsm.Open(cfg.PKCS11, pin, store)
	if err != nil {
		return nil, nil, fmt.Errorf("wallet.pkcs11: %w", err)
	}
	return moduleKeys{module, store}, func() { _ = module.Close() }, nil // the program ends
}

// moduleKeys are a module's keys, with deposit addresses of the store.
type moduleKeys struct {
	*hsm.Keys
	store *wallet.Keys
}

// DepositKey is the store's.
func (k moduleKeys) DepositKey(p wallet.SourcePaths) (wallet.DepositKey, error) {
	return k.store.DepositKey(p)
}

// passwordSource is where a password comes from; the terminal where it names neither file nor variable.
type passwordSource struct {
	file, env string
	fileKey   string // what a message calls file
}

func readPassword(from passwordSource, w streams, prompt string) (string, error) {
	switch {
	case from.file != "":
		text, err := secretfile.Read(from.file)
		if err != nil {
			return "", fmt.Errorf("%s: %w", from.fileKey, err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	case from.env != "":
		password := w.getenv(from.env)
		if password == "" {
			return "", fmt.Errorf("environment variable %s is empty", from.env)
		}
		return password, nil
	}
	return promptSecret(w, prompt)
}

// newPassword reads the password of a store to be written: from a terminal twice, because a slip would lock its owner out.
func newPassword(from passwordSource, w streams) (string, error) {
	password, err := readPassword(from, w, "New password: ")
	if err != nil {
		return "", err
	}
	if password == "" {
		return "", errors.New("an empty password protects nothing")
	}
	if _, ok := terminal(w); !ok || from.file != "" || from.env != "" {
		return password, nil
	}
	again, err := promptSecret(w, "The same again: ")
	if err != nil {
		return "", err
	}
	if again != password {
		return "", errors.New("the two passwords differ")
	}
	return password, nil
}

// terminal is standard input if somebody types there.
func terminal(w streams) (*os.File, bool) {
	f, ok := w.stdin.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// promptSecret reads a line without echo from a terminal, or a plain line from anything else.
func promptSecret(w streams, prompt string) (string, error) {
	fmt.Fprint(w.stderr, prompt)
	if f, ok := terminal(w); ok {
		line, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(w.stderr)
		return string(line), err
	}
	line, err := readLine(w.stdin)
	if err != nil {
		return "", fmt.Errorf("reading from standard input: %w", err)
	}
	return line, nil
}

// maxLine is more than any mnemonic or password has.
const maxLine = 4096

// readLine takes no byte more than the line, so that the next question finds its own.
func readLine(r io.Reader) (string, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < maxLine {
		n, err := r.Read(one)
		if n == 1 && one[0] == '\n' {
			break
		}
		line = append(line, one[:n]...)
		if errors.Is(err, io.EOF) && len(line) > 0 {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return strings.TrimRight(string(line), "\r"), nil
}

// walletCommands is one run of a wallet command.
type walletCommands struct {
	w        streams
	dir      string
	password passwordSource
	json     bool
}

func walletCommand(w streams) *cobra.Command {
	d := &walletCommands{w: w, password: passwordSource{fileKey: "--password-file"}}
	c := &cobra.Command{Use: "wallet", Short: "Make and use entropy stores: the encrypted files that hold keys"}
	f := c.PersistentFlags()
	f.StringVar(&d.dir, "dir", "data/wallet", "directory of stores")
	f.StringVar(&d.password.file, "password-file", "", "file with the store's password; without it the terminal is asked")
	f.StringVar(&d.password.env, "password-env", "", "environment variable with the store's password")
	f.BoolVar(&d.json, "json", false, "answer JSON")
	c.AddCommand(
		d.newCommand(), d.recoverCommand(), d.listCommand(), d.addressesCommand(), d.exportCommand(), d.passwdCommand(),
		d.importCommand(), d.signCommand(), d.serveCommand(),
	)
	return c
}

// open reads the directory of stores.
func (d *walletCommands) open() (*wallet.Manager, error) {
	return wallet.NewManager(wallet.Config{Dir: d.dir})
}
