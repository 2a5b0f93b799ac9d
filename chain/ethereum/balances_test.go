package ethereum_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
)

// refuseOverrides answers as a node that takes no third argument of eth_call.
func refuseOverrides(q request, result any) any {
	if q.Method == "eth_call" && len(q.Params) > 2 {
		return rpcError{-32602, "too many arguments, want at most 2"}
	}
	return result
}

// ignoreOverrides answers as a node that drops the third argument: no code runs.
func ignoreOverrides(q request, result any) any {
	if q.Method == "eth_call" && len(q.Params) > 2 {
		return "0x"
	}
	return result
}

// lowGas answers as a node whose calls may use gas for some dozen addresses only.
func lowGas(q request, result any) any {
	if q.Method != "eth_call" || len(q.Params) < 3 {
		return result
	}
	if len(q.Params[0].(map[string]any)["input"].(string)) > 2+2*20*700 {
		return rpcError{-32000, "out of gas"}
	}
	return result
}

func TestBalancesAtABlock(t *testing.T) {
	b := setup(t)
	var accounts []string
	var want []chain.Amount
	for i := range 1_500 {
		someone := outsider(fmt.Sprint("somebody ", i))
		accounts = append(accounts, someone.Hex())
		if i%100 == 7 {
			b.must(b.dev.SendETH(someone, big.NewInt(int64(i))))
			want = append(want, chain.NewAmount(uint64(i)))
			continue
		}
		want = append(want, chain.Amount{})
	}
	height := b.mine(1)
	b.must(b.dev.SendETH(common.HexToAddress(accounts[3]), big.NewInt(9))) // after the block that is asked for
	b.mine(2)
	for name, tell := range map[string]lie{
		"overrides":        func(_ request, result any) any { return result },
		"refused":          refuseOverrides,
		"ignored":          ignoreOverrides,
		"few at a time":    lowGas,
		"method not there": about("eth_call", instead(rpcError{-32601, "the method eth_call does not exist/is not available"})),
	} {
		t.Run(name, func(t *testing.T) {
			config := b.config()
			config.Nodes = []string{newLiar(t, b.dev.URL(), tell).url}
			got, err := b.adapter(config).BalancesAt(t.Context(), height, accounts)
			require.NoError(t, err)
			require.Equal(t, want, got)
		})
	}
	t.Run("before PUSH0", func(t *testing.T) {
		b := setup(t, legacy)
		got, err := b.chain.BalancesAt(t.Context(), b.height(), []string{b.hot.Account, b.inbox.Account})
		require.NoError(t, err)
		require.Equal(t, []chain.Amount{chain.MustAmount("100000000000000000000"), {}}, got)
	})
}

func TestOneLiarChangesNoBalance(t *testing.T) {
	b := setup(t)
	b.must(b.dev.SendETH(addr(b.inbox), big.NewInt(12345)))
	height := b.mine(1)
	ten := "0x" + strings.Repeat("0", 63) + "a"
	lies := map[string]lie{
		"another balance": about("eth_call", instead(ten)),
		"none":            about("eth_call", instead("0x"+strings.Repeat("0", 64))),
		"too few":         about("eth_call", instead("0x")),
		"no state":        about("eth_call", instead(rpcError{-32000, "missing trie node abc"})),
		"page of HTML":    about("eth_call", instead(raw{200, []byte("<html>")})),
		"by batches": func(q request, result any) any {
			if q.Method == "eth_getBalance" {
				return "0xa"
			}
			return refuseOverrides(q, result)
		},
	}
	// by a majority with the same answer
	believed := map[string]uint64{"another balance": 10, "none": 0, "by batches": 10, "too few": 12345}
	for name, tell := range lies {
		t.Run(name, func(t *testing.T) {
			config := b.config()
			honest := func(_ request, result any) any { return result }
			config.Nodes = []string{newLiar(t, b.dev.URL(), tell).url, newLiar(t, b.dev.URL(), honest).url, b.dev.URL()}
			adapter := b.adapter(config)
			got, err := adapter.BalancesAt(t.Context(), height, []string{b.inbox.Account})
			require.NoError(t, err)
			require.Equal(t, []chain.Amount{chain.NewAmount(12345)}, got)

			config.Nodes[1] = newLiar(t, b.dev.URL(), tell).url // two of three
			got, err = b.adapter(config).BalancesAt(t.Context(), height, []string{b.inbox.Account})
			if want, alike := believed[name]; alike {
				require.NoError(t, err)
				require.Equal(t, []chain.Amount{chain.NewAmount(want)}, got)
				return
			}
			require.ErrorIs(t, err, chain.ErrUnavailable)
		})
	}
}

