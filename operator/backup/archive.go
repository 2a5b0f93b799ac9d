package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
	"time"
)

// maxManifest is far more than any manifest takes.
const maxManifest = 1 << 20

// writer writes a backup: a tar whose last entry is the digest of all bytes before it.
type writer struct {
	file   *os.File
	digest hash.Hash
	tar    *tar.Writer
	made   time.Time
}

func newWriter(file *os.File, made time.Time) *writer {
	w := &writer{file: file, digest: sha256.New(), made: made}
	w.tar = tar.NewWriter(io.MultiWriter(file, w.digest))
	return w
}

// add puts the first size bytes of from into the tar and answers their digest.
func (w *writer) add(name string, from io.Reader, size int64) (string, error) {
	if err := w.tar.WriteHeader(header(name, size, w.made)); err != nil {
		return "", err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w.tar, sum), io.LimitReader(from, size))
	if err == nil && n < size {
		err = fmt.Errorf("it was truncated during the copy: %d bytes of %d", n, size)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// end writes the manifest and the digest, and everything to the disk.
func (w *writer) end(m Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if _, err := w.add(manifestName, bytes.NewReader(text), int64(len(text))); err != nil {
		return err
	}
	if err := w.tar.Flush(); err != nil {
		return err
	}
	tail, err := tailOf(w.digest.Sum(nil))
	if err == nil {
		_, err = w.file.Write(tail)
	}
	return errors.Join(err, w.file.Sync())
}

func header(name string, size int64, at time.Time) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: at.Truncate(time.Second)}
}

// tailOf is the last entry and the end of the tar: the same bytes for the same digest.
func tailOf(sum []byte) ([]byte, error) {
	var tail bytes.Buffer
	text := hex.EncodeToString(sum) + "\n"
	t := tar.NewWriter(&tail)
	if err := t.WriteHeader(header(digestName, int64(len(text)), time.Unix(0, 0))); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(t, text); err != nil {
		return nil, err
	}
	err := t.Close()
	return tail.Bytes(), err
}

// archive is a backup that is read.
type archive struct {
	Manifest
	file     *os.File
	path     string
	sections map[string]*io.SectionReader
}

// open reads a complete backup and compares every byte with its digests. The error names the
// damaged file where possible.
func open(path string) (*archive, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a := &archive{file: file, path: path, sections: map[string]*io.SectionReader{}}
	whole, err := intact(file)
	if err == nil {
		err = a.read()
	}
	switch {
	case err == nil && whole, whole && errors.Is(err, ErrNewer):
	case err == nil:
		err = fmt.Errorf("%w: %s: its digest does not match", ErrDamaged, path)
	default:
		err = fmt.Errorf("%w: %s: %s", ErrDamaged, path, err.Error()) // not the content of a damaged manifest
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return a, nil
}

func (a *archive) Close() error { return a.file.Close() }

// intact is true when the file ends with the digest of all bytes before it.
func intact(file *os.File) (bool, error) {
	info, err := file.Stat()
	if err != nil {
		return false, err
	}
	tail, err := tailOf(make([]byte, sha256.Size))
	body := info.Size() - int64(len(tail))
	if err != nil || body < 0 {
		return false, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, body)); err != nil {
		return false, err
	}
	want, err := tailOf(sum.Sum(nil))
	if err != nil {
		return false, err
	}
	_, err = file.ReadAt(tail, body)
	return bytes.Equal(tail, want), err
}

// read finds the files and compares them with the manifest.
func (a *archive) read() error {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for t := tar.NewReader(a.file); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		at, err := a.file.Seek(0, io.SeekCurrent) // the tar reader reads no further than it must
		if err != nil {
			return err
		}
		a.sections[h.Name] = io.NewSectionReader(a.file, at, h.Size)
	}
	if err := a.readManifest(); err != nil {
		return err
	}
	var damaged []string
	for _, f := range a.Files {
		if err := a.compare(f); err != nil {
			damaged = append(damaged, fmt.Sprintf("%s: %v", f.Name, err))
		}
	}
	if len(damaged) > 0 {
		return errors.New(strings.Join(damaged, "; "))
	}
	return nil
}

func (a *archive) readManifest() error {
	s := a.sections[manifestName]
	if s == nil || s.Size() > maxManifest {
		return fmt.Errorf("no %s", manifestName)
	}
	if err := json.NewDecoder(s).Decode(&a.Manifest); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	return a.check()
}

func (a *archive) compare(f File) error {
	s := a.sections[f.Name]
	if s == nil || s.Size() != f.Size {
		return fmt.Errorf("must be %d bytes", f.Size)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, s); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		return errors.New("its digest does not match")
	}
	return nil
}

// section is a file of the backup from its beginning.
func (a *archive) section(name string) *io.SectionReader {
	s := a.sections[name]
	return io.NewSectionReader(s, 0, s.Size())
}

// extract writes a file of the backup to a new one, down to the disk.
func (a *archive) extract(name, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, a.section(name))
	return errors.Join(err, f.Sync(), f.Close())
}
