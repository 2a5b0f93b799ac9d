package approval

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"gatewayd/internal/secretfile"
)

// keyPrefix marks the public key of an approver.
const keyPrefix = "ed25519:"

// PublicText is a public key as the configuration names it.
func PublicText(key ed25519.PublicKey) string {
	return keyPrefix + base64.StdEncoding.EncodeToString(key)
}

// ParsePublic reads what PublicText writes.
func ParsePublic(text string) (ed25519.PublicKey, error) {
	digits, marked := strings.CutPrefix(text, keyPrefix)
	if raw, err := base64.StdEncoding.DecodeString(digits); err == nil && marked && len(raw) == ed25519.PublicKeySize {
		return raw, nil
	}
	return nil, fmt.Errorf("%q: must be a public key, ed25519: and 44 digits of base64, printed by `gatewayd approver new`", text)
}

// pemType is that of an unencrypted PKCS #8 key.
const pemType = "PRIVATE KEY"

// NewKey writes the file of a new key, which its owner alone can read, and answers the public key.
// A file that exists is an error.
func NewKey(path string) (string, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", fmt.Errorf("writing the key: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%w: %s: a key is never overwritten, use another file", fs.ErrExist, path)
	}
	if err != nil {
		return "", fmt.Errorf("writing the key: %w", err)
	}
	err = pem.Encode(f, &pem.Block{Type: pemType, Bytes: der})
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing the key: %w", err), os.Remove(path))
	}
	return PublicText(public), nil
}

// ReadKey reads an approver's key.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	text, err := secretfile.Read(path)
	if err != nil {
		return nil, fmt.Errorf("reading the approver's key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("reading the approver's key: %s is not a key of `gatewayd approver new`", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("reading the approver's key %s: %w", path, err)
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("reading the approver's key: %s holds a key of another kind than Ed25519", path)
	}
	return private, nil
}
