package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"gatewayd/chain"
)

// decode reads a file and those that it includes, each of them strictly. What does not fit is an
// error with its place.
func decode(path string, text []byte) (Config, error) {
	main, c, err := parseFile(path, text)
	if err != nil {
		return Config{}, err
	}
	all := []file{main}
	for _, name := range c.Include {
		part, err := main.include(name, all)
		if err != nil {
			return Config{}, fmt.Errorf("configuration %s: include: %w", path, err)
		}
		all = append(all, part)
	}
	tree, err := merged(all)
	if err == nil {
		err = addTokenDefaults(tree)
	}
	if err != nil {
		return Config{}, fmt.Errorf("configuration %s: %w", path, err)
	}
	c = Config{}
	if err := tree.decode(&c); err != nil {
		return Config{}, fmt.Errorf("configuration %s:\n%s", path, inYAMLTerms(err))
	}
	c.Include = nil
	for _, f := range all {
		c.Removed = append(c.Removed, f.removed...)
	}
	for _, f := range all[1:] {
		c.Included = append(c.Included, f.path)
	}
	for i := range c.Networks {
		c.Networks[i].TokenDefaults = nil
	}
	return c, nil
}

// file is a file of a configuration.
type file struct {
	path    string
	root    *ast.MappingNode // nil for an empty file
	removed []string         // keys that this version no longer has
}

// parseFile reads one file strictly, without those that it includes.
func parseFile(path string, text []byte) (f file, c Config, err error) {
	f.path = path
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return f, c, fmt.Errorf("configuration %s:\n%s", path, inYAMLTerms(err))
	}
	f.removed = dropRemoved(parsed)
	if len(parsed.Docs) > 0 {
		switch body := parsed.Docs[0].Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		case *ast.MappingNode:
			f.root = body
		default:
			return f, c, fmt.Errorf("configuration %s: must consist of keys and values: see config.example.yaml", path)
		}
	}
	err = f.decode(&c)
	switch {
	case errors.Is(err, chain.ErrAmount):
		err = fmt.Errorf("configuration %s: %w", path, amountFault(f.root, err))
	case err != nil:
		err = fmt.Errorf("configuration %s:\n%s", path, inYAMLTerms(err))
	}
	return f, c, err
}

// decode fills a configuration from the file's keys.
func (f file) decode(c *Config) error {
	if f.root == nil {
		return nil
	}
	return yaml.NodeToValue(f.root, c, yaml.Strict())
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
func amountFault(root ast.Node, err error) error {
	find := &amountFinder{keys: map[string]bool{}}
	amountKeys(reflect.TypeFor[Config](), find.keys)
	ast.Walk(find, root)
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
