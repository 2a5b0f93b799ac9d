package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gatewayd/config"
	"gatewayd/operator"
	"gatewayd/operator/doctor"
	"gatewayd/operator/setup"
)

// question is asked where its flag is not given.
type question struct {
	flag, text string
	many       bool // a line each, until one is empty
	needed     bool
}

// questions in the order of asking. What a flag has as its default an empty line takes.
var questions = []question{
	{flag: "data", text: "Directory for everything the daemon keeps"},
	{flag: "source-node", text: "Nodes of the source chain (Ethereum's JSON-RPC), one URL a line, an empty line after the last", many: true, needed: true},
	{flag: "exchange-node", text: "Nodes of the exchange chain (Vite's JSON-RPC), one URL a line, an empty line after the last", many: true, needed: true},
	{flag: "token", text: "Tokens to serve, one a line: ASSET,TOKEN,SMALLEST,LARGEST,FEE", many: true, needed: true},
	{flag: "funder", text: "Addresses of your own money, on either chain, one a line", many: true},
	{flag: "store", text: "Entropy store with the daemon's keys, made by `gatewayd wallet new` (empty: later)"},
	{flag: "password-file", text: "File with the store's password (empty: the terminal is asked at each start)"},
	{flag: "listen", text: "Address that wallets reach the gateway at"},
}

func configInitCommand(w streams) *cobra.Command {
	c := &cobra.Command{
		Use: "init", Short: "Ask what a gateway needs, write its configuration, and check it against the nodes", Args: cobra.NoArgs,
		Long: `Ask what a gateway needs, write its configuration, and check it against the nodes.

What a flag gives is not asked; answers are read from standard input, a terminal or not. Nothing is written unless the nodes answer, and no file is
replaced. A token is ASSET,TOKEN,SMALLEST,LARGEST,FEE: "native" or the contract on the source chain; its id on the exchange chain; the smallest deposit
and withdrawal, the largest withdrawal (0: no maximum) and the fee, all in whole tokens; the fee of the coin may be "network", what the payout costs.`,
		Example: `  gatewayd config init --source-node https://a.example --source-node https://b.example --source-node https://c.example \
    --exchange-node http://127.0.0.1:48132 --token native,tti_687d8a93915393b219212c73,0.01,100,network < /dev/null`,
	}
	path := configFlag(c)
	f := c.Flags()
	f.String("data", "data", "directory for everything the daemon keeps")
	f.StringArray("source-node", nil, "URL of a node of the source chain; once for each")
	f.StringArray("exchange-node", nil, "URL of a node of the exchange chain; once for each")
	f.StringArray("token", nil, "ASSET,TOKEN,SMALLEST,LARGEST,FEE; once for each")
	f.StringArray("funder", nil, "address of your own money; once for each")
	f.String("store", "", "entropy store with the daemon's keys")
	f.String("password-file", "", "file with the store's password")
	f.String("listen", "127.0.0.1:8080", "address that wallets reach the gateway at")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := os.Lstat(*path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already: name another file with -c", *path)
		}
		answers, err := interview(w, f)
		if err != nil {
			return err
		}
		cfg, err := firstConfig(cmd.Context(), *path, answers)
		if err != nil {
			return err
		}
		if err := printPlan(w.stdout, cfg); err != nil {
			return err
		}
		return printFindings(w, format{}, doctor.Nodes(cmd.Context(), cfg))
	}
	return c
}

// interview asks for what no flag has given.
func interview(w streams, f *pflag.FlagSet) (a setup.Answers, err error) {
	for _, q := range questions {
		if f.Changed(q.flag) {
			continue
		}
		if err := q.ask(w, f.Lookup(q.flag)); err != nil {
			return a, err
		}
	}
	text := func(name string) string { return f.Lookup(name).Value.String() }
	list := func(name string) []string { return f.Lookup(name).Value.(pflag.SliceValue).GetSlice() }
	a = setup.Answers{
		Data: text("data"), Source: list("source-node"), Exchange: list("exchange-node"), Funders: list("funder"),
		Store: text("store"), PasswordFile: text("password-file"), Listen: text("listen"),
	}
	for _, one := range list("token") {
		t, err := setup.ParseToken(one)
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
		line, err := readLine(w.stdin)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("reading from standard input: %w", err)
		}
		line = strings.TrimSpace(line)
		switch {
		case line == "" && q.needed && n == 0:
			return operator.Usagef("--%s: must be answered, or given as a flag", q.flag)
		case line == "":
			return nil
		}
		if err := to.Value.Set(line); err != nil || !q.many {
			return err
		}
	}
}

// firstConfig writes the file, and takes it away again if it breaks a rule.
func firstConfig(ctx context.Context, path string, a setup.Answers) (config.Config, error) {
	text, err := setup.Write(ctx, a)
	if err != nil {
		return config.Config{}, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return config.Config{}, err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return config.Config{}, errors.Join(err, os.Remove(path))
	}
	cfg, err := config.Load(path)
	if err != nil {
		return cfg, errors.Join(err, os.Remove(path))
	}
	return cfg, nil
}
