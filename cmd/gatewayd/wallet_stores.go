package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/operator"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// storeInfo describes a store to people and programs. Mnemonic is there only for a store that was
// made just now.
type storeInfo struct {
	Mnemonic string    `json:"mnemonic,omitempty"`
	Primary  string    `json:"primaryAddress"`
	Path     string    `json:"path"`
	Created  time.Time `json:"created,omitzero"`
}

func (d *walletCommands) newCommand() *cobra.Command {
	return &cobra.Command{
		Use: "new", Short: "Create a store of 24 new words and print them once", Args: cobra.NoArgs,
		Example: "  gatewayd wallet new\n  gatewayd wallet new --dir /var/lib/gatewayd/wallet --password-file /etc/gatewayd/password",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.makeStore(func(m *wallet.Manager, password string) (wallet.Created, error) {
				return m.Create(cmd.Context(), password)
			}, true)
		},
	}
}

func (d *walletCommands) recoverCommand() *cobra.Command {
	return &cobra.Command{
		Use: "recover", Short: "Create a store from existing words", Args: cobra.NoArgs,
		Example: "  gatewayd wallet recover\n  gatewayd wallet recover --dir /var/lib/gatewayd/wallet",
		RunE: func(cmd *cobra.Command, _ []string) error {
			words, err := promptSecret(d.w, "Mnemonic: ")
			if err != nil {
				return err
			}
			if _, err := keystore.ParseMnemonic(words); err != nil { // before a password is asked for
				return err
			}
			return d.makeStore(func(m *wallet.Manager, password string) (wallet.Created, error) {
				return m.Recover(cmd.Context(), words, password)
			}, false)
		},
	}
}

func (d *walletCommands) makeStore(act func(*wallet.Manager, string) (wallet.Created, error), showWords bool) error {
	m, err := d.open()
	if err != nil {
		return err
	}
	password, err := newPassword(d.password, d.w)
	if err != nil {
		return err
	}
	made, err := act(m, password)
	if err != nil {
		return err
	}
	info := storeInfo{Primary: made.Primary.String(), Path: made.Path}
	if showWords {
		info.Mnemonic = made.Mnemonic
	}
	if d.json {
		return printJSON(d.w.stdout, info)
	}
	if showWords {
		fmt.Fprintf(d.w.stdout, "Mnemonic, shown only now; write it down: %s\n", made.Mnemonic)
	}
	fmt.Fprintf(d.w.stdout, "Store: %s\nPrimary address: %s\nSet wallet.store to the store's path in the configuration.\n", info.Path, info.Primary)
	return nil
}

func (d *walletCommands) listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the stores of the directory", Args: cobra.NoArgs,
		Example: "  gatewayd wallet list\n  gatewayd wallet list --dir /var/lib/gatewayd/wallet --json",
		RunE: func(*cobra.Command, []string) error {
			m, err := d.open()
			if err != nil {
				return err
			}
			infos, rows := []storeInfo{}, [][]string{}
			for _, path := range m.Known() {
				s, err := keystore.ReadFile(path)
				if err != nil {
					return fmt.Errorf("store %s: %w", path, err)
				}
				info := storeInfo{Primary: s.PrimaryAddress().String(), Path: path, Created: s.Created()}
				infos = append(infos, info)
				rows = append(rows, []string{info.Primary, stamp(info.Created), info.Path})
			}
			return d.w.list(format{json: d.json}, []column{{name: "primary address"}, {name: "created"}, {name: "path"}}, rows, infos)
		},
	}
}

// unlock opens one store with its password.
func (d *walletCommands) unlock(ctx context.Context, name string) (*wallet.Manager, error) {
	m, err := d.open()
	if err != nil {
		return nil, err
	}
	if _, err := m.Add(name); err != nil {
		return nil, err
	}
	password, err := readPassword(d.password, d.w, "Password of "+name+": ")
	if err != nil {
		return nil, err
	}
	return m, wrongPassword(m.Unlock(ctx, name, password), name)
}

