package rpc

import (
	"context"

	"github.com/sirupsen/logrus"

	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// api is the module wallet. This file has the methods of docs/wallet-rpc.md, v2.go their newer
// names, extra.go what a node has besides.
type api struct {
	wallet *wallet.Manager
	sender *sender
	log    logrus.FieldLogger
	called func(method string, failed bool)
	life   context.Context // ends with the server: a call over a connection outlives its caller otherwise
}

// serve runs a call for as long as caller and server live, and gives its error its code. Logged are
// methods and codes, never parameters: a password in the wrong place is still a password.
func serve[T any](ctx context.Context, a *api, method string, act func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(a.life, cancel)()
	result, err := act(ctx)
	a.called(method, err != nil)
	if err == nil {
		return result, nil
	}
	refusal, ok := onWire(err)
	entry := a.log.WithFields(logrus.Fields{"method": method, "code": refusal.Code})
	switch {
	case !ok:
		entry.WithError(err).Error("wallet call failed")
	case refusal.Code == codePassword || refusal.Code == codeLimit:
		entry.Warn("wallet call refused: " + refusal.Message)
	default:
		entry.Debug("wallet call refused")
	}
	return *new(T), refusal
}

// counted counts a call that cannot fail.
func counted[T any](a *api, method string, result T) T {
	a.called(method, false)
	return result
}

// nothing is the result null.
type nothing = *struct{}

// serveNull is serve for calls without a result.
func serveNull(ctx context.Context, a *api, method string, act func(context.Context) error) (nothing, error) {
	return serve(ctx, a, method, func(ctx context.Context) (nothing, error) { return nil, act(ctx) })
}

// ListEntropyFilesInStandardDir lists absolute paths in name order.
func (a *api) ListEntropyFilesInStandardDir(ctx context.Context) ([]string, error) {
	return serve(ctx, a, "listEntropyFilesInStandardDir", func(context.Context) ([]string, error) {
		paths, err := a.wallet.Standard()
		return orEmpty(paths), err
	})
}

// orEmpty makes [] of nil, where JSON would have null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// ListAllEntropyFiles lists absolute paths.
func (a *api) ListAllEntropyFiles() []string {
	return counted(a, "listAllEntropyFiles", orEmpty(a.wallet.Known()))
}

// ExtractMnemonic returns the words of a store, locked or not.
func (a *api) ExtractMnemonic(ctx context.Context, store, password string) (string, error) {
	return serve(ctx, a, "extractMnemonic", func(ctx context.Context) (string, error) { return a.wallet.Mnemonic(ctx, store, password) })
}

// Unlock answers null.
func (a *api) Unlock(ctx context.Context, store, password string) (nothing, error) {
	return serveNull(ctx, a, "unlock", func(ctx context.Context) error {
		if err := a.wallet.Unlock(ctx, store, password); err != nil {
			return err
		}
		a.logStore("store unlocked", store)
		return nil
	})
}

// logStore logs what happened to a known store by its address, as its file states it.
func (a *api) logStore(what, store string) {
	if primary, err := a.wallet.Primary(store); err == nil {
		a.log.WithField("store", primary.String()).Info(what)
	}
}

// Lock answers null.
func (a *api) Lock(ctx context.Context, store string) (nothing, error) {
	return serveNull(ctx, a, "lock", func(context.Context) error {
		if err := a.wallet.Lock(store); err != nil {
			return err
		}
		a.logStore("store locked", store)
		return nil
	})
}

// ListEntropyStoreAddresses derives those of indexes from up to, but not including, to.
func (a *api) ListEntropyStoreAddresses(ctx context.Context, store string, from, to uint32) ([]core.Address, error) {
	return serve(ctx, a, "listEntropyStoreAddresses", func(context.Context) ([]core.Address, error) {
		return a.wallet.Addresses(store, from, to)
	})
}

// storeResult describes a new store.
type storeResult struct {
	Mnemonic string       `json:"mnemonic"`
	Primary  core.Address `json:"primaryAddr"`
	Path     string       `json:"filename"`
}

// NewMnemonicAndEntropyStore makes a store of 24 new words; it stays locked.
func (a *api) NewMnemonicAndEntropyStore(ctx context.Context, password string) (storeResult, error) {
	made, err := a.create(ctx, "newMnemonicAndEntropyStore", password)
	return storeResult(made), err
}

func (a *api) create(ctx context.Context, method, password string) (wallet.Created, error) {
	return serve(ctx, a, method, func(ctx context.Context) (wallet.Created, error) {
		made, err := a.wallet.Create(ctx, password)
		a.logStore("store created", made.Path)
		return made, err
	})
}

// RecoverEntropyStoreFromMnemonic makes a store of given words; it stays locked.
func (a *api) RecoverEntropyStoreFromMnemonic(ctx context.Context, mnemonic, password string) (storeResult, error) {
	made, err := a.recover(ctx, "recoverEntropyStoreFromMnemonic", mnemonic, password)
	return storeResult(made), err
}

func (a *api) recover(ctx context.Context, method, mnemonic, password string) (wallet.Created, error) {
	return serve(ctx, a, method, func(ctx context.Context) (wallet.Created, error) {
		made, err := a.wallet.Recover(ctx, mnemonic, password)
		a.logStore("store recovered", made.Path)
		return made, err
	})
}

// derivedResult is an account; the private key is 64 bytes, seed and public key, in Base64.
type derivedResult struct {
	Bip44Path  string       `json:"bip44Path"`
	Address    core.Address `json:"address"`
	PrivateKey []byte       `json:"privateKey"`
}

func derived(d wallet.Derived, err error) (derivedResult, error) {
	if err != nil {
		return derivedResult{}, err
	}
	return derivedResult{d.Path, d.Key.Address(), d.Key.Bytes()}, nil
}

// DeriveByIndex gives account index of an unlocked store.
func (a *api) DeriveByIndex(ctx context.Context, store string, index uint32) (derivedResult, error) {
	return serve(ctx, a, "deriveByIndex", func(context.Context) (derivedResult, error) { return derived(a.wallet.Derive(store, index)) })
}

// DeriveByFullPath gives the account at a path of hardened levels.
func (a *api) DeriveByFullPath(ctx context.Context, store, path string) (derivedResult, error) {
	return serve(ctx, a, "deriveByFullPath", func(context.Context) (derivedResult, error) {
		return derived(a.wallet.DeriveByPath(store, path))
	})
}

// GlobalCheckAddrUnlocked reports whether any unlocked store has the address.
func (a *api) GlobalCheckAddrUnlocked(address addressArg) bool {
	_, err := a.wallet.FindAnywhere(address.Address)
	return counted(a, "globalCheckAddrUnlocked", err == nil)
}

// IsAddrUnlocked is false for an unknown store, a locked one, and one that does not have the
// address.
func (a *api) IsAddrUnlocked(store string, address addressArg) bool {
	_, err := a.wallet.Find(store, address.Address)
	return counted(a, "isAddrUnlocked", err == nil)
}

// IsUnlocked is false for an unknown store.
func (a *api) IsUnlocked(store string) bool {
	return counted(a, "isUnlocked", a.wallet.Unlocked(store))
}

type locationResult struct {
	Path  string `json:"entropyStoreFile"`
	Index uint32 `json:"index"`
}

// FindAddr gives the index of an address in an unlocked store.
func (a *api) FindAddr(ctx context.Context, store string, address addressArg) (locationResult, error) {
	at, err := a.find(ctx, "findAddr", store, address)
	return locationResult(at), err
}

func (a *api) find(ctx context.Context, method, store string, address addressArg) (wallet.Location, error) {
	return serve(ctx, a, method, func(context.Context) (wallet.Location, error) { return a.wallet.Find(store, address.Address) })
}

// GlobalFindAddr searches all unlocked stores.
func (a *api) GlobalFindAddr(ctx context.Context, address addressArg) (locationResult, error) {
	at, err := a.findAnywhere(ctx, "globalFindAddr", address)
	return locationResult(at), err
}

func (a *api) findAnywhere(ctx context.Context, method string, address addressArg) (wallet.Location, error) {
	return serve(ctx, a, method, func(context.Context) (wallet.Location, error) { return a.wallet.FindAnywhere(address.Address) })
}

// AddEntropyStore makes a store known: null, or with an address the place of that address in it. Of
// a locked store only the address that its file states can be placed.
func (a *api) AddEntropyStore(ctx context.Context, store string, address *addressArg) (*locationResult, error) {
	return serve(ctx, a, "addEntropyStore", func(context.Context) (*locationResult, error) {
		path, err := a.wallet.Add(store)
		if err != nil || address == nil {
			return nil, err
		}
		at, err := a.wallet.Locate(path, address.Address)
		if err != nil {
			return nil, err
		}
		return &locationResult{at.Path, at.Index}, nil
	})
}
