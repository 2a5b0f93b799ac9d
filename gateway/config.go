package gateway

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"
)

// Config says where the gateway listens and what it allows. The zero value serves 127.0.0.1:8080 in plain HTTP.
type Config struct {
	Listen string `yaml:"listen"` // HTTPS when tls or acme is set, else plain HTTP
	// PlainListen is a second, plain listener beside an HTTPS one (":80"): it answers ACME challenges and what PlainHTTP says.
	PlainListen string `yaml:"plain_listen"`
	TLS         TLS    `yaml:"tls"`
	ACME        ACME   `yaml:"acme"`
	// PlainHTTP is what a request over plain HTTP from another machine gets: "refuse" (default) or "redirect" to https.
	// Requests from this machine are served.
	PlainHTTP string `yaml:"plain_http"`
	// Origins are the web pages' origins that may call; none means any (no cookies are read, so any page may).
	Origins []string `yaml:"origins"`
	// TrustProxy lists the networks (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. What comes from them is taken
	// for HTTPS unless it says otherwise.
	TrustProxy     []string      `yaml:"trust_proxy"`
	RatePerSecond  float64       `yaml:"rate_per_second"` // requests of one client; default 20
	Burst          int           `yaml:"burst"`           // default 60
	RequestTimeout time.Duration `yaml:"request_timeout"` // default 5 s
	// NewBindingsPerHour bounds how many new inbound addresses or labels one client can take; default 30.
	NewBindingsPerHour int `yaml:"new_bindings_per_hour"`
	MaxConnections     int `yaml:"max_connections"` // open at one time on a listener; further ones wait; default 4096
}

// TLS names certificate and key files (PEM). They are read again when they change.
type TLS struct {
	Cert   string        `yaml:"cert"`
	Key    string        `yaml:"key"`
	Reload time.Duration `yaml:"reload"` // how often the files are looked at; default 1 minute
}

// ACME gets certificates by itself (Let's Encrypt). The host must be reachable at port 443, or at port 80 through PlainListen.
type ACME struct {
	Domains []string `yaml:"domains"`
	Email   string   `yaml:"email"`
	Cache   string   `yaml:"cache"` // directory of keys and certificates
}

// What PlainHTTP can say.
const (
	plainRefuse   = "refuse"
	plainRedirect = "redirect"
)

func (c Config) tls() bool  { return c.TLS.Cert != "" }
func (c Config) acme() bool { return len(c.ACME.Domains) > 0 }

// reachable tells whether those who can connect are served: false for plain HTTP on an address beyond this machine, without a proxy in front.
func (c Config) reachable() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	local := err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
	return local || c.tls() || c.acme() || len(c.TrustProxy) > 0
}

// withDefaults is the configuration with every empty field filled.
func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:8080"
	}
	if c.PlainHTTP == "" {
		c.PlainHTTP = plainRefuse
	}
	if c.RatePerSecond == 0 {
		c.RatePerSecond = 20
	}
	if c.Burst == 0 {
		c.Burst = 60
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 5 * time.Second
	}
	if c.NewBindingsPerHour == 0 {
		c.NewBindingsPerHour = 30
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = 4096
	}
	if c.TLS.Reload == 0 {
		c.TLS.Reload = time.Minute
	}
	return c
}

// maxRequestTimeout keeps every answer below the 10 s after which the impatient one of the wallets gives up (facts/gateway.md 1.1).
const maxRequestTimeout = 9 * time.Second

// Check tells every rule that the configuration breaks.
func (c Config) Check() error {
	c = c.withDefaults()
	var faults []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	want(isListen(c.Listen), "listen %q: host:port is wanted", c.Listen)
	want(c.PlainListen == "" || isListen(c.PlainListen), "plain_listen %q: host:port is wanted", c.PlainListen)
	want(c.PlainListen == "" || c.tls() || c.acme(), "plain_listen stands beside tls or acme only")
	want((c.TLS.Cert == "") == (c.TLS.Key == ""), "tls: cert and key go together")
	want(!c.tls() || !c.acme(), "tls and acme exclude each other")
	want(!c.acme() || c.ACME.Cache != "", "acme: cache is wanted, or every start asks for new certificates")
	want(c.PlainHTTP == plainRefuse || c.PlainHTTP == plainRedirect, "plain_http %q: refuse or redirect is wanted", c.PlainHTTP)
	want(c.RatePerSecond > 0 && c.Burst > 0, "rate_per_second and burst must be above zero")
	want(c.RequestTimeout > 0 && c.RequestTimeout <= maxRequestTimeout, "request_timeout %s: above zero and up to %s is wanted", c.RequestTimeout, maxRequestTimeout)
	want(c.NewBindingsPerHour > 0, "new_bindings_per_hour must be above zero")
	want(c.MaxConnections > 0, "max_connections must be above zero")
	want(c.TLS.Reload > 0, "tls reload must be above zero")
	for _, o := range c.Origins {
		want(isOrigin(o), "origin %q: scheme://host[:port] is wanted", o)
	}
	for _, p := range c.TrustProxy {
		_, err := netip.ParsePrefix(p)
		want(err == nil, "trust_proxy %q: a network like 10.0.0.0/8 is wanted", p)
	}
	return errors.Join(faults...)
}

func isListen(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && port != ""
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && u.Path == "" && u.RawQuery == "" && u.User == nil
}

// cleanBase is a base path with one slash in front and none behind; "" for the root.
func cleanBase(base string) string {
	if base = path.Clean("/" + base); base == "/" {
		return ""
	}
	return base
}

// checkBase refuses base paths that routing would read as patterns or that hide our own pages.
func checkBase(base string) error {
	if strings.ContainsAny(base, ":*?#%") {
		return fmt.Errorf("path %q: plain letters, digits and slashes are wanted", base)
	}
	if base == "/health" || base == "/openapi.json" {
		return fmt.Errorf("path %q is the gateway's own", base)
	}
	return nil
}
