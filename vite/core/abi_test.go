package core

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
)

type abiVectors struct {
	Calls []struct {
		Contract, Method, Signature, SelectorHex, DataHex, Fee string
		Types                                                  []string
		Values                                                 []json.RawMessage
	}
	Events []struct{ Event, Signature, Topic0Hex string }
}

// goValue turns a vector's JSON value into what Pack takes for the type.
func goValue(t testing.TB, typ Type, raw json.RawMessage) any {
	if typ.list {
		var items []json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &items))
		list := reflect.MakeSlice(reflect.SliceOf(typ.element().goType()), 0, len(items))
		for _, item := range items {
			list = reflect.Append(list, reflect.ValueOf(goValue(t, typ.element(), item)))
		}
		return list.Interface()
	}
	if typ.kind == kindBool {
		return string(raw) == "true"
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	var err error
	var v any
	switch typ.kind {
	case kindUint, kindInt:
		n, ok := new(big.Int).SetString(s, 10)
		require.True(t, ok, s)
		v = n
	case kindAddressWord:
		v, err = ParseAddress(s)
	case kindTokenID:
		v, err = ParseTokenID(s)
	case kindGID:
		v, err = ParseGID(s)
	case kindFixedBytes:
		v, err = hex.DecodeString(strings.TrimPrefix(s, "0x"))
	case kindBytes:
		v, err = hex.DecodeString(strings.TrimPrefix(s, "0x"))
	default:
		v = s
	}
	require.NoError(t, err)
	return v
}

func TestCallVectors(t *testing.T) {
	var v abiVectors
	loadVectors(t, "abi-builtin.json", &v)
	require.NotEmpty(t, v.Calls)
	for _, c := range v.Calls {
		m, err := ParseMethod(c.Signature)
		require.NoError(t, err)
		selector := m.Selector()
		require.Equal(t, c.SelectorHex, hex.EncodeToString(selector[:]))
		require.Equal(t, c.Signature, m.Signature())
		require.Equal(t, c.Method, m.name)
		var values []any
		for i, typ := range m.inputs {
			require.Equal(t, c.Types[i], typ.String())
			values = append(values, goValue(t, typ, c.Values[i]))
		}
		data, err := m.Pack(values...)
		require.NoError(t, err, c.Signature)
		require.Equal(t, c.DataHex, hex.EncodeToString(data))
		back, err := m.Unpack(data)
		require.NoError(t, err)
		again, err := m.Pack(back...)
		require.NoError(t, err)
		require.Equal(t, data, again)
		checkBuiltin(t, c.Contract, c.Signature, c.Fee, data)
	}
}

// checkBuiltin checks the call against the tables, for the contracts that they cover.
func checkBuiltin(t *testing.T, contract, signature, fee string, data []byte) {
	to, err := ParseAddress(contract)
	if err != nil || to == DexFundContract {
		return
	}
	found, ok := BuiltinMethod(to, data)
	require.True(t, ok, signature)
	require.Equal(t, signature, found.Signature())
	want := RequiredFee(SendCall, to, data)
	require.Equal(t, fee, want.Dec())
}

func TestEventVectors(t *testing.T) {
	var v abiVectors
	loadVectors(t, "abi-builtin.json", &v)
	known := map[string]Event{}
	for _, e := range []Event{
		IssueTokenEvent, ReIssueEvent, BurnEvent, TransferOwnershipEvent, DisableReIssueEvent, MintEvent, IssueEvent,
	} {
		known[e.name] = e
	}
	require.Len(t, v.Events, len(known))
	for _, c := range v.Events {
		require.Equal(t, c.Topic0Hex, known[c.Event].topic.String())
		parsed, err := ParseEvent(c.Signature)
		require.NoError(t, err)
		require.Equal(t, c.Topic0Hex, parsed.topic.String())
	}
}

func TestScanIntoVariables(t *testing.T) {
	m := MustMethod("All(uint8,uint16,uint32,uint64,uint128,int8,int32,int64,int256,bool,bytes4,bytes32,address,tokenId,gid,bytes,string,tokenId[],uint256[])")
	in := []any{
		uint8(255), uint16(1), uint32(1 << 31), uint64(1 << 63), *uint256.NewInt(7),
		int8(-128), int32(-1), int64(-1 << 63), big.NewInt(-5), true, []byte{1, 2, 3, 4}, Hash{9}, AssetContract, VITE,
		DelegateGID, []byte("raw"), "текст", []TokenID{VITE, VX}, []uint256.Int{*uint256.NewInt(1)},
	}
	data, err := m.Pack(in...)
	require.NoError(t, err)
	out := make([]any, len(in))
	for i, v := range in {
		out[i] = reflect.New(reflect.TypeOf(v)).Interface()
	}
	require.NoError(t, m.Scan(data, out...))
	for i := range in {
		require.Equal(t, in[i], reflect.ValueOf(out[i]).Elem().Interface(), "argument %d", i)
	}
	wrong := append([]any{}, out...)
	wrong[0] = new(uint16)
	require.ErrorIs(t, m.Scan(data, wrong...), ErrABI)
	require.ErrorIs(t, m.Scan(data, out[1:]...), ErrABI)
	require.ErrorIs(t, Burn.Scan(data), ErrMethod)
}

