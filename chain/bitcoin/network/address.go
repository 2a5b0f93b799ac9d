package network

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"
	"github.com/btcsuite/btcd/txscript/v2"

	"gatewayd/chain"
)

// Kind is the kind of an output that has an address.
type Kind string

// The kinds that are paid.
const (
	P2PKH  Kind = "P2PKH"
	P2SH   Kind = "P2SH"
	P2WPKH Kind = "P2WPKH"
	P2WSH  Kind = "P2WSH"
	P2TR   Kind = "P2TR"
)

// Address is a payable address of one network.
type Address struct {
	Text   string // its canonical form
	Kind   Kind
	Script []byte // of the outputs that pay it
}

// form is the script of a kind: a program of a fixed size between fixed bytes.
type form struct {
	kind          Kind
	before, after []byte
	size          int
	version       int // of the witness; none where negative
}

// forms are those of the paid kinds.
var forms = []form{
	{P2PKH, []byte{txscript.OP_DUP, txscript.OP_HASH160, txscript.OP_DATA_20}, []byte{txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG}, 20, -1},
	{P2SH, []byte{txscript.OP_HASH160, txscript.OP_DATA_20}, []byte{txscript.OP_EQUAL}, 20, -1},
	{P2WPKH, []byte{txscript.OP_0, txscript.OP_DATA_20}, nil, 20, 0},
	{P2WSH, []byte{txscript.OP_0, txscript.OP_DATA_32}, nil, 32, 0},
	{P2TR, []byte{txscript.OP_1, txscript.OP_DATA_32}, nil, 32, 1},
}

func formOf(kind Kind) form {
	return forms[slices.IndexFunc(forms, func(f form) bool { return f.kind == kind })]
}

// program is the variable part of a script of this form.
func (f form) program(script []byte) (program []byte, ok bool) {
	if len(script) != len(f.before)+f.size+len(f.after) || !bytes.HasPrefix(script, f.before) || !bytes.HasSuffix(script, f.after) {
		return nil, false
	}
	return script[len(f.before) : len(f.before)+f.size], true
}

// Of returns the address of an output's script. Other scripts than those of the paid kinds have
// none.
func (n *Network) Of(script []byte) (a Address, ok bool) {
	for _, f := range forms {
		if program, ok := f.program(script); ok {
			return n.address(f, program), true
		}
	}
	return Address{}, false
}

// Make returns the address of a kind with the hash or key of that kind.
func (n *Network) Make(kind Kind, program []byte) (Address, error) {
	f := formOf(kind)
	if len(program) != f.size {
		return Address{}, fmt.Errorf("%w: %s takes %d bytes, not %d", chain.ErrAddress, kind, f.size, len(program))
	}
	return n.address(f, program), nil
}

// address builds the address of a program that has the form's size.
func (n *Network) address(f form, program []byte) Address {
	a := Address{Kind: f.kind, Script: slices.Concat(f.before, program, f.after)}
	switch f.kind {
	case P2PKH:
		a.Text = base58.CheckEncode(program, n.keyHash)
	case P2SH:
		a.Text = base58.CheckEncode(program, n.hash)
	default:
		a.Text = n.witness(byte(f.version), program)
	}
	return a
}

func (n *Network) witness(version byte, program []byte) string {
	encode := bech32.EncodeM
	if version == 0 {
		encode = bech32.Encode
	}
	groups, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		panic("network: bytes into groups of 5 bits: " + err.Error())
	}
	text, err := encode(n.Bech32, append([]byte{version}, groups...))
	if err != nil {
		panic("network: encoding groups of 5 bits: " + err.Error())
	}
	return text
}

const (
	maxText   = 256 // bytes; more than any address has, those of MWEB included
	maxBech32 = 90  // BIP-173
	hashSize  = 20
)

// Parse reads a payable address. Its error is chain.ErrAddress and names the rule that the text
// breaks.
func (n *Network) Parse(text string) (Address, error) {
	a, err := n.parse(text)
	if err != nil {
		return Address{}, fmt.Errorf("%w: %w", chain.ErrAddress, err)
	}
	return a, nil
}

