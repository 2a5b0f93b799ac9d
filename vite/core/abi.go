package core

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"
)

// SelectorSize is the number of bytes of call data that name the method.
const SelectorSize = 4

// ErrMethod marks call data for a method that is not the one asked for, or that no one knows.
var ErrMethod = errors.New("method not found")

// Method is one callable method of a contract. Make it with ParseMethod.
type Method struct {
	name     string
	inputs   Arguments
	selector [SelectorSize]byte
}

// ParseMethod reads a signature such as "ReIssue(tokenId,uint256,address)": canonical types, no
// blanks. Errors are ErrABI.
func ParseMethod(signature string) (Method, error) {
	name, types, err := splitSignature(signature)
	if err != nil {
		return Method{}, err
	}
	m := Method{name: name}
	for _, s := range types {
		t, err := ParseType(s)
		if err != nil {
			return Method{}, err
		}
		m.inputs = append(m.inputs, t)
	}
	sum := blake2b.Sum256([]byte(m.Signature()))
	m.selector = [SelectorSize]byte(sum[:])
	return m, nil
}

// MustMethod is ParseMethod for tables in source text; a bad signature there panics.
func MustMethod(signature string) Method {
	m, err := ParseMethod(signature)
	if err != nil {
		panic(err)
	}
	return m
}

// splitSignature splits "Name(a,b)". It does not check the types.
func splitSignature(s string) (name string, types []string, err error) {
	name, rest, ok := strings.Cut(s, "(")
	inner, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || !isName(name) {
		return "", nil, fmt.Errorf("%w: signature %.60q", ErrABI, s)
	}
	if inner == "" {
		return name, nil, nil
	}
	return name, strings.Split(inner, ","), nil
}

func isName(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func joinSignature(name string, types Arguments) string {
	texts := make([]string, len(types))
	for i, t := range types {
		texts[i] = t.String()
	}
	return name + "(" + strings.Join(texts, ",") + ")"
}

// Name returns the method's name.
func (m Method) Name() string { return m.name }

// Inputs returns the types of the method's arguments.
func (m Method) Inputs() Arguments { return slices.Clone(m.inputs) }

// Signature returns the text that ParseMethod reads.
func (m Method) Signature() string { return joinSignature(m.name, m.inputs) }

// Selector returns the first bytes of call data: of BLAKE2b-256 of the signature.
func (m Method) Selector() [SelectorSize]byte { return m.selector }

// Matches reports whether data is a call of this method.
func (m Method) Matches(data []byte) bool { return bytes.HasPrefix(data, m.selector[:]) }

// Pack returns the call data for the values (see Type). Errors are ErrABI.
func (m Method) Pack(values ...any) ([]byte, error) {
	words, err := m.inputs.Pack(values...)
	if err != nil {
		return nil, fmt.Errorf("packing %s: %w", m.name, err)
	}
	return append(m.selector[:], words...), nil
}

// Unpack returns the values of call data (see Arguments.Unpack for its strictness). Data for
// another method is ErrMethod, the rest ErrABI.
func (m Method) Unpack(data []byte) ([]any, error) {
	if !m.Matches(data) {
		return nil, fmt.Errorf("%w: data is no call of %s", ErrMethod, m.name)
	}
	values, err := m.inputs.Unpack(data[SelectorSize:])
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", m.name, err)
	}
	return values, nil
}

// Scan is Unpack into variables of the arguments' Go types.
func (m Method) Scan(data []byte, dst ...any) error {
	if !m.Matches(data) {
		return fmt.Errorf("%w: data is no call of %s", ErrMethod, m.name)
	}
	if err := m.inputs.Scan(data[SelectorSize:], dst...); err != nil {
		return fmt.Errorf("unpacking %s: %w", m.name, err)
	}
	return nil
}

// Event is one kind of log that a contract writes. Make it with ParseEvent.
type Event struct {
	name    string
	inputs  Arguments
	indexed []bool
	topic   Hash
}

// ParseEvent reads a signature whose arguments may be marked, as in "burn(tokenId
// indexed,address,uint256)". Marked ones are in the topics and must have one word. Errors are
// ErrABI.
func ParseEvent(signature string) (Event, error) {
	name, types, err := splitSignature(signature)
	if err != nil {
		return Event{}, err
	}
	e := Event{name: name}
	for _, s := range types {
		s, indexed := strings.CutSuffix(s, " indexed")
		t, err := ParseType(s)
		if err != nil {
			return Event{}, err
		}
		if indexed && t.dynamic() {
			return Event{}, fmt.Errorf("%w: indexed %s", ErrABI, t)
		}
		e.inputs = append(e.inputs, t)
		e.indexed = append(e.indexed, indexed)
	}
	e.topic = blake2b.Sum256([]byte(joinSignature(e.name, e.inputs)))
	return e, nil
}

// MustEvent is ParseEvent for tables in source text; a bad signature there panics.
func MustEvent(signature string) Event {
	e, err := ParseEvent(signature)
	if err != nil {
		panic(err)
	}
	return e
}

// Topic returns the first topic of the event's logs: BLAKE2b-256 of its signature.
func (e Event) Topic() Hash { return e.topic }

// Pack returns a log's topics and data for one value per argument. Errors are ErrABI.
func (e Event) Pack(values ...any) (topics []Hash, data []byte, err error) {
	if len(values) != len(e.inputs) {
		return nil, nil, fmt.Errorf("%w: %d values for %d arguments of %s", ErrABI, len(values), len(e.inputs), e.name)
	}
	topics = []Hash{e.topic}
	var plain []any
	for i, v := range values {
		if !e.indexed[i] {
			plain = append(plain, v)
			continue
		}
		w, err := e.inputs[i].encodeWord(v)
		if err != nil {
			return nil, nil, fmt.Errorf("packing %s, argument %d: %w", e.name, i, err)
		}
		topics = append(topics, w)
	}
	data, err = e.plainInputs().Pack(plain...)
	if err != nil {
		return nil, nil, fmt.Errorf("packing %s: %w", e.name, err)
	}
	return topics, data, nil
}

func (e Event) plainInputs() Arguments {
	var plain Arguments
	for i, t := range e.inputs {
		if !e.indexed[i] {
			plain = append(plain, t)
		}
	}
	return plain
}
