package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/trie"
)

// sourceNode answers with blocks from memory. All full ones have the same transactions, so that
// only their headers differ.
type sourceNode struct {
	headers  []*types.Header
	txs      string // the JSON of the transactions
	receipts string
}

// serveSource is a helper: its argument contains the number of blocks, and of transactions in each.
func serveSource(_ context.Context, r *Run, say func(string)) error {
	var blocks, txs int
	if _, err := fmt.Sscan(r.Argument, &blocks, &txs); err != nil {
		return fmt.Errorf("reading the argument: %w", err)
	}
	n, err := newSourceNode(blocks, txs)
	if err != nil {
		return err
	}
	server := httptest.NewServer(n)
	defer server.Close()
	say(server.URL)
	return AwaitEnd()
}

func newSourceNode(blocks, count int) (*sourceNode, error) {
	txs, receipts, err := transactions(count)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(txs))
	for i, tx := range txs {
		if list[i], err = txText(tx, i); err != nil {
			return nil, err
		}
	}
	receiptTexts, err := receiptsText(txs, receipts)
	if err != nil {
		return nil, err
	}
	n := &sourceNode{txs: "[" + strings.Join(list, ",") + "]", receipts: receiptTexts}
	parent := common.Hash{}
	for number := range blocks + 1 {
		h := &types.Header{
			ParentHash: parent, UncleHash: types.EmptyUncleHash, TxHash: types.DeriveSha(txs, trie.NewStackTrie(nil)),
			ReceiptHash: types.DeriveSha(receipts, trie.NewStackTrie(nil)), Difficulty: new(big.Int), Number: big.NewInt(int64(number)),
			GasLimit: 60e6, GasUsed: 21_000 * uint64(count), Time: uint64(1_700_000_000 + 12*number), BaseFee: big.NewInt(7), Extra: make([]byte, 32),
			WithdrawalsHash: &types.EmptyWithdrawalsHash,
		}
		n.headers, parent = append(n.headers, h), h.Hash()
	}
	return n, nil
}

// transactions are, by turns, payments of coin, transfers of a token and calls of a contract that
// writes three logs.
func transactions(count int) (txs types.Transactions, receipts types.Receipts, err error) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("source")))
	if err != nil {
		return nil, nil, err
	}
	signer := types.LatestSignerForChainID(big.NewInt(1))
	for i := range count {
		kind, to := i%3, common.BigToAddress(big.NewInt(int64(1e9+i)))
		tx, err := types.SignNewTx(key, signer, &types.DynamicFeeTx{
			ChainID: big.NewInt(1), Nonce: uint64(i), GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(3e10), Gas: 200_000, To: &to,
			Value: big.NewInt(1e15), Data: make([]byte, []int{0, 68, 420}[kind]),
		})
		if err != nil {
			return nil, nil, err
		}
		r := &types.Receipt{Type: tx.Type(), Status: 1, CumulativeGasUsed: 21_000 * uint64(i+1), TxHash: tx.Hash(), Logs: []*types.Log{}}
		for range []int{0, 1, 3}[kind] {
			r.Logs = append(r.Logs, &types.Log{
				Address: to, Data: make([]byte, 32),
				Topics: []common.Hash{crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)")), common.BytesToHash(to[:]), common.BigToHash(big.NewInt(int64(i)))},
			})
		}
		r.Bloom = types.CreateBloom(r)
		txs, receipts = append(txs, tx), append(receipts, r)
	}
	return txs, receipts, nil
}

// merged is an object in JSON with further members.
func merged(object any, more map[string]any) (string, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	extra, err := json.Marshal(more)
	return string(text[:len(text)-1]) + "," + string(extra[1:]), err
}

func txText(tx *types.Transaction, index int) (string, error) {
	from, err := types.Sender(types.LatestSignerForChainID(tx.ChainId()), tx)
	if err != nil {
		return "", err
	}
	return merged(tx, map[string]any{"from": from, "blockHash": common.Hash{}, "blockNumber": "0x1", "transactionIndex": hexutil.Uint64(index)})
}

func receiptsText(txs types.Transactions, receipts types.Receipts) (string, error) {
	list := make([]string, len(receipts))
	for i, r := range receipts {
		text, err := merged(r, map[string]any{"from": common.Address{1}, "to": txs[i].To()})
		if err != nil {
			return "", err
		}
		list[i] = text
	}
	return "[" + strings.Join(list, ",") + "]", nil
}

type sourceCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

// ServeHTTP answers one call or a batch.
func (n *sourceNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var calls []sourceCall
	batch := bytes.HasPrefix(body, []byte("["))
	if !batch {
		body = append(append([]byte("["), body...), ']')
	}
	if err := json.Unmarshal(body, &calls); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answers := make([]string, len(calls))
	for i, c := range calls {
		answers[i] = `{"jsonrpc":"2.0","id":` + string(c.ID) + `,"result":` + n.answer(c) + `}`
	}
	text := strings.Join(answers, ",")
	if batch {
		text = "[" + text + "]"
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

func (n *sourceNode) answer(c sourceCall) string {
	switch c.Method {
	case "eth_chainId":
		return `"0x1"`
	case "eth_getBlockReceipts":
		return n.receipts
	case "eth_getBlockByNumber":
		return n.block(c.Params)
	}
	return "null"
}

func (n *sourceNode) block(params []any) string {
	height := uint64(len(n.headers) - 1)
	if at, _ := params[0].(string); strings.HasPrefix(at, "0x") {
		height = hexutil.MustDecodeUint64(at)
	}
	if height >= uint64(len(n.headers)) {
		return "null"
	}
	txs := json.RawMessage(n.txs)
	if params[1] != true {
		txs = json.RawMessage("[]")
	}
	text, err := merged(n.headers[height], map[string]any{"transactions": txs, "uncles": []any{}, "size": "0x220", "withdrawals": []any{}})
	if err != nil {
		panic(err) // headers always encode
	}
	return text
}
