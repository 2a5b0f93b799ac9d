package keystore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var errDead = errors.New("the process is gone")

// dying is a real file system under a process that is killed after a number of steps: what was done
// stays, nothing is done any more, cleaning up included. A file's content comes in pieces, as it
// may on a disk.
type dying struct {
	system
	steps int // that are still done
	done  []string
}

func (d *dying) step(name string, act func() error) error {
	if d.steps == 0 {
		return errDead
	}
	d.steps--
	d.done = append(d.done, name)
	return act()
}

func (d *dying) Fill(dir string, content []byte) (string, error) {
	path := filepath.Join(dir, ".store-1.tmp")
	for at := 0; at <= len(content); at += len(content) / 4 {
		if err := d.step("write", func() error { return os.WriteFile(path, content[:at], 0o600) }); err != nil {
			return "", err
		}
	}
	return path, d.step("write", func() error { return os.WriteFile(path, content, 0o600) })
}

func (d *dying) Link(from, to string) error {
	return d.step("place", func() error { return d.system.Link(from, to) })
}

func (d *dying) Rename(from, to string) error {
	return d.step("place", func() error { return d.system.Rename(from, to) })
}

func (d *dying) Remove(path string) error {
	return d.step("remove", func() error { return d.system.Remove(path) })
}

func (d *dying) Settle(dir string) error {
	return d.step("settle", func() error { return d.system.Settle(dir) })
}

// life makes a directory with one store, writes another over or next to it with a process that dies
// after some steps, and returns the state that the next process finds.
func life(t *testing.T, steps int, act func(Dir, *Store) error) (found []string, d Dir, done []string, err error) {
	t.Helper()
	d = testDir(t)
	killed := &dying{steps: steps}
	err = act(Dir{d.path, killed}, testStore(t, "new"))
	found, listErr := d.List()
	require.NoError(t, listErr)
	return found, d, killed.done, err
}

func TestKilledWhileCreating(t *testing.T) {
	create := func(d Dir, s *Store) error { _, err := d.Create(s); return err }
	for steps := 0; ; steps++ {
		found, _, done, err := life(t, steps, create)
		if len(found) > 0 {
			opens(t, found[0], "new")
		}
		placed := len(done) > 0 && (done[len(done)-1] != "write")
		require.Equal(t, placed, len(found) == 1, "after %v", done)
		if err == nil && done[len(done)-1] == "remove" {
			require.Equal(t, []string{"place", "settle", "remove"}, done[len(done)-3:])
			require.Greater(t, steps, 8)
			return
		}
	}
}

func TestKilledWhileReplacing(t *testing.T) {
	var old string
	replace := func(d Dir, s *Store) error {
		var err error
		old, err = Dir{d.path, system{}}.Create(testStore(t, "old"))
		require.NoError(t, err)
		return d.Rewrite(old, s)
	}
	for steps := 0; ; steps++ {
		found, d, done, err := life(t, steps, replace)
		require.Equal(t, []string{old}, found, "after %v", done)
		password := "old"
		if len(done) > 0 && done[len(done)-1] != "write" {
			password = "new"
		}
		opens(t, old, password)
		require.Equal(t, os.FileMode(0o600), mode(t, old))
		if err == nil {
			require.Equal(t, "settle", done[len(done)-1])
			_, err := d.Replace(testStore(t, "newer")) // a file left by a crash blocks no later write
			require.NoError(t, err)
			opens(t, old, "newer")
			return
		}
		require.ErrorIs(t, err, errDead)
	}
}

func opens(t *testing.T, path, password string) {
	t.Helper()
	s, err := ReadFile(path)
	require.NoError(t, err)
	_, err = s.Open(password)
	require.NoError(t, err)
}

func TestRewriteKeepsTheFileName(t *testing.T) {
	d := testDir(t)
	path := filepath.Join(t.TempDir(), "my-own-name")
	require.NoError(t, os.WriteFile(path, testStore(t, "old").Encode(), 0o644))
	require.NoError(t, d.Rewrite(path, testStore(t, "new")))
	opens(t, path, "new")
	require.Equal(t, os.FileMode(0o600), mode(t, path), "the new file is its owner's alone")
	require.Error(t, d.Rewrite(filepath.Join(path, "below-a-file"), testStore(t, "new")))
}

func TestWipedKeys(t *testing.T) {
	keys, err := KeysOf(make([]byte, 16))
	require.NoError(t, err)
	before, err := keys.ByIndex(1)
	require.NoError(t, err)
	address := before.Address()
	copied := keys
	keys.Wipe()
	_, err = copied.ByIndex(1)
	require.ErrorIs(t, err, ErrWiped)
	_, err = copied.ByPath("m/1'")
	require.ErrorIs(t, err, ErrWiped)
	require.Equal(t, viteNodes{wiped: true}, *copied.secret())
	require.Equal(t, address, before.Address(), "a key that was given out stays")
}

func TestCostOfAFile(t *testing.T) {
	require.Equal(t, int64(256<<20), StandardCost().Memory())
	require.Equal(t, LightCost(), testStore(t, "pw").Cost())
}
