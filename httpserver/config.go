package httpserver

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Config sets a server's listeners and clients. It is part of each server's configuration, among
// that server's own keys.
type Config struct {
	Listen string `yaml:"listen"` // HTTPS when tls or acme is set, else plain HTTP
	// PlainListen is a second, plain listener in addition to an HTTPS one (":80"): it answers ACME
	// challenges and follows PlainHTTP otherwise.
	PlainListen string `yaml:"plain_listen"`
	TLS         TLS    `yaml:"tls"`
	ACME        ACME   `yaml:"acme"`
	// PlainHTTP is the answer to plain HTTP from another machine: "refuse" (default) or "redirect"
	// to https. Requests from this machine are served.
	PlainHTTP string `yaml:"plain_http"`
	// Origins are the web pages' origins that may call; none means any (no cookies are read, so any
	// page may).
	Origins []string `yaml:"origins"`
	// TrustProxy lists the networks (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto
	// are believed. Their requests count as HTTPS unless a header states otherwise.
	TrustProxy    []string `yaml:"trust_proxy"`
	RatePerSecond float64  `yaml:"rate_per_second"` // requests of one client
	Burst         int      `yaml:"burst"`
	// open at one time on a listener; further ones wait. One client (address, IPv6 by /64) has a
	// quarter of them
	MaxConnections int `yaml:"max_connections"`
}

// TLS names certificate and key files (PEM). They are read again when they change.
type TLS struct {
	Cert   string        `yaml:"cert"`
	Key    string        `yaml:"key"`
	Reload time.Duration `yaml:"reload"` // how often the files are looked at; default 1 minute
}

// ACME obtains certificates automatically (Let's Encrypt). The host must be reachable at port 443,
// or at port 80 through PlainListen.
type ACME struct {
	Domains []string `yaml:"domains"`
	Email   string   `yaml:"email"`
	Cache   string   `yaml:"cache"` // directory of keys and certificates
}

// Values of PlainHTTP.
const (
	Refuse   = "refuse"
	Redirect = "redirect"
)

// Secured reports whether the server speaks HTTPS itself.
func (c Config) Secured() bool { return c.files() || c.acme() }

func (c Config) files() bool { return c.TLS.Cert != "" }
func (c Config) acme() bool  { return len(c.ACME.Domains) > 0 }

// Reachable reports whether those who can connect are served: false for plain HTTP on an address
// beyond this machine, without a proxy in front.
func (c Config) Reachable() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	local := err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
	return local || c.Secured() || len(c.TrustProxy) > 0
}

// Or is the configuration with every empty field filled: from defaults where a server has its own,
// else with what suits all.
func (c Config) Or(defaults Config) Config {
	if c.Listen == "" {
		c.Listen = defaults.Listen
	}
	if c.PlainHTTP == "" {
		c.PlainHTTP = Refuse
	}
	if c.RatePerSecond == 0 {
		c.RatePerSecond = defaults.RatePerSecond
	}
	if c.Burst == 0 {
		c.Burst = defaults.Burst
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = defaults.MaxConnections
	}
	if c.TLS.Reload == 0 {
		c.TLS.Reload = time.Minute
	}
	return c
}

// Check reports every rule that the configuration, with its defaults, breaks.
func (c Config) Check() error {
	var faults []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	want(isListen(c.Listen), "listen %q: must be host:port", c.Listen)
	want(c.PlainListen == "" || isListen(c.PlainListen), "plain_listen %q: must be host:port", c.PlainListen)
	want(c.PlainListen == "" || c.Secured(), "plain_listen: only allowed with tls or acme")
	want((c.TLS.Cert == "") == (c.TLS.Key == ""), "tls: cert and key go together")
	want(!c.files() || !c.acme(), "tls and acme exclude each other")
	want(!c.acme() || c.ACME.Cache != "", "acme: cache is required, or every start requests new certificates")
	want(c.PlainHTTP == Refuse || c.PlainHTTP == Redirect, "plain_http %q: must be refuse or redirect", c.PlainHTTP)
	want(c.RatePerSecond > 0 && c.Burst > 0, "rate_per_second and burst must be above zero")
	want(c.MaxConnections > 0, "max_connections must be above zero")
	want(c.TLS.Reload > 0, "tls reload must be above zero")
	for _, d := range c.ACME.Domains {
		want(isDomain(d), "acme: domain %q: must be a complete host name like gateway.example.org", d)
	}
	for _, o := range c.Origins {
		want(isOrigin(o), "origin %q: must be scheme://host[:port]", o)
	}
	if _, err := prefixes(c.TrustProxy); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func isListen(s string) bool {
	_, port, err := net.SplitHostPort(s)
	return err == nil && port != ""
}

// isDomain reports whether a certificate can be had by the challenges that we answer: of one name,
// not of all below it, nor of an address.
func isDomain(s string) bool {
	u, err := url.Parse("//" + s)
	_, notIP := netip.ParseAddr(s)
	return err == nil && u.Host == s && u.Port() == "" && notIP != nil && strings.Contains(strings.Trim(s, "."), ".") && !strings.ContainsAny(s, "*:_ ")
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && u.Path == "" && u.RawQuery == "" && u.User == nil
}

func prefixes(networks []string) ([]netip.Prefix, error) {
	list := make([]netip.Prefix, len(networks))
	for i, text := range networks {
		var err error
		if list[i], err = netip.ParsePrefix(text); err != nil {
			return nil, fmt.Errorf("trust_proxy %q: must be a network like 10.0.0.0/8", text)
		}
	}
	return list, nil
}
