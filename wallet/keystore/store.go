// Package keystore turns a wallet's secret into keys and keeps it in an encrypted file.
//
//	entropy ── words (BIP-39) ── seed ──┬── Keys          exchange chain: m/44'/666666'/n'
//	   │                                └── ExtendedKey   Ethereum:       m/44'/60'/0'/0/n
//	   └── Store (scrypt, AES-256-GCM) ── Dir: one file per store, named by its first address
//
// The store's format is the exchange chain node's own EntropyStore, so either reads the other's
// files. It does not own which stores are unlocked, nor who may ask; that is package wallet. No
// error carries a secret. Formats: docs/exchange-chain-wire.md 2 and 3; BIP-32, BIP-39, SLIP-10.
package keystore

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"golang.org/x/crypto/scrypt"

	"gatewayd/vite/core"
)

const (
	// MaxStoreSize is the size in bytes from which a file is no store.
	MaxStoreSize = 2048

	storeVersion = 1
	storeCipher  = "aes-256-gcm"
	storeKDF     = "scrypt"
	// storeAAD is authenticated with the entropy but not kept in the file.
	storeAAD = "vite"

	nonceSize = 12
	tagSize   = 16
	saltSize  = 32
	keySize   = 32

	// A file is a stranger's: what it may ask of scrypt is bounded to twice what the node writes.
	maxCost    = 2 * (1 << 18) * 8
	maxKeySize = 64
	maxSalt    = 128
)

// Faults of a store.
var (
	// ErrStore marks text that is no store. The messages around it are the node's where it has one.
	ErrStore = errors.New("not valid entropy store file")
	// ErrPassword means that the store did not open: wrong password, or altered content.
	ErrPassword = errors.New("error decrypt store")
	// ErrAddressMismatch means that a store opened, but holds the entropy of another address.
	ErrAddressMismatch = errors.New("address content not equal")
)

// storeError is a message of its own that matches ErrStore.
type storeError string

func (e storeError) Error() string        { return string(e) }
func (e storeError) Is(target error) bool { return target == ErrStore }

// Cost contains the parameters of scrypt. Memory is 128*N*R bytes.
type Cost struct{ N, R, P int }

// StandardCost is the node's cost: 256 MiB and about a second. Bound the number of concurrent runs.
func StandardCost() Cost { return Cost{N: 1 << 18, R: 8, P: 1} }

// LightCost is for development and tests: 4 MiB and some milliseconds. The node reads it too.
func LightCost() Cost { return Cost{N: 1 << 12, R: 8, P: 6} }

// Memory returns the bytes that scrypt uses while it runs.
func (c Cost) Memory() int64 { return 128 * int64(c.N) * int64(c.R) }

func (c Cost) check() error {
	switch {
	case c.N < 2 || bits.OnesCount(uint(c.N)) != 1:
		return storeError("scryptparams: n is no power of two above 1")
	case c.R < 1 || c.P < 1:
		return storeError("scryptparams: r and p must be positive")
	case c.N > maxCost || c.R > maxCost/c.N || c.P > maxCost/c.N/c.R:
		return storeError("scryptparams: cost over twice the standard")
	}
	return nil
}

// Store is an encrypted wallet secret: the entropy of a mnemonic, the file's content taken apart.
// Make it with Seal or ParseStore; it is not changed afterwards.
type Store struct {
	primary core.Address
	created int64
	crypto  storeCrypto
}

// storeFile and below are the file's JSON (docs/exchange-chain-wire.md 3), members in the node's
// order.
type storeFile struct {
	PrimaryAddress   string      `json:"primaryAddress"`
	Crypto           storeCrypto `json:"crypto"`
	SeedStoreVersion int         `json:"seedstoreversion"`
	Timestamp        int64       `json:"timestamp"`
}

type storeCrypto struct {
	CipherName   string       `json:"ciphername"`
	CipherText   hexBytes     `json:"ciphertext"`
	Nonce        hexBytes     `json:"nonce"`
	KDF          string       `json:"kdf"`
	ScryptParams scryptParams `json:"scryptparams"`
}

type scryptParams struct {
	N      int      `json:"n"`
	R      int      `json:"r"`
	P      int      `json:"p"`
	KeyLen int      `json:"keylen"`
	Salt   hexBytes `json:"salt"`
}

type hexBytes []byte

func (h hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

func (h *hexBytes) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil {
		return storeError("a member of crypto is not hexadecimal")
	}
	*h = raw
	return nil
}

