package ethereum

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/ethtest"
)

func recordedValue(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	require.NoError(t, err)
	return text
}

// compact is a text without spaces, and with a null and an unknown member in front of each object's
// own.
func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var anything any
	require.NoError(t, json.Unmarshal(text, &anything))
	text, err := json.Marshal(anything)
	require.NoError(t, err)
	return []byte(strings.ReplaceAll(string(text), `{"`, `{"extra":{"a":["}\"\\",1.5e3,true,null,{}]},"to be":null,"`))
}

func TestScannerReadsWhatTheDecoderReads(t *testing.T) {
	for _, change := range []func(*testing.T, []byte) []byte{func(_ *testing.T, text []byte) []byte { return text }, compact} {
		blockText, receiptsText := change(t, recordedValue(t, "block")), change(t, recordedValue(t, "receipts"))
		s := &scanner{text: blockText}
		got := scanBlock(s)
		require.NoError(t, s.End())
		var want wireBlock
		require.NoError(t, json.Unmarshal(blockText, &want))
		require.Equal(t, asJSON(t, want), asJSON(t, *got))

		s = &scanner{text: receiptsText}
		receipts := scanReceipts(s)
		require.NoError(t, s.End())
		var wanted []wireReceipt
		require.NoError(t, json.Unmarshal(receiptsText, &wanted))
		require.Equal(t, asJSON(t, wanted), asJSON(t, receipts))
	}
}

// asJSON makes absent and empty lists alike.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return strings.NewReplacer(`:null`, `:[]`, `:"0x"`, `:[]`).Replace(string(text))
}

func TestScannerReadsEveryTransactionType(t *testing.T) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("wire")))
	require.NoError(t, err)
	all, err := ethtest.EveryTransactionType(key)
	require.NoError(t, err)
	for _, tx := range all {
		text, err := tx.MarshalJSON()
		require.NoError(t, err)
		s, read := &scanner{text: text}, wireTx{}
		scanTransaction(s, &read)
		require.NoError(t, s.End())
		same, err := read.Signed()
		require.NoError(t, err)
		require.Equal(t, tx.Hash(), same.Hash(), "type %d", tx.Type())
	}
}

func TestScannerRefuses(t *testing.T) {
	one := func(read func(*scanner)) func(string) error {
		return func(text string) error { s := &scanner{text: []byte(text)}; read(s); return s.End() }
	}
	number := one(func(s *scanner) { s.number() })
	big := one(func(s *scanner) { s.big() })
	bytes := one(func(s *scanner) { s.Bytes() })
	fixed := one(func(s *scanner) { s.fixed(make([]byte, 2)) })
	block := one(func(s *scanner) { scanBlock(s) })
	skip := one((*scanner).Skip)
	for _, c := range []struct {
		read func(string) error
		good []string
		bad  []string
	}{
		{number, []string{`"0x0"`, `"0xffffffffffffffff"`, ` "0x1F" `, `null`}, []string{`"0x"`, `"0x01"`, `"0x10000000000000000"`, `"1"`, `1`, `"0xg"`, ``, `"`, `"0x1`, `"0x1" 2`, `nul`}},
		{big, []string{`"0x0"`, `"0x` + strings.Repeat("f", 64) + `"`, `null`}, []string{`"0x"`, `"0x00"`, `"0x1` + strings.Repeat("0", 64) + `"`, `"0x-1"`, `true`}},
		{bytes, []string{`"0x"`, `"0x0001"`, `null`}, []string{`"0x0"`, `"0xzz"`, `"00"`, `[]`}},
		{fixed, []string{`"0x0102"`, `null`}, []string{`"0x01"`, `"0x010203"`, `"0x010g"`, `"0\u0078"`}},
		{block, []string{`{}`, `null`, `{"number":"0x1","x":[[],{}]}`}, []string{`[]`, `{`, `{"number"}`, `{"number":}`, `{"number":"0x1",}`, `{"transactions":{}}`, `{"x":`, `{"x":[}`, `{}{}`, `<html>`}},
		{skip, []string{`1`, `"a\"b"`, `[1,{"a":"]"}]`, `{"a":{"b":[]}}`, `-1.5e+3`, `"\\"`}, []string{``, `[`, `{"a":1`, `"abc`, `"\"`}},
	} {
		for _, text := range c.good {
			require.NoError(t, c.read(text), text)
		}
		for _, text := range c.bad {
			require.Error(t, c.read(text), text)
		}
	}
}

// TestEmptyElementsTakeNoMemory: a list of what is nothing is refused at its first element.
func TestEmptyElementsTakeNoMemory(t *testing.T) {
	nothing := strings.Repeat("{},", 1<<16) + "{}"
	block, receipts, traces := func(s *scanner) { scanBlock(s) }, func(s *scanner) { scanReceipts(s) }, func(s *scanner) { scanTraces(s) }
	for text, read := range map[string]func(*scanner){
		`{"transactions":[` + nothing + `]}`:                  block,
		`{"transactions":[{"accessList":[` + nothing + `]}]}`: block,
		`[` + nothing + `]`:                                   receipts,
		`[{"logs":[` + nothing + `]}]`:                        receipts,
		`[{},` + nothing + `]`:                                traces,
		`[{"result":{"calls":[` + nothing + `]}}]`:            traces,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s := newScanner([]byte(text))
		read(s)
		require.ErrorIs(t, s.End(), errShort)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2*len(text)))
	}
}

// TestTraces reads what is needed of a tree, and none that is deeper than the EVM nests calls,
// which would take the program's stack.
func TestTraces(t *testing.T) {
	const frame = `"type":"CALL","from":"0x00000000000000000000000000000000000000aa","to":null,"value":"0x10","gas":"0x5208"`
	s := newScanner([]byte(`[{"txHash":null,"result":{` + frame + `,"error":"a \"quoted\" one","calls":[{` + frame + `}]}},{"result":null,"error":"out of time"}]`))
	all := scanTraces(s)
	require.NoError(t, s.End())
	require.Len(t, all, 2)
	require.Nil(t, all[1].Result)
	require.Equal(t, "out of time", all[1].Error)
	require.Equal(t, "CALL", all[0].Result.Type)
	require.NotEmpty(t, all[0].Result.Error)
	below := all[0].Result.Calls
	require.Len(t, below, 1)
	require.Equal(t, byte(0xaa), below[0].From[19])
	require.Nil(t, below[0].To)
	require.EqualValues(t, 16, below[0].Value.ToInt().Uint64())

	nested := func(depth int) *scanner {
		s := newScanner([]byte(`[{"result":` + strings.Repeat(`{`+frame+`,"calls":[`, depth-1) + `{` + frame + `}` + strings.Repeat(`]}`, depth-1) + `}]`))
		scanTraces(s)
		return s
	}
	require.NoError(t, nested(maxDepth).End())
	require.ErrorIs(t, nested(maxDepth+1).End(), errDeep)
	require.ErrorIs(t, nested(1_000_000).End(), errDeep)
}

func FuzzScanner(f *testing.F) {
	f.Add(recordedValue(f, "block"))
	f.Add(recordedValue(f, "receipts"))
	f.Add([]byte(`{"id":1,"error":{"code":1,"message":"\u00e9"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(*scanner){func(s *scanner) { scanBlock(s) }, func(s *scanner) { scanReceipts(s) }, func(s *scanner) { scanTraces(s) }, (*scanner).Skip} {
			s := &scanner{text: text}
			read(s)
			if s.End() == nil {
				require.NotEmpty(t, text)
			}
		}
	})
}
