package rpc

import (
	"context"

	"gatewayd/vite/core"
)

// The newer names of the same operations; results differ in the names of their members only.

func (a *api) GetEntropyFilesInStandardDir(ctx context.Context) ([]string, error) {
	return a.ListEntropyFilesInStandardDir(ctx)
}

func (a *api) GetAllEntropyFiles() []string { return a.ListAllEntropyFiles() }

func (a *api) ExportMnemonic(ctx context.Context, store, password string) (string, error) {
	return a.ExtractMnemonic(ctx, store, password)
}

func (a *api) DeriveAddressesByIndexRange(ctx context.Context, store string, start, end uint32) ([]core.Address, error) {
	return a.ListEntropyStoreAddresses(ctx, store, start, end)
}

func (a *api) DeriveAddressByIndex(ctx context.Context, store string, index uint32) (derivedResult, error) {
	return a.DeriveByIndex(ctx, store, index)
}

// DeriveForIndexPath is DeriveByIndex by the name that a published sample uses.
func (a *api) DeriveForIndexPath(ctx context.Context, store string, index uint32) (derivedResult, error) {
	return a.DeriveByIndex(ctx, store, index)
}

func (a *api) DeriveAddressByPath(ctx context.Context, store, path string) (derivedResult, error) {
	return a.DeriveByFullPath(ctx, store, path)
}

type fileResult struct {
	Mnemonic string       `json:"mnemonics"`
	Primary  core.Address `json:"primaryAddress"`
	Path     string       `json:"filePath"`
}

// CreateEntropyFile is NewMnemonicAndEntropyStore.
func (a *api) CreateEntropyFile(ctx context.Context, password string) (fileResult, error) {
	made, err := a.create(ctx, "createEntropyFile", password)
	return fileResult(made), err
}

// RecoverEntropyFile is RecoverEntropyStoreFromMnemonic.
func (a *api) RecoverEntropyFile(ctx context.Context, mnemonic, password string) (fileResult, error) {
	made, err := a.recover(ctx, "recoverEntropyFile", mnemonic, password)
	return fileResult(made), err
}

type v2Location struct {
	Path  string `json:"entropyFile"`
	Index uint32 `json:"index"`
}

// FindAddressInEntropyFile is FindAddr.
func (a *api) FindAddressInEntropyFile(ctx context.Context, store string, address addressArg) (v2Location, error) {
	at, err := a.find(ctx, "findAddressInEntropyFile", store, address)
	return v2Location(at), err
}

// FindAddress is GlobalFindAddr.
func (a *api) FindAddress(ctx context.Context, address addressArg) (v2Location, error) {
	at, err := a.findAnywhere(ctx, "findAddress", address)
	return v2Location(at), err
}

type v2Order struct {
	Store      string      `json:"entropyFile"`
	From       *addressArg `json:"address"`
	To         *addressArg `json:"toAddress"`
	Token      *tokenArg   `json:"tokenId"`
	Passphrase string      `json:"passphrase"`
	Amount     string      `json:"amount"`
	Data       []byte      `json:"data"`
	Difficulty *string     `json:"difficulty"`
}

// CreateTransaction is CreateTxWithPassphrase.
func (a *api) CreateTransaction(ctx context.Context, o v2Order) (core.Hash, error) {
	return a.send(ctx, "createTransaction", v1Order(o), "toAddress", "tokenId")
}
