//go:build pkcs11

package hsm_test

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/devices"
	"gatewayd/wallet"
	"gatewayd/wallet/hsm"
	"gatewayd/wallet/keystore"
)

const hot = "m/44'/60'/1'/0/0"

func software(t *testing.T) *wallet.Keys {
	t.Helper()
	words, err := keystore.Mnemonic(bytes.Repeat([]byte{7}, 32))
	require.NoError(t, err)
	keys, err := wallet.FromMnemonic(words)
	require.NoError(t, err)
	return keys
}

func TestModuleSigns(t *testing.T) {
	config, others := devices.Token(t, "signs", "secp256k1", hot), software(t)
	keys, err := hsm.Open(config, devices.PIN, others)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keys.Close()) })

	own, err := keys.Address(hot)
	require.NoError(t, err)
	soft, err := others.Address(hot)
	require.NoError(t, err)
	require.NotEqual(t, soft, own, "the module's key is another one")

	halfOrder := new(big.Int).Rsh(crypto.S256().Params().N, 1)
	source := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		digest := make([]byte, 32)
		for i := range digest {
			digest[i] = byte(source.Uint32())
		}
		_, signature, err := keys.Sign(t.Context(), hot, digest)
		require.NoError(t, err)
		require.Len(t, signature, crypto.SignatureLength)
		by, err := crypto.SigToPub(digest, signature)
		require.NoError(t, err)
		require.Equal(t, own, crypto.PubkeyToAddress(*by).Hex())
		require.LessOrEqual(t, new(big.Int).SetBytes(signature[32:64]).Cmp(halfOrder), 0, "S is in the lower half")
	}

	const deposit = "m/44'/60'/0'/0/3"
	want, err := others.Address(deposit)
	require.NoError(t, err)
	got, err := keys.Address(deposit)
	require.NoError(t, err)
	require.Equal(t, want, got, "other paths are the entropy store's")
	_, signature, err := keys.Sign(t.Context(), deposit, make([]byte, 32))
	require.NoError(t, err)
	by, err := crypto.SigToPub(make([]byte, 32), signature)
	require.NoError(t, err)
	require.Equal(t, want, crypto.PubkeyToAddress(*by).Hex())
}

func TestLostSessionIsMadeAnew(t *testing.T) {
	config := devices.Token(t, "lost", "secp256k1", hot)
	keys, err := hsm.Open(config, devices.PIN, software(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keys.Close()) })
	m := pkcs11.New(config.Module)
	slots, err := m.GetSlotList(true)
	require.NoError(t, err)
	for _, slot := range slots { // as a restarted module would
		require.NoError(t, m.CloseAllSessions(slot))
	}
	_, signature, err := keys.Sign(t.Context(), hot, make([]byte, 32))
	require.NoError(t, err)
	require.Len(t, signature, crypto.SignatureLength)
}

func TestModulesThatCannotBeUsed(t *testing.T) {
	config := devices.Token(t, "refused", "prime256v1", hot)
	for rule, change := range map[string]func(*hsm.Config) string{
		"library cannot be loaded":               func(c *hsm.Config) string { c.Module = "/nowhere.so"; return devices.PIN },
		`has a token "nobody's"`:                 func(c *hsm.Config) string { c.Token = "nobody's"; return devices.PIN },
		"logging in to token":                    func(*hsm.Config) string { return "wrong" },
		"it is not a point of secp256k1":         func(*hsm.Config) string { return devices.PIN },
		`with the label "cold": must be exactly`: func(c *hsm.Config) string { c.Keys = map[string]string{hot: "cold"}; return devices.PIN },
	} {
		t.Run(rule, func(t *testing.T) {
			c := config
			secret := change(&c)
			_, err := hsm.Open(c, secret, software(t))
			require.ErrorIs(t, err, hsm.ErrModule)
			require.ErrorContains(t, err, rule)
			require.NotContains(t, err.Error(), secret)
		})
	}
}
