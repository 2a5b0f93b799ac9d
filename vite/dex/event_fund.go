package dex

import (
	"math"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"

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

// DecodeGrant reads the data of a grantMarketToAgentEvent or revokeMarketFromAgentEvent. Errors are ErrWire.
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
func (s *Settlement) Encode() []byte {
	var m message
	m.bytes(1, s.Trade[:])
	m.bytes(2, s.Quote[:])
	for i := range s.Accounts {
		a := &s.Accounts[i]
		var account message
		account.bytes(1, a.Owner[:])
		account.change(true, &a.Trade)
		account.change(false, &a.Quote)
		m.item(3, account)
	}
	for i := range s.Fees {
		f := &s.Fees[i]
		var paid message
		paid.bytes(1, f.Payer[:])
		paid.amount(2, &f.BaseFee)
		paid.amount(3, &f.OperatorFee)
		m.item(4, paid)
	}
	return m
}

func (m *message) change(trade bool, c *Change) {
	if *c == (Change{}) {
		return
	}
	var inner message
	inner.bool(1, trade)
	inner.amount(2, &c.Inc)
	inner.amount(3, &c.Reduce)
	inner.amount(4, &c.Release)
	m.item(2, inner)
}

// DecodeSettlement is the inverse of Encode. Errors are ErrWire.
func DecodeSettlement(data []byte) (Settlement, error) {
	var s Settlement
	names := []string{"TradeToken", "QuoteToken", "FundActions", "FeeActions"}
	err := parse(data, names, func(field protowire.Number, v value) {
		switch field {
		case 1:
			s.Trade = v.token()
		case 2:
			s.Quote = v.token()
		case 3:
			s.Accounts = append(s.Accounts, v.account())
		case 4:
			s.Fees = append(s.Fees, v.paid())
		}
	})
	return s, err
}

func (v value) inner(names []string, f func(protowire.Number, value)) {
	if err := parse(v.bytes(), names, f); err != nil && *v.err == nil {
		*v.err = err
	}
}

func (v value) account() (a AccountSettlement) {
	v.inner([]string{"Address", "AccountSettles"}, func(field protowire.Number, v value) {
		if field == 1 {
			a.Owner = v.address()
			return
		}
		if c, trade := v.change(); trade {
			a.Trade = c
		} else {
			a.Quote = c
		}
	})
	return a
}

func (v value) change() (c Change, trade bool) {
	v.inner([]string{"IsTradeToken", "IncAvailable", "ReduceLocked", "ReleaseLocked"}, func(field protowire.Number, v value) {
		switch field {
		case 1:
			trade = v.bool()
		case 2:
			c.Inc = v.amount()
		case 3:
			c.Reduce = v.amount()
		case 4:
			c.Release = v.amount()
		}
	})
	return c, trade
}

func (v value) paid() (f FeeSettlement) {
	v.inner([]string{"Address", "BaseFee", "OperatorFee"}, func(field protowire.Number, v value) {
		switch field {
		case 1:
			f.Payer = v.address()
		case 2:
			f.BaseFee = v.amount()
		case 3:
			f.OperatorFee = v.amount()
		}
	})
	return f
}

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
