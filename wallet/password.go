package wallet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

// Created describes a new store. Mnemonic is a secret.
type Created struct {
	Mnemonic string
	Primary  core.Address
	Path     string
}

// Create makes a store of 24 new words in the standard directory; it stays locked. An empty
// password is taken, as by the exchange chain's node.
func (m *Manager) Create(ctx context.Context, password string) (Created, error) {
	secret := make([]byte, 32)
	defer clear(secret)
	if _, err := io.ReadFull(m.cfg.Random, secret); err != nil {
		return Created{}, fmt.Errorf("drawing a secret: %w", err)
	}
	return m.create(ctx, secret, password)
}

// Recover makes a store of given words in the standard directory; it stays locked. Faults of the
// words are keystore's, and a store that is there already is keystore.ErrExists: its file may be
// all that is left of it under another password.
func (m *Manager) Recover(ctx context.Context, mnemonic, password string) (Created, error) {
	secret, err := keystore.ParseMnemonic(mnemonic)
	if err != nil {
		return Created{}, err
	}
	defer clear(secret)
	return m.create(ctx, secret, password)
}

func (m *Manager) create(ctx context.Context, secret []byte, password string) (Created, error) {
	words, err := keystore.Mnemonic(secret)
	if err != nil {
		return Created{}, err
	}
	sealed, err := m.seal(ctx, secret, password)
	if err != nil {
		return Created{}, err
	}
	path, err := m.keep(sealed)
	if err != nil {
		return Created{}, err
	}
	return Created{words, sealed.PrimaryAddress(), path}, nil
}

func (m *Manager) seal(ctx context.Context, secret []byte, password string) (s *keystore.Store, err error) {
	leave, err := m.kdf.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	err = m.kdf.work(ctx, m.cfg.Cost, func() error {
		s, err = keystore.Seal(secret, password, m.cfg.Cost, m.cfg.Now())
		return err
	})
	return s, err
}

// keep writes a store under its standard name and makes it known.
func (m *Manager) keep(s *keystore.Store) (path string, err error) {
	if path, err = m.dir.Create(s); err != nil {
		return "", err
	}
	return m.Add(path)
}

// Import copies a store file into the standard directory under its standard name, once the password
// has proved that it opens and belongs to its address. It never overwrites: keystore.ErrExists.
func (m *Manager) Import(ctx context.Context, file, password string) (path string, err error) {
	s, err := keystore.ReadFile(file)
	if err != nil {
		return "", err
	}
	secret, err := m.check(ctx, newStore(file, m.dir.Path(), s.PrimaryAddress()), password)
	if err != nil {
		return "", err
	}
	clear(secret)
	return m.keep(s)
}

// Unlock keeps a store's keys in memory until it is locked or idle for too long. Of an unlocked
// store it checks the password and changes nothing if that is wrong. Errors are ErrUnknownStore,
// keystore.ErrPassword, *ThrottledError and ErrBusy.
func (m *Manager) Unlock(ctx context.Context, name, password string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	u, err := m.unlock(ctx, s, password)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stores[s.path] != s { // forgotten meanwhile
		u.wipe()
		return ErrUnknownStore
	}
	if s.used = m.cfg.Now(); s.open != nil { // current users of those keys continue
		u.wipe()
		return nil
	}
	s.open = u
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return nil
}

// unlock derives a store's keys for the caller, who wipes them.
func (m *Manager) unlock(ctx context.Context, s *store, password string) (*unlocked, error) {
	secret, err := m.check(ctx, s, password)
	if err != nil {
		return nil, err
	}
	defer clear(secret)
	keys, err := keystore.KeysOf(secret)
	if err != nil {
		return nil, err
	}
	return newUnlocked(keys)
}

// check opens a store's file and returns its entropy, for the caller to clear. One password of a
// store is looked at at a time, so that guesses cannot be hidden among each other.
func (m *Manager) check(ctx context.Context, s *store, password string) (secret []byte, err error) {
	leave, err := m.kdf.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.acquire(ctx); err != nil {
		return nil, err
	}
	defer s.release()
	if err := s.guesses.check(m.cfg.Now()); err != nil {
		return nil, err
	}
	file, err := keystore.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	err = m.kdf.work(ctx, file.Cost(), func() error {
		secret, err = file.Open(password)
		return err
	})
	switch {
	case errors.Is(err, keystore.ErrPassword):
		s.guesses.miss(m.cfg.Now())
	case err == nil:
		s.guesses = guesses{}
	}
	return secret, err
}

// Mnemonic returns a store's words, whether it is unlocked or not, and changes nothing. Errors as
// of Unlock.
func (m *Manager) Mnemonic(ctx context.Context, name, password string) (string, error) {
	s, err := m.find(name)
	if err != nil {
		return "", err
	}
	secret, err := m.check(ctx, s, password)
	if err != nil {
		return "", err
	}
	defer clear(secret)
	return keystore.Mnemonic(secret)
}

// ChangePassword rewrites a store under another password, in place of the old file: at any moment
// the old or the new file exists completely. Errors as of Unlock.
func (m *Manager) ChangePassword(ctx context.Context, name, old, password string) error {
	s, err := m.find(name)
	if err != nil {
		return err
	}
	secret, err := m.check(ctx, s, old)
	if err != nil {
		return err
	}
	defer clear(secret)
	sealed, err := m.seal(ctx, secret, password)
	if err != nil {
		return err
	}
	return m.dir.Rewrite(s.path, sealed)
}

// Use lends the key of an address to f: of the named store, or without a name of the one that seems
// to hold the address. The store stays locked or unlocked as it was. Errors as of Unlock, and
// ErrAddressNotFound.
func (m *Manager) Use(ctx context.Context, name string, a core.Address, password string, f func(Location, core.PrivateKey) error) error {
	stores, err := m.candidates(name, a)
	if err != nil {
		return err
	}
	var u *unlocked
	for _, s := range stores {
		u, err = m.unlock(ctx, s, password)
		if errors.Is(err, keystore.ErrPassword) {
			continue
		}
		if err != nil {
			return err
		}
		defer u.wipe()
		return u.use(s.path, a, f)
	}
	return err
}

func (u *unlocked) use(path string, a core.Address, f func(Location, core.PrivateKey) error) error {
	at, err := u.find(path, a)
	if err != nil {
		return err
	}
	key, err := u.keys.ByIndex(at.Index)
	if err != nil {
		return err
	}
	return f(at, key)
}

// candidates returns the stores to try a password on. Without a name these are stores whose first
// address is a, and unlocked ones that contain it, else the only store if there is just one. On
// every other store the password would count as a wrong guess.
func (m *Manager) candidates(name string, a core.Address) ([]*store, error) {
	if name != "" {
		s, err := m.find(name)
		return []*store{s}, err
	}
	known := m.known()
	if len(known) == 1 {
		return known, nil
	}
	var found []*store
	for _, s := range known {
		if u := m.opened(s); s.primary == a || u != nil && u.has(a) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return nil, ErrAddressNotFound
	}
	return found, nil
}

func (u *unlocked) has(a core.Address) bool {
	_, ok := u.index[a]
	return ok
}
