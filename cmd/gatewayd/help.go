package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gatewayd/operator"
)

// group is a part of the list of commands.
type group struct {
	title    string
	commands []*cobra.Command
}

// addGroups adds commands under the titles of their groups.
func addGroups(root *cobra.Command, groups []group) {
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
}

// helpCommand is cobra's, and refuses a command that does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND...]", Short: "Show the commands, or the help of one of them",
		Example: "  gatewayd help\n  gatewayd help records refund",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(about, rest[0])
			}
			return about.Help()
		},
	}
}

// printHelp prints the help of a command: its purpose, usage, commands, flags and examples.
func printHelp(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	for i, p := range strings.Split(purpose(c), "\n\n") {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if strings.HasPrefix(p, "\t") { // commands of cobra's own texts
			fmt.Fprintln(w, p)
			continue
		}
		printParagraph(w, "", "", p)
	}
	fmt.Fprintln(w, "\nUsage:")
	if c.Annotations[onlyGroups] == "" {
		fmt.Fprintf(w, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", c.CommandPath())
	}
	printCommands(w, c)
	printFlags(w, "Flags", c.LocalFlags())
	printFlags(w, "Shared flags", c.InheritedFlags())
	if text := examples(c); text != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", text)
	}
	switch {
	case !c.HasParent():
		fmt.Fprint(w, "\nNext: `gatewayd dev` runs everything on this machine; `gatewayd COMMAND --help` has examples.\n")
	case c.HasAvailableSubCommands():
		fmt.Fprintf(w, "\nNext: `%s COMMAND --help` has flags and examples.\n", c.CommandPath())
	}
}

// purpose is the long text of a command, or its short one as a sentence.
func purpose(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return strings.TrimSuffix(c.Short, ".") + "."
}

// examples are those of a command or, of a group, the first ones of its first two commands.
func examples(c *cobra.Command) string {
	if c.Example != "" || c.Annotations[onlyGroups] == "" || !c.HasParent() {
		return c.Example
	}
	var lines []string
	for _, sub := range c.Commands() {
		if first, _, _ := strings.Cut(sub.Example, "\n"); first != "" && len(lines) < 2 {
			lines = append(lines, first)
		}
	}
	return strings.Join(lines, "\n")
}

// printCommands prints the commands of a command, each in one line, by groups if it has some.
func printCommands(w io.Writer, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Commands"}}
	}
	for _, g := range groups {
		title := "\n" + g.Title + ":\n"
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && (sub.IsAvailableCommand() || sub.Name() == "help") {
				fmt.Fprintf(w, "%s  %-*s  %s\n", title, sub.NamePadding(), sub.Name(), sub.Short)
				title = ""
			}
		}
	}
}

func printFlags(w io.Writer, title string, f *pflag.FlagSet) {
	if usages := f.FlagUsagesWrapped(columns); usages != "" {
		fmt.Fprintf(w, "\n%s:\n%s", title, usages)
	}
}

// spellings is the number of letters by which a word may differ from the one that was meant.
const spellings = 2

// unknownCommand is the error for a command that does not exist, with those that it may mean.
func unknownCommand(c *cobra.Command, typed string) error {
	prefix := strings.TrimPrefix(c.CommandPath()+" ", c.Root().Name()+" ")
	meant := c.SuggestionsFor(typed)
	for _, sub := range c.Commands() { // such as `show` for `records show`
		for _, leaf := range sub.Commands() {
			if len(c.SuggestionsFor(typed)) == 0 && leaf.Name() == typed {
				meant = append(meant, sub.Name()+" "+typed)
			}
		}
	}
	for i, name := range meant {
		meant[i] = fmt.Sprintf("%q", prefix+name)
	}
	return operator.Usagef("unknown command %q.%s See `%s --help`", prefix+typed, didYouMean(meant), c.CommandPath())
}

// didYouMean names what a word may mean; empty for no idea.
func didYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " Did you mean " + strings.Join(names, " or ") + "?"
}

// flagError adds the flags that an unknown one may mean.
func flagError(c *cobra.Command, err error) error {
	return operator.Usagef("%w.%s See `%s --help`", err, didYouMean(meantFlags(c, err)), c.CommandPath())
}

// meantFlags are the flags of a command that are spelled like an unknown one, by cobra's rule for
// commands.
func meantFlags(c *cobra.Command, err error) (names []string) {
	unknown := new(pflag.NotExistError)
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return nil
	}
	flags := &cobra.Command{SuggestionsMinimumDistance: spellings}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	for _, name := range flags.SuggestionsFor(unknown.GetSpecifiedName()) {
		names = append(names, "--"+name)
	}
	return names
}
