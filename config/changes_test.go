package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// TestWhatIsTaken: the keys that a running daemon takes over, those that take a restart, and that a
// token's nature is among these.
func TestWhatIsTaken(t *testing.T) {
	const usdt = "networks.eth.tokens.USDT-000"
	for name, c := range map[string]struct {
		change         func(*Config)
		taken, restart []string
	}{
		"nothing":         {func(*Config) {}, nil, nil},
		"funders":         {func(c *Config) { c.Networks[0].Funders = []string{"0x1"} }, []string{"networks.eth.funders"}, nil},
		"a minimum":       {func(c *Config) { c.Networks[0].Tokens[1].MinDeposit = chain.NewAmount(7) }, []string{usdt + ".min_deposit"}, nil},
		"a fee":           {func(c *Config) { c.Networks[0].Tokens[1].Fee.Ceiling = 9 }, []string{usdt + ".fee.ceiling"}, nil},
		"depth":           {func(c *Config) { c.Networks[0].Tokens[1].Deposits = records.Depth{Count: 77} }, []string{usdt + ".deposit_confirmations.count"}, nil},
		"tokens less":     {func(c *Config) { c.Networks[0].Tokens = c.Networks[0].Tokens[:1] }, []string{"networks.eth.tokens.DAI-000", usdt}, nil},
		"order":           {func(c *Config) { s := c.Networks[0].Tokens; s[0], s[1] = s[1], s[0] }, nil, nil},
		"log":             {func(c *Config) { c.Log.Level = "debug" }, []string{"log.level"}, nil},
		"clients":         {func(c *Config) { c.Gateway.Burst, c.Gateway.NewBindingsPerDay = 3, 4 }, []string{"gateway.burst", "gateway.new_bindings_per_day"}, nil},
		"a contract":      {func(c *Config) { c.Ethereum[0].Tokens = []chain.Asset{chain.Asset(someContract)} }, []string{"ethereum.eth.tokens"}, nil},
		"a token's asset": {func(c *Config) { c.Networks[0].Tokens[1].Asset = chain.Asset(someContract) }, nil, []string{usdt + ".asset"}},
		"decimals":        {func(c *Config) { c.Networks[0].Tokens[1].Decimals = 9 }, nil, []string{usdt + ".decimals"}},
		"a gas price":     {func(c *Config) { c.Ethereum[0].MaxFeeGwei = "77" }, []string{"ethereum.eth.max_fee_gwei"}, nil},
		"who pays": {func(c *Config) {
			c.Ethereum[0].Accounts, c.Ethereum[0].Retired, c.Vite[0].Accounts, c.Vite[0].Retired = 2, []int{0}, 3, []int{1}
		}, []string{"ethereum.eth.accounts", "ethereum.eth.retired", "vite.vite.accounts", "vite.vite.retired"}, nil},
		"listeners":         {func(c *Config) { c.Gateway.Listen = "127.0.0.1:1" }, nil, []string{"gateway.listen"}},
		"operators":         {func(c *Config) { c.Operators.Listen = "127.0.0.1:1" }, nil, []string{"operators.listen"}},
		"nodes":             {func(c *Config) { c.Ethereum[0].Nodes = []string{"http://127.0.0.1:1"} }, []string{"ethereum.eth.nodes"}, nil},
		"exchange nodes":    {func(c *Config) { c.Vite[0].Nodes = []string{"http://127.0.0.1:1", "http://b"} }, []string{"vite.vite.nodes"}, nil},
		"a network's chain": {func(c *Config) { c.Networks[0].Source, c.Networks[0].Funders = "bsc", nil }, nil, []string{"networks.eth.funders", "networks.eth.source"}},
		"a path":            {func(c *Config) { c.Networks[0].Path = "/x" }, nil, []string{"networks.eth.path"}},
		"a network more": {func(c *Config) {
			n := c.Networks[0]
			n.Name = "bsc"
			c.Networks = append(c.Networks, n)
		}, nil, []string{"networks.bsc"}},
		"exchange API": {func(c *Config) { c.Exchange = &Exchange{Node: "ws://user:secret@x"} }, nil, []string{"exchange"}},
	} {
		t.Run(name, func(t *testing.T) {
			now, next := liveConfig(), liveConfig()
			c.change(&next)
			taken := now.Taking(next)
			require.Equal(t, c.taken, keys(t, now, taken), "taken")
			require.Equal(t, c.restart, keys(t, taken, next), "for a restart")
			require.Equal(t, len(c.restart) == 0, print(t, taken) == print(t, next))
			require.Empty(t, keys(t, liveConfig(), now), "the one before is as it was")
		})
	}
}

// TestCoinSettingsAreTaken: nodes and the ceiling of fees of a ledger of coins.
func TestCoinSettingsAreTaken(t *testing.T) {
	now, next := coinConfig(), coinConfig()
	next.Bitcoin[0].Nodes, next.Bitcoin[0].MaxFeeRate, next.Bitcoin[0].MinFeeRate = []string{"http://127.0.0.1:1"}, 77, 2
	taken := now.Taking(next)
	require.Equal(t, []string{"bitcoin.btc.max_fee_rate", "bitcoin.btc.nodes"}, keys(t, now, taken))
	require.Equal(t, []string{"bitcoin.btc.min_fee_rate"}, keys(t, taken, next))
	taken.Fill()
	chain, _ := taken.Chain("btc")
	require.Equal(t, "77", chain.MaxFee)
}

// TestExchangeLimitsAreTaken: how much the exchange API's clients may ask for; the rest of its
// section takes a restart.
func TestExchangeLimitsAreTaken(t *testing.T) {
	now, next := liveConfig(), liveConfig()
	now.Exchange, next.Exchange = &Exchange{Node: "ws://x"}, &Exchange{Node: "ws://y"}
	x := &next.Exchange.Config
	x.RatePerSecond, x.Burst, x.CallLimit, x.CallCycle, x.KeysPerHour, x.RequestTimeout = 1, 2, 3, 4*time.Second, 5, 6*time.Second
	taken := now.Taking(next)
	require.Equal(t, []string{"exchange.burst", "exchange.call_cycle", "exchange.call_limit", "exchange.keys_per_hour", "exchange.rate_per_second"}, keys(t, now, taken))
	require.Equal(t, []string{"exchange.node", "exchange.request_timeout"}, keys(t, taken, next))
	require.Zero(t, now.Exchange.Burst, "the one before is as it was")
}

const someContract = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

func liveConfig() Config {
	c, err := Load("testdata/config.yaml")
	if err != nil {
		panic(err)
	}
	return c
}

func keys(t *testing.T, was, now Config) (list []string) {
	t.Helper()
	changes, err := Changes(was, now)
	require.NoError(t, err)
	for _, c := range changes {
		list = append(list, c.Key)
	}
	return list
}

func print(t *testing.T, c Config) string {
	t.Helper()
	text, err := c.Fingerprint()
	require.NoError(t, err)
	return text
}
