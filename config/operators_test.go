package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/httpserver"
)

// TestOperatorsListenHere: the listener that shows amounts is for this machine unless the
// configuration defines the access of others.
func TestOperatorsListenHere(t *testing.T) {
	open := httpserver.Config{Listen: "0.0.0.0:8070"}
	require.NoError(t, Operators{}.Check())
	require.Equal(t, OperatorsListen, Operators{}.WithDefaults().Listen)
	require.ErrorContains(t, Operators{Config: open}.Check(), "`plain: true`")
	require.NoError(t, Operators{Config: open, Plain: true}.Check())
	open.TLS = httpserver.TLS{Cert: "a", Key: "b"}
	require.NoError(t, Operators{Config: open}.Check())
}
