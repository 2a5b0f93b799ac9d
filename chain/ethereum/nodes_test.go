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
	"gatewayd/dev/ethnode"
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

// TestEveryLieIsNoticed: every wrong answer of one of three nodes is counted and logged, or the
// node counts as unreachable.
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
	require.Contains(t, liar.LastFault, "nonce 9 of an account")
	require.Equal(t, hostPort(t, lying.url), liar.Name)
	texts := ""
	for _, e := range hook.AllEntries() {
		require.Equal(t, logrus.WarnLevel, e.Level)
		texts += e.Message + "\n"
	}
	require.Regexp(t, `^the node is wrong: .*nonce.*\nthe node is excluded for 1m0s: .*\n$`, texts)
}

func hostPort(t *testing.T, text string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u.Host
}

// TestAHangingNodeIsNotUp: the node accepts requests and never answers. No caller waits for it for
// long, and it is detected within its time limit.
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

// on makes a node follow another chain.
func on(dev *ethnode.Node) lie {
	return func(q request, result any) any {
		result = nil
		if err := dev.Client().Client().Call(&result, q.Method, q.Params...); err != nil {
			return rpcError{-32000, err.Error()}
		}
		return result
	}
}

// TestDisagreementEndsByItself: three nodes on three branches give no answer. That includes
// balances, even if two of them agree on those. Once two are on one chain again all answers return,
// whatever the third does.
func TestDisagreementEndsByItself(t *testing.T) {
	b := setup(t)
	b.mine(10)
	strangers := []*liar{newLiar(t, b.dev.URL(), truth), newLiar(t, b.dev.URL(), truth)}
	adapter, _ := b.watched(b.dev.URL(), strangers[0].url, strangers[1].url)
	b.everything(adapter)
	held, err := adapter.Balance(t.Context(), b.hot.Account, chain.Native)
	require.NoError(t, err)
	require.False(t, held.IsZero())
	for i, s := range strangers {
		other, err := ethnode.Start(ethnode.Config{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, other.Close()) })
		mineOn(t, other, 100+i)
		s.tell(on(other))
	}
	for range 20 {
		_, err := adapter.Head(t.Context())
		require.ErrorIs(t, err, chain.ErrUnavailable)
		require.ErrorContains(t, err, "no majority of the nodes agrees")
		_, err = adapter.AccountHead(t.Context(), b.hot.Account)
		require.ErrorIs(t, err, chain.ErrUnavailable)
		for _, asset := range []chain.Asset{chain.Native, b.usdt} {
			_, err = adapter.Balance(t.Context(), b.hot.Account, asset)
			require.ErrorIs(t, err, chain.ErrUnavailable)
			_, err = adapter.HoldingsAt(t.Context(), 5, asset, []string{b.hot.Account})
			require.ErrorIs(t, err, chain.ErrUnavailable)
		}
	}
	fresh, _ := b.watched(b.dev.URL(), strangers[0].url, strangers[1].url)
	_, err = fresh.Balance(t.Context(), b.hot.Account, chain.Native)
	require.ErrorIs(t, err, chain.ErrUnavailable, "before it was asked for a head")
	_, err = fresh.PastBalances(t.Context(), []chain.Moment{{Account: b.hot.Account, Height: 5}})
	require.ErrorIs(t, err, chain.ErrUnavailable)
	for _, n := range adapter.Nodes() {
		require.True(t, n.Up)
		require.Zero(t, n.Faults, "nobody can tell who is wrong")
	}
	strangers[0].tell(truth)
	b.must(b.dev.Reorg(2, ethnode.Keep)) // the chain has not stood still
	for range 20 {
		b.mine(1)
		require.Equal(t, b.head(b.chain), b.head(adapter))
		b.everything(adapter)
		now, err := adapter.Balance(t.Context(), b.hot.Account, chain.Native)
		require.NoError(t, err)
		require.Equal(t, held, now)
	}
	states := adapter.Nodes()
	require.Zero(t, states[0].Faults+states[1].Faults)
	require.True(t, states[2].LeftOut, "a majority contradicts it")
	strangers[1].tell(truth)
	b.everything(adapter)
	now, err := fresh.Balance(t.Context(), b.hot.Account, chain.Native)
	require.NoError(t, err, "though nobody asks it for a head")
	require.Equal(t, held, now)
}

// TestNodesAreExchanged: a chain in use takes other nodes at once, and a majority is one of those
// that are configured then. A wrong list changes nothing.
func TestNodesAreExchanged(t *testing.T) {
	b := setup(t)
	b.mine(2)
	adapter, _ := b.watched(b.dev.URL())
	b.everything(adapter)
	const first, second = "http://127.0.0.1:1", "http://127.0.0.1:2" // nothing answers
	require.NoError(t, adapter.SetNodes([]string{b.dev.URL(), first, second}))
	require.Len(t, adapter.Nodes(), 3)
	_, err := adapter.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable, "one of three is no majority")
	_, err = adapter.AccountHead(t.Context(), b.hot.Account)
	require.ErrorIs(t, err, chain.ErrUnavailable)
	for _, wrong := range [][]string{nil, {b.dev.URL(), b.dev.URL()}, {"ftp://x"}} {
		require.Error(t, adapter.SetNodes(wrong))
		require.Len(t, adapter.Nodes(), 3)
	}
	require.NoError(t, adapter.SetNodes([]string{b.dev.URL(), b.dev.WSURL(), first}))
	b.everything(adapter)
	require.NoError(t, adapter.SetNodes([]string{b.dev.WSURL()}))
	b.everything(adapter)
	require.Len(t, adapter.Nodes(), 1)
}
