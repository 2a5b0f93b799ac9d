package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// MaxIncluded bounds the files that a configuration includes.
const MaxIncluded = 16

// maxIncludedSize bounds the size of each.
const maxIncludedSize = 1 << 20

// Includes returns the files that a configuration includes, without reading them.
func Includes(path string) (list []string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, c, err := parseFile(path, text)
	for _, name := range c.Include {
		list = append(list, f.beside(name))
	}
	return list, err
}

// beside returns the path of a file named in f. A relative name starts at f's folder.
func (f file) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(f.path), name)
}

// include reads a file named in f.
func (f file) include(name string, before []file) (part file, err error) {
	path := f.beside(name)
	if len(before) > MaxIncluded {
		return part, fmt.Errorf("at most %d files", MaxIncluded)
	}
	if slices.ContainsFunc(before, func(other file) bool { return sameFile(other.path, path) }) {
		return part, fmt.Errorf("%s is the file itself, or is listed twice", path)
	}
	text, err := readIncluded(path)
	if err != nil {
		return part, err
	}
	part, content, err := parseFile(path, text)
	if err == nil && content.Include != nil {
		err = fmt.Errorf("%s includes files itself: only %s may", path, f.path)
	}
	return part, err
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// readIncluded reads a regular file of bounded size. A missing one is not fs.ErrNotExist, which
// means that there is no configuration at all.
func readIncluded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, errors.New(err.Error())
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxIncludedSize+1))
	if err == nil && len(text) > maxIncludedSize {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxIncludedSize)
	}
	return text, err
}

// listNames has the lists that several files may contribute to, with the key that names an element.
// Elements of one name are one element, whose keys are in different files.
var listNames = map[string]string{"bitcoin": "id", "ethereum": "id", "vite": "id", "networks": "name", "networks.tokens": "token"}

// merger joins the keys of files.
type merger struct {
	origins map[ast.Node]string // file of each key
	anchors map[string]string   // file of each anchor
	file    string              // that is being read
	fault   error
}

// merged returns the keys of all files together. A key that two files define is an error.
func merged(all []file) (file, error) {
	if len(all) == 1 {
		return all[0], nil
	}
	m := &merger{origins: map[ast.Node]string{}, anchors: map[string]string{}}
	tree := file{path: all[0].path, root: ast.Mapping(nil, false)}
	for _, f := range all {
		if f.root == nil {
			continue
		}
		m.file = f.path
		ast.Walk(m, f.root)
		if m.fault != nil {
			return tree, m.fault
		}
		if err := m.join("", "", tree.root, withoutKey(f.root, "include")); err != nil {
			return tree, err
		}
	}
	return tree, nil
}

// Visit notes the file of each key. An anchor of two files would mean another value.
func (m *merger) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.MappingValueNode:
		m.origins[n] = fmt.Sprintf("%s line %d", m.file, n.Key.GetToken().Position.Line)
	case *ast.AnchorNode:
		name := n.Name.GetToken().Value
		if other, known := m.anchors[name]; known && other != m.file {
			m.fault = fmt.Errorf("the anchor &%s is in %s and in %s", name, other, m.file)
		}
		m.anchors[name] = m.file
	}
	return m
}

func withoutKey(root *ast.MappingNode, key string) *ast.MappingNode {
	part := *root
	part.Values = slices.DeleteFunc(slices.Clone(root.Values), func(v *ast.MappingValueNode) bool { return keyOf(v) == key })
	return &part
}

func keyOf(v *ast.MappingValueNode) string { return v.Key.GetToken().Value }

// join adds the keys of a mapping to another one. Kind is the path of the mapping without names.
func (m *merger) join(path, kind string, into, from *ast.MappingNode) error {
	for _, v := range from.Values {
		i := slices.IndexFunc(into.Values, func(other *ast.MappingValueNode) bool { return keyOf(other) == keyOf(v) })
		if i < 0 {
			into.Values = append(into.Values, v)
			continue
		}
		if err := m.joinValues(below(path, keyOf(v)), below(kind, keyOf(v)), into.Values[i], v); err != nil {
			return err
		}
	}
	return nil
}

func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// joinValues adds the value of a key to the value that another file has for it.
func (m *merger) joinValues(path, kind string, into, from *ast.MappingValueNode) error {
	a, isMapping := into.Value.(*ast.MappingNode)
	b, areMappings := from.Value.(*ast.MappingNode)
	if isMapping && areMappings {
		return m.join(path, kind, a, b)
	}
	list, isList := into.Value.(*ast.SequenceNode)
	more, areLists := from.Value.(*ast.SequenceNode)
	if name := listNames[kind]; name != "" && isList && areLists {
		return m.joinLists(path, kind, name, list, more)
	}
	return fmt.Errorf("%s is defined twice: %s and %s", path, m.origins[into], m.origins[from])
}

// joinLists adds the elements of a list to another one.
func (m *merger) joinLists(path, kind, name string, into, from *ast.SequenceNode) error {
	known := slices.Clone(into.Values)
	for _, element := range from.Values {
		id := valueOf(element, name)
		i := slices.IndexFunc(known, func(other ast.Node) bool { return id != "" && valueOf(other, name) == id })
		if i < 0 {
			into.Values = append(into.Values, element)
			continue
		}
		if err := m.join(below(path, id), kind, known[i].(*ast.MappingNode), withoutKey(element.(*ast.MappingNode), name)); err != nil {
			return err
		}
	}
	return nil
}

// valueOf returns the text of a key in a mapping; "" if it has none.
func valueOf(n ast.Node, key string) string {
	mapping, ok := n.(*ast.MappingNode)
	if !ok {
		return ""
	}
	for _, v := range mapping.Values {
		if keyOf(v) == key {
			return v.Value.GetToken().Value
		}
	}
	return ""
}
