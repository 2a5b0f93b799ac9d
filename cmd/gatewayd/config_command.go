package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"gatewayd/config"
	"gatewayd/daemon"
)

func configCommand(w streams) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Make or check a configuration file"}
	c.AddCommand(configInitCommand(w), configCheckCommand(w))
	return c
}

// configCheckCommand reads a configuration as the daemon does; doctor goes on from there and asks the nodes.
func configCheckCommand(w streams) *cobra.Command {
	var quiet bool
	c := &cobra.Command{
		Use: "check", Short: "Read a configuration strictly, apply every rule that needs no node, and say what it would run", Args: cobra.NoArgs,
	}
	path := configFlag(c)
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing when it is sound")
	c.RunE = func(*cobra.Command, []string) error {
		cfg, err := config.Load(*path)
		if err != nil || quiet {
			return err
		}
		return printPlan(w.stdout, cfg)
	}
	return c
}

// printPlan says what a daemon with this configuration runs.
func printPlan(to io.Writer, cfg config.Config) error {
	fmt.Fprintf(to, "configuration %s is sound; `gatewayd doctor` asks its nodes\n", cfg.Path)
	t := tabwriter.NewWriter(to, 0, 4, 2, ' ', 0)
	fmt.Fprintf(t, "data\t%s\n", cfg.Data)
	fmt.Fprintf(t, "records\t%s\n", withoutPassword(cfg.Database.URL))
	if cfg.Wallet.Remote() {
		fmt.Fprintf(t, "signer\t%s\n", cfg.Wallet.Signer)
	} else {
		fmt.Fprintf(t, "wallet\t%s\n", cmp.Or(cfg.Wallet.Store, "none: make one with `gatewayd wallet new`, name it in wallet.store"))
	}
	if cfg.Signer.Place.Listen != "" {
		fmt.Fprintf(t, "signs for\t%s (`gatewayd signer`)\n", cfg.Signer.Place.Listen)
	}
	for _, c := range cfg.Ethereum {
		fmt.Fprintf(t, "source chain %s\t%d by %s\n", c.ID, c.ChainID, counted(len(c.Nodes), "node"))
	}
	for _, c := range cfg.Vite {
		fmt.Fprintf(t, "exchange chain %s\tby %s\n", c.ID, counted(len(c.Nodes), "node"))
	}
	for _, n := range cfg.Networks {
		var symbols []string
		for _, token := range n.Tokens {
			symbols = append(symbols, cmp.Or(token.Symbol, token.Token))
		}
		fmt.Fprintf(t, "network %s\t%s to %s at %s: %s\n", n.Name, n.Source, n.Exchange, n.Path, strings.Join(symbols, ", "))
	}
	if cfg.Embedded != nil {
		fmt.Fprintf(t, "embedded exchange chain\t%s in %s\n", cfg.Embedded.Listen, cfg.Embedded.Dir)
	}
	if cfg.Exchange != nil {
		fmt.Fprintf(t, "exchange API\t%s\n", cmp.Or(cfg.Exchange.Listen, "127.0.0.1:8090"))
	}
	fmt.Fprintf(t, "health\t%s\n", daemon.HealthURL(cfg))
	return t.Flush()
}

// withoutPassword is a database's URL as it may be printed.
func withoutPassword(text string) string {
	if u, err := url.Parse(text); err == nil && u.User != nil {
		return u.Redacted()
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
