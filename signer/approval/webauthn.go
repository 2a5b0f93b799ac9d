// Signatures of people's authenticators (WebAuthn, Level 3): the person was present, was verified
// by finger, face or PIN, and meant exactly one challenge on one page. Nothing is stored: the
// caller knows the challenge and the owner of the key.

package approval

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
)

// ErrPasskeyRefused contains the reason why a signature or a new key is refused, in one line.
var ErrPasskeyRefused = errors.New("the passkey's signature is not valid")

// Bounds of a browser's data, in bytes.
const (
	maxID         = 1023 // by the standard
	maxSigned     = 4096 // authenticator's data, and the browser's
	maxSignature  = 512
	maxUserHandle = 64 // by the standard
)

// Site is the page that passkeys are for.
type Site struct {
	RP     string // host name; the key is of this one
	Origin string // scheme, host and port
}

// ParseSite reads the URL of the page. Browsers know passkeys on HTTPS, and on http://localhost; never at an IP address.
func ParseSite(text string) (Site, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return Site{}, fmt.Errorf("%q: must be https://host, with a port if it has one", text)
	case net.ParseIP(u.Hostname()) != nil:
		return Site{}, fmt.Errorf("%q: browsers allow passkeys only for host names, not for addresses", text)
	case u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != "localhost"):
		return Site{}, fmt.Errorf("%q: browsers allow passkeys only over https, or for http://localhost", text)
	}
	return Site{RP: strings.ToLower(u.Hostname()), Origin: u.Scheme + "://" + strings.ToLower(u.Host)}, nil
}

// passkeyPrefix marks the public key of a passkey.
const passkeyPrefix = "passkey:"

// PasskeyKey is the public key of a passkey. The zero Key verifies nothing.
type PasskeyKey struct{ cose []byte }

