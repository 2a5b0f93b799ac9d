package chain

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const maxText = "115792089237316195423570985008687907853269984665640564039457584007913129639935"

func TestParseAmount(t *testing.T) {
	for _, s := range []string{"0", "1", "1000000000000000000", maxText} {
		a, err := ParseAmount(s)
		require.NoError(t, err, s)
		require.Equal(t, s, a.String())
	}
	bad := []string{"", "-1", "+1", " 1", "1.0", "1e3", "0x10", "1_000", maxText[:77] + "6", strings.Repeat("9", 79)}
	for _, s := range bad {
		_, err := ParseAmount(s)
		require.ErrorIs(t, err, ErrAmount, s)
	}
}

func TestAmountArithmetic(t *testing.T) {
	top, one := MustAmount(maxText), NewAmount(1)
	_, err := top.Add(one)
	require.ErrorIs(t, err, ErrAmount)
	_, err = one.Sub(NewAmount(2))
	require.ErrorIs(t, err, ErrAmount)
	_, err = top.Mul(2)
	require.ErrorIs(t, err, ErrAmount)
	sum, err := NewAmount(2).Add(NewAmount(3))
	require.NoError(t, err)
	require.Equal(t, NewAmount(5), sum)
	q, cut, err := top.MulDiv(1_000_000, 1_000_000)
	require.NoError(t, err)
	require.False(t, cut)
	require.Equal(t, top, q)
	q, cut, err = NewAmount(10).MulDiv(1, 3)
	require.NoError(t, err)
	require.True(t, cut)
	require.Equal(t, NewAmount(3), q)
}

func TestRescale(t *testing.T) {
	tests := []struct {
		in           string
		from, to     uint8
		scaled, dust string
	}{
		{"1234567", 6, 18, "1234567000000000000", "0"},
		{"1234567000000000001", 18, 6, "1234567", "1"},
		{"999", 18, 6, "0", "999"},
		{"7", 8, 8, "7", "0"},
	}
	for _, tt := range tests {
		scaled, dust, err := MustAmount(tt.in).Rescale(tt.from, tt.to)
		require.NoError(t, err)
		require.Equal(t, tt.scaled, scaled.String())
		require.Equal(t, tt.dust, dust.String())
	}
	_, _, err := MustAmount(maxText).Rescale(0, 1)
	require.ErrorIs(t, err, ErrAmount)
	_, _, err = NewAmount(1).Rescale(0, 255)
	require.ErrorIs(t, err, ErrAmount)
}

func TestAmountText(t *testing.T) {
	b, err := json.Marshal(struct{ A Amount }{NewAmount(42)})
	require.NoError(t, err)
	require.Equal(t, `{"A":"42"}`, string(b))
	var back struct{ A Amount }
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, NewAmount(42), back.A)
	require.Error(t, json.Unmarshal([]byte(`{"A":42}`), &back))
	var scanned Amount
	require.NoError(t, scanned.Scan([]byte("7")))
	require.Equal(t, NewAmount(7), scanned)
	require.ErrorIs(t, scanned.Scan(1.5), ErrAmount)
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"0", "1", "00012", maxText, "-1", "1e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAmount(s)
		if err != nil {
			return
		}
		want, ok := new(big.Int).SetString(s, 10)
		require.True(t, ok)
		require.Equal(t, want.String(), a.String())
		again, err := ParseAmount(a.String())
		require.NoError(t, err)
		require.Equal(t, a, again)
	})
}

func TestWholeUnits(t *testing.T) {
	for _, c := range []struct {
		units    string
		decimals uint8
		want     string
	}{
		{"0", 18, "0"}, {"1", 0, "1"}, {"1500000", 6, "1.5"}, {"1", 18, "0.000000000000000001"}, {"1000000000000000000", 18, "1"}, {"120", 2, "1.2"}, {"5", 1, "0.5"},
	} {
		require.Equal(t, c.want, MustAmount(c.units).Whole(c.decimals), c.units)
		back, err := ParseWhole(c.want, c.decimals)
		require.NoError(t, err)
		require.Equal(t, c.units, back.String())
	}
	for _, wrong := range []string{"", ".", "1.", ".5", "1.2345678", "-1", "1e3", "1.2.3", "1,5", strings.Repeat("9", 90)} {
		_, err := ParseWhole(wrong, 6)
		require.Error(t, err, wrong)
	}
}
