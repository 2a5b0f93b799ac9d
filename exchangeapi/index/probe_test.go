package index

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// lacking is a node that refuses methods, or keeps no events.
type lacking struct {
	*client.Client
	method   string
	noEvents bool
}

func (l lacking) Call(ctx context.Context, result any, method string, params ...any) error {
	switch {
	case method == l.method:
		return client.ErrMethod
	case l.noEvents && method == "ledger_getVmLogsByFilter":
		return nil
	}
	return l.Client.Call(ctx, result, method, params...)
}

func (l lacking) Funds(ctx context.Context, a core.Address) (map[core.TokenID]client.Fund, error) {
	if l.method == "dex_getAccountBalanceInfo" {
		return nil, client.ErrMethod
	}
	return l.Client.Funds(ctx, a)
}

func TestProbe(t *testing.T) {
	r := newRig(t)
	for range 2 * probeBlocks {
		r.order(r.alice, dex.Sell, "10", coins(20))
	}
	require.NoError(t, Probe(t.Context(), r.publicPort()))
	for _, method := range []string{"ledger_getAccountBlocks", "ledger_getVmLogsByFilter", "dex_getAccountBalanceInfo"} {
		require.ErrorIs(t, Probe(t.Context(), lacking{r.client, method, false}), client.ErrMethod, method)
	}
	require.ErrorContains(t, Probe(t.Context(), lacking{r.client, "", true}), "no events of dex")
}
