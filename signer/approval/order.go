// Package approval is the word of people for single payments: what they sign, the files with their
// keys, and the rule which payments want how many of them. It knows no network and no database:
// signatures come with the claim that they are for.
package approval

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
)

// ErrRefused contains the reason why a signature does not count, in one line.
var ErrRefused = errors.New("the approval is not valid")

const (
	// Lasts is the default lifetime of an approval.
	Lasts = 24 * time.Hour
	// longest is the maximum lifetime.
	longest = 7 * 24 * time.Hour
	// MaxSignatures bounds what comes with one claim.
	MaxSignatures = 16
)

// Signature is an approver's signed approval of one payment until a time.
type Signature = chain.Approval

// Field is a part of an approval's text.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Fields returns everything that approvers sign of a payment: payee, amount, paying account and
// transfer.
func Fields(id chain.ID, c chain.Claim) []Field {
	return []Field{
		{"chain", string(id)}, {"account", c.Account}, {"purpose", string(c.Payment.Purpose)}, {"asset", string(c.Payment.Asset)},
		{"payee", c.Payment.To}, {"label", c.Payment.Label}, {"amount", c.Payment.Amount.String()}, {"source", c.Payment.Source},
		{"network", c.Cause.Network}, {"cause chain", string(c.Cause.Chain)}, {"cause height", strconv.FormatUint(c.Cause.Height, 10)},
		{"cause ref", c.Cause.Ref},
	}
}

// Text returns the text that approvers sign: the payment's fields, the end of the approval and its
// nonce. Each field has its own line and is quoted, so that no two payments have one text.
func Text(id chain.ID, c chain.Claim, expires int64, nonce string) []byte {
	var b strings.Builder
	b.WriteString("gatewayd approval 1\n")
	for _, f := range append(Fields(id, c), Field{"expires", strconv.FormatInt(expires, 10)}, Field{"nonce", nonce}) {
		fmt.Fprintf(&b, "%s: %q\n", f.Name, f.Value)
	}
	return []byte(b.String())
}

// NewNonce makes two approvals of one payment differ.
func NewNonce() (string, error) {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return "", fmt.Errorf("making a nonce: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(nonce), nil
}

// Sign approves a payment until a time.
func Sign(key ed25519.PrivateKey, id chain.ID, c chain.Claim, until time.Time) (Signature, error) {
	nonce, err := NewNonce()
	if err != nil {
		return Signature{}, err
	}
	s := Signature{Key: PublicText(key.Public().(ed25519.PublicKey)), Expires: until.Unix(), Nonce: nonce}
	s.Signature = base64.StdEncoding.EncodeToString(ed25519.Sign(key, Text(id, c, s.Expires, s.Nonce)))
	return s, nil
}

// publicKey reports whether a signature is its own, of a text.
type publicKey interface {
	signed(text, signature []byte, s Signature) error
}

var (
	errNoSignature   = fmt.Errorf("%w: it is not a signature", ErrRefused)
	errSomethingElse = fmt.Errorf("%w: it is for another payment", ErrRefused)
)

type ed25519Key ed25519.PublicKey

func (k ed25519Key) signed(text, signature []byte, _ Signature) error {
	switch {
	case len(signature) != ed25519.SignatureSize:
		return errNoSignature
	case !ed25519.Verify(ed25519.PublicKey(k), text, signature):
		return errSomethingElse
	}
	return nil
}

// verify reports whether a signature of a key is for a payment and counts now.
func verify(key publicKey, s Signature, id chain.ID, c chain.Claim, now time.Time) error {
	raw, err := base64.StdEncoding.DecodeString(s.Signature)
	switch expires := time.Unix(s.Expires, 0); {
	case err != nil || len(s.Nonce) > 64:
		return errNoSignature
	case !now.Before(expires):
		return fmt.Errorf("%w: it ended at %s", ErrRefused, expires.UTC().Format(time.RFC3339))
	case expires.Sub(now) > longest:
		return fmt.Errorf("%w: it would be valid until %s, longer than %s", ErrRefused, expires.UTC().Format(time.RFC3339), longest)
	}
	return key.signed(Text(id, c, s.Expires, s.Nonce), raw, s)
}
