package ethereum_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/internal/testing/ethtest"
)

// proofMethod is the method by which a node proves an account.
const proofMethod = "eth_getProof"

// withoutBalances is a node that refuses to read balances: only proofs are left.
func withoutBalances(tell lie) lie {
	return func(q request, result any) any {
		if q.Method == "eth_getBalance" || q.Method == "eth_call" {
			return rpcError{-32000, "missing trie node 12ab (path )"}
		}
		return tell(q, result)
	}
}

func honestly(_ request, result any) any { return result }

// TestProvenBalance: balances are those of the block, also of accounts that do not exist, on each
// kind of node.
func TestProvenBalance(t *testing.T) {
	b := setup(t, public)
	before := b.height()
	b.must(b.dev.SendETH(addr(b.inbox), ether(3)))
	after := b.mine(1)
	proving := b.suspicious(0, newLiar(t, b.dev.URL(), withoutBalances(honestly)))
	reporting := b.suspicious(0, newLiar(t, b.dev.URL(), about(proofMethod, instead(rpcError{-32601, "the method eth_getProof does not exist/is not available"}))))
	for name, c := range map[string]*ethereum.Chain{"proofs": proving, "balances": reporting, "both": b.chain} {
		for height, want := range map[uint64]chain.Amount{before: {}, after: chain.AmountOf(uint256.MustFromBig(ether(3)))} {
			have, err := c.ProvenBalance(t.Context(), height, b.inbox.Account)
			require.NoError(t, err, name)
			require.Equal(t, want, have, name)
		}
		have, err := c.ProvenBalance(t.Context(), after, outsider("somebody without coin").Hex())
		require.NoError(t, err, name)
		require.Zero(t, have, name)
		_, err = c.ProvenBalance(t.Context(), after+100, b.inbox.Account)
		require.ErrorIs(t, err, chain.ErrUnavailable, name)
		_, err = c.ProvenBalance(t.Context(), after, "nonsense")
		require.ErrorIs(t, err, chain.ErrAddress, name)
	}
}

// TestProvenBalanceOnGeth proves an account by another program's answers.
func TestProvenBalanceOnGeth(t *testing.T) {
	node := startExternal(t, ethtest.Config{Kind: ethtest.Geth})
	_, err := node.SendETH(outsider("receiver"), big.NewInt(77))
	require.NoError(t, err)
	require.NoError(t, node.Mine(1))
	height, err := node.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	liar := newLiar(t, node.URL(), withoutBalances(honestly))
	c, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: node.ChainID(), Nodes: []string{liar.url}, Timeout: 5 * time.Second}, newKeyring())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	have, err := c.ProvenBalance(t.Context(), height, outsider("receiver").Hex())
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(77), have)
}

// falseProofs are answers that do not fit the block's hash. Each claims another balance than the
// block has, or hides it.
func falseProofs(t *testing.T, b *bundle, before uint64) map[string]lie {
	t.Helper()
	proofOf := func(account string, height uint64) any {
		var proof any
		require.NoError(t, b.dev.Client().Client().CallContext(t.Context(), &proof, proofMethod, account, []string{}, hexutil.EncodeUint64(height)))
		return proof
	}
	nodes := func(change func(any) any) lie { return about(proofMethod, within("accountProof", change)) }
	changed := func(node any) any {
		raw := hexutil.MustDecode(node.(string))
		raw[len(raw)-40] ^= 1 // within the balance, storage root or code hash
		return hexutil.Encode(raw)
	}
	return map[string]lie{
		"last node left out":     nodes(without),
		"first node left out":    nodes(func(r any) any { return r.([]any)[1:] }),
		"first node alone":       nodes(func(r any) any { return r.([]any)[:1] }),
		"account changed":        nodes(item(-1, changed)),
		"branch changed":         nodes(item(0, changed)),
		"nodes in no order":      nodes(func(r any) any { l := r.([]any); return append([]any{"0x80"}, l[1:]...) }),
		"no nodes":               nodes(instead([]any{})),
		"too many nodes":         nodes(func(r any) any { l := r.([]any); return append(l, make100(l[0])...) }),
		"node too long":          nodes(item(0, instead("0x"+strings.Repeat("00", 2000)))),
		"node of no list":        nodes(item(-1, instead("0x01"))),
		"no answer":              about(proofMethod, instead(nil)),
		"proof of other account": about(proofMethod, instead(proofOf(b.hot.Account, b.height()))),
		"proof of earlier block": about(proofMethod, instead(proofOf(b.inbox.Account, before))),
		"state of earlier block": func(q request, result any) any {
			switch {
			case q.Method == fullBlock && q.Params[1] == false && result != nil && q.Params[0] == hexutil.EncodeUint64(before+1):
				return set("stateRoot", rootAt(t, b, before))(result)
			case q.Method == proofMethod:
				return proofOf(b.inbox.Account, before)
			}
			return result
		},
		"state root changed": func(q request, result any) any {
			if q.Method == fullBlock && q.Params[1] == false && result != nil {
				return set("stateRoot", "0x"+strings.Repeat("11", 32))(result)
			}
			return result
		},
	}
}

func rootAt(t *testing.T, b *bundle, height uint64) string {
	t.Helper()
	header, err := b.dev.Client().HeaderByNumber(t.Context(), bigInt(height))
	require.NoError(t, err)
	return header.Root.Hex()
}

func make100(node any) []any {
	list := make([]any, 100)
	for i := range list {
		list[i] = node
	}
	return list
}

// TestFalseProofs: a proof that does not fit the state root is never believed. Where another node
// proves the account, the lie counts against its node.
func TestFalseProofs(t *testing.T) {
	b := setup(t, public)
	before := b.height()
	b.must(b.dev.SendETH(addr(b.inbox), ether(3)))
	height := b.mine(1)
	lies := falseProofs(t, b, before)
	require.GreaterOrEqual(t, len(lies), 14)
	for name, tell := range lies {
		t.Run(name, func(t *testing.T) {
			liar := newLiar(t, b.dev.URL(), withoutBalances(tell))
			_, err := b.suspicious(0, liar).ProvenBalance(t.Context(), height, b.inbox.Account)
			require.ErrorIs(t, err, chain.ErrNotFound) // the balances were refused, too
			have, err := b.suspicious(1, liar, newLiar(t, b.dev.URL(), withoutBalances(tell))).ProvenBalance(t.Context(), height, b.inbox.Account)
			require.NoError(t, err)
			require.Equal(t, chain.AmountOf(uint256.MustFromBig(ether(3))), have)
		})
	}
}

// TestProofIsHeldAgainstTheAgreedBlock: a node that is on another branch alone proves its own
// state, which the caller did not ask for.
func TestProofIsHeldAgainstTheAgreedBlock(t *testing.T) {
	b := setup(t, public)
	b.must(b.dev.SendETH(addr(b.inbox), ether(3)))
	height := b.mine(1)
	other := setup(t, public)
	other.must(other.dev.SendETH(addr(other.inbox), ether(99)))
	other.mine(int(height))
	config := b.config()
	config.Nodes = []string{other.dev.URL(), b.dev.URL(), newLiar(t, b.dev.URL(), honestly).url}
	have, err := b.adapter(config).ProvenBalance(t.Context(), height, b.inbox.Account)
	require.NoError(t, err)
	require.Equal(t, chain.AmountOf(uint256.MustFromBig(ether(3))), have)
}
