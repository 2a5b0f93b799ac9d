package vite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestMemoOf(t *testing.T) {
	tests := []struct {
		name string
		data string
		want chain.Memo
	}{
		{"none", "", chain.Memo{Type: -1}},
		{"plain text", "for lunch", chain.Memo{Type: -1}},
		{"binary", "\x00\x01\x01", chain.Memo{Type: -1}},
		{"address", "\x0b\xc3\x000xabc", chain.Memo{Type: 0, Address: "0xabc"}},
		{"empty address", "\x0b\xc3\x00", chain.Memo{Type: 0}},
		{"address and label", "\x0b\xc3\x01\x05rABCD\x0312\x33", chain.Memo{Type: 1, Address: "rABCD", Label: "123"}},
		{"label empty", "\x0b\xc3\x01\x05rABCD\x00", chain.Memo{Type: 1, Address: "rABCD"}},
		{"trailing", "\x0b\xc3\x01\x01a\x01bc", chain.Memo{Type: -1, Fault: "trailing_bytes"}},
		{"unknown type", "\x0b\xc3\x02abc", chain.Memo{Type: -1, Fault: "unknown_type"}},
		{"cut", "\x0b\xc3", chain.Memo{Type: -1, Fault: "too_short"}},
		{"android type 0 with label", "\x0b\xc3\x00\x05rABCD\x00", chain.Memo{Type: -1, Fault: "android_type0_with_label"}},
		{"android type 1 without sizes", "\x0b\xc3\x01rABCD", chain.Memo{Type: -1, Fault: "android_type1_without_lengths"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.data != "" {
				tt.want.Raw = []byte(tt.data)
			}
			require.Equal(t, tt.want, memoOf(tt.want.Raw))
		})
	}
}

func FuzzMemoOf(f *testing.F) {
	for _, data := range []string{"", "text", "\x0b\xc3\x00addr", "\x0b\xc3\x01\x01a\x01b", "\x0b\xc3\x01\x01a\x01bc", "\x0b\xc3\x02"} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := memoOf(data)
		require.Equal(t, data, m.Raw)
		if m.Type == noComment {
			require.Empty(t, m.Address+m.Label, "what is no order says nothing")
			return
		}
		require.Empty(t, m.Fault)
		require.GreaterOrEqual(t, m.Type, 0)
		require.LessOrEqual(t, m.Type, 1)
		require.True(t, m.Type == 1 || m.Label == "")
	})
}
