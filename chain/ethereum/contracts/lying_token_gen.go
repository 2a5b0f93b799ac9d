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

// LyingTokenMetaData contains all meta data concerning the LyingToken contract.
var LyingTokenMetaData = bind.MetaData{
	ABI: "[{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Transfer\",\"type\":\"event\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"balanceOf\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"pure\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"claim\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"name\":\"transfer\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"pure\",\"type\":\"function\"}]",
	ID:  "LyingToken",
	Bin: "0x6080604052348015600f57600080fd5b506101ac8061001f6000396000f3fe608060405234801561001057600080fd5b50600436106100415760003560e01c806370a0823114610046578063996cba681461006d578063a9059cbb14610082575b600080fd5b61005a610054366004610116565b50600090565b6040519081526020015b60405180910390f35b61008061007b366004610138565b6100a8565b005b610098610090366004610175565b600192915050565b6040519015158152602001610064565b816001600160a01b0316836001600160a01b03167fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef836040516100ed91815260200190565b60405180910390a3505050565b80356001600160a01b038116811461011157600080fd5b919050565b60006020828403121561012857600080fd5b610131826100fa565b9392505050565b60008060006060848603121561014d57600080fd5b610156846100fa565b9250610164602085016100fa565b929592945050506040919091013590565b6000806040838503121561018857600080fd5b610191836100fa565b94602093909301359350505056fea164736f6c6343000825000a",
}

// LyingToken is an auto generated Go binding around an Ethereum contract.
type LyingToken struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *LyingToken) GetABI() abi.ABI {
	return c.abi
}

// NewLyingToken creates a new instance of LyingToken.
func NewLyingToken() *LyingToken {
	parsed, err := LyingTokenMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &LyingToken{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *LyingToken) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackBalanceOf is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x70a08231.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function balanceOf(address ) pure returns(uint256)
func (lyingToken *LyingToken) PackBalanceOf(arg0 common.Address) []byte {
	enc, err := lyingToken.abi.Pack("balanceOf", arg0)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackBalanceOf is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x70a08231.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function balanceOf(address ) pure returns(uint256)
func (lyingToken *LyingToken) TryPackBalanceOf(arg0 common.Address) ([]byte, error) {
	return lyingToken.abi.Pack("balanceOf", arg0)
}

// UnpackBalanceOf is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x70a08231.
//
// Solidity: function balanceOf(address ) pure returns(uint256)
func (lyingToken *LyingToken) UnpackBalanceOf(data []byte) (*big.Int, error) {
	out, err := lyingToken.abi.Unpack("balanceOf", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackClaim is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x996cba68.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function claim(address from, address to, uint256 value) returns()
func (lyingToken *LyingToken) PackClaim(from common.Address, to common.Address, value *big.Int) []byte {
	enc, err := lyingToken.abi.Pack("claim", from, to, value)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackClaim is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x996cba68.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function claim(address from, address to, uint256 value) returns()
func (lyingToken *LyingToken) TryPackClaim(from common.Address, to common.Address, value *big.Int) ([]byte, error) {
	return lyingToken.abi.Pack("claim", from, to, value)
}

// PackTransfer is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa9059cbb.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function transfer(address , uint256 ) pure returns(bool)
func (lyingToken *LyingToken) PackTransfer(arg0 common.Address, arg1 *big.Int) []byte {
	enc, err := lyingToken.abi.Pack("transfer", arg0, arg1)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackTransfer is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa9059cbb.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function transfer(address , uint256 ) pure returns(bool)
func (lyingToken *LyingToken) TryPackTransfer(arg0 common.Address, arg1 *big.Int) ([]byte, error) {
	return lyingToken.abi.Pack("transfer", arg0, arg1)
}

// UnpackTransfer is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xa9059cbb.
//
// Solidity: function transfer(address , uint256 ) pure returns(bool)
func (lyingToken *LyingToken) UnpackTransfer(data []byte) (bool, error) {
	out, err := lyingToken.abi.Unpack("transfer", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// LyingTokenTransfer represents a Transfer event raised by the LyingToken contract.
type LyingTokenTransfer struct {
	From  common.Address
	To    common.Address
	Value *big.Int
	Raw   *types.Log // Blockchain specific contextual infos
}

const LyingTokenTransferEventName = "Transfer"

// ContractEventName returns the user-defined event name.
func (LyingTokenTransfer) ContractEventName() string {
	return LyingTokenTransferEventName
}

// UnpackTransferEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Transfer(address indexed from, address indexed to, uint256 value)
func (lyingToken *LyingToken) UnpackTransferEvent(log *types.Log) (*LyingTokenTransfer, error) {
	event := "Transfer"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != lyingToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(LyingTokenTransfer)
	if len(log.Data) > 0 {
		if err := lyingToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range lyingToken.abi.Events[event].Inputs {
		if arg.Indexed {
			indexed = append(indexed, arg)
		}
	}
	if err := abi.ParseTopics(out, indexed, log.Topics[1:]); err != nil {
		return nil, err
	}
	out.Raw = log
	return out, nil
}
