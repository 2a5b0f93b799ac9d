package daemon

import (
	"errors"
	"fmt"
	"strings"

	"gatewayd/config"
	"gatewayd/internal/database"
)

// Roles are the parts of the daemon that a process runs.
type Roles struct {
	Bridge   bool // follow and pay: the work under the lease
	API      bool // the gateway for wallets
	Exchange bool // the exchange API
}

// AllRoles is the default.
var AllRoles = Roles{Bridge: true, API: true, Exchange: true}

// ParseRoles reads a list of follow, pay, api and exchange.
func ParseRoles(names []string) (r Roles, err error) {
	named := map[string]bool{}
	for _, name := range names {
		switch name = strings.TrimSpace(name); name {
		case "follow", "pay", "api", "exchange":
			named[name] = true
		default:
			return r, fmt.Errorf("role %q: must be follow, pay, api or exchange", name)
		}
	}
	switch {
	case len(named) == 0:
		return r, errors.New("roles: at least one of follow, pay, api and exchange is required")
	case named["follow"] != named["pay"]:
		return r, errors.New("roles follow and pay: name both or neither, they work under one lease")
	}
	return Roles{Bridge: named["follow"], API: named["api"], Exchange: named["exchange"]}, nil
}

// Of returns the part of a configuration that the roles need.
func (r Roles) Of(cfg config.Config) (config.Config, error) {
	switch {
	case r == AllRoles:
		return cfg, nil
	case (r.Bridge || r.API) && len(cfg.Networks) == 0:
		return cfg, errors.New("roles follow, pay and api: the configuration has no networks")
	case r.Exchange && cfg.Exchange == nil:
		return cfg, errors.New("role exchange: the configuration has no section exchange")
	case cfg.Embedded != nil:
		return cfg, errors.New("the embedded exchange chain needs a process with all roles")
	case r.API && !r.Bridge && !cfg.Wallet.Remote():
		return cfg, errors.New("role api without follow and pay has no keys: set wallet.signer")
	}
	if _, file := database.Path(cfg.Database.URL); file && r.API && !r.Bridge {
		return cfg, errors.New("role api without follow and pay needs a database for several processes: set database.url to a PostgreSQL server")
	}
	if !r.Exchange {
		cfg.Exchange = nil
	}
	if !r.Bridge && !r.API {
		cfg.Networks = nil
	}
	return cfg, nil
}
