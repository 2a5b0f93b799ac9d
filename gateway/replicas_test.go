package gateway

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// TestNewUsersOfTwoProcesses: a client takes from two processes on one server what one of them
// gives, and so does a site.
func TestNewUsersOfTwoProcesses(t *testing.T) {
	const most, site = 5, 8
	url := recordstest.Postgres(t).Database(t)
	open := func(now *recordstest.Rig) *rig {
		store, err := records.Open(t.Context(), records.Config{URL: url, Now: now.Now})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		r := setup(t, func(c *Config, p *Parts) {
			c.TrustProxy, c.NewBindingsPerHour, c.NewBindingsPerSite = []string{"127.0.0.0/8"}, most, site
			p.Store, p.Now = store, now.Now
		})
		return r
	}
	clock := recordstest.NewRig(t)
	first := open(clock)
	require.NoError(t, first.server.Store.Update(t.Context(), recordstest.Alive))
	replicas := []*rig{first, open(clock)}
	users := 0
	join := func(client string) reply {
		users++
		return replicas[users%2].get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", fmt.Sprintf("vite_user%d", users)), "X-Forwarded-For", client)
	}
	given := func(clients ...string) (n int) {
		for _, client := range clients {
			for range 2 * most {
				got := join(client)
				if got.Code == 0 {
					n++
					continue
				}
				require.Equal(t, int(tooManyBindings), got.SubCode, got.body)
				require.NotEmpty(t, got.header.Get("Retry-After"))
			}
		}
		return n
	}
	require.Equal(t, most, given("192.0.2.1"))
	require.Equal(t, most, given("192.0.2.2"), "another client has its own")
	require.Equal(t, site, given("2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:3::1"))
}
