package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/operator/backup"
	"gatewayd/records/signguard"
)

// TestSignerApart: the daemon's backup names the owner of the sign-guard. The signer's backup
// contains it, and restores an older one only by order.
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

// TestIncludedFiles: a backup contains the files that the configuration includes. A restore without
// a configuration puts them back where they are missing, and leaves an existing one.
func TestIncludedFiles(t *testing.T) {
	g := newGateway(t)
	text, err := os.ReadFile(g.config)
	require.NoError(t, err)
	signer, policy := filepath.Join(g.dir, "signer.yaml"), filepath.Join(g.dir, "parts", "policy.yaml")
	require.NoError(t, os.Mkdir(filepath.Dir(policy), 0o700))
	require.NoError(t, os.WriteFile(policy, text, 0o600))
	require.NoError(t, os.WriteFile(signer, []byte("include: [parts/policy.yaml]\nsigner: {listen: \"unix:/nowhere/s\"}\n"), 0o600))
	cfg, err := config.Load(signer)
	require.NoError(t, err)
	target := filepath.Join(g.dir, "signer.tar")
	_, err = backup.Write(t.Context(), cfg, target, backup.Options{})
	require.NoError(t, err)
	require.NoError(t, os.Remove(signer))
	require.NoError(t, os.RemoveAll(filepath.Dir(policy)))
	require.NoError(t, os.Rename(g.at("guard.db"), g.at("guard.away")))
	r, err := backup.Restore(t.Context(), target, signer, backup.RestoreOptions{})
	require.NoError(t, err)
	require.Contains(t, r.Put, policy)
	again, err := config.Load(signer)
	require.NoError(t, err)
	require.Equal(t, cfg, again)

	require.NoError(t, os.Remove(signer))
	changed := append(slices.Clone(text), "\n# of this machine\n"...)
	require.NoError(t, os.WriteFile(policy, changed, 0o600))
	_, err = backup.Restore(t.Context(), target, signer, backup.RestoreOptions{})
	require.NoError(t, err)
	kept, err := os.ReadFile(policy)
	require.NoError(t, err)
	require.Equal(t, string(changed), string(kept))
}

// TestSignerOnAServer: the signer's backup contains a sign-guard on a PostgreSQL server as it
// contains a file. It restores it into an empty database, also from a file's backup, and never over
// an existing one.
func TestSignerOnAServer(t *testing.T) {
	g := newGateway(t)
	text, err := os.ReadFile(g.config)
	require.NoError(t, err)
	path := filepath.Join(g.dir, "signer.yaml")
	with := func(guard string) config.Config {
		section := fmt.Sprintf("\nsigner: {listen: \"unix:/nowhere/s\", guard: %q}\n", guard)
		require.NoError(t, os.WriteFile(path, append(slices.Clone(text), section...), 0o600))
		cfg, err := config.Load(path)
		require.NoError(t, err)
		return cfg
	}
	write := func(cfg config.Config, name string) string {
		target := filepath.Join(g.dir, name)
		_, err := backup.Write(t.Context(), cfg, target, backup.Options{})
		require.NoError(t, err)
		return target
	}
	server := recordstest.Postgres(t)
	first, second, other := server.Empty(t), server.Empty(t), server.Empty(t)
	identity := func(url string) signguard.Identity {
		guard, err := signguard.OpenServer(t.Context(), url)
		require.NoError(t, err)
		defer guard.Close()
		id, err := guard.Identity(t.Context())
		require.NoError(t, err)
		return id
	}
	ofFile := write(with(""), "file.tar")
	with(first)
	r, err := backup.Restore(t.Context(), ofFile, path, backup.RestoreOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"signer.guard " + config.PlainURL(first)}, r.Put)
	moved := identity(first)

	ofServer := write(with(first), "server.tar")
	r, err = backup.Restore(t.Context(), ofServer, path, backup.RestoreOptions{})
	require.NoError(t, err)
	require.Contains(t, r.Unchanged, "signer.guard "+config.PlainURL(first))
	with(second)
	_, err = backup.Restore(t.Context(), ofServer, path, backup.RestoreOptions{})
	require.NoError(t, err)
	require.Equal(t, moved.ID, identity(second).ID)
	guard, err := signguard.OpenServer(t.Context(), second)
	require.NoError(t, err)
	defer guard.Close()
	_, next, _, err := guard.Next(t.Context(), chain.ID("eth"), "hot")
	require.NoError(t, err)
	require.Equal(t, uint64(3), next)

	stranger, err := signguard.OpenServer(t.Context(), other)
	require.NoError(t, err)
	defer stranger.Close()
	require.NoError(t, stranger.GiveIndex(t.Context(), "eth", 0))
	with(other)
	_, err = backup.Restore(t.Context(), ofServer, path, backup.RestoreOptions{Replace: true, OlderGuard: true})
	require.ErrorIs(t, err, backup.ErrExists)
	require.ErrorContains(t, err, "set signer.guard to an empty database")
}
