package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/ethclient"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/cmd/gatewaybench/bench"
)

// followCases are a chain watcher's reading of blocks, from a server of canned answers, so that the time is the reader's.
func followCases() []bench.Case {
	one := func(name, about string, unverified bool, budget, limit float64) bench.Case {
		return bench.Case{
			Name: name, Unit: "block", Prepare: canBlock, Helpers: map[string]bench.Helper{nodeHelper: serveCanned},
			About: about + "; yardstick: ethclient.BlockByNumber, which reads no receipts and proves nothing",
			Ours: readBlocks(func(url string) (reader, error) {
				c, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1337, Nodes: []string{url}, Traces: "off", Unverified: unverified}, nil, nobodys{})
				return func(ctx context.Context, height uint64) error {
					_, err := c.Block(ctx, height)
					return err
				}, err
			}),
			Yardsticks: []bench.Side{{Name: "ethclient", Part: readBlocks(func(url string) (reader, error) {
				c, err := ethclient.Dial(url)
				return func(ctx context.Context, height uint64) error {
					_, err := c.BlockByNumber(ctx, new(big.Int).SetUint64(height))
					return err
				}, err
			})}},
			Goals: []bench.Goal{{Of: bench.CPU, Budget: budget, Limit: limit}},
		}
	}
	return []bench.Case{
		one("follow-proven", "a block of 100 token payments is read, its transactions and receipts are proven by their roots and searched", false, 0.5, 0.25),
		one("follow-trusted", "the same without proof, for chains whose blocks cannot be hashed", true, 0.25, 0.2),
	}
}

const (
	blockTransactions = 100
	blocksRead        = 300
)

// reader reads the block at a height.
type reader func(ctx context.Context, height uint64) error

// canned is what the server answers: by method, the result.
type canned struct {
	Height  uint64                     `json:"height"`
	Answers map[string]json.RawMessage `json:"answers"`
}

func cannedFile(r *bench.Run) string { return filepath.Join(r.Data, "block.json") }

// canBlock has the embedded chain make a block and keeps what a node says of it.
func canBlock(ctx context.Context, r *bench.Run) (err error) {
	dev, err := devnode.Start(devnode.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	for i := range blockTransactions {
		if _, err := dev.SendToken(dev.Contracts().USDT, common.BigToAddress(big.NewInt(int64(1<<40+i))), big.NewInt(1)); err != nil {
			return err
		}
	}
	if _, err := dev.Mine(1); err != nil {
		return err
	}
	c := canned{Answers: map[string]json.RawMessage{"eth_chainId": json.RawMessage(`"0x539"`)}}
	if c.Height, err = dev.Client().BlockNumber(ctx); err != nil {
		return fmt.Errorf("asking for the height: %w", err)
	}
	for method, args := range map[string][]any{
		"eth_getBlockByNumber": {hexutil.EncodeUint64(c.Height), true}, "eth_getBlockReceipts": {hexutil.EncodeUint64(c.Height)},
	} {
		var answer json.RawMessage
		if err := dev.Client().Client().CallContext(ctx, &answer, method, args...); err != nil {
			return fmt.Errorf("asking for block %d: %w", c.Height, err)
		}
		c.Answers[method] = answer
	}
	return writeJSON(cannedFile(r), c)
}

// ServeHTTP answers as a node: the canned result under the request's id.
func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, c.Answers[call.Method])
}

const nodeHelper = "node"

// serveCanned is the node. It says its URL.
func serveCanned(_ context.Context, r *bench.Run, say func(string)) error {
	var c canned
	if err := readJSON(cannedFile(r), &c); err != nil {
		return err
	}
	server := httptest.NewServer(c)
	defer server.Close()
	say(server.URL)
	return bench.AwaitEnd()
}

// withNode runs f while a process beside this one is the node at an URL.
func withNode(ctx context.Context, r *bench.Run, f func(url string) error) error {
	node, err := r.Start(ctx, nodeHelper, "")
	if err != nil {
		return err
	}
	url, err := node.Line()
	if err == nil {
		err = f(url)
	}
	return errors.Join(err, node.End())
}

// nobodys knows no address of ours.
type nobodys struct{}

func (nobodys) Owned(context.Context, chain.ID, []string) (map[string]bool, error) { return nil, nil }

// Accounts makes nobodys the owner of nothing on the exchange chain, too.
func (nobodys) Accounts(context.Context, chain.ID) ([]string, error) { return nil, nil }

// readBlocks reads the canned block over and over.
func readBlocks(dial func(url string) (reader, error)) bench.Part {
	return func(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
		var c canned
		if err := readJSON(cannedFile(r), &c); err != nil {
			return bench.Figure{}, err
		}
		err = withNode(ctx, r, func(url string) error {
			read, err := dial(url)
			if err != nil {
				return err
			}
			each := func() error { return read(ctx, c.Height) }
			if err := bench.Repeat(r.N(blocksRead/10), each); err != nil { // they do not count
				return err
			}
			f, err = r.Measure(r.N(blocksRead), func() error { return bench.Repeat(r.N(blocksRead), each) })
			return err
		})
		return f, err
	}
}
