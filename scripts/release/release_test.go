package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/stretchr/testify/require"
)

// root is a root file system as scripts/image-root.sh lays it out, with a text for the program.
func root(t *testing.T) string {
	dir := t.TempDir()
	for _, d := range []string{"tmp", "home", "usr/local/bin"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "usr/local/bin/gatewayd"), []byte("program"), 0o700))
	return dir
}

func makeImage(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, imageCommand([]string{"--version", "v1.2.3", "--commit", "abc", "--created", "1700000000", path, "linux/amd64=" + root(t), "linux/arm64=" + root(t)}))
	return path
}

// unpack gives the folder of an OCI layout that is in a tar.
func unpack(t *testing.T, path string) string {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	dir := t.TempDir()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return dir
		}
		require.NoError(t, err)
		at := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(at, text, 0o600))
	}
}

func TestImage(t *testing.T) {
	index, err := layout.ImageIndexFromPath(unpack(t, makeImage(t)))
	require.NoError(t, err)
	outer, err := index.IndexManifest()
	require.NoError(t, err)
	require.Equal(t, "v1.2.3", outer.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	both, err := index.ImageIndex(outer.Manifests[0].Digest)
	require.NoError(t, err)
	list, err := both.IndexManifest()
	require.NoError(t, err)
	require.Len(t, list.Manifests, 2)
	for i, arch := range []string{"amd64", "arm64"} {
		require.Equal(t, v1.Platform{OS: "linux", Architecture: arch}, *list.Manifests[i].Platform)
		one, err := both.Image(list.Manifests[i].Digest)
		require.NoError(t, err)
		file, err := one.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, arch, file.Architecture)
		require.Equal(t, "65532:65532", file.Config.User)
		files := contents(t, one)
		require.EqualValues(t, 0o755, files["usr/local/bin/gatewayd"].Mode)
		require.Zero(t, files["usr/local/bin/gatewayd"].Uid)
		require.EqualValues(t, 0o1777, files["tmp/"].Mode)
		require.Equal(t, owner, files["data/"].Uid)
		require.Equal(t, owner, files["home/nonroot/"].Gid)
		require.Equal(t, signer, files["var/lib/gatewayd-signer/"].Uid)
		require.EqualValues(t, 0o700, files["var/lib/gatewayd-signer/"].Mode)
		require.Equal(t, signer, files["run/gatewayd-signer/"].Gid)
		require.EqualValues(t, 0o750, files["run/gatewayd-signer/"].Mode)
	}
}

func contents(t *testing.T, i v1.Image) map[string]*tar.Header {
	files := map[string]*tar.Header{}
	all := mutate.Extract(i)
	defer all.Close()
	for r := tar.NewReader(all); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		require.NoError(t, err)
		name := h.Name
		if h.Typeflag == tar.TypeDir {
			name = strings.TrimSuffix(name, "/") + "/"
		}
		files[name] = h
	}
}

func TestImageIsReproducible(t *testing.T) {
	one, err := os.ReadFile(makeImage(t))
	require.NoError(t, err)
	other, err := os.ReadFile(makeImage(t))
	require.NoError(t, err)
	require.True(t, bytes.Equal(one, other))
}

