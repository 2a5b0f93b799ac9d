package vite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

const (
	someUser  = "vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e"
	zeroText  = "vite_0000000000000000000000000000000000000000a4f3a0cb58"
	assetText = "vite_000000000000000000000000000000000000000595292d996d"
)

func TestCheckAddress(t *testing.T) {
	c := chainOf(t, 1)
	tests := []struct {
		name, addr, label string
		want              string
		err               error
	}{
		{"user", someUser, "", someUser, nil},
		{"upper-case digits", "vite_75E6D2A1006018C1C4ADC3418E899CA47487720F96E1D4572E", "", someUser, nil},
		{"upper-case prefix", "VITE_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e", "", "", chain.ErrAddress},
		{"label", someUser, "7", "", chain.ErrLabel},
		{"zero address", zeroText, "", "", chain.ErrAddress},
		{"built-in contract", assetText, "", "", chain.ErrAddress},
		{"contract", "vite_b611103194cc4270e7e33b07f28a6601783707f8c7bf0e42c7", "", "", chain.ErrAddress},
		{"checksum", someUser[:54] + "f", "", "", chain.ErrAddress},
		{"short", someUser[:54], "", "", chain.ErrAddress},
		{"blank", " " + someUser, "", "", chain.ErrAddress},
		{"empty", "", "", "", chain.ErrAddress},
		{"other chain", "0x52908400098527886E0F7030069857D2E4169EE7", "", "", chain.ErrAddress},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := c.CheckAddress(tt.addr, tt.label)
			require.Equal(t, tt.want, got)
			require.ErrorIs(t, err, tt.err)
		})
	}
}

func FuzzCheckAddress(f *testing.F) {
	for _, addr := range []string{someUser, zeroText, assetText, "", "vite_"} {
		f.Add(addr, "")
	}
	f.Add(someUser, "label")
	f.Fuzz(func(t *testing.T, addr, label string) {
		c := &Chain{}
		got, err := c.CheckAddress(addr, label)
		if err != nil {
			require.Empty(t, got)
			return
		}
		require.Empty(t, label)
		require.Equal(t, strings.ToLower(addr), got)
		again, err := c.CheckAddress(got, label)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
