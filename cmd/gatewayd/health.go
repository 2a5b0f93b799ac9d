package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthCommand lets a container's health check use the binary itself.
func healthCommand(w world) *cobra.Command {
	var url, config string
	c := &cobra.Command{
		Use: "health", Short: "Ask a running daemon whether it is well; exit code 1 when it is not", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if config != "" {
				cfg, err := LoadConfig(config)
				if err != nil {
					return err
				}
				url = healthURL(cfg)
			}
			if err := askHealth(cmd.Context(), url); err != nil {
				return err
			}
			fmt.Fprintln(w.stdout, "well")
			return nil
		},
	}
	c.Flags().StringVar(&url, "url", "http://127.0.0.1:8080/health", "health address of the daemon")
	c.Flags().StringVarP(&config, "config", "c", "", "configuration file of the daemon: its listener is asked")
	c.MarkFlagsMutuallyExclusive("url", "config")
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

// healthURL is where a daemon on this machine tells its health: the gateway's listener, or the exchange API's where there is no bridge.
func healthURL(cfg Config) string {
	listen := cmp.Or(cfg.Gateway.Listen, "127.0.0.1:8080")
	server := cfg.Gateway.Config
	if len(cfg.Networks) == 0 && cfg.Exchange != nil {
		listen, server = cmp.Or(cfg.Exchange.Listen, "127.0.0.1:8090"), cfg.Exchange.Config.Config
	}
	host, port, _ := net.SplitHostPort(listen) // Check has read it
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if server.Secured() {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/health"
}

// askHealth is nil when a daemon says that it is well.
func askHealth(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	// Health is no secret, and the certificate is in the name that clients use, not in this machine's.
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
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
