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

// RebasingTokenMetaData contains all meta data concerning the RebasingToken contract.
var RebasingTokenMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[{\"internalType\":\"string\",\"name\":\"name_\",\"type\":\"string\"},{\"internalType\":\"string\",\"name\":\"symbol_\",\"type\":\"string\"},{\"internalType\":\"uint8\",\"name\":\"decimals_\",\"type\":\"uint8\"}],\"stateMutability\":\"nonpayable\",\"type\":\"constructor\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"has\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needs\",\"type\":\"uint256\"}],\"name\":\"AllowanceTooLow\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"account\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"has\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needs\",\"type\":\"uint256\"}],\"name\":\"BalanceTooLow\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"caller\",\"type\":\"address\"}],\"name\":\"NotOwner\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"ZeroReceiver\",\"type\":\"error\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"owner\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Approval\",\"type\":\"event\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"indexed\":true,\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"Transfer\",\"type\":\"event\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"allowance\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"spender\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"approve\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"name\":\"balanceOf\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"decimals\",\"outputs\":[{\"internalType\":\"uint8\",\"name\":\"\",\"type\":\"uint8\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"mint\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"name\",\"outputs\":[{\"internalType\":\"string\",\"name\":\"\",\"type\":\"string\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"owner\",\"outputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"account\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"percent\",\"type\":\"uint256\"}],\"name\":\"rebase\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"symbol\",\"outputs\":[{\"internalType\":\"string\",\"name\":\"\",\"type\":\"string\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"totalSupply\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"transfer\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"from\",\"type\":\"address\"},{\"internalType\":\"address\",\"name\":\"to\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"value\",\"type\":\"uint256\"}],\"name\":\"transferFrom\",\"outputs\":[{\"internalType\":\"bool\",\"name\":\"\",\"type\":\"bool\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"}]",
	ID:  "RebasingToken",
	Bin: "0x60c060405234801561001057600080fd5b50604051610b79380380610b7983398101604081905261002f9161011a565b828282600061003e8482610233565b50600161004b8382610233565b5060ff1660805250503360a052506102f5915050565b634e487b7160e01b600052604160045260246000fd5b600082601f83011261008857600080fd5b81516001600160401b038111156100a1576100a1610061565b604051601f8201601f19908116603f011681016001600160401b03811182821017156100cf576100cf610061565b6040528181528382016020018510156100e757600080fd5b60005b82811015610106576020818601810151838301820152016100ea565b506000918101602001919091529392505050565b60008060006060848603121561012f57600080fd5b83516001600160401b0381111561014557600080fd5b61015186828701610077565b602086015190945090506001600160401b0381111561016f57600080fd5b61017b86828701610077565b925050604084015160ff8116811461019257600080fd5b809150509250925092565b600181811c908216806101b157607f821691505b6020821081036101d157634e487b7160e01b600052602260045260246000fd5b50919050565b601f82111561022e578282111561022e57806000526020600020601f840160051c6020851015610205575060005b90810190601f840160051c0360005b8181101561022a57600083820155600101610214565b5050505b505050565b81516001600160401b0381111561024c5761024c610061565b6102608161025a845461019d565b846101d7565b6020601f821160018114610294576000831561027c5750848201515b600019600385901b1c1916600184901b1784556102ee565b600084815260208120601f198516915b828110156102c457878501518255602094850194600190920191016102a4565b50848210156102e25786840151600019600387901b60f8161c191681555b505060018360011b0184555b5050505050565b60805160a051610851610328600039600081816101aa0152818161023501526104740152600061013e01526108516000f3fe608060405234801561001057600080fd5b50600436106100b45760003560e01c806340c10f191161007157806340c10f191461017257806370a08231146101855780638da5cb5b146101a557806395d89b41146101e4578063a9059cbb146101ec578063dd62ed3e146101ff57600080fd5b8063012d4bc0146100b957806306fdde03146100ce578063095ea7b3146100ec57806318160ddd1461010f57806323b872dd14610126578063313ce56714610139575b600080fd5b6100cc6100c736600461068b565b61022a565b005b6100d66102cb565b6040516100e391906106b5565b60405180910390f35b6100ff6100fa36600461068b565b610359565b60405190151581526020016100e3565b61011860025481565b6040519081526020016100e3565b6100ff610134366004610703565b6103c6565b6101607f000000000000000000000000000000000000000000000000000000000000000081565b60405160ff90911681526020016100e3565b6100cc61018036600461068b565b610469565b610118610193366004610740565b60036020526000908152604090205481565b6101cc7f000000000000000000000000000000000000000000000000000000000000000081565b6040516001600160a01b0390911681526020016100e3565b6100d6610564565b6100ff6101fa36600461068b565b610571565b61011861020d366004610762565b600460209081526000928352604080842090915290825290205481565b336001600160a01b037f0000000000000000000000000000000000000000000000000000000000000000161461027a5760405163245aecd360e01b81523360048201526024015b60405180910390fd5b6001600160a01b0382166000908152600360205260409020546064906102a19083906107ab565b6102ab91906107c2565b6001600160a01b0390921660009081526003602052604090209190915550565b600080546102d8906107e4565b80601f0160208091040260200160405190810160405280929190818152602001828054610304906107e4565b80156103515780601f1061032657610100808354040283529160200191610351565b820191906000526020600020905b81548152906001019060200180831161033457829003601f168201915b505050505081565b3360008181526004602090815260408083206001600160a01b038716808552925280832085905551919290917f8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925906103b49086815260200190565b60405180910390a35060015b92915050565b6001600160a01b03831660009081526004602090815260408083203384529091528120548281101561041b57604051634eabd6f760e01b81523360048201526024810182905260448101849052606401610271565b60001981146104535761042e838261081e565b6001600160a01b03861660009081526004602090815260408083203384529091529020555b61045e858585610587565b506001949350505050565b336001600160a01b037f000000000000000000000000000000000000000000000000000000000000000016146104b45760405163245aecd360e01b8152336004820152602401610271565b6001600160a01b0382166104db57604051630d753d9b60e31b815260040160405180910390fd5b80600260008282546104ed9190610831565b90915550506001600160a01b0382166000908152600360205260408120805483929061051a908490610831565b90915550506040518181526001600160a01b038316906000907fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef9060200160405180910390a35050565b600180546102d8906107e4565b600061057e338484610587565b50600192915050565b6001600160a01b0382166105ae57604051630d753d9b60e31b815260040160405180910390fd5b6001600160a01b03831660009081526003602052604090205481811015610601576040516359f04ff760e11b81526001600160a01b03851660048201526024810182905260448101839052606401610271565b6001600160a01b0380851660008181526003602052604080822086860390559286168082529083902080548601905591517fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef906106619086815260200190565b60405180910390a350505050565b80356001600160a01b038116811461068657600080fd5b919050565b6000806040838503121561069e57600080fd5b6106a78361066f565b946020939093013593505050565b602081526000825180602084015260005b818110156106e357602081860181015160408684010152016106c6565b506000604082850101526040601f19601f83011684010191505092915050565b60008060006060848603121561071857600080fd5b6107218461066f565b925061072f6020850161066f565b929592945050506040919091013590565b60006020828403121561075257600080fd5b61075b8261066f565b9392505050565b6000806040838503121561077557600080fd5b61077e8361066f565b915061078c6020840161066f565b90509250929050565b634e487b7160e01b600052601160045260246000fd5b80820281158282048414176103c0576103c0610795565b6000826107df57634e487b7160e01b600052601260045260246000fd5b500490565b600181811c908216806107f857607f821691505b60208210810361081857634e487b7160e01b600052602260045260246000fd5b50919050565b818103818111156103c0576103c0610795565b808201808211156103c0576103c061079556fea164736f6c6343000825000a",
}

