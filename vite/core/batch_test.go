package core

import (
	"encoding/binary"
	"testing"

	"filippo.io/edwards25519"
	"github.com/stretchr/testify/require"
)

func signedList(t testing.TB, n int) []Signed {
	list := make([]Signed, n)
	for i := range list {
		key, err := NewPrivateKey(binary.BigEndian.AppendUint64(make([]byte, 24), uint64(i/2))) // two of each key
		require.NoError(t, err)
		public, message := key.Public(), []byte{byte(i), 1, 2, 3}
		list[i] = Signed{Public: public[:], Message: message, Signature: key.Sign(message)}
	}
	return list
}

func TestVerifyAll(t *testing.T) {
	require.True(t, VerifyAll(nil))
	for _, n := range []int{1, 2, 3, 64, 200} {
		require.True(t, VerifyAll(signedList(t, n)), n)
	}
	list := signedList(t, 8)
	list[3] = list[4] // the same twice
	require.True(t, VerifyAll(list))
}

// TestVerifyAllSeesEveryFault changes each byte of one signature, key or message in a list.
func TestVerifyAllSeesEveryFault(t *testing.T) {
	list := signedList(t, 3)
	for name, part := range map[string][]byte{"key": list[1].Public, "message": list[1].Message, "signature": list[1].Signature} {
		for i := range part {
			for _, flip := range []byte{1, 0x80} {
				part[i] ^= flip
				require.False(t, VerifyAll(list), "%s, byte %d", name, i)
				part[i] ^= flip
			}
		}
	}
	require.True(t, VerifyAll(list))
	swapped := signedList(t, 2)
	swapped[0].Signature, swapped[1].Signature = swapped[1].Signature, swapped[0].Signature
	require.False(t, VerifyAll(swapped))
	for _, short := range []Signed{{Public: list[0].Public[:31], Signature: list[0].Signature}, {Public: list[0].Public, Signature: list[0].Signature[:63]}, {}} {
		require.False(t, VerifyAll(append(signedList(t, 2), short)))
	}
}

// TestVerifyAllTradesNothing: errors of two signatures must not cancel, as they would with equal
// factors.
func TestVerifyAllTradesNothing(t *testing.T) {
	list := signedList(t, 2)
	one, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	require.NoError(t, err)
	shift := func(signature []byte, by *edwards25519.Scalar) {
		s, err := edwards25519.NewScalar().SetCanonicalBytes(signature[32:])
		require.NoError(t, err)
		copy(signature[32:], s.Add(s, by).Bytes())
	}
	shift(list[0].Signature, one)
	shift(list[1].Signature, edwards25519.NewScalar().Negate(one))
	require.False(t, VerifyAll(list))
}

// TestUnusualPoints: encodings that Verify would refuse are refused here, whatever they decode to.
func TestUnusualPoints(t *testing.T) {
	encoding := func(low byte, rest byte, high byte) []byte {
		p := make([]byte, 32)
		for i := range p {
			p[i] = rest
		}
		p[0], p[31] = low, high
		return p
	}
	for name, c := range map[string]struct {
		point       []byte
		isCanonical bool
	}{
		"1":             {encoding(1, 0, 0), false},
		"1, negative":   {encoding(1, 0, 0x80), false},
		"-1":            {encoding(0xec, 0xff, 0x7f), false},
		"-1, negative":  {encoding(0xec, 0xff, 0xff), false},
		"order":         {encoding(0xed, 0xff, 0x7f), false},
		"above order":   {encoding(0xff, 0xff, 0xff), false},
		"below -1":      {encoding(0xeb, 0xff, 0x7f), true},
		"0":             {encoding(0, 0, 0), true},
		"2":             {encoding(2, 0, 0), true},
		"large but one": {encoding(1, 0, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.isCanonical, isCanonical(c.point))
			p, err := edwards25519.NewIdentityPoint().SetBytes(c.point)
			if c.isCanonical && err == nil {
				require.Equal(t, c.point, p.Bytes(), "it is encoded so again")
			}
		})
	}
}

// TestVerifyAllAgainstSmallOrders: a signature that is off by a point of small order is refused, as
// Verify does.
func TestVerifyAllAgainstSmallOrders(t *testing.T) {
	// y = 0 is a point of order 4.
	small, err := edwards25519.NewIdentityPoint().SetBytes(make([]byte, 32))
	require.NoError(t, err)
	key, err := NewPrivateKey(make([]byte, SeedSize))
	require.NoError(t, err)
	own, public := key.secret(), key.Public()
	nonce := hashToScalar([]byte("nonce"))
	r := edwards25519.NewIdentityPoint().ScalarBaseMult(nonce)
	encoded := r.Add(r, small).Bytes()
	s := edwards25519.NewScalar().MultiplyAdd(hashToScalar(encoded, public[:], nil), own.scalar, nonce)
	bad := Signed{Public: public[:], Signature: append(encoded, s.Bytes()...)}
	require.False(t, Verify(bad.Public, bad.Message, bad.Signature))
	require.False(t, VerifyAll([]Signed{bad}))
	require.False(t, VerifyAll(append(signedList(t, 3), bad)))
}

// FuzzVerifyAll: what it takes of one signature, Verify takes as well, and the other way round.
func FuzzVerifyAll(f *testing.F) {
	for _, g := range signedList(f, 3) {
		f.Add(g.Public, g.Message, g.Signature)
	}
	f.Fuzz(func(t *testing.T, public, message, signature []byte) {
		good := Verify(public, message, signature)
		if len(signature) == SignatureSize && !isCanonical(signature[:32]) {
			require.False(t, VerifyAll([]Signed{{Public: public, Message: message, Signature: signature}}))
			return
		}
		require.Equal(t, good, VerifyAll([]Signed{{Public: public, Message: message, Signature: signature}}))
		require.Equal(t, good, VerifyAll(append(signedList(t, 2), Signed{Public: public, Message: message, Signature: signature})))
	})
}

func BenchmarkVerifyAll64(b *testing.B) {
	list := signedList(b, 64)
	for b.Loop() {
		require.True(b, VerifyAll(list))
	}
}

func BenchmarkVerifyOne(b *testing.B) {
	g := signedList(b, 1)[0]
	for b.Loop() {
		require.True(b, Verify(g.Public, g.Message, g.Signature))
	}
}

// TestVerifyAllWithPointsReadBefore: a point that is given counts as the key, so one of another key
// fails.
func TestVerifyAllWithPointsReadBefore(t *testing.T) {
	list := signedList(t, 6)
	for i := range list {
		list[i].Point = ReadPoint(list[i].Public)
	}
	for range 2 { // nothing changes the points
		require.True(t, VerifyAll(list))
	}
	list[3].Point = list[5].Point
	require.False(t, VerifyAll(list))
	require.Nil(t, ReadPoint(list[0].Public[:31]))
}
