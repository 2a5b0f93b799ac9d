package dex

import (
	"math"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// Encode is the data of a marketEvent.
func (k *Market) Encode() []byte { return write(k.members) }

// DecodeMarket reads the data of a marketEvent. Errors are ErrWire.
func DecodeMarket(data []byte) (k Market, err error) {
	err = read(data, k.members)
	return k, err
}

func (k *Market) members(c *codec) {
	integer(c, 1, "MarketId", &k.ID, MaxMarket)
	c.text(2, "MarketSymbol", &k.Symbol)
	c.fixed(3, "TradeToken", k.Trade[:])
	c.fixed(4, "QuoteToken", k.Quote[:])
	integer(c, 5, "QuoteTokenType", &k.QuoteType, math.MaxUint8)
	integer(c, 6, "TradeTokenDecimals", &k.TradeDecimals, math.MaxUint8)
	integer(c, 7, "QuoteTokenDecimals", &k.QuoteDecimals, math.MaxUint8)
	integer(c, 8, "TakerOperatorFeeRate", &k.TakerOperatorRate, RateUnit)
	integer(c, 9, "MakerOperatorFeeRate", &k.MakerOperatorRate, RateUnit)
	c.bool(10, "AllowMining", &k.AllowMining)
	c.bool(11, "Valid", &k.Valid)
	c.fixed(12, "Owner", k.Owner[:])
	c.fixed(13, "Creator", k.Creator[:])
	c.bool(14, "Stopped", &k.Stopped)
	integer(c, 15, "Timestamp", &k.Time, MaxTime)
	c.bool(16, "StableMarket", &k.Stable)
}

// Encode is the data of a tokenEvent.
func (t *Token) Encode() []byte { return write(t.members) }

// DecodeToken reads the data of a tokenEvent. Errors are ErrWire.
func DecodeToken(data []byte) (t Token, err error) {
	err = read(data, t.members)
	return t, err
}

func (t *Token) members(c *codec) {
	c.fixed(1, "TokenId", t.ID[:])
	integer(c, 2, "Decimals", &t.Decimals, math.MaxUint8)
	c.text(3, "Symbol", &t.Symbol)
	integer(c, 4, "Index", &t.Index, math.MaxUint16)
	c.fixed(5, "Owner", t.Owner[:])
	integer(c, 6, "QuoteTokenType", &t.QuoteType, math.MaxUint8)
}

// Encode is the data of a grantMarketToAgentEvent or revokeMarketFromAgentEvent.
func (g *Grant) Encode() []byte { return write(g.members) }

// DecodeGrant reads the data of a grantMarketToAgentEvent or revokeMarketFromAgentEvent. Errors are
// ErrWire.
func DecodeGrant(data []byte) (g Grant, err error) {
	err = read(data, g.members)
	return g, err
}

func (g *Grant) members(c *codec) {
	c.fixed(1, "Principal", g.Principal[:])
	c.fixed(2, "Agent", g.Agent[:])
	integer(c, 3, "MarketId", &g.Market, MaxMarket)
}

// Encode is the data of a transferAssetEvent.
func (t *Transfer) Encode() []byte { return write(t.members) }

// DecodeTransfer reads the data of a transferAssetEvent. Errors are ErrWire.
func DecodeTransfer(data []byte) (t Transfer, err error) {
	err = read(data, t.members)
	return t, err
}

func (t *Transfer) members(c *codec) {
	integer(c, 1, "BizType", &t.Kind, math.MaxUint8)
	c.fixed(2, "From", t.From[:])
	c.fixed(3, "To", t.To[:])
	c.fixed(4, "Token", t.Token[:])
	c.amount(5, "Amount", &t.Amount)
	c.bytes(6, "Extra", &t.Extra)
}

// Encode is the argument of dexFund's SettleOrders (docs/exchange-rules.md 3.3).
func (s *Settlement) Encode() []byte { return write(s.members) }

// DecodeSettlement is the inverse of Encode. Errors are ErrWire.
func DecodeSettlement(data []byte) (s Settlement, err error) {
	err = read(data, s.members)
	return s, err
}

func (s *Settlement) members(c *codec) {
	c.fixed(1, "TradeToken", s.Trade[:])
	c.fixed(2, "QuoteToken", s.Quote[:])
	list(c, 3, "FundActions", &s.Accounts, (*AccountSettlement).members)
	list(c, 4, "FeeActions", &s.Fees, (*FeeSettlement).members)
}

func (a *AccountSettlement) members(c *codec) {
	c.fixed(1, "Address", a.Owner[:])
	changes := a.changes()
	list(c, 2, "AccountSettles", &changes, (*tokenChange).members)
	for _, k := range changes {
		if k.trade {
			a.Trade = k.Change
		} else {
			a.Quote = k.Change
		}
	}
}

// tokenChange is the change of an account's trade or quote token.
type tokenChange struct {
	trade bool
	Change
}

func (a *AccountSettlement) changes() (list []tokenChange) {
	if a.Trade != (Change{}) {
		list = append(list, tokenChange{true, a.Trade})
	}
	if a.Quote != (Change{}) {
		list = append(list, tokenChange{false, a.Quote})
	}
	return list
}

func (k *tokenChange) members(c *codec) {
	c.bool(1, "IsTradeToken", &k.trade)
	c.amount(2, "IncAvailable", &k.Inc)
	c.amount(3, "ReduceLocked", &k.Reduce)
	c.amount(4, "ReleaseLocked", &k.Release)
}

func (f *FeeSettlement) members(c *codec) {
	c.fixed(1, "Address", f.Payer[:])
	c.amount(2, "BaseFee", &f.BaseFee)
	c.amount(3, "OperatorFee", &f.OperatorFee)
}

// Events of mining, dividends and invitations, all of dexFund. Three of the names are a real
// chain's. No public source documents their members, which are therefore this chain's own.
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
	// Weight is the basis of the amount: fees in the decimals of the quote type, locked VX, or
	// staked VITE; for an operator the amount itself.
	Weight    uint256.Int
	QuoteType QuoteType // of the fees
	Market    uint32    // an operator's
}

// Encode is the event's data.
func (r *Reward) Encode() []byte { return write(r.members) }

// DecodeReward reads the data of a Reward. Errors are ErrWire.
func DecodeReward(data []byte) (r Reward, err error) {
	err = read(data, r.members)
	return r, err
}

func (r *Reward) members(c *codec) {
	c.fixed(1, "Address", r.Address[:])
	c.fixed(2, "TokenId", r.Token[:])
	c.amount(3, "Amount", &r.Amount)
	integer(c, 4, "Period", &r.Period, MaxTime)
	c.amount(5, "Weight", &r.Weight)
	integer(c, 6, "QuoteTokenType", &r.QuoteType, math.MaxUint8)
	integer(c, 7, "MarketId", &r.Market, MaxMarket)
}

// Invitation announces that an account has taken an inviter's code, for ever.
type Invitation struct {
	Inviter, Invitee core.Address
	Code             uint32
}

// Encode is the data of an inviteRelationEvent.
func (i *Invitation) Encode() []byte { return write(i.members) }

// DecodeInvitation reads the data of an inviteRelationEvent. Errors are ErrWire.
func DecodeInvitation(data []byte) (i Invitation, err error) {
	err = read(data, i.members)
	return i, err
}

func (i *Invitation) members(c *codec) {
	c.fixed(1, "Inviter", i.Inviter[:])
	c.fixed(2, "Invitee", i.Invitee[:])
	integer(c, 3, "InviteCode", &i.Code, math.MaxUint32)
}
