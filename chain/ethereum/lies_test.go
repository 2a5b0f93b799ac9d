package ethereum_test

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
)

const (
	fullBlock = "eth_getBlockByNumber"
	receipts  = "eth_getBlockReceipts"
	traces    = "debug_traceBlockByHash"
)

// lies about a block, each a false answer that the honest node never gives. The block has: coins to
// us, coins from us, a token to us (in this order of transactions), and an internal transfer to us.
func lies(b *bundle) map[string]lie {
	ours, other := b.inbox.Account, outsider("other").Hex()
	zeroHash := "0x" + strings.Repeat("0", 64)
	transactions := func(change func(any) any) func(any) any { return within("transactions", change) }
	full := func(change func(any) any) lie {
		return func(q request, result any) any {
			if q.Method != fullBlock || result == nil || q.Params[1] != true {
				return result
			}
			return change(result)
		}
	}
	frame := map[string]any{"type": "CALL", "from": other, "to": ours, "value": "0x99", "gas": "0x0", "gasUsed": "0x0", "input": "0x"}
	return map[string]lie{
		"transaction left out":        full(transactions(without)),
		"transactions swapped":        full(transactions(func(r any) any { l := r.([]any); l[0], l[1] = l[1], l[0]; return l })),
		"transaction twice":           full(transactions(func(r any) any { l := r.([]any); return append(l, l[0]) })),
		"value raised":                full(transactions(item(0, set("value", "0x56bc75e2d63100000")))),
		"other receiver":              full(transactions(item(0, set("to", other)))),
		"our receiver":                full(transactions(item(1, set("to", ours)))),
		"sender is said to be ours":   full(transactions(item(0, set("from", b.hot.Account)))),
		"sender is said to be other":  full(transactions(item(0, set("from", other)))),
		"ours is said not to send":    full(transactions(item(1, set("from", other)))),
		"ours is said to send":        full(transactions(item(2, set("from", ours)))),
		"data changed":                full(transactions(item(0, set("input", "0x31")))),
		"nonce changed":               full(transactions(item(1, set("nonce", "0x77")))),
		"type changed":                full(transactions(item(0, set("type", "0x0")))),
		"unknown type":                full(transactions(item(0, set("type", "0x7e")))),
		"hash of transaction changed": full(transactions(item(0, set("hash", zeroHash)))),
		"parent changed":              full(set("parentHash", zeroHash)),
		"time changed":                full(set("timestamp", "0x1")),
		"number changed":              full(set("number", "0x1")),
		"hash changed":                full(set("hash", zeroHash)),
		"receipts root changed":       full(set("receiptsRoot", zeroHash)),
		"no base fee":                 full(set("baseFeePerGas", nil)),
		"access list hash added":      full(set("blockAccessListHash", zeroHash)),
		"only hashes":                 full(set("transactions", []any{zeroHash})),
		"block of nothing":            full(instead(map[string]any{})),
		"a list for a block":          full(instead([]any{})),
		"a text for a block":          full(instead("latest")),
		"receipt left out":            about(receipts, without),
		"no receipts":                 about(receipts, instead([]any{})),
		"null receipts":               about(receipts, instead(nil)),
		"receipts swapped":            about(receipts, func(r any) any { l := r.([]any); l[0], l[1] = l[1], l[0]; return l }),
		"status turned":               about(receipts, item(0, set("status", "0x0"))),
		"status of two":               about(receipts, item(0, set("status", "0x2"))),
		"no status":                   about(receipts, item(0, set("status", nil))),
		"gas changed":                 about(receipts, item(1, set("cumulativeGasUsed", "0x1"))),
		"receipt of another":          about(receipts, item(0, set("transactionHash", zeroHash))),
		"log left out":                about(receipts, item(2, set("logs", []any{}))),
		"log twice":                   about(receipts, item(2, within("logs", func(r any) any { l := r.([]any); return append(l, l[0]) }))),
		"amount in log raised":        about(receipts, item(2, within("logs", item(0, set("data", "0x"+strings.Repeat("f", 64)))))),
		"emitter changed":             about(receipts, item(2, within("logs", item(0, set("address", b.dev.Contracts().DAI.Hex()))))),
		"error for receipts":          about(receipts, instead(rpcError{-32000, "header not found"})),
		"error for block":             full(instead(rpcError{-32000, "unknown block"})),
		"trace adds a transfer":       about(traces, item(-1, within("result", set("calls", []any{frame})))),
		"trace hides a transfer":      about(traces, item(-1, within("result", set("calls", []any{})))),
		"trace of another":            about(traces, item(0, set("txHash", zeroHash))),
		"trace left out":              about(traces, without),
		"other chain":                 about("eth_chainId", instead("0x539539")),
		"HTML":                        func(request, any) any { return raw{200, []byte("<html>busy</html>")} },
		"status 503":                  func(request, any) any { return raw{503, []byte("down")} },
		"redirect":                    func(request, any) any { return raw{http.StatusFound, nil} },
		"empty":                       func(request, any) any { return raw{200, nil} },
		"cut JSON":                    func(request, any) any { return raw{200, []byte(`{"jsonrpc":"2.0","id":1,"result":{"number":"0x`)} },
		"huge":                        func(request, any) any { return raw{200, bytes.Repeat([]byte("["), 3<<20)} },
		"no result":                   func(request, any) any { return raw{200, []byte(`{"jsonrpc":"2.0","id":1}`)} },
	}
}

