package vite

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

func head(t testing.TB, c *Chain) chain.Head {
	t.Helper()
	h, err := c.Head(t.Context())
	require.NoError(t, err)
	return h
}

func TestHead(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	h := head(t, c)
	require.Equal(t, uint64(3), h.Latest.Height)
	require.Equal(t, uint64(1), h.Final.Height, "genesis until there are enough blocks")
	require.Equal(t, l.clock.Now(), h.Time)
	l.mine(t, 4)
	h = head(t, c)
	require.Equal(t, uint64(7), h.Latest.Height)
	require.Equal(t, uint64(3), h.Final.Height, "the final block and four on it")
	b, err := c.Block(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, h.Final, b.Point)
}

// TestAFinalBlockThatIsTakenBackIsForgotten: the records keep settled results, the adapter reports
// the nodes' present answer.
func TestAFinalBlockThatIsTakenBackIsForgotten(t *testing.T) {
	l := newLedger(t)
	p := newLiar(t, l)
	c := l.open(t, p.URL)
	l.mine(t, 7)
	before := head(t, c)
	require.Equal(t, uint64(6), before.Final.Height)
	far := func(_ string, _ []any, result any) any {
		if b, ok := result.(map[string]any); ok && b["height"] != nil {
			set(b, json.Number("1000"), "height")
		}
		return result
	}
	p.tell(onMethod("ledger_getLatestSnapshotBlock", far))
	_, err := c.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable, "it has no final block there")
	p.tell(nil)
	require.Equal(t, before, head(t, c))

	require.NoError(t, l.Rollback(8))
	require.Equal(t, uint64(4), head(t, c).Final.Height)
	l.mine(t, 10)
	require.Greater(t, head(t, c).Final.Height, before.Final.Height)
}

func TestChangedFinalHashIsReported(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	l.mine(t, 7)
	before := head(t, c)
	require.NoError(t, l.Rollback(4))
	l.mine(t, 6)
	after := head(t, c)
	require.Equal(t, before.Final.Height, after.Final.Height)
	require.NotEqual(t, before.Final.Hash, after.Final.Hash)
}

// lowered returns an older block as the newest.
func lowered(t *testing.T, l *ledger, by uint64) lie {
	return onMethod("ledger_getLatestSnapshotBlock", func(_ string, _ []any, _ any) any {
		return l.ask(t, "ledger_getSnapshotBlockByHeight", strconv.FormatUint(l.height()-by, 10))
	})
}

func otherHash(_ string, _ []any, result any) any {
	if b, ok := result.(map[string]any); ok {
		set(b, "00000000000000000000000000000000000000000000000000000000000000aa", "hash")
	}
	return result
}

func TestHeadOfSeveralNodes(t *testing.T) {
	tests := []struct {
		name  string
		bend  func(t *testing.T, l *ledger, nodes []*liar)
		below uint64 // of the honest head
		err   error
	}{
		{"all the same", func(*testing.T, *ledger, []*liar) {}, 0, nil},
		{"one behind", func(t *testing.T, l *ledger, n []*liar) { n[0].tell(lowered(t, l, 3)) }, 0, nil},
		{"two behind", func(t *testing.T, l *ledger, n []*liar) { n[0].tell(lowered(t, l, 3)); n[1].tell(lowered(t, l, 2)) }, 2, nil},
		{"one dead", func(_ *testing.T, _ *ledger, n []*liar) { n[2].Close() }, 0, nil},
		{"two dead", func(_ *testing.T, _ *ledger, n []*liar) { n[1].Close(); n[2].Close() }, 0, chain.ErrUnavailable},
		{"one on another line", func(_ *testing.T, _ *ledger, n []*liar) { n[1].tell(otherHash) }, 0, nil},
		{"all on lines of their own", func(_ *testing.T, _ *ledger, n []*liar) {
			n[0].tell(otherHash)
			n[1].tell(func(m string, p []any, r any) any { return reparent(r) })
		}, 0, chain.ErrUnavailable},
		{"one answers rubbish", func(_ *testing.T, _ *ledger, n []*liar) {
			n[0].serveInstead(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>busy</html>")) })
		}, 0, nil},
		{"two hang", func(_ *testing.T, _ *ledger, n []*liar) { n[0].serveInstead(hang); n[1].serveInstead(hang) }, 0, chain.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLedger(t)
			l.mine(t, 10)
			nodes := []*liar{newLiar(t, l), newLiar(t, l), newLiar(t, l)}
			c := l.openWith(t, Config{Timeout: 300 * time.Millisecond}, nodes[0].URL, nodes[1].URL, nodes[2].URL)
			tt.bend(t, l, nodes)
			h, err := c.Head(t.Context())
			require.ErrorIs(t, err, tt.err)
			if err == nil {
				require.Equal(t, l.height()-tt.below, h.Latest.Height)
				require.Equal(t, l.height()-tt.below-depth+1, h.Final.Height)
			}
		})
	}
}

