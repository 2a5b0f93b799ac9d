package vite

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/core"
)

// The probe sends the same calls as the adapter, so that a missing method is found before money
// waits for it.
func TestProbeAsksWhatTheAdapterAsks(t *testing.T) {
	l := newLedger(t)
	asked := map[string]bool{}
	for _, node := range []*liar{newLiar(t, l), newListNode(t, l)} {
		c := l.open(t, node.URL)
		l.deposit(t, l.inbox, 3, "hello")
		slot := l.slot(t)
		a, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, l.newUser(t), 5), nil)
		require.NoError(t, err)
		require.NoError(t, chaintest.Send(t.Context(), c, a))
		require.NoError(t, chaintest.Send(t.Context(), c, a), "again")
		l.mine(t, depth)
		line(t, c, 1)
		_, err = c.Describe(t.Context(), a.Hash)
		require.NoError(t, err)
		_, err = c.Balance(t.Context(), l.payer.String(), chain.Asset(core.VITE.String()))
		require.NoError(t, err)
		_, err = c.TokenInfo(t.Context(), chain.Asset(core.VITE.String()))
		require.NoError(t, err)
		_, err = c.Quota(t.Context(), l.payer.String())
		require.NoError(t, err)
		_, err = c.AccountHead(t.Context(), l.payer.String())
		require.NoError(t, err)
		maps.Copy(asked, used(node))
	}
	delete(asked, "ledger_getChunks")
	delete(asked, "ledger_getUpgradeInfo")

	node := newLiar(t, l)
	before := l.height()
	got := l.open(t, node.URL).ProbeCalls(t.Context())
	require.Equal(t, []NodeCalls{{Number: 1, Asked: len(probes())}}, got)
	probed := used(node)
	for method := range asked {
		require.Contains(t, probed, method)
	}
	require.Subset(t, slices.Collect(maps.Keys(asked)), slices.DeleteFunc(slices.Collect(maps.Keys(probed)), rare))
	require.Equal(t, before, l.height(), "nothing was sent")
}

// rare is asked for only where a send was confirmed before what has been read, or where the stake
// does not pay for a block.
func rare(method string) bool {
	return method == "ledger_getSnapshotBlockByHash" || method == "ledger_getPoWDifficulty"
}

func used(p *liar) map[string]bool {
	methods := map[string]bool{}
	for method := range p.counted() {
		methods[method] = true
	}
	return methods
}

func TestProbeNamesWhatIsMissing(t *testing.T) {
	l := newLedger(t)
	poor := newLiar(t, l)
	poor.lacks = map[string]bool{"contract_getQuotaByAccount": true, "ledger_getAccountInfoByAddress": true}
	got := l.open(t, l.url, poor.URL, "http://127.0.0.1:1").ProbeCalls(t.Context())
	require.Empty(t, got[0].Missing)
	require.Equal(t, []string{"ledger_getAccountInfoByAddress", "contract_getQuotaByAccount"}, got[1].Missing)
	require.Error(t, got[2].Err)
}
