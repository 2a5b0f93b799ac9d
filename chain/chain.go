// Package chain is the vocabulary of the gateway: what a ledger is, what moves on it and how the
// gateway pays on it.
//
// It owns the Chain port that every ledger adapter implements, the exact Amount type and the errors
// callers test for. It knows no ledger, no database and no HTTP; it imports nothing else of this
// project.
package chain

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ID names one ledger in configuration, database and logs: "eth", "bsc", "vite".
type ID string

// Asset names what is moved on one ledger: Native, the checksummed address of an ERC-20 contract,
// or a token id ("tti_...").
type Asset string

// Native is the coin that pays the ledger's own fees. The exchange chain has none: its coin is a
// token like any other.
const Native Asset = "native"

// Point is one block of a ledger's line.
type Point struct {
	Height uint64
	Hash   string
}

// Head is the present state of a ledger, as agreed by the configured nodes. Final may be lower than
// before, when nodes withdraw earlier answers: the records keep settled results.
type Head struct {
	Latest Point
	Final  Point
	Time   time.Time // of Latest
}

// Block is one block of the line with everything in it that touches the gateway's own accounts.
type Block struct {
	Point
	Parent string
	Time   time.Time
	// into our accounts, from accounts that are not ours; where value must be received, from others
	// of ours too
	Transfers []Transfer
	OwnTxs    []OwnTx // what our accounts did
	Tracing   Tracing // whether coin moved by contracts was searched for
	// of a ledger of coins: those that the block gives to accounts of ours, by transfers and as our
	// own change
	Coins []Coin
}

// Coin is an output of a transaction that an account of ours can spend, as a unit and once.
type Coin struct {
	Out     string // "transaction:output", stable over re-orgs
	Address string // of ours
	Amount  Amount // of native coin
	Own     bool   // made by a transaction that spends coins of ours
	Matures uint64 // the least height of a block that may spend it; 0: any
	// the transaction that made it, without witnesses; its hash proves the amount to a signer.
	// Coins of one transaction share the bytes
	Made []byte
}

// HeldCoin is a coin that an account of ours may spend: in a final block, mature, and spent by no
// block of the line.
type HeldCoin struct {
	Coin
	Key    string // derivation path of its address's key
	Height uint64 // of its block
	// the open slot that uses it, as its own coin or by a signed attempt
	Bound  bool
	Number uint64 // of that slot
	Signed bool   // a signed attempt of that slot spends it
}

// Transfer is one movement of value into an account of ours.
type Transfer struct {
	// unique on its ledger and stable over re-orgs: the place inside the transaction, never inside
	// the block
	Ref    string
	Tx     string
	From   string
	To     string
	Asset  Asset
	Amount Amount
	Memo   Memo
	Failed bool // the transaction is in the block but moved nothing
	// nothing follows from the transfer before a block of this height is final: the coin cannot be
	// spent until then. 0: as soon as its own block is final
	Matures uint64
}

// Memo is the sender's note to the transfer. Adapters decode, they never guess.
type Memo struct {
	Raw     []byte
	Type    int    // binding type that an exchange-chain gateway comment names; -1 when there is no such comment
	Address string // where a withdrawal is to go
	Label   string // who is meant on a shared address
	Fault   string // why Raw is no valid order, in one word ("trailing_bytes"); empty when it is valid or absent
}

// OwnTx is one transaction or account block made with a key of ours.
type OwnTx struct {
	Account string
	Number  uint64 // nonce, or height in the account's chain
	Tx      string
	OK      bool // it did what its own fields request (status 1, and for a token transfer its event)
	// it provably moved nothing but its fee: status 0, or no event and unchanged balances. Neither
	// OK nor Void: something moved, but not what the fields request
	Void bool
	Fee  Amount // native coin burnt for it
	To   string // payee of Value; empty without one
	// native coin that the transaction itself moved from Account to To, by the block; zero when it
	// failed
	Value Amount
	// of a transaction that makes several payments: the outcome of each, in the order of its bytes.
	// OK and Void are of the transaction as a whole then
	Members []Outcome
	// of a ledger of coins: what the transaction spends of ours (Coin.Out), in its order. Account
	// is the address of the first, and Number is 0
	Spent []string
}

// Outcome is the result of one payment of a batch, by a final block.
type Outcome byte

// The outcomes of a batch's payment.
const (
	MemberPaid    Outcome = 'p'
	MemberVoid    Outcome = 'v' // it provably moved nothing
	MemberDiffers Outcome = 'd' // something moved, but not what the payment requests
)

