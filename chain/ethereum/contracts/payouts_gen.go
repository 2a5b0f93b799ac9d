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

// PayoutsMetaData contains all meta data concerning the Payouts contract.
var PayoutsMetaData = bind.MetaData{
	ABI: "[{\"inputs\":[],\"name\":\"GasTooLow\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"NoToken\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"NotReturned\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"NothingPaid\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"ValueTooLow\",\"type\":\"error\"},{\"inputs\":[],\"name\":\"WrongPayees\",\"type\":\"error\"},{\"anonymous\":false,\"inputs\":[{\"indexed\":true,\"internalType\":\"address\",\"name\":\"payer\",\"type\":\"address\"},{\"indexed\":false,\"internalType\":\"uint256\",\"name\":\"paid\",\"type\":\"uint256\"}],\"name\":\"Paid\",\"type\":\"event\"},{\"inputs\":[{\"internalType\":\"uint256\",\"name\":\"gasCap\",\"type\":\"uint256\"},{\"internalType\":\"bytes\",\"name\":\"payees\",\"type\":\"bytes\"}],\"name\":\"payCoin\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"paid\",\"type\":\"uint256\"}],\"stateMutability\":\"payable\",\"type\":\"function\"},{\"inputs\":[{\"internalType\":\"address\",\"name\":\"token\",\"type\":\"address\"},{\"internalType\":\"uint256\",\"name\":\"gasCap\",\"type\":\"uint256\"},{\"internalType\":\"bytes\",\"name\":\"payees\",\"type\":\"bytes\"}],\"name\":\"payToken\",\"outputs\":[{\"internalType\":\"uint256\",\"name\":\"paid\",\"type\":\"uint256\"}],\"stateMutability\":\"nonpayable\",\"type\":\"function\"}]",
	ID:  "Payouts",
	Bin: "0x6080604052348015600f57600080fd5b5061051c8061001f6000396000f3fe6080604052600436106100295760003560e01c806326c1799c1461002e578063ec817e5b14610053575b600080fd5b61004161003c3660046103dd565b610073565b60405190815260200160405180910390f35b34801561005f57600080fd5b5061004161006e366004610429565b6101af565b600080600061008285856102ba565b91509150600061009187610308565b90503460015b83851461011757843560601c601486013560801c838111156100cc57604051635321e1df60e01b815260040160405180910390fd5b845a10156100ed57604051632163225d60e21b815260040160405180910390fd5b6100f88b8383610332565b15610107579682179692839003925b602487019650505060011b610097565b508460000361013957604051632b5d567b60e11b815260040160405180910390fd5b600081118015610151575061014f5a3383610332565b155b1561016f5760405163075794c960e11b815260040160405180910390fd5b60405185815233907f737c69225d647e5994eab1a6c301bf6d9232beb2759ae1e27a8966b4732bc4899060200160405180910390a2505050509392505050565b60008060006101be85856102ba565b9150915060006101cd87610308565b9050876001600160a01b03163b6000036101fa576040516379d93f4960e01b815260040160405180910390fd5b60015b82841461025857833560601c601485013560801c835a101561023257604051632163225d60e21b815260040160405180910390fd5b61023e8b8b8484610346565b1561024857958217955b602486019550505060011b6101fd565b508360000361027a57604051632b5d567b60e11b815260040160405180910390fd5b60405184815233907f737c69225d647e5994eab1a6c301bf6d9232beb2759ae1e27a8966b4732bc4899060200160405180910390a2505050949350505050565b6000806102c86024846104a7565b1515806102e057506102dd60246101006104d1565b83115b156102fe576040516318a0036360e21b815260040160405180910390fd5b5091929083019150565b600061afc8610318603f846104e8565b61032290846104fc565b61032c91906104fc565b92915050565b6000806000806000858789f1949350505050565b60006040516323b872dd60e01b81523360048201528360248201528260448201526020600060648360008a8af19150503d1561038c57600160005114601f3d1116811690505b949350505050565b60008083601f8401126103a657600080fd5b50813567ffffffffffffffff8111156103be57600080fd5b6020830191508360208285010111156103d657600080fd5b9250929050565b6000806000604084860312156103f257600080fd5b83359250602084013567ffffffffffffffff81111561041057600080fd5b61041c86828701610394565b9497909650939450505050565b6000806000806060858703121561043f57600080fd5b84356001600160a01b038116811461045657600080fd5b935060208501359250604085013567ffffffffffffffff81111561047957600080fd5b61048587828801610394565b95989497509550505050565b634e487b7160e01b600052601260045260246000fd5b6000826104b6576104b6610491565b500690565b634e487b7160e01b600052601160045260246000fd5b808202811582820484141761032c5761032c6104bb565b6000826104f7576104f7610491565b500490565b8082018082111561032c5761032c6104bb56fea164736f6c6343000825000a",
}

// Payouts is an auto generated Go binding around an Ethereum contract.
type Payouts struct {
	abi abi.ABI
}

