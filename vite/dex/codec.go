package dex

import (
	"bytes"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"
)

// codec goes through the members of a message, which are described once: by number, name, place and rule. It writes all of them, or reads the one that
// has come.
type codec struct {
	out *message // nil while reading

	field protowire.Number
	value
}

// write is the message of what members describes.
func write(members func(*codec)) message {
	var m message
	members(&codec{out: &m})
	return m
}

// read sets what members describes. Errors are ErrWire; members that are not described are skipped.
func read(data []byte, members func(*codec)) error {
	return each(data, func(field protowire.Number, v value) { members(&codec{field: field, value: v}) })
}

// at tells whether the member that has come is the field; faults of it then go by the name.
func (c *codec) at(field protowire.Number, name string) bool {
	c.name = name
	return c.out == nil && c.field == field
}

// integer is a member of at most most.
func integer[T ~uint8 | ~uint16 | ~uint32 | ~int64](c *codec, field protowire.Number, name string, n *T, most uint64) {
	if c.at(field, name) {
		*n = T(c.uint(most))
	} else if c.out != nil {
		c.out.uint(field, uint64(*n))
	}
}

func (c *codec) bool(field protowire.Number, name string, b *bool) {
	if c.at(field, name) {
		*b = c.value.bool()
	} else if c.out != nil {
		c.out.bool(field, *b)
	}
}

func (c *codec) amount(field protowire.Number, name string, n *uint256.Int) {
	if c.at(field, name) {
		*n = c.value.amount()
	} else if c.out != nil {
		c.out.amount(field, n)
	}
}

// fixed is a member of one size, such as an address.
func (c *codec) fixed(field protowire.Number, name string, b []byte) {
	if c.at(field, name) {
		c.value.fixed(b)
	} else if c.out != nil {
		c.out.bytes(field, b)
	}
}

func (c *codec) bytes(field protowire.Number, name string, b *[]byte) {
	if c.at(field, name) {
		*b = bytes.Clone(c.value.bytes())
	} else if c.out != nil {
		c.out.bytes(field, *b)
	}
}

func (c *codec) text(field protowire.Number, name string, s *string) {
	if c.at(field, name) {
		*s = c.value.text()
	} else if c.out != nil {
		c.out.bytes(field, []byte(*s))
	}
}