// hang answers nothing for as long as someone waits.
func hang(_ http.ResponseWriter, r *http.Request) {
	readAll(r.Body) // only then does the server notice that the caller has gone
	<-r.Context().Done()
}

func reparent(result any) any {
	if b, ok := result.(map[string]any); ok {
		set(b, "00000000000000000000000000000000000000000000000000000000000000bb", "previousHash", "prevHash")
	}
	return result
}

func TestNodeInfo(t *testing.T) {
	l := newLedger(t)
	dead, late := newLiar(t, l), newLiar(t, l)
	dead.Close()
	late.tell(onMethod("ledger_getLatestSnapshotBlock", func(_ string, _ []any, result any) any {
		set(result.(map[string]any), json.Number(strconv.FormatInt(l.clock.Now().Add(-time.Hour).Unix(), 10)), "timestamp")
		return result
	}))
	all := l.open(t, l.ws, dead.URL, late.URL).NodeInfo(t.Context())
	require.Len(t, all, 3)
	require.NoError(t, all[0].Err)
	require.Equal(t, l.height(), all[0].Latest.Height)
	require.Zero(t, all[0].Age)
	require.Error(t, all[1].Err)
	require.Equal(t, time.Hour, all[2].Age)
	for i, status := range all {
		require.Equal(t, i+1, status.Number)
	}
}

// follow makes a node follow another ledger; nil: its own.
func (p *liar) follow(other *ledger) {
	if other == nil {
		p.serveInstead(nil)
		return
	}
	p.serveInstead(func(w http.ResponseWriter, r *http.Request) {
		answer, err := post(other.url, []byte(readAll(r.Body)))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	})
}

// TestDisagreementEndsByItself: three nodes on three branches give no chain. Once two are on one
// ledger again, all answers return, with the blocks made meanwhile, whatever the third does. Cached
// data of another branch is dropped.
func TestDisagreementEndsByItself(t *testing.T) {
	for name, node := range map[string]func(testing.TB, *ledger) *liar{"chunks": newLiar, "lists": newListNode} {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			strangers := []*liar{node(t, l), node(t, l)}
			c := l.open(t, node(t, l).URL, strangers[0].URL, strangers[1].URL)
			l.deposit(t, l.inbox, 11, "")
			l.mine(t, 8)
			before := line(t, c, 1)
			for i, s := range strangers {
				other := newLedger(t)
				other.deposit(t, other.inbox, uint64(20+i), "")
				other.mine(t, 40+i)
				s.follow(other)
			}
			for range 5 {
				_, err := c.Head(t.Context())
				require.ErrorIs(t, err, chain.ErrUnavailable)
				_, err = c.Block(t.Context(), 5)
				require.ErrorIs(t, err, chain.ErrUnavailable)
				_, err = c.Balance(t.Context(), l.payer.String(), chain.Asset(core.VITE.String()))
				require.ErrorIs(t, err, chain.ErrUnavailable, "though two say the same")
				_, err = c.AccountHead(t.Context(), l.payer.String())
				require.ErrorIs(t, err, chain.ErrUnavailable)
			}
			l.reorg(t, 2, true)
			l.deposit(t, l.inbox, 12, "")
			l.mine(t, 8)
			strangers[0].follow(nil)
			want := line(t, l.open(t), 1)
			require.Len(t, transfersIn(want), 2)
			for range 3 {
				require.Equal(t, head(t, l.open(t)), head(t, c))
				require.Equal(t, want, line(t, c, 1))
			}
			require.Equal(t, before[:5], want[:5])
			strangers[1].follow(nil)
			require.Equal(t, want, line(t, c, 1))
			_, err := c.AccountHead(t.Context(), l.payer.String())
			require.NoError(t, err)
		})
	}
}
