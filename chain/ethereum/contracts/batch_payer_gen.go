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

// BatchPayerMetaData contains all meta data concerning the BatchPayer contract.
var BatchPayerMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[{\"internalType\":\"uint256\",\"name\":\"receivers\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"amounts\",\"type\":\"uint256\"}],\"name\":\"LengthMismatch\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"receiver\",\"type\":\"address\"}],\"name\":\"PaymentRefused\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"uint256\",\"name\":\"sent\",\"type\":\"uint256\"},{\"internalType\":\"uint256\",\"name\":\"needed\",\"type\":\"uint256\"}],\"name\":\"WrongValue\",\"type\":\"error\"},{\"inputs\":[{\"internalType\":\"addresspayable[]\",\"name\":\"receivers\",\"type\":\"address[]\"},{\"internalType\":\"uint256[]\",\"name\":\"amounts\",\"type\":\"uint256[]\"}],\"name\":\"payNative\",\"outputs\":[],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"contractPullable\",\"name\":\"token\",\"type\":\"address\"},{\"internalType\":\"address[]\",\"name\":\"receivers\",\"type\":\"address[]\"},{\"internalType\":\"uint256[]\",\"name\":\"amounts\",\"type\":\"uint256[]\"}],\"name\":\"payToken\",\"outputs\":[],\"stateMutability\":\"nonpayable\",\"type\":\"function\"}]",
	ID:  "BatchPayer",
	Bin: "0x6080604052348015600f57600080fd5b506104f48061001f6000396000f3fe6080604052600436106100295760003560e01c8063d06de9411461002e578063f5d7dfcc14610050575b600080fd5b34801561003a57600080fd5b5061004e61004936600461036b565b610063565b005b61004e61005e3660046103f3565b6101c6565b828114610092576040516355c5b3e360e11b815260048101849052602481018290526044015b60405180910390fd5b60005b838110156101be57856001600160a01b03166323b872dd338787858181106100bf576100bf610464565b90506020020160208101906100d4919061047a565b8686868181106100e6576100e6610464565b6040516001600160e01b031960e088901b1681526001600160a01b039586166004820152949093166024850152506020909102013560448201526064016020604051808303816000875af1158015610142573d6000803e3d6000fd5b505050506040513d601f19601f82011682018060405250810190610166919061049e565b6101b65784848281811061017c5761017c610464565b9050602002016020810190610191919061047a565b60405163b6c30e5f60e01b81526001600160a01b039091166004820152602401610089565b600101610095565b505050505050565b8281146101f0576040516355c5b3e360e11b81526004810184905260248101829052604401610089565b6000805b848110156102d65783838281811061020e5761020e610464565b905060200201358261022091906104c0565b9150600086868381811061023657610236610464565b905060200201602081019061024b919061047a565b6001600160a01b031685858481811061026657610266610464565b9050602002013560405160006040518083038185875af1925050503d80600081146102ad576040519150601f19603f3d011682016040523d82523d6000602084013e6102b2565b606091505b50509050806102cd5786868381811061017c5761017c610464565b506001016101f4565b503481146103005760405163195a3ca160e01b815234600482015260248101829052604401610089565b5050505050565b6001600160a01b038116811461031c57600080fd5b50565b60008083601f84011261033157600080fd5b50813567ffffffffffffffff81111561034957600080fd5b6020830191508360208260051b850101111561036457600080fd5b9250929050565b60008060008060006060868803121561038357600080fd5b853561038e81610307565b9450602086013567ffffffffffffffff8111156103aa57600080fd5b6103b68882890161031f565b909550935050604086013567ffffffffffffffff8111156103d657600080fd5b6103e28882890161031f565b969995985093965092949392505050565b6000806000806040858703121561040957600080fd5b843567ffffffffffffffff81111561042057600080fd5b61042c8782880161031f565b909550935050602085013567ffffffffffffffff81111561044c57600080fd5b6104588782880161031f565b95989497509550505050565b634e487b7160e01b600052603260045260246000fd5b60006020828403121561048c57600080fd5b813561049781610307565b9392505050565b6000602082840312156104b057600080fd5b8151801515811461049757600080fd5b808201808211156104e157634e487b7160e01b600052601160045260246000fd5b9291505056fea164736f6c6343000825000a",
}

// BatchPayer is an auto generated Go binding around an Ethereum contract.
type BatchPayer struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *BatchPayer) GetABI() abi.ABI {
	return c.abi
}

