package approval

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"gatewayd/chain"
)

// DefaultURL is the console's default address.
const DefaultURL = "http://localhost:8070"

// Challenge returns the challenge that a passkey signs for a payment: the hash of the text that an
// Ed25519 key signs.
func Challenge(id chain.ID, c chain.Claim, expires int64, nonce string) []byte {
	return challengeOf(Text(id, c, expires, nonce))
}

func challengeOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return sum[:]
}

// FromPasskey is the approval that a passkey has signed.
func FromPasskey(key PasskeyKey, a Assertion, expires int64, nonce string) Signature {
	text := base64.StdEncoding.EncodeToString
	return Signature{
		Key: key.String(), Expires: expires, Nonce: nonce, Signature: text(a.Signature), AuthenticatorData: text(a.AuthenticatorData), ClientData: text(a.ClientData),
	}
}

// VerifyPasskey reports whether an approval is of a passkey, for a payment, on a page, and counts
// now.
func VerifyPasskey(site Site, key PasskeyKey, s Signature, id chain.ID, c chain.Claim, now time.Time) error {
	return verify(passkeyOf{site, key}, s, id, c, now)
}

// passkeyOf is the passkey of an approver, and the page that it is for: both by the signer's own
// configuration.
type passkeyOf struct {
	site Site
	key  PasskeyKey
}

func (k passkeyOf) signed(text, signature []byte, s Signature) error {
	data, dataErr := base64.StdEncoding.DecodeString(s.AuthenticatorData)
	client, clientErr := base64.StdEncoding.DecodeString(s.ClientData)
	if dataErr != nil || clientErr != nil {
		return errNoSignature
	}
	_, err := k.site.Verify(k.key, challengeOf(text), Assertion{AuthenticatorData: data, ClientData: client, Signature: signature})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return nil
}
