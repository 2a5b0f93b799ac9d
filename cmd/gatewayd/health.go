package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand lets a container's health check use the binary itself.
func healthCommand(w world) *cobra.Command {
	var url string
	c := &cobra.Command{
		Use: "health", Short: "Ask a running daemon whether it is well; exit code 1 when it is not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := askHealth(cmd.Context(), url); err != nil {
				return err
			}
			fmt.Fprintln(w.stdout, "well")
			return nil
		},
	}
	c.Flags().StringVar(&url, "url", "http://127.0.0.1:8080/health", "health address of the daemon")
	return c
}

func versionCommand(w world) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				return fmt.Errorf("this binary carries no build information")
			}
			fmt.Fprintf(w.stdout, "gatewayd %s %s\n", info.Main.Version, info.GoVersion)
			return nil
		},
	}
}

// askHealth is nil when a daemon says that it is well.
func askHealth(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking for health: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s%s", url, res.Status, reasonsOf(io.LimitReader(res.Body, maxHealth)))
	}
	return nil
}

// maxHealth bounds what is read of an answer.
const maxHealth = 64 << 10

// reasonsOf reads why a daemon is not well: ": chain_halted eth, store_down", or nothing.
func reasonsOf(body io.Reader) string {
	var h struct {
		Reasons []struct{ Kind, Chain string }
	}
	if err := json.NewDecoder(body).Decode(&h); err != nil || len(h.Reasons) == 0 {
		return ""
	}
	list := make([]string, len(h.Reasons))
	for i, r := range h.Reasons {
		list[i] = strings.TrimSpace(r.Kind + " " + r.Chain)
	}
	return ": " + strings.Join(list, ", ")
}
