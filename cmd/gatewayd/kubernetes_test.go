package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
)

// TestKubernetesConfig: the programs accept the configurations and roles of ops/kubernetes, the
// replicas have the database roles of ops/postgres, and the signer has the daemon's chains and
// tokens. The script kubernetes.sh checks the objects.
func TestKubernetesConfig(t *testing.T) {
	const folder = "../../ops/kubernetes/"
	cfg, err := config.Load(folder + "gatewayd/config.yaml")
	require.NoError(t, err)
	signer, err := config.Load(filepath.Join(folder, "signer", "signer.yaml"))
	require.NoError(t, err)
	require.True(t, signer.Signs())
	require.Equal(t, cfg.Networks, signer.Networks)
	require.Equal(t, cfg.Chains(), signer.Chains())
	grants, err := os.ReadFile("../../ops/postgres/roles.sql")
	require.NoError(t, err)
	for _, part := range []string{"daemon", "api", "exchange"} {
		text, err := os.ReadFile(folder + part + ".yaml")
		require.NoError(t, err)
		list := regexp.MustCompile(`--roles, "([a-z,]+)"`).FindStringSubmatch(string(text))
		require.NotNil(t, list, part)
		roles, err := daemon.ParseRoles(strings.Split(list[1], ","))
		require.NoError(t, err)
		_, err = roles.Of(cfg)
		require.NoError(t, err)
		user := regexp.MustCompile(`PGUSER, value: (\w+)`).FindStringSubmatch(string(text))
		require.NotNil(t, user, part)
		require.Contains(t, string(grants), "CREATE ROLE "+user[1]+" LOGIN")
	}
}
