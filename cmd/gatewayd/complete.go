package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"gatewayd/daemon"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/view"
)

// completeTime bounds how long a shell waits for a proposal.
const completeTime = 2 * time.Second

// proposals are a shell's completions, by the words of usage lines and the names of flags. The text
// after a tab describes the completion.
var proposals = map[string]func(ctx context.Context, d *operator.Session, before []string) ([]string, error){
	"ID": recordIDs, "NETWORK": networkNames, "network": networkNames, "TOKEN": tokenSymbols, "token": tokenSymbols, "CHAIN": chainNames, "ADDRESS": accountsOf,
	"state": func(context.Context, *operator.Session, []string) ([]string, error) { return operator.States(), nil },
	"direction": func(context.Context, *operator.Session, []string) ([]string, error) {
		return operator.Directions(), nil
	},
	"reason": func(context.Context, *operator.Session, []string) ([]string, error) { return operator.Reasons(), nil },
}

// addCompletions adds shell completion to a command's arguments and flags, from the records of the
// configured daemon.
func addCompletions(c *cobra.Command) {
	words := strings.Fields(c.Use)[1:]
	if c.Runnable() && len(words) > 0 && c.ValidArgsFunction == nil {
		c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) >= len(words) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return propose(cmd, strings.Trim(words[len(args)], "[]"), args)
		}
	}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, ok := proposals[f.Name]; !ok {
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return propose(cmd, f.Name, args)
		}) // fails only for a flag that has one
	})
	for _, sub := range c.Commands() {
		addCompletions(sub)
	}
}

// propose leaves out what cannot be read, without an error: a shell shows none.
func propose(cmd *cobra.Command, word string, before []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	choices := strings.Split(word, "|")
	ask, ok := proposals[choices[0]]
	switch config := cmd.Flag("config"); {
	case !ok && len(choices) > 1:
		return choices, cobra.ShellCompDirectiveNoFileComp
	case !ok || config == nil:
		return nil, cobra.ShellCompDirectiveDefault
	default:
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		d, err := operator.Open(ctx, config.Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer d.Store.Close()
		found, err := ask(ctx, d, before)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// recordIDs are the records that wait for an operator, and then the newest.
func recordIDs(ctx context.Context, d *operator.Session, _ []string) (ids []string, err error) {
	const most = 20
	known := map[uint64]bool{}
	for _, f := range []view.Filter{{NeedsOperator: true, Limit: most}, {Limit: most}} {
		list, err := d.Page(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			if !known[r.ID] {
				known[r.ID] = true
				ids = append(ids, fmt.Sprintf("%d\t%s of %s, %s", r.ID, r.Direction, d.Config.AssetAmount(r.Chain, r.Asset, r.Amount), r.State))
			}
		}
	}
	return ids, nil
}

func networkNames(_ context.Context, d *operator.Session, _ []string) ([]string, error) {
	return d.Config.NetworkNames(), nil
}

// tokenSymbols lists those of the preceding network, if there is one.
func tokenSymbols(_ context.Context, d *operator.Session, before []string) (symbols []string, _ error) {
	for _, n := range d.Config.Networks {
		if len(before) > 0 && n.Name != before[0] {
			continue
		}
		for _, t := range n.Tokens {
			symbols = append(symbols, t.Symbol)
		}
	}
	return symbols, nil
}

func chainNames(_ context.Context, d *operator.Session, _ []string) (names []string, _ error) {
	for _, id := range d.Config.ChainIDs() {
		names = append(names, string(id))
	}
	return names, nil
}

// accountsOf lists our accounts of the preceding chain.
func accountsOf(ctx context.Context, d *operator.Session, before []string) (addresses []string, err error) {
	if len(before) == 0 {
		return nil, nil
	}
	id, err := operator.ChainOf(d.Config, before[0])
	if err != nil {
		return nil, err
	}
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		list, err := tx.Accounts().List(id, records.KindHot, records.KindGas, records.KindGateway)
		for _, a := range list {
			addresses = append(addresses, fmt.Sprintf("%s\t%s, %s", a.Account, a.Kind, a.State))
		}
		return err
	})
	return addresses, err
}

// manCommand is for `make release`: a package has the manual.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual, a page for each command", Args: cobra.ExactArgs(1), Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // the same program gives the same pages; their date is SOURCE_DATE_EPOCH's
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "gatewayd " + daemon.Read().Version, Manual: "gatewayd"}, args[0])
		},
	}
}