// unproven lies are indistinguishable from the truth with one node: traces are in no root, and
// unknown encodings cannot be hashed.
func unproven(name string) bool {
	return strings.HasPrefix(name, "trace adds") || strings.HasPrefix(name, "trace hides") || name == "unknown type"
}

// eventful is a chain whose head has something of every kind.
func eventful(t *testing.T) *bundle {
	b := setup(t)
	at := b.deploy(contracts.ForwarderMetaData.Bin)
	attempt := b.sign(b.next(b.hot), credit(chain.Native, outsider("payee"), 5))
	b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(100)))
	b.broadcast(attempt)
	b.must(b.dev.SendToken(b.dev.Contracts().USDT, addr(b.inbox), big.NewInt(200)))
	b.call(at, 300, contracts.NewForwarder().PackForward(addr(b.inbox)))
	b.mine(1)
	block := b.newest()
	require.Len(t, block.Transfers, 3)
	require.Len(t, block.OwnTxs, 1)
	return b
}

// suspicious reads through one liar or more, and otherwise the honest node.
func (b *bundle) suspicious(honest int, liars ...*liar) *ethereum.Chain {
	b.Helper()
	config := b.config()
	config.MaxResponse, config.Timeout = 1<<20, 5*time.Second
	config.Nodes = nil
	for _, l := range liars {
		config.Nodes = append(config.Nodes, l.url)
	}
	for range honest {
		config.Nodes = append(config.Nodes, newLiar(b.T, b.dev.URL(), truth).url)
	}
	return b.adapter(config)
}

func truth(_ request, result any) any { return result }

func TestALyingNodeIsNeverBelieved(t *testing.T) {
	b := eventful(t)
	height, want := b.height(), b.newest()
	order := b.orderOfLies(height)
	for name, tell := range lies(b) {
		t.Run(name, func(t *testing.T) {
			sub := *b
			sub.T = t
			one, two := newLiar(t, order, tell), newLiar(t, order, tell)
			if !unproven(name) {
				_, err := sub.suspicious(0, one).Block(t.Context(), height)
				require.Error(t, err, "alone")
			}
			block, err := sub.suspicious(2, one).Block(t.Context(), height)
			require.NoError(t, err, "one of three")
			require.Equal(t, want, block, "one of three")
			if block, err = sub.suspicious(1, one, two).Block(t.Context(), height); err == nil && !unproven(name) {
				require.Equal(t, want, block, "two of three")
			}
		})
	}
}

// TestOurPaymentsCannotBeHidden: a node that names strangers as the senders of our payments is
// found out, and the next one is asked. It would keep our slots open for ever.
func TestOurPaymentsCannotBeHidden(t *testing.T) {
	b := setup(t)
	b.broadcast(b.sign(b.next(b.hot), credit(b.usdt, outsider("payee"), 5)))
	b.mine(1)
	want := b.newest()
	require.Len(t, want.OwnTxs, 1)
	hiding := about(fullBlock, within("transactions", item(0, func(r any) any {
		if tx, full := r.(map[string]any); full {
			tx["from"] = outsider("other").Hex()
		}
		return r
	})))
	_, err := b.nodes(hiding).Block(t.Context(), b.height())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "its sender is "+b.hot.Account)
	block, err := b.nodes(hiding, truth, truth).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, want, block)
}

