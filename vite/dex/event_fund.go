package dex

import (
	"bytes"
	"math"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/vite/core"
)

// Encode is the data of a marketEvent.
func (k *Market) Encode() []byte {
	var m message
	m.uint(1, uint64(k.ID))
	m.bytes(2, []byte(k.Symbol))
	m.bytes(3, k.Trade[:])
	m.bytes(4, k.Quote[:])
	m.uint(5, uint64(k.QuoteType))
	m.uint(6, uint64(k.TradeDecimals))
	m.uint(7, uint64(k.QuoteDecimals))
	m.uint(8, uint64(k.TakerOperatorRate))
	m.uint(9, uint64(k.MakerOperatorRate))
	m.bool(10, k.AllowMining)
	m.bool(11, k.Valid)
	m.bytes(12, k.Owner[:])
	m.bytes(13, k.Creator[:])
	m.bool(14, k.Stopped)
	m.uint(15, uint64(k.Time))
	m.bool(16, k.Stable)
	return m
}

var marketNames = []string{
	"MarketId", "MarketSymbol", "TradeToken", "QuoteToken", "QuoteTokenType", "TradeTokenDecimals", "QuoteTokenDecimals",
	"TakerOperatorFeeRate", "MakerOperatorFeeRate", "AllowMining", "Valid", "Owner", "Creator", "Stopped", "Timestamp",
	"StableMarket",
}

// DecodeMarket reads the data of a marketEvent. Errors are ErrWire.
func DecodeMarket(data []byte) (Market, error) {
	var k Market
	err := parse(data, marketNames, func(field protowire.Number, v value) {
		if field < 8 {
			k.readTokens(field, v)
		} else {
			k.readRules(field, v)
		}
	})
	return k, err
}

func (k *Market) readTokens(field protowire.Number, v value) {
	switch field {
	case 1:
		k.ID = uint32(v.uint(MaxMarket))
	case 2:
		k.Symbol = v.text()
	case 3:
		k.Trade = v.token()
	case 4:
		k.Quote = v.token()
	case 5:
		k.QuoteType = QuoteType(v.uint(math.MaxUint8))
	case 6:
		k.TradeDecimals = uint8(v.uint(math.MaxUint8))
	case 7:
		k.QuoteDecimals = uint8(v.uint(math.MaxUint8))
	}
}

func (k *Market) readRules(field protowire.Number, v value) {
	switch field {
	case 8:
		k.TakerOperatorRate = v.rate()
	case 9:
		k.MakerOperatorRate = v.rate()
	case 10:
		k.AllowMining = v.bool()
	case 11:
		k.Valid = v.bool()
	case 12:
		k.Owner = v.address()
	case 13:
		k.Creator = v.address()
	case 14:
		k.Stopped = v.bool()
	case 15:
		k.Time = int64(v.uint(MaxTime))
	case 16:
		k.Stable = v.bool()
	}
}

// Encode is the data of a tokenEvent.
func (t *Token) Encode() []byte {
	var m message
	m.bytes(1, t.ID[:])
	m.uint(2, uint64(t.Decimals))
	m.bytes(3, []byte(t.Symbol))
	m.uint(4, uint64(t.Index))
	m.bytes(5, t.Owner[:])
	m.uint(6, uint64(t.QuoteType))
	return m
}

// DecodeToken reads the data of a tokenEvent. Errors are ErrWire.
func DecodeToken(data []byte) (Token, error) {
	var t Token
	names := []string{"TokenId", "Decimals", "Symbol", "Index", "Owner", "QuoteTokenType"}
	err := parse(data, names, func(field protowire.Number, v value) {
		switch field {
		case 1:
			t.ID = v.token()
		case 2:
			t.Decimals = uint8(v.uint(math.MaxUint8))
		case 3:
			t.Symbol = v.text()
		case 4:
			t.Index = uint16(v.uint(math.MaxUint16))
		case 5:
			t.Owner = v.address()
		case 6:
			t.QuoteType = QuoteType(v.uint(math.MaxUint8))
		}
	})
	return t, err
}

// Encode is the data of a grantMarketToAgentEvent or revokeMarketFromAgentEvent.
func (g *Grant) Encode() []byte {
	var m message
	m.bytes(1, g.Principal[:])
	m.bytes(2, g.Agent[:])
	m.uint(3, uint64(g.Market))
	return m
}

// DecodeGrant reads the data of a grantMarketToAgentEvent or revokeMarketFromAgentEvent. Errors are ErrWire.
func DecodeGrant(data []byte) (Grant, error) {
	var g Grant
	err := parse(data, []string{"Principal", "Agent", "MarketId"}, func(field protowire.Number, v value) {
		switch field {
		case 1:
			g.Principal = v.address()
		case 2:
			g.Agent = v.address()
		case 3:
			g.Market = uint32(v.uint(MaxMarket))
		}
	})
	return g, err
}

// Encode is the data of a transferAssetEvent.
func (t *Transfer) Encode() []byte {
	var m message
	m.uint(1, uint64(t.Kind))
	m.bytes(2, t.From[:])
	m.bytes(3, t.To[:])
	m.bytes(4, t.Token[:])
	m.amount(5, &t.Amount)
	m.bytes(6, t.Extra)
	return m
}

// DecodeTransfer reads the data of a transferAssetEvent. Errors are ErrWire.
func DecodeTransfer(data []byte) (Transfer, error) {
	var t Transfer
	names := []string{"BizType", "From", "To", "Token", "Amount", "Extra"}
	err := parse(data, names, func(field protowire.Number, v value) {
		switch field {
		case 1:
			t.Kind = TransferKind(v.uint(math.MaxUint8))
		case 2:
			t.From = v.address()
		case 3:
			t.To = v.address()
		case 4:
			t.Token = v.token()
		case 5:
			t.Amount = v.amount()
		case 6:
			t.Extra = bytes.Clone(v.bytes())
		}
	})
	return t, err
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
