package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"gatewayd/httpserver"
)

// Config sets the gateway's listeners and limits. The zero value serves 127.0.0.1:8080 in plain
// HTTP.
type Config struct {
	httpserver.Config `yaml:",inline"` // default: 20 requests a second, 60 at once, 4096 connections
	RequestTimeout    time.Duration    `yaml:"request_timeout"` // default 5 s
	// NewBindingsPerHour bounds how many new inbound addresses or labels one client can take;
	// default 30.
	NewBindingsPerHour int `yaml:"new_bindings_per_hour"`
	// NewBindingsPerSite bounds the same in an hour for all IPv6 clients of one /48; default 300.
	NewBindingsPerSite int `yaml:"new_bindings_per_site"`
	// NewBindingsPerDay bounds the same in any day for all clients together, on all networks;
	// default 10,000.
	NewBindingsPerDay int `yaml:"new_bindings_per_day"`
	// BridgePage serves the bridge page at /bridge and the start page at /; left out, they are served.
	BridgePage *bool `yaml:"bridge_page"`
	// Reserves publishes at /reserves what is held and owed of each token, and on the bridge page.
	Reserves bool `yaml:"reserves"`
	// Operator is shown on the pages of all listeners.
	Operator Operator `yaml:",inline"`
}

// Operator introduces to users who runs the site. Members that are not set are empty.
type Operator struct {
	Contact string `yaml:"contact,omitempty"` // where users reach the operator: a mailto: or https: URL
	Name    string `yaml:"operator,omitempty"`
	Legal   string `yaml:"terms,omitempty"` // the https: URL of the terms of use
}

// faults are the reasons why o cannot be shown.
func (o Operator) faults() (faults []error) {
	if o.Contact != "" && !isLink(o.Contact, "https", "mailto") {
		faults = append(faults, fmt.Errorf("contact %q: must be a mailto: or https: URL", o.Contact))
	}
	if o.Legal != "" && !isLink(o.Legal, "https") {
		faults = append(faults, fmt.Errorf("terms %q: must be an https: URL", o.Legal))
	}
	return faults
}

// BindingsPerDay is NewBindingsPerDay or its default.
func (c Config) BindingsPerDay() int { return cmp.Or(c.NewBindingsPerDay, 10_000) }

// withDefaults is the configuration with every empty field filled.
func (c Config) withDefaults() Config {
	c.Config = c.Config.Or(httpserver.Config{Listen: "127.0.0.1:8080", RatePerSecond: 20, Burst: 60, MaxConnections: 4096})
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 5*time.Second)
	c.NewBindingsPerHour = cmp.Or(c.NewBindingsPerHour, 30)
	c.NewBindingsPerSite = cmp.Or(c.NewBindingsPerSite, 300)
	c.NewBindingsPerDay = c.BindingsPerDay()
	return c
}

// maxRequestTimeout keeps every answer below the 10 s after which the impatient one of the wallets
// gives up (docs/gateway-clients.md 1).
const maxRequestTimeout = 9 * time.Second

// Check reports every rule that the configuration breaks.
func (c Config) Check() error {
	c = c.withDefaults()
	faults := []error{c.Config.Check()}
	if c.RequestTimeout <= 0 || c.RequestTimeout > maxRequestTimeout {
		faults = append(faults, fmt.Errorf("request_timeout %s: must be above zero and at most %s", c.RequestTimeout, maxRequestTimeout))
	}
	faults = append(faults, c.Operator.faults()...)
	for _, cap := range []struct {
		key  string
		most int
	}{
		{"new_bindings_per_hour", c.NewBindingsPerHour}, {"new_bindings_per_site", c.NewBindingsPerSite}, {"new_bindings_per_day", c.NewBindingsPerDay},
	} {
		if cap.most <= 0 {
			faults = append(faults, fmt.Errorf("%s must be above zero", cap.key))
		}
	}
	return errors.Join(faults...)
}

// isLink reports whether a text is a complete URL with one of the schemes.
func isLink(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.Contains(schemes, u.Scheme) && (u.Scheme == "mailto" || u.Host != "")
}

// reservedPaths are the paths that no network can have.
var reservedPaths = []string{"/health", "/ready", "/openapi.json", "/openapi-3.0.json", "/docs", "/bridge", "/design", "/networks.json", "/reserves", "/site.json"}

// checkBase refuses base paths that routing would read as patterns or that hide our own pages.
func checkBase(base string) error {
	if strings.ContainsAny(base, ":*?#%") {
		return fmt.Errorf("path %q: must have only ASCII letters, digits and slashes", base)
	}
	if slices.Contains(reservedPaths, base) {
		return fmt.Errorf("path %q is the gateway's own", base)
	}
	return nil
}
