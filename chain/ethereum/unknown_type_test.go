package ethereum_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
)

// typed changes the type of a block's transactions in the node's own words, as chains have them
// whose types go-ethereum does not know.
func typed(kind string, which ...int) lie {
	inBlock := func(result any) any {
		block := result.(map[string]any)
		list := block["transactions"].([]any)
		for _, i := range which {
			if tx, ok := list[min(i, len(list)-1)].(map[string]any); ok {
				tx["type"] = kind
				for _, field := range []string{"v", "r", "s", "yParity", "maxFeePerGas", "maxPriorityFeePerGas", "accessList", "chainId"} {
					delete(tx, field)
				}
			}
		}
		return block
	}
	inReceipts := func(result any) any {
		list := result.([]any)
		for _, i := range which {
			set("type", kind, "depositNonce", "0x7", "depositReceiptVersion", "0x1")(list[min(i, len(list)-1)])
		}
		for _, receipt := range list {
			set("l1Fee", "0x64")(receipt)
		}
		return list
	}
	return func(q request, result any) any {
		switch {
		case result == nil:
			return nil
		case q.Method == fullBlock && q.Params[1] == true:
			return inBlock(result)
		case q.Method == receipts:
			return inReceipts(result)
		}
		return result
	}
}

// also applies one lie after another.
func also(first, second lie) lie {
	return func(q request, result any) any { return second(q, first(q, result)) }
}

func (b *bundle) nodes(tell ...lie) *ethereum.Chain {
	b.Helper()
	config := b.config()
	config.Nodes = nil
	for _, l := range tell {
		config.Nodes = append(config.Nodes, newLiar(b.T, b.dev.URL(), l).url)
	}
	return b.adapter(config)
}

// TestUnknownTypesStopNothing reads a block in which transactions are of unknown types: system
// ones, and such as pay us coins and tokens.
func TestUnknownTypesStopNothing(t *testing.T) {
	b := eventful(t)
	want, height := b.newest(), b.height()
	fee, err := want.OwnTxs[0].Fee.Add(chain.NewAmount(100))
	require.NoError(t, err)
	want.OwnTxs[0].Fee = fee // what such chains charge besides gas
	for _, kind := range []string{"0x7e", "0x6a", "0x68", "0xff"} {
		for _, nodes := range []int{1, 3} {
			tell := make([]lie, nodes)
			for i := range tell {
				tell[i] = typed(kind, 0, 2, 3)
			}
			found, err := b.nodes(tell...).Block(t.Context(), height)
			require.NoError(t, err, "%s of %d nodes", kind, nodes)
			require.Equal(t, want, found, "%s of %d nodes", kind, nodes)
		}
	}
}

// TestUnknownTypesAreVotedOn: unprovable data is the majority's answer, whichever node is asked
// first.
func TestUnknownTypesAreVotedOn(t *testing.T) {
	b := eventful(t)
	honest, height := typed("0x7e", 0), b.height()
	true3, err := b.nodes(honest, honest, honest).Block(t.Context(), height)
	require.NoError(t, err)
	forged := map[string]lie{
		"value":        about(fullBlock, within("transactions", item(0, set("value", "0x56bc75e2d63100000")))),
		"receiver":     about(fullBlock, within("transactions", item(0, set("to", outsider("other").Hex())))),
		"sender":       about(fullBlock, within("transactions", item(0, set("from", b.hot.Account)))),
		"hash":         about(fullBlock, within("transactions", item(0, set("hash", "0x"+"11111111111111111111111111111111"+"11111111111111111111111111111111")))),
		"memo":         about(fullBlock, within("transactions", item(0, set("input", "0x31")))),
		"status":       about(receipts, item(0, set("status", "0x0"))),
		"log left out": about(receipts, item(2, set("logs", []any{}))),
		"fee":          about(receipts, item(1, set("l1Fee", "0x65"))),
	}
	for name, forge := range forged {
		t.Run(name, func(t *testing.T) {
			liar := also(honest, func(q request, result any) any {
				if q.Method == fullBlock && q.Params[1] != true {
					return result
				}
				return forge(q, result)
			})
			got, err := b.nodes(liar, honest, honest).Block(t.Context(), height)
			require.NoError(t, err)
			require.Equal(t, true3, got)
			_, err = b.nodes(liar, honest).Block(t.Context(), height)
			require.ErrorIs(t, err, chain.ErrUnavailable)
		})
	}
	changed := also(honest, about(fullBlock, within("transactions", item(1, set("value", big.NewInt(9).Text(16))))))
	_, err = b.nodes(changed).Block(t.Context(), height)
	require.ErrorIs(t, err, chain.ErrUnavailable, "a known type is proven whatever stands beside it")
}

// TestAnUnknownTypeHidesNothing: a liar cannot get out of its proofs by naming an unknown type,
// when others show the block proven.
func TestAnUnknownTypeHidesNothing(t *testing.T) {
	b := eventful(t)
	want, height := b.newest(), b.height()
	liar := typed("0x7e", 0, 1, 2, 3)
	got, err := b.nodes(liar, truth, truth).Block(t.Context(), height)
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = b.nodes(liar, liar, truth).Block(t.Context(), height)
	require.NoError(t, err)
	require.Equal(t, want, got, "a proof outweighs any number of words")
	slow := func(q request, result any) any {
		if q.Method == fullBlock && q.Params[1] == true {
			<-time.After(1500 * time.Millisecond) // longer than nodes are waited for elsewhere
		}
		return result
	}
	got, err = b.nodes(liar, liar, slow).Block(t.Context(), height)
	require.NoError(t, err)
	require.Equal(t, want, got, "and is waited for")
}
