package ethereum_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/stretchr/testify/require"

	"gatewayd/chain/ethereum"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/budget"
)

// cannedFile makes the test binary a node for a benchmark, which answers from the file.
const cannedFile = "GATEWAYD_CANNED_FILE"

// canned contains the results by method.
type canned map[string]json.RawMessage

func TestMain(m *testing.M) {
	if file := os.Getenv(cannedFile); file != "" {
		if err := serveCanned(file); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// serveCanned prints its URL and serves until its input ends.
func serveCanned(file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var c canned
	if err := json.Unmarshal(raw, &c); err != nil {
		return err
	}
	server := httptest.NewServer(c)
	defer server.Close()
	fmt.Fprintln(os.Stdout, server.URL)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// ServeHTTP answers as a node: the canned result under the request's id.
func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, c[call.Method])
}

// cannedNode is a process that answers with a recorded block of 100 token payments, so that the
// time is the client's.
func cannedNode(b *testing.B) (url string, height uint64) {
	dev, err := ethnode.Start(ethnode.Config{})
	require.NoError(b, err)
	for range 100 {
		_, err := dev.SendToken(dev.Contracts().USDT, outsider("bench"), big.NewInt(1))
		require.NoError(b, err)
	}
	_, err = dev.Mine(1)
	require.NoError(b, err)
	height, err = dev.Client().BlockNumber(b.Context())
	require.NoError(b, err)
	answers := canned{"eth_chainId": json.RawMessage(`"0x539"`)}
	for method, args := range map[string][]any{fullBlock: {hexutil.EncodeUint64(height), true}, receipts: {hexutil.EncodeUint64(height)}} {
		var answer json.RawMessage
		require.NoError(b, dev.Client().Client().Call(&answer, method, args...))
		answers[method] = answer
	}
	require.NoError(b, dev.Close())
	raw, err := json.Marshal(answers)
	require.NoError(b, err)
	file := filepath.Join(b.TempDir(), "block.json")
	require.NoError(b, os.WriteFile(file, raw, 0o600))

	node := exec.Command(os.Args[0])
	node.Env = append(os.Environ(), cannedFile+"="+file)
	out, err := node.StdoutPipe()
	require.NoError(b, err)
	in, err := node.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, node.Start())
	b.Cleanup(func() {
		require.NoError(b, in.Close())
		require.NoError(b, node.Wait())
	})
	_, err = fmt.Fscanln(out, &url)
	require.NoError(b, err)
	return url, height
}

// BenchmarkBudgetFollow reads the same block in two ways. The adapter also reads receipts, and
// proves both or trusts the chain. The usual client does neither.
func BenchmarkBudgetFollow(b *testing.B) {
	url, height := cannedNode(b)
	client, err := ethclient.Dial(url)
	require.NoError(b, err)
	b.Cleanup(client.Close)
	usual := reading(b, func() error {
		_, err := client.BlockByNumber(b.Context(), bigInt(height))
		return err
	})
	for name, c := range map[string]struct {
		unverified bool
		atMost     float64
	}{"proven": {false, 0.5}, "trusted": {true, 0.25}} {
		b.Run(name, func(b *testing.B) {
			keys := newKeyring()
			adapter, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1337, Nodes: []string{url}, Traces: "off", Unverified: c.unverified}, keys)
			require.NoError(b, err)
			b.Cleanup(adapter.Close)
			budget.Compare(b, c.atMost, budget.Cost.PerCPU, reading(b, func() error {
				_, err := adapter.Block(b.Context(), height)
				return err
			}), usual)
		})
	}
}

// reading reads a block over and over, after some times that do not count.
func reading(b *testing.B, read func() error) func() budget.Cost {
	n := 300
	if testing.Short() {
		n = 10
	}
	return func() budget.Cost {
		for range n / 10 {
			require.NoError(b, read())
		}
		return budget.Measure(n, func() {
			for range n {
				require.NoError(b, read())
			}
		})
	}
}
