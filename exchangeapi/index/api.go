package index

import (
	"errors"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// ErrUnknownMarket marks a symbol that no market has. Symbols are compared as they are, lower case
// is unknown.
var ErrUnknownMarket = errors.New("invalid symbol")

// ErrLagged ends a subscription whose reader fell behind: missing data has to be read again after a
// new subscription.
var ErrLagged = errors.New("the reader of the changes is too slow")

// Every number in the types below that is a string is a decimal text without exponent, cut (never
// rounded) to the decimals of docs/exchange-rest.md 1.6: PricePrecision (pp) or QuantityPrecision
// (qp) of the market, 8, or the token's own. Ids are lower-case hexadecimal, addresses and token
// ids their usual texts.

// wideDecimals are those of numbers that do not follow a market's precision.
const wideDecimals = 8

// Pair names a market and its tokens; it is part of most answers.
type Pair struct {
	Symbol            string // "GTT-000_VITE"
	TradeSymbol       string // "GTT-000"
	QuoteSymbol       string // "VITE"
	TradeToken        string // "tti_..."
	QuoteToken        string
	PricePrecision    int // decimals of prices
	QuantityPrecision int // decimals of quantities
}

// Market is a pair with its rules and its present figures.
type Market struct {
	Pair
	ID                           uint32
	Trade, Quote                 core.TokenID
	TradeDecimals, QuoteDecimals uint8
	QuoteType                    dex.QuoteType
	TradeName, QuoteName         string // names of the tokens
	Operator                     string // address of the market's owner
	TakerFee, MakerFee           uint32 // operator's rates in 1/100000
	AllowMining, Stable, Stopped bool
	OpenTime                     int64 // Unix seconds

	HighPrice, LowPrice           string // of 24 hours, pp
	LastPrice                     string // of the last trade ever, pp; zero without one
	Volume                        string // of 24 hours in the trade token, 8
	BaseVolume                    string // of 24 hours in the quote token, 8
	BidPrice, AskPrice            string // best of the book, pp; zero without one
	OpenBuyOrders, OpenSellOrders int
}

// Token is a token that the exchange knows.
type Token struct {
	ID             string // "tti_..."
	Name           string
	Symbol         string // with index: "GTT-000"
	OriginalSymbol string // without
	TotalSupply    string // smallest units
	Owner          string // address
	Decimals       uint8
	QuoteType      dex.QuoteType // 0: nothing is quoted in it
	ReIssuable     bool
}

// Order is an order as both REST and WebSocket show it.
type Order struct {
	Pair
	Address          string // the owner, never the delegation address
	ID               string // 64 hex: the send block that placed it
	InnerID          string // 44 hex; empty until dexTrade has it
	Side             int    // 0 buy, 1 sell
	Type             int    // 0 limit, 1 market, 2 post-only, 3 fill-or-kill, 4 immediate-or-cancel
	Price            string // pp
	Quantity         string // qp
	Amount           string // price x quantity, 8
	ExecutedQuantity string // qp
	ExecutedAmount   string // pp
	ExecutedPercent  string // executed quantity / quantity, 0..1, pp
	ExecutedAvgPrice string // executed amount / executed quantity, pp
	Fee              string // base and operator's fee, pp
	Status           Status
	CreateTime       int64  // Unix seconds
	ClientID         string // what the client called it; the index does not know it, who shows orders fills it in
}

// Status is an order's status as REST numbers it (docs/exchange-rest.md 4.3).
type Status int

// The statuses.
const (
	Unknown            Status = 0
	PendingRequest     Status = 1
	Received           Status = 2
	Open               Status = 3
	Filled             Status = 4
	PartiallyFilled    Status = 5
	PendingCancel      Status = 6
	Cancelled          Status = 7
	PartiallyCancelled Status = 8
	Failed             Status = 9
	Expired            Status = 10
)

// Page cuts a list: Offset entries are left out, at most Limit are given (Limit above zero, the
// caller clamps). Total asks for the number of all matches.
type Page struct {
	Offset, Limit int
	Total         bool
}

// OrderFilter chooses orders. Zero members choose all, except Owner.
type OrderFilter struct {
	Owner       core.Address
	Symbol      string
	TradeSymbol string
	QuoteSymbol string
	Start, End  int64   // creation in Unix seconds, both included; 0 is no bound
	Side        *int    // nil: both
	Status      *Status // 3 and 5 are one set, 7 and 8 are one set; nil: all
	OpenOnly    bool    // statuses 3 and 5, and 6 while it is still in the book
	Cancellable bool    // statuses 1, 2, 3 and 5: in the book or on the way to it, and not being cancelled
}

// Orders is a page of orders, newest first. Total is -1 if it was not asked for.
type Orders struct {
	List  []Order
	Total int
}

// Trade is a fill.
type Trade struct {
	Pair
	ID          string // 40 hex
	Price       string // pp
	Quantity    string // qp
	Amount      string // 8
	Time        int64  // Unix seconds
	Side        int    // of the taker
	BuyFee      string // base and operator's fee of the buyer, 8
	SellFee     string // of the seller, 8
	BuyOrder    string // inner id of the buyer's order, 44 hex
	SellOrder   string // inner id of the seller's order, 44 hex
	BlockHeight uint64 // of the dexTrade block with the fill
}

// TradeFilter chooses trades of one market. Zero members choose all, except Symbol.
type TradeFilter struct {
	Symbol     string
	Order      *core.Hash // the send block of an order that took part
	Start, End int64      // Unix seconds, both included; 0 is no bound
	Side       *int       // of the taker; nil: both
}

// Trades is a page of trades, newest first. Total is -1 if it was not asked for.
type Trades struct {
	List  []Trade
	Total int
}

// Level is a price of the book with the quantity at this price.
type Level struct{ Price, Quantity string } // pp (or the precision asked for), qp

// Depth is the book of a market: asks ascending, bids descending, no level without quantity. The
// lists are shared: do not change them.
type Depth struct {
	Symbol     string
	Time       int64 // Unix milliseconds, when it was read
	Asks, Bids []Level
}

// MaxDepth is the most levels that a depth has on each side.
const MaxDepth = 100

// BookTicker is the best of both sides; zeros where a side is empty.
type BookTicker struct {
	Symbol                   string
	BidPrice, AskPrice       string // pp
	BidQuantity, AskQuantity string // qp
}

// Ticker contains the figures of a market over the last 24 hours. Prices, Quantity and Amount have
// pp decimals. Without a trade in that time Open, Close, High and Low are the last price before it.
// All are zero for a market that never traded.
type Ticker struct {
	Pair
	QuoteType      dex.QuoteType
	OpenPrice      string // of the first trade
	PrevClosePrice string // of the last trade before; zero without one
	ClosePrice     string // of the last trade
	PriceChange    string // close - open; may be negative, cut towards zero
	ChangePercent  string // price change / open as a fraction, 8 decimals
	HighPrice      string
	LowPrice       string
	Quantity       string // in the trade token
	Amount         string // in the quote token
}

// Interval is the length of a bar: "minute", "minute30", "hour", "hour6", "hour12", "day", "week".
type Interval string

// The intervals. A bar starts at a multiple of its length in UTC, a week on Monday.
const (
	Minute   Interval = "minute"
	Minute30 Interval = "minute30"
	Hour     Interval = "hour"
	Hour6    Interval = "hour6"
	Hour12   Interval = "hour12"
	Day      Interval = "day"
	Week     Interval = "week"
)

// Bar is a candle. There is none for a time without a trade.
type Bar struct {
	Symbol                 string
	Interval               Interval
	Time                   int64  // start, Unix seconds
	Open, Close, High, Low string // pp
	Volume                 string // in the trade token, qp
}

// BarFilter chooses bars of one market. Zero times choose all.
type BarFilter struct {
	Symbol     string
	Interval   Interval
	Start, End int64 // of bar starts in Unix seconds, both included
	Limit      int   // the newest so many
}

// Transfer is a deposit to the exchange or a withdrawal from it.
type Transfer struct {
	Time        int64  // Unix seconds
	TokenSymbol string // without suffix
	Amount      string // 8
	Type        int    // 1 deposit, 2 withdrawal
}

// Transfers is a page of transfers, newest first. Total counts all.
type Transfers struct {
	List  []Transfer
	Total int
}

// Balance is an account's balance of one token on the exchange.
type Balance struct {
	Token                   core.TokenID
	Symbol                  string
	Decimals                uint8
	Available, Locked       string // 8
	RawAvailable, RawLocked uint256.Int
}

// Placement is an order whose send block a node has just accepted from us.
type Placement struct {
	Hash         core.Hash // of the send block: the order's id
	Owner        core.Address
	Trade, Quote core.TokenID
	Side         int
	Type         int
	Price        string // as dex.ParsePrice reads it
	Quantity     uint256.Int
}

// CancelRequest is a cancel whose send block a node has just accepted from us.
type CancelRequest struct {
	Hash  core.Hash // of the send block: the cancel request's id
	Order core.Hash
}

// Update contains the changes of one commit, in the order of pushes: orders, trades, depths,
// tickers, bars. A read after an Update is never older than it.
type Update struct {
	Seq      uint64    // counts up by one from the subscription's first; a gap never happens, ErrLagged comes instead
	Undone   bool      // the chain took blocks back: what is here is the state after that, trades are gone from the lists
	Orders   []Order   // each change of an order, 1, 2, 6 and 9 included, oldest first
	Trades   []Trade   // each fill once, oldest first
	Depths   []Depth   // full book (MaxDepth levels) of each market whose book changed
	Tickers  []Ticker  // of each market that traded, or of which trades have become a day old
	Bars     []Bar     // those that changed, of all intervals, by market, length and time
	Accounts []string  // addresses whose exchange balance may have changed
	At       time.Time // of the commit
}

// ValidAddress reports whether text is an account's address in the form that updates name it by:
// small letters, and the checksum right.
func ValidAddress(text string) bool {
	a, err := core.ParseAddress(text)
	return err == nil && a.String() == text
}
