package exchangeapi

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/rates"
	"gatewayd/httpserver"
)

// Config sets where the exchange API listens and its limits. The zero value serves 127.0.0.1:8090
// in plain HTTP.
type Config struct {
	httpserver.Config `yaml:",inline"` // default: 50 requests a second, 200 at once, 16384 connections, WebSockets included
	RequestTimeout    time.Duration    `yaml:"request_timeout"` // default 5 s; cancelling all orders of a pair may take six times that

	CallLimit int           `yaml:"call_limit"` // what private calls of one API key may cost in a cycle; default 60
	CallCycle time.Duration `yaml:"call_cycle"` // default 60 s
	// KeysPerHour bounds how many keys one client may apply for or remove; default 20.
	KeysPerHour int `yaml:"keys_per_hour"`

	Rates     rates.Config        `yaml:"rates"`
	Operators map[string]Operator `yaml:"operators"` // by address; what the market query shows of a market's operator
	// Tokens adds descriptions to tokens in the token queries, by token ID. Gateway describes the
	// bridge of bridged tokens.
	Tokens     map[string]TokenInfo  `yaml:"tokens"`
	Gateway    GatewayInfo           `yaml:"gateway"`
	DepthSteps map[string]DepthSteps `yaml:"depth_steps"` // by pair; which merging steps its depth view should offer, where not all
}

// DepthSteps is a range of merging steps.
type DepthSteps struct {
	Min int `yaml:"min" json:"min"`
	Max int `yaml:"max" json:"max"`
}

// maxDepthStep is more than any price has decimals.
const maxDepthStep = 18

// Operator describes a market's operator in addition to the address.
type Operator struct {
	Name string `yaml:"name"`
	Logo string `yaml:"logo"` // URL
}

// withDefaults is the configuration with every empty field filled.
func (c Config) withDefaults() Config {
	c.Config = c.Config.Or(httpserver.Config{Listen: "127.0.0.1:8090", RatePerSecond: 50, Burst: 200, MaxConnections: 16_384})
	c.RequestTimeout = cmp.Or(c.RequestTimeout, 5*time.Second)
	c.CallLimit, c.CallCycle = cmp.Or(c.CallLimit, 60), cmp.Or(c.CallCycle, time.Minute)
	c.KeysPerHour = cmp.Or(c.KeysPerHour, 20)
	return c
}

// Taking is the configuration with what a running server takes over from a newer one: how much
// clients may ask for.
func (c Config) Taking(next Config) Config {
	c.RatePerSecond, c.Burst = next.RatePerSecond, next.Burst
	c.CallLimit, c.CallCycle, c.KeysPerHour = next.CallLimit, next.CallCycle, next.KeysPerHour
	return c
}

// calls returns the default limit of a key's private calls.
func (c Config) calls() apikey.Cycle { return apikey.Cycle{Limit: c.CallLimit, Length: c.CallCycle} }

func (c Config) keyPeriod() time.Duration { return time.Hour / time.Duration(c.KeysPerHour) }

// Check reports every rule that the configuration breaks.
func (c Config) Check() error {
	c = c.withDefaults()
	faults := []error{c.Config.Check()}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	want(c.RequestTimeout > 0 && c.RequestTimeout <= time.Minute, "request_timeout %s: must be above zero and at most a minute", c.RequestTimeout)
	want(c.CallLimit > 0 && c.CallCycle > 0, "call_limit and call_cycle must be above zero")
	want(c.KeysPerHour > 0, "keys_per_hour must be above zero")
	for id, t := range c.Tokens {
		if err := t.check(); err != nil {
			faults = append(faults, fmt.Errorf("token %s: %w", id, err))
		}
	}
	if err := c.Gateway.check(); err != nil {
		faults = append(faults, fmt.Errorf("gateway: %w", err))
	}
	for pair, s := range c.DepthSteps {
		want(s.Min >= 0 && s.Max >= s.Min && s.Max <= maxDepthStep, "depth_steps of %s: must be 0 <= min <= max <= %d", pair, maxDepthStep)
	}
	if err := c.Rates.Check(); err != nil {
		faults = append(faults, fmt.Errorf("rates: %w", err))
	}
	return errors.Join(faults...)
}

// checkBase refuses base paths that routing would read as patterns.
func checkBase(base string) error {
	if strings.ContainsAny(base, ":*?#%") {
		return fmt.Errorf("path %q: must have only ASCII letters, digits and slashes", base)
	}
	return nil
}
