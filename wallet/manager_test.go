package wallet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

const legal = "legal winner thank year wave sausage worth useful legal winner thank yellow"

func manager(t *testing.T, change func(*Config)) *Manager {
	t.Helper()
	cfg := Config{Dir: filepath.Join(t.TempDir(), "wallet"), Cost: keystore.LightCost()}
	if change != nil {
		change(&cfg)
	}
	m, err := NewManager(cfg)
	require.NoError(t, err)
	return m
}

func recovered(t *testing.T, m *Manager, mnemonic, password string) Created {
	t.Helper()
	made, err := m.Recover(t.Context(), mnemonic, password)
	require.NoError(t, err)
	return made
}

func TestConfigCheck(t *testing.T) {
	for _, c := range []Config{{}, {Dir: "x", Memory: -1}, {Dir: "x", Queue: -1}} {
		_, err := NewManager(c)
		require.Error(t, err)
	}
	_, err := NewManager(Config{Dir: t.TempDir(), Stores: []string{"/none"}})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestCreateDrawsFromRandom(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	m := manager(t, func(c *Config) { c.Random = bytes.NewReader(secret) })
	made, err := m.Create(t.Context(), "pw")
	require.NoError(t, err)
	want, err := keystore.Mnemonic(secret)
	require.NoError(t, err)
	require.Equal(t, want, made.Mnemonic)
	require.Equal(t, filepath.Join(m.Dir(), made.Primary.String()), made.Path)
	require.False(t, m.Unlocked(made.Primary.String()))
	_, err = m.Create(t.Context(), "pw")
	require.ErrorContains(t, err, "drawing a secret", "a source that runs dry makes no weak store")
}

func TestStoresAreNamedByPathOrFileName(t *testing.T) {
	m := manager(t, nil)
	made := recovered(t, m, abandon, "pw")
	outside := filepath.Join(t.TempDir(), "elsewhere")
	content, err := os.ReadFile(made.Path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(outside, content, 0o600))
	require.ErrorIs(t, m.Unlock(t.Context(), outside, "pw"), ErrUnknownStore, "not known yet")
	path, err := m.Add(outside)
	require.NoError(t, err)
	require.Equal(t, outside, path)
	require.Equal(t, []string{made.Path, outside}, m.Known())
	for _, name := range []string{made.Primary.String(), made.Path, outside} {
		require.NoError(t, m.Unlock(t.Context(), name, "pw"), name)
		require.True(t, m.Unlocked(name))
	}
	for _, name := range []string{"", "../elsewhere", "none", "/none", made.Path + "/x"} {
		require.ErrorIs(t, m.Unlock(t.Context(), name, "pw"), ErrUnknownStore, name)
		require.False(t, m.Unlocked(name))
	}
	require.NoError(t, os.Remove(outside))
	require.NoError(t, m.Refresh())
	require.Equal(t, []string{made.Path}, m.Known())
	require.ErrorIs(t, m.Lock(outside), ErrUnknownStore)
}

func TestLockedAndUnlocked(t *testing.T) {
	m := manager(t, nil)
	made := recovered(t, m, abandon, "pw")
	name := made.Primary.String()
	locked := func() {
		t.Helper()
		for _, err := range []error{
			second(m.Addresses(name, 0, 1)), second(m.Derive(name, 0)), second(m.DeriveByPath(name, "m/1'")), second(m.Find(name, made.Primary)),
		} {
			require.ErrorIs(t, err, ErrLocked)
		}
		require.ErrorIs(t, second(m.FindAnywhere(made.Primary)), ErrAddressNotFound)
		require.ErrorIs(t, m.SignWith(made.Primary, nil), ErrAddressNotFound)
	}
	locked()
	require.ErrorIs(t, m.Unlock(t.Context(), name, "wrong"), keystore.ErrPassword)
	locked()
	require.NoError(t, m.Unlock(t.Context(), name, "pw"))
	list, err := m.Addresses(name, 0, 101)
	require.NoError(t, err)
	at, err := m.Find(name, list[99])
	require.NoError(t, err)
	require.Equal(t, Location{made.Path, 99}, at)
	require.ErrorIs(t, second(m.Find(name, list[100])), ErrAddressNotFound, "beyond the search window")
	d, err := m.Derive(name, 100)
	require.NoError(t, err)
	require.Equal(t, list[100], d.Key.Address())
	require.ErrorIs(t, m.Unlock(t.Context(), name, "wrong"), keystore.ErrPassword)
	require.True(t, m.Unlocked(name), "a wrong password does not lock")
	require.NoError(t, m.Lock(name))
	require.NoError(t, m.Lock(name))
	locked()
}

func second[T any](_ T, err error) error { return err }

func TestRanges(t *testing.T) {
	m := manager(t, nil)
	name := recovered(t, m, abandon, "pw").Path
	require.NoError(t, m.Unlock(t.Context(), name, "pw"))
	list, err := m.Addresses(name, 3, 3)
	require.NoError(t, err)
	require.Empty(t, list)
	for _, c := range []struct {
		from, to uint32
		want     error
	}{
		{1, 0, ErrRangeOrder}, {0, MaxRange + 1, ErrRangeSize}, {0, 1<<32 - 1, ErrRangeSize}, {1 << 31, 1<<31 + 1, keystore.ErrNotHardened},
	} {
		require.ErrorIs(t, second(m.Addresses(name, c.from, c.to)), c.want)
	}
}

// TestLockWipes: who holds keys of a store that is locked meanwhile gets an error, never keys of
// zeros.
func TestLockWipes(t *testing.T) {
	m := manager(t, nil)
	made := recovered(t, m, abandon, "pw")
	require.NoError(t, m.Unlock(t.Context(), made.Path, "pw"))
	u, err := m.using(made.Path)
	require.NoError(t, err)
	m.LockAll()
	_, err = u.derive(func(k keystore.Keys) (core.PrivateKey, error) { return k.ByIndex(0) })
	require.ErrorIs(t, err, ErrLocked)
	_, err = u.keys.ByIndex(0)
	require.ErrorIs(t, err, keystore.ErrWiped)
}

func TestIdleStoresLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "wallet")
	synctest.Test(t, func(t *testing.T) {
		m := manager(t, func(c *Config) { c.Dir, c.AutoLock = dir, time.Minute })
		one, two := recovered(t, m, abandon, "pw"), recovered(t, m, legal, "pw")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		require.NoError(t, m.Unlock(ctx, one.Path, "pw"))
		require.NoError(t, m.Unlock(ctx, two.Path, "pw"))
		held := m.stores[one.Path].open
		<-time.After(40 * time.Second) // the bubble's clock
		_, err := m.Derive(two.Path, 1)
		require.NoError(t, err)
		m.Unlocked(one.Path) // asking is no use
		<-time.After(30 * time.Second)
		synctest.Wait()
		require.True(t, held.wiped, "without anybody asking")
		require.False(t, m.Unlocked(one.Path))
		require.True(t, m.Unlocked(two.Path))
		cancel()
		require.NoError(t, <-done)
		require.False(t, m.Unlocked(two.Path), "at the end everything is locked")
	})
}

