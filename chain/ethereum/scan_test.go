package ethereum

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"
)

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	require.NoError(t, err)
	return text
}

// compact is a text without spaces, and with a null and an unknown member in front of each object's own.
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
		blockText, receiptsText := change(t, recorded(t, "block")), change(t, recorded(t, "receipts"))
		s := &scanner{text: blockText}
		got := scanBlock(s)
		require.NoError(t, s.end())
		var want blockJSON
		require.NoError(t, json.Unmarshal(blockText, &want))
		require.Equal(t, asJSON(t, want), asJSON(t, *got))

		s = &scanner{text: receiptsText}
		receipts := scanReceipts(s)
		require.NoError(t, s.end())
		var wanted []receiptJSON
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
	for _, tx := range everyType(t) {
		text, err := tx.MarshalJSON()
		require.NoError(t, err)
		s, read := &scanner{text: text}, txJSON{}
		scanTransaction(s, &read)
		require.NoError(t, s.end())
		same, err := read.signed()
		require.NoError(t, err)
		require.Equal(t, tx.Hash(), same.Hash(), "type %d", tx.Type())
	}
}

func TestScannerRefuses(t *testing.T) {
	one := func(read func(*scanner)) func(string) error {
		return func(text string) error { s := &scanner{text: []byte(text)}; read(s); return s.end() }
	}
	number := one(func(s *scanner) { s.number() })
	big := one(func(s *scanner) { s.big() })
	bytes := one(func(s *scanner) { s.bytes() })
	fixed := one(func(s *scanner) { s.fixed(make([]byte, 2)) })
	block := one(func(s *scanner) { scanBlock(s) })
	skip := one((*scanner).skip)
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

func TestReadAnswer(t *testing.T) {
	hash := common.Hash{}
	read := func(s *scanner) { s.fixed(hash[:]) }
	good := `{"jsonrpc":"2.0","id":1,"result":"0x` + strings.Repeat("0a", 32) + `"}`
	require.NoError(t, readAnswer([]byte(good), read))
	require.Equal(t, byte(10), hash[31])
	for _, text := range []string{
		`{"id":2,"result":null}`, `{"id":1}`, `{"result":null}`, `[]`, ``, good[:40], good + "x", `{"id":1,"result":7}`, `{"id":1,"error":7}`,
	} {
		require.Error(t, readAnswer([]byte(text), read), text)
	}
	err := readAnswer([]byte(`{"id":1,"error":{"code":-32601,"message":"no \"such\" method"}}`), read)
	require.Equal(t, remoteError{-32601, `no "such" method`}, err)
	require.Equal(t, verdictNoMethod, classify(err))
}

func FuzzScanner(f *testing.F) {
	f.Add(recorded(f, "block"))
	f.Add(recorded(f, "receipts"))
	f.Add([]byte(`{"id":1,"error":{"code":1,"message":"\u00e9"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(*scanner){func(s *scanner) { scanBlock(s) }, func(s *scanner) { scanReceipts(s) }, (*scanner).skip} {
			s := &scanner{text: text}
			read(s)
			if s.end() == nil {
				require.NotEmpty(t, text)
			}
			_ = readAnswer(text, read)
		}
	})
}