// TestHonestTracesOfFalselyNamedTransactions: a node that gives a transaction another hash, in the
// block and in its receipt, does not make the honest nodes' traces of that block wrong.
func TestHonestTracesOfFalselyNamedTransactions(t *testing.T) {
	b := eventful(t)
	other := "0x" + strings.Repeat("1", 64)
	renamed := func(q request, result any) any {
		switch {
		case q.Method == fullBlock && q.Params[1] == true:
			return within("transactions", item(0, set("hash", other)))(result)
		case q.Method == receipts:
			return item(0, set("transactionHash", other))(result)
		}
		return result
	}
	adapter := b.nodes(renamed, truth, truth)
	block, err := adapter.Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, b.newest(), block)
	for _, honest := range adapter.Nodes()[1:] {
		require.Zero(t, honest.Faults, honest.LastFault)
	}
}

// TestATracerThatHangsDelaysNoBlock: a node that hangs in that call alone is not waited for, while
// a majority of all nodes traces alike.
func TestATracerThatHangsDelaysNoBlock(t *testing.T) {
	b := eventful(t)
	hanging := newLiar(t, b.dev.URL(), func(q request, result any) any {
		if q.Method == traces {
			<-t.Context().Done()
		}
		return result
	})
	config := b.config()
	config.Nodes, config.Timeout = []string{hanging.url, b.dev.URL(), b.dev.WSURL()}, 10*time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	block, err := b.adapter(config).Block(ctx, b.height())
	require.NoError(t, err)
	require.NoError(t, ctx.Err())
	require.Equal(t, b.newest(), block)
}

// orderOfLies checks that the block's transactions have the order that the lies assume.
func (b *bundle) orderOfLies(height uint64) string {
	b.Helper()
	block, err := b.dev.Client().BlockByNumber(b.Context(), new(big.Int).SetUint64(height))
	require.NoError(b, err)
	txs := block.Transactions()
	require.Len(b, txs, 4)
	require.Equal(b, addr(b.inbox), *txs[0].To())
	require.Equal(b, outsider("payee"), *txs[1].To())
	require.Equal(b, b.dev.Contracts().USDT, *txs[2].To())
	return b.dev.URL()
}

func TestALiarAloneGetsNothingOnBooks(t *testing.T) {
	b := eventful(t)
	lying := newLiar(t, b.dev.URL(), lies(b)["sender is said to be ours"])
	_, err := b.suspicious(0, lying).Block(t.Context(), b.height())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "its sender is")
}

func TestWrongChainIsItsOwnError(t *testing.T) {
	b := setup(t)
	lying := newLiar(t, b.dev.URL(), lies(b)["other chain"])
	for _, adapter := range []*ethereum.Chain{b.suspicious(0, lying), b.suspicious(1, lying)} {
		_, err := adapter.Head(t.Context())
		require.ErrorIs(t, err, ethereum.ErrWrongChain)
		require.ErrorContains(t, err, fmt.Sprintf("its chain id is %d, chain_id in the configuration is %d", 0x539539, b.dev.ChainID()))
		_, err = adapter.Balance(t.Context(), b.hot.Account, chain.Native)
		require.ErrorIs(t, err, ethereum.ErrWrongChain)
	}
}

// A node of our chain at the first question may belong to another one later, as behind an address
// that is reassigned.
func TestANodeThatLeavesItsChainIsNoNode(t *testing.T) {
	b := setup(t)
	moving := newLiar(t, b.dev.URL(), truth)
	adapter := b.suspicious(0, moving)
	b.head(adapter)
	moving.tell(lies(b)["other chain"])
	_, err := adapter.Head(t.Context())
	require.ErrorIs(t, err, ethereum.ErrWrongChain)
	moving.tell(truth)
	b.head(adapter)
}

func TestAnotherChainWithTheSameNumberIsOutvoted(t *testing.T) {
	b, other := eventful(t), setup(t)
	for other.height() < b.height() {
		other.must(other.dev.SendETH(addr(b.inbox), big.NewInt(1e9)))
		other.mine(1)
	}
	fake := newLiar(t, other.dev.URL(), truth)
	adapter := b.suspicious(2, fake)
	head, err := adapter.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.newest().Point, head.Latest)
	block, err := adapter.Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, b.newest(), block)
	_, err = b.suspicious(1, fake).Block(t.Context(), b.height())
	require.ErrorIs(t, err, chain.ErrUnavailable)
}

