package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// ErrCorrupt marks stored data that is cut, or that leads to another chain than it did.
var ErrCorrupt = errors.New("the chain's data is damaged")

// Writer builds the bytes of the log and of state files: numbers as varints, byte strings with
// their length in front, hashes and addresses as they are, maps in key order. Equal values give
// equal bytes.
type Writer struct{ Data []byte }

func (w *Writer) Uint(n uint64)  { w.Data = binary.AppendUvarint(w.Data, n) }
func (w *Writer) int(n int64)    { w.Data = binary.AppendVarint(w.Data, n) }
func (w *Writer) Raw(b []byte)   { w.Data = append(w.Data, b...) }
func (w *Writer) byte(b byte)    { w.Data = append(w.Data, b) }
func (w *Writer) text(s string)  { w.bytes([]byte(s)) }
func (w *Writer) bytes(b []byte) { w.Uint(uint64(len(b))); w.Raw(b) }

func (w *Writer) bool(v bool) {
	if v {
		w.byte(1)
	} else {
		w.byte(0)
	}
}

func (w *Writer) Amount(n uint256.Int) {
	all := n.Bytes32()
	w.bytes(all[len(all)-n.ByteLen():])
}

// optional writes a byte string that may be absent (nil) besides being empty.
func (w *Writer) optional(b []byte) {
	w.bool(b != nil)
	if b != nil {
		w.bytes(b)
	}
}

func (w *Writer) balances(m map[core.TokenID]uint256.Int) {
	w.Uint(uint64(len(m)))
	for _, id := range slices.SortedFunc(maps.Keys(m), compareTokens) {
		w.Raw(id[:])
		w.Amount(m[id])
	}
}

func (w *Writer) token(t *TokenInfo) {
	w.Raw(t.ID[:])
	w.text(t.Name)
	w.text(t.Symbol)
	w.byte(t.Decimals)
	w.Raw(t.Owner[:])
	w.Amount(t.TotalSupply)
	w.Amount(t.MaxSupply)
	w.bool(t.ReIssuable)
	w.bool(t.OwnerBurnOnly)
	w.Uint(uint64(t.Index))
}

// Reader takes such bytes apart. After the first fault, err is set and everything reads as zero.
type Reader struct {
	Data []byte
	Err  error
}

func (r *Reader) Fail(what string) {
	if r.Err == nil {
		r.Err = fmt.Errorf("%w: %s is cut or out of range", ErrCorrupt, what)
	}
	r.Data = nil
}

func (r *Reader) Uint() uint64 {
	n, size := binary.Uvarint(r.Data)
	if size <= 0 {
		r.Fail("number")
		return 0
	}
	r.Data = r.Data[size:]
	return n
}

func (r *Reader) int() int64 {
	n, size := binary.Varint(r.Data)
	if size <= 0 {
		r.Fail("number")
		return 0
	}
	r.Data = r.Data[size:]
	return n
}

// count reads the length of a list whose items take at least size bytes each, so that it cannot ask
// for much memory.
func (r *Reader) count(size int) int {
	n := r.Uint()
	if n > uint64(len(r.Data)/size) {
		r.Fail("list length")
		return 0
	}
	return int(n)
}

// raw fills dst.
func (r *Reader) raw(dst []byte) {
	if len(r.Data) < len(dst) {
		r.Fail("fixed field")
		return
	}
	copy(dst, r.Data)
	r.Data = r.Data[len(dst):]
}

func (r *Reader) byte() byte {
	var b [1]byte
	r.raw(b[:])
	return b[0]
}

func (r *Reader) bool() bool {
	b := r.byte()
	if b > 1 {
		r.Fail("flag")
	}
	return b == 1
}

// bytes is a copy.
func (r *Reader) bytes() []byte {
	b := make([]byte, r.count(1))
	r.raw(b)
	return b
}

func (r *Reader) optional() []byte {
	if !r.bool() {
		return nil
	}
	return r.bytes()
}

func (r *Reader) Amount() uint256.Int {
	var n uint256.Int
	b := r.bytes()
	if len(b) > 32 {
		r.Fail("amount")
		return n
	}
	return *n.SetBytes(b)
}

func (r *Reader) Hash() (h core.Hash)       { r.raw(h[:]); return h }
func (r *Reader) Address() (a core.Address) { r.raw(a[:]); return a }
func (r *Reader) tokenID() (t core.TokenID) { r.raw(t[:]); return t }
