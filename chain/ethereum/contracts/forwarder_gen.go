// Code generated via abigen V2 - DO NOT EDIT.
// This file is a generated binding and any manual changes will be lost.

package contracts

import (
	"bytes"
	"errors"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/accounts/abi/bind/v2"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// Reference imports to suppress errors if they are not otherwise used.
var (
	_ = bytes.Equal
	_ = errors.New
	_ = big.NewInt
	_ = common.Big1
	_ = types.BloomLookup
	_ = abi.ConvertType
)

// ForwarderMetaData contains all meta data concerning the Forwarder contract.
var ForwarderMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[],\"name\":\"Undone\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"addresspayable\",\"name\":\"to\",\"type\":\"address\"}],\"name\":\"forward\",\"outputs\":[],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"addresspayable\",\"name\":\"to\",\"type\":\"address\"}],\"name\":\"forwardByDestruction\",\"outputs\":[],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"addresspayable\",\"name\":\"to\",\"type\":\"address\"}],\"name\":\"forwardThenRevert\",\"outputs\":[],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"addresspayable\",\"name\":\"to\",\"type\":\"address\"}],\"name\":\"forwardUndone\",\"outputs\":[],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"stateMutability\":\"payable\",\"type\":\"receive\"}]",
	ID:  "Forwarder",
	Bin: "0x6080604052348015600f57600080fd5b5061028a8061001f6000396000f3fe6080604052600436106100435760003560e01c8063101e89521461004f5780634553d3dc14610064578063d2fe7a8a14610077578063dfe197931461008a57600080fd5b3661004a57005b600080fd5b61006261005d3660046101f4565b61009d565b005b6100626100723660046101f4565b610132565b6100626100853660046101f4565b610186565b6100626100983660046101f4565b6101c6565b6000816001600160a01b03163460405160006040518083038185875af1925050503d80600081146100ea576040519150601f19603f3d011682016040523d82523d6000602084013e6100ef565b606091505b505090508061012e5760405162461bcd60e51b81526020600482015260076024820152661c99599d5cd95960ca1b604482015260640160405180910390fd5b5050565b60405163dfe1979360e01b81526001600160a01b0382166004820152309063dfe197939034906024016000604051808303818588803b15801561017457600080fd5b505af19350505050801561012e575050565b3481604051610194906101e8565b6001600160a01b0390911681526020016040518091039082f09050801580156101c1573d6000803e3d6000fd5b505050565b6101cf8161009d565b604051636ab3b18d60e01b815260040160405180910390fd5b60598061022583390190565b60006020828403121561020657600080fd5b81356001600160a01b038116811461021d57600080fd5b939250505056fe608060405260405160593803806059833981016040819052601e91602a565b806001600160a01b0316ff5b600060208284031215603b57600080fd5b81516001600160a01b0381168114605157600080fd5b939250505056fea164736f6c6343000825000a",
}

// Forwarder is an auto generated Go binding around an Ethereum contract.
type Forwarder struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *Forwarder) GetABI() abi.ABI {
	return c.abi
}

// NewForwarder creates a new instance of Forwarder.
func NewForwarder() *Forwarder {
	parsed, err := ForwarderMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &Forwarder{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *Forwarder) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackForward is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x101e8952.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function forward(address to) payable returns()
func (forwarder *Forwarder) PackForward(to common.Address) []byte {
	enc, err := forwarder.abi.Pack("forward", to)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackForward is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x101e8952.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function forward(address to) payable returns()
func (forwarder *Forwarder) TryPackForward(to common.Address) ([]byte, error) {
	return forwarder.abi.Pack("forward", to)
}

// PackForwardByDestruction is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xd2fe7a8a.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function forwardByDestruction(address to) payable returns()
func (forwarder *Forwarder) PackForwardByDestruction(to common.Address) []byte {
	enc, err := forwarder.abi.Pack("forwardByDestruction", to)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackForwardByDestruction is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xd2fe7a8a.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function forwardByDestruction(address to) payable returns()
func (forwarder *Forwarder) TryPackForwardByDestruction(to common.Address) ([]byte, error) {
	return forwarder.abi.Pack("forwardByDestruction", to)
}

// PackForwardThenRevert is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdfe19793.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function forwardThenRevert(address to) payable returns()
func (forwarder *Forwarder) PackForwardThenRevert(to common.Address) []byte {
	enc, err := forwarder.abi.Pack("forwardThenRevert", to)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackForwardThenRevert is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdfe19793.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function forwardThenRevert(address to) payable returns()
func (forwarder *Forwarder) TryPackForwardThenRevert(to common.Address) ([]byte, error) {
	return forwarder.abi.Pack("forwardThenRevert", to)
}

// PackForwardUndone is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x4553d3dc.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function forwardUndone(address to) payable returns()
func (forwarder *Forwarder) PackForwardUndone(to common.Address) []byte {
	enc, err := forwarder.abi.Pack("forwardUndone", to)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackForwardUndone is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x4553d3dc.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function forwardUndone(address to) payable returns()
func (forwarder *Forwarder) TryPackForwardUndone(to common.Address) ([]byte, error) {
	return forwarder.abi.Pack("forwardUndone", to)
}

// UnpackError attempts to decode the provided error data using user-defined
// error definitions.
func (forwarder *Forwarder) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], forwarder.abi.Errors["Undone"].ID.Bytes()[:4]) {
		return forwarder.UnpackUndoneError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// ForwarderUndone represents a Undone error raised by the Forwarder contract.
type ForwarderUndone struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error Undone()
func ForwarderUndoneErrorID() common.Hash {
	return common.HexToHash("0x6ab3b18d2e79ed2422113c9ddb892546eabd1b776a102d61273aaf5c84f0f4f2")
}

// UnpackUndoneError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error Undone()
func (forwarder *Forwarder) UnpackUndoneError(raw []byte) (*ForwarderUndone, error) {
	out := new(ForwarderUndone)
	if err := forwarder.abi.UnpackIntoInterface(out, "Undone", raw); err != nil {
		return nil, err
	}
	return out, nil
}
