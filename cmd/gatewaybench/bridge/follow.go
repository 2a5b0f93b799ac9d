package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
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
	yardstick := []bench.Yardstick{{Name: "ethclient", Part: readEthclient}}
	return []bench.Case{
		{
			Name: "follow-proven", Group: bench.Bridge, Unit: "block", Prepare: canBlock, Ours: readProven, Yardsticks: yardstick, Helpers: cannedHelpers(),
			About:  "a block of 100 token payments is read, its transactions and receipts are proven by their roots and searched; yardstick: ethclient.BlockByNumber, which reads no receipts and proves nothing",
			Goals:  []bench.Goal{{Of: bench.CPU, Budget: 0.5, Limit: 0.25}},
			Scales: []float64{1},
		},
		{
			Name: "follow-trusted", Group: bench.Bridge, Unit: "block", Prepare: canBlock, Ours: readTrusted, Yardsticks: yardstick, Helpers: cannedHelpers(),
			About:  "the same without proof, for chains whose blocks cannot be hashed; yardstick: ethclient.BlockByNumber",
			Goals:  []bench.Goal{{Of: bench.CPU, Budget: 0.25, Limit: 0.2}},
			Scales: []float64{1},
		},
	}
}

const (
	blockTransactions = 100
	blocksRead        = 300
)

// canned is what the server answers: by method, the result.
type canned struct {
	Height  uint64                     `json:"height"`
	Answers map[string]json.RawMessage `json:"answers"`
}

func cannedFile(dir string) string { return filepath.Join(dir, "block.json") }

// canBlock has the embedded chain make a block and keeps what a node says of it.
func canBlock(ctx context.Context, r *bench.Run) error {
	dev, err := devnode.Start(devnode.Config{})
	if err != nil {
		return err
	}
	c, err := recordBlock(ctx, dev)
	if err = errors.Join(err, dev.Close()); err != nil {
		return err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("keeping the block: %w", err)
	}
	return os.WriteFile(cannedFile(r.Data), raw, 0o600)
}

func recordBlock(ctx context.Context, dev *devnode.Node) (canned, error) {
	for i := range blockTransactions {
		if _, err := dev.SendToken(dev.Contracts().USDT, common.BigToAddress(big.NewInt(int64(1<<40+i))), big.NewInt(1)); err != nil {
			return canned{}, err
		}
	}
	if _, err := dev.Mine(1); err != nil {
		return canned{}, err
	}
	height, err := dev.Client().BlockNumber(ctx)
	if err != nil {
		return canned{}, fmt.Errorf("asking for the height: %w", err)
	}
	c := canned{Height: height, Answers: map[string]json.RawMessage{"eth_chainId": json.RawMessage(`"0x539"`)}}
	for method, args := range map[string][]any{
		"eth_getBlockByNumber": {hexutil.EncodeUint64(height), true}, "eth_getBlockReceipts": {hexutil.EncodeUint64(height)},
	} {
		var answer json.RawMessage
		if err := dev.Client().Client().CallContext(ctx, &answer, method, args...); err != nil {
			return canned{}, fmt.Errorf("asking for block %d: %w", height, err)
		}
		c.Answers[method] = answer
	}
	return c, nil
}

func loadCanned(r *bench.Run) (canned, error) {
	raw, err := os.ReadFile(cannedFile(r.Data))
	if err != nil {
		return canned{}, fmt.Errorf("reading the block: %w", err)
	}
	var c canned
	if err := json.Unmarshal(raw, &c); err != nil {
		return canned{}, fmt.Errorf("reading the block: %w", err)
	}
	return c, nil
}

// ServeHTTP answers as a node: the canned result under the request's id.
func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, c.Answers[call.Method])
}

const nodeHelper = "node"

func cannedHelpers() map[string]bench.Part { return map[string]bench.Part{nodeHelper: serveCanned} }

// serveCanned is the node. It serves on the listener that whoever started it left open for it, until its input ends.
func serveCanned(_ context.Context, r *bench.Run) (bench.Figure, error) {
	c, err := loadCanned(r)
	if err != nil {
		return bench.Figure{}, err
	}
	l, err := net.FileListener(os.NewFile(3, "listener"))
	if err != nil {
		return bench.Figure{}, fmt.Errorf("taking the listener over: %w", err)
	}
	server := bench.ServeOn(l, c)
	return bench.Figure{Units: 1}, errors.Join(bench.AwaitEnd(), server.Close())
}

// withNode runs f while a process beside this one is the node at an URL.
func withNode(ctx context.Context, r *bench.Run, f func(url string) error) error {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("listening for the node: %w", err)
	}
	defer func() { _ = listener.Close() }() // the node has a copy
	file, err := listener.File()
	if err != nil {
		return fmt.Errorf("handing the listener over: %w", err)
	}
	defer file.Close()
	command, err := r.Command(ctx, nodeHelper, "")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	command.Stdout, command.ExtraFiles = &out, []*os.File{file}
	in, err := command.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the node: %w", err)
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting the node: %w", err)
	}
	err = f("http://" + listener.Addr().String())
	err = errors.Join(err, in.Close(), command.Wait())
	_, told := bench.ReadOutcome(out.Bytes())
	return errors.Join(err, told)
}

func readProven(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	return readBlocks(ctx, r, false)
}

func readTrusted(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	return readBlocks(ctx, r, true)
}

// nobodys knows no address of ours.
type nobodys struct{}

func (nobodys) Owned(context.Context, chain.ID, []string) (map[string]bool, error) { return nil, nil }

func readBlocks(ctx context.Context, r *bench.Run, unverified bool) (f bench.Figure, err error) {
	c, err := loadCanned(r)
	if err != nil {
		return bench.Figure{}, err
	}
	err = withNode(ctx, r, func(url string) error {
		adapter, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1337, Nodes: []string{url}, Traces: "off", Unverified: unverified}, nil, nobodys{})
		if err != nil {
			return err
		}
		defer adapter.Close()
		f, err = readEach(r, func() error {
			_, err := adapter.Block(ctx, c.Height)
			return err
		})
		return err
	})
	return f, err
}

func readEthclient(ctx context.Context, r *bench.Run) (f bench.Figure, err error) {
	c, err := loadCanned(r)
	if err != nil {
		return bench.Figure{}, err
	}
	err = withNode(ctx, r, func(url string) error {
		node, err := ethclient.DialContext(ctx, url)
		if err != nil {
			return fmt.Errorf("connecting to the node: %w", err)
		}
		defer node.Close()
		f, err = readEach(r, func() error {
			block, err := node.BlockByNumber(ctx, new(big.Int).SetUint64(c.Height))
			if err == nil && len(block.Transactions()) != blockTransactions {
				err = fmt.Errorf("the block has %d transactions", len(block.Transactions()))
			}
			return err
		})
		return err
	})
	return f, err
}

// readEach measures reads of the block, after some that count for nothing.
func readEach(r *bench.Run, read func() error) (bench.Figure, error) {
	n := r.N(blocksRead)
	for range n/10 + 1 {
		if err := read(); err != nil {
			return bench.Figure{}, err
		}
	}
	return r.Measure(n, func() error {
		for range n {
			if err := read(); err != nil {
				return err
			}
		}
		return nil
	})
}
