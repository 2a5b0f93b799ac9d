package core

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type textVectors struct {
	Valid []struct {
		Address         string
		Kind            string
		AddressBytesHex string
		TokenID         string
		TokenIDBytesHex string
	}
	Invalid      []struct{ Text, Reason string }
	CaseVariants []struct{ Text, Canonical string }
}

func TestAddressVectors(t *testing.T) {
	var v textVectors
	loadVectors(t, "addresses.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		a, err := ParseAddress(c.Address)
		require.NoError(t, err, c.Address)
		require.Equal(t, unhex(t, c.AddressBytesHex), a[:])
		require.Equal(t, c.Address, a.String())
		require.Equal(t, c.Kind == "contract", a.IsContract())
		back, err := AddressFromBytes(a[:])
		require.NoError(t, err)
		require.Equal(t, a, back)
	}
	for _, c := range v.Invalid {
		_, err := ParseAddress(c.Text)
		require.ErrorIs(t, err, ErrAddress, c.Reason)
	}
	for _, c := range v.CaseVariants {
		a, err := ParseAddress(c.Text)
		require.NoError(t, err)
		require.Equal(t, c.Canonical, a.String())
	}
}

func TestContractAddressOfVectorBlock(t *testing.T) {
	creator, err := ParseAddress("vite_2422dff8e052de055a0728d422f43bd9c71665b1429432085a")
	require.NoError(t, err)
	previous, err := ParseHash(strings.Repeat("fedcba9876543210", 4))
	require.NoError(t, err)
	require.Equal(t, "vite_b611103194cc4270e7e33b07f28a6601783707f8c7bf0e42c7",
		ContractAddress(creator, 1_000_000, previous).String())
}

func TestBuiltinAddresses(t *testing.T) {
	for text, a := range map[string]Address{
		"vite_0000000000000000000000000000000000000003f6af7459b9": QuotaContract,
		"vite_0000000000000000000000000000000000000004d28108e76b": GovernanceContract,
		"vite_000000000000000000000000000000000000000595292d996d": AssetContract,
		"vite_0000000000000000000000000000000000000006e82b8ba657": DexFundContract,
		"vite_00000000000000000000000000000000000000079710f19dc7": DexTradeContract,
		"vite_0000000000000000000000000000000000000000a4f3a0cb58": {},
	} {
		require.Equal(t, text, a.String())
	}
	require.True(t, Address{}.IsZero())
	require.False(t, QuotaContract.IsZero())
}

func TestAddressFromBytesRefuses(t *testing.T) {
	_, err := AddressFromBytes(make([]byte, AddressSize-1))
	require.ErrorIs(t, err, ErrAddress)
	odd := make([]byte, AddressSize)
	odd[addressCore] = 2
	_, err = AddressFromBytes(odd)
	require.ErrorIs(t, err, ErrAddress)
}

func TestIdentifiersInJSON(t *testing.T) {
	type wire struct {
		A Address
		T TokenID
		H Hash
		G GID
	}
	in := wire{A: AssetContract, T: VITE, H: Hash{1, 2, 3}, G: DelegateGID}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	var out wire
	require.NoError(t, json.Unmarshal(text, &out))
	require.Equal(t, in, out)
	for _, bad := range []string{`{"A":"x"}`, `{"T":"x"}`, `{"H":"x"}`, `{"G":"x"}`, `{"A":1}`} {
		require.Error(t, json.Unmarshal([]byte(bad), &out), bad)
	}
}

func FuzzParseAddress(f *testing.F) {
	var v textVectors
	loadVectors(f, "addresses.json", &v)
	for _, c := range v.Valid {
		f.Add(c.Address)
	}
	for _, c := range v.Invalid {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAddress(s)
		if err != nil {
			require.Equal(t, Address{}, a)
			return
		}
		again, err := ParseAddress(a.String())
		require.NoError(t, err)
		require.Equal(t, a, again)
		require.Equal(t, strings.ToLower(s), a.String())
	})
}
