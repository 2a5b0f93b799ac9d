package bitcoin_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
)

// liars are an adapter on three nodes, of which the first lies when told to. All are one real node.
type liars struct {
	node  *bitcoinnode.Node
	miner wallet
	liar  *faults.Node
	chain *bitcoin.Chain
	block string // the newest block, with transactions
	top   uint64
}

func newLiars(t *testing.T) *liars {
	t.Helper()
	l := &liars{miner: newWallet(t, bitcoins, "miner")}
	l.node = start(t, bitcoinnode.Config{Kind: bitcoinnode.Btcd, Miner: l.miner.address})
	blocks, err := l.node.Mine(110, "")
	require.NoError(t, err)
	for i := range 4 {
		coin, err := l.node.Coinbase(blocks[i])
		require.NoError(t, err)
		tx, err := l.miner.Spend([]bitcoinnode.Coin{coin}, output(t, bitcoins, l.miner.address, 1_000_000))
		require.NoError(t, err)
		require.NoError(t, l.node.Send(tx))
	}
	l.top = mine(t, l.node, 1, "")
	l.block, err = l.node.Best()
	require.NoError(t, err)
	l.liar = proxy(t, l.node)
	l.chain = l.open(t, nil)
	return l
}

// open makes a new adapter: what it has blamed is forgotten.
func (l *liars) open(t *testing.T, change func(*bitcoin.Config)) *bitcoin.Chain {
	t.Helper()
	l.liar.Fail(faults.Fault{})
	c := open(t, bitcoins, newBooks(l.miner.address), change, bitcoinnode.WithPassword(l.liar.URL), bitcoinnode.WithPassword(proxy(t, l.node).URL), l.node.URL())
	return c
}

func (l *liars) lie(method string, change func(params []any, result json.RawMessage) any) {
	l.liar.Fail(faults.Fault{Lie: func(m string, params []any, result json.RawMessage) any {
		if m == method {
			return change(params, result)
		}
		return result
	}})
}

// lieBlock changes the newest block.
func (l *liars) lieBlock(t *testing.T, change func(*wire.MsgBlock)) {
	l.lie("getblock", func(_ []any, result json.RawMessage) any {
		var text string
		require.NoError(t, json.Unmarshal(result, &text))
		var b wire.MsgBlock
		require.NoError(t, b.Deserialize(bytes.NewReader(unhex(t, text))))
		change(&b)
		var raw bytes.Buffer
		require.NoError(t, b.Serialize(&raw))
		return hex.EncodeToString(raw.Bytes())
	})
}

