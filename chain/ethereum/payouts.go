package ethereum

import (
	"bytes"
	_ "embed" // the contract's code
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"
)

// payoutsText creates the contract that makes several payouts in one transaction
// (contracts/src/Payouts.sol).
//
//go:embed contracts/abi/Payouts.bin
var payoutsText string

const (
	// payoutsHash is the hash of the contract's code on a chain.
	payoutsHash = "0xefe4a31fb4ca940142a0e933fa2f2e9c452d4e662d1a84c03763b9826fda9140"
	// Deployer is the contract that deploys others at addresses that depend on their code alone
	// (CREATE2). Anyone may call it. It has this address on every chain where it was deployed.
	Deployer = "0x4e59b44847b379578588920cA78FbF26c0B4956C"

	selectorPayCoin   = "\x26\xc1\x79\x9c" // payCoin(uint256,bytes)
	selectorPayToken  = "\xec\x81\x7e\x5b" // payToken(address,uint256,bytes)
	selectorApprove   = "\x09\x5e\xa7\xb3" // approve(address,uint256)
	selectorAllowance = "\xdd\x62\xed\x3e" // allowance(address,address)

	topicPaid     = "Paid(address,uint256)"
	topicApproval = "Approval(address,address,uint256)"

	// payeeSize is a payee in the contract's input: an address and an amount of 16 bytes.
	payeeSize   = common.AddressLength + payeeAmount
	payeeAmount = 16
	// maxMembers is the maximum number of payments in a transaction.
	maxMembers = 100
)

// Gas of a batch. Each payee gets a part that no other can use up: out of gas fails the whole
// batch, never a single payee.
const (
	// coinBatchGas is beside the stipend of 2,300 that each payment of coin has. Payees without
	// code use neither.
	coinBatchGas = 0
	// tokenBatchGas bounds one transfer of a token; a usual one to a new holder takes 45,000. Where
	// that is too little, as from the Amsterdam fork on (EIP-8037), it is wideBatchGas.
	tokenBatchGas, wideBatchGas = 60_000, 150_000
	// latePayeeGas is what a payee may use, beside coinBatchGas, that got code after the estimate:
	// the stipend and the access to the code.
	latePayeeGas = 5_000
	// tokenPayeeGas is the contract's own use for each transfer of a token.
	tokenPayeeGas = 2_000
	// newPayeeGas is the most that a payment to a new account takes.
	newPayeeGas = 40_000
	// batchReserve is what the contract keeps back beside a payment's gas, batchRest that and its
	// use around the payments.
	batchReserve, batchRest = 45_000, 60_000
)

// Payouts is the contract of batches: its address, and the transaction that deploys it.
type Payouts struct {
	Address  string
	Deployer string
	Input    []byte // call data for Deployer
}

// PayoutsContract returns the contract of batches, which is the same on every chain.
func PayoutsContract() (Payouts, error) {
	code, err := hex.DecodeString(strings.TrimSpace(payoutsText))
	if err != nil {
		return Payouts{}, fmt.Errorf("decoding the code of the batch contract: %w", err)
	}
	salt := [32]byte{}
	address := crypto.CreateAddress2(common.HexToAddress(Deployer), salt, crypto.Keccak256(code))
	return Payouts{Address: address.Hex(), Deployer: Deployer, Input: append(salt[:], code...)}, nil
}

// batchCall is a call of the batch contract.
type batchCall struct {
	token *common.Address // nil: native coin
	gas   uint64          // the most that one payment's call may use
	pays  []movement      // without their sender
}

// gasFits reports whether the gas of the payments is one that we give.
func (b batchCall) gasFits() bool {
	if b.token == nil {
		return b.gas == coinBatchGas
	}
	return b.gas == tokenBatchGas || b.gas == wideBatchGas
}

// data is the call data, in the one form that readBatchCall takes.
func (b batchCall) data() []byte {
	words := func(data []byte, numbers ...uint64) []byte {
		for _, n := range numbers {
			word := uint256.NewInt(n).Bytes32()
			data = append(data, word[:]...)
		}
		return data
	}
	size := payeeSize * len(b.pays)
	data := make([]byte, 0, 4+4*wordSize+size+wordSize)
	if b.token == nil {
		data = words(append(data, selectorPayCoin...), b.gas, 2*wordSize, uint64(size))
	} else {
		data = append(append(data, selectorPayToken...), common.LeftPadBytes(b.token[:], wordSize)...)
		data = words(data, b.gas, 3*wordSize, uint64(size))
	}
	for _, p := range b.pays {
		amount := p.amount.Bytes32()
		data = append(append(data, p.to[:]...), amount[wordSize-payeeAmount:]...)
	}
	return append(data, make([]byte, -size&(wordSize-1))...)
}

