package node

import "errors"

// Error is a refusal with the code and message of a real node (docs/exchange-chain-wire.md 5.2).
// Every refusal by Submit, DropUnconfirmed, Rollback and the reads that can refuse is one; other errors are faults of
// this node: a full disk, a cancelled context.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// The refusals, in the order in which Submit looks for them; codes without a number of their own are -32002.
var (
	ErrEmptyBlock      = &Error{-32002, "empty block"}
	ErrUnsigned        = &Error{-32002, "signature and publicKey all must have value"}
	ErrNoDifficulty    = &Error{-32002, "lack of difficulty field"}
	ErrUnknownToken    = &Error{-32002, "tokenId doesn\u2019t exist"}
	ErrHash            = &Error{-36002, "verify hash failed"}
	ErrSignature       = &Error{-36003, "verify signature failed"}
	ErrFirstIsSend     = &Error{-36001, "general account's sendBlock.Height must be larger than 1"}
	ErrFields          = &Error{-36010, "verify that block field data is illegal"}
	ErrSendMissing     = &Error{-36007, "receive's dependent send block is not exists on chain"}
	ErrProducer        = &Error{-36009, "verify that the producer is illegal"}
	ErrNonce           = &Error{-36004, "check pow nonce failed"}
	ErrPoWForm         = &Error{-36008, "verify that it's not eligible to do pow"}
	ErrPrevious        = &Error{-36005, "verify prevBlock failed, incorrect use of prevHash or fork happened"}
	ErrReceived        = &Error{-36011, "block is already received successfully"}
	ErrBlockType       = &Error{-32002, "generator in verifier run failed"}
	ErrContractOnly    = &Error{-32002, "transaction type not supported"}
	ErrNoContract      = &Error{-35008, "contract not exists"}
	ErrNoMethod        = &Error{-35006, "abi: method not found"}
	ErrMethodParam     = &Error{-35004, "invalid method param"}
	ErrLatency         = &Error{-35007, "invalid response latency"}
	ErrQuotaMultiplier = &Error{-35010, "invalid quota multiplier"}
	ErrRandomDegree    = &Error{-35013, "invalid random degree"}
	ErrIDCollision     = &Error{-35003, "id collision"}
	ErrPoWTwice        = &Error{-35005, "calc PoW twice referring to one snapshot block"}
	ErrQuota           = &Error{-35002, "out of quota"}
	ErrBalance         = &Error{-35001, "insufficient balance for transfer"}
	ErrDexParam        = &Error{-32002, "invalid input param"}
	ErrOrderType       = &Error{-37002, "invalid order type"}
	ErrOrderPrice      = &Error{-37003, "invalid order price format"}
	ErrOrderQuantity   = &Error{-37004, "invalid order quantity"}
	ErrTokenPair       = &Error{-37012, "invalid token pair"}
	ErrInconsistent    = &Error{-36012, "inconsistent execution results in vm"}
)

// Refusals of the reads and of the test controls.
var (
	ErrBlockLimit  = &Error{-35012, "quota limit for block reached"}
	ErrForked      = &Error{-32002, "chain forked"}
	ErrNoTo        = &Error{-32002, "toAddress is nil"}
	ErrNoBlock     = &Error{-32002, "get block failed"}
	ErrNoSnapshot  = &Error{-32002, "snapshot block not exists"}
	ErrConfirmed   = &Error{-32002, "block is in a snapshot already"}
	ErrTooDeep     = &Error{-32002, "snapshot height is not below the latest"}
	ErrBadPageSize = &Error{-32002, "count must be less than 1000"}
)

var (
	// ErrClosed is what a closed node answers.
	ErrClosed = errors.New("the node is closed")
	// ErrSlow ends a subscription whose buffer was full when an event came.
	ErrSlow = errors.New("subscriber is too slow")
	// ErrCorrupt marks a block log or state file that is damaged other than at its torn end.
	ErrCorrupt = errors.New("the block log is damaged")
)
