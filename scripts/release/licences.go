package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// module is one that a binary links, with its licence.
type module struct {
	Path, Version, Sum string
	Licence            string // SPDX
	Texts              []licenceText
}

type licenceText struct{ name, text string }

// linked returns the modules of a binary, from its build information, with the licences in the
// module cache.
func linked(binary string) (*debug.BuildInfo, []module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", binary, err)
	}
	var modules []module
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		modules = append(modules, module{Path: d.Path, Version: d.Version, Sum: d.Sum})
	}
	dirs, err := moduleDirs(modules)
	if err != nil {
		return nil, nil, err
	}
	for i := range modules {
		m := &modules[i]
		dir := dirs[m.Path]
		if m.Texts, err = licenceTexts(dir); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", m.Path, err)
		}
		if m.Licence = classify(m.Texts); m.Licence == "" {
			return nil, nil, fmt.Errorf("%s: its licence is unknown here: look at %s, and add what tells it to licenceMarks", m.Path, dir)
		}
	}
	return info, modules, nil
}

// moduleDirs returns the folders of the modules' sources, by path; missing ones are fetched.
func moduleDirs(modules []module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.Path+"@"+m.Version)
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	dirs := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var answer struct{ Path, Dir string }
		if err := d.Decode(&answer); err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		dirs[answer.Path] = answer.Dir
	}
	return dirs, nil
}

var licenceFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|notice|copyright)([-._].*)?$`)

// licenceTexts returns the licence files of a module's root, or else the comments above its Go
// code.
func licenceTexts(dir string) ([]licenceText, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []licenceText
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, licenceText{e.Name(), string(text)})
	}
	if len(texts) == 0 {
		return sourceHeader(dir)
	}
	return texts, nil
}

// sourceHeader is the comment at the top of a module's first Go file.
func sourceHeader(dir string) ([]licenceText, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no licence file in %s", dir))
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return nil, err
	}
	header, _, _ := strings.Cut(string(text), "\npackage ")
	return []licenceText{{filepath.Base(files[0]), header}}, nil
}

// licenceMarks are phrases that only one licence has. The first that is found counts, so those that
// contain others come first.
var licenceMarks = []struct{ phrase, spdx string }{
	{"GNU LESSER GENERAL PUBLIC LICENSE Version 3", "LGPL-3.0-or-later"},
	{"Mozilla Public License Version 2.0", "MPL-2.0"},
	{"Mozilla Public License, version 2.0", "MPL-2.0"},
	{"Apache License Version 2.0", "Apache-2.0"},
	{"Apache License, Version 2.0", "Apache-2.0"},
	{"Permission is hereby granted, free of charge", "MIT"},
	{"Permission to use, copy, modify, and/or distribute this software", "ISC"},
	{"Permission to use, copy, modify, and distribute this software", "ISC"},
	{"Neither the name", "BSD-3-Clause"},
	{"may be used to endorse or promote products derived", "BSD-3-Clause"},
	{"Redistributions in binary form must reproduce", "BSD-2-Clause"},
	{"// MIT license", "MIT"},
	{"This is free and unencumbered software released into the public domain", "Unlicense"},
	{"CC0 1.0 Universal", "CC0-1.0"},
}

// classify recognises a licence by its phrases, whatever the line breaks; empty if none is known.
func classify(texts []licenceText) string {
	var all strings.Builder
	for _, t := range texts {
		all.WriteString(" " + t.text)
	}
	text := strings.Join(strings.Fields(all.String()), " ")
	for _, m := range licenceMarks {
		if strings.Contains(text, m.phrase) {
			return m.spdx
		}
	}
	return ""
}

func licencesCommand(args []string, w io.Writer) error {
	if len(args) != 1 {
		return errors.New("usage: release licences BINARY")
	}
	info, modules, err := linked(args[0])
	if err != nil {
		return err
	}
	golang, err := goLicence(info.GoVersion)
	if err != nil {
		return err
	}
	modules = append(slices.Clone(modules), golang)
	fmt.Fprintf(w, "The modules that gatewayd links, with their licences. gatewayd's own is in LICENSE, what NOTICE names in NOTICE.\n\n")
	for _, m := range modules {
		fmt.Fprintf(w, "%-20s %s %s\n", m.Licence, m.Path, m.Version)
	}
	return printTexts(w, modules)
}

// printTexts prints each text once, under all the modules that have it.
func printTexts(w io.Writer, modules []module) error {
	var order []string
	owners := map[string][]string{}
	for _, m := range modules {
		for _, t := range m.Texts {
			if owners[t.text] == nil {
				order = append(order, t.text)
			}
			owners[t.text] = append(owners[t.text], m.Path+" ("+t.name+")")
		}
	}
	var out bytes.Buffer
	for _, text := range order {
		fmt.Fprintf(&out, "\n%s\n%s\n%s\n\n%s\n", strings.Repeat("=", 78), strings.Join(owners[text], "\n"), strings.Repeat("-", 78), strings.TrimSpace(text))
	}
	_, err := w.Write(out.Bytes())
	return err
}

// goLicence is that of Go's own library and runtime.
func goLicence(version string) (module, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return module{}, fmt.Errorf("go env GOROOT: %w", err)
	}
	texts, err := licenceTexts(strings.TrimSpace(string(root)))
	if err != nil {
		return module{}, err
	}
	return module{Path: "std (Go's library and runtime)", Version: version, Licence: classify(texts), Texts: texts}, nil
}
