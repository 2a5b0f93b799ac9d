package remote

import (
	"errors"

	gethrpc "github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

// namespace is that of the methods: signer_sign, signer_next.
const namespace = "signer"

// Bounds. A group of signer.MaxOrders orders takes half a megabyte.
const (
	maxBody        = 4 << 20 // bytes of a request or an answer
	maxBatch       = 1       // batches are not used
	maxConnections = 64
)

// codeOther is the code of errors that callers do not distinguish.
const codeOther = -32000

// codes are the errors that callers test for, as they travel. The first that fits is taken.
var codes = []struct {
	code int
	is   error
}{
	{1, signguard.ErrRefused}, {2, chain.ErrTaken}, {5, signguard.ErrUnauthorized}, {3, signer.ErrRefused}, {4, chain.ErrUnavailable}, {6, chain.ErrNotNow},
}

// fault is an error on the wire.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// faultOf is nil for no error.
func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	for _, c := range codes {
		if errors.Is(err, c.is) {
			return &fault{c.code, err.Error()}
		}
	}
	return &fault{codeOther, err.Error()}
}

func (f *fault) Error() string { return f.Message }

// ErrorCode is read by go-ethereum's rpc package.
func (f *fault) ErrorCode() int { return f.Code }

// Unwrap is the error that callers test for.
func (f *fault) Unwrap() error {
	for _, c := range codes {
		if c.code == f.Code {
			return c.is
		}
	}
	return nil
}

// answered is the signer's own error, if it was it that answered.
func answered(err error) (*fault, bool) {
	var told gethrpc.Error
	if !errors.As(err, &told) {
		return nil, false
	}
	return &fault{told.ErrorCode(), told.Error()}, true
}

// signed is the answer of sign: what was signed, and what stopped the rest.
type signed struct {
	Txs   []chain.SignedTx `json:"txs"`
	Fault *fault           `json:"fault"`
}

// next is the answer of next and first.
type next struct {
	Branch uint64 `json:"branch"`
	Number uint64 `json:"number"`
	Known  bool   `json:"known"`
}

// sealed is the answer of signAgent.
type sealed struct {
	Public    []byte `json:"public"`
	Signature []byte `json:"signature"`
}
