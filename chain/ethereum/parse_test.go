package ethereum

import (
	"crypto/ecdsa"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func goodConfig() Config {
	return Config{ID: "eth", ChainID: 1, Nodes: []string{"http://localhost:8545", "wss://node.example/ws", "/run/geth.ipc"}}
}

func TestConfigIsChecked(t *testing.T) {
	require.NoError(t, goodConfig().Check())
	cases := []struct {
		field  string
		change func(*Config)
	}{
		{"id", func(c *Config) { c.ID = "" }},
		{"chain_id", func(c *Config) { c.ChainID = 0 }},
		{"chain_id", func(c *Config) { c.ChainID = 1 << 63 }},
		{"nodes", func(c *Config) { c.Nodes = nil }},
		{"nodes", func(c *Config) { c.Nodes = make([]string, maxNodes+1) }},
		{"nodes[1]", func(c *Config) { c.Nodes[1] = "node.example" }},
		{"nodes[1]", func(c *Config) { c.Nodes[1] = "ftp://node.example" }},
		{"nodes[1]", func(c *Config) { c.Nodes[1] = "http://" }},
		{"nodes[1]", func(c *Config) { c.Nodes[1] = c.Nodes[0] }},
		{"finality", func(c *Config) { c.Finality = "latest" }},
		{"finality", func(c *Config) { c.Finality = "0" }},
		{"finality", func(c *Config) { c.Finality = "1e9" }},
		{"finality", func(c *Config) { c.Finality = "100001" }},
		{"traces", func(c *Config) { c.Traces = "yes" }},
		{"tokens[0]", func(c *Config) { c.Tokens = []chain.Asset{"native"} }},
		{"tokens[1]", func(c *Config) {
			c.Tokens = []chain.Asset{"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"}
		}},
		{"max_fee_gwei", func(c *Config) { c.MaxFeeGwei = "many" }},
		{"max_fee_gwei", func(c *Config) { c.MaxFeeGwei = "0" }},
		{"min_tip_gwei", func(c *Config) { c.MinTipGwei = "0.0000000001" }},
		{"min_tip_gwei", func(c *Config) { c.MinTipGwei = "301" }},
		{"max_gas", func(c *Config) { c.MaxGas = 20_999 }},
		{"max_native_gas", func(c *Config) { c.MaxNativeGas = 1 << 40 }},
		{"token_gas", func(c *Config) { c.TokenGas = 500_001 }},
		{"timeout", func(c *Config) { c.Timeout = time.Hour }},
		{"max_response", func(c *Config) { c.MaxResponse = 100 }},
	}
	for _, c := range cases {
		config := goodConfig()
		c.change(&config)
		require.ErrorContains(t, config.Check(), c.field+": ")
		_, err := New(config, nil)
		require.ErrorContains(t, err, c.field+": ")
	}
}

func TestParseGwei(t *testing.T) {
	for text, want := range map[string]uint64{"1": 1e9, "0.01": 1e7, "12.5": 125e8, "0.000000001": 1, "9999999": 9999999e9, "0": 0} {
		got, err := parseGwei(text)
		require.NoError(t, err)
		require.Equal(t, uint256.NewInt(want), got, text)
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "1e3", "1.0000000001", "10000000", "1.-5", " 1", "1,5"} {
		_, err := parseGwei(text)
		require.Error(t, err, text)
	}
}

func TestAddressesThatNobodyHolds(t *testing.T) {
	c, err := New(goodConfig(), nil)
	require.NoError(t, err)
	for _, last := range []string{"0000", "0001", "000a", "0100", "01ff"} {
		_, err := c.CheckAddress("0x"+strings.Repeat("0", 36)+last, "")
		require.ErrorIs(t, err, chain.ErrAddress, last)
	}
	_, err = c.CheckAddress("0x"+strings.Repeat("0", 36)+"0200", "")
	require.NoError(t, err)
	_, err = c.CheckAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", strings.Repeat("x", 65))
	require.ErrorIs(t, err, chain.ErrLabel)
}

func TestWithoutAddresses(t *testing.T) {
	c, err := New(goodConfig(), nil)
	require.NoError(t, err)
	_, err = c.Block(t.Context(), 1)
	require.ErrorContains(t, err, "our addresses are not configured")
}

func TestMemos(t *testing.T) {
	cases := []struct {
		extra, label, fault string
	}{
		{"", "", ""},
		{"1", "1", ""},
		{strings.Repeat("é", 32), strings.Repeat("é", 32), ""},
		{strings.Repeat("é", 32) + "x", "", "too_long"},
		{"\x00", "", "not_printable"},
		{"tab\t", "", "not_printable"},
		{"\xc3", "", "not_utf8"},
		{strings.Repeat("\xff", 10_000), "", "too_long"},
	}
	for _, c := range cases {
		memo := readMemo([]byte(c.extra))
		require.Equal(t, c.label, memo.Label)
		require.Equal(t, c.fault, memo.Fault)
		require.Equal(t, noComment, memo.Type)
		require.LessOrEqual(t, len(memo.Raw), maxRawMemo)
		require.Equal(t, c.extra[:len(memo.Raw)], string(memo.Raw))
	}
}

func TestReadTraces(t *testing.T) {
	b := &block{txs: []transaction{{ok: true}, {ok: false}}}
	const from, to = `"from":"0x00000000000000000000000000000000000000aa"`, `"to":"0x00000000000000000000000000000000000000bb"`
	call := func(kind, more string) string { return `{"type":"` + kind + `",` + from + `,` + to + more + `}` }
	cases := []struct {
		name  string
		calls string
		want  []string // paths
	}{
		{"none", ``, nil},
		{"call", call("CALL", `,"value":"0x1"`), []string{"0"}},
		{"create", call("CREATE", `,"value":"0x1"`) + "," + call("CREATE2", `,"value":"0x2"`), []string{"0", "1"}},
		{"selfdestruct", call("SELFDESTRUCT", `,"value":"0x1"`), []string{"0"}},
		{"no value", call("CALL", ``) + "," + call("CALL", `,"value":"0x0"`), nil},
		{"value that stays", call("DELEGATECALL", `,"value":"0x1"`) + "," + call("CALLCODE", `,"value":"0x1"`) + "," + call("STATICCALL", `,"value":"0x1"`), nil},
		{"below a delegate", call("DELEGATECALL", `,"calls":[`+call("CALL", `,"value":"0x1"`)+`]`), []string{"0.0"}},
		{"reverted", call("CALL", `,"value":"0x1","error":"execution reverted"`), nil},
		{"below a reverted", call("CALL", `,"value":"0x1","error":"x","calls":[`+call("CALL", `,"value":"0x1"`)+`]`), nil},
		{"beside a reverted", call("CALL", `,"error":"x"`) + "," + call("CALL", `,"value":"0x1"`), []string{"1"}},
		{"to itself", `{"type":"CALL","value":"0x1",` + from + `,"to":"0x00000000000000000000000000000000000000aa"}`, nil},
		{"no receiver", `{"type":"CALL","value":"0x1",` + from + `}`, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			frame := `{"result":` + call("CALL", `,"value":"0x9","calls":[`+c.calls+`]`) + `}`
			s := newScanner([]byte("[" + frame + "," + frame + "]"))
			traces := scanTraces(s)
			require.NoError(t, s.End())
			moves, err := readTraces(traces, b)
			require.NoError(t, err)
			var paths []string
			for _, m := range moves {
				require.Zero(t, m.tx, "the second transaction failed")
				paths = append(paths, m.path)
			}
			require.Equal(t, c.want, paths)
		})
	}
}

