package keystore

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const (
	wordBits    = 11
	minMnemonic = 12
	maxMnemonic = 24

	// maxMnemonicText bounds what is normalised; 24 words need at most 215 bytes.
	maxMnemonicText = 1024

	seedRounds = 2048
	// SeedSize is the length of a BIP-39 seed in bytes.
	SeedSize = 64
)

// Faults of a mnemonic, the first two in the words of the exchange chain's node.
var (
	ErrWordCount = errors.New("Invalid mnenomic")   //nolint:staticcheck // the node's text, its spelling included
	ErrChecksum  = errors.New("Checksum incorrect") //nolint:staticcheck // as above
	ErrSize      = errors.New("entropy is not 16, 20, 24, 28 or 32 bytes")
)

// WordError means that a word of a mnemonic is not in the English list. Word is part of a possible
// secret: Error omits it, and a caller shows it to its sender only.
type WordError struct {
	Position int // from 1
	Word     string
}

func (e *WordError) Error() string { return fmt.Sprintf("word %d is not in the list", e.Position) }

//go:embed english.txt
var englishText string

// english is the BIP-39 word list, in order; the place of a word is its value.
var english = strings.Fields(englishText)

// Mnemonic returns the English words of the entropy: 12, 15, 18, 21 or 24 for 16, 20, 24, 28 or 32
// bytes. Another length is ErrSize.
func Mnemonic(entropy []byte) (string, error) {
	if !validSize(len(entropy)) {
		return "", ErrSize
	}
	sum := sha256.Sum256(entropy)
	bits := append(slices.Clone(entropy), sum[0])
	words := make([]string, len(entropy)*3/4)
	for i := range words {
		words[i] = english[takeBits(bits, i*wordBits)]
	}
	return strings.Join(words, " "), nil
}

func validSize(n int) bool { return n >= 16 && n <= 32 && n%4 == 0 }

// takeBits reads the 11 bits that begin at bit from.
func takeBits(b []byte, from int) int {
	value := 0
	for i := from; i < from+wordBits; i++ {
		value = value<<1 | int(b[i/8]>>(7-i%8)&1)
	}
	return value
}

func putBits(b []byte, from, value int) {
	for i := range wordBits {
		bit := byte(value>>(wordBits-1-i)) & 1
		at := from + i
		b[at/8] |= bit << (7 - at%8)
	}
}

// Normalize returns the one form that words and seed are both computed from: NFKD, lower case,
// single blanks. The node checks the words but hashes the text as it came, and so writes stores
// that can never be opened; here both steps see the same text.
func Normalize(mnemonic string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKD.String(mnemonic))), " ")
}

// ParseMnemonic returns the entropy of English words, however spaced and capitalised. Errors are
// ErrWordCount, *WordError and ErrChecksum.
func ParseMnemonic(text string) ([]byte, error) {
	if len(text) > maxMnemonicText {
		return nil, ErrWordCount
	}
	words := strings.Fields(Normalize(text))
	if len(words) < minMnemonic || len(words) > maxMnemonic || len(words)%3 != 0 {
		return nil, ErrWordCount
	}
	bits := make([]byte, len(words)*4/3+1)
	for i, w := range words {
		value, ok := slices.BinarySearch(english, w)
		if !ok {
			return nil, &WordError{Position: i + 1, Word: w}
		}
		putBits(bits, i*wordBits, value)
	}
	entropy, check := bits[:len(bits)-1], bits[len(bits)-1]
	sum := sha256.Sum256(entropy)
	if mask := byte(0xff) << (8 - len(words)/3); check != sum[0]&mask {
		return nil, ErrChecksum
	}
	return entropy, nil
}

// Seed returns the 64-byte seed of a mnemonic in any language, normalised first. It checks no
// words; use ParseMnemonic for that. The exchange chain always has the empty passphrase: a
// wallet's password is not the BIP-39 passphrase.
func Seed(mnemonic, passphrase string) []byte {
	salt := "mnemonic" + norm.NFKD.String(passphrase)
	seed, err := pbkdf2.Key(sha512.New, Normalize(mnemonic), []byte(salt), seedRounds, SeedSize)
	if err != nil {
		panic("keystore: PBKDF2 with fixed parameters: " + err.Error())
	}
	return seed
}

// seedOf is the seed of stored entropy, without a passphrase.
func seedOf(entropy []byte) ([]byte, error) {
	words, err := Mnemonic(entropy)
	if err != nil {
		return nil, err
	}
	return Seed(words, ""), nil
}
