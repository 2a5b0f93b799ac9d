package vite

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestPaymentData(t *testing.T) {
	tests := []struct {
		data PaymentData
		want string
	}{
		{PaymentData{"gate", chain.Credit, 1}, "0001" + "01" + "01" + "67617465" + "0000000000000001"},
		{PaymentData{"gw01", chain.Refund, 0xdeadbeef}, "0001" + "01" + "02" + "67773031" + "00000000deadbeef"},
		{PaymentData{"~~~~", chain.Sweep, math.MaxUint64}, "0001" + "01" + "03" + "7e7e7e7e" + "ffffffffffffffff"},
	}
	for _, tt := range tests {
		data, err := EncodePaymentData(tt.data)
		require.NoError(t, err)
		require.Equal(t, tt.want, hex.EncodeToString(data))
		back, err := DecodePaymentData(data)
		require.NoError(t, err)
		require.Equal(t, tt.data, back)
	}
}

func TestPaymentDataRefused(t *testing.T) {
	for _, d := range []PaymentData{
		{"gate", chain.Receive, 1}, {"gate", chain.Gas, 1}, {"gate", chain.Cancel, 1}, {"gate", "", 1},
		{"gat", chain.Credit, 1}, {"", chain.Credit, 1}, {"gates", chain.Credit, 1},
	} {
		_, err := EncodePaymentData(d)
		require.ErrorIs(t, err, ErrPaymentData, "%v", d)
	}
	for name, text := range map[string]string{
		"empty":              "",
		"plain text":         hex.EncodeToString([]byte("thank you, merci")),
		"one byte short":     "0001010167617465000000000000",
		"one byte more":      "00010101676174650000000000000001ff",
		"content type":       "0bc30101676174650000000000000001",
		"version 0":          "00010001676174650000000000000001",
		"version 2":          "00010201676174650000000000000001",
		"purpose 0":          "00010100676174650000000000000001",
		"purpose of receive": "00010104676174650000000000000001",
	} {
		data, err := hex.DecodeString(text)
		require.NoError(t, err)
		_, err = DecodePaymentData(data)
		require.ErrorIs(t, err, ErrPaymentData, name)
	}
}

func FuzzDecodePaymentData(f *testing.F) {
	for _, d := range []PaymentData{{"gate", chain.Credit, 1}, {"gw01", chain.Refund, math.MaxUint64}, {"....", chain.Sweep, 0}} {
		data, err := EncodePaymentData(d)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("no payment data."))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := DecodePaymentData(data)
		if err != nil {
			require.ErrorIs(t, err, ErrPaymentData)
			require.Zero(t, d)
			return
		}
		again, err := EncodePaymentData(d)
		require.NoError(t, err)
		require.Equal(t, data, again)
	})
}
