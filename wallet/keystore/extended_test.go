package keystore

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"
)

// The test vectors of BIP-32 itself: private keys in its Base58 form.
func TestExtendedKeyVectors(t *testing.T) {
	for _, v := range []struct {
		seed  string
		paths map[string]string
	}{
		{"000102030405060708090a0b0c0d0e0f", map[string]string{
			"m":                      "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
			"m/0'":                   "xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7",
			"m/0'/1":                 "xprv9wTYmMFdV23N2TdNG573QoEsfRrWKQgWeibmLntzniatZvR9BmLnvSxqu53Kw1UmYPxLgboyZQaXwTCg8MSY3H2EU4pWcQDnRnrVA1xe8fs",
			"m/0'/1/2'/2/1000000000": "xprvA41z7zogVVwxVSgdKUHDy1SKmdb533PjDz7J6N6mV6uS3ze1ai8FHa8kmHScGpWmj4WggLyQjgPie1rFSruoUihUZREPSL39UNdE3BBDu76",
		}},
		// A child that begins with a zero byte, which must be kept.
		{"4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e8a1e7d1457df2e5a3c51c73235be", map[string]string{
			"m/0'": "xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L",
		}},
	} {
		root, err := NewExtendedKey(unhex(t, v.seed))
		require.NoError(t, err)
		for path, text := range v.paths {
			key, err := root.Derive(path)
			require.NoError(t, err)
			chain, private := parseXprv(t, text)
			n := key.secret().node
			require.Equal(t, chain, n.chain[:], path)
			require.Equal(t, private, n.key[:], path)
			require.Equal(t, private, crypto.FromECDSA(key.Private()), path)
		}
	}
}

// parseXprv takes version, depth, parent and index (13 bytes) off, and checks the checksum.
func parseXprv(t *testing.T, text string) (chain, private []byte) {
	const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	n := new(big.Int)
	for _, c := range text {
		digit := strings.IndexRune(alphabet, c)
		require.GreaterOrEqual(t, digit, 0)
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(digit)))
	}
	raw := n.FillBytes(make([]byte, 82))
	first := sha256.Sum256(raw[:78])
	second := sha256.Sum256(first[:])
	require.True(t, bytes.Equal(second[:4], raw[78:]), "checksum of %s", text)
	return raw[13:45], raw[46:78]
}

func TestEthereumAccountsOfTheKnownMnemonic(t *testing.T) {
	root, err := NewExtendedKey(Seed(junk, ""))
	require.NoError(t, err)
	parent, err := root.Derive("m/44'/60'/0'/0")
	require.NoError(t, err)
	for index, address := range []string{
		"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
		"0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
		"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
	} {
		key, err := root.Derive(fmt.Sprintf("m/44'/60'/0'/0/%d", index))
		require.NoError(t, err)
		require.Equal(t, address, crypto.PubkeyToAddress(key.Private().PublicKey).Hex())
		child, err := parent.Child(uint32(index))
		require.NoError(t, err)
		require.True(t, key.Private().Equal(child.Private()))
	}
}

func TestExtendedKeyFaults(t *testing.T) {
	root, err := NewExtendedKey(make([]byte, 16))
	require.NoError(t, err)
	for _, path := range []string{"", "M", "44'/60'", "m/x", "m/-1", "m/1h", "m/2147483648", "m//1", "m/1/"} {
		_, err := root.Derive(path)
		require.ErrorIs(t, err, ErrPath, path)
	}
	_, err = newExtended(node{})
	require.ErrorIs(t, err, ErrNoChild, "zero is no key")
	full := node{}
	copy(full.key[:], bytes.Repeat([]byte{0xff}, 32))
	_, err = newExtended(full)
	require.ErrorIs(t, err, ErrNoChild, "not below the order")
}
