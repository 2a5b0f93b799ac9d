package rpc

import (
	"context"

	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// The newer names of the same operations; results differ in the names of their members only.

// GetEntropyFilesInStandardDir is ListEntropyFilesInStandardDir.
func (a *api) GetEntropyFilesInStandardDir(ctx context.Context) ([]string, error) {
	return a.ListEntropyFilesInStandardDir(ctx)
}

// GetAllEntropyFiles is ListAllEntropyFiles.
func (a *api) GetAllEntropyFiles() []string { return a.ListAllEntropyFiles() }

// ExportMnemonic is ExtractMnemonic.
func (a *api) ExportMnemonic(ctx context.Context, store, password string) (string, error) {
	return a.ExtractMnemonic(ctx, store, password)
}

// DeriveAddressesByIndexRange is ListEntropyStoreAddresses.
func (a *api) DeriveAddressesByIndexRange(ctx context.Context, store string, start, end uint32) ([]core.Address, error) {
	return a.ListEntropyStoreAddresses(ctx, store, start, end)
}

// DeriveAddressByIndex is DeriveByIndex.
func (a *api) DeriveAddressByIndex(ctx context.Context, store string, index uint32) (derivedResult, error) {
	return a.DeriveByIndex(ctx, store, index)
}

// DeriveAddressByPath is DeriveByFullPath.
func (a *api) DeriveAddressByPath(ctx context.Context, store, path string) (derivedResult, error) {
	return a.DeriveByFullPath(ctx, store, path)
}

type fileResult struct {
	Mnemonics      string       `json:"mnemonics"`
	PrimaryAddress core.Address `json:"primaryAddress"`
	FilePath       string       `json:"filePath"`
}

func v2File(made wallet.Created, err error) (fileResult, error) {
	return fileResult{made.Mnemonic, made.Primary, made.Path}, err
}

// CreateEntropyFile is NewMnemonicAndEntropyStore.
func (a *api) CreateEntropyFile(ctx context.Context, password string) (fileResult, error) {
	return v2File(a.create(ctx, "createEntropyFile", password))
}

// RecoverEntropyFile is RecoverEntropyStoreFromMnemonic.
func (a *api) RecoverEntropyFile(ctx context.Context, mnemonic, password string) (fileResult, error) {
	return v2File(a.recover(ctx, "recoverEntropyFile", mnemonic, password))
}

type v2Location struct {
	EntropyFile string `json:"entropyFile"`
	Index       uint32 `json:"index"`
}

// FindAddressInEntropyFile is FindAddr.
func (a *api) FindAddressInEntropyFile(ctx context.Context, store string, address addressArg) (v2Location, error) {
	at, err := a.find(ctx, "findAddressInEntropyFile", store, address)
	return v2Location{at.Path, at.Index}, err
}

// FindAddress is GlobalFindAddr.
func (a *api) FindAddress(ctx context.Context, address addressArg) (v2Location, error) {
	at, err := a.findAnywhere(ctx, "findAddress", address)
	return v2Location{at.Path, at.Index}, err
}

type v2Order struct {
	EntropyFile string      `json:"entropyFile"`
	Address     *addressArg `json:"address"`
	ToAddress   *addressArg `json:"toAddress"`
	TokenID     *tokenArg   `json:"tokenId"`
	Passphrase  string      `json:"passphrase"`
	Amount      string      `json:"amount"`
	Data        []byte      `json:"data"`
	Difficulty  *string     `json:"difficulty"`
}

// CreateTransaction is CreateTxWithPassphrase.
func (a *api) CreateTransaction(ctx context.Context, o v2Order) (core.Hash, error) {
	return a.send(ctx, "createTransaction", wireOrder{
		store: o.EntropyFile, from: o.Address, to: o.ToAddress, token: o.TokenID, password: o.Passphrase,
		amount: o.Amount, data: o.Data, difficulty: o.Difficulty, toName: "toAddress", tokenName: "tokenId",
	})
}