func TestPastBalances(t *testing.T) {
	b := setup(t)
	at, forwarder := b.deploy(contracts.ForwarderMetaData.Bin), contracts.NewForwarder()
	before := b.height()
	b.call(at, 11, forwarder.PackForward(addr(b.inbox)))
	b.mine(1)
	b.call(at, 22, forwarder.PackForward(addr(b.inbox)))
	b.mine(1)
	of := func(height uint64) chain.Moment { return chain.Moment{Account: b.inbox.Account, Height: height} }
	pruned := func(q request, result any) any {
		if q.Method == "eth_getBalance" && q.Params[1] == fmt.Sprintf("0x%x", before) {
			return rpcError{-32000, "missing trie node abc (path ) state 0x1 is not available"}
		}
		return result
	}
	amount := func(n uint64) *chain.Amount { a := chain.NewAmount(n); return &a }
	for name, tell := range map[string]lie{"archive": func(_ request, result any) any { return result }, "pruned": pruned} {
		t.Run(name, func(t *testing.T) {
			config := b.config()
			config.Nodes = []string{newLiar(t, b.dev.URL(), tell).url}
			got, err := b.adapter(config).PastBalances(t.Context(), []chain.Moment{of(before), of(before + 1), of(before + 2)})
			require.NoError(t, err)
			want := []*chain.Amount{amount(0), amount(11), amount(33)}
			if name == "pruned" {
				want[0] = nil
			}
			require.Equal(t, want, got)
		})
	}
}

// million is a node that knows the balance of a million addresses and counts what it is asked.
type million struct {
	calls, most atomic.Int64
}

func (m *million) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := `"0x1"`
	if q.Method == "eth_call" {
		m.calls.Add(1)
		m.most.Store(max(m.most.Load(), int64(len(body))))
		answer = balancesOf(q.Params[0].(map[string]any)["input"].(string))
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, answer)
}

// balancesOf answers each address's own last 8 bytes as its balance.
func balancesOf(input string) string {
	var out strings.Builder
	out.WriteString(`"0x`)
	for addresses := input[2:]; addresses != ""; addresses = addresses[40:] {
		out.WriteString(strings.Repeat("0", 48) + addresses[24:40])
	}
	return out.String() + `"`
}

// TestMillionBalances reads a million balances in at most 120 calls.
func TestMillionBalances(t *testing.T) {
	m := new(million)
	config := answers(t, m.ServeHTTP)
	config.MaxResponse = 4 << 20
	adapter := adapterOf(t, config)
	const count = 1_000_000
	page := make([]string, 0, adapter.BalancePage())
	for i := 0; i < count; {
		page = page[:0]
		for ; len(page) < cap(page) && i < count; i++ {
			var a [20]byte
			binary.BigEndian.PutUint64(a[12:], uint64(i)+1)
			page = append(page, "0x"+hex.EncodeToString(a[:]))
		}
		got, err := adapter.BalancesAt(t.Context(), 1, checksummed(page))
		require.NoError(t, err)
		for j := range got {
			if want := chain.NewAmount(uint64(i-len(got)+j) + 1); got[j] != want {
				require.Equal(t, want, got[j])
			}
		}
	}
	require.LessOrEqual(t, m.calls.Load(), int64(120))
	require.Less(t, m.most.Load(), int64(1<<20), "bytes of the largest request: servers in front of nodes often take one MiB")
	t.Logf("%d calls, the largest of %d bytes", m.calls.Load(), m.most.Load())
}

func checksummed(addresses []string) []string {
	out := make([]string, len(addresses))
	for i, a := range addresses {
		out[i] = common.HexToAddress(a).Hex()
	}
	return out
}

// TestBalanceCallFitsItsGas asks a real node, whose calls may use 50 million gas, for a full page
// of addresses in one call.
func TestBalanceCallFitsItsGas(t *testing.T) {
	b := setup(t)
	var calls atomic.Int64
	count := func(q request, result any) any {
		if q.Method == "eth_call" {
			calls.Add(1)
		}
		return result
	}
	config := b.config()
	config.Nodes = []string{newLiar(t, b.dev.URL(), count).url}
	adapter := b.adapter(config)
	accounts := make([]string, adapter.BalancePage())
	for i := range accounts {
		accounts[i] = common.BigToAddress(big.NewInt(int64(i) + 0x0bcdef0123456789)).Hex()
	}
	accounts[len(accounts)-1] = b.hot.Account
	got, err := adapter.BalancesAt(t.Context(), b.height(), accounts)
	require.NoError(t, err)
	require.Equal(t, chain.MustAmount("100000000000000000000"), got[len(got)-1])
	require.EqualValues(t, 1, calls.Load())
}
