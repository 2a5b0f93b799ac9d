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

// FreezableTokenMetaData contains all meta data concerning the FreezableToken contract.
var FreezableTokenMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[{\"internalType\":\"string\",\"name\":\"name_\",\"type\":\"string\"},{\"internalType\":\"string\",\"name\":\"symbol_\",\"type\":\"string\"},{\"internalType\":\"uint8\",\"name\":\"decimals_\",\"type\":\"uint8\"}],\"stateMutability\":\"nonpayable\",\"type\":\"constructor\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"has\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needs\",\"type\":\"uint256\"}],\"name\":\"AllowanceTooLow\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"account\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"has\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needs\",\"type\":\"uint256\"}],\"name\":\"BalanceTooLow\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"caller\",\"type\":\"address\"}],\"name\":\"NotOwner\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Refused\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"ZeroReceiver\",\"type\":\"error\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"owner\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Approval\",\"type\":\"event\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Transfer\",\"type\":\"event\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"allowance\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"approve\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"balanceOf\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"decimals\",\"outputs\":[{\"internalType\":\"uint8\",\"name\":\"\",\"type\":\"uint8\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"account\",\"type\":\"address\"},{\"internalType\":\"bool\",\"name\":\"frozen_\",\"type\":\"bool\"}],\"name\":\"freeze\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"frozen\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"limit\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"mint\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"name\",\"outputs\":[{\"internalType\":\"string\",\"name\":\"\",\"type\":\"string\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"owner\",\"outputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"bool\",\"name\":\"paused_\",\"type\":\"bool\"}],\"name\":\"pause\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"paused\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"quiet\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"uint256\",\"name\":\"limit_\",\"type\":\"uint256\"}],\"name\":\"setLimit\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"bool\",\"name\":\"quiet_\",\"type\":\"bool\"}],\"name\":\"setQuiet\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"symbol\",\"outputs\":[{\"internalType\":\"string\",\"name\":\"\",\"type\":\"string\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"totalSupply\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"transfer\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"transferFrom\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"}]",
	ID:  "FreezableToken",
	Bin: "0x60c060405234801561001057600080fd5b50604051610d1d380380610d1d83398101604081905261002f9161011a565b828282600061003e8482610233565b50600161004b8382610233565b5060ff1660805250503360a052506102f5915050565b634e487b7160e01b600052604160045260246000fd5b600082601f83011261008857600080fd5b81516001600160401b038111156100a1576100a1610061565b604051601f8201601f19908116603f011681016001600160401b03811182821017156100cf576100cf610061565b6040528181528382016020018510156100e757600080fd5b60005b82811015610106576020818601810151838301820152016100ea565b506000918101602001919091529392505050565b60008060006060848603121561012f57600080fd5b83516001600160401b0381111561014557600080fd5b61015186828701610077565b602086015190945090506001600160401b0381111561016f57600080fd5b61017b86828701610077565b925050604084015160ff8116811461019257600080fd5b809150509250925092565b600181811c908216806101b157607f821691505b6020821081036101d157634e487b7160e01b600052602260045260246000fd5b50919050565b601f82111561022e578282111561022e57806000526020600020601f840160051c6020851015610205575060005b90810190601f840160051c0360005b8181101561022a57600083820155600101610214565b5050505b505050565b81516001600160401b0381111561024c5761024c610061565b6102608161025a845461019d565b846101d7565b6020601f821160018114610294576000831561027c5750848201515b600019600385901b1c1916600184901b1784556102ee565b600084815260208120601f198516915b828110156102c457878501518255602094850194600190920191016102a4565b50848210156102e25786840151600019600387901b60f8161c191681555b505060018360011b0184555b5050505050565b60805160a0516109fc610321600039600081816102450152610512015260006101cc01526109fc6000f3fe608060405234801561001057600080fd5b50600436106101215760003560e01c806370a08231116100ad578063bf120ae511610071578063bf120ae5146102a3578063c54f2d7b146102dc578063d051665014610304578063dc433dec14610327578063dd62ed3e1461033957600080fd5b806370a08231146102205780638da5cb5b1461024057806395d89b411461027f578063a4d66daf14610287578063a9059cbb1461029057600080fd5b806323b872dd116100f457806323b872dd146101a157806327ea6f2b146101b4578063313ce567146101c757806340c10f19146102005780635c975abb1461021357600080fd5b806302329a291461012657806306fdde0314610149578063095ea7b31461016757806318160ddd1461018a575b600080fd5b6101476101343660046107fa565b6006805460ff1916911515919091179055565b005b610151610364565b60405161015e919061081c565b60405180910390f35b61017a610175366004610881565b6103f2565b604051901515815260200161015e565b61019360025481565b60405190815260200161015e565b61017a6101af3660046108ab565b61045f565b6101476101c23660046108e8565b600755565b6101ee7f000000000000000000000000000000000000000000000000000000000000000081565b60405160ff909116815260200161015e565b61014761020e366004610881565b610507565b60065461017a9060ff1681565b61019361022e366004610901565b60036020526000908152604090205481565b6102677f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b03909116815260200161015e565b610151610602565b61019360075481565b61017a61029e366004610881565b61060f565b6101476102b136600461091c565b6001600160a01b03919091166000908152600560205260409020805460ff1916911515919091179055565b6101476102ea3660046107fa565b600680549115156101000261ff0019909216919091179055565b61017a610312366004610901565b60056020526000908152604090205460ff1681565b60065461017a90610100900460ff1681565b61019361034736600461094f565b600460209081526000928352604080842090915290825290205481565b6000805461037190610979565b80601f016020809104026020016040519081016040528092919081815260200182805461039d90610979565b80156103ea5780601f106103bf576101008083540402835291602001916103ea565b820191906000526020600020905b8154815290600101906020018083116103cd57829003601f168201915b505050505081565b3360008181526004602090815260408083206001600160a01b038716808552925280832085905551919290917f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b9259061044d9086815260200190565b60405180910390a35060015b92915050565b6001600160a01b0383166000908152600460209081526040808320338452909152812054828110156104b957604051634eabd6f760e01b815233600482015260248101829052604481018490526064015b60405180910390fd5b60001981146104f1576104cc83826109c9565b6001600160a01b03861660009081526004602090815260408083203384529091529020555b6104fc858585610625565b506001949350505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146105525760405163245aecd360e01b81523360048201526024016104b0565b6001600160a01b03821661057957604051630d753d9b60e31b815260040160405180910390fd5b806002600082825461058b91906109dc565b90915550506001600160a01b038216600090815260036020526040812080548392906105b89084906109dc565b90915550506040518181526001600160a01b038316906000907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b6001805461037190610979565b600061061c338484610625565b50600192915050565b60065460009060ff168061065157506001600160a01b03841660009081526005602052604090205460ff165b8061067457506001600160a01b03831660009081526005602052604090205460ff165b8061068d5750600060075411801561068d575060075482115b90508080156106a45750600654610100900460ff16155b156106dc57604051636cd9f1a360e01b81526001600160a01b03808616600483015284166024820152604481018390526064016104b0565b80156106ec576000805260206000f35b6106f78484846106fd565b50505050565b6001600160a01b03821661072457604051630d753d9b60e31b815260040160405180910390fd5b6001600160a01b03831660009081526003602052604090205481811015610777576040516359f04ff760e11b81526001600160a01b038516600482015260248101829052604481018390526064016104b0565b6001600160a01b0380851660008181526003602052604080822086860390559286168082529083902080548601905591517fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef906107d79086815260200190565b60405180910390a350505050565b803580151581146107f557600080fd5b919050565b60006020828403121561080c57600080fd5b610815826107e5565b9392505050565b602081526000825180602084015260005b8181101561084a576020818601810151604086840101520161082d565b506000604082850101526040601f19601f83011684010191505092915050565b80356001600160a01b03811681146107f557600080fd5b6000806040838503121561089457600080fd5b61089d8361086a565b946020939093013593505050565b6000806000606084860312156108c057600080fd5b6108c98461086a565b92506108d76020850161086a565b929592945050506040919091013590565b6000602082840312156108fa57600080fd5b5035919050565b60006020828403121561091357600080fd5b6108158261086a565b6000806040838503121561092f57600080fd5b6109388361086a565b9150610946602084016107e5565b90509250929050565b6000806040838503121561096257600080fd5b61096b8361086a565b91506109466020840161086a565b600181811c9082168061098d57607f821691505b6020821081036109ad57634e487b7160e01b600052602260045260246000fd5b50919050565b634e487b7160e01b600052601160045260246000fd5b81810381811115610459576104596109b3565b80820180821115610459576104596109b356fea164736f6c6343000825000a",
}

// FreezableToken is an auto generated Go binding around an Ethereum contract.
type FreezableToken struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *FreezableToken) GetABI() abi.ABI {
	return c.abi
}

