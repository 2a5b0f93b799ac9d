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

// HostilePayeeMetaData contains all meta data concerning the HostilePayee contract.
var HostilePayeeMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[],\"name\":\"Much\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"mode\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"\",\"type\":\"uint256\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"uint256\",\"name\":\"mode_\",\"type\":\"uint256\"},{\"internalType\":\"address\",\"name\":\"third_\",\"type\":\"address\"}],\"name\":\"set\",\"outputs\":[],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"contractPayouts\",\"name\":\"payouts\",\"type\":\"address\"},{\"internalType\":\"uint128\",\"name\":\"amount\",\"type\":\"uint128\"}],\"name\":\"steal\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"},{\"inputs\":[],\"name\":\"third\",\"outputs\":[{\"internalType\":\"address\",\"name\":\"\",\"type\":\"address\"}],\"stateMutability\":\"view\",\"type\":\"function\"},{\"stateMutability\":\"payable\",\"type\":\"receive\"}]",
	ID:  "HostilePayee",
	Bin: "0x6080604052348015600f57600080fd5b506103b38061001f6000396000f3fe6080604052600436106100435760003560e01c8063295a5212146101275780632f30c6f61461015057806350823bee14610185578063a6dc6771146101a557600080fd5b366101225760005460010361005757600080fd5b600054600203610067575b610062565b60005460030361007957620186a06000fd5b6000546004036101205760015460405133916326c1799c916003916000916100af916001600160a01b0316908490602001610275565b6040516020818303038152906040526040518463ffffffff1660e01b81526004016100db9291906102ad565b60206040518083038185885af11580156100f9573d6000803e3d6000fd5b50505050506040513d601f19601f8201168201806040525081019061011e9190610302565b505b005b600080fd5b34801561013357600080fd5b5061013d60005481565b6040519081526020015b60405180910390f35b61012061015e366004610333565b600091909155600180546001600160a01b0319166001600160a01b03909216919091179055565b34801561019157600080fd5b506101206101a0366004610363565b6101dd565b3480156101b157600080fd5b506001546101c5906001600160a01b031681565b6040516001600160a01b039091168152602001610147565b816001600160a01b03166326c1799c60003084604051602001610201929190610275565b6040516020818303038152906040526040518363ffffffff1660e01b815260040161022d9291906102ad565b6020604051808303816000875af115801561024c573d6000803e3d6000fd5b505050506040513d601f19601f820116820180604052508101906102709190610302565b505050565b60609290921b6bffffffffffffffffffffffff1916825260801b6fffffffffffffffffffffffffffffffff1916601482015260240190565b828152604060208201526000825180604084015260005b818110156102e157602081860181015160608684010152016102c4565b506000606082850101526060601f19601f8301168401019150509392505050565b60006020828403121561031457600080fd5b5051919050565b6001600160a01b038116811461033057600080fd5b50565b6000806040838503121561034657600080fd5b8235915060208301356103588161031b565b809150509250929050565b6000806040838503121561037657600080fd5b82356103818161031b565b915060208301356fffffffffffffffffffffffffffffffff8116811461035857600080fdfea164736f6c6343000825000a",
}

// HostilePayee is an auto generated Go binding around an Ethereum contract.
type HostilePayee struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *HostilePayee) GetABI() abi.ABI {
	return c.abi
}

// NewHostilePayee creates a new instance of HostilePayee.
func NewHostilePayee() *HostilePayee {
	parsed, err := HostilePayeeMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &HostilePayee{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *HostilePayee) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackMode is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x295a5212.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function mode() view returns(uint256)
func (hostilePayee *HostilePayee) PackMode() []byte {
	enc, err := hostilePayee.abi.Pack("mode")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackMode is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x295a5212.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function mode() view returns(uint256)
func (hostilePayee *HostilePayee) TryPackMode() ([]byte, error) {
	return hostilePayee.abi.Pack("mode")
}

// UnpackMode is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x295a5212.
//
// Solidity: function mode() view returns(uint256)
func (hostilePayee *HostilePayee) UnpackMode(data []byte) (*big.Int, error) {
	out, err := hostilePayee.abi.Unpack("mode", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackSet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x2f30c6f6.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function set(uint256 mode_, address third_) payable returns()
func (hostilePayee *HostilePayee) PackSet(mode *big.Int, third common.Address) []byte {
	enc, err := hostilePayee.abi.Pack("set", mode, third)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSet is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x2f30c6f6.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function set(uint256 mode_, address third_) payable returns()
func (hostilePayee *HostilePayee) TryPackSet(mode *big.Int, third common.Address) ([]byte, error) {
	return hostilePayee.abi.Pack("set", mode, third)
}

// PackSteal is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x50823bee.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function steal(address payouts, uint128 amount) returns()
func (hostilePayee *HostilePayee) PackSteal(payouts common.Address, amount *big.Int) []byte {
	enc, err := hostilePayee.abi.Pack("steal", payouts, amount)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackSteal is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x50823bee.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function steal(address payouts, uint128 amount) returns()
func (hostilePayee *HostilePayee) TryPackSteal(payouts common.Address, amount *big.Int) ([]byte, error) {
	return hostilePayee.abi.Pack("steal", payouts, amount)
}

// PackThird is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa6dc6771.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function third() view returns(address)
func (hostilePayee *HostilePayee) PackThird() []byte {
	enc, err := hostilePayee.abi.Pack("third")
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackThird is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xa6dc6771.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function third() view returns(address)
func (hostilePayee *HostilePayee) TryPackThird() ([]byte, error) {
	return hostilePayee.abi.Pack("third")
}

// UnpackThird is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xa6dc6771.
//
// Solidity: function third() view returns(address)
func (hostilePayee *HostilePayee) UnpackThird(data []byte) (common.Address, error) {
	out, err := hostilePayee.abi.Unpack("third", data)
	if err != nil {
		return *new(common.Address), err
	}
	out0 := *abi.ConvertType(out[0], new(common.Address)).(*common.Address)
	return out0, nil
}

// UnpackError attempts to decode the provided error data using user-defined
// error definitions.
func (hostilePayee *HostilePayee) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], hostilePayee.abi.Errors["Much"].ID.Bytes()[:4]) {
		return hostilePayee.UnpackMuchError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// HostilePayeeMuch represents a Much error raised by the HostilePayee contract.
type HostilePayeeMuch struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error Much()
func HostilePayeeMuchErrorID() common.Hash {
	return common.HexToHash("0xd73a2f2453569c70ec677737180636b175a1910fa516dd727c9a2794abc08e14")
}

// UnpackMuchError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error Much()
func (hostilePayee *HostilePayee) UnpackMuchError(raw []byte) (*HostilePayeeMuch, error) {
	out := new(HostilePayeeMuch)
	if err := hostilePayee.abi.UnpackIntoInterface(out, "Much", raw); err != nil {
		return nil, err
	}
	return out, nil
}
