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

// RejectorMetaData contains all meta data concerning the Rejector contract.
var RejectorMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[],\"name\":\"NotWanted\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"accepts\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"bool\",\"name\":\"accepts_\",\"type\":\"bool\"}],\"name\":\"setAccepts\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"stateMutability\":\"payable\",\"type\":\"receive\"}]",
	ID:  "Rejector",
	Bin: "0x6080604052348015600f57600080fd5b5060e18061001e6000396000f3fe608060405260043610602a5760003560e01c8063575348a1146057578063eeeac9b814608157600080fd5b3660525760005460ff1660505760405163f479b5e960e01b815260040160405180910390fd5b005b600080fd5b348015606257600080fd5b506050606e36600460ad565b6000805460ff1916911515919091179055565b348015608c57600080fd5b5060005460999060ff1681565b604051901515815260200160405180910390f35b60006020828403121560be57600080fd5b8135801515811460cd57600080fd5b939250505056fea164736f6c6343000825000a",
}

// Rejector is an auto generated Go binding around an Ethereum contract.
type Rejector struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *Rejector) GetABI() abi.ABI {
	return c.abi
}

// NewRejector creates a new instance of Rejector.
func NewRejector() *Rejector {
	parsed, err := RejectorMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &Rejector{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *Rejector) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackAccepts is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xeeeac9b8.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function accepts() view returns(bool)
func (rejector *Rejector) PackAccepts() []byte {
	enc, err := rejector.abi.Pack("accepts")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackAccepts is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xeeeac9b8.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function accepts() view returns(bool)
func (rejector *Rejector) TryPackAccepts() ([]byte, error) {
	return rejector.abi.Pack("accepts")
}

// UnpackAccepts is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xeeeac9b8.
//
// Solidity: function accepts() view returns(bool)
func (rejector *Rejector) UnpackAccepts(data []byte) (bool, error) {
	out, err := rejector.abi.Unpack("accepts", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// PackSetAccepts is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x575348a1.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function setAccepts(bool accepts_) returns()
func (rejector *Rejector) PackSetAccepts(accepts bool) []byte {
	enc, err := rejector.abi.Pack("setAccepts", accepts)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSetAccepts is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x575348a1.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function setAccepts(bool accepts_) returns()
func (rejector *Rejector) TryPackSetAccepts(accepts bool) ([]byte, error) {
	return rejector.abi.Pack("setAccepts", accepts)
}

// UnpackError attempts to decode the provided error data using user-defined
// error definitions.
func (rejector *Rejector) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], rejector.abi.Errors["NotWanted"].ID.Bytes()[:4]) {
		return rejector.UnpackNotWantedError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// RejectorNotWanted represents a NotWanted error raised by the Rejector contract.
type RejectorNotWanted struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NotWanted()
func RejectorNotWantedErrorID() common.Hash {
	return common.HexToHash("0xf479b5e9bcdaf966182a0f62bccb5bdcbbfb0b4dc499eada73663f9e21b75229")
}

// UnpackNotWantedError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NotWanted()
func (rejector *Rejector) UnpackNotWantedError(raw []byte) (*RejectorNotWanted, error) {
	out := new(RejectorNotWanted)
	if err := rejector.abi.UnpackIntoInterface(out, "NotWanted", raw); err != nil {
		return nil, err
	}
	return out, nil
}