// TestANodeWithTwoFaces names the agreed hash when asked for it and then serves a block that is
// sound in itself, of another chain.
func TestANodeWithTwoFaces(t *testing.T) {
	b, other := eventful(t), setup(t)
	for other.height() < b.height() {
		other.must(other.dev.SendETH(addr(b.inbox), big.NewInt(1e9)))
		other.mine(1)
	}
	twoFaced := newLiar(t, b.dev.URL(), func(q request, result any) any {
		if q.Method == fullBlock && q.Params[1] != true {
			return result
		}
		if err := other.dev.Client().Client().Call(&result, q.Method, q.Params...); err != nil {
			return rpcError{-32000, err.Error()}
		}
		return result
	})
	block, err := b.suspicious(0, twoFaced).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.NotEqual(t, b.newest(), block, "alone it cannot be told")
	block, err = b.suspicious(2, twoFaced).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, b.newest(), block)
}

func TestReceiptsOneByOneAreProvenToo(t *testing.T) {
	b := eventful(t)
	missing := func(next lie) lie {
		return func(q request, result any) any {
			if q.Method == receipts {
				return rpcError{-32601, "the method eth_getBlockReceipts does not exist/is not available"}
			}
			return next(q, result)
		}
	}
	honest := b.suspicious(0, newLiar(t, b.dev.URL(), missing(truth)))
	for range 2 {
		block, err := honest.Block(t.Context(), b.height())
		require.NoError(t, err)
		require.Equal(t, b.newest(), block)
	}
	for name, change := range map[string]func(any) any{
		"log left out": set("logs", []any{}),
		"null":         instead(nil),
		"error":        instead(rpcError{-32000, "busy"}),
	} {
		lying := newLiar(t, b.dev.URL(), missing(about("eth_getTransactionReceipt", change)))
		_, err := b.suspicious(0, lying).Block(t.Context(), b.height())
		require.ErrorIs(t, err, chain.ErrUnavailable, name)
	}
}

func TestASilentNodeOfThreeChangesNothing(t *testing.T) {
	b := eventful(t)
	silent := newLiar(t, b.dev.URL(), func(request, any) any { <-t.Context().Done(); return nil })
	adapter := b.suspicious(2, silent)
	head, err := adapter.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, b.newest().Point, head.Latest)
}

func TestUnverifiedChainTrustsTheNode(t *testing.T) {
	b := eventful(t)
	config := b.config()
	config.Unverified = true
	config.Nodes = []string{newLiar(t, b.dev.URL(), lies(b)["access list hash added"]).url}
	config.Traces = "off"
	block, err := b.adapter(config).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Len(t, block.Transfers, 2)
	require.Equal(t, b.newest().OwnTxs, block.OwnTxs)

	for _, name := range []string{"gas changed", "status of two", "no status", "receipt of another", "receipt left out"} {
		config.Nodes = []string{newLiar(t, b.dev.URL(), lies(b)[name]).url}
		_, err := b.adapter(config).Block(t.Context(), b.height())
		require.ErrorIs(t, err, chain.ErrUnavailable, name)
	}
}

// TestUnverifiedReceiptsOfTheChainItself: Polygon's nodes list a transaction of the chain's own
// last, whose receipt counts no gas, not even that of the block.
func TestUnverifiedReceiptsOfTheChainItself(t *testing.T) {
	b := eventful(t)
	config := b.config()
	config.Traces = "off"
	lastCountsNothing := about(receipts, item(-1, set("cumulativeGasUsed", "0x0", "gasUsed", "0x0")))
	config.Nodes = []string{newLiar(t, b.dev.URL(), lastCountsNothing).url}
	_, err := b.adapter(config).Block(t.Context(), b.height())
	require.ErrorIs(t, err, chain.ErrUnavailable, "where blocks are proven")
	config.Unverified = true
	block, err := b.adapter(config).Block(t.Context(), b.height())
	require.NoError(t, err)
	require.Equal(t, b.newest().OwnTxs, block.OwnTxs)
}

func TestErrorsShowNoAddresses(t *testing.T) {
	b := setup(t)
	config := b.config()
	config.Nodes = []string{"http://user:hunter2@127.0.0.1:1/v3/hunter2?key=hunter2"}
	adapter := b.adapter(config)
	_, err := adapter.Head(t.Context())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.NotContains(t, err.Error(), "hunter2")
	for _, report := range adapter.Probe(t.Context()) {
		require.Error(t, report.Err)
		require.NotContains(t, report.Node+report.Err.Error(), "hunter2")
	}
	config.Nodes = []string{"ftp://hunter2", "http://%zz/hunter2", "hunter2"}
	for i := range config.Nodes {
		one := config
		one.Nodes = config.Nodes[i : i+1]
		require.NotContains(t, one.Check().Error(), "hunter2")
	}
}
