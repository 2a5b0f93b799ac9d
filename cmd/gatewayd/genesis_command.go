package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"gatewayd/vite/genesis"
)

func genesisCommand(w streams) *cobra.Command {
	return &cobra.Command{
		Use: "genesis FILE.yaml", Short: "Write the beginning of an embedded exchange chain", Args: cobra.ExactArgs(1),
		Long: "Write the beginning of an embedded exchange chain as JSON, from a short description of its accounts, stakes and tokens in YAML\n" +
			"(docs/genesis.md). FILE.yaml - is the standard input.",
		Example: "  gatewayd genesis chain.yaml > genesis.json\n  gatewayd chain run --genesis genesis.json",
		RunE:    func(_ *cobra.Command, args []string) error { return printGenesis(w, args[0]) },
	}
}

func printGenesis(w streams, path string) error {
	text, err := readInput(w, path)
	if err != nil {
		return fmt.Errorf("reading the description of the genesis: %w", err)
	}
	var plan genesis.Plan
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&plan); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s:\n%s", path, yaml.FormatError(err, false, true))
	}
	file, err := plan.File()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	out := json.NewEncoder(w.stdout)
	out.SetIndent("", "  ")
	return out.Encode(file)
}

func readInput(w streams, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(w.stdin)
	}
	return os.ReadFile(path)
}
