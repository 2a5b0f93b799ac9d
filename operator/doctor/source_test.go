package doctor

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/faults"
)

// sourceFindings are the doctor's findings for a source chain, by their subject.
func sourceFindings(t *testing.T, c ethereum.Config) map[string]Finding {
	t.Helper()
	d := &Doctor{Now: time.Now}
	adapter, err := ethereum.New(c, nil)
	require.NoError(t, err)
	defer adapter.Close()
	d.source(t.Context(), c, adapter, nil)
	found := map[string]Finding{}
	for _, f := range d.Findings {
		found[f.What] = f
	}
	return found
}

func TestDoctorOfFees(t *testing.T) {
	t.Parallel()
	for _, legacy := range []bool{false, true} {
		dev, err := ethnode.Start(ethnode.Config{Legacy: legacy})
		require.NoError(t, err)
		defer func() { require.NoError(t, dev.Close()) }()
		c := ethereum.Config{ID: "eth", ChainID: dev.ChainID(), Nodes: []string{dev.URL()}}
		fees := sourceFindings(t, c)["chain eth fees"]
		require.True(t, fees.OK)
		kind := map[bool]string{false: "type 2", true: "type 0"}
		require.Contains(t, fees.Found, kind[legacy])
		require.NotContains(t, fees.Found, kind[!legacy])

		c.MaxFeeGwei = "0.01"
		fees = sourceFindings(t, c)["chain eth fees"]
		require.False(t, fees.OK)
		require.Contains(t, fees.Advice, "max_fee_gwei")
	}
}

func TestDoctorOfRequestLimits(t *testing.T) {
	t.Parallel()
	dev, err := ethnode.Start(ethnode.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	target, err := url.Parse(dev.URL())
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	var asked atomic.Int32
	limited := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer limited.Close()
	what := func(node string) string { return "chain eth node 1 (" + node + ") request limits" }
	c := ethereum.Config{ID: "eth", ChainID: dev.ChainID(), Nodes: []string{limited.URL}, RequestsPerSecond: 100}
	found := sourceFindings(t, c)[what(limited.Listener.Addr().String())]
	require.False(t, found.OK)
	require.Equal(t, "the node refused 1 requests of this check by its rate limit, 100 calls a second configured", found.Found)
	require.Contains(t, found.Advice, "requests_per_second")

	c = ethereum.Config{ID: "eth", ChainID: dev.ChainID(), Nodes: []string{dev.URL()}}
	found = sourceFindings(t, c)[what(target.Host)]
	require.True(t, found.OK)
	require.Equal(t, "none met, no limit configured", found.Found)
}

// TestDoctorOfProviders: a node that refuses batches in any way is checked like others, as the
// daemon uses it; one that does not trace now is no fault, and its reason is shown.
func TestDoctorOfProviders(t *testing.T) {
	t.Parallel()
	dev, err := ethnode.Start(ethnode.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	for _, h := range []faults.Habit{
		faults.Batches("an error", 1, 0), faults.Batches("forbidden", 1, http.StatusForbidden), faults.Batches("too large", 10, http.StatusRequestEntityTooLarge),
		faults.WithoutMethods("few methods", "eth_getBlockReceipts", "eth_feeHistory", "eth_maxPriorityFeePerGas"),
		faults.DeniedMethods("denied", "debug_traceBlockByHash", "eth_getBlockReceipts"),
	} {
		t.Run(h.Name, func(t *testing.T) {
			node, err := faults.Open(dev.URL())
			require.NoError(t, err)
			defer func() { require.NoError(t, node.Close()) }()
			node.Fail(faults.Fault{Habit: &h})
			found := sourceFindings(t, ethereum.Config{ID: "eth", ChainID: dev.ChainID(), Nodes: []string{node.URL}})
			for what, f := range found {
				require.True(t, f.OK || strings.HasSuffix(what, "finality"), "%s: %s", what, f.Found)
			}
			coin := found["chain eth node 1 ("+strings.TrimPrefix(node.URL, "http://")+") coin sent by contracts"]
			require.Equal(t, h.Name == "denied", strings.Contains(coin.Found, "HTTP status 403"), coin.Found)
		})
	}
}

// TestDoctorOfBatches: a chain with batches and without their contract is found with the next step.
func TestDoctorOfBatches(t *testing.T) {
	t.Parallel()
	dev, err := ethnode.Start(ethnode.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	c := ethereum.Config{ID: "eth", ChainID: dev.ChainID(), Nodes: []string{dev.URL()}}
	require.NotContains(t, sourceFindings(t, c), "chain eth batches")
	c.Batch.Most = 20
	missing := sourceFindings(t, c)["chain eth batches"]
	require.False(t, missing.OK)
	require.Contains(t, missing.Advice, "gatewayd chain deploy-batch eth")
	contract, err := ethereum.PayoutsContract()
	require.NoError(t, err)
	_, err = dev.SendCall(common.HexToAddress(contract.Deployer), nil, contract.Input)
	require.NoError(t, err)
	_, err = dev.Mine(1)
	require.NoError(t, err)
	early := sourceFindings(t, c)["chain eth batches"]
	require.True(t, early.Warning)
	require.Contains(t, early.Found, "not final yet")
	_, err = dev.Mine(3)
	require.NoError(t, err)
	there := sourceFindings(t, c)["chain eth batches"]
	require.True(t, there.OK)
	require.Contains(t, there.Found, "up to 20 payouts share a transaction, by "+contract.Address)
}
