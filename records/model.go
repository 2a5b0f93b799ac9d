package records

import (
	"errors"
	"fmt"
	"time"

	"gatewayd/chain"
	"gatewayd/internal/database"
	"gatewayd/records/sqlstore"
)

// Direction is the direction of a transfer. Funding is money of the operators, owed to no user.
type Direction string

// The directions of a transfer.
const (
	Deposit    Direction = "deposit"
	Withdrawal Direction = "withdrawal"
	Funding    Direction = "funding"
)

// TransferState is the progress of a transfer to us. docs/records.md draws the transitions.
type TransferState string

// The states of a transfer.
const (
	Seen     TransferState = "seen"
	Final    TransferState = "final"
	Orphaned TransferState = "orphaned"
	Held     TransferState = "held"
	Refused  TransferState = "refused"
)

// Transfer is one movement of value to us and what the gateway makes of it. Token, Owner, Payee,
// Net, Fee and Policy are frozen at first sight. Amount counts the asset's units on its own ledger;
// Net and Fee count the gateway token's units.
type Transfer struct {
	ID        uint64
	Network   string
	Direction Direction
	Chain     chain.ID
	chain.Transfer
	Token      string // gateway token id; empty when the asset is not configured
	Owner      string // user's exchange-chain address; empty when there is no known owner
	Payee      string // receiver of Net on the other ledger; empty when unknown
	PayeeLabel string
	Net        chain.Amount
	Fee        chain.Amount
	Policy     Policy
	State      TransferState
	Reason     Reason
	Height     uint64
	BlockHash  string
	BlockAt    time.Time
	SeenAt     time.Time
	ChangedAt  time.Time
	// reason why it is no longer valid after it was decided: its block has left the chain; empty
	// when all is well
	Incident string
}

// Depth is the rule frozen in the transfer; one that belongs to no token waits for the chain's own
// final point.
func (t Transfer) Depth() Depth {
	switch {
	case t.Token == "":
		return Depth{Tag: true}
	case t.Direction == Deposit:
		return t.Policy.DepositConfirmations
	default:
		return t.Policy.WithdrawConfirmations
	}
}

// CountsFrom is the height of the block from which on the transfer's depth counts.
func (t Transfer) CountsFrom() uint64 { return max(t.Height, t.Matures) }

// due is the chain's height at which the transfer is deep enough; 0 when the chain's own final
// point decides alone.
func (t Transfer) due() uint64 {
	d := t.Depth()
	if d.Tag {
		return t.Matures
	}
	return max(1, t.CountsFrom()+d.Count-1)
}

// PaymentState is the progress of a payment of ours.
type PaymentState string

// The states of a payment. Void means proven never to be paid, which frees its transfer for a
// refund.
const (
	Queued      PaymentState = "queued"
	Bound       PaymentState = "bound"
	Paid        PaymentState = "paid"
	HeldPayment PaymentState = "held"
	VoidPayment PaymentState = "void"
)

// Payment is one order to pay from an account of ours. Amount counts the asset's own units.
type Payment struct {
	ID         uint64        `db:"id"`
	TransferID uint64        // 0 for what goes between our own accounts and to the cold address
	Purpose    chain.Purpose `db:"purpose"`
	Network    string        `db:"network"`
	Token      string        `db:"token"`
	Chain      chain.ID      `db:"chain"`
	Account    string        `db:"account"`
	Asset      chain.Asset   `db:"asset"`
	Amount     chain.Amount  `db:"amount"`
	Payee      string        `db:"payee"`
	PayeeLabel string        `db:"payee_label"`
	Source     string        `db:"source"` // receive: hash of the send to take in
	Mark       string        `db:"mark"`   // made by chance where there is no transfer: numbers come again in restored records, marks do not
	State      PaymentState  `db:"state"`
	Reason     Reason        `db:"reason"`
	Gen        int           `db:"gen"`
	Tx         string        `db:"tx"` // the transaction that paid it, from a final block
	CreatedAt  time.Time
	ChangedAt  time.Time
}

// Class is the order of service of an account: a lower class goes first.
type Class int

// The classes of service.
const (
	ClassUser    Class = iota // what users wait for: credits, and what lets them be paid
	ClassRefund               // what comes back to its sender, and what goes to the cold address
	ClassReceive              // incoming blocks, unless something waits for their value
)

// ClassOf is the class of a payment's purpose.
func ClassOf(p chain.Purpose) Class {
	switch p {
	case chain.Refund, chain.Cold:
		return ClassRefund
	case chain.Receive:
		return ClassReceive
	}
	return ClassUser
}

// AccountKind is the purpose of an account of ours.
type AccountKind string

// The kinds of our accounts.
const (
	KindDeposit AccountKind = "deposit" // one user's inbound address
	KindShared  AccountKind = "shared"  // inbound address of all users, distinguished by labels
	KindHot     AccountKind = "hot"     // pays withdrawals
	KindGas     AccountKind = "gas"     // tops up deposit addresses
	KindCold    AccountKind = "cold"    // the operators' offline address: shown with ours, never stored
	KindGateway AccountKind = "gateway" // the gateway's address on the exchange chain: takes withdrawals, pays deposits
)

// AccountState reports whether an account may sign.
type AccountState string

// The states of an account. A new account has not been compared with its ledger yet.
const (
	AccountNew        AccountState = "new"
	AccountOK         AccountState = "ok"
	AccountHalted     AccountState = "halted"
	AccountRecovering AccountState = "recovering"
)

