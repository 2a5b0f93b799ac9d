package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Users of the image: the one that it runs as, distroless's nonroot, and the one that `gatewayd
// signer` runs as.
const (
	owner  = 65532
	signer = 65533
)

// folder is one that a user of the image writes to.
type folder struct {
	name string
	user int
	mode int64
}

// writable are all of them. The signer's socket lies where its group comes in.
var writable = []folder{
	{"data/", owner, 0o700}, {"home/nonroot/", owner, 0o700}, {"var/lib/gatewayd-signer/", signer, 0o700}, {"run/gatewayd-signer/", signer, 0o750},
}

// image is one to be made.
type image struct {
	version, commit string
	created         time.Time
}

func imageCommand(args []string) error {
	var m image
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.StringVar(&m.version, "version", "", "of gatewayd")
	flags.StringVar(&m.commit, "commit", "", "of gatewayd")
	created := flags.Int64("created", 0, "seconds since 1970, the time of every file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() < 2 || m.version == "" {
		return errors.New("usage: release image --version V --commit C --created SECONDS OUT.tar linux/amd64=ROOT, for each platform")
	}
	m.created = time.Unix(*created, 0).UTC()
	var index v1.ImageIndex = empty.Index
	for _, arg := range flags.Args()[1:] {
		platform, root, ok := strings.Cut(arg, "=")
		p, err := v1.ParsePlatform(platform)
		if !ok || err != nil {
			return fmt.Errorf("%q is not PLATFORM=FOLDER", arg)
		}
		one, err := m.of(root, p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: p}})
	}
	return m.write(index, flags.Arg(0))
}

// of is the image of one root file system: one layer, and the configuration that the Dockerfile
// gives too.
func (m image) of(root string, p *v1.Platform) (v1.Image, error) {
	var packed bytes.Buffer
	if err := pack(&packed, root, m.created, writable); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("layer of %s: %w", root, err)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	made, err := mutate.Append(base, mutate.Addendum{Layer: layer, MediaType: types.OCILayer,
		History: v1.History{CreatedBy: "scripts/release.sh", Created: v1.Time{Time: m.created}}})
	if err != nil {
		return nil, err
	}
	file, err := made.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Created, file.Config = p.OS, p.Architecture, v1.Time{Time: m.created}, m.config()
	return mutate.ConfigFile(made, file)
}

func (m image) config() v1.Config {
	return v1.Config{
		User: "65532:65532", WorkingDir: "/data", StopSignal: "SIGTERM",
		Entrypoint: []string{"/usr/local/bin/gatewayd"}, Cmd: []string{"run", "--config", "/data/config.yaml"},
		Env:     []string{"PATH=/usr/local/bin"},
		Volumes: map[string]struct{}{"/data": {}},
		// No shell and no curl in there: the program asks itself.
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/usr/local/bin/gatewayd", "health"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: 20 * time.Second, Retries: 3},
		Labels: map[string]string{
			"org.opencontainers.image.title": "gatewayd", "org.opencontainers.image.version": m.version,
			"org.opencontainers.image.revision": m.commit, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
}

// write stores the index as an OCI layout in one file, which podman, skopeo and docker load.
func (m image) write(index v1.ImageIndex, path string) error {
	dir, err := os.MkdirTemp(filepath.Dir(path), "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	at, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := at.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": m.version})); err != nil {
		return err
	}
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pack(out, dir, m.created, nil); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}

// pack writes a folder as a tar of the same bytes each time: sorted, of one time, all of it root's;
// then the folders that are its users'.
func pack(w io.Writer, root string, when time.Time, own []folder) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return packOne(t, path, filepath.ToSlash(name), d, when)
	})
	for _, f := range own {
		err = errors.Join(err, t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: f.name, Mode: f.mode, Uid: f.user, Gid: f.user, ModTime: when, Format: tar.FormatPAX}))
	}
	return errors.Join(err, t.Close())
}

func packOne(t *tar.Writer, path, name string, d fs.DirEntry, when time.Time) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: int64(mode(info)), ModTime: when, Format: tar.FormatPAX}
	switch {
	case d.IsDir():
		h.Typeflag, h.Name, h.Size = tar.TypeDir, name+"/", 0
	case !d.Type().IsRegular():
		return fmt.Errorf("%s is no plain file", path)
	}
	if err := t.WriteHeader(h); err != nil || d.IsDir() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(t, f)
	return err
}

// mode leaves of a file's mode what does not depend on the umask of whoever made it.
func mode(info fs.FileInfo) fs.FileMode {
	switch {
	case info.IsDir() && info.Name() == "tmp":
		return 0o1777 // as tar has it
	case info.IsDir() || info.Mode()&0o100 != 0:
		return 0o755
	}
	return 0o644
}

// unpackCommand writes the files of an image to a folder, as a container sees them.
func unpackCommand(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: release unpack IMAGE.tar PLATFORM FOLDER")
	}
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := exec.Command("tar", "-C", dir, "-xf", args[0]).Run(); err != nil {
		return fmt.Errorf("unpacking %s: %w", args[0], err)
	}
	one, err := imageOf(dir, args[1])
	if err != nil {
		return err
	}
	files := mutate.Extract(one)
	defer files.Close()
	extract := exec.Command("tar", "-C", args[2], "--numeric-owner", "-xpf", "-")
	extract.Stdin = files
	return extract.Run()
}

// imageOf is the image of an OCI layout for a platform.
func imageOf(dir, platform string) (v1.Image, error) {
	p, err := v1.ParsePlatform(platform)
	if err != nil {
		return nil, err
	}
	at, err := layout.FromPath(dir)
	if err != nil {
		return nil, err
	}
	outer, err := at.ImageIndex()
	if err != nil {
		return nil, err
	}
	indexes, err := partial.FindIndexes(outer, match.MediaTypes(string(types.OCIImageIndex)))
	if err != nil {
		return nil, err
	}
	if len(indexes) != 1 {
		return nil, fmt.Errorf("%d indexes, one is wanted", len(indexes))
	}
	found, err := partial.FindImages(indexes[0], match.Platforms(*p))
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no image for %s", platform)
	}
	return found[0], nil
}
