package core

import (
	"encoding/binary"

	"filippo.io/edwards25519"
	"golang.org/x/crypto/blake2b"
)

// Signed is a signature with its claimed key and message.
type Signed struct {
	Public, Message, Signature []byte
	// Point is Public read already, for one who sees the same keys again; nil is as good, and slower.
	Point *PublicPoint
}

// PublicPoint is a public key's point on the curve.
type PublicPoint struct{ point edwards25519.Point }

// ReadPoint is the point of a public key; nil if that is none.
func ReadPoint(public []byte) *PublicPoint {
	p := new(PublicPoint)
	if _, err := p.point.SetBytes(public); err != nil {
		return nil
	}
	return p
}

// VerifyAll reports whether all signatures are good, for about half of Verify's cost for each. It
// checks one random linear combination of all of Verify's equations. False does not identify the
// bad ones: then call Verify for each.
//
// True means that only the keys' owners can have made the signatures, as with Verify. Verify may
// still refuse some: cooperating owners can make signatures that hold in one list and not alone,
// their points being off by small orders that cancel. So it is suitable for authentication, but not
// where all parties must agree bit for bit.
func VerifyAll(list []Signed) bool {
	terms := newCombination(len(list))
	for i := range list {
		if !terms.read(&list[i]) {
			return false
		}
	}
	return terms.holds()
}

// combination is the equations s*B = R + k*A of a list.
type combination struct {
	s, k       []*edwards25519.Scalar
	points     []*edwards25519.Point // of each: R, A
	transcript []byte                // source of the factors: k, which commits to R, A and the message, and s
	decoded    []edwards25519.Point  // for the points
}

func newCombination(n int) *combination {
	return &combination{
		s: make([]*edwards25519.Scalar, 0, n), k: make([]*edwards25519.Scalar, 0, n), points: make([]*edwards25519.Point, 0, 2*n+1),
		transcript: make([]byte, 0, n*SignatureSize), decoded: make([]edwards25519.Point, 2*n),
	}
}

// read adds a signature; false if it has not the form of one.
func (c *combination) read(g *Signed) bool {
	if len(g.Public) != PublicKeySize || len(g.Signature) != SignatureSize || !isCanonical(g.Signature[:32]) {
		return false
	}
	s, err := edwards25519.NewScalar().SetCanonicalBytes(g.Signature[32:])
	if err != nil {
		return false
	}
	at := len(c.points)
	r, err := c.decoded[at].SetBytes(g.Signature[:32])
	if err != nil {
		return false
	}
	a := &c.decoded[at+1]
	if g.Point != nil {
		a = &g.Point.point
	} else if _, err = a.SetBytes(g.Public); err != nil {
		return false
	}
	k := hashToScalar(g.Signature[:32], g.Public, g.Message)
	c.s, c.k, c.points = append(c.s, s), append(c.k, k), append(c.points, r, a)
	c.transcript = append(append(c.transcript, k.Bytes()...), g.Signature[32:]...)
	return true
}

// isCanonical reports whether a point is encoded as Verify would encode it again: its y is below
// the field's order, and not 1 or -1, whose x is 0 and has no sign. No honest signature has such a
// point.
func isCanonical(point []byte) bool {
	y := [4]uint64{}
	for i := range y {
		y[i] = binary.LittleEndian.Uint64(point[8*i:])
	}
	y[3] &^= 1 << 63
	const ones = 1<<64 - 1
	low := y[1] == 0 && y[2] == 0 && y[3] == 0 && y[0] == 1
	high := y[1] == ones && y[2] == ones && y[3] == ones>>1 && y[0] >= ones-19 // p-1 = 2^255-20, and what is above
	return !low && !high
}

// holds reports whether the sum of z*(s*B - R - k*A) is zero. Each z has 128 bits that are
// unpredictable before all inputs are fixed. All z are odd, so that no error of a single signature
// vanishes.
func (c *combination) holds() bool {
	seed := blake2b.Sum256(c.transcript)
	sum := edwards25519.NewScalar()
	scalars := make([]*edwards25519.Scalar, 0, cap(c.points))
	for i := range c.s {
		z := factor(seed, uint64(i))
		sum.MultiplyAdd(z, c.s[i], sum)
		scalars = append(scalars, z, c.k[i].Multiply(z, c.k[i]))
	}
	scalars = append(scalars, sum.Negate(sum))
	points := append(c.points, edwards25519.NewGeneratorPoint())
	total := edwards25519.NewIdentityPoint().VarTimeMultiScalarMult(scalars, points)
	return total.Equal(edwards25519.NewIdentityPoint()) == 1
}

func factor(seed Hash, i uint64) *edwards25519.Scalar {
	var p [HashSize + 8]byte
	copy(p[:], seed[:])
	binary.LittleEndian.PutUint64(p[HashSize:], i)
	sum := blake2b.Sum256(p[:])
	var wide [32]byte
	copy(wide[:16], sum[:])
	wide[0] |= 1
	z, err := edwards25519.NewScalar().SetCanonicalBytes(wide[:])
	if err != nil {
		panic("core: 128 bits are not below the group's order: " + err.Error())
	}
	return z
}