// Account is one of our accounts. Base and Next bound the numbers that we have given to slots:
// [Base, Next).
type Account struct {
	Chain     chain.ID     `db:"chain"`
	Account   string       `db:"account"`
	Kind      AccountKind  `db:"kind"`
	Network   string       `db:"network"`
	KeyPath   string       `db:"key_path"`
	State     AccountState `db:"state"`
	Why       string       `db:"why"`
	Branch    uint64       `db:"lineage"`
	Base      uint64       `db:"base"`
	Next      uint64       `db:"next"`
	CreatedAt time.Time
}

// Stopped reports whether nothing is paid from the account until a person or the recovery decides.
func (a Account) Stopped() bool { return a.State == AccountHalted || a.State == AccountRecovering }

// Slot is the one place a payment is bound to. Slots of one number are the payments of one
// transaction.
type Slot struct {
	Chain     chain.ID
	Account   string
	Branch    uint64
	Nonce     uint64
	Place     int // of the payment in the transaction
	PaymentID uint64
	Gen       int
	Coin      string // the coin that every transaction of the number spends; empty where accounts have nonces or blocks
	State     string // open, paid, void, forked
	Tx        string
	BlockHash string
	CreatedAt time.Time
	ChangedAt time.Time
}

// Attempt is one signed transaction of a slot. Head is the height our chain cursor had when it was
// stored.
type Attempt struct {
	chain.Attempt
	Kind      string // pay, replace, cancel
	Head      uint64
	CreatedAt time.Time
}

// OpenSlot is a number that still waits for a final block, with its payments and attempts in order.
// The slot is that of its first payment.
type OpenSlot struct {
	Slot
	KeyPath string
	// hash the block must follow; empty where the ledger counts nonces, and while the slot before
	// has no attempt
	Prev     string
	Payment  Payment
	Members  []Payment // all payments of a batch, in order; nil: Payment is the only one
	Attempts []Attempt
	Mined    bool // one of the attempts is in a block of the current chain
}

// Payments returns the payments of the number, in their order.
func (s OpenSlot) Payments() []Payment {
	if len(s.Members) > 0 {
		return s.Members
	}
	return []Payment{s.Payment}
}

// OwnTx is a transaction of one of our accounts, as a block shows it.
type OwnTx struct {
	Chain     chain.ID
	BlockHash string
	Height    uint64
	chain.OwnTx
}

// Cursor is the followed position of a chain.
type Cursor struct {
	Chain chain.ID
	chain.Point
	Head    uint64
	HeadAt  time.Time
	Final   chain.Point
	Halted  bool
	Why     string
	Missing bool // nothing stored yet
}

// HaltBlocks are the blocks that contradict each other where a chain halted.
type HaltBlocks struct {
	Height       uint64 `json:"height"`           // of our final block
	Ours         string `json:"ours"`             // its hash
	Theirs       string `json:"theirs,omitempty"` // hash that the nodes had there; empty: unknown, or their chain ended below
	CommonHeight uint64 `json:"commonHeight,omitempty"`
	Common       string `json:"common,omitempty"` // hash of the highest block that both have; empty: unknown, or below our records
	Lost         int    `json:"lost,omitempty"`   // decided transfers whose blocks have left the chain
}

// ShorterLine is the error of nodes whose chain ends below what was settled. It is waited out: they
// may not have caught up yet.
func (c Cursor) ShorterLine(head uint64) error {
	return fmt.Errorf("the nodes' chain ends at block %d, below our final block %d: %w", head, c.Final.Height, chain.ErrUnavailable)
}

// Binding ties a user's exchange-chain address to an inbound address (type 0) or a label on the
// shared address (type 1).
type Binding struct {
	ID        uint64   `db:"id"`
	Network   string   `db:"network"`
	Type      int      `db:"type"`
	Owner     string   `db:"owner"`
	Chain     chain.ID `db:"chain"`
	Address   string   `db:"address"`
	Label     string   `db:"label"`
	PathIndex uint32
	CreatedAt time.Time
}

// Record is a transfer with everything that became of it: what wallets list and operators read.
type Record struct {
	Transfer
	Credit   *Payment // the live or paid payout, if any
	CreditTx string   // hash to show: the paid one, else the newest attempt's
	Refund   *Payment
	RefundTx string
	Receive  *Payment
	Loss     *Loss     // what was written off, because its block has left the chain
	Head     uint64    // height of the transfer's chain
	FinalAt  uint64    // final height of the transfer's chain
	At       time.Time // when it was read
}

// What callers test for with errors.Is.
var (
	ErrNotFound       = sqlstore.ErrNotFound
	ErrConflict       = sqlstore.ErrConflict
	ErrFull           = errors.New("as many transactions of the account as may be are in no block yet")
	ErrWaits          = errors.New("the payment cannot be bound now")
	ErrHalted         = errors.New("the chain is halted")
	ErrParent         = errors.New("the block does not follow the cursor")
	ErrFinality       = errors.New("the line changed at or below its final point")
	ErrNotFinal       = errors.New("the block is not a final block of the line")
	ErrUnknownOutcome = sqlstore.ErrUnknownOutcome
	ErrLeased         = sqlstore.ErrLeased
	ErrFenced         = sqlstore.ErrFenced
	ErrNewer          = database.ErrNewer
	ErrOlder          = database.ErrOlder
)
