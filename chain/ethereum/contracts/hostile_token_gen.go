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

// HostileTokenMetaData contains all meta data concerning the HostileToken contract.
var HostileTokenMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"constructor\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"has\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needs\",\"type\":\"uint256\"}],\"name\":\"AllowanceTooLow\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"account\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"has\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needs\",\"type\":\"uint256\"}],\"name\":\"BalanceTooLow\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"caller\",\"type\":\"address\"}],\"name\":\"NotOwner\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"ZeroReceiver\",\"type\":\"error\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"owner\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Approval\",\"type\":\"event\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Transfer\",\"type\":\"event\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"allowance\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"approve\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"balanceOf\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"decimals\",\"outputs\":[{\"internalType\":\"uint8\",\"name\":\"\",\"type\":\"uint8\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"mint\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"mode\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"name\",\"outputs\":[{\"internalType\":\"string\",\"name\":\"\",\"type\":\"string\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"owner\",\"outputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"payee\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"mode_\",\"type\":\"uint256\"}],\"name\":\"set\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"symbol\",\"outputs\":[{\"internalType\":\"string\",\"name\":\"\",\"type\":\"string\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"totalSupply\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"transfer\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"transferFrom\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"}]",
	ID:  "HostileToken",
	Bin: "0x60c060405234801561001057600080fd5b5060405180604001604052806007815260200166486f7374696c6560c81b815250604051806040016040528060048152602001631213d4d560e21b8152506006826000908161005f919061012a565b50600161006c838261012a565b5060ff1660805250503360a0526101ec565b634e487b7160e01b600052604160045260246000fd5b600181811c908216806100a857607f821691505b6020821081036100c857634e487b7160e01b600052602260045260246000fd5b50919050565b601f821115610125578282111561012557806000526020600020601f840160051c60208510156100fc575060005b90810190601f840160051c0360005b818110156101215760008382015560010161010b565b5050505b505050565b81516001600160401b038111156101435761014361007e565b610157816101518454610094565b846100ce565b6020601f82116001811461018b57600083156101735750848201515b600019600385901b1c1916600184901b1784556101e5565b600084815260208120601f198516915b828110156101bb578785015182556020948501946001909201910161019b565b50848210156101d95786840151600019600387901b60f8161c191681555b505060018360011b0184555b5050505050565b60805160a051610a39610218600039600081816101fc01526105ff015260006101640152610a396000f3fe608060405234801561001057600080fd5b50600436106100cf5760003560e01c80633825d8281161008c5780638da5cb5b116100665780638da5cb5b146101f757806395d89b4114610236578063a9059cbb1461023e578063dd62ed3e1461025157600080fd5b80633825d8281461019857806340c10f19146101c457806370a08231146101d757600080fd5b806306fdde03146100d4578063095ea7b3146100f257806318160ddd1461011557806323b872dd1461012c5780632acd78c21461013f578063313ce5671461015f575b600080fd5b6100dc61027c565b6040516100e99190610845565b60405180910390f35b610105610100366004610874565b61030a565b60405190151581526020016100e9565b61011e60025481565b6040519081526020016100e9565b61010561013a36600461089e565b610377565b61011e61014d3660046108db565b60056020526000908152604090205481565b6101867f000000000000000000000000000000000000000000000000000000000000000081565b60405160ff90911681526020016100e9565b6101c26101a6366004610874565b6001600160a01b03909116600090815260056020526040902055565b005b6101c26101d2366004610874565b6105f4565b61011e6101e53660046108db565b60036020526000908152604090205481565b61021e7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b0390911681526020016100e9565b6100dc6106f4565b61010561024c366004610874565b610701565b61011e61025f3660046108f6565b600460209081526000928352604080842090915290825290205481565b6000805461028990610929565b80601f01602080910402602001604051908101604052809291908181526020018280546102b590610929565b80156103025780601f106102d757610100808354040283529160200191610302565b820191906000526020600020905b8154815290600101906020018083116102e557829003601f168201915b505050505081565b3360008181526004602090815260408083206001600160a01b038716808552925280832085905551919290917f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925906103659086815260200190565b60405180910390a35060015b92915050565b6001600160a01b038216600090815260056020526040812054600181900361039e57600080fd5b806002036103b05760009150506105ed565b806003036103be575b6103b9565b806004036103ce57620186a06000fd5b806007036103e05760019150506105ed565b80600a0361044d576001600160a01b03851660009081526003602052604081208054859290610410908490610979565b90915550506001600160a01b0384166000908152600360205260408120805485929061043d90849061098c565b90915550600092506105ed915050565b6104708585836008146104605785610717565b61046b60028761099f565b610717565b806009036105bb576001600160a01b038416600090815260056020526040808220919091555163095ea7b360e01b81523360048201526000196024820152309063095ea7b3906044016020604051808303816000875af11580156104d8573d6000803e3d6000fd5b505050506040513d601f19601f820116820180604052508101906104fc91906109c1565b5060408051606086901b6bffffffffffffffffffffffff191660208201526000603482015281516024818303018152604482019283905263ec817e5b60e01b909252339163ec817e5b9161055a913091620186a091906048016109e3565b6020604051808303816000875af1158015610579573d6000803e3d6000fd5b505050506040513d601f19601f8201168201806040525081019061059d9190610a13565b506001600160a01b0384166000908152600560205260409020600990555b6001600052600581036105cf576127106000f35b600681036105d957005b600b81036105e75760026000525b60206000f35b9392505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146106445760405163245aecd360e01b81523360048201526024015b60405180910390fd5b6001600160a01b03821661066b57604051630d753d9b60e31b815260040160405180910390fd5b806002600082825461067d919061098c565b90915550506001600160a01b038216600090815260036020526040812080548392906106aa90849061098c565b90915550506040518181526001600160a01b038316906000907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b6001805461028990610929565b600061070e338484610717565b50600192915050565b6001600160a01b03821661073e57604051630d753d9b60e31b815260040160405180910390fd5b6001600160a01b03831660009081526003602052604090205481811015610791576040516359f04ff760e11b81526001600160a01b0385166004820152602481018290526044810183905260640161063b565b6001600160a01b0380851660008181526003602052604080822086860390559286168082529083902080548601905591517fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef906107f19086815260200190565b60405180910390a350505050565b6000815180845260005b8181101561082557602081850181015186830182015201610809565b506000602082860101526020601f19601f83011685010191505092915050565b6020815260006105ed60208301846107ff565b80356001600160a01b038116811461086f57600080fd5b919050565b6000806040838503121561088757600080fd5b61089083610858565b946020939093013593505050565b6000806000606084860312156108b357600080fd5b6108bc84610858565b92506108ca60208501610858565b929592945050506040919091013590565b6000602082840312156108ed57600080fd5b6105ed82610858565b6000806040838503121561090957600080fd5b61091283610858565b915061092060208401610858565b90509250929050565b600181811c9082168061093d57607f821691505b60208210810361095d57634e487b7160e01b600052602260045260246000fd5b50919050565b634e487b7160e01b600052601160045260246000fd5b8181038181111561037157610371610963565b8082018082111561037157610371610963565b6000826109bc57634e487b7160e01b600052601260045260246000fd5b500490565b6000602082840312156109d357600080fd5b815180151581146105ed57600080fd5b60018060a01b0384168152826020820152606060408201526000610a0a60608301846107ff565b95945050505050565b600060208284031215610a2557600080fd5b505191905056fea164736f6c6343000825000a",
}

