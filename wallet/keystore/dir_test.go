package keystore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func testStore(t *testing.T, password string) *Store {
	t.Helper()
	s, err := Seal(make([]byte, 16), password, LightCost(), time.Unix(1, 0))
	require.NoError(t, err)
	return s
}

func testDir(t *testing.T) Dir {
	t.Helper()
	d, err := OpenDir(filepath.Join(t.TempDir(), "deep", "wallet"))
	require.NoError(t, err)
	return d
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

func TestCreateIsPrivateWholeAndNamedByAddress(t *testing.T) {
	d, s := testDir(t), testStore(t, "pw")
	path, err := d.Create(s)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(d.Path(), s.PrimaryAddress().String()), path)
	require.Equal(t, os.FileMode(0o600), mode(t, path))
	require.Equal(t, os.FileMode(0o700), mode(t, d.Path()))
	back, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, s, back)
	left, err := os.ReadDir(d.Path())
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}

func TestCreateNeverOverwrites(t *testing.T) {
	d := testDir(t)
	first, second := testStore(t, "first"), testStore(t, "second")
	path, err := d.Create(first)
	require.NoError(t, err)
	_, err = d.Create(second)
	require.ErrorIs(t, err, ErrExists)
	kept, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first, kept)
	left, err := os.ReadDir(d.Path())
	require.NoError(t, err)
	require.Len(t, left, 1)

	_, err = d.Replace(second)
	require.NoError(t, err)
	replaced, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, second, replaced)
	require.Equal(t, os.FileMode(0o600), mode(t, path))
}

func TestListPassesOverWhatIsNoStore(t *testing.T) {
	d, s := testDir(t), testStore(t, "pw")
	content := s.Encode()
	for name, text := range map[string][]byte{
		"by-another-name": content, "a-name": content,
		".hidden": content, "backup~": content, "junk": []byte("hello"), "empty": nil,
		"long": append(append([]byte{}, content...), strings.Repeat(" ", MaxStoreSize)...),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(d.Path(), name), text, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(d.Path(), "folder"), 0o700))
	found, err := d.List()
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(d.Path(), "a-name"), filepath.Join(d.Path(), "by-another-name")}, found)
}

func TestReadFileFaults(t *testing.T) {
	d := testDir(t)
	_, err := ReadFile(d.Path())
	require.ErrorIs(t, err, ErrStore)
	require.EqualError(t, err, "not valid entropy store file")
	_, err = ReadFile(filepath.Join(d.Path(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFileStaysInTheDirectory(t *testing.T) {
	d := testDir(t)
	path, err := d.File("my-own-name")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(d.Path(), "my-own-name"), path)
	path, err = d.File("/elsewhere/../other/store")
	require.NoError(t, err)
	require.Equal(t, "/other/store", path)
	for _, name := range []string{"", "../store", "a/../../store"} {
		_, err := d.File(name)
		require.ErrorIs(t, err, ErrStore, name)
	}
}

func TestDirFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := OpenDir(file)
	require.Error(t, err)

	d := testDir(t)
	require.NoError(t, os.RemoveAll(d.Path()))
	_, err = d.List()
	require.Error(t, err)
	_, err = d.Create(testStore(t, "pw"))
	require.Error(t, err)
}
