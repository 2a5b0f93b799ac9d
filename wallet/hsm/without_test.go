//go:build !pkcs11

package hsm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/wallet/hsm"
)

func TestProgramWithoutModulesSaysSo(t *testing.T) {
	_, err := hsm.Open(hsm.Config{Module: "/lib/m.so"}, "1234", nil)
	require.ErrorIs(t, err, hsm.ErrModule)
	require.ErrorContains(t, err, "-tags pkcs11")
}
