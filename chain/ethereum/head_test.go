package ethereum_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/dev/ethnode"
)

func (b *bundle) head(c *ethereum.Chain) chain.Head {
	b.Helper()
	head, err := c.Head(b.Context())
	require.NoError(b, err)
	return head
}

func (b *bundle) withFinality(finality string) *ethereum.Chain {
	config := b.config()
	config.Finality = finality
	return b.adapter(config)
}

func TestFinalityByTagAndByCount(t *testing.T) {
	b := setup(t)
	height := b.mine(10)
	safe, err := b.dev.Client().HeaderByNumber(t.Context(), big.NewInt(rpc.SafeBlockNumber.Int64()))
	require.NoError(t, err)
	cases := []struct {
		finality string
		final    uint64
	}{
		{"finalized", height - ethnode.DefaultFinalityDepth},
		{"safe", safe.Number.Uint64()},
		{"1", height},
		{"4", height - 3},
		{"5000", 0},
	}
	for _, c := range cases {
		t.Run(c.finality, func(t *testing.T) {
			adapter := b.withFinality(c.finality)
			head := b.head(adapter)
			require.Equal(t, b.newest().Point, head.Latest)
			require.Equal(t, b.newest().Time, head.Time)
			require.Equal(t, b.block(c.final).Point, head.Final)
		})
	}
}

// at makes a node return another block for a tag.
func at(tag string, height uint64) lie {
	return func(q request, result any) any {
		if q.Method != fullBlock || q.Params[0] != tag {
			return result
		}
		return map[string]any{"number": fmt.Sprintf("0x%x", height), "hash": common.BytesToHash([]byte(tag)).Hex(), "timestamp": "0x1"}
	}
}

// TestAFinalBlockThatIsTakenBackIsForgotten: nodes that reported too high a final block are
// believed again once they report the true one.
func TestAFinalBlockThatIsTakenBackIsForgotten(t *testing.T) {
	b := setup(t)
	b.mine(10)
	before := b.head(b.chain)
	far := func() *liar {
		return newLiar(t, b.dev.URL(), func(q request, result any) any {
			if q.Method != fullBlock || q.Params[0] == "0x0" || q.Params[1] == true {
				return result
			}
			return map[string]any{"number": "0x3f4", "hash": common.BytesToHash([]byte("far")).Hex(), "timestamp": "0x1"}
		})
	}
	for name, liars := range map[string][]*liar{"the only node": {far()}, "two of three": {far(), far()}} {
		t.Run(name, func(t *testing.T) {
			adapter := b.suspicious(3-len(liars)-2*(2-len(liars)), liars...)
			require.EqualValues(t, 0x3f4, b.head(adapter).Final.Height)
			for _, l := range liars {
				l.tell(truth)
			}
			require.Equal(t, before, b.head(adapter))
		})
	}
}

// TestChainShorterThanItsFinalBlock: the head is the nodes' present answer; the records detect a
// contradiction to settled results.
func TestChainShorterThanItsFinalBlock(t *testing.T) {
	b := setup(t)
	b.mine(10)
	before := b.head(b.chain)
	require.NoError(t, b.dev.Fork(b.must(b.hashAt(4)), false))
	require.EqualValues(t, 4, b.head(b.chain).Latest.Height)
	b.must(b.dev.SendETH(outsider("x"), ether(1)))
	b.mine(10)
	after := b.head(b.chain)
	require.GreaterOrEqual(t, after.Final.Height, before.Final.Height)
	require.NotEqual(t, before.Latest, after.Latest)
}

func TestHeadsThatAreNoHeads(t *testing.T) {
	b := setup(t)
	b.mine(10)
	latest := func(change func(any) any) lie {
		return func(q request, result any) any {
			if q.Method != fullBlock || q.Params[0] != "latest" {
				return result
			}
			return change(result)
		}
	}
	final := func(told any) lie {
		return func(q request, result any) any {
			if q.Method != fullBlock || q.Params[0] != "finalized" {
				return result
			}
			return told
		}
	}
	cases := []struct {
		name  string
		tell  lie
		alone bool // one such node alone is believed, in the sense that nothing false follows
	}{
		{"stale head", at("latest", 7), true},
		{"head far ahead", at("latest", 1e6), true},
		{"latest is null", latest(instead(nil)), false},
		{"latest without hash", latest(set("hash", nil)), false},
		{"latest without number", latest(set("number", nil)), false},
		{"final above latest", at("finalized", 1e6), false},
		{"final of a false hash", at("finalized", 5), true},
		{"final without hash", final(map[string]any{"number": "0x5"}), false},
		{"no final yet", final(rpcError{-39001, "finalized block not found"}), true},
		{"final is null", final(nil), true},
		{"tag not known", final(rpcError{-32602, "invalid argument 0: hex string without 0x prefix"}), false},
	}
	want := b.head(b.chain)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.suspicious(0, newLiar(t, b.dev.URL(), c.tell)).Head(t.Context())
			if !c.alone {
				require.ErrorIs(t, err, chain.ErrUnavailable)
			}
			got, err := b.suspicious(2, newLiar(t, b.dev.URL(), c.tell)).Head(t.Context())
			require.NoError(t, err)
			require.Equal(t, want.Final, got.Final)
			require.Equal(t, want.Latest, got.Latest)
			got, err = b.suspicious(1, newLiar(t, b.dev.URL(), c.tell), newLiar(t, b.dev.URL(), c.tell)).Head(t.Context())
			if err == nil {
				require.LessOrEqual(t, got.Final.Height, want.Final.Height, "two of three may hold back, not hurry")
			}
		})
	}
}