// TestLiesAboutBlocks: a block that was changed is taken from another node, and its node is named.
func TestLiesAboutBlocks(t *testing.T) {
	t.Parallel()
	l := newLiars(t)
	head(t, l.chain)
	honest := blockAt(t, l.chain, l.top)
	require.Len(t, honest.Transfers, 5)
	require.Zero(t, l.chain.Nodes()[0].Faults)
	lies := []struct {
		name   string
		change func(b *wire.MsgBlock)
		why    string
	}{
		{"a transaction is missing", func(b *wire.MsgBlock) { b.Transactions = b.Transactions[:4] }, "the transactions have the root"},
		{"the coinbase is missing", func(b *wire.MsgBlock) { b.Transactions = b.Transactions[1:] }, "must be a coinbase"},
		{"the last is there twice", func(b *wire.MsgBlock) { b.Transactions = append(b.Transactions, b.Transactions[4]) }, "is there twice"},
		{"a transaction too many", func(b *wire.MsgBlock) {
			more := b.Transactions[4].Copy()
			more.TxOut[0].Value++
			b.Transactions = append(b.Transactions, more)
		}, "the transactions have the root"},
		{"another amount", func(b *wire.MsgBlock) { b.Transactions[2].TxOut[0].Value++ }, "the transactions have the root"},
		{"another order", func(b *wire.MsgBlock) { slices.Reverse(b.Transactions[1:]) }, "the transactions have the root"},
		{"a negative amount", func(b *wire.MsgBlock) { b.Transactions[2].TxOut[0].Value = -1 }, "is not an amount"},
		{"another witness", func(b *wire.MsgBlock) { b.Transactions[2].TxIn[0].Witness[0][8] ^= 1 }, "witness commitment"},
		{"a root for fewer transactions", func(b *wire.MsgBlock) {
			b.Transactions = b.Transactions[:4]
			b.Header.MerkleRoot = blockchain.CalcMerkleRoot(btcutil.NewBlock(b).Transactions(), false)
		}, "it has the hash"},
	}
	for _, lie := range lies {
		c := l.open(t, nil)
		head(t, c)
		l.lieBlock(t, lie.change)
		require.Equal(t, honest, blockAt(t, c, l.top), lie.name)
		require.Equal(t, uint64(1), c.Nodes()[0].Faults, lie.name)
		require.Contains(t, c.Nodes()[0].LastFault, lie.why, lie.name)
		require.Zero(t, c.Nodes()[1].Faults+c.Nodes()[2].Faults, lie.name)
	}
	t.Run("another block", func(t *testing.T) {
		c := l.open(t, nil)
		head(t, c)
		var other string
		require.NoError(t, l.node.Call(&other, "getblockhash", 5))
		var raw string
		require.NoError(t, l.node.Call(&raw, "getblock", other, 0))
		l.lie("getblock", func([]any, json.RawMessage) any { return raw })
		require.Equal(t, honest, blockAt(t, c, l.top))
		require.Contains(t, c.Nodes()[0].LastFault, "it has the hash "+other)
	})
	for name, text := range map[string]any{"cut off": l.block[:40], "half a digit": "abc", "no text": 5, "not hexadecimal": "zz", "empty": "", "too long": strings.Repeat("00", 4<<20)} {
		t.Run(name, func(t *testing.T) {
			c := l.open(t, func(c *bitcoin.Config) { c.MaxResponse = 1 << 20 })
			head(t, c)
			l.lie("getblock", func([]any, json.RawMessage) any { return text })
			require.Equal(t, honest, blockAt(t, c, l.top))
			require.Equal(t, uint64(1), c.Nodes()[0].Faults)
			require.Equal(t, name == "too long", strings.Contains(c.Nodes()[0].LastFault, "larger than max_response"))
		})
	}
	t.Run("the only node", func(t *testing.T) {
		l.liar.Fail(faults.Fault{})
		c := open(t, bitcoins, newBooks(), nil, bitcoinnode.WithPassword(l.liar.URL))
		head(t, c)
		l.lieBlock(t, func(b *wire.MsgBlock) { b.Transactions = b.Transactions[:4] })
		_, err := c.Block(t.Context(), l.top)
		require.ErrorIs(t, err, chain.ErrUnavailable)
	})
}

