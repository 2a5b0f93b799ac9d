package exchangeapi

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

// Config says where the exchange API listens and what it allows. The zero value serves 127.0.0.1:8090 in plain HTTP.
type Config struct {
	Listen string `yaml:"listen"` // HTTPS when tls is set, else plain HTTP
	TLS    TLS    `yaml:"tls"`
	// Origins are the web pages' origins that may call; none means any (no cookies are read, so any page may).
	Origins []string `yaml:"origins"`
	// TrustProxy lists the networks (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed. What comes from them is taken
	// for HTTPS unless it says otherwise.
	TrustProxy     []string      `yaml:"trust_proxy"`
	RatePerSecond  float64       `yaml:"rate_per_second"` // requests of one client; default 50
	Burst          int           `yaml:"burst"`           // default 200
	RequestTimeout time.Duration `yaml:"request_timeout"` // default 5 s; cancelling all orders of a pair may take six times that
	MaxConnections int           `yaml:"max_connections"` // open at one time, WebSockets included; further ones wait; default 8192

	CallLimit int           `yaml:"call_limit"` // private calls of one API key in a cycle; default 10
	CallCycle time.Duration `yaml:"call_cycle"` // default 60 s
	// KeysPerHour bounds how many keys one client may apply for or remove; default 20.
	KeysPerHour int `yaml:"keys_per_hour"`

	Rates     RatesConfig         `yaml:"rates"`
	Operators map[string]Operator `yaml:"operators"` // by address; what the market query shows of a market's operator
}

// TLS names certificate and key files (PEM). They are read again when they change.
type TLS struct {
	Cert   string        `yaml:"cert"`
	Key    string        `yaml:"key"`
	Reload time.Duration `yaml:"reload"` // how often the files are looked at; default 1 minute
}

// Operator is what is known of a market's operator beside the address.
type Operator struct {
	Name string `yaml:"name"`
	Logo string `yaml:"logo"` // URL
}

func (c Config) tls() bool { return c.TLS.Cert != "" }

// reachable tells whether those who can connect are served: false for plain HTTP on an address beyond this machine, without a proxy in front.
func (c Config) reachable() bool {
	host, _, err := net.SplitHostPort(c.Listen)
	local := err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
	return local || c.tls() || len(c.TrustProxy) > 0
}

// withDefaults is the configuration with every empty field filled.
func (c Config) withDefaults() Config {
	orString(&c.Listen, "127.0.0.1:8090")
	orDuration(&c.RequestTimeout, 5*time.Second)
	orDuration(&c.CallCycle, time.Minute)
	orDuration(&c.TLS.Reload, time.Minute)
	orInt(&c.Burst, 200)
	orInt(&c.MaxConnections, 8192)
	orInt(&c.CallLimit, 10)
	orInt(&c.KeysPerHour, 20)
	if c.RatePerSecond == 0 {
		c.RatePerSecond = 50
	}
	c.Rates = c.Rates.withDefaults()
	return c
}

func orString(p *string, value string) {
	if *p == "" {
		*p = value
	}
}

func orDuration(p *time.Duration, value time.Duration) {
	if *p == 0 {
		*p = value
	}
}

func orInt(p *int, value int) {
	if *p == 0 {
		*p = value
	}
}

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
	want((c.TLS.Cert == "") == (c.TLS.Key == ""), "tls: cert and key go together")
	want(c.RatePerSecond > 0 && c.Burst > 0, "rate_per_second and burst must be above zero")
	want(c.RequestTimeout > 0 && c.RequestTimeout <= time.Minute, "request_timeout %s: above zero and up to a minute is wanted", c.RequestTimeout)
	want(c.MaxConnections > 0, "max_connections must be above zero")
	want(c.CallLimit > 0 && c.CallCycle > 0, "call_limit and call_cycle must be above zero")
	want(c.KeysPerHour > 0, "keys_per_hour must be above zero")
	want(c.TLS.Reload > 0, "tls reload must be above zero")
	for _, o := range c.Origins {
		want(isOrigin(o), "origin %q: scheme://host[:port] is wanted", o)
	}
	for _, p := range c.TrustProxy {
		_, err := netip.ParsePrefix(p)
		want(err == nil, "trust_proxy %q: a network like 10.0.0.0/8 is wanted", p)
	}
	if err := c.Rates.Check(); err != nil {
		faults = append(faults, fmt.Errorf("rates: %w", err))
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

// checkBase refuses base paths that routing would read as patterns.
func checkBase(base string) error {
	if strings.ContainsAny(base, ":*?#%") {
		return fmt.Errorf("path %q: plain letters, digits and slashes are wanted", base)
	}
	return nil
}
