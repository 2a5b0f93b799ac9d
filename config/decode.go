package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"gatewayd/chain"
)

// decode reads a file strictly. What does not fit is an error with its place.
func decode(path string, text []byte) (c Config, err error) {
	var removed []string
	if file, fault := parser.ParseBytes(text, 0); fault == nil {
		removed = dropRemoved(file)
		if removed != nil {
			err = yaml.NodeToValue(file.Docs[0].Body, &c, yaml.Strict())
		}
	}
	if removed == nil {
		err = yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(&c)
	}
	c.Removed = removed
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return c, nil
	case errors.Is(err, chain.ErrAmount):
		return Config{}, fmt.Errorf("configuration %s: %w", path, amountFault(text, err))
	}
	return Config{}, fmt.Errorf("configuration %s:\n%s", path, inYAMLTerms(err))
}

// inYAMLTerms converts the decoder's error from Go's types to the file's terms.
func inYAMLTerms(err error) string {
	var mismatch *yaml.TypeError
	var overflow *yaml.OverflowError
	switch {
	case errors.As(err, &mismatch):
		return yaml.FormatErrorWithToken(wanted(mismatch.DstType), mismatch.Token, false, true)
	case errors.As(err, &overflow):
		return yaml.FormatErrorWithToken("a number out of range", overflow.Token, false, true)
	}
	return yaml.FormatError(err, false, true)
}

// wanted describes the values of a key of a type.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "must be a time with its unit, such as 30s"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "must be true or false"
	case reflect.String:
		return "must be a text"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "must be an integer"
	case reflect.Float32, reflect.Float64:
		return "must be a number"
	case reflect.Slice:
		return "must be a list"
	}
	return "the value has the wrong type: see config.example.yaml"
}

// amountFault names the first value that is no amount: the decoder does not report its position.
func amountFault(text []byte, err error) error {
	file, parseErr := parser.ParseBytes(text, 0)
	if parseErr != nil {
		return err
	}
	find := &amountFinder{keys: map[string]bool{}}
	amountKeys(reflect.TypeFor[Config](), find.keys)
	for _, doc := range file.Docs {
		ast.Walk(find, doc.Body)
	}
	if find.found == "" {
		return err
	}
	return fmt.Errorf("%s: %w", find.found, err)
}

// amountFinder finds the first invalid value of a key for amounts.
type amountFinder struct {
	keys  map[string]bool
	found string
}

func (f *amountFinder) Visit(n ast.Node) ast.Visitor {
	v, ok := n.(*ast.MappingValueNode)
	if !ok || f.found != "" || !f.keys[v.Key.GetToken().Value] {
		return f
	}
	if _, scalar := v.Value.(ast.ScalarNode); scalar {
		value := v.Value.GetToken().Value
		if _, err := chain.ParseAmount(value); err != nil {
			f.found = fmt.Sprintf("line %d: %s %q", v.Value.GetToken().Position.Line, v.Key.GetToken().Value, value)
		}
	}
	return f
}

// amountKeys collects the keys whose values are amounts.
func amountKeys(t reflect.Type, keys map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		amountKeys(t.Elem(), keys)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case !f.IsExported() || key == "-":
			case f.Type == reflect.TypeFor[chain.Amount](), f.Type == reflect.TypeFor[*chain.Amount]():
				keys[key] = true
			default:
				amountKeys(f.Type, keys)
			}
		}
	}
}
