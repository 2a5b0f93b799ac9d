package devices

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"
)

// Flags of an authenticator's data.
const (
	present  = 0x01
	verified = 0x04
	attested = 0x40
)

// Authenticator has one passkey. Its fields may be changed before it signs, to make it lie.
type Authenticator struct {
	RP, Origin string
	Type       string // webauthn.get by default
	Flags      byte   // of a signature
	Count      uint32
	Uncounted  bool // it does not count its signatures, as those that are synchronised
	ID         []byte
	User       []byte

	t    testing.TB
	sign func(data []byte) []byte
	cose []byte
}

// New makes one with a key of ES256, for a page.
func New(t testing.TB, rp, origin string) *Authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	point, err := key.PublicKey.Bytes()
	require.NoError(t, err)
	a := blank(t, rp, origin, map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	a.sign = func(data []byte) []byte {
		hash := sha256.Sum256(data)
		signature, err := ecdsa.SignASN1(rand.Reader, key, hash[:])
		require.NoError(t, err)
		return signature
	}
	return a
}

// NewEd25519 makes one with a key of EdDSA.
func NewEd25519(t testing.TB, rp, origin string) *Authenticator {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	a := blank(t, rp, origin, map[int]any{1: 1, 3: -8, -1: 6, -2: []byte(public)})
	a.sign = func(data []byte) []byte { return ed25519.Sign(private, data) }
	return a
}

func blank(t testing.TB, rp, origin string, cose map[int]any) *Authenticator {
	t.Helper()
	mode, err := cbor.CTAP2EncOptions().EncMode()
	require.NoError(t, err)
	a := &Authenticator{RP: rp, Origin: origin, Flags: present | verified, Type: "webauthn.get", ID: make([]byte, 16), t: t}
	a.cose, err = mode.Marshal(cose)
	require.NoError(t, err)
	_, _ = rand.Read(a.ID) // never fails
	a.ID[0] &= 0x7f        // its text begins with a letter, so that no command takes it for a flag
	return a
}

// Unverified makes it sign without having asked who is there.
func (a *Authenticator) Unverified() { a.Flags &^= verified }

// Absent makes it sign without anybody there.
func (a *Authenticator) Absent() { a.Flags &^= present | verified }

// Key is the public key as configurations name it.
func (a *Authenticator) Key() string {
	return "passkey:" + base64.RawURLEncoding.EncodeToString(a.cose)
}

func (a *Authenticator) data(flags byte, more ...byte) []byte {
	rp := sha256.Sum256([]byte(a.RP))
	if !a.Uncounted {
		a.Count++
	}
	return append(binary.BigEndian.AppendUint32(append(rp[:], flags), a.Count), more...)
}

func (a *Authenticator) client(kind string, challenge []byte) []byte {
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challengeText(challenge), "origin": a.Origin, "crossOrigin": false})
	require.NoError(a.t, err)
	return text
}

func challengeText(challenge []byte) string { return base64.RawURLEncoding.EncodeToString(challenge) }

// Assert signs a challenge: the authenticator's data, the browser's, and the signature of both.
func (a *Authenticator) Assert(challenge []byte) (data, client, signature []byte) {
	data, client = a.data(a.Flags), a.client(a.Type, challenge)
	hash := sha256.Sum256(client)
	return data, client, a.sign(append(append([]byte{}, data...), hash[:]...))
}

// Get answers as navigator.credentials.get() does.
func (a *Authenticator) Get(challenge []byte) json.RawMessage {
	data, client, signature := a.Assert(challenge)
	response := map[string]string{"authenticatorData": challengeText(data), "clientDataJSON": challengeText(client), "signature": challengeText(signature)}
	if len(a.User) > 0 {
		response["userHandle"] = challengeText(a.User)
	}
	return a.credential(response)
}

// Create answers as navigator.credentials.create() does, for a user.
func (a *Authenticator) Create(challenge, user []byte) json.RawMessage {
	a.User = user
	more := binary.BigEndian.AppendUint16(make([]byte, 16), uint16(len(a.ID)))
	object, err := cbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": a.data(a.Flags|attested, append(append(more, a.ID...), a.cose...)...)})
	require.NoError(a.t, err)
	return a.credential(map[string]string{"attestationObject": challengeText(object), "clientDataJSON": challengeText(a.client("webauthn.create", challenge))})
}

func (a *Authenticator) credential(response map[string]string) json.RawMessage {
	id := challengeText(a.ID)
	text, err := json.Marshal(map[string]any{"id": id, "rawId": id, "type": "public-key", "clientExtensionResults": map[string]any{}, "response": response})
	require.NoError(a.t, err)
	return text
}