// NewBatchPayer creates a new instance of BatchPayer.
func NewBatchPayer() *BatchPayer {
	parsed, err := BatchPayerMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &BatchPayer{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *BatchPayer) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackPayNative is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xf5d7dfcc.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function payNative(address[] receivers, uint256[] amounts) payable returns()
func (batchPayer *BatchPayer) PackPayNative(receivers []common.Address, amounts []*big.Int) []byte {
	enc, err := batchPayer.abi.Pack("payNative", receivers, amounts)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPayNative is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xf5d7dfcc.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function payNative(address[] receivers, uint256[] amounts) payable returns()
func (batchPayer *BatchPayer) TryPackPayNative(receivers []common.Address, amounts []*big.Int) ([]byte, error) {
	return batchPayer.abi.Pack("payNative", receivers, amounts)
}

// PackPayToken is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xd06de941.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function payToken(address token, address[] receivers, uint256[] amounts) returns()
func (batchPayer *BatchPayer) PackPayToken(token common.Address, receivers []common.Address, amounts []*big.Int) []byte {
	enc, err := batchPayer.abi.Pack("payToken", token, receivers, amounts)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPayToken is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xd06de941.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function payToken(address token, address[] receivers, uint256[] amounts) returns()
func (batchPayer *BatchPayer) TryPackPayToken(token common.Address, receivers []common.Address, amounts []*big.Int) ([]byte, error) {
	return batchPayer.abi.Pack("payToken", token, receivers, amounts)
}

// UnpackError attempts to decode the provided error data using user-defined
// error definitions.
func (batchPayer *BatchPayer) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], batchPayer.abi.Errors["LengthMismatch"].ID.Bytes()[:4]) {
		return batchPayer.UnpackLengthMismatchError(raw[4:])
	}
	if bytes.Equal(raw[:4], batchPayer.abi.Errors["PaymentRefused"].ID.Bytes()[:4]) {
		return batchPayer.UnpackPaymentRefusedError(raw[4:])
	}
	if bytes.Equal(raw[:4], batchPayer.abi.Errors["WrongValue"].ID.Bytes()[:4]) {
		return batchPayer.UnpackWrongValueError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// BatchPayerLengthMismatch represents a LengthMismatch error raised by the BatchPayer contract.
type BatchPayerLengthMismatch struct {
	Receivers *big.Int
	Amounts   *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error LengthMismatch(uint256 receivers, uint256 amounts)
func BatchPayerLengthMismatchErrorID() common.Hash {
	return common.HexToHash("0xab8b67c6893c59617ef3ba4b4b942e9791f2572db2fdb32028356532f3b7396a")
}

// UnpackLengthMismatchError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error LengthMismatch(uint256 receivers, uint256 amounts)
func (batchPayer *BatchPayer) UnpackLengthMismatchError(raw []byte) (*BatchPayerLengthMismatch, error) {
	out := new(BatchPayerLengthMismatch)
	if err := batchPayer.abi.UnpackIntoInterface(out, "LengthMismatch", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// BatchPayerPaymentRefused represents a PaymentRefused error raised by the BatchPayer contract.
type BatchPayerPaymentRefused struct {
	Receiver common.Address
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error PaymentRefused(address receiver)
func BatchPayerPaymentRefusedErrorID() common.Hash {
	return common.HexToHash("0xb6c30e5f0c557b120c5a0883d0096cc6767420d80c5f6be6285d840bc71edf68")
}

// UnpackPaymentRefusedError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error PaymentRefused(address receiver)
func (batchPayer *BatchPayer) UnpackPaymentRefusedError(raw []byte) (*BatchPayerPaymentRefused, error) {
	out := new(BatchPayerPaymentRefused)
	if err := batchPayer.abi.UnpackIntoInterface(out, "PaymentRefused", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// BatchPayerWrongValue represents a WrongValue error raised by the BatchPayer contract.
type BatchPayerWrongValue struct {
	Sent   *big.Int
	Needed *big.Int
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error WrongValue(uint256 sent, uint256 needed)
func BatchPayerWrongValueErrorID() common.Hash {
	return common.HexToHash("0x195a3ca12ac3744ef64727effb118b3b203c382e49c7a7d24d450eae5e3b889a")
}

// UnpackWrongValueError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error WrongValue(uint256 sent, uint256 needed)
func (batchPayer *BatchPayer) UnpackWrongValueError(raw []byte) (*BatchPayerWrongValue, error) {
	out := new(BatchPayerWrongValue)
	if err := batchPayer.abi.UnpackIntoInterface(out, "WrongValue", raw); err != nil {
		return nil, err
	}
	return out, nil
}