// TestLiesAboutHeads: tips without work, of other targets, at wrong heights.
func TestLiesAboutHeads(t *testing.T) {
	t.Parallel()
	l := newLiars(t)
	honest := head(t, l.chain)
	// next is a header above the honest tip.
	next := func(change func(*wire.BlockHeader)) *wire.BlockHeader {
		var text string
		require.NoError(t, l.node.Call(&text, "getblockheader", l.block, false))
		var h wire.BlockHeader
		require.NoError(t, h.Deserialize(bytes.NewReader(unhex(t, text))))
		h.PrevBlock, h.Timestamp = h.BlockHash(), h.Timestamp.Add(time.Second)
		change(&h)
		return &h
	}
	// works looks for a nonce with or without the work that a target demands.
	works := func(h *wire.BlockHeader, want bool) {
		for h.Nonce = 0; ; h.Nonce++ {
			hash := h.BlockHash()
			if meets := blockchain.HashToBig(&hash).Cmp(blockchain.CompactToBig(h.Bits)) <= 0; meets == want {
				return
			}
		}
	}
	lies := []struct {
		name   string
		header *wire.BlockHeader
		why    string
	}{
		{"no work", next(func(h *wire.BlockHeader) { works(h, false) }), "there is no work in it"},
		{"more work than the rules demand", next(func(h *wire.BlockHeader) { h.Bits = 0x2000ffff; works(h, true) }), "is not the expected value"},
		{"a target above the limit", next(func(h *wire.BlockHeader) { h.Bits = 0x2100ffff }), "is none of bitcoin-regtest"},
		{"a negative target", next(func(h *wire.BlockHeader) { h.Bits = 0x20ffffff }), "is none of bitcoin-regtest"},
		{"an old time", next(func(h *wire.BlockHeader) { h.Timestamp = time.Unix(1, 0); works(h, true) }), "is not after expected"},
	}
	for _, lie := range lies {
		c := l.open(t, nil)
		head(t, c)
		hash := lie.header.BlockHash().String()
		l.liar.Fail(faults.Fault{Habit: &faults.Habit{After: func(_ *faults.Upstream, q faults.Call, a *faults.Answer) {
			switch {
			case q.Method == "getblockchaininfo":
				a.Return(map[string]any{"chain": "regtest", "blocks": l.top + 1, "headers": l.top + 1, "bestblockhash": hash, "chainwork": strings.Repeat("f", 64)})
			case q.Method == "getblockheader" && q.Params[0] == hash:
				var raw bytes.Buffer
				require.NoError(t, lie.header.Serialize(&raw))
				a.Return(hex.EncodeToString(raw.Bytes()))
			}
		}}})
		require.Equal(t, honest, head(t, c), lie.name)
		require.Equal(t, uint64(1), c.Nodes()[0].Faults, lie.name)
		require.Contains(t, c.Nodes()[0].LastFault, lie.why, lie.name)
	}

	info := func(change func(map[string]any)) func([]any, json.RawMessage) any {
		return func(_ []any, result json.RawMessage) any {
			var info map[string]any
			require.NoError(t, json.Unmarshal(result, &info))
			change(info)
			return info
		}
	}
	for why, change := range map[string]func(map[string]any){
		"which is block 111": func(m map[string]any) { m["blocks"] = 150 },
		"its best block is":  func(m map[string]any) { m["bestblockhash"] = "zz" },
		"at height 99999999": func(m map[string]any) { m["blocks"] = 9999999999 },
	} {
		t.Run(why, func(t *testing.T) {
			c := l.open(t, nil)
			head(t, c)
			l.lie("getblockchaininfo", info(change))
			require.Equal(t, honest, head(t, c))
			require.Contains(t, c.Nodes()[0].LastFault, why)
		})
	}
	t.Run("another network", func(t *testing.T) {
		c := l.open(t, nil)
		l.lie("getblockhash", func(params []any, result json.RawMessage) any {
			if params[0] == 0.0 {
				return "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"
			}
			return result
		})
		require.Equal(t, honest, head(t, c))
		require.Contains(t, c.Nodes()[0].LastFault, "the node serves another chain")
		only := open(t, litecoins, newBooks(), nil, l.node.URL())
		_, err := only.Head(t.Context())
		require.ErrorIs(t, err, bitcoin.ErrWrongChain)
	})
	t.Run("another hash at a height", func(t *testing.T) {
		c := l.open(t, nil)
		l.lie("getblockhash", func(params []any, result json.RawMessage) any {
			if params[0] == 3.0 {
				return strings.Repeat("ab", 32)
			}
			return result
		})
		require.Equal(t, honest, head(t, c))
		require.Len(t, blockAt(t, c, 3).Transfers, 1)
	})
}

// TestAnswersOfAnotherForm: what is no JSON-RPC is named.
func TestAnswersOfAnotherForm(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		answer, why string
		status      int
	}{
		"a page":              {"<html>", "no JSON-RPC", 200},
		"cut off":             {`{"id":1,"result":"00`, "no JSON-RPC", 200},
		"another's":           {`{"id":2,"result":"00"}`, "another's", 200},
		"nothing":             {"", "no JSON-RPC", 200},
		"another type":        {`{"id":1,"result":[1]}`, "no JSON-RPC", 200},
		"an unfit password":   {"", "refuses the user and the password", 401},
		"too many requests":   {"", chain.ErrLimited.Error(), 429},
		"busy":                {"Work queue depth exceeded", "HTTP status 503", 503},
		"it is just starting": {`{"id":1,"result":null,"error":{"code":-28,"message":"Loading block index\n"}}`, "Loading block index  (-28)", 500},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(one.status)
				_, _ = w.Write([]byte(one.answer))
			}))
			t.Cleanup(server.Close)
			c := open(t, bitcoins, newBooks(), func(c *bitcoin.Config) { c.Timeout = 500 * time.Millisecond }, bitcoinnode.WithPassword(server.URL))
			_, err := c.Head(t.Context())
			require.ErrorIs(t, err, chain.ErrUnavailable)
			require.ErrorContains(t, err, one.why)
		})
	}
}
