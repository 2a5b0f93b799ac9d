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

// TestFeedMetaData contains all meta data concerning the TestFeed contract.
var TestFeedMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[{\"internalType\":\"uint8\",\"name\":\"decimals_\",\"type\":\"uint8\"}],\"stateMutability\":\"nonpayable\",\"type\":\"constructor\"},{\"inputs\":[],\"name\":\"begin\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"decimals\",\"outputs\":[{\"internalType\":\"uint8\",\"name\":\"\",\"type\":\"uint8\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"latestRoundData\",\"outputs\":[{\"internalType\":\"uint80\",\"name\":\"\",\"type\":\"uint80\"},{\"internalType\":\"int256\",\"name\":\"\",\"type\":\"int256\"},{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"},{\"internalType\":\"uint80\",\"name\":\"\",\"type\":\"uint80\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"int256\",\"name\":\"answer_\",\"type\":\"int256\"},{\"internalType\":\"uint256\",\"name\":\"updatedAt_\",\"type\":\"uint256\"}],\"name\":\"post\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"uint8\",\"name\":\"decimals_\",\"type\":\"uint8\"}],\"name\":\"setDecimals\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"}]",
	ID:  "TestFeed",
	Bin: "0x6080604052348015600f57600080fd5b506040516102c23803806102c2833981016040819052602c916044565b6000805460ff191660ff92909216919091179055606c565b600060208284031215605557600080fd5b815160ff81168114606557600080fd5b9392505050565b6102478061007b6000396000f3fe608060405234801561001057600080fd5b50600436106100575760003560e01c80631bce6ff31461005c578063313ce567146100665780635fe2d7d41461008a5780637a1395aa1461009d578063feaf968c146100c1575b600080fd5b610064610107565b005b6000546100739060ff1681565b60405160ff90911681526020015b60405180910390f35b6100646100983660046101b5565b61014c565b6100646100ab3660046101d7565b6000805460ff191660ff92909216919091179055565b600054600154600254600354604080516101009095046001600160501b03908116865260208601949094528401829052606084019190915216608082015260a001610081565b6000805461010090046001600160501b031690600161012583610201565b91906101000a8154816001600160501b0302191690836001600160501b0316021790555050565b6000805461010090046001600160501b031690600161016a83610201565b82546001600160501b0391821661010093840a90810290830219909116179092556000546003805469ffffffffffffffffffff19169290910490921617905550600191909155600255565b600080604083850312156101c857600080fd5b50508035926020909101359150565b6000602082840312156101e957600080fd5b813560ff811681146101fa57600080fd5b9392505050565b60006001600160501b0382166001600160501b03810361023157634e487b7160e01b600052601160045260246000fd5b6001019291505056fea164736f6c6343000825000a",
}

// TestFeed is an auto generated Go binding around an Ethereum contract.
type TestFeed struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *TestFeed) GetABI() abi.ABI {
	return c.abi
}

// NewTestFeed creates a new instance of TestFeed.
func NewTestFeed() *TestFeed {
	parsed, err := TestFeedMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &TestFeed{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *TestFeed) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackConstructor is the Go binding used to pack the parameters required for
// contract deployment.
//
// Solidity: constructor(uint8 decimals_) returns()
func (testFeed *TestFeed) PackConstructor(decimals_ uint8) []byte {
	enc, err := testFeed.abi.Pack("", decimals_)
	if err != nil {
		panic(err)
	}
	return enc
}

// PackBegin is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x1bce6ff3.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function begin() returns()
func (testFeed *TestFeed) PackBegin() []byte {
	enc, err := testFeed.abi.Pack("begin")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackBegin is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x1bce6ff3.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function begin() returns()
func (testFeed *TestFeed) TryPackBegin() ([]byte, error) {
	return testFeed.abi.Pack("begin")
}

// PackDecimals is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x313ce567.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function decimals() view returns(uint8)
func (testFeed *TestFeed) PackDecimals() []byte {
	enc, err := testFeed.abi.Pack("decimals")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackDecimals is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x313ce567.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function decimals() view returns(uint8)
func (testFeed *TestFeed) TryPackDecimals() ([]byte, error) {
	return testFeed.abi.Pack("decimals")
}

// UnpackDecimals is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x313ce567.
//
// Solidity: function decimals() view returns(uint8)
func (testFeed *TestFeed) UnpackDecimals(data []byte) (uint8, error) {
	out, err := testFeed.abi.Unpack("decimals", data)
	if err != nil {
		return *new(uint8), err
	}
	out0 := *abi.ConvertType(out[0], new(uint8)).(*uint8)
	return out0, nil
}

// PackLatestRoundData is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xfeaf968c.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function latestRoundData() view returns(uint80, int256, uint256, uint256, uint80)
func (testFeed *TestFeed) PackLatestRoundData() []byte {
	enc, err := testFeed.abi.Pack("latestRoundData")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackLatestRoundData is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xfeaf968c.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function latestRoundData() view returns(uint80, int256, uint256, uint256, uint80)
func (testFeed *TestFeed) TryPackLatestRoundData() ([]byte, error) {
	return testFeed.abi.Pack("latestRoundData")
}

// LatestRoundDataOutput serves as a container for the return parameters of contract
// method LatestRoundData.
type LatestRoundDataOutput struct {
	Arg0 *big.Int
	Arg1 *big.Int
	Arg2 *big.Int
	Arg3 *big.Int
	Arg4 *big.Int
}

// UnpackLatestRoundData is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xfeaf968c.
//
// Solidity: function latestRoundData() view returns(uint80, int256, uint256, uint256, uint80)
func (testFeed *TestFeed) UnpackLatestRoundData(data []byte) (LatestRoundDataOutput, error) {
	out, err := testFeed.abi.Unpack("latestRoundData", data)
	outstruct := new(LatestRoundDataOutput)
	if err != nil {
		return *outstruct, err
	}
	outstruct.Arg0 = abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	outstruct.Arg1 = abi.ConvertType(out[1], new(big.Int)).(*big.Int)
	outstruct.Arg2 = abi.ConvertType(out[2], new(big.Int)).(*big.Int)
	outstruct.Arg3 = abi.ConvertType(out[3], new(big.Int)).(*big.Int)
	outstruct.Arg4 = abi.ConvertType(out[4], new(big.Int)).(*big.Int)
	return *outstruct, nil
}

// PackPost is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x5fe2d7d4.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function post(int256 answer_, uint256 updatedAt_) returns()
func (testFeed *TestFeed) PackPost(answer *big.Int, updatedAt *big.Int) []byte {
	enc, err := testFeed.abi.Pack("post", answer, updatedAt)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPost is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x5fe2d7d4.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function post(int256 answer_, uint256 updatedAt_) returns()
func (testFeed *TestFeed) TryPackPost(answer *big.Int, updatedAt *big.Int) ([]byte, error) {
	return testFeed.abi.Pack("post", answer, updatedAt)
}

// PackSetDecimals is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x7a1395aa.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function setDecimals(uint8 decimals_) returns()
func (testFeed *TestFeed) PackSetDecimals(decimals uint8) []byte {
	enc, err := testFeed.abi.Pack("setDecimals", decimals)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSetDecimals is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x7a1395aa.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function setDecimals(uint8 decimals_) returns()
func (testFeed *TestFeed) TryPackSetDecimals(decimals uint8) ([]byte, error) {
	return testFeed.abi.Pack("setDecimals", decimals)
}