func (n *Network) parse(text string) (Address, error) {
	if len(text) > maxText {
		return Address{}, fmt.Errorf("it has %d bytes, more than any address", len(text))
	}
	prefix, known := prefixOf(text)
	switch {
	case !known:
		return n.parseHash(text)
	case n.MWEB != "" && prefix == n.MWEB:
		return Address{}, errors.New("it is an address of the MWEB extension, which is not paid: use one of another kind")
	case prefix != n.Bech32:
		return Address{}, n.notOf(namesOf(func(o *Network) bool { return o.Bech32 == prefix || o.MWEB == prefix }))
	}
	return n.parseWitness(text)
}

// prefixOf is the part before the last 1 if some network's witness addresses have it.
func prefixOf(text string) (prefix string, known bool) {
	text = strings.ToLower(text)
	at := strings.LastIndexByte(text, '1')
	if at < 1 {
		return "", false
	}
	prefix = text[:at]
	return prefix, len(namesOf(func(o *Network) bool { return o.Bech32 == prefix || o.MWEB == prefix })) > 0
}

func (n *Network) notOf(of []string) error {
	return fmt.Errorf("%w: it is an address of %s, not of %s", chain.ErrOtherNetwork, strings.Join(of, " or "), n.Name)
}

// parseHash reads base58check: a version byte and a hash.
func (n *Network) parseHash(text string) (Address, error) {
	hash, version, err := base58.CheckDecode(text)
	switch {
	case errors.Is(err, base58.ErrChecksum):
		return Address{}, errors.New("its checksum is wrong")
	case err != nil:
		return Address{}, fmt.Errorf("it is neither base58 nor bech32 with the prefix %s1", n.Bech32)
	case len(hash) != hashSize:
		return Address{}, fmt.Errorf("it has a hash of %d bytes instead of %d", len(hash), hashSize)
	case version == n.keyHash:
		return n.address(formOf(P2PKH), hash), nil
	case version == n.hash || version == n.olderHash:
		return n.address(formOf(P2SH), hash), nil
	}
	if others := namesOf(func(o *Network) bool { return version == o.keyHash || version == o.hash || version == o.olderHash }); len(others) > 0 {
		return Address{}, n.notOf(others)
	}
	return Address{}, fmt.Errorf("its version %d is none of %s", version, n.Name)
}

// parseWitness reads BIP-173 and BIP-350.
func (n *Network) parseWitness(text string) (Address, error) {
	if len(text) > maxBech32 {
		return Address{}, fmt.Errorf("it has %d characters, at most %d are allowed", len(text), maxBech32)
	}
	_, groups, encoding, err := bech32.DecodeGeneric(text)
	if err != nil {
		return Address{}, bech32Fault(err)
	}
	if len(groups) == 0 {
		return Address{}, errors.New("it has no witness program")
	}
	version := groups[0]
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	switch {
	case version > 1:
		return Address{}, fmt.Errorf("witness version %d has no rules yet: anyone could spend it", version)
	case version == 0 && encoding != bech32.Version0:
		return Address{}, errors.New("witness version 0 takes bech32, not bech32m")
	case version == 1 && encoding != bech32.VersionM:
		return Address{}, errors.New("witness version 1 takes bech32m, not bech32")
	case err != nil:
		return Address{}, errors.New("the padding of its last character is wrong")
	}
	for _, f := range forms {
		if f.version == int(version) && f.size == len(program) {
			return n.address(f, program), nil
		}
	}
	return Address{}, fmt.Errorf("witness version %d has no program of %d bytes", version, len(program))
}

func bech32Fault(err error) error {
	var mixed bech32.ErrMixedCase
	var checksum bech32.ErrInvalidChecksum
	switch {
	case errors.As(err, &mixed):
		return errors.New("it has capital and small letters: only one of the two is allowed")
	case errors.As(err, &checksum):
		return errors.New("its checksum is wrong")
	}
	return fmt.Errorf("it is no bech32: %w", err)
}