func TestBallot(t *testing.T) {
	move := func(n uint64) internal { return internal{movement: movement{amount: *uint256.NewInt(n)}, path: "0"} }
	all := func(internal) bool { return true }
	one, two := []internal{move(1)}, []internal{move(2)}
	votes := func(each ...[]internal) (all []vote) {
		for _, moves := range each {
			all = append(all, vote{testNode(), moves})
		}
		return all
	}
	hits, err := traceVotes{votes: votes(one, two, one), need: 2}.decide(all)
	require.NoError(t, err)
	require.Equal(t, one, hits)
	_, err = traceVotes{votes: votes(one, two), need: 2}.decide(all)
	require.ErrorIs(t, err, errTraceDispute)
	hits, err = traceVotes{votes: votes(one, two), need: 2}.decide(func(internal) bool { return false })
	require.NoError(t, err)
	require.Empty(t, hits)
	hits, err = traceVotes{}.decide(all)
	require.NoError(t, err)
	require.Empty(t, hits)
}

func FuzzTransferCall(f *testing.F) {
	f.Add(transferCall(common.Address{1}, uint256.NewInt(5), "label"))
	f.Add([]byte(selectorTransfer))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, extra, ok := readTransferCall(data)
		if ok {
			require.Equal(t, data, transferCall(m.to, &m.amount, string(extra)))
		}
	})
}

func FuzzTransferLog(f *testing.F) {
	log := types.EthTransferLog(common.Address{1}, common.Address{2}, uint256.NewInt(3))
	f.Add(log.Topics[0][:], log.Topics[1][:], log.Topics[2][:], log.Data)
	f.Fuzz(func(t *testing.T, event, from, to, data []byte) {
		topics := []common.Hash{common.BytesToHash(event), common.BytesToHash(from), common.BytesToHash(to)}
		if m, ok := readTransferLog(topics, data); ok {
			same := types.EthTransferLog(m.from, m.to, &m.amount)
			require.Equal(t, same.Topics, topics)
			require.Equal(t, same.Data, data)
		}
		_, ok := readTransferLog(topics[:2], data)
		require.False(t, ok)
	})
}

