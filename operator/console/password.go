package console

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"gatewayd/records"
)

// The cost of a password: time, memory in KiB and threads of Argon2id, by OWASP's second choice.
const (
	argonTime    = 2
	argonMemory  = 19 * 1024
	argonThreads = 1
	argonSize    = 32
	saltSize     = 16
)

// MinPassword is the shortest password, in bytes; MaxPassword bounds what is hashed.
const (
	MinPassword = 12
	MaxPassword = 256
)

// ErrPassword means that a password is not acceptable.
var ErrPassword = fmt.Errorf("the password must have %d to %d characters", MinPassword, MaxPassword)

// madeSize is the number of random bytes of a generated password.
const madeSize = 15

// NewUser creates a user with a password and a second factor. The password is not stored in clear.
func NewUser(name string, role records.UserRole) (u records.User, password string, err error) {
	raw := make([]byte, madeSize)
	_, _ = rand.Read(raw) // never fails
	password = base64.RawURLEncoding.EncodeToString(raw)
	u = records.User{Name: name, Role: role}
	if u.Password, err = HashPassword(password); err == nil {
		u.TOTP, err = NewSecret()
	}
	return u, password, err
}

// HashPassword returns the stored form of a password in the usual notation:
// $argon2id$v=19$m=…,t=…,p=…$salt$hash.
func HashPassword(password string) (string, error) {
	if len(password) < MinPassword || len(password) > MaxPassword {
		return "", ErrPassword
	}
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("making a salt: %w", err)
	}
	return encoded(salt, argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonSize)), nil
}

func encoded(salt, hash []byte) string {
	text := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads, text.EncodeToString(salt), text.EncodeToString(hash))
}

var errHash = errors.New("a stored password cannot be read")

// passwordFits takes the same time for any password.
func passwordFits(kept, password string) (bool, error) {
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, errHash
	}
	var memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil || memory > 1<<20 || time > 16 {
		return false, errHash
	}
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	hash, hashErr := base64.RawStdEncoding.DecodeString(parts[5])
	if saltErr != nil || hashErr != nil || len(hash) == 0 {
		return false, errHash
	}
	if len(password) > MaxPassword {
		return false, nil
	}
	got := argon2.IDKey([]byte(password), salt, time, memory, threads, uint32(len(hash)))
	return subtle.ConstantTimeCompare(got, hash) == 1, nil
}

// nobody is a stored password that never matches: a request for an unknown name takes as long as
// for any.
var nobody = encoded(make([]byte, saltSize), make([]byte, argonSize))
