package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/internal/secretfile"
	"gatewayd/operator"
	"gatewayd/vite/core"
	"gatewayd/wallet"
	"gatewayd/wallet/hsm"
	"gatewayd/wallet/keystore"
)

// unlock opens the configured store with the password from a file, an environment variable or the
// terminal.
func unlock(cfg config.Wallet, w streams) (*wallet.Keys, error) {
	if cfg.Store == "" {
		return nil, errors.New("wallet.store is not set; create one with `gatewayd wallet new`")
	}
	return unlockStore(cfg.Store, passwordSource{cfg.PasswordFile, cfg.PasswordEnv, "wallet.password_file"}, w)
}

func unlockStore(store string, from passwordSource, w streams) (*wallet.Keys, error) {
	password, err := readPassword(from, w, "Password of "+store+": ")
	if err != nil {
		return nil, err
	}
	keys, err := wallet.Unlock(store, password)
	if err != nil {
		return nil, fmt.Errorf("unlocking the wallet: %w", wrongPassword(err, store))
	}
	return keys, nil
}

// passwordError means that a password does not open a store: the store's own text is for the
// wallet's JSON-RPC.
type passwordError struct{ store string }

func (e passwordError) Error() string { return "the password does not open " + e.store }
func (e passwordError) Unwrap() error { return keystore.ErrPassword }

func wrongPassword(err error, store string) error {
	if errors.Is(err, keystore.ErrPassword) {
		return passwordError{store}
	}
	return err
}

// openKeys unlocks the store and its successors, and logs in to the hardware security module if
// that has some of the keys. Close them.
func openKeys(cfg config.Wallet, w streams) (keys daemon.Keys, close func(), err error) {
	first, closeFirst, err := openFirst(cfg, w)
	if err != nil {
		return nil, nil, err
	}
	ring := &keyRing{Ring: wallet.NewRing(first), w: w}
	if err := ring.TakeSuccessors(cfg); err != nil {
		closeFirst()
		return nil, nil, err
	}
	return ring, closeFirst, nil
}

// keyRing unlocks successors while it is used.
type keyRing struct {
	*wallet.Ring
	w      streams
	stores []string // of the successors, as unlocked
	seeds  []wallet.Successor
}

// TakeSuccessors unlocks new stores. Existing ones stay: their addresses belong to users. A fault
// changes nothing.
func (k *keyRing) TakeSuccessors(cfg config.Wallet) error {
	if len(cfg.Successors) < len(k.stores) {
		return fmt.Errorf("wallet.successors: %w", wallet.ErrSuccessors)
	}
	stores, seeds := slices.Clone(k.stores), slices.Clone(k.seeds)
	for i, s := range cfg.Successors {
		switch {
		case i >= len(stores):
			keys, err := unlockStore(s.Store, passwordSource{s.PasswordFile, s.PasswordEnv, "wallet.successors: password_file"}, k.w)
			if err != nil {
				return err
			}
			stores, seeds = append(stores, s.Store), append(seeds, wallet.Successor{Keys: keys, Accounts: s.Accounts})
		case stores[i] != s.Store:
			return fmt.Errorf("wallet.successors: %w", wallet.ErrSuccessors)
		default:
			seeds[i].Accounts = s.Accounts
		}
	}
	k.stores, k.seeds = stores, seeds
	k.Take(seeds)
	return nil
}