// readBatchCall is the reverse. It takes what data writes and nothing else.
func readBatchCall(data []byte) (b batchCall, ok bool) {
	if len(data) < 4 {
		return b, false
	}
	head := 4 + 3*wordSize
	switch string(data[:4]) {
	case selectorPayCoin:
	case selectorPayToken:
		if len(data) < 4+wordSize {
			return b, false
		}
		token, ok := addressWord(data[4 : 4+wordSize])
		if !ok {
			return b, false
		}
		b.token = &token
		head += wordSize
	default:
		return b, false
	}
	if len(data) < head {
		return b, false
	}
	b.gas = new(uint256.Int).SetBytes(data[head-3*wordSize : head-2*wordSize]).Uint64()
	size := new(uint256.Int).SetBytes(data[head-wordSize : head])
	if !size.IsUint64() || size.Uint64() > uint64(len(data)-head) || size.Uint64()%payeeSize != 0 {
		return b, false
	}
	for rest := data[head : head+int(size.Uint64())]; len(rest) > 0; rest = rest[payeeSize:] {
		p := movement{to: common.BytesToAddress(rest[:common.AddressLength])}
		p.amount.SetBytes(rest[common.AddressLength:payeeSize])
		b.pays = append(b.pays, p)
	}
	return b, b.gasFits() && bytes.Equal(b.data(), data)
}

// needed is the gas without which the contract fails before a payment.
func (b batchCall) needed() uint64 { return b.gas + b.gas/63 + batchReserve }

// sum is the amount of all payments; false if it is above 2^256-1.
func (b batchCall) sum() (*uint256.Int, bool) {
	sum := new(uint256.Int)
	for _, p := range b.pays {
		if _, over := sum.AddOverflow(sum, &p.amount); over {
			return nil, false
		}
	}
	return sum, true
}

// paidLog returns which payments of a call the batch contract has made, one bit for each. The
// contract writes its event at the end, so the last one of a transaction to it is of the
// transaction's own call, whatever its payees call. ok is false without the event.
func paidLog(logs []wireLog, contract, payer common.Address) (paid *uint256.Int, ok bool) {
	for i := len(logs) - 1; i >= 0; i-- {
		l := logs[i]
		if l.Address != contract {
			continue
		}
		if len(l.Topics) != 2 || l.Topics[0] != crypto.Keccak256Hash([]byte(topicPaid)) || len(l.Data) != wordSize {
			return nil, false
		}
		by, is := addressWord(l.Topics[1][:])
		return new(uint256.Int).SetBytes(l.Data), is && by == payer
	}
	return nil, false
}

// bit reports whether a bit of a word is set.
func bit(word *uint256.Int, n int) bool { return word.Bytes32()[wordSize-1-n/8]>>(n%8)&1 == 1 }

// approveCall is the call data that lets a contract move any amount of a token of the caller.
func approveCall(spender common.Address) []byte {
	most := new(uint256.Int).SetAllOne().Bytes32()
	return append(append([]byte(selectorApprove), common.LeftPadBytes(spender[:], wordSize)...), most[:]...)
}

// readApproveCall is the reverse.
func readApproveCall(data []byte) (spender common.Address, ok bool) {
	if len(data) != 4+2*wordSize {
		return spender, false
	}
	spender, ok = addressWord(data[4 : 4+wordSize])
	return spender, ok && bytes.Equal(approveCall(spender), data)
}

// allowanceCall is the call data of allowance(owner, spender).
func allowanceCall(owner, spender common.Address) []byte {
	return append(append([]byte(selectorAllowance), common.LeftPadBytes(owner[:], wordSize)...), common.LeftPadBytes(spender[:], wordSize)...)
}

// isApprovalLog reports whether a log is a token's event of such a call. Some tokens keep a lower
// allowance than the one that is asked for.
func isApprovalLog(l wireLog, owner, spender common.Address) bool {
	return len(l.Topics) == 3 && l.Topics[0] == crypto.Keccak256Hash([]byte(topicApproval)) && len(l.Data) == wordSize && !bytes.Equal(l.Data, make([]byte, wordSize)) &&
		l.Topics[1] == common.BytesToHash(owner[:]) && l.Topics[2] == common.BytesToHash(spender[:])
}