// ParsePasskeyKey reads what String writes. Keys are of ECDSA with P-256 and SHA-256 (ES256), or of
// Ed25519.
func ParsePasskeyKey(text string) (PasskeyKey, error) {
	digits, is := strings.CutPrefix(text, passkeyPrefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(digits)
	k, keyErr := keyOf(raw)
	if !is || err != nil || keyErr != nil {
		return PasskeyKey{}, fmt.Errorf("%.40q: must be a passkey's public key, passkey: and base64, printed by `gatewayd console passkeys`", text)
	}
	return k, nil
}

func keyOf(cose []byte) (PasskeyKey, error) {
	public, err := webauthncose.ParsePublicKey(cose)
	if err == nil {
		switch k := public.(type) {
		case webauthncose.EC2PublicKeyData:
			if k.Algorithm == int64(webauthncose.AlgES256) {
				return PasskeyKey{bytes.Clone(cose)}, nil
			}
		case webauthncose.OKPPublicKeyData:
			if k.Algorithm == int64(webauthncose.AlgEdDSA) {
				return PasskeyKey{bytes.Clone(cose)}, nil
			}
		}
	}
	return PasskeyKey{}, fmt.Errorf("%w: the key must be of ES256 or EdDSA", ErrPasskeyRefused)
}

// String is the key as configurations name it.
func (k PasskeyKey) String() string {
	return passkeyPrefix + base64.RawURLEncoding.EncodeToString(k.cose)
}

// Parameters are the kinds of keys that are taken, as browsers are asked for them.
func Parameters() []protocol.CredentialParameter {
	return []protocol.CredentialParameter{
		{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgES256},
		{Type: protocol.PublicKeyCredentialType, Algorithm: webauthncose.AlgEdDSA},
	}
}

// Assertion contains an authenticator's signed data: its own and the browser's, which names the
// challenge and the page.
type Assertion struct {
	AuthenticatorData []byte
	ClientData        []byte
	Signature         []byte
}

// Verify checks that an assertion belongs to a key, a page and a challenge, and that the person was
// present and verified. It returns the key's counter.
func (s Site) Verify(k PasskeyKey, challenge []byte, a Assertion) (count uint32, err error) {
	if len(k.cose) == 0 || len(challenge) == 0 {
		return 0, fmt.Errorf("%w: there is no key, or no challenge", ErrPasskeyRefused)
	}
	if len(a.AuthenticatorData) > maxSigned || len(a.ClientData) > maxSigned || len(a.Signature) > maxSignature {
		return 0, fmt.Errorf("%w: it is too long", ErrPasskeyRefused)
	}
	p := protocol.ParsedCredentialAssertionData{Response: protocol.ParsedAssertionResponse{Signature: a.Signature}}
	p.Raw.AssertionResponse = protocol.AuthenticatorAssertionResponse{AuthenticatorData: a.AuthenticatorData, Signature: a.Signature}
	p.Raw.AssertionResponse.ClientDataJSON = a.ClientData
	if err := json.Unmarshal(a.ClientData, &p.Response.CollectedClientData); err != nil {
		return 0, fmt.Errorf("%w: the browser's data cannot be read", ErrPasskeyRefused)
	}
	if err := p.Response.AuthenticatorData.Unmarshal(a.AuthenticatorData); err != nil {
		return 0, fmt.Errorf("%w: the authenticator's data cannot be read", ErrPasskeyRefused)
	}
	err = p.Verify(base64.RawURLEncoding.EncodeToString(challenge), s.RP, "", []string{s.Origin}, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, true, true, k.cose, protocol.SignaturePolicy{})
	if err != nil {
		return 0, refused(err)
	}
	return p.Response.AuthenticatorData.Counter, nil
}

// refused returns the library's finding, without its own prose.
func refused(err error) error {
	var detail *protocol.Error
	if errors.As(err, &detail) {
		return fmt.Errorf("%w: %s", ErrPasskeyRefused, detail.Details)
	}
	return fmt.Errorf("%w: %w", ErrPasskeyRefused, err)
}

// Credential is a signature as a browser hands it over.
type Credential struct {
	ID         string // base64url; which passkey it is
	UserHandle []byte // that the page gave at registration; may be empty
	Assertion
}

// ParseCredential reads what PublicKeyCredential.toJSON() of a browser writes for a signature.
func ParseCredential(text []byte) (c Credential, err error) {
	p, err := protocol.ParseCredentialRequestResponseBytes(text)
	if err != nil {
		return c, refused(err)
	}
	if len(p.RawID) > maxID || len(p.Response.UserHandle) > maxUserHandle {
		return c, fmt.Errorf("%w: its id is too long", ErrPasskeyRefused)
	}
	raw := p.Raw.AssertionResponse
	return Credential{p.ID, p.Response.UserHandle, Assertion{raw.AuthenticatorData, raw.ClientDataJSON, raw.Signature}}, nil
}

// Registered is a new passkey.
type Registered struct {
	ID    string // base64url
	Key   PasskeyKey
	Count uint32
}

// Register reads the output of toJSON() for a new passkey. It checks that it was made for a page
// and a challenge, by a verified person. The authenticator's manufacturer is not checked.
func (s Site) Register(challenge, text []byte) (r Registered, err error) {
	p, err := protocol.ParseCredentialCreationResponseBytes(text)
	if err != nil {
		return r, refused(err)
	}
	_, err = p.Verify(base64.RawURLEncoding.EncodeToString(challenge), s.RP, []string{s.Origin}, nil, nil, protocol.TopOriginExplicitVerificationMode,
		false, true, true, nil, Parameters(), protocol.AttestationPolicy{}, protocol.SignaturePolicy{})
	if err != nil {
		return r, refused(err)
	}
	data := p.Response.AttestationObject.AuthData
	if len(data.AttData.CredentialID) == 0 || len(data.AttData.CredentialID) > maxID || !slices.Equal(data.AttData.CredentialID, p.RawID) {
		return r, fmt.Errorf("%w: its id is not the one that it signed", ErrPasskeyRefused)
	}
	key, err := keyOf(data.AttData.CredentialPublicKey)
	if err != nil {
		return r, err
	}
	return Registered{p.ID, key, data.Counter}, nil
}
