package rpc

import (
	"context"
	"encoding/hex"

	"gatewayd/vite/core"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// Methods that a node has although no description names them.

// GetDataDir is the standard directory.
func (a *api) GetDataDir() string { return counted(a, "getDataDir", a.wallet.Dir()) }

// RefreshCache reads the standard directory again, and removes stores whose file has gone.
func (a *api) RefreshCache(ctx context.Context) (nothing, error) {
	return serveNull(ctx, a, "refreshCache", func(context.Context) error { return a.wallet.Refresh() })
}

// String returns a node's answer to wallet_string.
func (a *api) String() string { return counted(a, "string", "WalletApi") }

type maybeResult struct {
	Maybe      bool
	MayAddress core.Address
}

// IsMayValidKeystoreFile reports whether a file reads as a store, without a password.
func (a *api) IsMayValidKeystoreFile(path string) maybeResult {
	store, err := keystore.ReadFile(path)
	a.called("isMayValidKeystoreFile", false)
	if err != nil {
		return maybeResult{}
	}
	return maybeResult{true, store.PrimaryAddress()}
}

// signedResult is all in hexadecimal.
type signedResult struct {
	Message    string `json:"message"`
	SignedData string `json:"signedData"`
	PubKey     string `json:"pubkey"`
}

// SignData signs 32 bytes, given in hexadecimal, with the key of an address in any unlocked store.
func (a *api) SignData(ctx context.Context, address addressArg, message string) (signedResult, error) {
	return a.sign(ctx, "signData", message, func(_ context.Context, with func(core.PrivateKey) error) error {
		return a.wallet.SignWith(address.Address, with)
	})
}

// sign serves a method that signs 32 bytes with the key that lend lends.
func (a *api) sign(ctx context.Context, method, message string, lend func(context.Context, func(core.PrivateKey) error) error) (signedResult, error) {
	return serve(ctx, a, method, func(ctx context.Context) (result signedResult, err error) {
		h, err := hash32(message)
		if err != nil {
			return signedResult{}, err
		}
		err = lend(ctx, func(key core.PrivateKey) error {
			result = signedResult{h.String(), hex.EncodeToString(key.Sign(h[:])), key.Public().String()}
			return nil
		})
		return result, err
	})
}

// SignDataWithPassphrase is SignData for an address in a locked store.
func (a *api) SignDataWithPassphrase(ctx context.Context, address addressArg, message, password string) (signedResult, error) {
	return a.sign(ctx, "signDataWithPassphrase", message, func(ctx context.Context, with func(core.PrivateKey) error) error {
		return a.wallet.Use(ctx, "", address.Address, password, func(_ wallet.Location, key core.PrivateKey) error { return with(key) })
	})
}

// FindAddrWithPassphrase is FindAddr for a store that stays locked.
func (a *api) FindAddrWithPassphrase(ctx context.Context, store, password string, address addressArg) (locationResult, error) {
	return a.findWith(ctx, "findAddrWithPassphrase", store, password, address)
}

// GlobalFindAddrWithPassphrase is GlobalFindAddr for stores that stay locked.
func (a *api) GlobalFindAddrWithPassphrase(ctx context.Context, address addressArg, password string) (locationResult, error) {
	return a.findWith(ctx, "globalFindAddrWithPassphrase", "", password, address)
}

func (a *api) findWith(ctx context.Context, method, store, password string, address addressArg) (locationResult, error) {
	return serve(ctx, a, method, func(ctx context.Context) (result locationResult, err error) {
		err = a.wallet.Use(ctx, store, address.Address, password, func(at wallet.Location, _ core.PrivateKey) error {
			result = locationResult(at)
			return nil
		})
		return result, err
	})
}

// GetPrivateKey gives the key of a store's first address, 64 bytes in hexadecimal.
func (a *api) GetPrivateKey(ctx context.Context, store, password string) (string, error) {
	return serve(ctx, a, "getPrivateKey", func(ctx context.Context) (result string, err error) {
		primary, err := a.wallet.Primary(store)
		if err != nil {
			return "", err
		}
		err = a.wallet.Use(ctx, store, primary, password, func(_ wallet.Location, key core.PrivateKey) error {
			result = hex.EncodeToString(key.Bytes())
			return nil
		})
		return result, err
	})
}
