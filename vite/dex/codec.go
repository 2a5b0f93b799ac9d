package dex

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"
)

// ErrWire marks bytes that are not the message they should be.
var ErrWire = errors.New("invalid exchange message")

// codec goes through the members of a protobuf message, which are described once, by number, name,
// place and rule, in the order of their numbers. It writes all of them, or reads those that come.
// Numbers are varints, amounts big-endian bytes without leading zeros; zero and empty members are
// left out (docs/exchange-rules.md 3.2).
type codec struct {
	writing bool
	data    []byte // what is written, or what follows the member that has come
	err     error  // the first fault that was read

	// The member that has come.
	field protowire.Number // 0: none
	kind  protowire.Type
	n     uint64
	b     []byte
	taken bool
}

// write is the message of what members describes.
func write(members func(*codec)) []byte {
	c := codec{writing: true}
	members(&c)
	return c.data
}

// read sets what members describes. Errors are ErrWire; members that are not described are skipped,
// as protobuf wants.
func read(data []byte, members func(*codec)) error {
	c := codec{data: data}
	c.read(members)
	return c.err
}

// read goes through the data once as long as the members come in the order of their numbers.
func (c *codec) read(members func(*codec)) {
	for c.next(); c.field != 0; {
		left := len(c.data)
		members(c)
		if c.taken || len(c.data) == left {
			c.next()
		}
	}
}

// next goes to the next member, unless there is none or a fault was found.
func (c *codec) next() {
	c.field, c.taken = 0, false
	if len(c.data) == 0 || c.err != nil {
		return
	}
	field, kind, size := protowire.ConsumeTag(c.data)
	if size < 0 {
		c.err = fmt.Errorf("%w: tag: %w", ErrWire, protowire.ParseError(size))
		return
	}
	c.data = c.data[size:]
	switch kind {
	case protowire.VarintType:
		c.n, size = protowire.ConsumeVarint(c.data)
	case protowire.BytesType:
		c.b, size = protowire.ConsumeBytes(c.data)
	default:
		size = protowire.ConsumeFieldValue(field, kind, c.data)
	}
	if size < 0 {
		c.err = fmt.Errorf("%w: member %d: %w", ErrWire, field, protowire.ParseError(size))
		return
	}
	c.field, c.kind, c.data = field, kind, c.data[size:]
}

// at reports whether the member that has come is the field, and takes it.
func (c *codec) at(field protowire.Number) bool {
	if c.taken {
		c.next()
	}
	c.taken = c.field == field
	return c.taken
}

func (c *codec) fail(name, rule string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s is %s", ErrWire, name, rule)
	}
}

// put writes a member and reads none: a list, which may be empty, or a member that repeats others.
func (c *codec) put(field protowire.Number, b []byte) {
	if c.writing {
		c.data = protowire.AppendBytes(protowire.AppendTag(c.data, field, protowire.BytesType), b)
	}
}

func (c *codec) putNumber(field protowire.Number, n uint64) {
	if c.writing && n != 0 {
		c.data = protowire.AppendVarint(protowire.AppendTag(c.data, field, protowire.VarintType), n)
	}
}

// take reads a byte string.
func (c *codec) take(field protowire.Number, name string) (b []byte, ok bool) {
	if !c.at(field) {
		return nil, false
	}
	if c.kind != protowire.BytesType {
		c.fail(name, "no byte string")
		return nil, false
	}
	return c.b, true
}

// integer is a member of at most most.
func integer[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int64](c *codec, field protowire.Number, name string, n *T, most uint64) {
	switch {
	case c.writing:
		c.putNumber(field, uint64(*n))
	case !c.at(field):
	case c.kind != protowire.VarintType || c.n > most:
		c.fail(name, fmt.Sprintf("no number up to %d", most))
	default:
		*n = T(c.n)
	}
}

func (c *codec) bool(field protowire.Number, name string, b *bool) {
	n := protowire.EncodeBool(*b)
	integer(c, field, name, &n, 1)
	*b = n == 1
}

func (c *codec) amount(field protowire.Number, name string, n *uint256.Int) {
	if c.writing {
		if !n.IsZero() {
			c.put(field, n.Bytes())
		}
	} else if b, ok := c.take(field, name); ok {
		if len(b) > 32 {
			c.fail(name, "above 2^256")
			return
		}
		n.SetBytes(b)
	}
}

// fixed is a member of one size, such as an address.
func (c *codec) fixed(field protowire.Number, name string, b []byte) {
	c.put(field, b)
	if got, ok := c.take(field, name); ok {
		if len(got) != len(b) {
			c.fail(name, fmt.Sprintf("%d bytes long, not %d", len(got), len(b)))
			return
		}
		copy(b, got)
	}
}

func (c *codec) orderID(field protowire.Number, name string, id *OrderID) {
	c.put(field, id[:])
	if b, ok := c.take(field, name); ok {
		var err error
		if *id, err = OrderIDFromBytes(b); err != nil {
			c.fail(name, "no order id")
		}
	}
}

func (c *codec) price(field protowire.Number, name string, p *Price) {
	b := p.Bytes()
	c.fixed(field, name, b[:])
	if c.taken && c.err == nil {
		var err error
		if *p, err = PriceFromBytes(b); err != nil {
			c.fail(name, "no price")
		}
	}
}

func (c *codec) bytes(field protowire.Number, name string, b *[]byte) {
	if len(*b) > 0 {
		c.put(field, *b)
	}
	if got, ok := c.take(field, name); ok {
		*b = bytes.Clone(got)
	}
}

func (c *codec) text(field protowire.Number, name string, s *string) {
	b := []byte(*s)
	c.bytes(field, name, &b)
	*s = string(b)
}

// inner is a member that is a message.
func (c *codec) inner(field protowire.Number, name string, members func(*codec)) {
	if c.writing {
		before := c.data
		c.data = nil
		members(c)
		message := c.data
		c.data = before
		c.put(field, message)
	} else if b, ok := c.take(field, name); ok {
		outer := *c
		c.data = b
		c.read(members)
		outer.err = c.err
		*c = outer
	}
}

// list is a member that is there once for each item.
func list[T any](c *codec, field protowire.Number, name string, items *[]T, members func(*T, *codec)) {
	if c.writing {
		for i := range *items {
			c.inner(field, name, func(c *codec) { members(&(*items)[i], c) })
		}
	}
	for c.at(field) {
		c.taken = false
		*items = append(*items, *new(T))
		c.inner(field, name, func(c *codec) { members(&(*items)[len(*items)-1], c) })
	}
}
