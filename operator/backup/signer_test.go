package backup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/operator/backup"
	"gatewayd/records/signguard"
)

// TestSignerApart: the daemon's backup says whose the sign-guard is, the signer's has it, and puts back no older one unless that is ordered.
func TestSignerApart(t *testing.T) {
	g := newGateway(t)
	text, err := os.ReadFile(g.config)
	require.NoError(t, err)
	daemon, signer := filepath.Join(g.dir, "daemon.yaml"), filepath.Join(g.dir, "signer.yaml")
	require.NoError(t, os.WriteFile(daemon, append(text, "\nwallet: {signer: \"unix:/nowhere/s\"}\n"...), 0o600))
	require.NoError(t, os.WriteFile(signer, append(text, "\nsigner: {listen: \"unix:/nowhere/s\"}\n"...), 0o600))
	write := func(path, to string) backup.Manifest {
		cfg, err := config.Load(path)
		require.NoError(t, err)
		m, err := backup.Write(t.Context(), cfg, filepath.Join(g.dir, to), backup.Options{})
		require.NoError(t, err)
		return m
	}
	names := func(m backup.Manifest) (list []string) {
		for _, f := range m.Files {
			list = append(list, f.Name)
		}
		return list
	}
	of := write(daemon, "daemon.tar")
	require.NotContains(t, names(of), "sign-guard/guard.db")
	require.Contains(t, names(of), "records.db")
	require.True(t, strings.Contains(of.Absent[0].Why, "gatewayd signer backup"), of.Absent)
	require.Equal(t, []string{"sign-guard/guard.db", "config.yaml"}, names(write(signer, "signer.tar")))

	g.sign(t, 3, 5) // since
	target := filepath.Join(g.dir, "signer.tar")
	r, err := backup.Restore(t.Context(), target, signer, backup.RestoreOptions{})
	require.NoError(t, err)
	require.Contains(t, r.Unchanged, g.at("guard.db"))
	r, err = backup.Restore(t.Context(), target, signer, backup.RestoreOptions{Replace: true, OlderGuard: true})
	require.NoError(t, err)
	require.Contains(t, r.Put, g.at("guard.db"))
	require.Empty(t, r.Stopped, "the daemon sees it")
	guard, err := signguard.Open(g.at("guard.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, guard.Close()) }()
	_, next, _, err := guard.Next(t.Context(), chain.ID("eth"), "hot")
	require.NoError(t, err)
	require.Equal(t, uint64(3), next)
}
