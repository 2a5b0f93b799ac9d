package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"gatewayd/wallet"
	"gatewayd/wallet/entropy"
)

// unlock opens the configured store with the password from a file, an environment variable or the terminal.
func unlock(cfg WalletConfig, w world) (*wallet.Keys, error) {
	if cfg.Store == "" {
		return nil, errors.New("wallet.store is not set; make one with `gatewayd wallet new`")
	}
	password, err := readPassword(cfg, w, "Password of "+cfg.Store+": ")
	if err != nil {
		return nil, err
	}
	keys, err := wallet.Unlock(cfg.Store, password)
	if err != nil {
		return nil, fmt.Errorf("unlocking the wallet: %w", err)
	}
	return keys, nil
}

func readPassword(cfg WalletConfig, w world, prompt string) (string, error) {
	switch {
	case cfg.PasswordFile != "":
		text, err := os.ReadFile(cfg.PasswordFile)
		if err != nil {
			return "", fmt.Errorf("reading the password file: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	case cfg.PasswordEnv != "":
		password := w.getenv(cfg.PasswordEnv)
		if password == "" {
			return "", fmt.Errorf("environment variable %s is empty", cfg.PasswordEnv)
		}
		return password, nil
	}
	return promptSecret(w, prompt)
}

// promptSecret reads a line without echo from a terminal, or a plain line from anything else.
func promptSecret(w world, prompt string) (string, error) {
	fmt.Fprint(w.stderr, prompt)
	if f, ok := w.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		line, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(w.stderr)
		return string(line), err
	}
	line, err := bufio.NewReader(io.LimitReader(w.stdin, 4096)).ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("reading from standard input: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func walletCommand(w world) *cobra.Command {
	c := &cobra.Command{Use: "wallet", Short: "Make the entropy store that holds the daemon's keys"}
	c.AddCommand(
		storeCommand(w, "new", "Make a store with fresh keys and print its mnemonic once", func(world) ([]byte, error) { return entropy.NewEntropy(), nil }),
		storeCommand(w, "recover", "Make a store from a mnemonic read from standard input", readMnemonic),
	)
	return c
}

// storeCommand makes a store of the entropy that source gives.
func storeCommand(w world, use, about string, source func(world) ([]byte, error)) *cobra.Command {
	var dir string
	var password WalletConfig
	c := &cobra.Command{
		Use: use, Short: about, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			secret, err := source(w)
			if err != nil {
				return err
			}
			pass, err := readPassword(password, w, "New password: ")
			if err != nil {
				return err
			}
			path, address, err := makeStore(dir, secret, pass)
			if err != nil {
				return err
			}
			if use == "new" {
				words, err := entropy.Mnemonic(secret)
				if err != nil {
					return err
				}
				fmt.Fprintf(w.stdout, "Mnemonic, shown only now; write it down: %s\n", words)
			}
			fmt.Fprintf(w.stdout, "Store: %s\nPrimary address: %s\nSet wallet.store to the store's path in the configuration.\n", path, address)
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "data/wallet", "directory of stores")
	c.Flags().StringVar(&password.PasswordFile, "password-file", "", "file with the password; without it the terminal is asked")
	return c
}

func readMnemonic(w world) ([]byte, error) {
	text, err := promptSecret(w, "Mnemonic: ")
	if err != nil {
		return nil, err
	}
	return entropy.ParseMnemonic(text)
}

func makeStore(dir string, secret []byte, password string) (path, address string, err error) {
	d, err := entropy.OpenDir(dir)
	if err != nil {
		return "", "", err
	}
	store, err := entropy.Seal(secret, password, entropy.StandardCost(), time.Now())
	if err != nil {
		return "", "", err
	}
	path, err = d.Create(store)
	return path, store.PrimaryAddress().String(), err
}
