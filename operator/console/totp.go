package console

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // what authenticators use (RFC 6238)
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"
)

// Codes of the second factor, as every authenticator makes them (RFC 6238): six digits, a new one
// every thirty seconds.
const (
	codePeriod = 30
	codeDigits = 6
	secretSize = 20
	codeDrift  = 1 // periods that a clock may be off
)

var secretText = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret makes a secret for an authenticator, in base32.
func NewSecret() (string, error) {
	secret := make([]byte, secretSize)
	if _, err := rand.Read(secret); err != nil {
		return "", fmt.Errorf("creating a secret: %w", err)
	}
	return secretText.EncodeToString(secret), nil
}

// SecretURI is the content of an authenticator's QR code.
func SecretURI(name, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {"gatewayd"}}
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/gatewayd:" + name, RawQuery: q.Encode()}).String()
}

// CodeAt is the code of a secret at a moment.
func CodeAt(secret string, at time.Time) (string, error) {
	key, err := secretText.DecodeString(secret)
	if err != nil {
		return "", fmt.Errorf("reading the secret: %w", err)
	}
	return code(key, uint64(at.Unix())/codePeriod), nil
}

func code(key []byte, step uint64) string {
	mac := hmac.New(sha1.New, key)
	_ = binary.Write(mac, binary.BigEndian, step) // a hash takes everything
	sum := mac.Sum(nil)
	number := binary.BigEndian.Uint32(sum[sum[len(sum)-1]&0xf:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", codeDigits, number%1_000_000)
}

// stepOf finds the period that a code is of, near a moment; ok is false for none.
func stepOf(secret, given string, at time.Time) (step uint64, ok bool) {
	key, err := secretText.DecodeString(secret)
	if err != nil || len(key) == 0 {
		return 0, false
	}
	now := uint64(at.Unix()) / codePeriod
	for step := max(now, codeDrift) - codeDrift; step <= now+codeDrift; step++ {
		if hmac.Equal([]byte(code(key, step)), []byte(given)) {
			return step, true
		}
	}
	return 0, false
}
