package index

import (
	"bytes"
	"errors"
)

// A node's answer names most members twice, in two generations of names, and shows the sends of a contract's block twice in full. To read all of it, as
// package client does, costs more than everything else that the index does with it; so what is wanted of an answer is picked out here. encoding/json has
// checked the text before it comes here.

// errJSON marks a text that is no JSON.
var errJSON = errors.New("not JSON")

// members hands each member of an object over, in order. Names are taken as they are written.
func members(object []byte, f func(name, value []byte) error) error {
	return each(object, '{', func(text []byte, i int) (int, error) {
		end, err := valueEnd(text, i)
		if err != nil || text[i] != '"' {
			return 0, errors.Join(err, errJSON)
		}
		name := text[i+1 : end-1]
		if i = blank(text, end); i == len(text) || text[i] != ':' {
			return 0, errJSON
		}
		i = blank(text, i+1)
		if end, err = valueEnd(text, i); err != nil {
			return 0, err
		}
		return end, f(name, text[i:end])
	})
}

// elements hands each element of an array over, in order.
func elements(array []byte, f func(value []byte) error) error {
	return each(array, '[', func(text []byte, i int) (int, error) {
		end, err := valueEnd(text, i)
		if err != nil {
			return 0, err
		}
		return end, f(text[i:end])
	})
}

// each calls one for each thing between brackets; it answers where the thing ends.
func each(text []byte, open byte, one func(text []byte, i int) (int, error)) (err error) {
	i := blank(text, 0)
	if i == len(text) || text[i] != open {
		return errJSON
	}
	closing := open + 2 // of both kinds, in ASCII
	for i = blank(text, i+1); i < len(text) && text[i] != closing; i = blank(text, i) {
		if i, err = one(text, i); err != nil {
			return err
		}
		if i = blank(text, i); i < len(text) && text[i] == ',' {
			i++
		}
	}
	if i == len(text) {
		return errJSON
	}
	return nil
}

// blank is the place of the next thing that is no white space.
func blank(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// valueEnd is the place after the value that begins at i.
func valueEnd(text []byte, i int) (int, error) {
	for depth := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			end, err := stringEnd(text, i)
			if err != nil || depth == 0 {
				return end, err
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, nil
			}
		default:
			if depth == 0 {
				return scalarEnd(text, i)
			}
		}
		if depth < 0 {
			break
		}
	}
	return 0, errJSON
}

// stringEnd is the place after the string that begins at i.
func stringEnd(text []byte, i int) (int, error) {
	for i++; i < len(text); i++ {
		n := bytes.IndexAny(text[i:], `"\`)
		if n < 0 {
			break
		}
		if i += n; text[i] == '"' {
			return i + 1, nil
		}
		i++ // what is escaped
	}
	return 0, errJSON
}

// scalarEnd is the place after the number or word that begins at i.
func scalarEnd(text []byte, i int) (int, error) {
	n := bytes.IndexAny(text[i:], ",]} \n\t\r:")
	switch {
	case n == 0:
		return 0, errJSON
	case n < 0:
		return len(text), nil
	}
	return i + n, nil
}

// plain is a string's content, or a number's text; nothing for null. What the index reads has no escapes.
func plain(value []byte) []byte {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	if isNull(value) {
		return nil
	}
	return value
}

func isNull(value []byte) bool { return string(value) == "null" }
