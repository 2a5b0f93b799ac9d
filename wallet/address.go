package wallet

import (
	"errors"

	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

// MaxRange bounds the addresses of one derivation call.
const MaxRange = 5000

// Faults of a range of indexes, in the node's words.
var (
	ErrRangeOrder = errors.New("from value > to")
	ErrRangeSize  = errors.New("endIndex-startIndex must be less than 5000")
)

// Location is the place of an address in a store.
type Location struct {
	Path  string // of the store, absolute
	Index uint32
}

// Derived is a derived account. Key is a secret.
type Derived struct {
	Path string // such as m/44'/666666'/0'
	Key  core.PrivateKey
}

// opened are a store's keys if it is unlocked and was used lately, else nil. It does not count as
// use.
func (m *Manager) opened(s *store) *unlocked {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.open != nil && m.cfg.AutoLock > 0 && m.cfg.Now().Sub(s.used) >= m.cfg.AutoLock {
		s.lock()
	}
	return s.open
}

// using is opened for work with the keys, which keeps the store unlocked. Errors are
// ErrUnknownStore and ErrLocked.
func (m *Manager) using(name string) (*unlocked, error) {
	s, err := m.find(name)
	if err != nil {
		return nil, err
	}
	u := m.opened(s)
	if u == nil {
		return nil, ErrLocked
	}
	m.touch(s)
	return u, nil
}

func (m *Manager) touch(s *store) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.used = m.cfg.Now()
}

// Unlocked reports whether a store is unlocked; an unknown one is not.
func (m *Manager) Unlocked(name string) bool {
	s, err := m.find(name)
	return err == nil && m.opened(s) != nil
}

// Addresses derives those of indexes from up to, but not including, to; at most MaxRange. Errors
// are ErrUnknownStore, ErrLocked, ErrRangeOrder, ErrRangeSize and keystore.ErrNotHardened.
func (m *Manager) Addresses(name string, from, to uint32) ([]core.Address, error) {
	u, err := m.using(name)
	switch {
	case err != nil:
		return nil, err
	case from > to:
		return nil, ErrRangeOrder
	case to-from > MaxRange:
		return nil, ErrRangeSize
	}
	list := make([]core.Address, 0, to-from)
	for i := from; i < to; i++ {
		key, err := u.derive(func(k keystore.Keys) (core.PrivateKey, error) { return k.ByIndex(i) })
		if err != nil {
			return nil, err
		}
		list = append(list, key.Address())
	}
	return list, nil
}

// Derive gives the account at an index. Errors are ErrUnknownStore, ErrLocked and
// keystore.ErrNotHardened.
func (m *Manager) Derive(name string, index uint32) (Derived, error) {
	return m.derive(name, keystore.IndexPath(index), func(k keystore.Keys) (core.PrivateKey, error) { return k.ByIndex(index) })
}

// DeriveByPath gives the account at a path of hardened levels. Errors are those of Derive and
// keystore.ErrPath.
func (m *Manager) DeriveByPath(name, path string) (Derived, error) {
	return m.derive(name, path, func(k keystore.Keys) (core.PrivateKey, error) { return k.ByPath(path) })
}

func (m *Manager) derive(name, path string, by func(keystore.Keys) (core.PrivateKey, error)) (Derived, error) {
	u, err := m.using(name)
	if err != nil {
		return Derived{}, err
	}
	key, err := u.derive(by)
	return Derived{path, key}, err
}

// Find searches the window of an unlocked store for an address. Errors are ErrUnknownStore,
// ErrLocked and ErrAddressNotFound.
func (m *Manager) Find(name string, a core.Address) (Location, error) {
	s, err := m.find(name)
	if err != nil {
		return Location{}, err
	}
	u := m.opened(s)
	if u == nil {
		return Location{}, ErrLocked
	}
	return u.find(s.path, a)
}

func (u *unlocked) find(path string, a core.Address) (Location, error) {
	index, ok := u.index[a]
	if !ok {
		return Location{}, ErrAddressNotFound
	}
	return Location{path, index}, nil
}

// FindAnywhere searches all unlocked stores in the order of Known. The error is ErrAddressNotFound.
func (m *Manager) FindAnywhere(a core.Address) (Location, error) {
	for _, s := range m.known() {
		if u := m.opened(s); u != nil && u.has(a) {
			return u.find(s.path, a)
		}
	}
	return Location{}, ErrAddressNotFound
}

// Locate is Find for a store that may be locked: then only the address that its file states is
// known, which nothing has proved.
func (m *Manager) Locate(name string, a core.Address) (Location, error) {
	s, err := m.find(name)
	if err != nil {
		return Location{}, err
	}
	if m.opened(s) == nil && s.primary == a {
		return Location{s.path, 0}, nil
	}
	return m.Find(name, a)
}

// Primary is the first address of a known store, as its file states it. The error is
// ErrUnknownStore.
func (m *Manager) Primary(name string) (core.Address, error) {
	s, err := m.find(name)
	if err != nil {
		return core.Address{}, err
	}
	return s.primary, nil
}

// SignWith lends the key of an address in any unlocked store to f. Errors are ErrAddressNotFound
// and ErrLocked.
func (m *Manager) SignWith(a core.Address, f func(core.PrivateKey) error) error {
	at, err := m.FindAnywhere(a)
	if err != nil {
		return err
	}
	d, err := m.Derive(at.Path, at.Index)
	if err != nil {
		return err
	}
	return f(d.Key)
}
