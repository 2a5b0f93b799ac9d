package ethereum_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
)

// watched is an adapter of some nodes and what it logged.
func (b *bundle) watched(urls ...string) (*ethereum.Chain, *logtest.Hook) {
	b.Helper()
	log, hook := logtest.NewNullLogger()
	config := b.config()
	config.Nodes, config.Log = urls, log
	config.MaxResponse, config.Timeout = 1<<20, 5*time.Second
	return b.adapter(config), hook
}

// everything asks all that the daemon asks of a chain while it works.
func (b *bundle) everything(adapter *ethereum.Chain) {
	b.Helper()
	head := b.head(adapter)
	_, err := adapter.Block(b.Context(), head.Latest.Height)
	require.NoError(b, err)
	_, err = adapter.AccountHead(b.Context(), b.hot.Account)
	require.NoError(b, err)
	_, err = adapter.BalancesAt(b.Context(), head.Final.Height, []string{b.hot.Account})
	require.NoError(b, err)
}

// TestEveryLieIsNoticed: whatever one of three nodes says wrongly is counted and logged, or the node counts as one that does not answer.
func TestEveryLieIsNoticed(t *testing.T) {
	b := eventful(t)
	order := b.orderOfLies(b.height())
	all := lies(b)
	all["nonce too high"] = about("eth_getTransactionCount", instead("0x9"))
	all["balance too high"] = about("eth_call", instead("0x"+"00000000000000000000000000000000000000000000000000000000000000ff"))
	all["head far ahead"] = at("latest", 1e6)
	all["head of another hash"] = at("latest", b.height())
	all["final above latest"] = at("finalized", 1e6)
	for name, tell := range all {
		t.Run(name, func(t *testing.T) {
			sub := *b
			sub.T = t
			adapter, hook := sub.watched(newLiar(t, order, tell).url, newLiar(t, order, truth).url, newLiar(t, order, truth).url)
			require.Eventually(t, func() bool { sub.everything(adapter); return len(hook.AllEntries()) > 0 }, time.Minute, time.Millisecond)
			for range 5 {
				sub.everything(adapter)
			}
			states := adapter.Nodes()
			require.Len(t, states, 3)
			liar := states[0]
			require.True(t, liar.Faults > 0 && liar.LastFault != "" || !liar.Up && liar.Why != "", "%+v", liar)
			require.LessOrEqual(t, len(hook.AllEntries()), 5, "once per change, not once per lie")
			for _, honest := range states[1:] {
				require.True(t, honest.Up)
				require.Zero(t, honest.Faults, honest.LastFault)
				require.Equal(t, sub.height(), honest.Head)
			}
		})
	}
}

// TestAWrongNodeIsLeftOut after three lies, and not asked while the others agree.
func TestAWrongNodeIsLeftOut(t *testing.T) {
	b := eventful(t)
	lying := newLiar(t, b.dev.URL(), about("eth_getTransactionCount", instead("0x9")))
	adapter, hook := b.watched(lying.url, b.dev.URL(), b.dev.WSURL())
	for range 10 {
		b.everything(adapter)
	}
	liar := adapter.Nodes()[0]
	require.True(t, liar.LeftOut)
	require.EqualValues(t, 3, liar.Faults)
	require.Contains(t, liar.LastFault, "nonce is 9")
	require.Equal(t, hostPort(t, lying.url), liar.Name)
	texts := ""
	for _, e := range hook.AllEntries() {
		require.Equal(t, logrus.WarnLevel, e.Level)
		texts += e.Message + "\n"
	}
	require.Regexp(t, `^the node is wrong: .*nonce.*\nthe node is left out for 1m0s: .*\n$`, texts)
}

func hostPort(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u.Host
}

// TestAHangingNodeIsNotUp: it takes requests and never answers. Nobody waits for it for long, and it is known within its time limit.
func TestAHangingNodeIsNotUp(t *testing.T) {
	b := eventful(t)
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
		<-r.Context().Done()
	}))
	t.Cleanup(hanging.Close)
	log, hook := logtest.NewNullLogger()
	config := b.config()
	config.Nodes, config.Log, config.Timeout = []string{hanging.URL, b.dev.URL(), b.dev.WSURL()}, log, time.Second
	adapter := b.adapter(config)
	state := func() chain.NodeState { return adapter.Nodes()[0] }
	require.Eventually(t, func() bool { b.everything(adapter); return !state().AskedAt.IsZero() }, time.Minute, time.Millisecond)
	require.False(t, state().Up)
	require.NotEmpty(t, state().Why)
	require.Eventually(t, func() bool { b.everything(adapter); return len(hook.AllEntries()) > 0 }, time.Minute, time.Millisecond)
	require.Contains(t, hook.LastEntry().Message, "the node does not answer")
	require.True(t, adapter.Nodes()[1].Up)
}
