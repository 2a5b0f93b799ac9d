package daemon

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
)

func TestParseRoles(t *testing.T) {
	r, err := ParseRoles([]string{"follow", "pay", "api", "exchange"})
	require.NoError(t, err)
	require.Equal(t, AllRoles, r)
	r, err = ParseRoles([]string{"exchange", " api"})
	require.NoError(t, err)
	require.Equal(t, Roles{API: true, Exchange: true}, r)
	for list, message := range map[string]string{"": `role "": must be follow`, "watch": `role "watch": must be`, "pay": "name both or neither"} {
		_, err = ParseRoles([]string{list})
		require.ErrorContains(t, err, message)
	}
	_, err = ParseRoles(nil)
	require.ErrorContains(t, err, "at least one")
}

// TestRolesOfAConfiguration: what a role needs must be configured, and what no role needs is left
// out.
func TestRolesOfAConfiguration(t *testing.T) {
	whole := config.Config{Networks: []config.Network{{}}, Exchange: &config.Exchange{}}
	whole.Wallet.Signer, whole.Database.URL = "signer.internal:9090", "postgres://gatewayd@db/gatewayd"

	cfg, err := Roles{Exchange: true}.Of(whole)
	require.NoError(t, err)
	require.Empty(t, cfg.Networks)
	cfg, err = Roles{API: true}.Of(whole)
	require.NoError(t, err)
	require.Nil(t, cfg.Exchange)
	require.Len(t, cfg.Networks, 1)

	for message, change := range map[string]func(*config.Config){
		"the configuration has no networks": func(c *config.Config) { c.Networks = nil },
		"set wallet.signer":                 func(c *config.Config) { c.Wallet.Signer = "" },
		"set database.url":                  func(c *config.Config) { c.Database.URL = "sqlite:records.db" },
		"no section exchange":               func(c *config.Config) { c.Exchange = nil },
		"embedded exchange chain":           func(c *config.Config) { c.Embedded = &config.Embedded{} },
	} {
		cfg := whole
		change(&cfg)
		_, err := Roles{API: true, Exchange: true}.Of(cfg)
		require.ErrorContains(t, err, message)
	}
}