// Seal encrypts entropy of 16, 20, 24, 28 or 32 bytes under the password, whose UTF-8 bytes are
// used as they are. Errors are ErrSize and, for a cost that ParseStore would refuse, ErrStore.
func Seal(entropy []byte, password string, cost Cost, created time.Time) (*Store, error) {
	keys, err := KeysOf(entropy)
	if err != nil {
		return nil, err
	}
	if err := cost.check(); err != nil {
		return nil, err
	}
	salt, nonce := make([]byte, saltSize), make([]byte, nonceSize)
	rand.Read(salt) // documented never to fail, as is the next
	rand.Read(nonce)
	s := &Store{primary: keys.PrimaryAddress(), created: created.Unix(), crypto: storeCrypto{
		CipherName: storeCipher,
		Nonce:      nonce,
		KDF:        storeKDF,
		ScryptParams: scryptParams{
			N: cost.N, R: cost.R, P: cost.P, KeyLen: keySize, Salt: salt,
		},
	}}
	aead, err := s.aead(password)
	if err != nil {
		return nil, err
	}
	s.crypto.CipherText = aead.Seal(nil, nonce, entropy, []byte(storeAAD))
	return s, nil
}

// ParseStore reads a file's content. It checks everything that needs no password, and that opening
// will not cost more than twice what the node's own files do. Errors are ErrStore.
func ParseStore(text []byte) (*Store, error) {
	if len(text) > MaxStoreSize {
		return nil, fmt.Errorf("%w: over %d bytes", ErrStore, MaxStoreSize)
	}
	var f storeFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, storeError(err.Error())
	}
	switch {
	case f.SeedStoreVersion != storeVersion:
		return nil, storeError(fmt.Sprintf("version number error : %d", f.SeedStoreVersion))
	case f.Crypto.CipherName != storeCipher:
		return nil, storeError(fmt.Sprintf("cipherName  error : %.40q", f.Crypto.CipherName))
	case f.Crypto.KDF != storeKDF:
		return nil, storeError(fmt.Sprintf("scryptName  error : %.40q", f.Crypto.KDF))
	}
	primary, err := core.ParseAddress(f.PrimaryAddress)
	if err != nil {
		return nil, storeError(fmt.Sprintf("address invalid ： %.60q", f.PrimaryAddress))
	}
	if err := f.Crypto.check(); err != nil {
		return nil, err
	}
	return &Store{primary: primary, created: f.Timestamp, crypto: f.Crypto}, nil
}

func (c *storeCrypto) check() error {
	p := c.ScryptParams
	switch {
	case !validSize(len(c.CipherText) - tagSize):
		return storeError("ciphertext: not the size of an encrypted entropy")
	case len(c.Nonce) != nonceSize:
		return storeError("nonce: not 12 bytes")
	case p.KeyLen < keySize || p.KeyLen > maxKeySize:
		return storeError("scryptparams: keylen is not 32 to 64")
	case len(p.Salt) == 0 || len(p.Salt) > maxSalt:
		return storeError("scryptparams: salt is not 1 to 128 bytes")
	}
	return Cost{p.N, p.R, p.P}.check()
}

// Encode returns the file's content, as the node writes it.
func (s *Store) Encode() []byte {
	text, err := json.Marshal(storeFile{
		PrimaryAddress:   s.primary.String(),
		Crypto:           s.crypto,
		SeedStoreVersion: storeVersion,
		Timestamp:        s.created,
	})
	if err != nil {
		panic("keystore: encoding a store: " + err.Error())
	}
	return text
}

// PrimaryAddress returns the address of account 0 as the file states it; Open proves it.
func (s *Store) PrimaryAddress() core.Address { return s.primary }

// Created returns when the store was made, to the second, as the file states it.
func (s *Store) Created() time.Time { return time.Unix(s.created, 0).UTC() }

// Cost returns the cost of Open.
func (s *Store) Cost() Cost {
	p := s.crypto.ScryptParams
	return Cost{p.N, p.R, p.P}
}

// Open decrypts the entropy and proves that it belongs to the store's address. It takes the time
// and memory of the file's Cost. Errors are ErrPassword and ErrAddressMismatch.
func (s *Store) Open(password string) ([]byte, error) {
	aead, err := s.aead(password)
	if err != nil {
		return nil, err
	}
	entropy, err := aead.Open(nil, s.crypto.Nonce, s.crypto.CipherText, []byte(storeAAD))
	if err != nil {
		return nil, ErrPassword
	}
	keys, err := KeysOf(entropy)
	if err != nil {
		return nil, err
	}
	if held := keys.PrimaryAddress(); held != s.primary {
		return nil, fmt.Errorf("%w. In file it is : %s  but generated is : %s", ErrAddressMismatch, s.primary, held)
	}
	return entropy, nil
}

func (s *Store) aead(password string) (cipher.AEAD, error) {
	p := s.crypto.ScryptParams
	key, err := scrypt.Key([]byte(password), p.Salt, p.N, p.R, p.P, p.KeyLen)
	if err != nil {
		return nil, fmt.Errorf("deriving the store key: %w", err)
	}
	defer clear(key)
	block, err := aes.NewCipher(slices.Clip(key[:keySize]))
	if err != nil {
		return nil, fmt.Errorf("deriving the store key: %w", err)
	}
	return cipher.NewGCM(block)
}
