package vite

import (
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

func TestConfigCheck(t *testing.T) {
	sound := Config{ID: "vite", Nodes: []string{"http://127.0.0.1:48132"}}
	require.NoError(t, sound.Check())
	tests := []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no id", func(c *Config) { c.ID = "" }, "id: missing"},
		{"no nodes", func(c *Config) { c.Nodes = nil }, "nodes: must be 1 to 16, not 0"},
		{"too many nodes", func(c *Config) { c.Nodes = make([]string, 17) }, "nodes: must be 1 to 16, not 17"},
		{"empty node", func(c *Config) { c.Nodes = []string{""} }, "nodes[0]: empty"},
		{"node twice", func(c *Config) { c.Nodes = []string{"a", "a"} }, "nodes[1]: is listed twice, which would give one node two votes"},
		{"scheme", func(c *Config) { c.Nodes = []string{"ftp://key@host/secret"} }, `nodes[0]: scheme "ftp": must be http, https, ws or wss`},
		{"no host", func(c *Config) { c.Nodes = []string{"https:///secret"} }, "nodes[0]: no host"},
		{"no URL", func(c *Config) { c.Nodes = []string{"http://secret\x7f"} }, "nodes[0]: not a URL"},
		{"confirmations", func(c *Config) { c.Confirmations = 100_001 }, "confirmations: 100001 is over 100000"},
		{"timeout", func(c *Config) { c.Timeout = -1 }, "timeout: must be from 0s to 10m0s"},
		{"answers", func(c *Config) { c.MaxResponse = 1 << 31 }, "max_response: must be from 64 KiB to 1 GiB"},
		{"pow timeout", func(c *Config) { c.PoWTimeout = 2 * time.Hour }, "pow_timeout: must be from 0s to 1h0m0s"},
		{"tag length", func(c *Config) { c.Tag = "gates" }, "tag: 5 characters, must be 4"},
		{"tag characters", func(c *Config) { c.Tag = "ga e" }, "tag: visible ASCII characters only"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := sound
			tt.change(&c)
			require.EqualError(t, c.Check(), tt.want)
			_, err := New(c, nil)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestConfigFromYAML(t *testing.T) {
	text := `
id: vite
nodes: [http://127.0.0.1:48132, ws://127.0.0.1:41420, /run/gvite.ipc]
confirmations: 300
timeout: 5s
pow: true
pow_timeout: 1m
tag: gw01
`
	var c Config
	require.NoError(t, yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict()))
	require.NoError(t, c.Check())
	require.Equal(t, Config{
		ID: "vite", Nodes: []string{"http://127.0.0.1:48132", "ws://127.0.0.1:41420", "/run/gvite.ipc"},
		Confirmations: 300, Timeout: 5 * time.Second, PoW: true, PoWTimeout: time.Minute, Tag: "gw01",
	}, c)
	require.Error(t, yaml.UnmarshalWithOptions([]byte("id: vite\nconfirmation: 3\n"), &c, yaml.Strict()))
}

func TestConfigDefaults(t *testing.T) {
	c := Config{ID: "vite", Nodes: []string{"x"}}.withDefaults()
	require.NoError(t, c.Check())
	require.Equal(t, uint64(180), c.Confirmations)
	require.Equal(t, 20*time.Second, c.Timeout)
	require.Equal(t, 5*time.Minute, c.PoWTimeout)
	require.Equal(t, "gate", c.Tag)
}
