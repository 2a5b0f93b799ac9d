package ethereum

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Scanner reads the JSON of blocks and receipts in one pass. encoding/json goes over such an answer
// four times on its way through an RPC client, which is most of the cost of following a chain. The
// Scanner is strict where it decodes (hexadecimal as the JSON-RPC of Ethereum writes it) and only
// counts brackets where it skips: what it skips decides nothing.
type scanner struct {
	text []byte
	at   int
	err  error
}

var errShort = errors.New("an element of a list is too short to be one")

// ErrCut is an answer that ends before its last value does.
var errCut = errors.New("the text ends inside a value")

// ErrMalformed is an answer that is not of the shape that was asked for.
var errMalformed = errors.New("malformed JSON")

// newScanner begins at the start of a text.
func newScanner(text []byte) *scanner { return &scanner{text: text} }

// Raw is the text of the next value, whatever it is.
func (s *scanner) Raw() []byte {
	s.Peek()
	start := s.at
	s.Skip()
	return s.text[start:s.at]
}

// Fail keeps the first fault and ends the text, so that every loop over it ends.
func (s *scanner) Fail(err error) {
	if s.err == nil {
		s.err = fmt.Errorf("%w at byte %d: %w", errMalformed, min(s.at, len(s.text)), err)
	}
	s.at = len(s.text)
}

// End returns nil when exactly one complete value was read.
func (s *scanner) End() error {
	if s.Peek() != 0 {
		s.Fail(errors.New("something follows the value"))
	}
	return s.err
}

// Peek is the next byte that is no space; 0 at the end.
func (s *scanner) Peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// take reads a byte if it is the next.
func (s *scanner) take(c byte) bool {
	if s.Peek() != c || s.at >= len(s.text) {
		return false
	}
	s.at++
	return true
}

func (s *scanner) expect(c byte) {
	switch {
	case s.take(c):
	case s.at >= len(s.text):
		s.Fail(errCut)
	default:
		s.Fail(fmt.Errorf("must be %q", c))
	}
}

// Null reads a null if it is the next.
func (s *scanner) Null() bool {
	if s.Peek() != 'n' || !bytes.HasPrefix(s.text[s.at:], []byte("null")) {
		return false
	}
	s.at += len("null")
	return true
}

// Object calls field for each member; field must read the value.
func (s *scanner) Object(field func(name []byte)) {
	s.expect('{')
	if s.take('}') {
		return
	}
	for s.err == nil {
		name := s.str()
		s.expect(':')
		field(name)
		if s.take('}') {
			return
		}
		s.expect(',')
	}
}

// Array calls element for each element; element must read it.
func (s *scanner) Array(element func()) {
	s.expect('[')
	if s.take(']') {
		return
	}
	for s.err == nil {
		element()
		if s.take(']') {
			return
		}
		s.expect(',')
	}
}

// str reads a string as it is written, escapes and all: the texts that are decoded have none.
func (s *scanner) str() []byte {
	s.expect('"')
	start := s.at
	for s.at < len(s.text) {
		quote := bytes.IndexByte(s.text[s.at:], '"')
		if quote < 0 {
			break
		}
		s.at += quote + 1
		if !escaped(s.text[start : s.at-1]) {
			return s.text[start : s.at-1]
		}
	}
	s.Fail(errCut)
	return nil
}

// word is str as a string of its own; null is empty.
func (s *scanner) word() string {
	if s.Null() {
		return ""
	}
	return string(s.str())
}

// escaped reports whether a text ends in an odd number of backslashes.
func escaped(text []byte) bool {
	n := len(text) - len(bytes.TrimRight(text, `\`))
	return n%2 == 1
}

// Skip reads any value.
func (s *scanner) Skip() {
	depth := 0
	for s.err == nil {
		switch s.Peek() {
		case 0:
			s.Fail(errCut)
		case '"':
			s.str()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
			continue
		default:
			s.plainWord()
		}
		if depth <= 0 {
			return
		}
	}
}

// plainWord reads a number, true, false or null.
func (s *scanner) plainWord() {
	for ; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case ',', ':', '}', ']', ' ', '\n', '\r', '\t', '"', '{', '[':
			return
		}
	}
}

// digits reads "0x..." and returns the part after the prefix.
func (s *scanner) digits() []byte {
	text := s.str()
	if len(text) < 2 || text[0] != '0' || text[1] != 'x' && text[1] != 'X' {
		s.Fail(errors.New("must be a hexadecimal text"))
		return nil
	}
	return text[2:]
}

// fixed fills dst; null leaves it as it is.
func (s *scanner) fixed(dst []byte) {
	if s.Null() {
		return
	}
	if digits := s.digits(); s.err == nil {
		if len(digits) != 2*len(dst) {
			s.Fail(fmt.Errorf("must be %d bytes", len(dst)))
			return
		}
		s.decode(dst, digits)
	}
}

// Bytes reads bytes of any length.
func (s *scanner) Bytes() []byte {
	if s.Null() {
		return nil
	}
	digits := s.digits()
	dst := make([]byte, len(digits)/2)
	s.decode(dst, digits)
	return dst
}

func (s *scanner) decode(dst, digits []byte) {
	if _, err := hex.Decode(dst, digits); err != nil {
		s.Fail(err)
	}
}

// quantity reads the digits of a number: at least one, at most most, no zero before others.
func (s *scanner) quantity(most int) []byte {
	digits := s.digits()
	if s.err == nil && (len(digits) == 0 || len(digits) > most || digits[0] == '0' && len(digits) > 1) {
		s.Fail(fmt.Errorf("must be a number of 1 to %d hexadecimal digits", most))
	}
	return digits
}

// number reads up to 64 bits; null is nil.
func (s *scanner) number() *hexutil.Uint64 {
	if s.Null() {
		return nil
	}
	n := hexutil.Uint64(0)
	for _, digit := range s.quantity(16) {
		value, ok := hexDigit(digit)
		if !ok {
			s.Fail(errors.New("must be a hexadecimal digit"))
		}
		n = n<<4 | hexutil.Uint64(value)
	}
	return &n
}

// plain is number with zero for null.
func (s *scanner) plain() hexutil.Uint64 {
	if n := s.number(); n != nil {
		return *n
	}
	return 0
}

// big reads up to 256 bits; null is nil.
func (s *scanner) big() *hexutil.Big {
	if s.Null() {
		return nil
	}
	digits := s.quantity(64)
	var padded [64]byte
	var word [32]byte
	pad := len(padded) - len(digits)
	if pad < 0 {
		return nil
	}
	for i := range pad {
		padded[i] = '0'
	}
	copy(padded[pad:], digits)
	s.decode(word[:], padded[:])
	return (*hexutil.Big)(new(big.Int).SetBytes(word[:]))
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
