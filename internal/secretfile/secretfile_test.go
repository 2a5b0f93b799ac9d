package secretfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/secretfile"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte("secret\n"), 0o600))
	for mode, good := range map[os.FileMode]bool{
		0o600: true, 0o400: true, 0o700: true,
		0o640: false, 0o604: false, 0o620: false, 0o602: false, 0o601: false, 0o644: false, 0o666: false,
	} {
		require.NoError(t, os.Chmod(path, mode))
		text, err := secretfile.Read(path)
		if good {
			require.NoError(t, err, mode)
			require.Equal(t, "secret\n", string(text))
			require.NoError(t, secretfile.Check(path))
			continue
		}
		require.ErrorIs(t, err, secretfile.ErrExposed, mode)
		require.ErrorContains(t, err, path)
		require.Empty(t, text)
		require.ErrorIs(t, secretfile.Check(path), secretfile.ErrExposed, mode)
	}
	_, err := secretfile.Read(path + "x")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Chmod(filepath.Dir(path), 0o700))
	_, err = secretfile.Read(filepath.Dir(path))
	require.ErrorIs(t, err, secretfile.ErrExposed, "a directory")
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", 5000)), 0o600))
	_, err = secretfile.Read(path)
	require.ErrorContains(t, err, "more than 4096 bytes")
}
