package core

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"golang.org/x/crypto/blake2b"
)

// HashHeight names the newest confirmed block of an account in a snapshot block's content.
type HashHeight struct {
	Hash   Hash
	Height uint64
}

// Seal is the data that the hash of a snapshot block covers.
type Seal struct {
	PreviousHash Hash
	Height       uint64
	Time         int64 // Unix seconds
	Seed         uint64
	SeedHash     Hash // zero where a node shows null
	Content      map[Address]HashHeight
	// Upgrade and Version name the rules under which the block was made. Version 0 has neither of
	// them in the hash.
	Upgrade string
	Version uint32
}

// ComputeHash returns the hash of the fields: BLAKE2b-256 of
//
//	previous hash ‖ height 8 ‖ time 8 ‖ seed 8 ‖ seed hash 32 ‖ content ‖ upgrade's name ‖ version 4
//	content: for each account in the order of addresses: address 21 ‖ hash 32 ‖ height 8
//
// The position of the content before the upgrade's name is an assumption
// (docs/exchange-chain-wire.md 4.9): no known block of a later version has content.
func (s *Seal) ComputeHash() Hash {
	p := s.head()
	p = append(p, s.content()...)
	return blake2b.Sum256(append(p, s.tail()...))
}

// Fits reports whether a hash is this block's, with the content at any position around name and
// version. With names of at most MaxUpgradeName characters no other content fits: one entry more or
// less is 61 bytes.
func (s *Seal) Fits(h Hash) bool {
	if len(s.Upgrade) > MaxUpgradeName {
		return false
	}
	if s.ComputeHash() == h {
		return true
	}
	if s.Version == 0 || len(s.Content) == 0 {
		return false
	}
	tail := s.tail()
	for _, at := range []int{len(tail), len(s.Upgrade)} {
		p := append(s.head(), tail[:at]...)
		p = append(p, s.content()...)
		if blake2b.Sum256(append(p, tail[at:]...)) == h {
			return true
		}
	}
	return false
}

// MaxUpgradeName is the longest name of an upgrade: names must not be able to hold an entry of the
// content.
const MaxUpgradeName = 32

const sealEntry = AddressSize + HashSize + 8

func (s *Seal) head() []byte {
	p := make([]byte, 0, 2*HashSize+3*8+len(s.Content)*sealEntry+MaxUpgradeName+4)
	p = append(p, s.PreviousHash[:]...)
	p = binary.BigEndian.AppendUint64(p, s.Height)
	p = binary.BigEndian.AppendUint64(p, uint64(s.Time))
	p = binary.BigEndian.AppendUint64(p, s.Seed)
	return append(p, s.SeedHash[:]...)
}

func (s *Seal) content() []byte {
	accounts := slices.SortedFunc(maps.Keys(s.Content), func(a, b Address) int { return bytes.Compare(a[:], b[:]) })
	p := make([]byte, 0, len(accounts)*sealEntry)
	for _, a := range accounts {
		id := s.Content[a]
		p = append(p, a[:]...)
		p = append(p, id.Hash[:]...)
		p = binary.BigEndian.AppendUint64(p, id.Height)
	}
	return p
}

func (s *Seal) tail() []byte {
	if s.Version == 0 {
		return nil
	}
	return binary.BigEndian.AppendUint32([]byte(s.Upgrade), s.Version)
}
