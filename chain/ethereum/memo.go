package ethereum

import (
	"unicode"
	"unicode/utf8"

	"gatewayd/chain"
)

const (
	// maxLabel is the longest label in bytes.
	maxLabel = 64
	// maxRawMemo is how much of a longer memo is kept: enough to see what it was.
	maxRawMemo = 256
	// noComment: only the exchange chain has comments that name a binding type.
	noComment = -1
)

// readMemo takes the extra bytes of a deposit as a label. What is no label is kept as bytes with the reason; nothing is repaired.
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

// labelFault says in one word why bytes are no label; empty when they are one, or none at all.
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
