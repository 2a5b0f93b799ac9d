package daemon

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/database"
	"gatewayd/records"
	"gatewayd/status"
)

// A process that does not lead takes a chain that the leading one leaves free, and none of an older
// version, which has one lease for all chains.
func TestChainStaysFree(t *testing.T) {
	path := "sqlite:" + filepath.Join(t.TempDir(), "records.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := records.Open(t.Context(), records.Config{URL: path})
		require.NoError(t, err)
		defer store.Close()
		d := &Daemon{store: store, free: map[string]time.Time{}}
		u := unit{role: status.ChainRole("eth"), chain: "eth"}
		free := func() bool {
			free, err := d.staysFree(t.Context(), u)
			require.NoError(t, err)
			return free
		}
		take := func(role, holder string) *records.Lease {
			l, err := store.Lease(t.Context(), role, holder, time.Hour)
			require.NoError(t, err)
			return l
		}
		wait := func() bool { free(); <-time.After(freeFor); return free() }

		require.False(t, wait(), "no process leads")
		older := take(status.Role, "host/1/instance")
		require.NoError(t, d.checkVersions(t.Context()), "this process has no chain")
		d.parts, d.log = []*part{{unit: u}}, logrus.New()
		require.ErrorIs(t, d.checkVersions(t.Context()), records.ErrFenced)
		d.parts = nil
		require.False(t, wait(), "an older version leads")
		require.NoError(t, older.Release(t.Context()))
		leads := take(status.Role, holderName(store, true))
		require.False(t, free(), "the process that leads comes first")
		<-time.After(freeFor)
		require.True(t, free())
		held := take(u.role, "host/2/chains/instance")
		require.False(t, wait(), "another process has it")
		require.NoError(t, held.Release(t.Context()))
		require.False(t, free(), "it was given back just now")
		require.True(t, wait())
		require.NoError(t, leads.Release(t.Context()))
		require.False(t, wait())
	})
}

// A database file and a signer in the process have one lease for everything.
func TestUnits(t *testing.T) {
	d := &Daemon{Chains: map[chain.ID]chain.Chain{"eth": nil, "bsc": nil, "vite": nil}}
	var cfg config.Config
	cfg.Database.URL = "sqlite:gatewayd.db"
	whole := []unit{{role: status.Role, whole: true}}
	require.Equal(t, whole, d.unitsOf(cfg))
	cfg.Database.URL = "postgres://gatewayd@db/gatewayd"
	_, file := database.Path(cfg.Database.URL)
	require.False(t, file)
	require.Equal(t, whole, d.unitsOf(cfg), "it signs itself")
	require.True(t, whole[0].owns("eth") && whole[0].owns("") && whole[0].leads())
	cfg.Wallet.Signer = "unix:signer.sock"
	list := d.unitsOf(cfg)
	require.Equal(t, []unit{{role: "daemon"}, {role: "chain:bsc", chain: "bsc"}, {role: "chain:eth", chain: "eth"}, {role: "chain:vite", chain: "vite"}}, list)
	require.True(t, list[0].leads() && list[0].owns("") && !list[0].owns("eth"))
	require.True(t, list[2].owns("eth") && !list[2].leads() && !list[2].owns("") && !list[2].owns("vite"))
	d.deps.OnlyChains = []chain.ID{"vite"}
	require.Equal(t, []unit{list[0], list[3]}, d.unitsOf(cfg))
}

func TestCheckChains(t *testing.T) {
	cfg := config.Config{}
	cfg.Linked = []config.Chain{{ID: "eth"}, {ID: "vite"}}
	cfg.Database.URL, cfg.Wallet.Signer = "postgres://gatewayd@db/gatewayd", "unix:signer.sock"
	require.NoError(t, CheckChains(cfg, AllRoles, nil))
	require.NoError(t, CheckChains(cfg, AllRoles, []chain.ID{"vite"}))
	require.ErrorContains(t, CheckChains(cfg, AllRoles, []chain.ID{"vite", "bsc"}), "--chains bsc: the configuration has the chains")
	require.ErrorContains(t, CheckChains(cfg, Roles{API: true}, []chain.ID{"vite"}), "roles follow and pay")
	cfg.Wallet.Signer = ""
	require.ErrorContains(t, CheckChains(cfg, AllRoles, []chain.ID{"vite"}), "wallet.signer")
	cfg.Wallet.Signer, cfg.Database.URL = "unix:signer.sock", "sqlite:gatewayd.db"
	require.ErrorContains(t, CheckChains(cfg, AllRoles, []chain.ID{"vite"}), "database for several processes")
}