// RebasingToken is an auto generated Go binding around an Ethereum contract.
type RebasingToken struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *RebasingToken) GetABI() abi.ABI {
	return c.abi
}

// NewRebasingToken creates a new instance of RebasingToken.
func NewRebasingToken() *RebasingToken {
	parsed, err := RebasingTokenMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &RebasingToken{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *RebasingToken) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackConstructor is the Go binding used to pack the parameters required for
// contract deployment.
//
// Solidity: constructor(string name_, string symbol_, uint8 decimals_) returns()
func (rebasingToken *RebasingToken) PackConstructor(name_ string, symbol_ string, decimals_ uint8) []byte {
	enc, err := rebasingToken.abi.Pack("", name_, symbol_, decimals_)
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
func (rebasingToken *RebasingToken) PackAllowance(arg0 common.Address, arg1 common.Address) []byte {
	enc, err := rebasingToken.abi.Pack("allowance", arg0, arg1)
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
func (rebasingToken *RebasingToken) TryPackAllowance(arg0 common.Address, arg1 common.Address) ([]byte, error) {
	return rebasingToken.abi.Pack("allowance", arg0, arg1)
}

// UnpackAllowance is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xdd62ed3e.
//
// Solidity: function allowance(address , address ) view returns(uint256)
func (rebasingToken *RebasingToken) UnpackAllowance(data []byte) (*big.Int, error) {
	out, err := rebasingToken.abi.Unpack("allowance", data)
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
func (rebasingToken *RebasingToken) PackApprove(spender common.Address, value *big.Int) []byte {
	enc, err := rebasingToken.abi.Pack("approve", spender, value)
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
func (rebasingToken *RebasingToken) TryPackApprove(spender common.Address, value *big.Int) ([]byte, error) {
	return rebasingToken.abi.Pack("approve", spender, value)
}

// UnpackApprove is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x095ea7b3.
//
// Solidity: function approve(address spender, uint256 value) returns(bool)
func (rebasingToken *RebasingToken) UnpackApprove(data []byte) (bool, error) {
	out, err := rebasingToken.abi.Unpack("approve", data)
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
func (rebasingToken *RebasingToken) PackBalanceOf(arg0 common.Address) []byte {
	enc, err := rebasingToken.abi.Pack("balanceOf", arg0)
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
func (rebasingToken *RebasingToken) TryPackBalanceOf(arg0 common.Address) ([]byte, error) {
	return rebasingToken.abi.Pack("balanceOf", arg0)
}

// UnpackBalanceOf is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x70a08231.
//
// Solidity: function balanceOf(address ) view returns(uint256)
func (rebasingToken *RebasingToken) UnpackBalanceOf(data []byte) (*big.Int, error) {
	out, err := rebasingToken.abi.Unpack("balanceOf", data)
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
func (rebasingToken *RebasingToken) PackDecimals() []byte {
	enc, err := rebasingToken.abi.Pack("decimals")
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
func (rebasingToken *RebasingToken) TryPackDecimals() ([]byte, error) {
	return rebasingToken.abi.Pack("decimals")
}

// UnpackDecimals is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x313ce567.
//
// Solidity: function decimals() view returns(uint8)
func (rebasingToken *RebasingToken) UnpackDecimals(data []byte) (uint8, error) {
	out, err := rebasingToken.abi.Unpack("decimals", data)
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
func (rebasingToken *RebasingToken) PackMint(to common.Address, value *big.Int) []byte {
	enc, err := rebasingToken.abi.Pack("mint", to, value)
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
func (rebasingToken *RebasingToken) TryPackMint(to common.Address, value *big.Int) ([]byte, error) {
	return rebasingToken.abi.Pack("mint", to, value)
}

// PackName is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x06fdde03.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function name() view returns(string)
func (rebasingToken *RebasingToken) PackName() []byte {
	enc, err := rebasingToken.abi.Pack("name")
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
func (rebasingToken *RebasingToken) TryPackName() ([]byte, error) {
	return rebasingToken.abi.Pack("name")
}

// UnpackName is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x06fdde03.
//
// Solidity: function name() view returns(string)
func (rebasingToken *RebasingToken) UnpackName(data []byte) (string, error) {
	out, err := rebasingToken.abi.Unpack("name", data)
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
func (rebasingToken *RebasingToken) PackOwner() []byte {
	enc, err := rebasingToken.abi.Pack("owner")
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
func (rebasingToken *RebasingToken) TryPackOwner() ([]byte, error) {
	return rebasingToken.abi.Pack("owner")
}

// UnpackOwner is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x8da5cb5b.
//
// Solidity: function owner() view returns(address)
func (rebasingToken *RebasingToken) UnpackOwner(data []byte) (common.Address, error) {
	out, err := rebasingToken.abi.Unpack("owner", data)
	if err != nil {
		return *new(common.Address), err
	}
	out0 := *abi.ConvertType(out[0], new(common.Address)).(*common.Address)
	return out0, nil
}

// PackRebase is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x012d4bc0.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function rebase(address account, uint256 percent) returns()
func (rebasingToken *RebasingToken) PackRebase(account common.Address, percent *big.Int) []byte {
	enc, err := rebasingToken.abi.Pack("rebase", account, percent)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackRebase is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x012d4bc0.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function rebase(address account, uint256 percent) returns()
func (rebasingToken *RebasingToken) TryPackRebase(account common.Address, percent *big.Int) ([]byte, error) {
	return rebasingToken.abi.Pack("rebase", account, percent)
}

// PackSymbol is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x95d89b41.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function symbol() view returns(string)
func (rebasingToken *RebasingToken) PackSymbol() []byte {
	enc, err := rebasingToken.abi.Pack("symbol")
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
func (rebasingToken *RebasingToken) TryPackSymbol() ([]byte, error) {
	return rebasingToken.abi.Pack("symbol")
}

// UnpackSymbol is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x95d89b41.
//
// Solidity: function symbol() view returns(string)
func (rebasingToken *RebasingToken) UnpackSymbol(data []byte) (string, error) {
	out, err := rebasingToken.abi.Unpack("symbol", data)
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
func (rebasingToken *RebasingToken) PackTotalSupply() []byte {
	enc, err := rebasingToken.abi.Pack("totalSupply")
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
func (rebasingToken *RebasingToken) TryPackTotalSupply() ([]byte, error) {
	return rebasingToken.abi.Pack("totalSupply")
}

// UnpackTotalSupply is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x18160ddd.
//
// Solidity: function totalSupply() view returns(uint256)
func (rebasingToken *RebasingToken) UnpackTotalSupply(data []byte) (*big.Int, error) {
	out, err := rebasingToken.abi.Unpack("totalSupply", data)
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
func (rebasingToken *RebasingToken) PackTransfer(to common.Address, value *big.Int) []byte {
	enc, err := rebasingToken.abi.Pack("transfer", to, value)
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
func (rebasingToken *RebasingToken) TryPackTransfer(to common.Address, value *big.Int) ([]byte, error) {
	return rebasingToken.abi.Pack("transfer", to, value)
}

// UnpackTransfer is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xa9059cbb.
//
// Solidity: function transfer(address to, uint256 value) returns(bool)
func (rebasingToken *RebasingToken) UnpackTransfer(data []byte) (bool, error) {
	out, err := rebasingToken.abi.Unpack("transfer", data)
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
func (rebasingToken *RebasingToken) PackTransferFrom(from common.Address, to common.Address, value *big.Int) []byte {
	enc, err := rebasingToken.abi.Pack("transferFrom", from, to, value)
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
func (rebasingToken *RebasingToken) TryPackTransferFrom(from common.Address, to common.Address, value *big.Int) ([]byte, error) {
	return rebasingToken.abi.Pack("transferFrom", from, to, value)
}

// UnpackTransferFrom is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x23b872dd.
//
// Solidity: function transferFrom(address from, address to, uint256 value) returns(bool)
func (rebasingToken *RebasingToken) UnpackTransferFrom(data []byte) (bool, error) {
	out, err := rebasingToken.abi.Unpack("transferFrom", data)
	if err != nil {
		return *new(bool), err
	}
	out0 := *abi.ConvertType(out[0], new(bool)).(*bool)
	return out0, nil
}

// RebasingTokenApproval represents a Approval event raised by the RebasingToken contract.
type RebasingTokenApproval struct {
	Owner   common.Address
	Spender common.Address
	Value   *big.Int
	Raw     *types.Log // Blockchain specific contextual infos
}

const RebasingTokenApprovalEventName = "Approval"

// ContractEventName returns the user-defined event name.
func (RebasingTokenApproval) ContractEventName() string {
	return RebasingTokenApprovalEventName
}

// UnpackApprovalEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Approval(address indexed owner, address indexed spender, uint256 value)
func (rebasingToken *RebasingToken) UnpackApprovalEvent(log *types.Log) (*RebasingTokenApproval, error) {
	event := "Approval"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != rebasingToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(RebasingTokenApproval)
	if len(log.Data) > 0 {
		if err := rebasingToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range rebasingToken.abi.Events[event].Inputs {
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

// RebasingTokenTransfer represents a Transfer event raised by the RebasingToken contract.
type RebasingTokenTransfer struct {
	From  common.Address
	To    common.Address
	Value *big.Int
	Raw   *types.Log // Blockchain specific contextual infos
}

const RebasingTokenTransferEventName = "Transfer"

// ContractEventName returns the user-defined event name.
func (RebasingTokenTransfer) ContractEventName() string {
	return RebasingTokenTransferEventName
}

// UnpackTransferEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Transfer(address indexed from, address indexed to, uint256 value)
func (rebasingToken *RebasingToken) UnpackTransferEvent(log *types.Log) (*RebasingTokenTransfer, error) {
	event := "Transfer"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != rebasingToken.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(RebasingTokenTransfer)
	if len(log.Data) > 0 {
		if err := rebasingToken.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range rebasingToken.abi.Events[event].Inputs {
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
func (rebasingToken *RebasingToken) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], rebasingToken.abi.Errors["AllowanceTooLow"].ID.Bytes()[:4]) {
		return rebasingToken.UnpackAllowanceTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], rebasingToken.abi.Errors["BalanceTooLow"].ID.Bytes()[:4]) {
		return rebasingToken.UnpackBalanceTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], rebasingToken.abi.Errors["NotOwner"].ID.Bytes()[:4]) {
		return rebasingToken.UnpackNotOwnerError(raw[4:])
	}
	if bytes.Equal(raw[:4], rebasingToken.abi.Errors["ZeroReceiver"].ID.Bytes()[:4]) {
		return rebasingToken.UnpackZeroReceiverError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// RebasingTokenAllowanceTooLow represents a AllowanceTooLow error raised by the RebasingToken contract.
type RebasingTokenAllowanceTooLow struct {
	Spender common.Address
	Has     *big.Int
	Needs   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error AllowanceTooLow(address spender, uint256 has, uint256 needs)
func RebasingTokenAllowanceTooLowErrorID() common.Hash {
	return common.HexToHash("0x4eabd6f7ec5c5797297d7d498976e4edc51a9090c308f66021ee8609dbe4d00f")
}

// UnpackAllowanceTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error AllowanceTooLow(address spender, uint256 has, uint256 needs)
func (rebasingToken *RebasingToken) UnpackAllowanceTooLowError(raw []byte) (*RebasingTokenAllowanceTooLow, error) {
	out := new(RebasingTokenAllowanceTooLow)
	if err := rebasingToken.abi.UnpackIntoInterface(out, "AllowanceTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// RebasingTokenBalanceTooLow represents a BalanceTooLow error raised by the RebasingToken contract.
type RebasingTokenBalanceTooLow struct {
	Account common.Address
	Has     *big.Int
	Needs   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error BalanceTooLow(address account, uint256 has, uint256 needs)
func RebasingTokenBalanceTooLowErrorID() common.Hash {
	return common.HexToHash("0xb3e09feed30870d6645167a2f551b394d4cf007a2c28de1b1328af968e47d7c2")
}

// UnpackBalanceTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error BalanceTooLow(address account, uint256 has, uint256 needs)
func (rebasingToken *RebasingToken) UnpackBalanceTooLowError(raw []byte) (*RebasingTokenBalanceTooLow, error) {
	out := new(RebasingTokenBalanceTooLow)
	if err := rebasingToken.abi.UnpackIntoInterface(out, "BalanceTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// RebasingTokenNotOwner represents a NotOwner error raised by the RebasingToken contract.
type RebasingTokenNotOwner struct {
	Caller common.Address
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NotOwner(address caller)
func RebasingTokenNotOwnerErrorID() common.Hash {
	return common.HexToHash("0x245aecd3fabbd17d6c3c92dc7f0ab916ea8cbf6fc1862c8b56893090ac3fff4c")
}

// UnpackNotOwnerError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NotOwner(address caller)
func (rebasingToken *RebasingToken) UnpackNotOwnerError(raw []byte) (*RebasingTokenNotOwner, error) {
	out := new(RebasingTokenNotOwner)
	if err := rebasingToken.abi.UnpackIntoInterface(out, "NotOwner", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// RebasingTokenZeroReceiver represents a ZeroReceiver error raised by the RebasingToken contract.
type RebasingTokenZeroReceiver struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error ZeroReceiver()
func RebasingTokenZeroReceiverErrorID() common.Hash {
	return common.HexToHash("0x6ba9ecd878fa468e149195b419d3e55375c73c59c7dad6b0c64dc4525650ade2")
}

// UnpackZeroReceiverError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error ZeroReceiver()
func (rebasingToken *RebasingToken) UnpackZeroReceiverError(raw []byte) (*RebasingTokenZeroReceiver, error) {
	out := new(RebasingTokenZeroReceiver)
	if err := rebasingToken.abi.UnpackIntoInterface(out, "ZeroReceiver", raw); err != nil {
		return nil, err
	}
	return out, nil
}
