package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/operator"
	"gatewayd/operator/doctor"
)

func configCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Create, check or show a configuration file"}
	c.AddCommand(configInitCommand(w), configCheckCommand(w), configShowCommand(w))
	return c
}

// configCheckCommand reads a configuration as the daemon does; doctor also asks the nodes.
func configCheckCommand(w streams) *cobra.Command {
	var quiet bool
	c := &cobra.Command{
		Use: "check", Short: "Check a configuration strictly, without nodes, and show what it would run", Args: cobra.NoArgs,
		Example: "  gatewayd config check\n  gatewayd config check -c /etc/gatewayd/config.yaml --quiet",
	}
	path := configFlag(c)
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing if it is valid")
	c.RunE = func(*cobra.Command, []string) error {
		cfg, err := config.Load(*path)
		if err != nil || quiet {
			return err
		}
		return printPlan(w.stdout, cfg)
	}
	return c
}

func configShowCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "show", Short: "Print the effective configuration with included files, without secrets", Args: cobra.NoArgs,
		Example: "  gatewayd config show\n  gatewayd config show -c /etc/gatewayd/config.yaml",
		Long: "Print the effective configuration: the keys of the file, of those that it includes, and the defaults of tokens. Keys that are not shown have\n" +
			"their own defaults (docs/operations/configuration.md). Passwords, paths and queries of URLs are hidden.",
	}
	path := configFlag(c)
	c.RunE = func(*cobra.Command, []string) error {
		cfg, err := config.Load(*path)
		if err != nil {
			return err
		}
		text, err := cfg.Show()
		if err == nil {
			_, err = w.stdout.Write(text)
		}
		return err
	}
	return c
}

// printPlan describes the parts of a daemon with this configuration.
func printPlan(to io.Writer, cfg config.Config) error {
	fmt.Fprintf(to, "configuration %s is valid; `gatewayd doctor` checks its nodes\n", cfg.Path)
	var rows [][]string
	line := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	for _, path := range cfg.Included {
		line("includes", "%s", path)
	}
	for _, key := range cfg.Removed {
		line("ignored", "%s: this version does not have the key", key)
	}
	line("data", "%s", cfg.Data)
	if hashes, err := cfg.Policy(); err == nil && len(cfg.Networks) > 0 {
		line("policy", "%s", hashes.Hash())
	}
	if !cfg.Signs() { // which has no database
		line("records", "%s", config.PlainURL(cfg.Database.URL))
	}
	if cfg.Wallet.Remote() {
		line("signer", "%s", cfg.Wallet.Signer)
	} else {
		line("wallet", "%s", cmp.Or(cfg.Wallet.Store, "none: create one with `gatewayd wallet new` and set wallet.store"))
	}
	if cfg.Signer.Place.Listen != "" {
		line("signs for", "%s (`gatewayd signer`)", cfg.Signer.Place.Listen)
	}
	for _, s := range cfg.Wallet.Successors {
		line("successor", "%s", s.Store)
	}
	for _, c := range cfg.Chains() {
		what, id := "exchange chain", ""
		if c.Source {
			what, id = "source chain", cmp.Or(c.Network, fmt.Sprint(c.ChainID))+" "
		}
		line(what+" "+string(c.ID), "%sby %s%s", id, counted(len(c.Nodes), "node"), payingText(c.Accounts, c.Retired))
	}
	for _, n := range cfg.Networks {
		var symbols []string
		for _, token := range n.Tokens {
			symbols = append(symbols, cmp.Or(token.Symbol, token.Token))
		}
		line("network "+n.Name, "%s to %s at %s: %s", n.Source, n.Exchange, n.Path, strings.Join(symbols, ", "))
	}
	if cfg.Embedded != nil {
		line("embedded exchange chain", "%s in %s", cfg.Embedded.Listen, cfg.Embedded.Dir)
	}
	if cfg.Exchange != nil {
		line("exchange API", "%s", cmp.Or(cfg.Exchange.Listen, "127.0.0.1:8090"))
	}
	if !cfg.Signs() {
		line("health", "%s", daemon.HealthURL(cfg))
	}
	return printTable(to, 0, make([]column, 2), rows)
}

