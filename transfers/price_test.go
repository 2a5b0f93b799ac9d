package transfers

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

func TestSplit(t *testing.T) {
	policy := records.Policy{MaxWithdraw: chain.NewAmount(1000), Fee: records.Fee{Kind: "network"}}
	tests := []struct {
		name                   string
		gross, lowest, highest uint64
		net, fee               uint64
		ok                     bool
	}{
		{"charged the lowest quote", 500, 10, 30, 490, 10, true},
		{"the maximum sent with a higher quote is the maximum", 1030, 10, 30, 1000, 30, true},
		{"a little less than that too", 1015, 10, 30, 1000, 15, true},
		{"more than any quote allows is over", 1031, 10, 30, 1021, 10, true},
		{"less than the fee is nothing", 5, 10, 30, 0, 0, false},
	}
	for _, tt := range tests {
		policy.Cost = chain.NewAmount(tt.lowest)
		net, fee, ok := split(policy, chain.NewAmount(tt.gross), chain.NewAmount(tt.highest))
		require.Equal(t, []any{chain.NewAmount(tt.net), chain.NewAmount(tt.fee), tt.ok}, []any{net, fee, ok}, tt.name)
	}
}
