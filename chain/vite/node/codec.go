package node

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// writer builds the bytes of the log and of state files: numbers as varints, byte strings with their length in front,
// hashes and addresses as they are, maps in key order. Equal values give equal bytes.
type writer struct{ data []byte }

func (w *writer) uint(n uint64)  { w.data = binary.AppendUvarint(w.data, n) }
func (w *writer) int(n int64)    { w.data = binary.AppendVarint(w.data, n) }
func (w *writer) raw(b []byte)   { w.data = append(w.data, b...) }
func (w *writer) byte(b byte)    { w.data = append(w.data, b) }
func (w *writer) text(s string)  { w.bytes([]byte(s)) }
func (w *writer) bytes(b []byte) { w.uint(uint64(len(b))); w.raw(b) }

func (w *writer) bool(v bool) {
	if v {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

func (w *writer) amount(n uint256.Int) {
	all := n.Bytes32()
	w.bytes(all[len(all)-n.ByteLen():])
}

// optional writes a byte string that may be absent (nil) besides being empty.
func (w *writer) optional(b []byte) {
	w.bool(b != nil)
	if b != nil {
		w.bytes(b)
	}
}

func (w *writer) balances(m map[core.TokenID]uint256.Int) {
	w.uint(uint64(len(m)))
	for _, id := range slices.SortedFunc(maps.Keys(m), compareTokens) {
		w.raw(id[:])
		w.amount(m[id])
	}
}

func (w *writer) token(t *TokenInfo) {
	w.raw(t.ID[:])
	w.text(t.Name)
	w.text(t.Symbol)
	w.byte(t.Decimals)
	w.raw(t.Owner[:])
	w.amount(t.TotalSupply)
	w.amount(t.MaxSupply)
	w.bool(t.ReIssuable)
	w.bool(t.OwnerBurnOnly)
	w.uint(uint64(t.Index))
}

// block writes an account block, all but its triggered sends.
func (w *writer) block(b *core.AccountBlock) {
	w.byte(byte(b.BlockType))
	w.uint(b.Height)
	w.raw(b.Hash[:])
	w.raw(b.PreviousHash[:])
	w.raw(b.Address[:])
	w.raw(b.ToAddress[:])
	w.raw(b.TokenID[:])
	w.raw(b.SendBlockHash[:])
	w.amount(b.Amount)
	w.amount(b.Fee)
	w.optional(b.Data)
	w.optional(b.Nonce)
	w.optional(b.PublicKey)
	w.optional(b.Signature)
	w.bool(b.Difficulty != nil)
	if b.Difficulty != nil {
		w.bytes(b.Difficulty.Bytes())
	}
	w.bool(b.VMLogHash != nil)
	if b.VMLogHash != nil {
		w.raw(b.VMLogHash[:])
	}
}

// reader takes such bytes apart. After the first fault, err is set and everything reads as zero.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s is cut or out of range", ErrCorrupt, what)
	}
	r.data = nil
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.fail("number")
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *reader) int() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.fail("number")
		return 0
	}
	r.data = r.data[size:]
	return n
}

// count reads the length of a list whose items take at least size bytes each, so that it cannot ask for much memory.
func (r *reader) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.data)/size) {
		r.fail("list length")
		return 0
	}
	return int(n)
}

// raw fills dst.
func (r *reader) raw(dst []byte) {
	if len(r.data) < len(dst) {
		r.fail("fixed field")
		return
	}
	copy(dst, r.data)
	r.data = r.data[len(dst):]
}

func (r *reader) byte() byte {
	var b [1]byte
	r.raw(b[:])
	return b[0]
}

func (r *reader) bool() bool {
	b := r.byte()
	if b > 1 {
		r.fail("flag")
	}
	return b == 1
}

// bytes is a copy.
func (r *reader) bytes() []byte {
	b := make([]byte, r.count(1))
	r.raw(b)
	return b
}

func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) optional() []byte {
	if !r.bool() {
		return nil
	}
	return r.bytes()
}

func (r *reader) amount() uint256.Int {
	var n uint256.Int
	b := r.bytes()
	if len(b) > 32 {
		r.fail("amount")
		return n
	}
	return *n.SetBytes(b)
}

func (r *reader) hash() (h core.Hash)       { r.raw(h[:]); return h }
func (r *reader) address() (a core.Address) { r.raw(a[:]); return a }
func (r *reader) tokenID() (t core.TokenID) { r.raw(t[:]); return t }

func (r *reader) balances() map[core.TokenID]uint256.Int {
	m := map[core.TokenID]uint256.Int{}
	for range r.count(core.TokenIDSize + 1) {
		id := r.tokenID()
		m[id] = r.amount()
	}
	return m
}

func (r *reader) token() *TokenInfo {
	t := &TokenInfo{ID: r.tokenID(), Name: r.text(), Symbol: r.text(), Decimals: r.byte(), Owner: r.address()}
	t.TotalSupply, t.MaxSupply = r.amount(), r.amount()
	t.ReIssuable, t.OwnerBurnOnly = r.bool(), r.bool()
	index := r.uint()
	if index > maxTokenIndex {
		r.fail("token index")
	}
	t.Index = uint16(index)
	return t
}

func (r *reader) block() *core.AccountBlock {
	b := &core.AccountBlock{BlockType: core.BlockType(r.byte()), Height: r.uint()}
	b.Hash, b.PreviousHash = r.hash(), r.hash()
	b.Address, b.ToAddress = r.address(), r.address()
	b.TokenID, b.SendBlockHash = r.tokenID(), r.hash()
	b.Amount, b.Fee = r.amount(), r.amount()
	b.Data, b.Nonce = r.optional(), r.optional()
	b.PublicKey, b.Signature = r.optional(), r.optional()
	if r.bool() {
		b.Difficulty = new(big.Int).SetBytes(r.bytes())
	}
	if r.bool() {
		h := r.hash()
		b.VMLogHash = &h
	}
	return b
}