// payingText is the number of paying accounts, and which are retired.
func payingText(accounts int, retired []int) string {
	if len(retired) == 0 {
		return ""
	}
	return fmt.Sprintf("; %s of ours, retired: %v", counted(accounts, "account"), retired)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// question is asked where its flag is not given.
type question struct {
	flag, text string
	many       bool // a line each, until one is empty
	needed     bool
	with       string // asked only when this flag has an answer
	unless     string // not asked when this flag is given
}

// questions in the order of asking. What a flag has as its default an empty line takes.
var questions = []question{
	{flag: "data", text: "Directory for all data of the daemon"},
	{flag: "source-node", text: "Nodes of the source chain (JSON-RPC of Ethereum, Bitcoin or Litecoin), one URL a line, an empty line after the last", many: true, needed: true, unless: "network"},
	{flag: "exchange-node", text: "Nodes of the exchange chain (Vite's JSON-RPC), one URL a line, an empty line after the last", many: true, needed: true},
	{flag: "token", text: "Tokens to serve, one a line: [NETWORK:]ASSET,TOKEN,SMALLEST,LARGEST,FEE", many: true, needed: true},
	{flag: "funder", text: "Addresses of your own funds, on either chain, one a line", many: true},
	{flag: "signer", text: "Socket of a separate signer process, unix:/path (empty: the daemon signs)"},
	{flag: "signer-config", text: "Configuration file of the signer", with: "signer"},
	{flag: "signer-data", text: "Directory for the signer's sign-guard", with: "signer"},
	{flag: "signer-peer", text: "User of the daemon, the only one who may connect to the signer (empty: as the socket's mode allows)", with: "signer"},
	{flag: "signer-source-node", text: "Nodes of the source chain that the signer reads, one URL a line (empty: the daemon's)", many: true, with: "signer", unless: "network"},
	{flag: "signer-exchange-node", text: "Nodes of the exchange chain that the signer reads, one URL a line (empty: the daemon's)", many: true, with: "signer"},
	{flag: "store", text: "Entropy store with the keys, created by `gatewayd wallet new` (empty: later)"},
	{flag: "password-file", text: "File with the store's password (empty: the terminal is asked at each start)"},
	{flag: "listen", text: "Address of the gateway for wallets"},
}

func configInitCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "init", Short: "Ask for a gateway's settings, write its configuration, and check it against the nodes", Args: cobra.NoArgs,
		Long: `Ask for a gateway's settings, write its configuration, and check it against the nodes.

Settings given as flags are not asked. Answers are read from standard input. Files are written only if the nodes answer, and no file is
replaced. --source-node serves one source chain, as network eth, btc or ltc, as its nodes answer; --network NAME=URL,URL serves several. A token is ASSET,TOKEN,SMALLEST,LARGEST,FEE: "native" or the contract on the source chain; its id on the exchange chain; the smallest deposit
and withdrawal, the largest withdrawal (0: no maximum) and the fee, all in whole tokens. The fee of the coin may be "network", the cost of the payout.
Of several networks a token has the name before it: bsc:native,tti_…,0.01,100,network.
With --signer the keys are those of ` + "`gatewayd signer`" + ` as another user of this machine: its file is written too, and its nodes are checked.
Both files include the policy file, which has the tokens and networks. A signer on another machine needs a copy of it next to its own file.`,
		Example: `  gatewayd config init --source-node https://a.example --source-node https://b.example \
    --exchange-node http://127.0.0.1:48132 \
    --token native,tti_687d8a93915393b219212c73,0.01,100,network < /dev/null
  gatewayd config init --source-node http://user:password@127.0.0.1:9332 \
    --exchange-node http://127.0.0.1:48132 --token native,TOKEN,0.01,100,network < /dev/null`,
	}
	path := configFlag(c)
	f := c.Flags()
	f.String("data", "data", "directory for all data of the daemon")
	f.StringArray("source-node", nil, "URL of a node of the source chain; once for each")
	f.StringArray("network", nil, "NAME=URL,URL: a source chain and its nodes; once for each")
	f.String("database", "", "postgres:// URL of the records; empty: a file in the data directory")
	f.Bool("exchange", false, "serve the exchange API too")
	f.StringArray("exchange-node", nil, "URL of a node of the exchange chain; once for each")
	f.StringArray("token", nil, "[NETWORK:]ASSET,TOKEN,SMALLEST,LARGEST,FEE; once for each")
	f.StringArray("funder", nil, "address of your own funds; once for each")
	f.String("signer", "", "unix:/path of the socket of a separate signer process; empty: the daemon signs")
	f.String("signer-config", "signer.yaml", "configuration file of the signer")
	f.String("policy-config", "policy.yaml", "file that the daemon's and the signer's configuration include")
	f.String("signer-data", "signer", "directory for the signer's sign-guard")
	f.String("signer-peer", "", "user of the daemon, the only one who may connect to the signer")
	f.StringArray("signer-source-node", nil, "URL of a node of the source chain that the signer reads; once for each; none: the daemon's")
	f.StringArray("signer-network", nil, "NAME=URL,URL: nodes of a source chain that the signer reads; once for each; none: the daemon's")
	f.StringArray("signer-exchange-node", nil, "URL of a node of the exchange chain that the signer reads; once for each; none: the daemon's")
	f.String("store", "", "entropy store with the keys")
	f.String("password-file", "", "file with the store's password")
	f.String("listen", "127.0.0.1:8080", "address of the gateway for wallets")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := requireMissing(*path, "-c"); err != nil {
			return err
		}
		answers, err := interview(w, f)
		if err != nil {
			return err
		}
		made, err := firstConfigs(cmd.Context(), *path, f.Lookup("signer-config").Value.String(), f.Lookup("policy-config").Value.String(), answers)
		if err != nil {
			return err
		}
		for _, cfg := range made {
			if err := printPlan(w.stdout, cfg); err != nil {
				return err
			}
		}
		return printDoctor(w, format{}, doctor.Nodes(cmd.Context(), made...))
	}
	return c
}

