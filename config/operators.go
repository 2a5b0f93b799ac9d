package config

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"gatewayd/httpserver"
	"gatewayd/internal/tracing"
	"gatewayd/signer/approval"
)

// Operators is the listener for operators and their tools: /health, /ready and /metrics. It shows
// amounts and accounts, so other machines reach it over HTTPS, through a trusted proxy, or in plain
// HTTP where the section permits it.
type Operators struct {
	httpserver.Config `yaml:",inline"`
	URL               string               `yaml:"url"`   // of the console, as people open it: what their passkeys are for
	Plain             bool                 `yaml:"plain"` // other machines are served over plain HTTP: for a network of the operators' own
	Traces            tracing.ExportConfig `yaml:"traces"`
}

// OperatorsListen is the default address of the operators' listener.
const OperatorsListen = "127.0.0.1:8070"

// WithDefaults is the section with every empty field filled.
func (c Operators) WithDefaults() Operators {
	c.Config = c.Config.Or(httpserver.Config{Listen: OperatorsListen, RatePerSecond: 20, Burst: 60, MaxConnections: 64})
	return c
}

// Site is the page that passkeys are for. Without a URL it is the host of the certificate, or
// localhost where other machines are not answered, at the port that it listens on.
func (c Operators) Site(listens string) (approval.Site, error) {
	if c.URL != "" {
		return approval.ParseSite(c.URL)
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(strings.TrimPrefix(listens, "http://"), "https://"))
	switch {
	case err != nil:
		return approval.Site{}, errors.New("nothing listens yet")
	case len(c.ACME.Domains) > 0 && port == "443":
		return approval.ParseSite("https://" + c.ACME.Domains[0])
	case net.ParseIP(host).IsLoopback() && !c.Secured():
		return approval.ParseSite("http://localhost:" + port)
	}
	return approval.Site{}, errors.New("it is not set")
}

// Check refuses a listener whose every request from other machines would be turned away, or read on
// the way by strangers.
func (c Operators) Check() error {
	c = c.WithDefaults()
	faults := []error{c.Config.Check()}
	if err := c.Traces.Check(); err != nil {
		faults = append(faults, fmt.Errorf("traces: %w", err))
	}
	if _, err := approval.ParseSite(c.URL); c.URL != "" && err != nil {
		faults = append(faults, fmt.Errorf("url: %w", err))
	}
	if !c.Plain && !c.Reachable() {
		faults = append(faults, fmt.Errorf("listen %s: other machines could read the traffic: set tls, acme or trust_proxy, or `plain: true` in a private network", c.Listen))
	}
	return errors.Join(faults...)
}
