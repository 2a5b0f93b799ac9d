package bitcoin_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/internal/budget"
	"gatewayd/records"
)

// largeBlock has 4,000 transactions in 2 MB, with 10,000 outputs of all kinds.
func largeBlock(t testing.TB) *wire.MsgBlock {
	t.Helper()
	random := rand.NewChaCha8([32]byte{1})
	bytesOf := func(size int) []byte {
		b := make([]byte, size)
		_, _ = random.Read(b)
		return b
	}
	kinds := []network.Kind{network.P2WPKH, network.P2TR, network.P2WPKH, network.P2SH, network.P2PKH, network.P2WSH}
	sizes := []int{20, 32, 20, 20, 20, 32}
	b := &wire.MsgBlock{Header: wire.BlockHeader{
		Version: 4, PrevBlock: *chaincfg.RegressionNetParams.GenesisHash, Bits: chaincfg.RegressionNetParams.PowLimitBits,
		Timestamp: chaincfg.RegressionNetParams.GenesisBlock.Header.Timestamp.Add(time.Minute),
	}}
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&chainhash.Hash{}, wire.MaxPrevOutIndex), []byte{txscript.OP_1, txscript.OP_1}, [][]byte{make([]byte, 32)}))
	b.Transactions = append(b.Transactions, coinbase)
	for i := range 3999 {
		tx := wire.NewMsgTx(2)
		for range 2 + i%2 {
			tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint((*chainhash.Hash)(bytesOf(32)), uint32(i%5)), nil, [][]byte{bytesOf(71), bytesOf(33)}))
		}
		for k := range 2 + i%2 {
			a, err := network.Named(bitcoins).Make(kinds[(i+k)%6], bytesOf(sizes[(i+k)%6]))
			require.NoError(t, err)
			tx.AddTxOut(wire.NewTxOut(int64(1000+i), a.Script))
		}
		b.Transactions = append(b.Transactions, tx)
	}
	coinbase.AddTxOut(wire.NewTxOut(50_0000_0000, b.Transactions[1].TxOut[0].PkScript))
	root := blockchain.CalcMerkleRoot(btcutil.NewBlock(b).Transactions(), true)
	commitment := chainhash.DoubleHashB(append(root[:], make([]byte, 32)...))
	coinbase.AddTxOut(wire.NewTxOut(0, append(bytes.Clone(blockchain.WitnessMagicBytes), commitment...)))
	b.Header.MerkleRoot = blockchain.CalcMerkleRoot(btcutil.NewBlock(b).Transactions(), false)
	for ; ; b.Header.Nonce++ {
		if blockchain.CheckProofOfWork(btcutil.NewBlock(b), chaincfg.RegressionNetParams.PowLimit) == nil {
			return b
		}
	}
}

