package dex

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/crypto/blake2b"
)

// Sizes of ids in bytes.
const (
	OrderIDSize = 22
	TradeIDSize = 20
)

// Bounds of the parts of an order id.
const (
	MaxMarket = 1<<24 - 1
	MaxTime   = 1<<40 - 1
	MaxSerial = 1<<24 - 1
)

// Places of the parts in an order id (docs/exchange-rules.md 2.10).
const (
	idSide  = 3
	idPrice = 4
	idTime  = idPrice + PriceSize
)

// ErrOrderID marks bytes or a text that are no order id.
var ErrOrderID = errors.New("invalid order id")

// OrderID names an order. Within a market and a side, ids in byte order are the orders best price
// first, then older first.
type OrderID [OrderIDSize]byte

// NewOrderID makes an id. Market, time (seconds) and serial must be within their bounds; what is
// beyond is cut off.
func NewOrderID(market uint32, side Side, p Price, time int64, serial uint32) OrderID {
	var id OrderID
	var w [8]byte
	binary.BigEndian.PutUint32(w[:], market<<8)
	copy(id[:idSide], w[:])
	price := p.Bytes()
	if side == Buy {
		invert(&price)
	} else {
		id[idSide] = 1
	}
	copy(id[idPrice:], price[:])
	binary.BigEndian.PutUint64(w[:], uint64(time)<<24|uint64(serial&MaxSerial))
	copy(id[idTime:], w[:])
	return id
}

func invert(p *[PriceSize]byte) {
	for i := range p {
		p[i] = ^p[i]
	}
}

// ParseOrderID reads 44 hexadecimal digits. Errors are ErrOrderID.
func ParseOrderID(s string) (OrderID, error) {
	b, err := hex.DecodeString(s)
	if err != nil {
		return OrderID{}, fmt.Errorf("%w: %.60q", ErrOrderID, s)
	}
	return OrderIDFromBytes(b)
}

// OrderIDFromBytes checks length, side and price. Errors are ErrOrderID.
func OrderIDFromBytes(b []byte) (OrderID, error) {
	if len(b) != OrderIDSize || b[idSide] > 1 {
		return OrderID{}, fmt.Errorf("%w: %.30x", ErrOrderID, b)
	}
	id := OrderID(b)
	if _, err := PriceFromBytes(id.priceBytes()); err != nil {
		return OrderID{}, fmt.Errorf("%w: %w", ErrOrderID, err)
	}
	return id, nil
}

// String is the id in hexadecimal.
func (id OrderID) String() string { return hex.EncodeToString(id[:]) }

// Market is the number of the order's market.
func (id OrderID) Market() uint32 { return uint32(id[0])<<16 | uint32(id[1])<<8 | uint32(id[2]) }

// Side is the order's side.
func (id OrderID) Side() Side { return Side(id[idSide] == 1) }

// Price is the order's price; zero for bytes that OrderIDFromBytes would refuse.
func (id OrderID) Price() Price {
	p := Price{fiveBytes(id[idPrice:]), fiveBytes(id[idPrice+priceHalf:])}
	if id.Side() == Buy {
		p.Units, p.Frac = p.Units^priceMask, p.Frac^priceMask
	}
	if p.Units >= priceOne || p.Frac >= priceOne {
		return Price{}
	}
	return p
}

func fiveBytes(b []byte) uint64 {
	return uint64(b[0])<<32 | uint64(binary.BigEndian.Uint32(b[1:priceHalf]))
}

func (id OrderID) priceBytes() [PriceSize]byte {
	p := [PriceSize]byte(id[idPrice:])
	if id.Side() == Buy {
		invert(&p)
	}
	return p
}

// Time is when the order was placed, in seconds of the exchange's clock.
func (id OrderID) Time() int64 { return int64(id.seq() >> 24) }

// Serial counts orders of one Time from 0.
func (id OrderID) Serial() uint32 { return uint32(id.seq() & MaxSerial) }

// seq is time and serial as one number: which order was first, and in one market which order it is.
func (id *OrderID) seq() uint64 { return binary.BigEndian.Uint64(id[idTime:]) }

// TradeID names a fill.
type TradeID [TradeIDSize]byte

// NewTradeID is BLAKE2b of the two orders' ids. One pair of orders meets at most once.
func NewTradeID(taker, maker OrderID) TradeID {
	h, err := blake2b.New(TradeIDSize, nil)
	if err != nil {
		panic("dex: BLAKE2b of 20 bytes: " + err.Error())
	}
	h.Write(taker[:])
	h.Write(maker[:])
	return TradeID(h.Sum(nil))
}

// String is the id in hexadecimal.
func (id TradeID) String() string { return hex.EncodeToString(id[:]) }
