package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
)

// HealthURL is the URL of a daemon's health on this machine: at the gateway's listener, or the
// exchange API's where there is no bridge.
func HealthURL(cfg config.Config) string {
	listen := cmp.Or(cfg.Gateway.Listen, "127.0.0.1:8080")
	server := cfg.Gateway.Config
	if len(cfg.Networks) == 0 && cfg.Exchange != nil {
		listen, server = cmp.Or(cfg.Exchange.Listen, "127.0.0.1:8090"), cfg.Exchange.Config.Config
	}
	return urlHere(listen, server.Secured()) + "/health"
}

// OperatorsURL is the URL of the operators' listener on this machine; empty where the system
// chooses the port.
func OperatorsURL(cfg config.Config) string {
	section := cfg.Operators.WithDefaults()
	if _, port, _ := net.SplitHostPort(section.Listen); port == "0" {
		return ""
	}
	return urlHere(section.Listen, section.Secured())
}

// urlHere reaches a listener from this machine.
func urlHere(listen string, secured bool) string {
	host, port, _ := net.SplitHostPort(listen) // Check has read it
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	scheme := "http"
	if secured {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port)
}

// AskConfigured is AskHealth of the daemon or the signer of a configuration. A process without the
// role api is well when its operators' listener reports that it is ready.
func AskConfigured(ctx context.Context, cfg config.Config) (string, error) {
	if cfg.Signs() {
		return Well, cfg.Signer.Place.Ask(ctx)
	}
	state, err := AskHealth(ctx, HealthURL(cfg))
	if operators := OperatorsURL(cfg); errors.Is(err, syscall.ECONNREFUSED) && operators != "" {
		_, file := database.Path(cfg.Database.URL)
		r, asked := askReady(ctx, operators)
		if asked == nil && r.Ready && (r.Role != roleStandby || !file) { // a standby on a file waits, and serves nothing
			return Well, nil
		}
	}
	return state, err
}

// askReady reads the readiness at OperatorsURL.
func askReady(ctx context.Context, url string) (r readiness, err error) {
	err = get(ctx, url+"/ready", "asking for readiness", func(res *http.Response) error {
		if err := json.NewDecoder(io.LimitReader(res.Body, maxHealth)).Decode(&r); err != nil || r.Role == "" {
			return fmt.Errorf("%s is answered by another program", url)
		}
		return nil
	})
	return r, err
}

// Well is the state of a daemon that blocks no payments.
const Well = "well"

// AskHealth returns the state of a healthy daemon: Well, or degraded with the reasons.
func AskHealth(ctx context.Context, url string) (state string, err error) {
	err = get(ctx, url, "asking for health", func(res *http.Response) error {
		reasons := reasonsOf(io.LimitReader(res.Body, maxHealth))
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s%s", url, res.Status, reasons)
		}
		if state = Well; reasons != "" {
			state = "degraded" + reasons
		}
		return nil
	})
	return state, err
}

// AskWell returns nil when a daemon reports that it blocks no payments.
func AskWell(ctx context.Context, url string) error {
	state, err := AskHealth(ctx, url)
	if err == nil && state != Well {
		err = fmt.Errorf("%s answers %s", url, state)
	}
	return err
}

// AskOperators is nil when the listener at OperatorsURL answers as a daemon does, ready or not.
func AskOperators(ctx context.Context, url string) error {
	_, err := askReady(ctx, url)
	return err
}

func get(ctx context.Context, url, what string, read func(*http.Response) error) error {
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
		return noAnswer{fmt.Sprintf("%s: no answer at %s: %s", what, url, chain.PlainError(err)), err}
	}
	defer res.Body.Close()
	return read(res)
}

// noAnswer is the failure of a request, in plain words.
type noAnswer struct {
	text  string
	cause error
}

// Error returns the text.
func (e noAnswer) Error() string { return e.text }

// Unwrap returns the cause, which the text has in plain words.
func (e noAnswer) Unwrap() error { return e.cause }

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