func openFirst(cfg config.Wallet, w streams) (keys daemon.Keys, close func(), err error) {
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

// AccountKey is the store's.
func (k moduleKeys) AccountKey(path string) (keystore.ExtendedPublicKey, error) {
	return k.store.AccountKey(path)
}

// passwordSource is the source of a password; the terminal where it names neither file nor
// variable.
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

// newPassword reads the password of a store to be written: from a terminal twice, because a slip
// would lock its owner out.
func newPassword(from passwordSource, w streams) (string, error) {
	password, err := readPassword(from, w, "New password: ")
	if err != nil {
		return "", err
	}
	if password == "" {
		return "", errors.New("the password must not be empty")
	}
	if _, ok := terminal(w); !ok || from.file != "" || from.env != "" {
		return password, nil
	}
	again, err := promptSecret(w, "Repeat the password: ")
	if err != nil {
		return "", err
	}
	if again != password {
		return "", errors.New("the two passwords differ")
	}
	return password, nil
}

// terminal returns standard input if it is a terminal.
func terminal(w streams) (*os.File, bool) {
	f, ok := w.stdin.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// promptSecret reads a line without echo from a terminal, or a plain line from anything else.
func promptSecret(w streams, prompt string) (string, error) {
	fmt.Fprint(w.stderr, prompt)
	if f, ok := terminal(w); ok {
		return promptTerminal(w, int(f.Fd()))
	}
	line, err := w.readLine()
	if err != nil {
		return "", fmt.Errorf("reading from standard input: %w", err)
	}
	return line, nil
}

// promptTerminal gives the terminal its echo back when it is interrupted.
func promptTerminal(w streams, terminal int) (string, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return "", fmt.Errorf("the terminal: %w", err)
	}
	line, err := w.answer(func() (string, error) {
		line, err := term.ReadPassword(terminal)
		return string(line), err
	})
	fmt.Fprintln(w.stderr)
	if errors.Is(err, errInterrupted) {
		err = errors.Join(err, term.Restore(terminal, before))
	}
	return line, err
}

// readLine is the next line of standard input.
func (w streams) readLine() (string, error) {
	return w.answer(func() (string, error) { return readLine(w.stdin) })
}

// answer waits for what a person types, or for the signal that ends the program: nothing else ends
// a read.
func (w streams) answer(read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1) // so that the read ends without a reader
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-w.interrupted:
		return "", errInterrupted
	}
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
	c := &cobra.Command{Use: "wallet", Short: "Create and use entropy stores: encrypted files with keys"}
	f := c.PersistentFlags()
	f.StringVar(&d.dir, "dir", "data/wallet", "directory of stores")
	f.StringVar(&d.password.file, "password-file", "", "file with the store's password; default: ask on the terminal")
	f.StringVar(&d.password.env, "password-env", "", "environment variable with the store's password")
	f.BoolVar(&d.json, "json", false, "print JSON")
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

// signedText is a text with the proof that an account's key signed it.
type signedText struct {
	Address   string `json:"address"`
	PublicKey string `json:"publicKey"` // hexadecimal
	Signature string `json:"signature"`
}

func (d *walletCommands) signCommand() *cobra.Command {
	var text string
	var index uint32
	c := &cobra.Command{
		Use: "sign STORE --text TEXT", Short: "Sign a text with the key of a store's account, as a proof for a service", Args: cobra.ExactArgs(1),
		Long:    "Sign a text with the key of a store's account, for a service that requires such a proof. Read the text first: the signature can be shown to others.",
		Example: "  gatewayd wallet sign vite_... --text vite_..._1614571200\n  gatewayd wallet sign vite_... --text 'I am the owner' --index 3 --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkSignable(text); err != nil {
				return err
			}
			m, err := d.unlock(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer m.LockAll()
			account, err := m.Derive(args[0], index)
			if err != nil {
				return err
			}
			public := account.Key.Public()
			out := signedText{account.Key.Address().String(), hex.EncodeToString(public[:]), hex.EncodeToString(account.Key.Sign([]byte(text)))}
			if d.json {
				return printJSON(d.w.stdout, out)
			}
			_, err = fmt.Fprintf(d.w.stdout, "Address: %s\nPublic key: %s\nSignature: %s\n", out.Address, out.PublicKey, out.Signature)
			return err
		},
	}
	c.Flags().StringVar(&text, "text", "", "text to sign: printable ASCII characters")
	c.Flags().Uint32Var(&index, "index", 0, "which account of the store")
	return c
}

// maxSigned is longer than any text that a service asks for.
const maxSigned = 1024

// checkSignable refuses what could be more than a text: whoever signs the 32 bytes of a block's
// hash has signed the block.
func checkSignable(text string) error {
	switch {
	case text == "" || len(text) > maxSigned:
		return operator.Usagef("--text: must have 1 to %d characters", maxSigned)
	case len(text) == core.HashSize:
		return operator.Usagef("--text: must not have %d characters, the length of a block hash, whose signature moves funds", core.HashSize)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }):
		return operator.Usagef("--text: must contain only printable ASCII characters")
	}
	return nil
}
