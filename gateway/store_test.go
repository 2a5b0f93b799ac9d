package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// hanging is a store that does not answer until it is released, whatever the context.
type hanging struct {
	store
	letGo chan struct{}
}

func (h hanging) RawRead(context.Context, func(*records.Tx) error) error {
	<-h.letGo
	return nil
}

func TestHangingStore(t *testing.T) {
	h := hanging{letGo: make(chan struct{})}
	r := setup(t, func(c *Config, p *Parts) {
		h.store = p.Store
		c.RequestTimeout, p.Store = 20*time.Millisecond, h
	})
	t.Cleanup(func() { close(h.letGo) }) // before the server stops, which waits
	for _, url := range []string{
		at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice),
		at(eth, "/withdraw-address/verification", "tokenId", token, "withdrawAddress", "0xa"),
		at(eth, "/withdraw-fee", "tokenId", costly, "walletAddress", alice, "amount", "1"),
		list("/deposit-records", alice, 1, 10),
		list("/withdraw-records", alice, 1, 10),
	} {
		got := r.get(url)
		require.Equal(t, []int{200, 2, int(busy)}, []int{got.status, got.Code, got.SubCode}, url)
	}
	requireMaintenance(t, r)
	require.Zero(t, r.get(at(eth, "/withdraw-fee", "tokenId", token, "walletAddress", alice, "amount", "1")).Code, "a flat fee needs no store")
}

// requireMaintenance: wallets see maintenance, and supervisors the reason.
func requireMaintenance(t *testing.T, r *rig) {
	t.Helper()
	meta := r.get(at(eth, "/meta-info", "tokenId", token))
	require.JSONEq(t, `{"type":0,"depositState":"MAINTAIN","withdrawState":"MAINTAIN"}`, dataOf(t, meta))
	got := r.get(at(eth, "/withdraw-info", "tokenId", token, "walletAddress", alice))
	require.Equal(t, []int{200, 2, int(withdrawMaintain)}, []int{got.status, got.Code, got.SubCode})
	got = r.get("/health")
	require.Equal(t, 503, got.status)
	require.JSONEq(t, `{"status":"down","reasons":[{"kind":"store_down"}],"warnings":[],"blocked":[],"chains":[]}`, got.body)
}

func dataOf(t *testing.T, a reply) string {
	t.Helper()
	text, err := json.Marshal(a.Data)
	require.NoError(t, err)
	return string(text)
}

func TestHangingStoreIsNotPiledUpOn(t *testing.T) {
	h := hanging{letGo: make(chan struct{})}
	r := setup(t, func(c *Config, p *Parts) {
		h.store = p.Store
		c.RequestTimeout, p.Store = 20*time.Millisecond, h
	})
	t.Cleanup(func() { close(h.letGo) })
	require.True(t, r.server.slots.TryAcquire(maxCalls-1))
	defer r.server.slots.Release(maxCalls - 1)
	for range 3 {
		require.Equal(t, int(busy), r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice)).SubCode)
	}
	require.False(t, r.server.slots.TryAcquire(1), "one call hangs, the others never went in")
}

func TestStoreThatIsGone(t *testing.T) {
	broken := setup(t, func(_ *Config, p *Parts) { p.Store = fenced{} })
	requireMaintenance(t, broken)
	got := broken.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice))
	require.Equal(t, []int{200, 2, int(internal)}, []int{got.status, got.Code, got.SubCode})
	require.NotContains(t, got.body, "the lease", "causes are for the log")
	require.Contains(t, broken.logged.String(), "the lease is lost")
	for range 200 {
		require.Equal(t, int(internal), broken.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice)).SubCode)
	}
	require.Less(t, strings.Count(broken.logged.String(), "\n"), 50, "pages that ask again and again do not fill the log")
}

type fenced struct{}

func (fenced) RawRead(context.Context, func(*records.Tx) error) error { return records.ErrFenced }
func (fenced) Update(context.Context, func(*records.Tx) error) error  { return records.ErrFenced }

func (fenced) Take(context.Context, string, string, time.Duration, int) (time.Duration, error) {
	return 0, records.ErrFenced
}
