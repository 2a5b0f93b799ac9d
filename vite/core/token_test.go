package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokenIDVectors(t *testing.T) {
	var v textVectors
	loadVectors(t, "token-ids.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		id, err := ParseTokenID(c.TokenID)
		require.NoError(t, err, c.TokenID)
		require.Equal(t, unhex(t, c.TokenIDBytesHex), id[:])
		require.Equal(t, c.TokenID, id.String())
	}
	for _, c := range v.Invalid {
		_, err := ParseTokenID(c.Text)
		require.ErrorIs(t, err, ErrTokenID, c.Reason)
	}
	for _, c := range v.CaseVariants {
		id, err := ParseTokenID(c.Text)
		require.NoError(t, err)
		require.Equal(t, c.Canonical, id.String())
	}
}

func TestBuiltinTokensAndGroups(t *testing.T) {
	require.Equal(t, "tti_5649544520544f4b454e6e40", VITE.String())
	require.Equal(t, "tti_564954455820434f494e69b5", VX.String())
	require.True(t, TokenID{}.IsZero())
	require.Equal(t, "00000000000000000001", SnapshotGID.String())
	require.Equal(t, "00000000000000000002", DelegateGID.String())
	require.True(t, GID{}.IsZero())
}

// TestNewTokenIDOfALiveNode is the issue of a token on a live node, as its transcript shows it.
func TestNewTokenIDOfALiveNode(t *testing.T) {
	issuer, err := ParseAddress("vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e")
	require.NoError(t, err)
	send, err := ParseHash("867027c85621faf6f7ab974fbe985421795949f33ae4fa46a7379273c450a7b2")
	require.NoError(t, err)
	id := NewTokenID(issuer, 2, send)
	require.Equal(t, "tti_6b894977b69ad0b7f2e86469", id.String())
	logged, err := ParseHash("000000000000000000000000000000000000000000006b894977b69ad0b7f2e8")
	require.NoError(t, err)
	topics, data, err := IssueTokenEvent.Pack(id)
	require.NoError(t, err)
	require.Empty(t, data)
	require.Equal(t, []Hash{IssueTokenEvent.topic, logged}, topics)
}

func TestNewTokenIDDependsOnEveryPart(t *testing.T) {
	base := NewTokenID(AssetContract, 7, Hash{1})
	for _, other := range []TokenID{
		NewTokenID(QuotaContract, 7, Hash{1}), NewTokenID(AssetContract, 8, Hash{1}), NewTokenID(AssetContract, 7, Hash{2}),
	} {
		require.NotEqual(t, base, other)
	}
}

func TestParseGIDAndHashRefuse(t *testing.T) {
	for _, s := range []string{"", "00", "0x000000000000000001", strings.Repeat("g", 20), strings.Repeat("0", 21)} {
		_, err := ParseGID(s)
		require.ErrorIs(t, err, ErrGID, s)
	}
	for _, s := range []string{"", "00", "0x" + strings.Repeat("0", 62), strings.Repeat("g", 64), strings.Repeat("0", 65)} {
		_, err := ParseHash(s)
		require.ErrorIs(t, err, ErrHash, s)
	}
}

func FuzzParseTokenID(f *testing.F) {
	var v textVectors
	loadVectors(f, "token-ids.json", &v)
	for _, c := range v.Valid {
		f.Add(c.TokenID)
	}
	for _, c := range v.Invalid {
		f.Add(c.Text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseTokenID(s)
		if err != nil {
			return
		}
		require.Equal(t, strings.ToLower(s), id.String())
	})
}

func FuzzParseHashAndGID(f *testing.F) {
	f.Add(strings.Repeat("0aF", 21) + "b")
	f.Add("00000000000000000001")
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := ParseHash(s); err == nil {
			require.Equal(t, strings.ToLower(s), h.String())
		}
		if g, err := ParseGID(s); err == nil {
			require.Equal(t, strings.ToLower(s), g.String())
		}
	})
}
