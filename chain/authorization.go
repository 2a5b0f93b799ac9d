package chain

import "fmt"

// Cause is the final transfer that a payment answers, as the daemon names it. It is empty for what
// moves between our own accounts.
type Cause struct {
	Network string // configured network of the payment; also where there is no transfer
	Token   string // gateway token; empty where the asset is of none
	User    string // owner of the money: the user's exchange-chain address; empty if there is no single owner
	Chain   ID     // ledger of the transfer; empty for none
	Height  uint64 // of the transfer's block
	Ref     string // of the transfer, see Transfer
	Sender  string // of the transfer
	// without a transfer: distinguishes the payment from an earlier one with the same number; empty
	// for payments older than marks
	Mark string
}

// Claim asks for leave to pay from an account, before the payment is bound to a slot.
type Claim struct {
	Account string
	Payment Payment
	Cause   Cause
	// Approvals are people's approvals of the payment. They count only where a check requires them.
	Approvals []Approval
}

// Key names what may be paid once on a ledger: the transfer that is credited or refunded, or a
// payment of ours to ourselves. Records that were restored give a payment's number again, but not
// its mark.
func (c Claim) Key(on ID) string {
	p := c.Payment
	if p.Purpose == Credit || p.Purpose == Refund {
		return fmt.Sprintf("transfer|%s|%s", c.Cause.Chain, c.Cause.Ref)
	}
	key := fmt.Sprintf("%s|%s|%s|%d", p.Purpose, on, c.Account, p.ID)
	if c.Cause.Mark != "" {
		key += "|" + c.Cause.Mark
	}
	return key
}

// Verdict is the result of a claim.
type Verdict struct {
	State  VerdictState
	Reason string // one word, empty when authorized
	Text   string // one line for people, empty when authorized

	Arrival *Arrival `json:"-"` // coin at a deposit address that the payment uses up; for the sign-guard alone
}

// Arrival is native coin that came to a deposit address and that a payment credits or refunds. The
// sum of them never exceeds what arrived there.
type Arrival struct {
	Chain   ID
	Address string
	Amount  Amount
	Height  uint64  // of the block that shows it
	Proof   Proof   // what shows it
	Limit   *Amount // the most that may be counted at the address, by its balance at a final block; nil: not read
}

// Proof names what shows that coin arrived.
type Proof string

// The proofs of arrivals.
const (
	ByBlock   Proof = "block"   // a transfer in a block
	ByBalance Proof = "balance" // the balance of its address
	ByPeople  Proof = "people"  // approvals
)

// VerdictState reports whether a claim's payment may be bound.
type VerdictState string

// The states of a verdict.
const (
	Authorized   VerdictState = "authorized"
	HeldClaim    VerdictState = "held"    // until a person decides or time passes: it is asked again
	RefusedClaim VerdictState = "refused" // it contradicts what was paid or is known
	LaterClaim   VerdictState = "later"   // not known yet
)

// Reasons of verdicts.
const (
	ReasonLimit    = "limit"          // a limit is used up
	ReasonApproval = "approval"       // people must approve it
	ReasonListed   = "listed"         // payee or sender is on a list
	ReasonUnproven = "unproven"       // no final transfer proves it
	ReasonRefused  = "signer_refuses" // it contradicts its cause, or what was signed for the same cause
)
