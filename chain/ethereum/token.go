package ethereum

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// ERC-20 as far as the gateway speaks it.
const (
	wordSize = 32
	// transferSize is a call of transfer(address,uint256) without extra bytes.
	transferSize = 4 + 2*wordSize

	selectorTransfer  = "\xa9\x05\x9c\xbb" // transfer(address,uint256)
	selectorBalanceOf = "\x70\xa0\x82\x31" // balanceOf(address)
	selectorDecimals  = "\x31\x3c\xe5\x67" // decimals()
)

// movement is value going from one account to another.
type movement struct {
	from, to common.Address
	amount   uint256.Int
}

// transferCall is the call data of an ERC-20 payment, the label after the arguments: a contract
// does not read there.
func transferCall(to common.Address, amount *uint256.Int, label string) []byte {
	word := amount.Bytes32()
	data := make([]byte, 0, transferSize+len(label))
	data = append(data, selectorTransfer...)
	data = append(data, common.LeftPadBytes(to[:], wordSize)...)
	data = append(data, word[:]...)
	return append(data, label...)
}

// readTransferCall is the reverse: receiver, amount and the extra bytes. The sender is not in the
// data.
func readTransferCall(data []byte) (m movement, extra []byte, ok bool) {
	if len(data) < transferSize || string(data[:4]) != selectorTransfer {
		return movement{}, nil, false
	}
	to, ok := addressWord(data[4 : 4+wordSize])
	if !ok {
		return movement{}, nil, false
	}
	m.to = to
	m.amount.SetBytes(data[4+wordSize : transferSize])
	return m, data[transferSize:], true
}

// readTransferLog reads an event of exactly the ERC-20 shape: three topics (the event, from, to)
// and one word. Events of NFTs share the topic but not the shape; EIP-7708 took topic and shape
// over from ERC-20.
func readTransferLog(topics []common.Hash, data []byte) (m movement, ok bool) {
	if len(topics) != 3 || topics[0] != params.EthTransferLogEvent || len(data) != wordSize {
		return movement{}, false
	}
	from, okFrom := addressWord(topics[1][:])
	to, okTo := addressWord(topics[2][:])
	if !okFrom || !okTo {
		return movement{}, false
	}
	m.from, m.to = from, to
	m.amount.SetBytes(data)
	return m, true
}

// addressWord is the address in a 32-byte word, whose first 12 bytes must be zero.
func addressWord(word []byte) (common.Address, bool) {
	if len(word) != wordSize || !bytes.Equal(word[:12], make([]byte, 12)) {
		return common.Address{}, false
	}
	return common.BytesToAddress(word[12:]), true
}

// balanceCall is the call data of balanceOf(account).
func balanceCall(account common.Address) []byte {
	return append([]byte(selectorBalanceOf), common.LeftPadBytes(account[:], wordSize)...)
}

// isNativeLog reports whether the protocol itself wrote a log, for native coin that moved
// (EIP-7708). No contract can have that address.
func isNativeLog(emitter common.Address) bool { return emitter == params.SystemAddress }

const (
	// maxLabel is the longest label in bytes.
	maxLabel = 64
	// maxRawMemo is the stored length of a longer memo: enough to identify it.
	maxRawMemo = 256
	// noComment: only the exchange chain has comments that name a binding type.
	noComment = -1
)

// readMemo takes the extra bytes of a deposit as a label. What is no label is kept as bytes with
// the reason; nothing is repaired.
func readMemo(extra []byte) chain.Memo {
	memo := chain.Memo{Type: noComment}
	if len(extra) == 0 {
		return memo
	}
	memo.Raw = append([]byte(nil), extra[:min(len(extra), maxRawMemo)]...)
	if memo.Fault = labelFault(extra); memo.Fault == "" {
		memo.Label = string(extra)
	}
	return memo
}

// labelFault returns in one word why bytes are no label; empty when they are one, or none at all.
func labelFault(label []byte) string {
	if len(label) > maxLabel {
		return "too_long"
	}
	if !utf8.Valid(label) {
		return "not_utf8"
	}
	for _, r := range string(label) {
		if !unicode.IsPrint(r) {
			return "not_printable"
		}
	}
	return ""
}