// TestGuessesAreCountedOverAllPaths: a store that is added again by another path, or as a copy,
// gives no further guesses.
func TestGuessesAreCountedOverAllPaths(t *testing.T) {
	m := manager(t, nil)
	made := recovered(t, m, abandon, "pw")
	for range freeGuesses {
		require.ErrorIs(t, m.Unlock(t.Context(), made.Path, "wrong"), keystore.ErrPassword)
	}
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(made.Path, link))
	path, err := m.Add(link)
	require.NoError(t, err)
	var throttled *ThrottledError
	require.ErrorAs(t, m.Unlock(t.Context(), made.Path, "pw"), &throttled)
	require.ErrorAs(t, m.Unlock(t.Context(), path, "pw"), &throttled)
}

// TestGuessesAreThrottled: the pause doubles, holds for the right password too, and ends with it.
func TestGuessesAreThrottled(t *testing.T) {
	now := time.Unix(0, 0)
	m := manager(t, func(c *Config) { c.Now, c.AutoLock = func() time.Time { return now }, -1 })
	name, other := recovered(t, m, abandon, "pw").Path, recovered(t, m, legal, "pw").Path
	for range freeGuesses {
		require.ErrorIs(t, m.Unlock(t.Context(), name, "wrong"), keystore.ErrPassword)
	}
	for _, pause := range []int{1, 2, 4, 8} {
		var throttled *ThrottledError
		require.ErrorAs(t, m.Unlock(t.Context(), name, "pw"), &throttled)
		require.Equal(t, time.Duration(pause)*time.Second, throttled.Wait)
		require.ErrorAs(t, second(m.Mnemonic(t.Context(), name, "pw")), &throttled)
		require.NoError(t, m.Unlock(t.Context(), other, "pw"), "another store is not concerned")
		now = now.Add(throttled.Wait)
		require.ErrorIs(t, m.Unlock(t.Context(), name, "wrong"), keystore.ErrPassword)
	}
	now = now.Add(maxPause)
	require.NoError(t, m.Unlock(t.Context(), name, "pw"))
	require.ErrorIs(t, m.Unlock(t.Context(), name, "wrong"), keystore.ErrPassword)
	require.NoError(t, m.Unlock(t.Context(), name, "pw"), "the count began anew")
}

func TestPauseIsBounded(t *testing.T) {
	var g guesses
	for range 1000 {
		g.miss(time.Unix(0, 0))
		require.LessOrEqual(t, g.next.Sub(time.Unix(0, 0)), maxPause)
	}
	require.EqualError(t, g.check(time.Unix(299, 500)), "too many wrong passwords: try again in 1 s")
}

