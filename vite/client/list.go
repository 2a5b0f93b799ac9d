package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// errShort marks an element that is too short for its type.
var errShort = errors.New("an element is too short")

// callList runs a method whose result is a list; null is an empty one.
func callList[T any](ctx context.Context, c *Client, method string, params ...any) ([]T, error) {
	raw, err := callResult[json.RawMessage](ctx, c, method, params...)
	if err != nil {
		return nil, err
	}
	list, err := readList(raw, func(e *T, raw []byte) error { return json.Unmarshal(raw, e) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return list, nil
}

// readList reads a list element by element and ends at the first fault. An element has at least an
// eighth of the bytes that it takes in memory: a list of empty ones would take hundreds of times
// its size.
func readList[T any](raw json.RawMessage, read func(e *T, raw []byte) error) (list []T, err error) {
	if isNull(raw) {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.Join(errors.New("no list"), err)
	}
	least := int(reflect.TypeFor[T]().Size() / 8)
	for d.More() {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return nil, err
		}
		if len(element) < least {
			return nil, fmt.Errorf("element %d: %w: %d bytes", len(list), errShort, len(element))
		}
		list = append(list, *new(T))
		if err := read(&list[len(list)-1], element); err != nil {
			return nil, fmt.Errorf("element %d: %w", len(list)-1, err)
		}
	}
	return list, nil
}
