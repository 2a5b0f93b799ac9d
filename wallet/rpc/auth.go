package rpc

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"gatewayd/internal/secretfile"
)

const (
	secretSize = 32
	maxToken   = 4 << 10

	// tokenAge bounds the difference between a token's time and ours, as for Ethereum's engine API:
	// tokens are made for one call.
	tokenAge = 60 * time.Second
)

var errToken = errors.New("invalid token")

// loadSecret reads the 32 bytes that callers sign their tokens with, in hexadecimal, from a file
// that is its owner's alone. A missing file is made.
func loadSecret(path string) ([]byte, error) {
	content, err := secretfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeSecret(path)
	}
	if err != nil {
		return nil, err
	}
	digits := strings.TrimPrefix(strings.TrimSpace(string(content)), "0x")
	secret, err := hex.DecodeString(digits)
	if err != nil || len(secret) != secretSize {
		return nil, fmt.Errorf("%s: must hold %d bytes in hexadecimal", path, secretSize)
	}
	return secret, nil
}

func makeSecret(path string) ([]byte, error) {
	secret := make([]byte, secretSize)
	rand.Read(secret) // documented never to fail
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(hex.EncodeToString(secret) + "\n")
	return secret, errors.Join(err, f.Sync(), f.Close())
}

// checkToken returns nil for a JSON Web Token of the secret: HMAC-SHA256, made within the last
// minute, not expired. The error reveals only whether the time is the fault.
func checkToken(secret []byte, token string, now time.Time) error {
	parts := strings.Split(token, ".")
	if len(token) > maxToken || len(parts) != 3 {
		return errToken
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(parts[0] + "." + parts[1]))
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || !hmac.Equal(signature, mac.Sum(nil)) {
		return errToken
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if readPart(parts[0], &header) != nil || header.Algorithm != "HS256" {
		return errToken
	}
	return checkClaims(parts[1], now)
}

func checkClaims(part string, now time.Time) error {
	var claims struct {
		IssuedAt  json.Number `json:"iat"`
		ExpiresAt json.Number `json:"exp"`
	}
	if readPart(part, &claims) != nil {
		return errToken
	}
	issued, err := claims.IssuedAt.Int64()
	switch {
	case err != nil:
		return errors.New("token without issued-at")
	case now.Sub(time.Unix(issued, 0)).Abs() > tokenAge:
		return errors.New("token is not of the last minute: make one for each call, and check the clocks")
	case claims.ExpiresAt == "":
		return nil
	}
	if expires, err := claims.ExpiresAt.Int64(); err != nil || !now.Before(time.Unix(expires, 0)) {
		return errors.New("token is expired")
	}
	return nil
}

func readPart(part string, v any) error {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}