// NewFreezableToken creates a new instance of FreezableToken.
func NewFreezableToken() *FreezableToken {
	parsed, err := FreezableTokenMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &FreezableToken{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *FreezableToken) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackConstructor is the Go binding used to pack the parameters required for
// contract deployment.
//
// Solidity: constructor(string name_, string symbol_, uint8 decimals_) returns()
func (freezableToken *FreezableToken) PackConstructor(name_ string, symbol_ string, decimals_ uint8) []byte {
	enc, err := freezableToken.abi.Pack("", name_, symbol_, decimals_)
	if err != nil {
		panic(err)
	}
	return enc
}

// PackAllowance is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdd62ed3e.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function allowance(address , address ) view returns(uint256)
func (freezableToken *FreezableToken) PackAllowance(arg0 common.Address, arg1 common.Address) []byte {
	enc, err := freezableToken.abi.Pack("allowance", arg0, arg1)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackAllowance is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdd62ed3e.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function allowance(address , address ) view returns(uint256)
func (freezableToken *FreezableToken) TryPackAllowance(arg0 common.Address, arg1 common.Address) ([]byte, error) {
	return freezableToken.abi.Pack("allowance", arg0, arg1)
}

// UnpackAllowance is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xdd62ed3e.
//
// Solidity: function allowance(address , address ) view returns(uint256)
func (freezableToken *FreezableToken) UnpackAllowance(data []byte) (*big.Int, error) {
	out, err := freezableToken.abi.Unpack("allowance", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackApprove is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x095ea7b3.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function approve(address spender, uint256 value) returns(bool)
func (freezableToken *FreezableToken) PackApprove(spender common.Address, value *big.Int) []byte {
	enc, err := freezableToken.abi.Pack("approve", spender, value)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackApprove is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x095ea7b3.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function approve(address spender, uint256 value) returns(bool)
func (freezableToken *FreezableToken) TryPackApprove(spender common.Address, value *big.Int) ([]byte, error) {
	return freezableToken.abi.Pack("approve", spender, value)
}

// UnpackApprove is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x095ea7b3.
//
// Solidity: function approve(address spender, uint256 value) returns(bool)
func (freezableToken *FreezableToken) UnpackApprove(data []byte) (bool, error) {
	out, err := freezableToken.abi.Unpack("approve", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// PackBalanceOf is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x70a08231.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function balanceOf(address ) view returns(uint256)
func (freezableToken *FreezableToken) PackBalanceOf(arg0 common.Address) []byte {
	enc, err := freezableToken.abi.Pack("balanceOf", arg0)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackBalanceOf is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x70a08231.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function balanceOf(address ) view returns(uint256)
func (freezableToken *FreezableToken) TryPackBalanceOf(arg0 common.Address) ([]byte, error) {
	return freezableToken.abi.Pack("balanceOf", arg0)
}

// UnpackBalanceOf is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x70a08231.
//
// Solidity: function balanceOf(address ) view returns(uint256)
func (freezableToken *FreezableToken) UnpackBalanceOf(data []byte) (*big.Int, error) {
	out, err := freezableToken.abi.Unpack("balanceOf", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackDecimals is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x313ce567.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function decimals() view returns(uint8)
func (freezableToken *FreezableToken) PackDecimals() []byte {
	enc, err := freezableToken.abi.Pack("decimals")
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
func (freezableToken *FreezableToken) TryPackDecimals() ([]byte, error) {
	return freezableToken.abi.Pack("decimals")
}

// UnpackDecimals is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x313ce567.
//
// Solidity: function decimals() view returns(uint8)
func (freezableToken *FreezableToken) UnpackDecimals(data []byte) (uint8, error) {
	out, err := freezableToken.abi.Unpack("decimals", data)
	if err != nil {
		return *new(uint8), err
	}
	out0 := *abi.ConvertType(out[0], new(uint8)).(*uint8)
	return out0, nil
}

// PackFreeze is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xbf120ae5.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function freeze(address account, bool frozen_) returns()
func (freezableToken *FreezableToken) PackFreeze(account common.Address, frozen bool) []byte {
	enc, err := freezableToken.abi.Pack("freeze", account, frozen)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackFreeze is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xbf120ae5.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function freeze(address account, bool frozen_) returns()
func (freezableToken *FreezableToken) TryPackFreeze(account common.Address, frozen bool) ([]byte, error) {
	return freezableToken.abi.Pack("freeze", account, frozen)
}

// PackFrozen is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xd0516650.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function frozen(address ) view returns(bool)
func (freezableToken *FreezableToken) PackFrozen(arg0 common.Address) []byte {
	enc, err := freezableToken.abi.Pack("frozen", arg0)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackFrozen is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xd0516650.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function frozen(address ) view returns(bool)
func (freezableToken *FreezableToken) TryPackFrozen(arg0 common.Address) ([]byte, error) {
	return freezableToken.abi.Pack("frozen", arg0)
}

// UnpackFrozen is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xd0516650.
//
// Solidity: function frozen(address ) view returns(bool)
func (freezableToken *FreezableToken) UnpackFrozen(data []byte) (bool, error) {
	out, err := freezableToken.abi.Unpack("frozen", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// PackLimit is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa4d66daf.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function limit() view returns(uint256)
func (freezableToken *FreezableToken) PackLimit() []byte {
	enc, err := freezableToken.abi.Pack("limit")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackLimit is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa4d66daf.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function limit() view returns(uint256)
func (freezableToken *FreezableToken) TryPackLimit() ([]byte, error) {
	return freezableToken.abi.Pack("limit")
}

// UnpackLimit is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xa4d66daf.
//
// Solidity: function limit() view returns(uint256)
func (freezableToken *FreezableToken) UnpackLimit(data []byte) (*big.Int, error) {
	out, err := freezableToken.abi.Unpack("limit", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackMint is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x40c10f19.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function mint(address to, uint256 value) returns()
func (freezableToken *FreezableToken) PackMint(to common.Address, value *big.Int) []byte {
	enc, err := freezableToken.abi.Pack("mint", to, value)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackMint is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x40c10f19.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function mint(address to, uint256 value) returns()
func (freezableToken *FreezableToken) TryPackMint(to common.Address, value *big.Int) ([]byte, error) {
	return freezableToken.abi.Pack("mint", to, value)
}

// PackName is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x06fdde03.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function name() view returns(string)
func (freezableToken *FreezableToken) PackName() []byte {
	enc, err := freezableToken.abi.Pack("name")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackName is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x06fdde03.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function name() view returns(string)
func (freezableToken *FreezableToken) TryPackName() ([]byte, error) {
	return freezableToken.abi.Pack("name")
}

// UnpackName is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x06fdde03.
//
// Solidity: function name() view returns(string)
func (freezableToken *FreezableToken) UnpackName(data []byte) (string, error) {
	out, err := freezableToken.abi.Unpack("name", data)
	if err != nil {
		return *new(string), err
	}
	out0 := *abi.ConvertType(out[0], new(string)).(*string)
	return out0, nil
}

// PackOwner is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x8da5cb5b.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function owner() view returns(address)
func (freezableToken *FreezableToken) PackOwner() []byte {
	enc, err := freezableToken.abi.Pack("owner")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackOwner is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x8da5cb5b.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function owner() view returns(address)
func (freezableToken *FreezableToken) TryPackOwner() ([]byte, error) {
	return freezableToken.abi.Pack("owner")
}

// UnpackOwner is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x8da5cb5b.
//
// Solidity: function owner() view returns(address)
func (freezableToken *FreezableToken) UnpackOwner(data []byte) (common.Address, error) {
	out, err := freezableToken.abi.Unpack("owner", data)
	if err != nil {
		return *new(common.Address), err
	}
	out0 := *abi.ConvertType(out[0], new(common.Address)).(*common.Address)
	return out0, nil
}

// PackPause is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x02329a29.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function pause(bool paused_) returns()
func (freezableToken *FreezableToken) PackPause(paused bool) []byte {
	enc, err := freezableToken.abi.Pack("pause", paused)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPause is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x02329a29.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function pause(bool paused_) returns()
func (freezableToken *FreezableToken) TryPackPause(paused bool) ([]byte, error) {
	return freezableToken.abi.Pack("pause", paused)
}

// PackPaused is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x5c975abb.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function paused() view returns(bool)
func (freezableToken *FreezableToken) PackPaused() []byte {
	enc, err := freezableToken.abi.Pack("paused")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPaused is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x5c975abb.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function paused() view returns(bool)
func (freezableToken *FreezableToken) TryPackPaused() ([]byte, error) {
	return freezableToken.abi.Pack("paused")
}

// UnpackPaused is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x5c975abb.
//
// Solidity: function paused() view returns(bool)
func (freezableToken *FreezableToken) UnpackPaused(data []byte) (bool, error) {
	out, err := freezableToken.abi.Unpack("paused", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// PackQuiet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdc433dec.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function quiet() view returns(bool)
func (freezableToken *FreezableToken) PackQuiet() []byte {
	enc, err := freezableToken.abi.Pack("quiet")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackQuiet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdc433dec.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function quiet() view returns(bool)
func (freezableToken *FreezableToken) TryPackQuiet() ([]byte, error) {
	return freezableToken.abi.Pack("quiet")
}

// UnpackQuiet is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xdc433dec.
//
// Solidity: function quiet() view returns(bool)
func (freezableToken *FreezableToken) UnpackQuiet(data []byte) (bool, error) {
	out, err := freezableToken.abi.Unpack("quiet", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// PackSetLimit is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x27ea6f2b.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function setLimit(uint256 limit_) returns()
func (freezableToken *FreezableToken) PackSetLimit(limit *big.Int) []byte {
	enc, err := freezableToken.abi.Pack("setLimit", limit)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSetLimit is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x27ea6f2b.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function setLimit(uint256 limit_) returns()
func (freezableToken *FreezableToken) TryPackSetLimit(limit *big.Int) ([]byte, error) {
	return freezableToken.abi.Pack("setLimit", limit)
}

// PackSetQuiet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xc54f2d7b.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function setQuiet(bool quiet_) returns()
func (freezableToken *FreezableToken) PackSetQuiet(quiet bool) []byte {
	enc, err := freezableToken.abi.Pack("setQuiet", quiet)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSetQuiet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xc54f2d7b.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function setQuiet(bool quiet_) returns()
func (freezableToken *FreezableToken) TryPackSetQuiet(quiet bool) ([]byte, error) {
	return freezableToken.abi.Pack("setQuiet", quiet)
}

// PackSymbol is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x95d89b41.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function symbol() view returns(string)
func (freezableToken *FreezableToken) PackSymbol() []byte {
	enc, err := freezableToken.abi.Pack("symbol")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSymbol is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x95d89b41.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function symbol() view returns(string)
func (freezableToken *FreezableToken) TryPackSymbol() ([]byte, error) {
	return freezableToken.abi.Pack("symbol")
}

// UnpackSymbol is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x95d89b41.
//
// Solidity: function symbol() view returns(string)
func (freezableToken *FreezableToken) UnpackSymbol(data []byte) (string, error) {
	out, err := freezableToken.abi.Unpack("symbol", data)
	if err != nil {
		return *new(string), err
	}
	out0 := *abi.ConvertType(out[0], new(string)).(*string)
	return out0, nil
}

// PackTotalSupply is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x18160ddd.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function totalSupply() view returns(uint256)
func (freezableToken *FreezableToken) PackTotalSupply() []byte {
	enc, err := freezableToken.abi.Pack("totalSupply")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackTotalSupply is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x18160ddd.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function totalSupply() view returns(uint256)
func (freezableToken *FreezableToken) TryPackTotalSupply() ([]byte, error) {
	return freezableToken.abi.Pack("totalSupply")
}

// UnpackTotalSupply is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x18160ddd.
//
// Solidity: function totalSupply() view returns(uint256)
func (freezableToken *FreezableToken) UnpackTotalSupply(data []byte) (*big.Int, error) {
	out, err := freezableToken.abi.Unpack("totalSupply", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackTransfer is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa9059cbb.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function transfer(address to, uint256 value) returns(bool)
func (freezableToken *FreezableToken) PackTransfer(to common.Address, value *big.Int) []byte {
	enc, err := freezableToken.abi.Pack("transfer", to, value)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackTransfer is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa9059cbb.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function transfer(address to, uint256 value) returns(bool)
func (freezableToken *FreezableToken) TryPackTransfer(to common.Address, value *big.Int) ([]byte, error) {
	return freezableToken.abi.Pack("transfer", to, value)
}

// UnpackTransfer is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xa9059cbb.
//
// Solidity: function transfer(address to, uint256 value) returns(bool)
func (freezableToken *FreezableToken) UnpackTransfer(data []byte) (bool, error) {
	out, err := freezableToken.abi.Unpack("transfer", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// PackTransferFrom is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x23b872dd.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function transferFrom(address from, address to, uint256 value) returns(bool)
func (freezableToken *FreezableToken) PackTransferFrom(from common.Address, to common.Address, value *big.Int) []byte {
	enc, err := freezableToken.abi.Pack("transferFrom", from, to, value)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackTransferFrom is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x23b872dd.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function transferFrom(address from, address to, uint256 value) returns(bool)
func (freezableToken *FreezableToken) TryPackTransferFrom(from common.Address, to common.Address, value *big.Int) ([]byte, error) {
	return freezableToken.abi.Pack("transferFrom", from, to, value)
}

// UnpackTransferFrom is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x23b872dd.
//
// Solidity: function transferFrom(address from, address to, uint256 value) returns(bool)
func (freezableToken *FreezableToken) UnpackTransferFrom(data []byte) (bool, error) {
	out, err := freezableToken.abi.Unpack("transferFrom", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// FreezableTokenApproval represents a Approval event raised by the FreezableToken contract.
type FreezableTokenApproval struct {
	Owner   common.Address
	Spender common.Address
	Value   *big.Int
	Raw     *types.Log // Blockchain specific contextual infos
}

const FreezableTokenApprovalEventName = "Approval"

// ContractEventName returns the user-defined event name.
func (FreezableTokenApproval) ContractEventName() string {
	return FreezableTokenApprovalEventName
}

// UnpackApprovalEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Approval(address indexed owner, address indexed spender, uint256 value)
func (freezableToken *FreezableToken) UnpackApprovalEvent(log *types.Log) (*FreezableTokenApproval, error) {
	event := "Approval"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != freezableToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(FreezableTokenApproval)
	if len(log.Data) > 0 {
		if err := freezableToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range freezableToken.abi.Events[event].Inputs {
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

// FreezableTokenTransfer represents a Transfer event raised by the FreezableToken contract.
type FreezableTokenTransfer struct {
	From  common.Address
	To    common.Address
	Value *big.Int
	Raw   *types.Log // Blockchain specific contextual infos
}

const FreezableTokenTransferEventName = "Transfer"

// ContractEventName returns the user-defined event name.
func (FreezableTokenTransfer) ContractEventName() string {
	return FreezableTokenTransferEventName
}

// UnpackTransferEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Transfer(address indexed from, address indexed to, uint256 value)
func (freezableToken *FreezableToken) UnpackTransferEvent(log *types.Log) (*FreezableTokenTransfer, error) {
	event := "Transfer"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != freezableToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(FreezableTokenTransfer)
	if len(log.Data) > 0 {
		if err := freezableToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range freezableToken.abi.Events[event].Inputs {
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

// UnpackError attempts to decode the provided error data using user-defined
// error definitions.
func (freezableToken *FreezableToken) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], freezableToken.abi.Errors["AllowanceTooLow"].ID.Bytes()[:4]) {
		return freezableToken.UnpackAllowanceTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], freezableToken.abi.Errors["BalanceTooLow"].ID.Bytes()[:4]) {
		return freezableToken.UnpackBalanceTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], freezableToken.abi.Errors["NotOwner"].ID.Bytes()[:4]) {
		return freezableToken.UnpackNotOwnerError(raw[4:])
	}
	if bytes.Equal(raw[:4], freezableToken.abi.Errors["Refused"].ID.Bytes()[:4]) {
		return freezableToken.UnpackRefusedError(raw[4:])
	}
	if bytes.Equal(raw[:4], freezableToken.abi.Errors["ZeroReceiver"].ID.Bytes()[:4]) {
		return freezableToken.UnpackZeroReceiverError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// FreezableTokenAllowanceTooLow represents a AllowanceTooLow error raised by the FreezableToken contract.
type FreezableTokenAllowanceTooLow struct {
	Spender common.Address
	Has     *big.Int
	Needs   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error AllowanceTooLow(address spender, uint256 has, uint256 needs)
func FreezableTokenAllowanceTooLowErrorID() common.Hash {
	return common.HexToHash("0x4eabd6f7ec5c5797297d7d498976e4edc51a9090c308f66021ee8609dbe4d00f")
}

// UnpackAllowanceTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error AllowanceTooLow(address spender, uint256 has, uint256 needs)
func (freezableToken *FreezableToken) UnpackAllowanceTooLowError(raw []byte) (*FreezableTokenAllowanceTooLow, error) {
	out := new(FreezableTokenAllowanceTooLow)
	if err := freezableToken.abi.UnpackIntoInterface(out, "AllowanceTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// FreezableTokenBalanceTooLow represents a BalanceTooLow error raised by the FreezableToken contract.
type FreezableTokenBalanceTooLow struct {
	Account common.Address
	Has     *big.Int
	Needs   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error BalanceTooLow(address account, uint256 has, uint256 needs)
func FreezableTokenBalanceTooLowErrorID() common.Hash {
	return common.HexToHash("0xb3e09feed30870d6645167a2f551b394d4cf007a2c28de1b1328af968e47d7c2")
}

// UnpackBalanceTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error BalanceTooLow(address account, uint256 has, uint256 needs)
func (freezableToken *FreezableToken) UnpackBalanceTooLowError(raw []byte) (*FreezableTokenBalanceTooLow, error) {
	out := new(FreezableTokenBalanceTooLow)
	if err := freezableToken.abi.UnpackIntoInterface(out, "BalanceTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// FreezableTokenNotOwner represents a NotOwner error raised by the FreezableToken contract.
type FreezableTokenNotOwner struct {
	Caller common.Address
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NotOwner(address caller)
func FreezableTokenNotOwnerErrorID() common.Hash {
	return common.HexToHash("0x245aecd3fabbd17d6c3c92dc7f0ab916ea8cbf6fc1862c8b56893090ac3fff4c")
}

// UnpackNotOwnerError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NotOwner(address caller)
func (freezableToken *FreezableToken) UnpackNotOwnerError(raw []byte) (*FreezableTokenNotOwner, error) {
	out := new(FreezableTokenNotOwner)
	if err := freezableToken.abi.UnpackIntoInterface(out, "NotOwner", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// FreezableTokenRefused represents a Refused error raised by the FreezableToken contract.
type FreezableTokenRefused struct {
	From  common.Address
	To    common.Address
	Value *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error Refused(address from, address to, uint256 value)
func FreezableTokenRefusedErrorID() common.Hash {
	return common.HexToHash("0x6cd9f1a330d83b8c2346c1b5ef8e1fca8e368e77743e27bcd8eb2d20bafb01c6")
}

// UnpackRefusedError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error Refused(address from, address to, uint256 value)
func (freezableToken *FreezableToken) UnpackRefusedError(raw []byte) (*FreezableTokenRefused, error) {
	out := new(FreezableTokenRefused)
	if err := freezableToken.abi.UnpackIntoInterface(out, "Refused", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// FreezableTokenZeroReceiver represents a ZeroReceiver error raised by the FreezableToken contract.
type FreezableTokenZeroReceiver struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error ZeroReceiver()
func FreezableTokenZeroReceiverErrorID() common.Hash {
	return common.HexToHash("0x6ba9ecd878fa468e149195b419d3e55375c73c59c7dad6b0c64dc4525650ade2")
}

// UnpackZeroReceiverError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error ZeroReceiver()
func (freezableToken *FreezableToken) UnpackZeroReceiverError(raw []byte) (*FreezableTokenZeroReceiver, error) {
	out := new(FreezableTokenZeroReceiver)
	if err := freezableToken.abi.UnpackIntoInterface(out, "ZeroReceiver", raw); err != nil {
		return nil, err
	}
	return out, nil
}