// Whoever builds with Docker gets the same image.
func TestDockerfileHasTheSameConfiguration(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	said := map[string]string{}
	_, final, _ := strings.Cut(string(text), "FROM scratch\n")
	for _, f := range writable {
		require.Regexp(t, fmt.Sprintf("(?m)^COPY --from=build --chown=%d:%[1]d \\S+ /%s$", f.user, strings.TrimSuffix(f.name, "/")), final)
		require.Contains(t, string(text), fmt.Sprintf("mkdir -m %o ", f.mode))
	}
	for line := range strings.Lines(final) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[key] = value
	}
	quoted := func(list []string) string {
		text, err := json.Marshal(list)
		require.NoError(t, err)
		return strings.ReplaceAll(string(text), ",", ", ")
	}
	c := image{}.config()
	require.Equal(t, c.User, said["USER"])
	require.Equal(t, c.WorkingDir, said["WORKDIR"])
	require.Contains(t, c.Volumes, said["VOLUME"])
	require.Equal(t, c.Env, []string{said["ENV"]})
	require.Equal(t, c.StopSignal, said["STOPSIGNAL"])
	require.Equal(t, quoted(c.Entrypoint), said["ENTRYPOINT"])
	require.Equal(t, quoted(c.Cmd), said["CMD"])
	h := c.Healthcheck
	require.Equal(t, "--interval="+h.Interval.String()+" --timeout="+h.Timeout.String()+" --start-period="+h.StartPeriod.String()+" --retries=3 CMD "+quoted(h.Test[1:]), said["HEALTHCHECK"])
}

// The modules that this test's own binary links all have a licence that is known.
func TestLinked(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	info, modules, err := linked(self)
	require.NoError(t, err)
	licences := map[string]string{}
	for _, m := range modules {
		licences[m.Path] = m.Licence
	}
	require.Equal(t, "Apache-2.0", licences["github.com/google/go-containerregistry"])
	var out bytes.Buffer
	require.NoError(t, licencesCommand([]string{self}, &out))
	require.Contains(t, out.String(), "Apache License")
	require.Contains(t, out.String(), "std (Go's library and runtime) "+info.GoVersion)
}

func TestClassify(t *testing.T) {
	for want, text := range map[string]string{
		"LGPL-3.0-or-later": "GNU LESSER GENERAL PUBLIC LICENSE\n    Version 3, 29 June 2007",
		"MIT":               "Permission is hereby granted, free of\ncharge, to any person",
		"BSD-2-Clause":      "Redistributions in binary form must reproduce the above",
		"BSD-3-Clause":      "Redistributions in binary form must reproduce the above. Neither the name of",
		"":                  "All rights reserved",
	} {
		require.Equal(t, want, classify([]licenceText{{"LICENSE", text}}))
	}
}

func TestDescribe(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "gatewayd"}, Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}}}
	b := describe("v1.2.3", info, []module{{Path: "example.org/x", Version: "v2.0.0", Sum: "h1:abc", Licence: "MIT"}}, [32]byte{1})
	require.Equal(t, "pkg:golang/gatewayd@v1.2.3", b.Metadata.Component.PURL)
	require.Equal(t, []property{{"gatewayd:build:GOARCH", "arm64"}}, b.Metadata.Component.Properties)
	require.Equal(t, "pkg:golang/std@1.26.8", b.Components[0].PURL)
	require.Equal(t, "pkg:golang/example.org/x@v2.0.0", b.Components[1].PURL)
	require.Equal(t, "MIT", b.Components[1].Licences[0].Licence.ID)
	require.Equal(t, []string{b.Components[0].Ref, b.Components[1].Ref}, b.Dependencies[0].DependsOn)
}

func TestUnpack(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, unpackCommand([]string{makeImage(t), "linux/arm64", dir}))
	text, err := os.ReadFile(filepath.Join(dir, "usr/local/bin/gatewayd"))
	require.NoError(t, err)
	require.Equal(t, "program", string(text))
	require.DirExists(t, filepath.Join(dir, "data"))
	require.ErrorContains(t, unpackCommand([]string{makeImage(t), "linux/riscv64", dir}), "no image for linux/riscv64")
}

func TestUsage(t *testing.T) {
	require.ErrorContains(t, run(nil), "sbom, licences, image")
	require.ErrorContains(t, run([]string{"sell"}), `unknown command "sell"`)
	require.ErrorContains(t, imageCommand([]string{"--version", "v1", "out.tar", "linux/amd64"}), "is not PLATFORM=FOLDER")
	require.ErrorContains(t, sbomCommand([]string{"x"}, io.Discard), "usage")
}
