package network

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNames(t *testing.T) {
	for _, name := range Names() {
		require.Equal(t, name, Named(name).Name)
	}
	require.Len(t, Names(), 9)
	require.Nil(t, Named("dogecoin"))
}

func TestParameters(t *testing.T) {
	for name, want := range map[string]struct {
		genesis, bech32 string
		work            Work
		limit           int // bits of the highest target
		coin            uint32
	}{
		"bitcoin":          {"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f", "bc", SHA256d, 224, 0},
		"bitcoin-testnet4": {"00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043", "tb", SHA256d, 224, 1},
		"bitcoin-regtest":  {"0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206", "bcrt", SHA256d, 255, 1},
		"bitcoin-simnet":   {"683e86bd5c6d110d91b94b97137ba6bfe02dbbdb8e3dff722a669b5d69d77af6", "sb", SHA256d, 255, 1},
		"litecoin":         {"12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2", "ltc", Scrypt, 236, 2},
		"litecoin-testnet": {"4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0", "tltc", Scrypt, 236, 1},
		"litecoin-regtest": {"530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9", "rltc", Scrypt, 255, 1},
	} {
		n := Named(name)
		require.Equal(t, want.genesis, n.Genesis.String(), name)
		require.Equal(t, want.bech32, n.Bech32, name)
		require.Equal(t, want.work, n.Work, name)
		require.Equal(t, want.limit, n.PowLimit.BitLen(), name)
		require.Equal(t, want.coin, n.CoinType, name)
	}
}

// TestDust has the limits of nodes at their usual settings.
func TestDust(t *testing.T) {
	for kind, want := range map[Kind]int64{P2PKH: 546, P2SH: 540, P2WPKH: 294, P2WSH: 330, P2TR: 330} {
		a, err := Named("bitcoin").Make(kind, make([]byte, formOf(kind).size))
		require.NoError(t, err)
		require.Equal(t, want, Named("bitcoin").Dust(a.Script), kind)
		require.Equal(t, 10*want, Named("litecoin").Dust(a.Script), kind)
	}
}
