package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"gatewayd/config"
)

// HealthURL is where a daemon on this machine tells its health: the gateway's listener, or the exchange API's where there is no bridge.
func HealthURL(cfg config.Config) string {
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

// AskHealth is nil when a daemon says that it is well.
func AskHealth(ctx context.Context, url string) error {
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
