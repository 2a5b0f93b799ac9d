package limits

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
)

// Config is the section signer.limits of the configuration. What is left out is not limited.
type Config struct {
	Tokens     []Token `yaml:"tokens"`
	GatewayDay string  `yaml:"gateway_day"` // what all payments of a day may be worth, in the currency of the prices: "250000"
	Currency   string  `yaml:"currency"`    // of gateway_day and the prices, for people; default USD
	// file of prices: token, price of one token, time of the price; read again when it changes
	Prices   string        `yaml:"prices"`
	PriceAge time.Duration `yaml:"price_age"` // how old a price may be; default 24h
	Fees     []FeeBudget   `yaml:"fees"`
}

// Token limits what is paid of one gateway token, on each of its two chains apart. Amounts are
// integers in the token's smallest unit.
type Token struct {
	Network     string       `yaml:"network"`
	Token       string       `yaml:"token"` // its token id
	PerTransfer chain.Amount `yaml:"per_transfer"`
	PerUserDay  chain.Amount `yaml:"per_user_day"` // to one user, and to one payee
	PerHour     chain.Amount `yaml:"per_hour"`
	PerDay      chain.Amount `yaml:"per_day"`
}

// FeeBudget is the most native coin that fees on a chain may take in a day: cancellations and gas
// are bounded by it.
type FeeBudget struct {
	Chain  chain.ID     `yaml:"chain"`
	PerDay chain.Amount `yaml:"per_day"`
}

// Defaults of what is left out.
const (
	defaultPriceAge = 24 * time.Hour
	defaultCurrency = "USD"
)

// WithDefaults is the section with every empty field filled that has a default.
func (c Config) WithDefaults() Config {
	c.PriceAge = cmp.Or(c.PriceAge, defaultPriceAge)
	c.Currency = cmp.Or(c.Currency, defaultCurrency)
	return c
}

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	seen := map[string]bool{}
	for _, t := range c.Tokens {
		key := t.Network + " " + t.Token
		if seen[key] {
			return fmt.Errorf("tokens: %s of network %s is listed twice", t.Token, t.Network)
		}
		seen[key] = true
		if err := t.check(); err != nil {
			return fmt.Errorf("tokens: %s of network %s: %w", t.Token, t.Network, err)
		}
	}
	chains := map[chain.ID]bool{}
	for _, f := range c.Fees {
		if f.Chain == "" || chains[f.Chain] || f.PerDay.IsZero() {
			return fmt.Errorf("fees: %q: must be listed once, with per_day above zero", f.Chain)
		}
		chains[f.Chain] = true
	}
	return c.checkGateway()
}

func (c Config) checkGateway() error {
	switch {
	case c.PriceAge < 0:
		return errors.New("price_age: below zero")
	case c.GatewayDay == "":
		return nil
	case c.Prices == "":
		return errors.New("gateway_day requires prices, the name of a file")
	}
	if _, err := parseValue(c.GatewayDay); err != nil {
		return fmt.Errorf("gateway_day: %w", err)
	}
	return nil
}

func (t Token) check() error {
	under := func(a, b chain.Amount) bool { return !a.IsZero() && !b.IsZero() && b.Less(a) }
	switch {
	case t.Network == "" || t.Token == "":
		return errors.New("network and token are required")
	case t.PerTransfer.IsZero() && t.PerUserDay.IsZero() && t.PerHour.IsZero() && t.PerDay.IsZero():
		return errors.New("one of per_transfer, per_user_day, per_hour and per_day is required")
	case under(t.PerTransfer, t.PerUserDay), under(t.PerTransfer, t.PerHour), under(t.PerTransfer, t.PerDay):
		return errors.New("per_transfer is above the limit of a user, an hour or a day: no such transfer would ever pass")
	case under(t.PerHour, t.PerDay):
		return errors.New("per_hour is above per_day")
	}
	return nil
}
