package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"
)

// Arguments are the types of a call's or an event's values, in order.
type Arguments []Type

// Pack encodes one value per type, without a selector. Errors are ErrABI and name the argument.
func (a Arguments) Pack(values ...any) ([]byte, error) {
	if len(values) != len(a) {
		return nil, fmt.Errorf("%w: %d values for %d arguments", ErrABI, len(values), len(a))
	}
	head := make([]byte, 0, len(a)*wordSize)
	var tail []byte
	for i, t := range a {
		if !t.dynamic() {
			w, err := t.encodeWord(values[i])
			if err != nil {
				return nil, fmt.Errorf("argument %d: %w", i, err)
			}
			head = append(head, w[:]...)
			continue
		}
		head = appendLength(head, len(a)*wordSize+len(tail))
		var err error
		if tail, err = t.appendTail(tail, values[i]); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
	}
	return append(head, tail...), nil
}

// appendLength appends an offset, a size or a count as one word.
func appendLength(p []byte, n int) []byte {
	p = append(p, make([]byte, wordSize-8)...)
	return binary.BigEndian.AppendUint64(p, uint64(n))
}

func (t Type) appendTail(p []byte, v any) ([]byte, error) {
	if t.list {
		return t.appendList(p, v)
	}
	var content []byte
	switch c := v.(type) {
	case []byte:
		content = c
		if t.kind != kindBytes {
			return nil, fmt.Errorf("%w: %T is no %s", ErrABI, v, t)
		}
	case string:
		content = []byte(c)
		if t.kind != kindString || !utf8.ValidString(c) {
			return nil, fmt.Errorf("%w: %T is no %s of valid UTF-8", ErrABI, v, t)
		}
	default:
		return nil, fmt.Errorf("%w: %T is no %s", ErrABI, v, t)
	}
	p = appendLength(p, len(content))
	p = append(p, content...)
	return append(p, make([]byte, padding(len(content)))...), nil
}

func padding(n int) int { return (wordSize - n%wordSize) % wordSize }

func (t Type) appendList(p []byte, v any) ([]byte, error) {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return nil, fmt.Errorf("%w: %T is no %s", ErrABI, v, t)
	}
	p = appendLength(p, list.Len())
	for i := range list.Len() {
		w, err := t.element().encodeWord(list.Index(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		p = append(p, w[:]...)
	}
	return p, nil
}

// Unpack decodes data into one value per type, of the Go types that Type lists. It is as strict as
// the node: data must be exactly what Pack makes of the values, so no trailing byte, odd offset or
// dirty padding passes. Errors are ErrABI and name the argument, ErrNotCanonical where all of them
// can be read.
func (a Arguments) Unpack(data []byte) ([]any, error) {
	if len(data)%wordSize != 0 || len(data) < len(a)*wordSize {
		return nil, fmt.Errorf("%w: %d bytes for %d arguments", ErrABI, len(data), len(a))
	}
	values := make([]any, len(a))
	for i, t := range a {
		word := data[i*wordSize : (i+1)*wordSize]
		var err error
		if t.dynamic() {
			values[i], err = t.decodeTail(data, word)
		} else {
			values[i], err = t.decodeWord(word)
		}
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", i, err)
		}
	}
	again, err := a.Pack(values...)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, data) {
		return nil, ErrNotCanonical
	}
	return values, nil
}

func (t Type) decodeTail(data, offset []byte) (any, error) {
	at, ok := decodeLength(offset, len(data)-wordSize)
	if !ok {
		return nil, fmt.Errorf("%w: offset of %s is past the end", ErrABI, t)
	}
	rest := data[at+wordSize:]
	unit := 1
	if t.list {
		unit = wordSize
	}
	n, ok := decodeLength(data[at:at+wordSize], len(rest)/unit)
	if !ok {
		return nil, fmt.Errorf("%w: length of %s is past the end", ErrABI, t)
	}
	content := rest[:n*unit]
	switch {
	case t.list:
		return t.decodeList(content)
	case t.kind == kindBytes:
		return append([]byte{}, content...), nil
	}
	return string(content), nil
}

// decodeLength reads a word as a number of at most max.
func decodeLength(w []byte, max int) (int, bool) {
	n := binary.BigEndian.Uint64(w[wordSize-8:])
	if !allZero(w[:wordSize-8]) || n > math.MaxInt || max < 0 || int(n) > max {
		return 0, false
	}
	return int(n), true
}

func (t Type) decodeList(content []byte) (any, error) {
	element := t.element()
	count := len(content) / wordSize
	list := reflect.MakeSlice(reflect.SliceOf(element.goType()), count, count)
	for i := range count {
		v, err := element.decodeWord(content[i*wordSize : (i+1)*wordSize])
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		list.Index(i).Set(reflect.ValueOf(v))
	}
	return list.Interface(), nil
}

// Scan decodes data as Unpack does and stores the values in dst, one pointer per argument to a
// variable of the argument's Go type. A pointer of another type is ErrABI.
func (a Arguments) Scan(data []byte, dst ...any) error {
	if len(dst) != len(a) {
		return fmt.Errorf("%w: %d variables for %d arguments", ErrABI, len(dst), len(a))
	}
	values, err := a.Unpack(data)
	if err != nil {
		return err
	}
	for i, v := range values {
		to := reflect.ValueOf(dst[i])
		if to.Kind() != reflect.Pointer || to.IsNil() || to.Elem().Type() != reflect.TypeOf(v) {
			return fmt.Errorf("%w: argument %d is %T, not for %T", ErrABI, i, v, dst[i])
		}
		to.Elem().Set(reflect.ValueOf(v))
	}
	return nil
}