// maxAddresses is the wallet's limit per derivation.
const maxAddresses = 5000

func (d *walletCommands) addressesCommand() *cobra.Command {
	var from, count uint32
	c := &cobra.Command{
		Use: "addresses STORE", Short: "List a store's addresses on the exchange chain", Args: cobra.ExactArgs(1),
		Example: "  gatewayd wallet addresses vite_…\n  gatewayd wallet addresses vite_… --from 10 --count 5",
		RunE: func(cmd *cobra.Command, args []string) error {
			if count > maxAddresses || from+count < from {
				return operator.Usagef("--from %d --count %d: at most %d addresses are listed at once", from, count, maxAddresses)
			}
			m, err := d.unlock(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer m.LockAll()
			list, err := m.Addresses(args[0], from, from+count)
			if err != nil {
				return err
			}
			rows := make([][]string, len(list))
			for i, a := range list {
				rows[i] = []string{fmt.Sprint(from + uint32(i)), a.String()}
			}
			return d.w.list(format{json: d.json}, []column{{name: "index", cells: numbers}, {name: "address"}}, rows, list)
		},
	}
	c.Flags().Uint32Var(&from, "from", 0, "first index")
	c.Flags().Uint32Var(&count, "count", 10, "how many, at most 5000")
	return c
}

// exported is a store's export. Both are secrets.
type exported struct {
	Mnemonic   string `json:"mnemonic,omitempty"`
	Address    string `json:"address,omitempty"`
	PrivateKey string `json:"privateKey,omitempty"`
}

func (d *walletCommands) exportCommand() *cobra.Command {
	index := -1
	c := &cobra.Command{
		Use: "export STORE", Short: "Print a store's mnemonic, or the private key of one of its accounts", Args: cobra.ExactArgs(1),
		Example: "  gatewayd wallet export vite_…\n  gatewayd wallet export vite_… --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("index") && index < 0 { // a missing index means the mnemonic
				return operator.Usagef("--index %d: must be 0 or more", index)
			}
			out, err := d.export(cmd.Context(), args[0], index)
			if err != nil {
				return err
			}
			if d.json {
				return printJSON(d.w.stdout, out)
			}
			_, err = fmt.Fprintln(d.w.stdout, out.Mnemonic+out.PrivateKey)
			return err
		},
	}
	c.Flags().IntVar(&index, "index", -1, "print the private key of this account on the exchange chain instead: 64 bytes in hexadecimal")
	return c
}

func (d *walletCommands) export(ctx context.Context, name string, index int) (exported, error) {
	if index >= 0 {
		m, err := d.unlock(ctx, name)
		if err != nil {
			return exported{}, err
		}
		defer m.LockAll()
		account, err := m.Derive(name, uint32(min(int64(index), 1<<32-1)))
		if err != nil {
			return exported{}, err
		}
		return exported{Address: account.Key.Address().String(), PrivateKey: hex.EncodeToString(account.Key.Bytes())}, nil
	}
	m, err := d.open()
	if err != nil {
		return exported{}, err
	}
	if _, err := m.Add(name); err != nil {
		return exported{}, err
	}
	password, err := readPassword(d.password, d.w, "Password of "+name+": ")
	if err != nil {
		return exported{}, err
	}
	words, err := m.Mnemonic(ctx, name, password)
	return exported{Mnemonic: words}, wrongPassword(err, name)
}

