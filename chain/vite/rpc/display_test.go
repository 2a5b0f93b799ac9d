package rpc

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain/vite/core"
)

// TestUnitsAreRounded compares units with a fraction of any precision.
func TestUnitsAreRounded(t *testing.T) {
	quotas := []uint64{math.MaxInt64, math.MaxInt64 - 1, core.MaxBlockQuota}
	for q := uint64(0); q < 5*core.QuotaPerUT; q += 13 {
		quotas = append(quotas, q)
	}
	for _, q := range quotas {
		s := new(big.Rat).SetFrac(new(big.Int).SetUint64(q), big.NewInt(core.QuotaPerUT)).FloatString(4)
		require.Equal(t, strings.TrimSuffix(strings.TrimRight(s, "0"), "."), units(q), q)
	}
}