// serve makes a node that has one block.
func serve(t testing.TB, b *wire.MsgBlock) (url string) {
	t.Helper()
	var raw, header, first bytes.Buffer
	require.NoError(t, b.Serialize(&raw))
	require.NoError(t, b.Header.Serialize(&header))
	require.NoError(t, chaincfg.RegressionNetParams.GenesisBlock.Header.Serialize(&first))
	hash, genesis := b.BlockHash().String(), chaincfg.RegressionNetParams.GenesisHash.String()
	block := fmt.Appendf(nil, `{"result":"%x","error":null,"id":1}`+"\n", raw.Bytes())
	results := map[string]string{
		"getblockchaininfo": fmt.Sprintf(`{"blocks":1,"bestblockhash":%q}`, hash), `getblockhash[0]`: fmt.Sprintf("%q", genesis), `getblockhash[1]`: fmt.Sprintf("%q", hash),
		fmt.Sprintf("getblockheader[%q,false]", hash): fmt.Sprintf("%q", hex.EncodeToString(header.Bytes())), fmt.Sprintf("getblockheader[%q,false]", genesis): fmt.Sprintf("%q", hex.EncodeToString(first.Bytes())),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		if bytes.Contains(asked, []byte(`"getblock"`)) {
			_, _ = w.Write(block)
			return
		}
		batch := asked[0] == '['
		if !batch {
			asked = append(append([]byte("["), asked...), ']')
		}
		var calls []struct {
			ID     int
			Method string
			Params json.RawMessage
		}
		_ = json.Unmarshal(asked, &calls)
		var answers []map[string]any
		for _, c := range calls {
			name := c.Method
			if string(c.Params) != "[]" {
				name += string(c.Params)
			}
			answers = append(answers, map[string]any{"id": c.ID, "result": json.RawMessage(results[name]), "error": nil})
		}
		var out any = answers
		if !batch {
			out = answers[0]
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(server.Close)
	return bitcoinnodeURL(server.URL)
}

func bitcoinnodeURL(url string) string { return "http://u:p@" + url[len("http://"):] }

// TestLargeBlock: a block of 2 MB is asked about in one question of each kind.
func TestLargeBlock(t *testing.T) {
	b := largeBlock(t)
	own := newBooks()
	for _, i := range []int{5, 700, 3999} {
		a, ok := network.Named(bitcoins).Of(b.Transactions[i].TxOut[1].PkScript)
		require.True(t, ok)
		own.own(a.Text)
	}
	c := open(t, bitcoins, own, nil, serve(t, b))
	require.EqualValues(t, 1, head(t, c).Latest.Height)
	found := blockAt(t, c, 1)
	require.Len(t, found.Transfers, 3)
	require.Equal(t, 1, own.asked)
	require.Zero(t, c.Nodes()[0].Faults)
}

// BenchmarkBudgetBlock compares reading a block of 2 MB and 4,000 transactions from a node, proving
// and searching it, with what btcd's libraries take for the proof alone.
func BenchmarkBudgetBlock(b *testing.B) {
	block := largeBlock(b)
	var raw bytes.Buffer
	require.NoError(b, block.Serialize(&raw))
	c, err := bitcoin.New(bitcoin.Config{ID: "coin", Network: bitcoins, Nodes: []string{serve(b, block)}, OnDemand: true}, newBooks())
	require.NoError(b, err)
	b.Cleanup(c.Close)
	_, err = c.Head(b.Context())
	require.NoError(b, err)
	const rounds = 5
	ours := func() budget.Cost {
		return budget.Measure(rounds, func() {
			for range rounds {
				_, err := c.Block(b.Context(), 1)
				require.NoError(b, err)
			}
		})
	}
	yardstick := func() budget.Cost {
		return budget.Measure(rounds, func() {
			for range rounds {
				var parsed wire.MsgBlock
				require.NoError(b, parsed.Deserialize(bytes.NewReader(raw.Bytes())))
				of := btcutil.NewBlock(&parsed)
				require.Equal(b, parsed.Header.MerkleRoot, blockchain.CalcMerkleRoot(of.Transactions(), false))
				require.NoError(b, blockchain.ValidateWitnessCommitment(of))
			}
		})
	}
	b.ReportMetric(float64(raw.Len()), "bytes")
	budget.Compare(b, 3, budget.Cost.PerCPU, ours, yardstick)
}

// watching is an adapter on a node with one block, and records with so many addresses of ours, of
// which two are paid in the block.
func watching(b *testing.B, block *wire.MsgBlock, count int) *bitcoin.Chain {
	b.Helper()
	file := filepath.Join(b.TempDir(), "records.db")
	store, err := records.Open(b.Context(), records.Config{URL: "sqlite:" + file})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	of := network.Named(bitcoins)
	addresses := make([]string, 0, count)
	for _, i := range []int{700, 3999} {
		a, ok := of.Of(block.Transactions[i].TxOut[1].PkScript)
		require.True(b, ok)
		addresses = append(addresses, a.Text)
	}
	for program := make([]byte, 20); len(addresses) < count; {
		binary.BigEndian.PutUint64(program, uint64(len(addresses)))
		a, err := of.Make(network.P2WPKH, program)
		require.NoError(b, err)
		addresses = append(addresses, a.Text)
	}
	db, err := sqlx.Open("sqlite3", file+"?_synchronous=OFF&_foreign_keys=off")
	require.NoError(b, err)
	defer db.Close()
	list, err := json.Marshal(addresses)
	require.NoError(b, err)
	_, err = db.Exec(`INSERT INTO accounts (chain, account, kind, network, key_path, state, seq, created_at)
		SELECT 'coin', value, 'deposit', 'coin', 'm/' || key, 'new', key + 1, 0 FROM json_each(?)`, string(list))
	require.NoError(b, err)
	c, err := bitcoin.New(bitcoin.Config{ID: "coin", Network: bitcoins, Nodes: []string{serve(b, block)}, OnDemand: true}, records.NewWatch(store))
	require.NoError(b, err)
	b.Cleanup(c.Close)
	_, err = c.Head(b.Context())
	require.NoError(b, err)
	return c
}

// BenchmarkBudgetScripts compares reading and searching a block of 2 MB with 10,000 outputs for
// 1,000,000 addresses of ours, with the same for two: 1.1 times the CPU; the set may have 120 MB.
func BenchmarkBudgetScripts(b *testing.B) {
	addresses := 1_000_000
	if testing.Short() {
		addresses = 10_000
	}
	block := largeBlock(b)
	read := func(c *bitcoin.Chain) {
		found, err := c.Block(b.Context(), 1)
		require.NoError(b, err)
		require.Len(b, found.Transfers, 2)
	}
	few, many := watching(b, block, 2), watching(b, block, addresses)
	read(few)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools keep goes at the second
	runtime.ReadMemStats(&before)
	read(many) // loads the set
	runtime.GC()
	runtime.GC() // what pools keep goes at the second
	runtime.ReadMemStats(&after)
	const rounds = 5
	cost := func(c *bitcoin.Chain) func() budget.Cost {
		return func() budget.Cost {
			return budget.Measure(rounds, func() {
				for range rounds {
					read(c)
				}
			})
		}
	}
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/(1<<20), "MB")
	b.ReportMetric(120, "MB/budget")
	budget.Compare(b, 1.1, budget.Cost.PerCPU, cost(many), cost(few))
}