func FuzzAddress(f *testing.F) {
	f.Add("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	f.Add("0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAddress(text)
		if err != nil {
			return
		}
		require.Equal(t, strings.ToLower(text), strings.ToLower(a.Hex()))
		again, err := parseAddress(a.Hex())
		require.NoError(t, err)
		require.Equal(t, a, again)
	})
}

func FuzzMemo(f *testing.F) {
	f.Add([]byte("100200"))
	f.Add([]byte{0xff})
	f.Fuzz(func(t *testing.T, extra []byte) {
		memo := readMemo(extra)
		require.False(t, memo.Label != "" && memo.Fault != "")
		if memo.Label != "" {
			require.Equal(t, string(extra), memo.Label)
			require.Empty(t, labelFault([]byte(memo.Label)))
		}
	})
}

// FuzzBlock gives anything as a node's answers: it must be refused or be a block whose hash covers
// it, and never panic.
func FuzzBlock(f *testing.F) {
	f.Add(recorded(f, "block"), recorded(f, "receipts"))
	f.Add([]byte(`{"number":"0x1","hash":"0x`+strings.Repeat("0", 64)+`","parentHash":"0x`+strings.Repeat("0", 64)+`"}`), []byte(`[{}]`))
	c, err := New(goodConfig(), nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, blockText, receiptsText []byte) {
		body, rest := newScanner(blockText), newScanner(receiptsText)
		raw, list := scanBlock(body), scanReceipts(rest)
		if body.End() != nil || rest.End() != nil || raw == nil || raw.Number == nil {
			return
		}
		b, err := c.prove(raw, uint64(*raw.Number), nil)
		if err != nil || c.attach(b, raw, list) != nil {
			return
		}
		require.Equal(t, raw.Header().Hash(), b.hash)
	})
}

func FuzzTraces(f *testing.F) {
	f.Add([]byte(`[{"txHash":null,"result":{"type":"CALL","calls":[{"type":"CALL","value":"0x1"}]}}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newScanner(text)
		traces := scanTraces(s)
		if s.End() != nil {
			return
		}
		moves, err := readTraces(traces, &block{txs: []transaction{{ok: true}}})
		for _, m := range moves {
			require.NoError(t, err)
			require.False(t, m.amount.IsZero())
		}
	})
}

func mustKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("wire")))
	require.NoError(t, err)
	return key
}

func TestATokenPaymentIsKeptByItsOwnEventOnly(t *testing.T) {
	from, to, token, other := common.Address{1}, common.Address{2}, common.Address{3}, common.Address{4}
	event := func(emitter, from, to common.Address, amount uint64) []wireLog {
		log := types.EthTransferLog(from, to, uint256.NewInt(amount))
		return []wireLog{{Address: emitter, Topics: log.Topics, Data: log.Data}}
	}
	cases := []struct {
		name string
		logs []wireLog
		want bool
	}{
		{"its own", event(token, from, to, 5), true},
		{"after another", append(event(token, to, from, 1), event(token, from, to, 5)...), true},
		{"none", nil, false},
		{"of another contract", event(other, from, to, 5), false},
		{"from another", event(token, other, to, 5), false},
		{"to another", event(token, from, other, 5), false},
		{"of less", event(token, from, to, 4), false},
	}
	for _, c := range cases {
		pay := transaction{from: from, to: &token, input: transferCall(to, uint256.NewInt(5), "label"), ok: true, logs: c.logs}
		require.Equal(t, c.want, pay.didAsAsked(), c.name)
		pay.ok = false
		require.False(t, pay.didAsAsked(), c.name)
	}
}

// The call data example in docs/gateway-api.md is decoded correctly.
func TestLabelOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/gateway-api.md")
	require.NoError(t, err)
	example := regexp.MustCompile(`0xa9059cbb\n +([0-9a-f]+)\n +([0-9a-f]+)\n +([0-9a-f]+)\n`).FindStringSubmatch(string(text))
	require.Len(t, example, 4)
	m, extra, ok := readTransferCall(common.FromHex("0xa9059cbb" + example[1] + example[2] + example[3]))
	require.True(t, ok)
	require.Equal(t, common.HexToAddress("0x1111111111111111111111111111111111111111"), m.to)
	require.Equal(t, uint64(5_000_000), m.amount.Uint64())
	require.Equal(t, "7QK2XB4M", readMemo(extra).Label)
	require.Equal(t, transferCall(m.to, &m.amount, "7QK2XB4M"), common.FromHex("0xa9059cbb"+example[1]+example[2]+example[3]), "payouts are written alike")
}
