package ledger

import (
	"errors"

	"gatewayd/vite/core"
)

// builtins are the contracts that this node runs. A further one is a table of methods like these,
// an entry in this list, and fields of state that change through its journal.
var builtins = map[core.Address][]method{
	core.AssetContract: assetMethods,
	core.QuotaContract: quotaMethods,

	core.DexFundContract:  fundMethods,
	core.DexTradeContract: tradeMethods,
}

// method is a method of a built-in contract.
type method struct {
	core.Method
	// check refuses a send with an *Error before it is accepted. It sees the block alone, not the
	// state.
	check func(b *core.AccountBlock, args []any) error
	// run does the work when the contract receives. An error undoes it and gives the amount back;
	// its text goes nowhere.
	run func(x *execution, args []any) error
}

// Reasons for which a contract refuses what it received; clients see status 1.
var (
	errNoVM        = errors.New("this node does not execute code")
	errNotOwner    = errors.New("sender does not own it")
	errNoSuchToken = errors.New("token does not exist")
	errSupply      = errors.New("over the maximal supply, or none may be issued")
	errNoReceiver  = errors.New("contracts do not receive what is minted")
	errTooMany     = errors.New("no index is left for the symbol")
	errNoStake     = errors.New("no such stake")
	errStakeLocked = errors.New("stake has not expired")
	errStakeRest   = errors.New("the rest would be below the minimal stake")
)

func isBuiltin(a core.Address) bool { return builtins[a] != nil }

// FindMethod is nil if the contract has no such method.
func FindMethod(contract core.Address, data []byte) *method {
	methods := builtins[contract]
	for i := range methods {
		if methods[i].Matches(data) {
			return &methods[i]
		}
	}
	return nil
}

// checkCall judges the call of a built-in contract that a user's send makes.
func checkCall(b *core.AccountBlock) error {
	m := FindMethod(b.ToAddress, b.Data)
	if m == nil {
		return ErrNoMethod
	}
	args, err := m.Unpack(b.Data)
	if err != nil {
		return badArguments(m, b.Data, err)
	}
	return m.check(b, args)
}

// maxCallSlots is more words of 32 bytes than any call of a built-in contract needs.
const maxCallSlots = 24

// badArguments separates data that does not encode to itself again from other faults. A real node
// finds the former only when it builds the block again. A trailing part of a word is such data,
// too.
func badArguments(m *method, data []byte, err error) error {
	if errors.Is(err, core.ErrNotCanonical) {
		return ErrInconsistent
	}
	const word = 32
	for end := core.SelectorSize; end < len(data) && end <= maxCallSlots*word; end += word {
		if _, err := m.Unpack(data[:end]); err == nil {
			return ErrInconsistent
		}
	}
	return ErrMethodParam
}

// call executes what the contract received.
func (x *execution) call() error {
	if x.send.BlockType == core.SendCreate {
		return x.create()
	}
	m := FindMethod(x.self.address, x.send.Data)
	if m == nil {
		return errNoVM
	}
	args, err := m.Unpack(x.send.Data)
	if err != nil {
		return err
	}
	return m.run(x, args)
}

// create gives a new contract its code. There is no VM: no constructor runs, so none returns code,
// and only the byte for the kind of contract remains. Calls of such a contract fail and return
// their amount.
func (x *execution) create() error {
	info := *x.self.Contract
	info.Code = []byte{solidityContract}
	set(&x.state.journal, &x.self.Contract, &info)
	return nil
}

// The head of the data of a block that creates a contract (docs/exchange-chain-wire.md 6.4).
const (
	solidityContract = 1
	maxLatency       = 75
	creationHead     = core.GIDSize + 4
)

// parseCreation reads the head of the data of a contract creation.
func parseCreation(data []byte) (*ContractInfo, error) {
	if len(data) < creationHead {
		return nil, ErrMethodParam
	}
	info := &ContractInfo{GID: core.GID(data[:core.GIDSize])}
	kind, rest := data[core.GIDSize], data[core.GIDSize+1:]
	info.ResponseLatency, info.RandomDegree, info.QuotaMultiplier = rest[0], rest[1], rest[2]
	switch {
	case info.GID != core.DelegateGID || kind != solidityContract:
		return nil, ErrMethodParam
	case info.ResponseLatency > maxLatency:
		return nil, ErrLatency
	case info.RandomDegree > info.ResponseLatency:
		return nil, ErrRandomDegree
	case info.QuotaMultiplier < core.MinQuotaMultiplier || info.QuotaMultiplier > core.MaxQuotaMultiplier:
		return nil, ErrQuotaMultiplier
	}
	return info, nil
}

// builtinInfo is a real node's description of its built-in contracts.
func builtinInfo() *ContractInfo {
	return &ContractInfo{
		GID: core.DelegateGID, ResponseLatency: 1, QuotaMultiplier: core.MinQuotaMultiplier, Builtin: true,
	}
}