// HostileToken is an auto generated Go binding around an Ethereum contract.
type HostileToken struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *HostileToken) GetABI() abi.ABI {
	return c.abi
}

// NewHostileToken creates a new instance of HostileToken.
func NewHostileToken() *HostileToken {
	parsed, err := HostileTokenMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &HostileToken{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *HostileToken) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackAllowance is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xdd62ed3e.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function allowance(address , address ) view returns(uint256)
func (hostileToken *HostileToken) PackAllowance(arg0 common.Address, arg1 common.Address) []byte {
	enc, err := hostileToken.abi.Pack("allowance", arg0, arg1)
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
func (hostileToken *HostileToken) TryPackAllowance(arg0 common.Address, arg1 common.Address) ([]byte, error) {
	return hostileToken.abi.Pack("allowance", arg0, arg1)
}

// UnpackAllowance is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xdd62ed3e.
//
// Solidity: function allowance(address , address ) view returns(uint256)
func (hostileToken *HostileToken) UnpackAllowance(data []byte) (*big.Int, error) {
	out, err := hostileToken.abi.Unpack("allowance", data)
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
func (hostileToken *HostileToken) PackApprove(spender common.Address, value *big.Int) []byte {
	enc, err := hostileToken.abi.Pack("approve", spender, value)
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
func (hostileToken *HostileToken) TryPackApprove(spender common.Address, value *big.Int) ([]byte, error) {
	return hostileToken.abi.Pack("approve", spender, value)
}

// UnpackApprove is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x095ea7b3.
//
// Solidity: function approve(address spender, uint256 value) returns(bool)
func (hostileToken *HostileToken) UnpackApprove(data []byte) (bool, error) {
	out, err := hostileToken.abi.Unpack("approve", data)
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
func (hostileToken *HostileToken) PackBalanceOf(arg0 common.Address) []byte {
	enc, err := hostileToken.abi.Pack("balanceOf", arg0)
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
func (hostileToken *HostileToken) TryPackBalanceOf(arg0 common.Address) ([]byte, error) {
	return hostileToken.abi.Pack("balanceOf", arg0)
}

// UnpackBalanceOf is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x70a08231.
//
// Solidity: function balanceOf(address ) view returns(uint256)
func (hostileToken *HostileToken) UnpackBalanceOf(data []byte) (*big.Int, error) {
	out, err := hostileToken.abi.Unpack("balanceOf", data)
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
func (hostileToken *HostileToken) PackDecimals() []byte {
	enc, err := hostileToken.abi.Pack("decimals")
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
func (hostileToken *HostileToken) TryPackDecimals() ([]byte, error) {
	return hostileToken.abi.Pack("decimals")
}

// UnpackDecimals is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x313ce567.
//
// Solidity: function decimals() view returns(uint8)
func (hostileToken *HostileToken) UnpackDecimals(data []byte) (uint8, error) {
	out, err := hostileToken.abi.Unpack("decimals", data)
	if err != nil {
		return *new(uint8), err
	}
	out0 := *abi.ConvertType(out[0], new(uint8)).(*uint8)
	return out0, nil
}

// PackMint is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x40c10f19.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function mint(address to, uint256 value) returns()
func (hostileToken *HostileToken) PackMint(to common.Address, value *big.Int) []byte {
	enc, err := hostileToken.abi.Pack("mint", to, value)
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
func (hostileToken *HostileToken) TryPackMint(to common.Address, value *big.Int) ([]byte, error) {
	return hostileToken.abi.Pack("mint", to, value)
}

// PackMode is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x2acd78c2.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function mode(address ) view returns(uint256)
func (hostileToken *HostileToken) PackMode(arg0 common.Address) []byte {
	enc, err := hostileToken.abi.Pack("mode", arg0)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackMode is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x2acd78c2.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function mode(address ) view returns(uint256)
func (hostileToken *HostileToken) TryPackMode(arg0 common.Address) ([]byte, error) {
	return hostileToken.abi.Pack("mode", arg0)
}

// UnpackMode is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x2acd78c2.
//
// Solidity: function mode(address ) view returns(uint256)
func (hostileToken *HostileToken) UnpackMode(data []byte) (*big.Int, error) {
	out, err := hostileToken.abi.Unpack("mode", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackName is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x06fdde03.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function name() view returns(string)
func (hostileToken *HostileToken) PackName() []byte {
	enc, err := hostileToken.abi.Pack("name")
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
func (hostileToken *HostileToken) TryPackName() ([]byte, error) {
	return hostileToken.abi.Pack("name")
}

// UnpackName is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x06fdde03.
//
// Solidity: function name() view returns(string)
func (hostileToken *HostileToken) UnpackName(data []byte) (string, error) {
	out, err := hostileToken.abi.Unpack("name", data)
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
func (hostileToken *HostileToken) PackOwner() []byte {
	enc, err := hostileToken.abi.Pack("owner")
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
func (hostileToken *HostileToken) TryPackOwner() ([]byte, error) {
	return hostileToken.abi.Pack("owner")
}

// UnpackOwner is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x8da5cb5b.
//
// Solidity: function owner() view returns(address)
func (hostileToken *HostileToken) UnpackOwner(data []byte) (common.Address, error) {
	out, err := hostileToken.abi.Unpack("owner", data)
	if err != nil {
		return *new(common.Address), err
	}
	out0 := *abi.ConvertType(out[0], new(common.Address)).(*common.Address)
	return out0, nil
}

// PackSet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x3825d828.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function set(address payee, uint256 mode_) returns()
func (hostileToken *HostileToken) PackSet(payee common.Address, mode *big.Int) []byte {
	enc, err := hostileToken.abi.Pack("set", payee, mode)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x3825d828.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function set(address payee, uint256 mode_) returns()
func (hostileToken *HostileToken) TryPackSet(payee common.Address, mode *big.Int) ([]byte, error) {
	return hostileToken.abi.Pack("set", payee, mode)
}

// PackSymbol is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x95d89b41.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function symbol() view returns(string)
func (hostileToken *HostileToken) PackSymbol() []byte {
	enc, err := hostileToken.abi.Pack("symbol")
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
func (hostileToken *HostileToken) TryPackSymbol() ([]byte, error) {
	return hostileToken.abi.Pack("symbol")
}

// UnpackSymbol is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x95d89b41.
//
// Solidity: function symbol() view returns(string)
func (hostileToken *HostileToken) UnpackSymbol(data []byte) (string, error) {
	out, err := hostileToken.abi.Unpack("symbol", data)
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
func (hostileToken *HostileToken) PackTotalSupply() []byte {
	enc, err := hostileToken.abi.Pack("totalSupply")
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
func (hostileToken *HostileToken) TryPackTotalSupply() ([]byte, error) {
	return hostileToken.abi.Pack("totalSupply")
}

// UnpackTotalSupply is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x18160ddd.
//
// Solidity: function totalSupply() view returns(uint256)
func (hostileToken *HostileToken) UnpackTotalSupply(data []byte) (*big.Int, error) {
	out, err := hostileToken.abi.Unpack("totalSupply", data)
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
func (hostileToken *HostileToken) PackTransfer(to common.Address, value *big.Int) []byte {
	enc, err := hostileToken.abi.Pack("transfer", to, value)
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
func (hostileToken *HostileToken) TryPackTransfer(to common.Address, value *big.Int) ([]byte, error) {
	return hostileToken.abi.Pack("transfer", to, value)
}

// UnpackTransfer is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xa9059cbb.
//
// Solidity: function transfer(address to, uint256 value) returns(bool)
func (hostileToken *HostileToken) UnpackTransfer(data []byte) (bool, error) {
	out, err := hostileToken.abi.Unpack("transfer", data)
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
func (hostileToken *HostileToken) PackTransferFrom(from common.Address, to common.Address, value *big.Int) []byte {
	enc, err := hostileToken.abi.Pack("transferFrom", from, to, value)
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
func (hostileToken *HostileToken) TryPackTransferFrom(from common.Address, to common.Address, value *big.Int) ([]byte, error) {
	return hostileToken.abi.Pack("transferFrom", from, to, value)
}

// UnpackTransferFrom is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x23b872dd.
//
// Solidity: function transferFrom(address from, address to, uint256 value) returns(bool)
func (hostileToken *HostileToken) UnpackTransferFrom(data []byte) (bool, error) {
	out, err := hostileToken.abi.Unpack("transferFrom", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// HostileTokenApproval represents a Approval event raised by the HostileToken contract.
type HostileTokenApproval struct {
	Owner   common.Address
	Spender common.Address
	Value   *big.Int
	Raw     *types.Log // Blockchain specific contextual infos
}

const HostileTokenApprovalEventName = "Approval"

// ContractEventName returns the user-defined event name.
func (HostileTokenApproval) ContractEventName() string {
	return HostileTokenApprovalEventName
}

// UnpackApprovalEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Approval(address indexed owner, address indexed spender, uint256 value)
func (hostileToken *HostileToken) UnpackApprovalEvent(log *types.Log) (*HostileTokenApproval, error) {
	event := "Approval"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != hostileToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(HostileTokenApproval)
	if len(log.Data) > 0 {
		if err := hostileToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range hostileToken.abi.Events[event].Inputs {
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

// HostileTokenTransfer represents a Transfer event raised by the HostileToken contract.
type HostileTokenTransfer struct {
	From  common.Address
	To    common.Address
	Value *big.Int
	Raw   *types.Log // Blockchain specific contextual infos
}

const HostileTokenTransferEventName = "Transfer"

// ContractEventName returns the user-defined event name.
func (HostileTokenTransfer) ContractEventName() string {
	return HostileTokenTransferEventName
}

// UnpackTransferEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Transfer(address indexed from, address indexed to, uint256 value)
func (hostileToken *HostileToken) UnpackTransferEvent(log *types.Log) (*HostileTokenTransfer, error) {
	event := "Transfer"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != hostileToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(HostileTokenTransfer)
	if len(log.Data) > 0 {
		if err := hostileToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range hostileToken.abi.Events[event].Inputs {
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
func (hostileToken *HostileToken) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], hostileToken.abi.Errors["AllowanceTooLow"].ID.Bytes()[:4]) {
		return hostileToken.UnpackAllowanceTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], hostileToken.abi.Errors["BalanceTooLow"].ID.Bytes()[:4]) {
		return hostileToken.UnpackBalanceTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], hostileToken.abi.Errors["NotOwner"].ID.Bytes()[:4]) {
		return hostileToken.UnpackNotOwnerError(raw[4:])
	}
	if bytes.Equal(raw[:4], hostileToken.abi.Errors["ZeroReceiver"].ID.Bytes()[:4]) {
		return hostileToken.UnpackZeroReceiverError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// HostileTokenAllowanceTooLow represents a AllowanceTooLow error raised by the HostileToken contract.
type HostileTokenAllowanceTooLow struct {
	Spender common.Address
	Has     *big.Int
	Needs   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error AllowanceTooLow(address spender, uint256 has, uint256 needs)
func HostileTokenAllowanceTooLowErrorID() common.Hash {
	return common.HexToHash("0x4eabd6f7ec5c5797297d7d498976e4edc51a9090c308f66021ee8609dbe4d00f")
}

// UnpackAllowanceTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error AllowanceTooLow(address spender, uint256 has, uint256 needs)
func (hostileToken *HostileToken) UnpackAllowanceTooLowError(raw []byte) (*HostileTokenAllowanceTooLow, error) {
	out := new(HostileTokenAllowanceTooLow)
	if err := hostileToken.abi.UnpackIntoInterface(out, "AllowanceTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// HostileTokenBalanceTooLow represents a BalanceTooLow error raised by the HostileToken contract.
type HostileTokenBalanceTooLow struct {
	Account common.Address
	Has     *big.Int
	Needs   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error BalanceTooLow(address account, uint256 has, uint256 needs)
func HostileTokenBalanceTooLowErrorID() common.Hash {
	return common.HexToHash("0xb3e09feed30870d6645167a2f551b394d4cf007a2c28de1b1328af968e47d7c2")
}

// UnpackBalanceTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error BalanceTooLow(address account, uint256 has, uint256 needs)
func (hostileToken *HostileToken) UnpackBalanceTooLowError(raw []byte) (*HostileTokenBalanceTooLow, error) {
	out := new(HostileTokenBalanceTooLow)
	if err := hostileToken.abi.UnpackIntoInterface(out, "BalanceTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// HostileTokenNotOwner represents a NotOwner error raised by the HostileToken contract.
type HostileTokenNotOwner struct {
	Caller common.Address
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NotOwner(address caller)
func HostileTokenNotOwnerErrorID() common.Hash {
	return common.HexToHash("0x245aecd3fabbd17d6c3c92dc7f0ab916ea8cbf6fc1862c8b56893090ac3fff4c")
}

// UnpackNotOwnerError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NotOwner(address caller)
func (hostileToken *HostileToken) UnpackNotOwnerError(raw []byte) (*HostileTokenNotOwner, error) {
	out := new(HostileTokenNotOwner)
	if err := hostileToken.abi.UnpackIntoInterface(out, "NotOwner", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// HostileTokenZeroReceiver represents a ZeroReceiver error raised by the HostileToken contract.
type HostileTokenZeroReceiver struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error ZeroReceiver()
func HostileTokenZeroReceiverErrorID() common.Hash {
	return common.HexToHash("0x6ba9ecd878fa468e149195b419d3e55375c73c59c7dad6b0c64dc4525650ade2")
}

// UnpackZeroReceiverError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error ZeroReceiver()
func (hostileToken *HostileToken) UnpackZeroReceiverError(raw []byte) (*HostileTokenZeroReceiver, error) {
	out := new(HostileTokenZeroReceiver)
	if err := hostileToken.abi.UnpackIntoInterface(out, "ZeroReceiver", raw); err != nil {
		return nil, err
	}
	return out, nil
}
