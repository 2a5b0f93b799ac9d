package exchangeapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	embedded "gatewayd/vite/node"
)

// onPostgres puts the API keys on a database of PostgreSQL.
func onPostgres(t testing.TB, database string) change {
	return func(_ *Config, p *Parts) { p.Keys = openKeys(t, database, p.Now) }
}

// replica starts another server on the same keys, with connections of its own.
func (w *apiEnv) replica(database string, changes ...change) *apiEnv {
	second := *w
	parts := w.server.Parts
	parts.Keys = openKeys(w.t, database, w.clock.Now)
	cfg := w.server.cfg
	for _, c := range changes {
		c(&cfg, &parts)
	}
	second.keys = parts.Keys
	var err error
	second.server, err = New(cfg, parts)
	require.NoError(w.t, err)
	second.run(w.t)
	second.url = "http://" + second.server.Addr()
	return &second
}

// post sends a signed order and returns the code and the order's id. Any goroutine may call it.
func (w *apiEnv) post(signed url.Values) (code, string, error) {
	response, err := w.client.Post(w.url+api+"/order", "application/x-www-form-urlencoded", strings.NewReader(signed.Encode()))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	var got struct {
		Code code
		Msg  string
		Data struct{ OrderID string }
	}
	err = json.NewDecoder(response.Body).Decode(&got)
	return got.Code, got.Data.OrderID + got.Msg, err
}

// TestReplicasShareADelegationKey: two processes send orders of one key at the same time, and the
// chain takes all of them.
func TestReplicasShareADelegationKey(t *testing.T) {
	const each = 50
	database := recordstest.Postgres(t).Database(t)
	c := onChain(t, onPostgres(t, database))
	c.join(c.user)
	replicas := []*apiEnv{c.apiEnv, c.replica(database)}
	var mu sync.Mutex
	placed := map[string]bool{}
	var senders sync.WaitGroup
	for _, r := range replicas {
		var orders []url.Values
		for range each {
			c.clock.pass(time.Millisecond)
			orders = append(orders, c.sign("symbol", pairOnChain, "amount", "100", "price", "1", "side", "0"))
		}
		senders.Go(func() {
			for _, o := range orders {
				code, id, err := r.post(o)
				mu.Lock()
				placed[id] = code == 0 && err == nil
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	require.Len(t, placed, len(replicas)*each)
	for id, taken := range placed {
		require.True(t, taken, id)
	}
	c.node.Read(func(v *embedded.View) {
		require.Equal(t, uint64(1+len(placed)), v.AccountHead(c.user.agent).Height, "the first block is a receive")
	})
	open := api + "/orders/open?limit=100&address=" + c.owner.String()
	require.Eventually(t, func() bool {
		c.work()
		list, _ := c.get(open).object(t)["order"].([]any)
		return len(list) == len(placed)
	}, waiting, tick)
}

// TestReplicasOnTwoNodes: a process waits until its own node has the block that another process has
// sent to another node, and builds on that one.
func TestReplicasOnTwoNodes(t *testing.T) {
	database := recordstest.Postgres(t).Database(t)
	w := setup(t, onPostgres(t, database))
	far := newFakeNode()
	far.quota[w.key.Agent], far.available[w.owner] = 1000, whole(1_000_000)
	spread := func() {
		for _, b := range w.fakeNode.blocks[w.key.Agent][len(far.blocks[w.key.Agent]):] {
			require.NoError(t, far.accept(b))
		}
	}
	spread()
	other := w.replica(database, func(_ *Config, p *Parts) {
		p.Networks = []Network{{Name: "main", Index: w.index, Node: far, Agents: fakeAgents{"main"}}}
	})
	require.Zero(t, w.buy("100", "1").Code)
	w.clock.pass(time.Millisecond)
	signed := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	done := make(chan code, 1)
	go func() {
		code, _, _ := other.post(signed)
		done <- code
	}()
	require.Eventually(t, func() bool {
		far.mu.Lock()
		defer far.mu.Unlock()
		return far.looked > 2
	}, waiting, tick)
	require.Empty(t, far.calls(w.key.Agent))
	spread()
	require.Zero(t, <-done)
	blocks := far.calls(w.key.Agent)
	require.Len(t, blocks, 2)
	require.Equal(t, blocks[0].Hash, blocks[1].PreviousHash)
}

// TestReplicasAfterARefusal: a refused order delays no other process.
func TestReplicasAfterARefusal(t *testing.T) {
	database := recordstest.Postgres(t).Database(t)
	w := setup(t, onPostgres(t, database))
	other := w.replica(database)
	require.Zero(t, w.buy("100", "1").Code)
	w.fakeNode.quota[w.key.Agent] = 0
	w.buy("100", "1").refused(t, codeNetwork, textQuota)
	w.fakeNode.quota[w.key.Agent] = 100
	looked := w.fakeNode.looked
	require.Zero(t, other.buy("100", "1").Code)
	require.Equal(t, looked+1, w.fakeNode.looked, "the order before the refused one is on the chain")
	require.Len(t, w.fakeNode.calls(w.key.Agent), 2)
}

// TestReplicasRefuseARepeat: a signed order is placed once, whichever process receives it.
func TestReplicasRefuseARepeat(t *testing.T) {
	database := recordstest.Postgres(t).Database(t)
	w := setup(t, onPostgres(t, database))
	other := w.replica(database)
	signed := w.sign("symbol", symbol, "amount", "100", "price", "1", "side", "0")
	require.Zero(t, w.form(http.MethodPost, api+"/order", signed).Code)
	for _, r := range []*apiEnv{other, w} {
		r.form(http.MethodPost, api+"/order", signed).refused(t, codeParameter, "Duplicate request")
	}
	require.Len(t, w.fakeNode.calls(w.key.Agent), 1)
}

// A node that is behind for long does not free the client ID of an order that another process has
// placed: the order would be placed a second time.
func TestLaggingNodeFreesNoClientID(t *testing.T) {
	database := recordstest.Postgres(t).Database(t)
	w := setup(t, onPostgres(t, database))
	behind := newFakeNode()
	behind.quota[w.key.Agent], behind.available[w.owner] = 1000, whole(1_000_000)
	for _, b := range w.fakeNode.blocks[w.key.Agent] {
		require.NoError(t, behind.accept(b))
	}
	other := w.replica(database, func(_ *Config, p *Parts) {
		p.Networks = []Network{{Name: "main", Index: w.index, Node: behind, Agents: fakeAgents{"main"}}}
	})
	require.Zero(t, w.buyAs("a").Code)
	placed := len(w.fakeNode.blocks[w.key.Agent])
	w.clock.pass(abandonedAfter)
	fields := []string{"symbol", symbol, "amount", "100", "price", "1", "side", "0", "clientOrderId", "a"}
	require.Equal(t, codeFailed, other.form("POST", api+"/order/test", w.sign(fields...)).Code)
	w.clock.pass(time.Millisecond)
	require.Equal(t, codeNetwork, other.form("POST", api+"/order", w.sign(fields...)).Code)
	w.clock.pass(time.Millisecond)
	require.Equal(t, codeFailed, w.buyAs("a").Code)
	require.Len(t, w.fakeNode.blocks[w.key.Agent], placed)
}