func (d *walletCommands) passwdCommand() *cobra.Command {
	next := passwordSource{fileKey: "--new-password-file"}
	c := &cobra.Command{
		Use: "passwd STORE", Short: "Change a store's password", Args: cobra.ExactArgs(1),
		Example: "  gatewayd wallet passwd vite_…\n  gatewayd wallet passwd vite_… --password-file old-password",
		Long:    "Change a store's password. Copies of the file, such as backups, keep the old password.",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := d.open()
			if err != nil {
				return err
			}
			path, err := m.Add(args[0])
			if err != nil {
				return err
			}
			old, err := readPassword(d.password, d.w, "Password of "+args[0]+": ")
			if err != nil {
				return err
			}
			password, err := newPassword(next, d.w)
			if err != nil {
				return err
			}
			if err := m.ChangePassword(cmd.Context(), path, old, password); err != nil {
				return wrongPassword(err, args[0])
			}
			return d.printWritten(path, "Password changed")
		},
	}
	c.Flags().StringVar(&next.file, "new-password-file", "", "file with the new password; default: ask on the terminal")
	c.Flags().StringVar(&next.env, "new-password-env", "", "environment variable with the new password")
	return c
}

// printWritten prints which store a command has written.
func (d *walletCommands) printWritten(path, what string) error {
	s, err := keystore.ReadFile(path)
	if err != nil {
		return err
	}
	if d.json {
		return printJSON(d.w.stdout, storeInfo{Primary: s.PrimaryAddress().String(), Path: path, Created: s.Created()})
	}
	_, err = fmt.Fprintf(d.w.stdout, "%s: %s\n", what, path)
	return err
}

func (d *walletCommands) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "Import a store file of a node or a backup into the directory", Args: cobra.ExactArgs(1),
		Example: "  gatewayd wallet import ~/.gvite/wallet/vite_…\n  gatewayd wallet import backup/vite_… --dir /var/lib/gatewayd/wallet",
		RunE: func(cmd *cobra.Command, args []string) error {
			m, err := d.open()
			if err != nil {
				return err
			}
			password, err := readPassword(d.password, d.w, "Password of "+args[0]+": ")
			if err != nil {
				return err
			}
			path, err := m.Import(cmd.Context(), args[0], password)
			if err != nil {
				return wrongPassword(err, args[0])
			}
			return d.printWritten(path, "Store")
		},
	}
}

func (d *walletCommands) serveCommand() *cobra.Command {
	var cfg config.WalletRPC
	var node string
	c := &cobra.Command{
		Use: "serve", Short: "Serve the wallet's JSON-RPC for the stores of the directory", Args: cobra.NoArgs,
		Example: "  gatewayd wallet serve --ipc data/wallet.ipc --node http://127.0.0.1:48132\n  gatewayd wallet serve --dir /var/lib/gatewayd/wallet --ipc wallet.ipc",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cfg.Enabled() {
				cfg.IPC = filepath.Join(filepath.Dir(filepath.Clean(d.dir)), "wallet.ipc")
			}
			log, err := daemon.NewLog(config.Log{}, d.w.stderr)
			if err != nil {
				return err
			}
			var nodes []string
			if node != "" {
				nodes = []string{node}
			}
			err = daemon.ServeWallet(cmd.Context(), cfg, wallet.Config{Dir: d.dir, AutoLock: cfg.AutoLock}, daemon.NewWalletLedger(nodes, nil), daemon.Dependencies{Log: log})
			return untilInterrupted(cmd.Context(), err)
		},
	}
	f := c.Flags()
	f.StringVar(&cfg.IPC, "ipc", "", "path of the Unix socket; default without any address: wallet.ipc next to the directory")
	f.StringVar(&cfg.HTTP, "http", "", "loopback address of HTTP, such as 127.0.0.1:8645")
	f.StringVar(&cfg.WS, "ws", "", "loopback address of WebSocket")
	f.StringVar(&cfg.JWTSecretFile, "jwt-secret", "", "file with the secret of the tokens for HTTP and WebSocket; created if missing")
	f.StringVar(&node, "node", "", "URL of the exchange chain's node that receives transactions")
	f.DurationVar(&cfg.AutoLock, "auto-lock", 0, "lock a store after this time without use; 0: ten minutes, negative: never")
	return c
}
