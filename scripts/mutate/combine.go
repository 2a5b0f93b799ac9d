package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Building a test program takes longer than running it. So the mutants of a package that change one
// function each are built into one program: it has every such function as it is and as each mutant
// has it, and calls what the environment names.

// switchName is the variable, in the environment, that holds the chosen mutant's name.
const switchName = "GATEWAYD_MUTANT"

// function is a function's declaration in a text.
type function struct {
	decl *ast.FuncDecl
	text string // the complete file
	base int    // position of its first byte
}

func (f function) of(n ast.Node) string { return f.text[int(n.Pos())-f.base : int(n.End())-f.base] }

func (f function) key() string {
	if f.decl.Recv == nil {
		return f.decl.Name.Name
	}
	return f.of(f.decl.Recv.List[0].Type) + "." + f.decl.Name.Name
}

// functions returns the functions of a file, and the file's text without them.
func functions(text string) (list []function, rest string, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, "", err
	}
	base := fset.File(file.Pos()).Base()
	var b strings.Builder
	from := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		list = append(list, function{f, text, base})
		b.WriteString(text[from : int(f.Pos())-base])
		from = int(f.End()) - base
	}
	return list, b.String() + text[from:], nil
}

// changedIn is the one function that a mutant changes; false when it changes something else, or a
// generic function.
func changedIn(text, changed string) (was, is function, ok bool) {
	before, restBefore, err := functions(text)
	if err != nil {
		return was, is, false
	}
	after, restAfter, err := functions(changed)
	if err != nil || restBefore != restAfter || len(before) != len(after) {
		return was, is, false
	}
	for i := range before {
		if before[i].of(before[i].decl) == after[i].of(after[i].decl) {
			continue
		}
		if ok || before[i].decl.Type.TypeParams != nil || before[i].signature("") != after[i].signature("") {
			return was, is, false
		}
		was, is, ok = before[i], after[i], true
	}
	return was, is, ok
}

// signature is the function's head with another name and names of our own for what it is given.
func (f function) signature(suffix string) string {
	var b strings.Builder
	b.WriteString("func ")
	if f.decl.Recv != nil {
		fmt.Fprintf(&b, "(of %s) ", f.of(f.decl.Recv.List[0].Type))
	}
	b.WriteString(f.decl.Name.Name + suffix + "(")
	for i, t := range f.types(f.decl.Type.Params) {
		fmt.Fprintf(&b, "p%d %s, ", i, t)
	}
	b.WriteString(") (" + strings.Join(f.types(f.decl.Type.Results), ", ") + ")")
	return b.String()
}

// types are those of a list of fields, one for each name.
func (f function) types(list *ast.FieldList) (out []string) {
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		for range max(1, len(field.Names)) {
			out = append(out, f.of(field.Type))
		}
	}
	return out
}

// call is a call of the function under another name, as a statement.
func (f function) call(suffix string) string {
	args := f.types(f.decl.Type.Params)
	for i, t := range args {
		args[i] = fmt.Sprintf("p%d", i)
		if strings.HasPrefix(t, "...") {
			args[i] += "..."
		}
	}
	name := f.decl.Name.Name + suffix
	if f.decl.Recv != nil {
		name = "of." + name
	}
	call := name + "(" + strings.Join(args, ", ") + ")"
	if f.decl.Type.Results == nil {
		return call + "\nreturn"
	}
	return "return " + call
}

// named is the function's text under another name.
func (f function) named(suffix string) string {
	at := int(f.decl.Name.End()) - int(f.decl.Pos())
	text := f.of(f.decl)
	return text[:at] + suffix + text[at:]
}

// combined is a file with its functions and those of its mutants. It answers which mutants are in
// it.
func combined(text string, mutants []mutant) (out string, in []string, err error) {
	variants, originals := map[string][]string{}, map[string]function{}
	var tail bytes.Buffer
	for i, m := range mutants {
		changed, err := m.apply(text)
		if err != nil {
			return "", nil, err
		}
		was, is, ok := changedIn(text, changed)
		if !ok {
			continue
		}
		suffix := fmt.Sprintf("Mutant%d", i)
		fmt.Fprintf(&tail, "\n%s\n", is.named(suffix))
		variants[was.key()] = append(variants[was.key()], fmt.Sprintf("case %q:\n%s\n", m.name, was.call(suffix)))
		originals[was.key()] = was
		in = append(in, m.name)
	}
	for key, was := range originals {
		fmt.Fprintf(&tail, "\n%s {\nswitch mutantName {\n%s}\n%s\n}\n", was.signature(""), strings.Join(variants[key], ""), was.call("Original"))
	}
	// The last first, so that positions stay right.
	list := make([]function, 0, len(originals))
	for _, f := range originals {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b function) int { return int(b.decl.Pos() - a.decl.Pos()) })
	for _, f := range list {
		at := int(f.decl.Name.End()) - f.base
		text = text[:at] + "Original" + text[at:]
	}
	source, err := format.Source([]byte(text + tail.String()))
	return string(source), in, err
}

// combine builds the program of a package with all mutants that the package's own tests should
// find, as far as they change one function each. Mutants that are not among the names get separate
// programs.
func (w *builder) combine(pkg string, mutants []mutant) (names []string, err error) {
	files := map[string][]mutant{}
	for _, m := range mutants {
		if filepath.Ext(m.file) == ".go" && m.suite.pkg == pkg && filepath.Dir(m.file) == filepath.Clean(pkg) {
			files[m.file] = append(files[m.file], m)
		}
	}
	changed, name := map[string]string{}, ""
	for file, list := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		source, in, err := combined(string(text), list)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		names = append(names, in...)
		changed[file] = source
		name = packageOf(source)
	}
	if len(names) == 0 {
		return nil, nil
	}
	changed[filepath.Join(pkg, "mutant_name.go")] = "package " + name + "\n\nimport \"os\"\n\nvar mutantName = os.Getenv(\"" + switchName + "\")\n"
	overlay, err := w.overlay("all of "+pkg, changed)
	if err != nil {
		return nil, err
	}
	if p := w.get(pkg, pkg, overlay); p.err != nil {
		return nil, fmt.Errorf("building the mutants of %s: %w\n%s", pkg, p.err, tail(p.said))
	}
	return names, nil
}

// packageOf is the name in a file's package clause.
func packageOf(source string) string {
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return f.Name.Name
}
