package hsm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/wallet/hsm"
)

func TestConfigIsChecked(t *testing.T) {
	whole := hsm.Config{Module: "/lib/m.so", Token: "gateway", PINEnv: "PIN", Keys: map[string]string{"m/44'/60'/1'/0/0": "hot"}}
	require.NoError(t, whole.Check())
	require.True(t, whole.Enabled())
	require.NoError(t, hsm.Config{}.Check())
	require.False(t, hsm.Config{}.Enabled())
	for rule, change := range map[string]func(*hsm.Config){
		"module: ":             func(c *hsm.Config) { c.Module = "" },
		"token: ":              func(c *hsm.Config) { c.Token = "" },
		"pin_file: ":           func(c *hsm.Config) { c.PINFile = "/pin" },
		"have a derivation":    func(c *hsm.Config) { c.Keys = nil },
		"begins with m/44'/60": func(c *hsm.Config) { c.Keys = map[string]string{"m/44'/666666'/0'": "gateway"} },
		"the label of a key":   func(c *hsm.Config) { c.Keys = map[string]string{"m/44'/60'/1'/0/0": ""} },
	} {
		c := whole
		change(&c)
		require.ErrorContains(t, c.Check(), rule)
	}
	neither := whole
	neither.PINEnv = ""
	require.ErrorContains(t, neither.Check(), "pin_file: ")
}
