package vite

import (
	"errors"

	"gatewayd/chain"
	"gatewayd/chain/vite/core"
)

// noComment is the Memo.Type of data that orders nothing.
const noComment = -1

// memoOf decodes the data of a send. A wallet's plain text, or no data at all, is no fault: it just names no withdrawal. A broken
// gateway comment keeps nothing of what it seemed to say.
func memoOf(data []byte) chain.Memo {
	memo := chain.Memo{Raw: data, Type: noComment}
	comment, err := core.DecodeComment(data)
	var broken *core.CommentError
	switch {
	case errors.As(err, &broken):
		memo.Fault = string(broken.Reason)
	case err == nil:
		memo.Type, memo.Address, memo.Label = int(comment.Type), comment.Address, comment.Label
	}
	return memo
}
