package rpc

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/node"
)

// TestUnitsAreRounded compares units with a fraction of any precision.
func TestUnitsAreRounded(t *testing.T) {
	quotas := []uint64{math.MaxInt64, math.MaxInt64 - 1, core.MaxBlockQuota}
	for q := uint64(0); q < 5*core.QuotaPerUT; q += 13 {
		quotas = append(quotas, q)
	}
	for _, q := range quotas {
		for _, decimals := range []int{3, 4} {
			s := new(big.Rat).SetFrac(new(big.Int).SetUint64(q), big.NewInt(core.QuotaPerUT)).FloatString(decimals)
			require.Equal(t, strings.TrimSuffix(strings.TrimRight(s, "0"), "."), units(q, decimals), q)
		}
	}
}

// TestFeesOfContractSends: only newly issued tokens come without a fee.
func TestFeesOfContractSends(t *testing.T) {
	for kind, want := range map[core.BlockType]string{core.SendCall: `"0"`, core.SendRefund: `"0"`, core.SendReissue: "null"} {
		b := &node.Block{AccountBlock: &core.AccountBlock{BlockType: kind}}
		text, err := json.Marshal(showBlock(b).Fee)
		require.NoError(t, err)
		require.Equal(t, want, string(text))
		text, err = json.Marshal(showRawBlock(b).Fee)
		require.NoError(t, err)
		require.Equal(t, strings.Trim(want, `"`), string(text))
	}
}
