package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// eachCommand calls f for every command of the program that is not cobra's own.
func eachCommand(t *testing.T, f func(t *testing.T, c *cobra.Command)) {
	t.Helper()
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" {
			return
		}
		t.Run(c.CommandPath(), func(t *testing.T) { f(t, c) })
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(rootCommand(streams{}))
}

// TestHelpFits: every help fits 100 columns, and every command is in a group.
func TestHelpFits(t *testing.T) {
	eachCommand(t, func(t *testing.T, c *cobra.Command) {
		var b bytes.Buffer
		c.SetOut(&b)
		printHelp(c, nil)
		for l := range strings.Lines(b.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(l, "\n")), columns, l)
		}
		if c.HasParent() && !c.Parent().HasParent() {
			require.NotEmpty(t, c.GroupID)
		}
	})
}

// word is a word of a shell's command line.
var word = regexp.MustCompile(`(?:'[^']*'|\$\([^)]*\)|[^\s'])+`)

// TestHelpExamples: every command has two examples, and they are commands that the program accepts.
func TestHelpExamples(t *testing.T) {
	eachCommand(t, func(t *testing.T, c *cobra.Command) {
		if c.Annotations[onlyGroups] != "" {
			return
		}
		lines := strings.Split(strings.ReplaceAll(strings.TrimSpace(c.Example), "\\\n", " "), "\n")
		require.GreaterOrEqual(t, len(lines), 2, "two examples")
		for i, line := range lines {
			words := word.FindAllString(line, -1)
			for at, w := range words { // what a shell takes for itself
				if strings.ContainsAny(w[:1], "#<>|") {
					words = words[:at]
					break
				}
			}
			require.Equal(t, "gatewayd", words[0], line)
			found, rest, err := rootCommand(streams{}).Find(words[1:])
			require.NoError(t, err, line)
			if i == 0 {
				require.Equal(t, c.CommandPath(), found.CommandPath(), line)
			}
			require.NoError(t, found.ParseFlags(rest), line)
			require.NoError(t, found.ValidateArgs(found.Flags().Args()), line)
		}
	})
}

// TestUsageSuggests: a word that is spelled wrongly names those that it may mean.
func TestUsageSuggests(t *testing.T) {
	for typed, want := range map[string]string{
		"recrods":                `unknown command "recrods". Did you mean "records"?`,
		"help recrods":           `unknown command "recrods". Did you mean "records"?`,
		"records lst":            `unknown command "records lst". Did you mean "records list"?`,
		"help records lst":       `unknown command "records lst". Did you mean "records list"?`,
		"reclassify 7":           `unknown command "reclassify". Did you mean "records reclassify"?`,
		"sell":                   `unknown command "sell". See`,
		"records list --stat a":  `unknown flag: --stat. Did you mean --state?`,
		"records list --jsno":    `unknown flag: --jsno. Did you mean --json?`,
		"records list --nothing": `unknown flag: --nothing. See`,
		"status -x":              `unknown shorthand flag: 'x' in -x. See`,
	} {
		err := run(t.Context(), strings.Fields(typed), streams{})
		require.ErrorContains(t, err, want, typed)
		require.Equal(t, exitUsage, exitCode(err), typed)
	}
}