// interview asks for what no flag has given.
func interview(w streams, f *pflag.FlagSet) (a operator.Answers, err error) {
	for _, q := range questions {
		if f.Changed(q.flag) || q.unless != "" && f.Changed(q.unless) || q.with != "" && f.Lookup(q.with).Value.String() == "" {
			continue
		}
		if err := q.ask(w, f.Lookup(q.flag)); err != nil {
			return a, err
		}
	}
	text := func(name string) string { return f.Lookup(name).Value.String() }
	list := func(name string) []string { return f.Lookup(name).Value.(pflag.SliceValue).GetSlice() }
	a = operator.Answers{
		Data: text("data"), Database: text("database"), ServesOrders: text("exchange") == "true", Policy: filepath.Base(text("policy-config")), Exchange: list("exchange-node"), Funders: list("funder"),
		Store: text("store"), PasswordFile: text("password-file"), Listen: text("listen"),
		Signer: operator.Signer{
			Listen: text("signer"), Data: text("signer-data"), Peer: text("signer-peer"), Exchange: list("signer-exchange-node"),
		},
	}
	for _, side := range []struct {
		nodes, networks string
		to              *[]operator.Source
	}{{"source-node", "network", &a.Networks}, {"signer-source-node", "signer-network", &a.Signer.Networks}} {
		if nodes := list(side.nodes); len(nodes) > 0 {
			*side.to = append(*side.to, operator.Source{Nodes: nodes})
		}
		for _, one := range list(side.networks) {
			b, err := operator.ParseSource(one)
			if err != nil {
				return a, operator.Usagef("--%s: %w", side.networks, err)
			}
			*side.to = append(*side.to, b)
		}
	}
	for _, one := range list("token") {
		t, err := operator.ParseToken(one)
		if err != nil {
			return a, operator.Usagef("--token %w", err)
		}
		a.Tokens = append(a.Tokens, t)
	}
	return a, nil
}

// ask puts what is answered into the flag. The end of the input is an empty line.
func (q question) ask(w streams, to *pflag.Flag) error {
	prompt := q.text
	if to.DefValue != "" && !q.many {
		prompt += " [" + to.DefValue + "]"
	}
	fmt.Fprint(w.stderr, prompt+": ")
	for n := 0; ; n++ {
		line, err := w.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading from standard input: %w", err)
		}
		if err != nil && n == 0 { // no key press has ended the question's line
			fmt.Fprintln(w.stderr)
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "" && q.needed && n == 0:
			return operator.Usagef("--%s: a value is required, as an answer or a flag", q.flag)
		case line == "":
			return nil
		}
		if err := to.Value.Set(line); err != nil || !q.many {
			return err
		}
	}
}

// requireMissing is an error for a file that exists.
func requireMissing(path, flag string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s already exists: name another file with %s", path, flag)
	}
	return nil
}

// firstConfigs writes the daemon's file, and where there is a signer its file and the policy that
// both include. It takes all away again if one breaks a rule.
func firstConfigs(ctx context.Context, daemon, signer, policy string, a operator.Answers) (made []config.Config, err error) {
	if a.Signer.Listen != "" {
		if err := requireMissing(signer, "--signer-config"); err != nil {
			return nil, err
		}
	}
	files, err := operator.Write(ctx, a)
	if err != nil {
		return nil, err
	}
	type newFile struct {
		path string
		text []byte
	}
	list, load := []newFile{{daemon, files.Daemon}}, []string{daemon}
	if files.Signer != nil {
		list, load = append(list, newFile{signer, files.Signer}), append(load, signer)
		for _, dir := range slices.Compact([]string{filepath.Dir(daemon), filepath.Dir(signer)}) {
			list = append(list, newFile{filepath.Join(dir, filepath.Base(policy)), files.Policy})
		}
	}
	var written []string
	defer func() {
		for _, path := range written {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	for _, f := range list {
		if err := writeNew(f.path, f.text); err != nil {
			return nil, err
		}
		written = append(written, f.path)
	}
	for _, path := range load {
		cfg, err := config.Load(path)
		if err != nil {
			return nil, err
		}
		made = append(made, cfg)
	}
	return made, nil
}

// writeNew writes a file that does not exist.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
