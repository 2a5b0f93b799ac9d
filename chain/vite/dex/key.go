package dex

import (
	"encoding/binary"
	"math/bits"
)

// key is a price as it stands in order ids: the halves of a buy's are inverted, so that on either side the best comes first.
type key struct{ hi, lo uint64 }

// key is the price in an id. An id is copied as its first and its last 16 bytes, and what has just been copied is read
// quickly only from one of the two, so no word here reaches over the seventh byte.
func (id *OrderID) key() key {
	last := binary.BigEndian.Uint64(id[idTime-8:])
	return key{uint64(binary.BigEndian.Uint16(id[idPrice:]))<<24 | last>>40, last & priceMask}
}

// on is the price of a key as a key, and the other way round.
func (k key) on(side Side) key {
	if side == Buy {
		return k.opposite()
	}
	return k
}

func (k key) price(side Side) Price {
	k = k.on(side)
	return Price{k.hi, k.lo}
}

// opposite is the key of the same price on the other side.
func (k key) opposite() key { return key{k.hi ^ priceMask, k.lo ^ priceMask} }

// lastKey is above all keys of prices, which have 40 bits in each half.
func lastKey() key { return key{1 << 63, 0} }

// below is 1 if a comes before b, else 0, without a jump that could be mispredicted.
func (a key) below(b key) uint64 {
	_, borrow := bits.Sub64(a.lo, b.lo, 0)
	_, borrow = bits.Sub64(a.hi, b.hi, borrow)
	return borrow
}

// idOf puts an order id together: what NewOrderID does, of parts that are ready.
func idOf(id *OrderID, market uint32, side Side, k key, turn uint64) {
	binary.BigEndian.PutUint32(id[:], market<<8)
	if side == Sell {
		id[idSide] = 1
	}
	binary.BigEndian.PutUint16(id[idPrice:], uint16(k.hi>>24))
	binary.BigEndian.PutUint64(id[idTime-8:], k.hi<<40|k.lo)
	binary.BigEndian.PutUint64(id[idTime:], turn)
}