// Moment is an account as it was after the block at a height.
type Moment struct {
	Account string
	Height  uint64
}

// Purpose is the reason for a payment or a block of an account of ours.
type Purpose string

// The purposes of a payment. Receive moves nothing out: it takes an incoming transfer into the
// account's chain (exchange chain only).
const (
	Credit  Purpose = "credit"
	Refund  Purpose = "refund"
	Sweep   Purpose = "sweep"
	Cold    Purpose = "cold" // from a hot account to the address that the operators keep offline
	Gas     Purpose = "gas"
	Receive Purpose = "receive"
	Cancel  Purpose = "cancel"
	Batch   Purpose = "batch" // several payments in one transaction
	Allow   Purpose = "allow" // lets the ledger's batch contract move a token of the account
	Merge   Purpose = "merge" // brings coins of the account together, on a ledger of coins
)

// PaysNobody reports whether payments of the purpose move nothing to a payee.
func (p Purpose) PaysNobody() bool { return p == Receive || p == Cancel || p == Allow || p == Merge }

// Payment is one order to pay, as an adapter needs it to sign.
type Payment struct {
	// of the payment row; written into the block where the ledger has room, so that the ledger
	// alone identifies the payment
	ID      uint64
	Purpose Purpose
	Asset   Asset
	To      string
	Amount  Amount
	Label   string // the user's label on a shared destination; empty for none
	// Receive: hash of the transfer to take in. Merge: the coin (Coin.Out) that a stuck transaction
	// of ours makes, whose fee is paid too; empty for none
	Source string
	MaxFee Amount // ceiling of the ledger fee in native coin; zero means the adapter's own ceiling

	// Batch: the payments that the transaction makes, in its order. All are of its asset, and
	// Amount is their sum. The batch has no number of its own: ID is its first member's
	Members []Payment
}

// Fingerprint contains everything that decides who gets what.
func (p Payment) Fingerprint() string {
	return fmt.Sprintf("%s|%s|%s|%s|%s|%s", p.Purpose, p.Asset, p.To, p.Amount, p.Label, p.Source)
}

// All returns the payments that the transaction of a payment makes: a batch's members, else itself.
func (p Payment) All() []Payment {
	if p.Purpose == Batch {
		return p.Members
	}
	return []Payment{p}
}

// Slot is the one place on a ledger that a payment is bound to before it is signed.
type Slot struct {
	Account string
	Key     string // derivation path of the account's key
	Branch  uint64 // which of our signed lines the slot belongs to; 0 where the ledger counts nonces
	Nonce   uint64 // nonce, or height
	Prev    string // hash of the block before, where the ledger links an account's blocks; else empty
	// the output ("txid:vout") that every transaction of the slot spends, where the ledger counts
	// neither nonces nor heights but spends coins; else empty
	Coin string
}

// Attempt is one signed transaction for a slot. It is stored before it is sent and never deleted.
type Attempt struct {
	Seq    int
	Hash   string
	Raw    []byte
	TipCap Amount // native coin per gas; zero where there are no fees
	FeeCap Amount // the same; on a ledger of coins the complete fee
	// of a ledger of coins: what it spends (Coin.Out), that of its slot first. Set by Prepare alone
	Coins []string
}

// Order is the request to a signer: a payment, the slot that it is bound to, and the transaction
// that makes it, as Prepare built it.
type Order struct {
	Slot     Slot
	Payment  Payment
	Unsigned []byte // Raw of the prepared attempt
}

// SignedTx is a transaction that its ledger takes.
type SignedTx struct {
	Hash string
	Raw  []byte
}

// Rules check and complete an order for signing, and do nothing else: they ask no node and hold no
// key.
type Rules interface {
	// Digests returns the hashes to sign, at least one: several where each coin that a transaction
	// spends takes a signature. It first verifies that the order's transaction makes exactly its
	// payment at its slot, and nothing else.
	Digests(o Order) ([]Digest, error)
	// Fee returns the most native coin that the transaction of an order may take for its fee.
	Fee(o Order) (Amount, error)
	// Seal puts a signature of each digest, in their order, to the order's transaction. One that is
	// not its key's is an error.
	Seal(o Order, signatures ...Signature) (SignedTx, error)
}

// Digest is a hash to sign with the key at a derivation path, whose purpose decides the scheme.
type Digest struct {
	Key  string
	Hash []byte
}