func TestPackRefusesValues(t *testing.T) {
	tooBig := new(big.Int).Lsh(big.NewInt(1), 256)
	for _, c := range []struct {
		typ   string
		value any
	}{
		{"uint8", 256}, {"uint8", -1}, {"uint256", tooBig}, {"uint256", "1"}, {"uint256", (*big.Int)(nil)}, {"uint256", nil},
		{"uint128", *new(uint256.Int).Lsh(uint256.NewInt(1), 128)},
		{"int8", 128}, {"int8", -129}, {"int256", new(big.Int).Lsh(big.NewInt(1), 255)},
		{"bool", 1}, {"address", VITE}, {"address", Address{20: 2}}, {"tokenId", "tti_"}, {"gid", VITE},
		{"bytes4", []byte{1}}, {"bytes4", Hash{}}, {"bytes32", []byte{1}}, {"bytes", "text"}, {"string", []byte{1}},
		{"string", "\xff"}, {"string", 1}, {"tokenId[]", VITE}, {"tokenId[]", []string{"x"}}, {"tokenId[]", nil},
	} {
		m := MustMethod("M(" + c.typ + ")")
		_, err := m.Pack(c.value)
		require.ErrorIs(t, err, ErrABI, "%s %v", c.typ, c.value)
	}
	_, err := Burn.Pack(1)
	require.ErrorIs(t, err, ErrABI)
}

func word(last byte) string { return strings.Repeat("00", 31) + hex.EncodeToString([]byte{last}) }

func TestUnpackRefusesData(t *testing.T) {
	ones := strings.Repeat("ff", 32)
	for _, c := range []struct{ types, data, note string }{
		{"uint8", "", "nothing"},
		{"uint8", "00", "part of a word"},
		{"uint8", word(1) + word(0), "a trailing word"},
		{"uint8", ones, "over eight bits"},
		{"int8", word(0x80), "128 without its sign"},
		{"bool", word(2), "neither 0 nor 1"},
		{"address", "01" + strings.Repeat("00", 31), "dirty padding"},
		{"address", word(2), "type byte 2"},
		{"tokenId", "01" + strings.Repeat("00", 31), "dirty padding"},
		{"gid", "01" + strings.Repeat("00", 31), "dirty padding"},
		{"bytes4", word(1), "dirty padding"},
		{"string", ones + word(0), "offset past the end"},
		{"string", word(64) + word(0), "offset just past the end"},
		{"string", word(32) + ones, "length past the end"},
		{"string", word(0), "offset into the head"},
		{"string", word(33) + word(0) + word(0), "odd offset"},
		{"string", word(32) + word(1) + "61" + strings.Repeat("00", 30) + "01", "dirty padding"},
		{"string", word(32) + word(1) + "ff" + strings.Repeat("00", 31), "not UTF-8"},
		{"bytes", word(32) + word(0) + word(0), "a trailing word"},
		{"string,string", word(64) + word(64) + word(0), "a shared tail"},
		{"tokenId[]", word(32) + word(2) + word(0), "count past the end"},
		{"tokenId[]", word(32) + word(1) + "01" + strings.Repeat("00", 31), "dirty padding in an element"},
		{"tokenId[]", word(32) + "ff" + strings.Repeat("00", 31), "huge count"},
	} {
		m := MustMethod("M(" + c.types + ")")
		_, err := m.inputs.Unpack(unhex(t, c.data))
		require.ErrorIs(t, err, ErrABI, c.note)
	}
	_, err := Burn.Unpack([]byte{1, 2})
	require.ErrorIs(t, err, ErrMethod)
}

func TestParseSignatureRefuses(t *testing.T) {
	for _, s := range []string{
		"", "M", "M(", "()", "1M()", "M(uint)", "M(uint7)", "M(uint08)", "M(uint264)", "M(bytes0)", "M(bytes33)", "M(bool8)",
		"M(uint8, bool)", "M(uint8,)", "M(string[])", "M(uint8[][])", "M(uint8[2])", "M(T)", "M()x", "M(int+8)",
	} {
		_, err := ParseMethod(s)
		require.ErrorIs(t, err, ErrABI, s)
	}
	_, err := ParseEvent("e(string indexed)")
	require.ErrorIs(t, err, ErrABI)
	_, err = ParseMethod("M(uint8 indexed)")
	require.ErrorIs(t, err, ErrABI)
	require.Panics(t, func() { MustMethod("M(") })
	require.Panics(t, func() { MustEvent("e(") })
}

func TestEventIsPacked(t *testing.T) {
	topics, data, err := BurnEvent.Pack(VITE, AssetContract, *uint256.NewInt(250))
	require.NoError(t, err)
	require.Equal(t, []Hash{BurnEvent.topic, {22: 'V', 23: 'I', 24: 'T', 25: 'E', 26: ' ', 27: 'T', 28: 'O', 29: 'K', 30: 'E', 31: 'N'}}, topics)
	values, err := BurnEvent.plainInputs().Unpack(data)
	require.NoError(t, err)
	require.Equal(t, []any{AssetContract, *uint256.NewInt(250)}, values)

	for _, bad := range [][]any{{VITE}, {"x", AssetContract, 1}, {VITE, AssetContract, -1}} {
		_, _, err = BurnEvent.Pack(bad...)
		require.ErrorIs(t, err, ErrABI)
	}
}

func FuzzUnpack(f *testing.F) {
	var v abiVectors
	loadVectors(f, "abi-builtin.json", &v)
	for _, c := range v.Calls {
		f.Add(c.Signature, unhex(f, c.DataHex))
	}
	f.Fuzz(func(t *testing.T, signature string, data []byte) {
		m, err := ParseMethod(signature)
		if err != nil {
			return
		}
		require.Equal(t, signature, m.Signature())
		values, err := m.Unpack(data)
		if err != nil {
			return
		}
		again, err := m.Pack(values...)
		require.NoError(t, err)
		require.Equal(t, data, again)
	})
}
