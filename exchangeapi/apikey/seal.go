package apikey

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

// SecretSize is the size of the key that API secrets are encrypted with.
const SecretSize = 32

// sealer encrypts texts with AES-256-GCM: a random nonce, the text and the tag, in hexadecimal.
type sealer struct{ aead cipher.AEAD }

func newSealer(secret []byte) (sealer, error) {
	if len(secret) != SecretSize {
		return sealer{}, fmt.Errorf("the secret of the API keys has %d bytes instead of %d", len(secret), SecretSize)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCM(block)
	return sealer{aead}, err
}

// close encrypts a text that opens with the same binding only.
func (s sealer) close(text, binding string) (string, error) {
	nonce := make([]byte, s.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", err
	}
	return hex.EncodeToString(s.aead.Seal(nonce, nonce, []byte(text), []byte(binding))), nil
}

func (s sealer) open(text, binding string) (string, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) < s.aead.NonceSize() {
		return "", errors.New("no encrypted text")
	}
	n := s.aead.NonceSize()
	out, err := s.aead.Open(nil, raw[:n], raw[n:], []byte(binding))
	return string(out), err
}

// sealed is the text that a database is recognised by.
const sealed = "gatewayd API keys"

// checkSeal sees to it that this secret opens what an earlier one has closed.
func (s *Store) checkSeal(ctx context.Context) error {
	text, err := s.seal.close(sealed, "")
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, s.db.Rebind(`INSERT INTO api_seal (id, seal) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`), text)
	if err != nil {
		return err
	}
	if err := s.db.GetContext(ctx, &text, `SELECT seal FROM api_seal WHERE id = 1`); err != nil {
		return err
	}
	if _, err := s.seal.open(text, ""); err != nil {
		return ErrWrongSeal
	}
	return nil
}
