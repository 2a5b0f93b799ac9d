package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// The parts of CycloneDX 1.6 that are used (https://cyclonedx.org/docs/1.6/json/).
type bom struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Licence struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

func sbomCommand(args []string, w io.Writer) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	version := flags.String("version", "", "of gatewayd")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *version == "" {
		return errors.New("usage: release sbom --version V BINARY")
	}
	info, modules, err := linked(flags.Arg(0))
	if err != nil {
		return err
	}
	program, err := os.ReadFile(flags.Arg(0))
	if err != nil {
		return err
	}
	b := describe(*version, info, modules, sha256.Sum256(program))
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

// describe is the bill of materials of a binary.
func describe(version string, info *debug.BuildInfo, modules []module, sum [32]byte) bom {
	self := component{Type: "application", Name: info.Main.Path, Version: version, PURL: "pkg:golang/" + info.Main.Path + "@" + version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: licenceOf("Apache-2.0")}
	self.Ref = self.PURL
	for _, s := range info.Settings {
		if strings.HasPrefix(s.Key, "GO") || strings.HasPrefix(s.Key, "CGO_ENABLED") || s.Key == "-tags" {
			self.Properties = append(self.Properties, property{"gatewayd:build:" + s.Key, s.Value})
		}
	}
	parts := []component{{Type: "library", Ref: "pkg:golang/std@" + info.GoVersion, Name: "std", Version: info.GoVersion,
		PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"), Licences: licenceOf("BSD-3-Clause")}}
	for _, m := range modules {
		purl := fmt.Sprintf("pkg:golang/%s@%s", m.Path, m.Version)
		parts = append(parts, component{Type: "library", Ref: purl, Name: m.Path, Version: m.Version, PURL: purl, Licences: licenceOf(m.Licence),
			Properties: []property{{"gatewayd:go:sum", m.Sum}}})
	}
	links := dependency{Ref: self.Ref}
	for _, p := range parts {
		links.DependsOn = append(links.DependsOn, p.Ref)
	}
	return bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{self}, Components: parts, Dependencies: []dependency{links}}
}

func licenceOf(id string) []licence {
	var l licence
	l.Licence.ID = id
	return []licence{l}
}