// TestPasswordChecksAreBounded: at no moment do more run than the memory is for, nor wait more than
// there are places.
func TestPasswordChecksAreBounded(t *testing.T) {
	cost := keystore.LightCost()
	d := newKDFLimiter(2*cost.Memory(), 8)
	var running, most atomic.Int64
	refused, worked := make(chan error, 50), make(chan error, 50)
	all42 := make(chan struct{}) // closed once all that find no place were refused
	caller := func() {
		leave, err := d.enter()
		if err != nil {
			refused <- err
			return
		}
		defer leave()
		worked <- d.work(t.Context(), cost, func() error {
			now := running.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			<-all42
			running.Add(-1)
			return nil
		})
	}
	for range 50 {
		go caller()
	}
	for range 42 {
		require.ErrorIs(t, <-refused, ErrBusy)
	}
	close(all42)
	for range 8 {
		require.NoError(t, <-worked)
	}
	require.LessOrEqual(t, most.Load(), int64(2))

	require.NoError(t, d.work(t.Context(), keystore.StandardCost(), func() error { return nil }), "a costlier one runs alone")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, d.memory.Acquire(t.Context(), d.size))
	require.ErrorIs(t, d.work(ctx, cost, func() error { return nil }), context.Canceled)
}

func TestChangePassword(t *testing.T) {
	m := manager(t, nil)
	made := recovered(t, m, abandon, "old")
	require.ErrorIs(t, m.ChangePassword(t.Context(), made.Path, "wrong", "new"), keystore.ErrPassword)
	require.NoError(t, m.ChangePassword(t.Context(), made.Path, "old", "new"))
	require.ErrorIs(t, second(m.Mnemonic(t.Context(), made.Path, "old")), keystore.ErrPassword)
	words, err := m.Mnemonic(t.Context(), made.Path, "new")
	require.NoError(t, err)
	require.Equal(t, abandon, words)
	require.ErrorIs(t, second(m.Recover(t.Context(), abandon, "newer")), keystore.ErrExists)
	require.NoError(t, second(m.Mnemonic(t.Context(), made.Path, "new")), "the store is as it was")
}

func TestImport(t *testing.T) {
	from, to := manager(t, nil), manager(t, nil)
	made := recovered(t, from, abandon, "pw")
	require.ErrorIs(t, second(to.Import(t.Context(), made.Path, "wrong")), keystore.ErrPassword)
	require.Empty(t, to.Known())
	path, err := to.Import(t.Context(), made.Path, "pw")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(to.Dir(), made.Primary.String()), path)
	require.NoError(t, to.Unlock(t.Context(), made.Primary.String(), "pw"))
	require.ErrorIs(t, second(to.Import(t.Context(), made.Path, "pw")), keystore.ErrExists)
}

// TestUseFindsTheStore: with a name that store; without, only stores that can hold the address are
// tried.
func TestUseFindsTheStore(t *testing.T) {
	m := manager(t, nil)
	one := recovered(t, m, abandon, "pw")
	address := func(index uint32, mnemonic string) core.Address {
		secret, err := keystore.ParseMnemonic(mnemonic)
		require.NoError(t, err)
		keys, err := keystore.KeysOf(secret)
		require.NoError(t, err)
		key, err := keys.ByIndex(index)
		require.NoError(t, err)
		return key.Address()
	}
	use := func(name string, a core.Address, password string) (at Location, err error) {
		err = m.Use(t.Context(), name, a, password, func(l Location, key core.PrivateKey) error {
			require.Equal(t, a, key.Address())
			at = l
			return nil
		})
		return at, err
	}
	at, err := use("", address(5, abandon), "pw")
	require.NoError(t, err, "the only store")
	require.Equal(t, Location{one.Path, 5}, at)
	two := recovered(t, m, legal, "other")
	_, err = use("", address(5, abandon), "pw")
	require.ErrorIs(t, err, ErrAddressNotFound, "of two locked stores neither shows it")
	_, err = use("", address(0, legal), "other")
	require.NoError(t, err, "it is the first address of one")
	_, err = use(two.Path, address(7, legal), "wrong")
	require.ErrorIs(t, err, keystore.ErrPassword)
	_, err = use(two.Path, address(7, abandon), "other")
	require.ErrorIs(t, err, ErrAddressNotFound)
	require.NoError(t, m.Unlock(t.Context(), one.Path, "pw"))
	_, err = use("", address(5, abandon), "pw")
	require.NoError(t, err, "an unlocked store has it")
	require.False(t, m.Unlocked(two.Path), "using does not unlock")
}

func TestCanceledWhileWaitingForATurn(t *testing.T) {
	m := manager(t, nil)
	made := recovered(t, m, abandon, "pw")
	held := m.stores[made.Path]
	require.NoError(t, held.acquire(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Unlock(ctx, made.Path, "pw"), context.Canceled)
	held.release()
	require.NoError(t, m.Unlock(t.Context(), made.Path, "pw"))
}