func TestNoFinalBlockYetMeansTheFirst(t *testing.T) {
	b := setup(t)
	b.mine(10)
	none := func(q request, result any) any {
		if q.Method == fullBlock && q.Params[0] == "finalized" {
			return rpcError{-39001, "finalized block not found"}
		}
		return result
	}
	head := b.head(b.suspicious(0, newLiar(t, b.dev.URL(), none)))
	require.Equal(t, b.block(0).Point, head.Final)
}

func TestNodesAtDifferentHeights(t *testing.T) {
	b := setup(t)
	height := b.mine(5)
	behind := func(by uint64) *liar { return newLiar(t, b.dev.URL(), b.behind(height-by)) }
	adapter := b.suspicious(0, behind(0), behind(1), behind(2))
	require.Equal(t, height-1, b.head(adapter).Latest.Height, "two of three have it")
	_, err := adapter.Block(t.Context(), height)
	require.ErrorIs(t, err, chain.ErrNotFound)
	block, err := adapter.Block(t.Context(), height-1)
	require.NoError(t, err)
	require.Equal(t, b.block(height-1), block)
}

// TestFinalByAMajority: one node of three that calls the newest block final, which all of them
// have, makes nothing final.
func TestFinalByAMajority(t *testing.T) {
	b := setup(t)
	height := b.mine(10)
	newest, err := b.dev.Client().HeaderByNumber(b.Context(), bigInt(height))
	require.NoError(t, err)
	hasty := func(q request, result any) any {
		if q.Method == fullBlock && result != nil && q.Params[0] == "finalized" {
			return map[string]any{"number": fmt.Sprintf("0x%x", height), "hash": newest.Hash().Hex(), "timestamp": fmt.Sprintf("0x%x", newest.Time)}
		}
		return result
	}
	honest := func() *liar { return newLiar(t, b.dev.URL(), func(_ request, result any) any { return result }) }
	adapter := b.suspicious(0, newLiar(t, b.dev.URL(), hasty), honest(), honest())
	require.Equal(t, height-ethnode.DefaultFinalityDepth, b.head(adapter).Final.Height)
}

// behind shows the chain as it was at a height.
func (b *bundle) behind(height uint64) lie {
	old, err := b.dev.Client().HeaderByNumber(b.Context(), bigInt(height))
	require.NoError(b, err)
	return func(q request, result any) any {
		if q.Method != fullBlock || result == nil {
			return result
		}
		if q.Params[0] == "latest" {
			return map[string]any{"number": fmt.Sprintf("0x%x", height), "hash": old.Hash().Hex(), "timestamp": fmt.Sprintf("0x%x", old.Time)}
		}
		var at uint64
		if _, err := fmt.Sscanf(fmt.Sprint(q.Params[0]), "0x%x", &at); err == nil && at > height {
			return nil
		}
		return result
	}
}

func TestProbe(t *testing.T) {
	b := setup(t)
	b.mine(5)
	mute := newLiar(t, b.dev.URL(), func(q request, result any) any {
		if q.Method == receipts || q.Method == traces {
			return rpcError{-32601, "method not found"}
		}
		return result
	})
	wrong := newLiar(t, b.dev.URL(), about("eth_chainId", instead("0x1")))
	config := b.config()
	config.Nodes = append(config.Nodes, mute.url, wrong.url)
	reports := b.adapter(config).Probe(t.Context())
	require.Len(t, reports, 3)
	require.Equal(t, ethereum.Report{
		Node: reports[0].Node, ChainID: b.dev.ChainID(), Head: b.newest().Point, HeadTime: b.newest().Time,
		Final: b.height() - ethnode.DefaultFinalityDepth, Receipts: true, Traces: true, Balances: b.chain.BalancePage(),
	}, reports[0])
	require.NoError(t, reports[1].Err)
	require.False(t, reports[1].Receipts || reports[1].Traces)
	require.ErrorIs(t, reports[2].Err, ethereum.ErrWrongChain)

	config.Traces, config.Nodes = "on", []string{mute.url}
	require.ErrorContains(t, b.adapter(config).Probe(t.Context())[0].Err, "cannot trace")
}

func TestTokenDecimals(t *testing.T) {
	b := setup(t)
	for of, want := range map[chain.Asset]uint8{b.usdt: 6, asset(b.dev.Contracts().DAI): 18} {
		decimals, err := b.chain.TokenDecimals(t.Context(), of)
		require.NoError(t, err)
		require.Equal(t, want, decimals)
	}
	_, err := b.chain.TokenDecimals(t.Context(), asset(outsider("no contract")))
	require.ErrorIs(t, err, chain.ErrUnavailable)
	_, err = b.chain.TokenDecimals(t.Context(), "USDT")
	require.ErrorIs(t, err, chain.ErrAddress)
}