// GetABI returns the ABI associated with this contract binding.
func (c *Payouts) GetABI() abi.ABI {
	return c.abi
}

// NewPayouts creates a new instance of Payouts.
func NewPayouts() *Payouts {
	parsed, err := PayoutsMetaData.ParseABI()
	if err != nil {
		panic(errors.New("invalid ABI: " + err.Error()))
	}
	return &Payouts{abi: *parsed}
}

// Instance creates a wrapper for a deployed contract instance at the given address.
// Use this to create the instance object passed to abigen v2 library functions Call, Transact, etc.
func (c *Payouts) Instance(backend bind.ContractBackend, addr common.Address) *bind.BoundContract {
	return bind.NewBoundContract(addr, c.abi, backend, backend, backend)
}

// PackPayCoin is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x26c1799c.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function payCoin(uint256 gasCap, bytes payees) payable returns(uint256 paid)
func (payouts *Payouts) PackPayCoin(gasCap *big.Int, payees []byte) []byte {
	enc, err := payouts.abi.Pack("payCoin", gasCap, payees)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPayCoin is the Go binding used to pack the parameters required for calling
// the contract method with ID 0x26c1799c.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function payCoin(uint256 gasCap, bytes payees) payable returns(uint256 paid)
func (payouts *Payouts) TryPackPayCoin(gasCap *big.Int, payees []byte) ([]byte, error) {
	return payouts.abi.Pack("payCoin", gasCap, payees)
}

// UnpackPayCoin is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0x26c1799c.
//
// Solidity: function payCoin(uint256 gasCap, bytes payees) payable returns(uint256 paid)
func (payouts *Payouts) UnpackPayCoin(data []byte) (*big.Int, error) {
	out, err := payouts.abi.Unpack("payCoin", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PackPayToken is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xec817e5b.  This method will panic if any
// invalid/nil inputs are passed.
//
// Solidity: function payToken(address token, uint256 gasCap, bytes payees) returns(uint256 paid)
func (payouts *Payouts) PackPayToken(token common.Address, gasCap *big.Int, payees []byte) []byte {
	enc, err := payouts.abi.Pack("payToken", token, gasCap, payees)
	if err != nil {
		panic(err)
	}
	return enc
}

// TryPackPayToken is the Go binding used to pack the parameters required for calling
// the contract method with ID 0xec817e5b.  This method will return an error
// if any inputs are invalid/nil.
//
// Solidity: function payToken(address token, uint256 gasCap, bytes payees) returns(uint256 paid)
func (payouts *Payouts) TryPackPayToken(token common.Address, gasCap *big.Int, payees []byte) ([]byte, error) {
	return payouts.abi.Pack("payToken", token, gasCap, payees)
}

// UnpackPayToken is the Go binding that unpacks the parameters returned
// from invoking the contract method with ID 0xec817e5b.
//
// Solidity: function payToken(address token, uint256 gasCap, bytes payees) returns(uint256 paid)
func (payouts *Payouts) UnpackPayToken(data []byte) (*big.Int, error) {
	out, err := payouts.abi.Unpack("payToken", data)
	if err != nil {
		return new(big.Int), err
	}
	out0 := abi.ConvertType(out[0], new(big.Int)).(*big.Int)
	return out0, nil
}

// PayoutsPaid represents a Paid event raised by the Payouts contract.
type PayoutsPaid struct {
	Payer common.Address
	Paid  *big.Int
	Raw   *types.Log // Blockchain specific contextual infos
}

const PayoutsPaidEventName = "Paid"

// ContractEventName returns the user-defined event name.
func (PayoutsPaid) ContractEventName() string {
	return PayoutsPaidEventName
}

// UnpackPaidEvent is the Go binding that unpacks the event data emitted
// by contract.
//
// Solidity: event Paid(address indexed payer, uint256 paid)
func (payouts *Payouts) UnpackPaidEvent(log *types.Log) (*PayoutsPaid, error) {
	event := "Paid"
	if len(log.Topics) == 0 {
		return nil, bind.ErrNoEventSignature
	}
	if log.Topics[0] != payouts.abi.Events[event].ID {
		return nil, bind.ErrEventSignatureMismatch
	}
	out := new(PayoutsPaid)
	if len(log.Data) > 0 {
		if err := payouts.abi.UnpackIntoInterface(out, event, log.Data); err != nil {
			return nil, err
		}
	}
	var indexed abi.Arguments
	for _, arg := range payouts.abi.Events[event].Inputs {
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
func (payouts *Payouts) UnpackError(raw []byte) (any, error) {
	if bytes.Equal(raw[:4], payouts.abi.Errors["GasTooLow"].ID.Bytes()[:4]) {
		return payouts.UnpackGasTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], payouts.abi.Errors["NoToken"].ID.Bytes()[:4]) {
		return payouts.UnpackNoTokenError(raw[4:])
	}
	if bytes.Equal(raw[:4], payouts.abi.Errors["NotReturned"].ID.Bytes()[:4]) {
		return payouts.UnpackNotReturnedError(raw[4:])
	}
	if bytes.Equal(raw[:4], payouts.abi.Errors["NothingPaid"].ID.Bytes()[:4]) {
		return payouts.UnpackNothingPaidError(raw[4:])
	}
	if bytes.Equal(raw[:4], payouts.abi.Errors["ValueTooLow"].ID.Bytes()[:4]) {
		return payouts.UnpackValueTooLowError(raw[4:])
	}
	if bytes.Equal(raw[:4], payouts.abi.Errors["WrongPayees"].ID.Bytes()[:4]) {
		return payouts.UnpackWrongPayeesError(raw[4:])
	}
	return nil, errors.New("Unknown error")
}

// PayoutsGasTooLow represents a GasTooLow error raised by the Payouts contract.
type PayoutsGasTooLow struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error GasTooLow()
func PayoutsGasTooLowErrorID() common.Hash {
	return common.HexToHash("0x858c897494c7f53c9d7835dd0dd2e3db55d92f5ac70eb5042dfc2b82a0fee685")
}

// UnpackGasTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error GasTooLow()
func (payouts *Payouts) UnpackGasTooLowError(raw []byte) (*PayoutsGasTooLow, error) {
	out := new(PayoutsGasTooLow)
	if err := payouts.abi.UnpackIntoInterface(out, "GasTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// PayoutsNoToken represents a NoToken error raised by the Payouts contract.
type PayoutsNoToken struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NoToken()
func PayoutsNoTokenErrorID() common.Hash {
	return common.HexToHash("0x79d93f49033adc027d39a5e2568aaddada22a50aa1c3e1a14818c1c4a79435f0")
}

// UnpackNoTokenError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NoToken()
func (payouts *Payouts) UnpackNoTokenError(raw []byte) (*PayoutsNoToken, error) {
	out := new(PayoutsNoToken)
	if err := payouts.abi.UnpackIntoInterface(out, "NoToken", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// PayoutsNotReturned represents a NotReturned error raised by the Payouts contract.
type PayoutsNotReturned struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NotReturned()
func PayoutsNotReturnedErrorID() common.Hash {
	return common.HexToHash("0x0eaf29923c3876e7861e07d57b6ccb7323316a492eea9cbcef94b003ad5ebd44")
}

// UnpackNotReturnedError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NotReturned()
func (payouts *Payouts) UnpackNotReturnedError(raw []byte) (*PayoutsNotReturned, error) {
	out := new(PayoutsNotReturned)
	if err := payouts.abi.UnpackIntoInterface(out, "NotReturned", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// PayoutsNothingPaid represents a NothingPaid error raised by the Payouts contract.
type PayoutsNothingPaid struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error NothingPaid()
func PayoutsNothingPaidErrorID() common.Hash {
	return common.HexToHash("0x56baacf6820afef84ba2bcf3a5978a0f5251f06477b0642b1d4c113bb6622b36")
}

// UnpackNothingPaidError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error NothingPaid()
func (payouts *Payouts) UnpackNothingPaidError(raw []byte) (*PayoutsNothingPaid, error) {
	out := new(PayoutsNothingPaid)
	if err := payouts.abi.UnpackIntoInterface(out, "NothingPaid", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// PayoutsValueTooLow represents a ValueTooLow error raised by the Payouts contract.
type PayoutsValueTooLow struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error ValueTooLow()
func PayoutsValueTooLowErrorID() common.Hash {
	return common.HexToHash("0x5321e1df704dae1bdc249260b90b10873459b2f02de3616bd9aef0594fbf8424")
}

// UnpackValueTooLowError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error ValueTooLow()
func (payouts *Payouts) UnpackValueTooLowError(raw []byte) (*PayoutsValueTooLow, error) {
	out := new(PayoutsValueTooLow)
	if err := payouts.abi.UnpackIntoInterface(out, "ValueTooLow", raw); err != nil {
		return nil, err
	}
	return out, nil
}

// PayoutsWrongPayees represents a WrongPayees error raised by the Payouts contract.
type PayoutsWrongPayees struct {
}

// ErrorID returns the hash of canonical representation of the error's signature.
//
// Solidity: error WrongPayees()
func PayoutsWrongPayeesErrorID() common.Hash {
	return common.HexToHash("0x62800d8c634c39c07a5b91c0a1f958b724151a7e2a41f87561a6309ca3db3526")
}

// UnpackWrongPayeesError is the Go binding used to decode the provided
// error data into the corresponding Go error struct.
//
// Solidity: error WrongPayees()
func (payouts *Payouts) UnpackWrongPayeesError(raw []byte) (*PayoutsWrongPayees, error) {
	out := new(PayoutsWrongPayees)
	if err := payouts.abi.UnpackIntoInterface(out, "WrongPayees", raw); err != nil {
		return nil, err
	}
	return out, nil
}