// Signature is a signature of one digest. The public key may be left out where the signature
// contains it.
type Signature struct {
	Public, Bytes []byte
}

// AccountHead is the state of an account of ours on its ledger.
type AccountHead struct {
	Next    uint64 // the next free number as the latest block has it
	Hash    string // hash of the account's last block, where the ledger links them
	Settled bool   // nothing of the account is waiting: latest, pending and final state agree
}

// Chain is one ledger as the gateway needs it: a line of blocks, each with the transfers that touch
// our accounts, and a way to pay. Every method is safe to repeat and bounded in time; a node's
// fault comes back as ErrUnavailable.
type Chain interface {
	ID() ID
	// Head returns the latest and the final point on which the configured nodes agree.
	Head(ctx context.Context) (Head, error)
	// Block returns the block at a height of the current line, complete and verified as far as the
	// ledger allows. ErrNotFound means that the line does not reach there (yet, or any more).
	Block(ctx context.Context, height uint64) (Block, error)
	// CheckAddress returns the canonical form of a payable address, or why it is not one
	// (ErrAddress, ErrLabel). It asks no node.
	CheckAddress(addr, label string) (string, error)
	// Balance returns what an account of ours can spend now.
	Balance(ctx context.Context, account string, asset Asset) (Amount, error)
	// AccountHead returns the state of the account's own sequence.
	AccountHead(ctx context.Context, account string) (AccountHead, error)
	// Estimate tries a payment against the latest block as Prepare would make it, and returns the
	// maximum fee in native coin. It is zero on a ledger without fees, and where the fee is taken
	// out of the moved amount. ErrRefused and ErrGasLimit: a majority of the nodes sees it fail,
	// permanently as far as known. ErrFeeCeiling, ErrNotNow: ask later.
	Estimate(ctx context.Context, account string, pay Payment) (Amount, error)
	// Cost is the most native coin that an attempt may take from its account: its fee and what it
	// moves. It asks no node.
	Cost(a Attempt) (Amount, error)
	// Underpriced reports whether an attempt waits in a node's pool because blocks ask for more
	// than it offers: only then a replacement helps.
	Underpriced(ctx context.Context, slot Slot, a Attempt) (bool, error)
	// Prepare builds a transaction; it signs and sends nothing. The attempt's Raw has no signature
	// yet; where the ledger links an account's blocks, its Hash is final. With earlier attempts it
	// makes a replacement that the ledger will prefer, or answers ErrNoReplacement when the same
	// bytes are to be sent again. ErrNotNow: ask later (no quota, earlier slots not accepted yet).
	Prepare(ctx context.Context, slot Slot, pay Payment, prev []Attempt) (Attempt, error)
	// Broadcast hands stored bytes to all nodes, in order, and answers one error for each, nil
	// where a node has it. Where the ledger links an account's blocks, what follows a refused one
	// is not tried. The answers are information, never a decision.
	Broadcast(ctx context.Context, attempts []Attempt) []error
	// MaxUnmined bounds the transactions of one account that are in no block yet: the number that
	// nodes hold for an account without losing any.
	MaxUnmined() int
}

// Refusal is an error of Broadcast: no node has the attempt, and a majority refuses it. It decides
// nothing about the payment.
type Refusal struct {
	Text string // which nodes refuse it and in which words, on one line of bounded length
}

func (r Refusal) Error() string { return "refused by " + r.Text }

// What callers test for with errors.Is.
var (
	ErrNotFound      = errors.New("not found on the ledger")
	ErrUnavailable   = errors.New("the node gives no usable answer")
	ErrLimited       = errors.New("the node's limit of requests is reached") // it works, and counts as up
	ErrNoReplacement = errors.New("no replacement: the same bytes are to be sent again")
	ErrNotNow        = errors.New("cannot be signed now")
	ErrFeeCeiling    = errors.New("the fee ceiling is reached")
	ErrRefused       = errors.New("the receiver refuses the payment")
	ErrGasLimit      = errors.New("the receiver needs more gas than a payment may use")
	ErrFalse         = errors.New("the token answers false")
	ErrNotSent       = errors.New("not sent: an earlier payment was refused")
	ErrAddress       = errors.New("not a payable address")
	ErrOtherNetwork  = errors.New("another network") // with ErrAddress
	ErrLabel         = errors.New("not a usable label")
	ErrAmount        = errors.New("not an amount")
	ErrTaken         = errors.New("the index was given before")
)
