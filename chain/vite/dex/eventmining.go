package dex

import (
	"math"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/chain/vite/core"
)

// Events of mining, dividends and invitations, all of dexFund. Three of the names are a real chain's; no public source
// tells their members, which are therefore this chain's own.
const (
	MiningEvent       = "tradeMiningEvent"            // Reward: VX for trading fees
	StakingEvent      = "stakingMiningEvent"          // Reward: VX for staked VITE
	DividendEvent     = "feeDividendForVxHolderEvent" // Reward: fees for locked VX
	OperatorFeesEvent = "brokerFeeDividendEvent"      // Reward: a market's fees for its operator
	InviteEvent       = "inviteRelationEvent"         // Invitation
)

// Reward announces what the exchange has given to an account's balance.
type Reward struct {
	Address core.Address
	Token   core.TokenID
	Amount  uint256.Int
	Period  int64
	// Weight is what the amount is in proportion to: fees in the decimals of the quote type, locked VX, or staked VITE; for
	// an operator the amount itself.
	Weight    uint256.Int
	QuoteType QuoteType // of the fees
	Market    uint32    // an operator's
}

// Encode is the event's data.
func (r *Reward) Encode() []byte {
	var m message
	m.bytes(1, r.Address[:])
	m.bytes(2, r.Token[:])
	m.amount(3, &r.Amount)
	m.uint(4, uint64(r.Period))
	m.amount(5, &r.Weight)
	m.uint(6, uint64(r.QuoteType))
	m.uint(7, uint64(r.Market))
	return m
}

// DecodeReward reads the data of a Reward. Errors are ErrWire.
func DecodeReward(data []byte) (Reward, error) {
	var r Reward
	names := []string{"Address", "TokenId", "Amount", "Period", "Weight", "QuoteTokenType", "MarketId"}
	err := parse(data, names, func(field protowire.Number, v value) {
		switch field {
		case 1:
			r.Address = v.address()
		case 2:
			r.Token = v.token()
		case 3:
			r.Amount = v.amount()
		case 4:
			r.Period = int64(v.uint(MaxTime))
		case 5:
			r.Weight = v.amount()
		case 6:
			r.QuoteType = QuoteType(v.uint(math.MaxUint8))
		case 7:
			r.Market = uint32(v.uint(MaxMarket))
		}
	})
	return r, err
}

// Invitation announces that an account has taken an inviter's code, for ever.
type Invitation struct {
	Inviter, Invitee core.Address
	Code             uint32
}

// Encode is the data of an inviteRelationEvent.
func (i *Invitation) Encode() []byte {
	var m message
	m.bytes(1, i.Inviter[:])
	m.bytes(2, i.Invitee[:])
	m.uint(3, uint64(i.Code))
	return m
}

// DecodeInvitation reads the data of an inviteRelationEvent. Errors are ErrWire.
func DecodeInvitation(data []byte) (Invitation, error) {
	var i Invitation
	err := parse(data, []string{"Inviter", "Invitee", "InviteCode"}, func(field protowire.Number, v value) {
		switch field {
		case 1:
			i.Inviter = v.address()
		case 2:
			i.Invitee = v.address()
		case 3:
			i.Code = uint32(v.uint(math.MaxUint32))
		}
	})
	return i, err
}
